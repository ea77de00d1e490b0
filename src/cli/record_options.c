/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/record_options.h"

#include <ctype.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bundle/bundle.h"

const char record_cli_help[] =
	"usage: assay record [options] [--] COMMAND [ARGUMENTS]\n"
	"       assay record [options] -p PID[,..] | -t TID[,..] | -a | -C CPUS  [-- COMMAND]\n"
	"\n"
	"  -o, --output BUNDLE     where to (default out.assay; an older one is kept as .old)\n"
	"  -e, --event EVENT       what to sample, as perf names it; may be given several times\n"
	"                          (default: cycles, without a PMU cpu-clock)\n"
	"      --budget P%         keep cost (of the target and of assay) within P % of the "
	"target's\n"
	"                          CPU time (default 1%)\n"
	"  -F, --freq HZ           samples per second of CPU instead; -c, --count PERIOD: one "
	"every\n"
	"                          PERIOD events. Both keep to the safety bound\n"
	"      --schedule KIND     jitter (default), exp, fixed, prime, freq, mixed\n"
	"      --redraw HOW        block[:B] (default; B mean periods apart, by cost), sample, "
	"none\n"
	"      --clocks K          randomised clocks side by side (default 2)\n"
	"      --canary            beside them, a fixed clock for a quarter of the samples\n"
	"      --epoch MS          nominal length of an epoch (default: by length of the "
	"recording)\n"
	"      --seed S            reproduce the draws of an earlier recording\n"
	"  -g                      call chains by frame pointers; --call-graph fp|dwarf[,BYTES]\n"
	"  -p, --pid PID[,..]      attach to processes;  -t, --tid TID[,..]  to threads\n"
	"  -a, --all-cpus          everything on every CPU;  -C, --cpu CPUS  on some (0-3,7)\n"
	"  -d, --duration SECONDS  end then (a command gets SIGTERM); --max-time is the same\n"
	"      --until QUESTION    end when it is answered: top=K (the first K functions and "
	"their\n"
	"                          order), top=K:set (which they are), share=\u00b1P% (every "
	"share)\n"
	"      --max-size SIZE     end when the samples take that much (100M, 2G)\n"
	"  -m, --mmap-pages PAGES  size of the ring buffer of each CPU\n"
	"      --scope SCOPE       insist on how clocks are attached: cgroup, cpu, thread, "
	"inherit,\n"
	"                          system (default: the best that is permitted)\n"
	"  -q, --quiet   -v, --verbose   -h, --help\n";

#define ID_MOST 4194304 /* the kernel's largest process id */

enum option_code {
	OPTION_BUDGET = 256,
	OPTION_SCHEDULE,
	OPTION_REDRAW,
	OPTION_CLOCKS,
	OPTION_CANARY,
	OPTION_EPOCH,
	OPTION_SEED,
	OPTION_CALL_GRAPH,
	OPTION_MAX_SIZE,
	OPTION_SCOPE,
	OPTION_UNTIL,
};

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "event", required_argument, NULL, 'e' },
	{ "budget", required_argument, NULL, OPTION_BUDGET },
	{ "freq", required_argument, NULL, 'F' },
	{ "count", required_argument, NULL, 'c' },
	{ "schedule", required_argument, NULL, OPTION_SCHEDULE },
	{ "redraw", required_argument, NULL, OPTION_REDRAW },
	{ "clocks", required_argument, NULL, OPTION_CLOCKS },
	{ "canary", no_argument, NULL, OPTION_CANARY },
	{ "epoch", required_argument, NULL, OPTION_EPOCH },
	{ "seed", required_argument, NULL, OPTION_SEED },
	{ "call-graph", required_argument, NULL, OPTION_CALL_GRAPH },
	{ "pid", required_argument, NULL, 'p' },
	{ "tid", required_argument, NULL, 't' },
	{ "all-cpus", no_argument, NULL, 'a' },
	{ "cpu", required_argument, NULL, 'C' },
	{ "duration", required_argument, NULL, 'd' },
	{ "max-time", required_argument, NULL, 'd' },
	{ "max-size", required_argument, NULL, OPTION_MAX_SIZE },
	{ "mmap-pages", required_argument, NULL, 'm' },
	{ "scope", required_argument, NULL, OPTION_SCOPE },
	{ "quiet", no_argument, NULL, 'q' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "until", required_argument, NULL, OPTION_UNTIL },
	{ NULL, 0, NULL, 0 },
};

