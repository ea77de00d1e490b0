/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay diagnose`, checked.
 */
#ifndef ASSAY_CLI_DIAGNOSE_OPTIONS_H
#define ASSAY_CLI_DIAGNOSE_OPTIONS_H

#include <stdbool.h>

#include "base/status.h"
#include "cli/reading.h"

struct diagnose_cli {
	struct reading reading;
	const char *path; /* NULL: the default */
	bool plot, strict;
};

extern const char diagnose_cli_help[];

/* STATUS_USAGE names the word. Release in any case. */
MUST_CHECK enum status diagnose_cli_parse(struct diagnose_cli *cli, int argc, char **argv,
					  struct error *error);
void diagnose_cli_release(struct diagnose_cli *cli);

#endif
