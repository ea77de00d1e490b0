/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The few colours of a report (ECMA-48 SGR): red for bias, yellow for warnings, bold for the verdict,
 * dim for what is beside the point.
 */
#ifndef ASSAY_REPORT_COLOUR_H
#define ASSAY_REPORT_COLOUR_H

#include "report/output.h"

#define COLOUR_RED    "\033[31m"
#define COLOUR_YELLOW "\033[33m"
#define COLOUR_BOLD   "\033[1m"
#define COLOUR_DIM    "\033[2m"
#define COLOUR_OFF    "\033[0m"

static inline void colour_on(struct output *output, bool wanted, const char *colour)
{
	if (wanted)
		output_add(output, colour);
}

static inline void colour_off(struct output *output, bool wanted)
{
	if (wanted)
		output_add(output, COLOUR_OFF);
}

#endif
