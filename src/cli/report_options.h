/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay report`, checked and turned into what the stages take.
 */
#ifndef ASSAY_CLI_REPORT_OPTIONS_H
#define ASSAY_CLI_REPORT_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cli/page.h"
#include "profile/filter.h"

struct report_cli {
	const char *path; /* NULL: the default */
	const char *event, *symfs, *kallsyms, *vmlinux;
	struct filter filter;
	unsigned int by; /* REPORT_BY_* */
	bool rank_by_total, totals;
	bool json, verbose, quiet, samples, inlines, demangle, debuginfod, pager, help;
	size_t top_k, max_rows;
	double percent_limit;
	enum page_colour colour;
};

extern const char report_cli_help[];

/* STATUS_USAGE names the word. Release in any case. */
MUST_CHECK enum status report_cli_parse(struct report_cli *cli, int argc, char **argv,
					struct error *error);
void report_cli_release(struct report_cli *cli);

#endif