static enum status bad_word(struct error *error, const char *option, const char *word,
			    const char *wanted)
{
	return error_set(error, STATUS_USAGE, "%s: \"%s\" is not %s", option, word, wanted);
}

/* The whole word is a number in [low, high]; `suffix` may follow it. */
static enum status number_parse(const char *option, const char *word, const char *suffix,
				double low, double high, const char *wanted, double *number,
				struct error *error)
{
	char *end;

	*number = strtod(word, &end);
	if (end == word || isspace((unsigned char)word[0]) || !isfinite(*number) || *number < low ||
	    *number > high || strpbrk(word, "xXpP") || (*end && strcmp(end, suffix)))
		return bad_word(error, option, word, wanted);
	return STATUS_OK;
}

static enum status integer_parse(const char *option, const char *word, uint64_t low, uint64_t high,
				 const char *wanted, uint64_t *number, struct error *error)
{
	unsigned long long value;
	char *end;

	/* strtoull takes signs and spaces, and wraps negative numbers around. */
	if (!isdigit((unsigned char)word[0]))
		return bad_word(error, option, word, wanted);
	value = strtoull(word, &end, 10);
	if (*end || value < low || value > high || strlen(word) > 20)
		return bad_word(error, option, word, wanted);
	*number = value;
	return STATUS_OK;
}

static enum status size_parse(const char *option, const char *word, uint64_t *bytes,
			      struct error *error)
{
	static const char units[] = "KMGT";
	const char *wanted = "a size such as 100M or 2G";
	double number;
	char *end;
	const char *unit;

	number = strtod(word, &end);
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (end == word || !isdigit((unsigned char)word[0]) || !isfinite(number) || number <= 0 ||
	    (*end && (!unit || (end[1] && strcasecmp(end + 1, "b") && strcasecmp(end + 1, "ib")))))
		return bad_word(error, option, word, wanted);
	for (int i = 0; unit && i <= unit - units; i++)
		number *= 1024;
	if (number < 1 || number > 0x1p62)
		return bad_word(error, option, word, wanted);
	*bytes = (uint64_t)number;
	return STATUS_OK;
}

static bool integer_add(int **list, size_t *n, size_t *capacity, uint64_t value)
{
	for (size_t i = 0; i < *n; i++)
		if ((*list)[i] == (int)value)
			return true;
	if (*n == RECORD_MAX_TARGETS || !array_reserve(list, capacity, *n + 1))
		return false;
	(*list)[(*n)++] = (int)value;
	return true;
}

/* "12,40": process or thread ids; "0-3,7": CPUs. Twice the same is once. */
static enum status list_parse(const char *option, const char *word, bool ranges, uint64_t low,
			      int **list, size_t *n, size_t *capacity, struct error *error)
{
	const char *wanted =
		ranges ? "a list of CPUs such as 0-3,7" : "a list of ids such as 12,40";
	char *copy = strdup(word), *save = NULL;
	enum status status = STATUS_OK;

	if (!copy)
		return error_set(error, STATUS_NO_MEMORY, "no memory for %s", option);
	if (!word[0] || word[0] == ',' || word[strlen(word) - 1] == ',' || strstr(word, ",,"))
		status = bad_word(error, option, word, wanted);
	for (char *part = strtok_r(copy, ",", &save); status == STATUS_OK && part;
	     part = strtok_r(NULL, ",", &save)) {
		char *dash = ranges ? strchr(part, '-') : NULL;
		uint64_t first, last;

		if (dash)
			*dash = '\0';
		status = integer_parse(option, part, low, ID_MOST, wanted, &first, NULL);
		last = first;
		if (status == STATUS_OK && dash)
			status = integer_parse(option, dash + 1, first, ID_MOST, wanted, &last,
					       NULL);
		if (status != STATUS_OK)
			status = bad_word(error, option, word, wanted);
		for (; status == STATUS_OK && first <= last; first++)
			if (!integer_add(list, n, capacity, first))
				status = error_set(error, STATUS_USAGE,
						   "%s: more than %d ids or CPUs", option,
						   RECORD_MAX_TARGETS);
	}
	free(copy);
	return status;
}

