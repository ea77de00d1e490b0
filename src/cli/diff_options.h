/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay diff`, checked.
 */
#ifndef ASSAY_CLI_DIFF_OPTIONS_H
#define ASSAY_CLI_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cli/page.h"

struct diff_cli {
	const char *paths[2];
	const char *event, *symfs, *kallsyms, *vmlinux;
	bool json, by_total, verbose, quiet, debuginfod, pager, help;
	size_t max_rows;
	double percent_limit, within;
	enum page_colour colour;
};

extern const char diff_cli_help[];

/* STATUS_USAGE names the word. Nothing to release. */
MUST_CHECK enum status diff_cli_parse(struct diff_cli *cli, int argc, char **argv,
				      struct error *error);

#endif
