/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a report goes: standard output, or a pager when that is a terminal.
 */
#ifndef ASSAY_CLI_PAGE_H
#define ASSAY_CLI_PAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

enum page_colour { PAGE_COLOUR_AUTO, PAGE_COLOUR_ALWAYS, PAGE_COLOUR_NEVER };

/* "auto", "always", "never"; false for another word. */
bool page_colour_parse(const char *word, enum page_colour *colour);

/* Colour on a terminal only, and not with NO_COLOR (https://no-color.org) or TERM=dumb. */
bool page_wants_colour(enum page_colour colour);

/* Whether the locale's characters are UTF-8. */
bool page_is_unicode(void);

/* Columns of the terminal, within reason; 100 for anything else. */
size_t page_width(const struct sys *sys);

/* Writes the text to standard output, through PERF_PAGER, PAGER or less when `pager` is wanted and
 * output is a terminal. A reader that goes away early is no failure. */
MUST_CHECK enum status page_write(const struct sys *sys, const char *text, size_t size, bool pager,
				  struct error *error);

#endif
