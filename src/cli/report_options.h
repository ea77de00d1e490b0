/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay report`, checked and turned into what the stages take.
 */
#ifndef ASSAY_CLI_REPORT_OPTIONS_H
#define ASSAY_CLI_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cli/reading.h"

struct report_cli {
	struct reading reading;
	const char *path; /* NULL: the default */
	unsigned int by;  /* REPORT_BY_* */
	bool rank_by_total, totals;
	bool quiet, samples, inlines, demangle;
	size_t top_k, max_rows;
	double percent_limit;
};

extern const char report_cli_help[];

/* STATUS_USAGE names the word. Release in any case. */
MUST_CHECK enum status report_cli_parse(struct report_cli *cli, int argc, char **argv,
					struct error *error);
void report_cli_release(struct report_cli *cli);

#endif
