/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/diff_options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "report/text.h"

const char diff_cli_help[] =
	"usage: assay diff [options] [A B]     (bundles or perf.data files; default: out.assay.old "
	"out.assay)\n"
	"\n"
	"  What changed from A to B, the workload or the measurement: one verdict, then each "
	"function's\n"
	"  change with an interval that holds for all functions at once.\n"
	"\n"
	"  -e, --event EVENT       which event, by name or number (default: the first)\n"
	"      --children          compare inclusive shares (recordings with call chains)\n"
	"      --within P%         a change of a share below P points counts as none (default 5%)\n"
	"      --rows N            at most N rows (default 40, 0: all)\n"
	"      --percent-limit P   no rows that are below P % in both (default 0.5)\n"
	"      --json              machine-readable, schema assay.diff/1\n"
	"      --symfs DIR, --kallsyms FILE, -k FILE, --debuginfod   where names are found\n"
	"      --color WHEN        auto, always, never;  --no-pager\n"
	"  -q, --quiet   the table only;  -h, --help\n";

enum {
	OPTION_CHILDREN = READING_LAST,
	OPTION_NO_CHILDREN,
	OPTION_WITHIN,
	OPTION_ROWS,
	OPTION_PERCENT_LIMIT,
	OPTION_HTML,
};

static const struct option long_options[] = {
	READING_LONG_OPTIONS,
	{ "children", no_argument, NULL, OPTION_CHILDREN },
	{ "no-children", no_argument, NULL, OPTION_NO_CHILDREN },
	{ "within", required_argument, NULL, OPTION_WITHIN },
	{ "rows", required_argument, NULL, OPTION_ROWS },
	{ "percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT },
	{ "html", required_argument, NULL, OPTION_HTML },
	{ "quiet", no_argument, NULL, 'q' },
	{ NULL, 0, NULL, 0 },
};

void diff_cli_release(struct diff_cli *cli)
{
	reading_release(&cli->reading);
}

/* A plain number in [low, high]; `suffix` may follow. */
static enum status number_parse(const char *option, const char *word, const char *suffix,
				double low, double high, double *number, struct error *error)
{
	char *end;

	*number = strtod(word, &end);
	if (!isdigit((unsigned char)word[0]) || !isfinite(*number) || *number < low ||
	    *number > high || strpbrk(word, "xXpP") || (*end && strcmp(end, suffix)))
		return error_set(error, STATUS_USAGE, "%s: \"%s\" is no number from %g to %g",
				 option, word, low, high);
	return STATUS_OK;
}

static enum status option_take(struct diff_cli *cli, int option, const char *word,
			       struct error *error)
{
	double number;
	enum status status;

	switch (option) {
	case OPTION_CHILDREN: cli->by_total = true; return STATUS_OK;
	case OPTION_NO_CHILDREN: cli->by_total = false; return STATUS_OK;
	case OPTION_WITHIN:
		status = number_parse("--within", optarg, "%", 0.01, 100, &number, error);
		cli->within = number / 100;
		return status;
	case OPTION_ROWS:
		status = number_parse("--rows", optarg, "", 0, 1e9, &number, error);
		cli->max_rows = status == STATUS_OK ? (size_t)number : 0;
		return status;
	case OPTION_PERCENT_LIMIT:
		return number_parse("--percent-limit", optarg, "%", 0, 100, &cli->percent_limit,
				    error);
	case OPTION_HTML:
		return error_set(error, STATUS_UNSUPPORTED,
				 "--html is not in this version: use --json");
	case 'q': cli->quiet = true; return STATUS_OK;
	default: return reading_take(&cli->reading, option, word, "diff", error);
	}
}

enum status diff_cli_parse(struct diff_cli *cli, int argc, char **argv, struct error *error)
{
	int option;

	*cli = (struct diff_cli){ .paths = { BUNDLE_DEFAULT_PATH ".old", BUNDLE_DEFAULT_PATH },
				  .max_rows = TEXT_DEFAULT_ROWS,
				  .percent_limit = TEXT_DEFAULT_PERCENT };
	reading_init(&cli->reading);
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, ":q" READING_SHORT_OPTIONS, long_options, NULL)) !=
	       -1) {
		const enum status status = option_take(cli, option, reading_word(argv), error);

		if (status != STATUS_OK)
			return status;
	}
	if (cli->reading.help || optind == argc)
		return STATUS_OK;
	if (argc - optind != 2)
		return error_set(error, STATUS_USAGE,
				 "two recordings are compared, %d %s named (assay diff A B)",
				 argc - optind, argc - optind == 1 ? "is" : "are");
	cli->paths[0] = argv[optind];
	cli->paths[1] = argv[optind + 1];
	return STATUS_OK;
}