static enum status schedule_parse(const char *word, enum schedule_kind *kind, struct error *error)
{
	for (int k = SCHEDULE_FIXED; k <= SCHEDULE_MIXED; k++)
		if (!strcmp(word, schedule_kind_name((enum schedule_kind)k))) {
			*kind = (enum schedule_kind)k;
			return STATUS_OK;
		}
	return bad_word(error, "--schedule", word, "one of fixed, prime, freq, jitter, exp, mixed");
}

static enum status scope_parse(const char *word, struct record_options *options,
			       struct error *error)
{
	for (int s = SCOPE_SYSTEM; s <= SCOPE_INHERIT; s++)
		if (!strcmp(word, clock_scope_name((enum clock_scope)s))) {
			options->scope = (enum clock_scope)s;
			options->scope_forced = true;
			return STATUS_OK;
		}
	return bad_word(error, "--scope", word, "one of cgroup, cpu, thread, inherit, system");
}

static enum status redraw_parse(const char *word, struct record_cli *cli, struct error *error)
{
	const char *wanted = "one of none, sample, block or block:B with B from 5 to 100000";
	uint64_t block = 0;
	enum status status = STATUS_OK;

	cli->redraw_given = true;
	if (!strcmp(word, "none")) {
		cli->options.redraw = REDRAW_NONE;
	} else if (!strcmp(word, "sample")) {
		cli->options.redraw = REDRAW_SAMPLE;
	} else if (!strcmp(word, "block") || !strncmp(word, "block:", 6)) {
		if (word[5])
			status = integer_parse("--redraw", word + 6, 5, 100000, wanted, &block,
					       NULL);
		if (status != STATUS_OK)
			return bad_word(error, "--redraw", word, wanted);
		cli->options.redraw = REDRAW_BLOCK;
		cli->options.block = (uint32_t)block;
	} else {
		status = bad_word(error, "--redraw", word, wanted);
	}
	return status;
}

static enum status call_graph_parse(const char *word, struct record_options *options,
				    struct error *error)
{
	uint64_t bytes = RECORD_DEFAULT_STACK_BYTES;
	enum status status = STATUS_OK;

	if (!strcmp(word, "fp")) {
		options->stacks = RECORD_FRAME_POINTERS;
		return STATUS_OK;
	}
	if (strcmp(word, "dwarf") && strncmp(word, "dwarf,", 6))
		return bad_word(error, "--call-graph", word, "fp, dwarf or dwarf,BYTES");
	if (word[5])
		status = integer_parse("--call-graph", word + 6, 8, RECORD_MAX_STACK_BYTES, "",
				       &bytes, NULL);
	if (status != STATUS_OK)
		return bad_word(error, "--call-graph", word, "dwarf,BYTES with 8 to 65528 bytes");
	options->stacks = RECORD_DWARF;
	options->stack_bytes = (uint32_t)bytes / 8 * 8;
	return status;
}

static enum status rate_parse(const char *word, struct record_options *options, struct error *error)
{
	if (!strcmp(word, "max")) {
		options->rate_hz = 1e9;
		return STATUS_OK;
	}
	return number_parse("-F", word, "", 1e-3, 1e9, "a rate in samples per second",
			    &options->rate_hz, error);
}

static enum status budget_parse(const char *word, struct record_options *options,
				struct error *error)
{
	double percent;
	enum status status =
		number_parse("--budget", word, "%", 0.001, 100,
			     "a percentage such as 1%, from 0.001% to 100%", &percent, error);

	if (status == STATUS_OK)
		options->budget = percent / 100;
	return status;
}

static enum status duration_parse(const char *word, struct record_options *options,
				  struct error *error)
{
	double seconds;
	enum status status =
		number_parse("-d", word, "", 1e-3, 1e9, "a number of seconds", &seconds, error);

