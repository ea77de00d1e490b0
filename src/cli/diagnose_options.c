/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/diagnose_options.h"

#include <getopt.h>
#include <string.h>

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

enum {
	OPTION_COMM = 256,
	OPTION_TIME,
	OPTION_PLOT,
	OPTION_STRICT,
	OPTION_JSON,
	OPTION_SYMFS,
	OPTION_KALLSYMS,
	OPTION_DEBUGINFOD,
	OPTION_COLOUR,
	OPTION_NO_PAGER,
};

static const struct option long_options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "event", required_argument, NULL, 'e' },
	{ "comm", required_argument, NULL, OPTION_COMM },
	{ "comms", required_argument, NULL, OPTION_COMM },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "time", required_argument, NULL, OPTION_TIME },
	{ "plot", no_argument, NULL, OPTION_PLOT },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "verbose", no_argument, NULL, 'v' },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "symfs", required_argument, NULL, OPTION_SYMFS },
	{ "kallsyms", required_argument, NULL, OPTION_KALLSYMS },
	{ "vmlinux", required_argument, NULL, 'k' },
	{ "debuginfod", no_argument, NULL, OPTION_DEBUGINFOD },
	{ "color", required_argument, NULL, OPTION_COLOUR },
	{ "no-pager", no_argument, NULL, OPTION_NO_PAGER },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

void diagnose_cli_release(struct diagnose_cli *cli)
{
	filter_release(&cli->filter);
}

static enum status option_take(struct diagnose_cli *cli, int option, const char *word,
			       struct error *error)
{
	switch (option) {
	case 'i': cli->path = optarg; return STATUS_OK;
	case 'e': cli->event = optarg; return STATUS_OK;
	case 'p': return filter_pids(&cli->filter, optarg, error);
	case 't': return filter_tids(&cli->filter, optarg, error);
	case 'C': return filter_cpus(&cli->filter, optarg, error);
	case OPTION_COMM: return filter_comms(&cli->filter, optarg, error);
	case OPTION_TIME: return filter_time(&cli->filter, optarg, error);
	case OPTION_PLOT: cli->plot = true; return STATUS_OK;
	case OPTION_STRICT: cli->strict = true; return STATUS_OK;
	case OPTION_JSON: cli->json = true; return STATUS_OK;
	case OPTION_SYMFS: cli->symfs = optarg; return STATUS_OK;
	case OPTION_KALLSYMS: cli->kallsyms = optarg; return STATUS_OK;
	case 'k': cli->vmlinux = optarg; return STATUS_OK;
	case OPTION_DEBUGINFOD: cli->debuginfod = true; return STATUS_OK;
	case OPTION_NO_PAGER: cli->pager = false; return STATUS_OK;
	case 'v': cli->verbose = true; return STATUS_OK;
	case 'h': cli->help = true; return STATUS_OK;
	case OPTION_COLOUR:
		if (page_colour_parse(optarg, &cli->colour))
			return STATUS_OK;
		return error_set(error, STATUS_USAGE,
				 "--color takes auto, always or never, not \"%s\"", optarg);
	case ':': return error_set(error, STATUS_USAGE, "%s needs a value", word);
	default:
		return error_set(error, STATUS_USAGE, "%s: no such option (assay diagnose --help)",
				 word);
	}
}

enum status diagnose_cli_parse(struct diagnose_cli *cli, int argc, char **argv, struct error *error)
{
	int option;

	*cli = (struct diagnose_cli){ .pager = true };
	filter_init(&cli->filter);
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, ":i:e:p:t:C:k:vh", long_options, NULL)) != -1) {
		const enum status status = option_take(cli, option, argv[optind - 1], error);

		if (status != STATUS_OK)
			return status;
	}
	if (optind < argc)
		cli->path = argv[optind++];
	if (optind < argc)
		return error_set(error, STATUS_USAGE, "%s: one recording is diagnosed at a time",
				 argv[optind]);
	return STATUS_OK;
}
