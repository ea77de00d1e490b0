/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An interval that is read at a glance:
 *
 *	0                                   scale
 *	|================[---|-----]         |       solid up to lo, bracketed from lo to hi, | the share
 *
 * All bars of a table have one scale, so that overlap is seen without reading a number.
 */
#ifndef ASSAY_REPORT_BAR_H
#define ASSAY_REPORT_BAR_H

#include <stdbool.h>

#include "report/output.h"

#define BAR_WIDTH 24

/* lo <= share <= hi <= scale; lo > hi: no interval, a plain bar up to the share. BAR_WIDTH columns. */
void bar_draw(struct output *output, double lo, double share, double hi, double scale,
	      bool unicode);

#endif
