/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/load.h"

#include <math.h>
#include <string.h>

#include "diagnose/finding_code.h"

#define KERNEL_MODULE "[kernel.kallsyms]"

static bool is_kernel(const struct report_row *row)
{
	return row && row->module && !strcmp(row->module, KERNEL_MODULE);
}

void load_find(struct diff *diff)
{
	struct diff_load *load = &diff->load;

	*load = (struct diff_load){ .known = false };
	for (int side = 0; side < 2; side++) {
		const struct report *report = diff->sides[side].report;

		for (size_t i = 0; i < report->n_rows; i++)
			if (is_kernel(&report->rows[i]))
				load->kernel[side] += report->rows[i].self.recording.share;
		load->beside[side] = findings_find(&report->findings, CODE_LOAD) != NULL;
		load->known |= load->beside[side];
	}
}

double load_bias(const struct diff *diff, const struct diff_row *row, bool by_total)
{
	const struct diff_load *load = &diff->load;
	const double moved = fabs(load->kernel[1] - load->kernel[0]);
	const double kernel = fmax(load->kernel[0], load->kernel[1]);

	if (!load->known)
		return 0;
	if (is_kernel(row->rows[0]) || is_kernel(row->rows[1]))
		return fmax(moved, fabs(row->change.difference));
	if (by_total || kernel >= 1)
		return moved;
	return fmin(1, fmax(row->share[0], row->share[1]) * moved / (1 - kernel));
}
