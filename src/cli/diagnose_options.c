/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/diagnose_options.h"

#include <getopt.h>

const char diagnose_cli_help[] =
	"usage: assay diagnose [options] [BUNDLE | perf.data | -]    (default: out.assay, else "
	"perf.data)\n"
	"\n"
	"  Five answers (what intervals were drawn from, what was realised, what was retuned, "
	"throttled or\n"
	"  lost, phase against candidate periods, ranking under each clock), then the findings: "
	"what speaks\n"
	"  against the shares, which functions it touches, by how much, and what to do.\n"
	"  docs/findings.md explains every code.\n"
	"\n"
	"  -i, --input FILE        the same as naming it last\n"
	"  -e, --event EVENT       which event, by name or number (default: the first)\n"
	"      --comm NAME[,..]    only samples of these commands\n"
	"  -p, --pid PID[,..]      ... processes;  -t, --tid TID[,..]  threads;  -C, --cpu CPUS\n"
	"      --time START,STOP   ... times, as for assay report\n"
	"      --plot              draw intervals and the course of the recording\n"
	"  -v, --verbose           with the evidence of every finding\n"
	"      --strict            exit with 3 when there is a finding of bias\n"
	"      --json              machine-readable, schema assay.diagnose/1 (with the data of the "
	"plots)\n"
	"      --symfs DIR, --kallsyms FILE, -k FILE, --debuginfod   where names are found\n"
	"      --color WHEN        auto, always, never;  --no-pager\n";

enum { OPTION_PLOT = READING_LAST, OPTION_STRICT };

static const struct option long_options[] = {
	READING_LONG_OPTIONS,
	READING_FILTER_LONG_OPTIONS,
	{ "input", required_argument, NULL, 'i' },
	{ "plot", no_argument, NULL, OPTION_PLOT },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ NULL, 0, NULL, 0 },
};

void diagnose_cli_release(struct diagnose_cli *cli)
{
	reading_release(&cli->reading);
}

static enum status option_take(struct diagnose_cli *cli, int option, const char *word,
			       struct error *error)
{
	switch (option) {
	case 'i': cli->path = optarg; return STATUS_OK;
	case OPTION_PLOT: cli->plot = true; return STATUS_OK;
	case OPTION_STRICT: cli->strict = true; return STATUS_OK;
	default: return reading_take(&cli->reading, option, word, "diagnose", error);
	}
}

enum status diagnose_cli_parse(struct diagnose_cli *cli, int argc, char **argv, struct error *error)
{
	int option;

	*cli = (struct diagnose_cli){ 0 };
	reading_init(&cli->reading);
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv,
				     ":i:" READING_SHORT_OPTIONS READING_FILTER_SHORT_OPTIONS,
				     long_options, NULL)) != -1) {
		const enum status status = option_take(cli, option, reading_word(argv), error);

		if (status != STATUS_OK)
			return status;
	}
	return reading_path(&cli->path, argc, argv, error);
}
