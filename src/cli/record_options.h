/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words after `assay record`, checked and turned into what the recorder takes.
 */
#ifndef ASSAY_CLI_RECORD_OPTIONS_H
#define ASSAY_CLI_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"
#include "record/record.h"
#include "until/question.h"

struct record_cli {
	struct record_options options;
	struct event_list events;
	int *ids, *cpus; /* storage of options.ids and options.cpus */
	size_t n_ids, ids_capacity, n_cpus, cpus_capacity;
	bool by_process, by_thread, everything; /* -p, -t, -a were given */
	struct until_question until;            /* its text is empty without --until */
	bool redraw_given, block_given;
	bool quiet, verbose, help;
};

extern const char record_cli_help[];

/* STATUS_USAGE names the word. Release in any case. */
MUST_CHECK enum status record_cli_parse(struct record_cli *cli, const struct sys *sys, int argc,
					char **argv, struct error *error);
void record_cli_release(struct record_cli *cli);

#endif
