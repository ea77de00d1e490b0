/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/report_options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/rank.h"
#include "report/model.h"
#include "report/text.h"

const char report_cli_help[] =
	"usage: assay report [options] [BUNDLE | perf.data | -]      (default: out.assay, else "
	"perf.data)\n"
	"\n"
	"  -i, --input FILE        the same as naming it last\n"
	"  -e, --event EVENT       which event, by name or number (default: the first)\n"
	"      --comm NAME[,..]    only samples of these commands\n"
	"  -p, --pid PID[,..]      ... processes\n"
	"  -t, --tid TID[,..]      ... threads\n"
	"  -C, --cpu CPUS          ... CPUs (0-3,7)\n"
	"      --time START,STOP   ... times: seconds as perf script prints them, +START,+STOP "
	"from the\n"
	"                          first sample, 10%-20%, or 10%/2 (the second tenth)\n"
	"  -s, --sort KEY[,..]     what rows are: function (sym), module (dso), stack (whole "
	"call stacks),\n"
	"                          srcline, comm, pid, tid, cpu;\n"
	"                          and their order: self (default) or total\n"
	"      --no-children       self only: call chains are not looked at\n"
	"      --children          order by total\n"
	"      --inline            rows for inlined functions too (reads DWARF)\n"
	"      --percent-limit P   leave out rows below P % in self and total (default 0.5; "
	"--json: 0)\n"
	"      --rows N            print at most N rows (default 40; 0: all)\n"
	"  -n, --show-nr-samples   columns with numbers of samples\n"
	"      --top K             what the verdict is about (default 5)\n"
	"  -v, --verbose           intervals for the workload, every finding\n"
	"  -q, --quiet             the table only\n"
	"      --json              machine-readable, schema assay.report/1\n"
	"      --symfs DIR         look for files below DIR first\n"
	"      --kallsyms FILE     kernel symbols;  -k, --vmlinux FILE  kernel image\n"
	"      --debuginfod        ask debuginfod servers (sends build-ids away)\n"
	"      --no-demangle       raw symbol names\n"
	"      --color WHEN        auto, always, never;  --no-pager\n";

enum option_code {
	OPTION_NO_CHILDREN = READING_LAST,
	OPTION_CHILDREN,
	OPTION_INLINE,
	OPTION_NO_INLINE,
	OPTION_PERCENT_LIMIT,
	OPTION_ROWS,
	OPTION_TOP,
	OPTION_NO_DEMANGLE,
	OPTION_DEMANGLE,
	OPTION_STDIO,
	OPTION_LATER,
};

static const struct option long_options[] = {
	READING_LONG_OPTIONS,
	READING_FILTER_LONG_OPTIONS,
	{ "input", required_argument, NULL, 'i' },
	{ "sort", required_argument, NULL, 's' },
	{ "no-children", no_argument, NULL, OPTION_NO_CHILDREN },
	{ "children", no_argument, NULL, OPTION_CHILDREN },
	{ "inline", no_argument, NULL, OPTION_INLINE },
	{ "no-inline", no_argument, NULL, OPTION_NO_INLINE },
	{ "percent-limit", required_argument, NULL, OPTION_PERCENT_LIMIT },
	{ "rows", required_argument, NULL, OPTION_ROWS },
	{ "show-nr-samples", no_argument, NULL, 'n' },
	{ "top", required_argument, NULL, OPTION_TOP },
	{ "quiet", no_argument, NULL, 'q' },
	{ "no-demangle", no_argument, NULL, OPTION_NO_DEMANGLE },
	{ "demangle", no_argument, NULL, OPTION_DEMANGLE },
	{ "stdio", no_argument, NULL, OPTION_STDIO }, /* a habit from perf: always so here */
	{ "html", optional_argument, NULL, OPTION_LATER },
	{ "tui", no_argument, NULL, OPTION_LATER },
	{ "plot", optional_argument, NULL, OPTION_LATER },
	{ "explain", required_argument, NULL, OPTION_LATER },
	{ NULL, 0, NULL, 0 },
};

void report_cli_release(struct report_cli *cli)
{
	reading_release(&cli->reading);
}

static enum status count_parse(const char *option, const char *text, size_t least, size_t most,
			       size_t *count, struct error *error)
{
	char *end;
	const unsigned long long value = strtoull(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || value < least || value > most)
		return error_set(error, STATUS_USAGE,
				 "%s takes a number from %zu to %zu, not \"%s\"", option, least,
				 most, text);
	*count = (size_t)value;
	return STATUS_OK;
}

static enum status percent_parse(const char *text, double *percent, struct error *error)
{
	char *end;

	*percent = strtod(text, &end);
	end += *end == '%';
	if (end == text || *end || !isfinite(*percent) || *percent < 0 || *percent > 100)
		return error_set(error, STATUS_USAGE,
				 "--percent-limit takes a percentage from 0 to 100, not \"%s\"",
				 text);
	return STATUS_OK;
}

