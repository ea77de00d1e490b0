/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names come from strangers: symbols, paths and comms may hold any byte but NUL. Shown raw they could
 * drive the terminal, forge lines of the report or reverse its reading order.
 *
 * Escaped are: bytes that are no valid UTF-8, C0 and C1 controls, the backslash that would make an
 * escape ambiguous (only before x, u, n, t, r or a backslash), and invisible characters that change
 * how text is laid out (bidirectional controls, zero-width and line separators, byte order mark).
 *
 *	\n \t \r \\   \xHH for other bytes   \u{HHHH} for characters
 */
#ifndef ASSAY_REPORT_ESCAPE_H
#define ASSAY_REPORT_ESCAPE_H

#include <stddef.h>

#include "report/output.h"

/* Appends `name` safe for a terminal: one line, valid UTF-8, nothing invisible. Returns the columns
 * it takes, counting one per character. */
size_t escape_for_terminal(struct output *output, const char *name);

/* Appends `name` as valid UTF-8: only bytes that are none are escaped (as \xHH). For JSON, whose own
 * escapes take care of the rest. */
void escape_invalid_utf8(struct output *output, const char *name);

#endif