	if (status == STATUS_OK)
		options->duration_ns = (uint64_t)(seconds * 1e9);
	return status;
}

static enum status pages_parse(const char *word, struct record_options *options,
			       struct error *error)
{
	uint64_t asked;
	size_t pages = 1;
	enum status status = integer_parse("-m", word, 1, 1u << 20,
					   "a number of pages from 1 to "
					   "1048576",
					   &asked, error);

	while (pages < asked && status == STATUS_OK)
		pages *= 2;
	options->ring_pages = pages;
	return status;
}

static enum status integer_option_take(struct record_cli *cli, int code, const char *word,
				       struct error *error)
{
	struct record_options *options = &cli->options;
	uint64_t number = 0;
	enum status status;

	switch (code) {
	case 'c':
		return integer_parse("-c", word, 1, UINT64_C(1) << 62, "a number of events",
				     &options->period, error);
	case OPTION_SEED:
		options->seed_given = true;
		return integer_parse("--seed", word, 0, (UINT64_C(1) << 53) - 1,
				     "a number below 2^53", &options->seed, error);
	case OPTION_CLOCKS:
		status = integer_parse("--clocks", word, 1, MANIFEST_MAX_CLOCKS,
				       "a number from 1 to 16", &number, error);
		options->clocks = (uint32_t)number;
		return status;
	default: /* OPTION_EPOCH */
		status = integer_parse("--epoch", word, 5, 3600000,
				       "a number of milliseconds, 5 or more", &number, error);
		options->epoch_ns = number * 1000000;
		return status;
	}
}

static enum status option_take(struct record_cli *cli, const struct sys *sys, int code,
			       const char *word, struct error *error)
{
	struct record_options *options = &cli->options;

	switch (code) {
	case 'o': options->output = word; return STATUS_OK;
	case 'e': return event_parse(&cli->events, sys, NULL, word, error);
	case 'F': return rate_parse(word, options, error);
	case 'g': options->stacks = RECORD_FRAME_POINTERS; return STATUS_OK;
	case 'p':
		cli->by_process = true;
		return list_parse("-p", word, false, 1, &cli->ids, &cli->n_ids, &cli->ids_capacity,
				  error);
	case 't':
		cli->by_thread = true;
		return list_parse("-t", word, false, 1, &cli->ids, &cli->n_ids, &cli->ids_capacity,
				  error);
	case 'a': cli->everything = true; return STATUS_OK;
	case 'C':
		return list_parse("-C", word, true, 0, &cli->cpus, &cli->n_cpus,
				  &cli->cpus_capacity, error);
	case 'd': return duration_parse(word, options, error);
	case 'm': return pages_parse(word, options, error);
	case 'q': cli->quiet = true; return STATUS_OK;
	case 'v': cli->verbose = true; return STATUS_OK;
	case 'h': cli->help = true; return STATUS_OK;
	case OPTION_BUDGET: return budget_parse(word, options, error);
	case OPTION_SCHEDULE: return schedule_parse(word, &options->schedule, error);
	case OPTION_REDRAW: return redraw_parse(word, cli, error);
	case OPTION_CANARY: options->canary = true; return STATUS_OK;
	case OPTION_CALL_GRAPH: return call_graph_parse(word, options, error);
	case OPTION_MAX_SIZE: return size_parse("--max-size", word, &options->max_bytes, error);
	case OPTION_SCOPE: return scope_parse(word, options, error);
	case OPTION_UNTIL: return until_question_parse(&cli->until, word, error);
	case 'c':
	case OPTION_SEED:
	case OPTION_CLOCKS:
	case OPTION_EPOCH: return integer_option_take(cli, code, word, error);
	default: return STATUS_OK;
	}
}

/* What getopt could not make sense of. */
static enum status option_refuse(char **argv, int code, int option, struct error *error)
{
	const char *word = argv[optind - 1];

