/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay probe`, checked and turned into what the engine takes.
 */
#ifndef ASSAY_CLI_PROBE_OPTIONS_H
#define ASSAY_CLI_PROBE_OPTIONS_H

#include "probe/probe.h"

struct probe_cli {
	struct probe_options options;
	struct selection selection;
	pid_t pids[PROBE_MAX_PIDS];
	uint64_t rate_hz;    /* of looks; 0: the default */
	const char *output;  /* NULL: standard output */
	const char *records; /* file for them; NULL: not kept */
	bool audit;
	bool json, quiet, help, strict;
	bool remove; /* of pids: nothing but that */
};

extern const char probe_cli_help[];

/* STATUS_USAGE names the word; STATUS_UNSUPPORTED what is not in this version. Release in any case. */
MUST_CHECK enum status probe_cli_parse(struct probe_cli *cli, const struct sys *sys, int argc,
				       char **argv, struct error *error);
void probe_cli_release(struct probe_cli *cli);

#endif
