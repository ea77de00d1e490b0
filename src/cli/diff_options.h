/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay diff`, checked.
 */
#ifndef ASSAY_CLI_DIFF_OPTIONS_H
#define ASSAY_CLI_DIFF_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "cli/reading.h"

struct diff_cli {
	struct reading reading; /* without a filter */
	const char *paths[2];
	bool by_total, quiet;
	size_t max_rows;
	double percent_limit, within;
};

extern const char diff_cli_help[];

/* STATUS_USAGE names the word. Release in any case. */
MUST_CHECK enum status diff_cli_parse(struct diff_cli *cli, int argc, char **argv,
				      struct error *error);
void diff_cli_release(struct diff_cli *cli);

#endif