	if (code == ':' && option > 0 && option < 256)
		return error_set(error, STATUS_USAGE, "-%c wants a value", option);
	if (code == ':')
		return error_set(error, STATUS_USAGE, "%s wants a value", word);
	if (option > 0 && option < 256)
		return error_set(error, STATUS_USAGE, "no option -%c (see assay record --help)",
				 option);
	return error_set(error, STATUS_USAGE, "no option %s (see assay record --help)", word);
}

/* Exactly one kind of target, and combinations that mean something. */
static enum status targets_settle(struct record_cli *cli, char **rest, struct error *error)
{
	struct record_options *options = &cli->options;

	options->ids = cli->ids;
	options->n_ids = cli->n_ids;
	options->cpus = cli->cpus;
	options->n_cpus = cli->n_cpus;
	options->command = rest[0] ? rest : NULL;
	if (cli->by_process + cli->by_thread + (cli->everything || cli->n_cpus) > 1)
		return error_set(error, STATUS_USAGE,
				 "-p, -t and -a (or -C) exclude each other: name one target");
	if (cli->by_process)
		options->target = RECORD_PROCESSES;
	else if (cli->by_thread)
		options->target = RECORD_THREADS;
	else if (cli->everything || cli->n_cpus)
		options->target = RECORD_CPUS;
	else if (options->command)
		options->target = RECORD_COMMAND;
	else
		return error_set(error, STATUS_USAGE,
				 "nothing to record: name a command, or -p PID, -t TID or -a");
	if (options->rate_hz > 0 && options->period)
		return error_set(error, STATUS_USAGE, "-F and -c exclude each other");
	if (options->scope_forced &&
	    (options->scope == SCOPE_SYSTEM) != (options->target == RECORD_CPUS))
		return error_set(error, STATUS_USAGE,
				 "--scope system belongs to -a and -C, the others do not");
	if (options->scope_forced && options->scope == SCOPE_CGROUP &&
	    options->target != RECORD_COMMAND)
		return error_set(error, STATUS_USAGE,
				 "--scope cgroup needs a command: running processes are not moved");
	return STATUS_OK;
}

static enum status until_settle(struct record_cli *cli, struct error *error)
{
	const enum schedule_kind schedule = cli->options.schedule;

	if (!cli->until.text[0])
		return STATUS_OK;
	cli->options.until = cli->until.text;
	if (schedule == SCHEDULE_JITTER || schedule == SCHEDULE_EXP || schedule == SCHEDULE_MIXED)
		return STATUS_OK;
	return error_set(
		error, STATUS_USAGE,
		"--until needs a randomised clock, and --schedule %s has none: more samples "
		"would repeat what a locked clock sees",
		schedule_kind_name(schedule));
}

enum status record_cli_parse(struct record_cli *cli, const struct sys *sys, int argc, char **argv,
			     struct error *error)
{
	enum status status = STATUS_OK;
	int code;

	*cli = (struct record_cli){
		.options = {
			.budget = RECORD_DEFAULT_BUDGET,
			.schedule = SCHEDULE_JITTER,
			.redraw = REDRAW_BLOCK,
			.clocks = RECORD_DEFAULT_CLOCKS,
			.stack_bytes = RECORD_DEFAULT_STACK_BYTES,
			.output = BUNDLE_DEFAULT_PATH,
			.command_line = argv,
		},
	};
	event_list_init(&cli->events);
	cli->options.events = &cli->events;
	optind = 0;
	opterr = 0;
	while (status == STATUS_OK && (code = getopt_long(argc, argv, "+:o:e:F:c:gp:t:aC:d:m:qvh",
							  long_options, NULL)) != -1)
		status = code == ':' || code == '?' ? option_refuse(argv, code, optopt, error)
						    : option_take(cli, sys, code, optarg, error);
	if (status != STATUS_OK || cli->help)
		return status;
	status = targets_settle(cli, argv + optind, error);
	if (status == STATUS_OK)
		status = until_settle(cli, error);
	if (status == STATUS_OK && !cli->events.n)
		status = event_default(&cli->events, sys, false, error);
	return status;
}

void record_cli_release(struct record_cli *cli)
{
	event_list_release(&cli->events);
	free(cli->ids);
	free(cli->cpus);
}