static enum status sort_key(struct report_cli *cli, const char *key, size_t length,
			    struct error *error)
{
	static const struct {
		const char *key;
		unsigned int by;
	} keys[] = {
		{ "function", REPORT_BY_FUNCTION },
		{ "sym", REPORT_BY_FUNCTION },
		{ "symbol", REPORT_BY_FUNCTION },
		{ "module", REPORT_BY_MODULE },
		{ "dso", REPORT_BY_MODULE },
		{ "srcline", REPORT_BY_LINE },
		{ "line", REPORT_BY_LINE },
		{ "comm", REPORT_BY_COMM },
		{ "stack", REPORT_BY_STACK | REPORT_BY_FUNCTION | REPORT_BY_MODULE },
		{ "pid", REPORT_BY_PID },
		{ "tid", REPORT_BY_TID },
		{ "cpu", REPORT_BY_CPU },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strlen(keys[i].key) == length && !strncmp(keys[i].key, key, length)) {
			cli->by |= keys[i].by;
			return STATUS_OK;
		}
	if (length == 4 && !strncmp(key, "self", 4)) {
		cli->rank_by_total = false;
		return STATUS_OK;
	}
	if (length == 5 && !strncmp(key, "total", 5)) {
		cli->rank_by_total = true;
		return STATUS_OK;
	}
	return error_set(
		error, STATUS_USAGE,
		"--sort knows function, module, stack, srcline, comm, pid, tid, cpu, self and "
		"total, "
		"not \"%.*s\"",
		(int)length, key);
}

static enum status sort_parse(struct report_cli *cli, const char *text, struct error *error)
{
	enum status status = STATUS_OK;

	do {
		const size_t length = strcspn(text, ",");

		status = sort_key(cli, text, length, error);
		text += length;
	} while (status == STATUS_OK && *text++ == ',');
	return status;
}

static enum status later_refuse(const char *word, struct error *error)
{
	if (!strncmp(word, "--plot", 6))
		return error_set(
			error, STATUS_UNSUPPORTED,
			"--plot is an option of assay diagnose, which draws intervals and the "
			"course of the recording");
	return error_set(error, STATUS_UNSUPPORTED, "%s is not in this version", word);
}

static enum status option_take(struct report_cli *cli, int code, const char *word,
			       struct error *error)
{
	switch (code) {
	case 'i': cli->path = optarg; return STATUS_OK;
	case 's': return sort_parse(cli, optarg, error);
	case OPTION_PERCENT_LIMIT: return percent_parse(optarg, &cli->percent_limit, error);
	case OPTION_ROWS:
		return count_parse("--rows", optarg, 0, 1000000000, &cli->max_rows, error);
	case OPTION_TOP:
		return count_parse("--top", optarg, 1, ESTIMATE_CONTENDERS_MAX, &cli->top_k, error);
	case OPTION_NO_CHILDREN: cli->totals = false; return STATUS_OK;
	case OPTION_CHILDREN: cli->rank_by_total = cli->totals = true; return STATUS_OK;
	case OPTION_INLINE: cli->inlines = true; return STATUS_OK;
	case OPTION_NO_INLINE: cli->inlines = false; return STATUS_OK;
	case OPTION_NO_DEMANGLE: cli->demangle = false; return STATUS_OK;
	case OPTION_DEMANGLE: cli->demangle = true; return STATUS_OK;
	case OPTION_STDIO: return STATUS_OK;
	case OPTION_LATER: return later_refuse(word, error);
	case 'n': cli->samples = true; return STATUS_OK;
	case 'q': cli->quiet = true; return STATUS_OK;
	default: return reading_take(&cli->reading, code, word, "report", error);
	}
}

enum status report_cli_parse(struct report_cli *cli, int argc, char **argv, struct error *error)
{
	enum status status = STATUS_OK;
	int code;

	*cli = (struct report_cli){
		.totals = true,
		.demangle = true,
		.max_rows = TEXT_DEFAULT_ROWS,
		.percent_limit = NAN,
	};
	reading_init(&cli->reading);
	opterr = 0;
	optind = 0;
	while (status == STATUS_OK &&
	       (code = getopt_long(argc, argv,
				   ":i:s:nq" READING_SHORT_OPTIONS READING_FILTER_SHORT_OPTIONS,
				   long_options, NULL)) != -1)
		status = option_take(cli, code, reading_word(argv), error);
	if (status == STATUS_OK)
		status = reading_path(&cli->path, argc, argv, error);
	if (status != STATUS_OK)
		return status;
	/* People want what matters, programs want all. */
	if (isnan(cli->percent_limit))
		cli->percent_limit = cli->reading.json ? 0 : TEXT_DEFAULT_PERCENT;
	if (!cli->by)
		cli->by = REPORT_BY_FUNCTION | REPORT_BY_MODULE;
	if (cli->rank_by_total && !cli->totals)
		return error_set(error, STATUS_USAGE,
				 "--no-children leaves no totals to order rows by");
	return STATUS_OK;
}
