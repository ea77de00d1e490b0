/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Lines of the source as points: which modules have code of them, and what to say when none has.
 */
#ifndef ASSAY_PROBE_POINT_LINE_H
#define ASSAY_PROBE_POINT_LINE_H

#include "probe/image.h"
#include "symbolize/debug_lines.h"

/* Asks the module's line table for the word's line. *known: it has one. False when memory is short. Release the lines. */
bool point_line_find(const struct image_module *module, const struct selection_word *word,
		     struct debug_lines *lines, bool *known);

/* True when a word means a line that has code in this module. */
bool point_line_any(const struct selection *selection, const struct image_module *module);

struct probe;

/* True when the word's module is named, and is not there: it may come. */
bool point_word_awaited(const struct probe *probe, const struct selection_word *word);

#endif
