/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/probe_options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char probe_cli_help[] =
	"usage: assay probe -f FUNCTIONS [options] [--] COMMAND [ARGUMENTS]\n"
	"       assay probe -f FUNCTIONS [options] -p PID[,PID...]\n"
	"\n"
	"  -f, --function WORD     which functions: 'glob', '/regex/', 'module!glob', @FILE of "
	"such "
	"words;\n"
	"                          '!word' takes some away; 'function+N' (N bytes behind the "
	"start) "
	"and\n"
	"                          'provider:mark' and 'FILE:LINE' are points: counted. Several "
	"times\n"
	"      --region A..B       from where A is passed to where B is, in the same thread: how "
	"often,\n"
	"                          and how long; each a point, or a function (its start)\n"
	"      --mode MODE         time (default: calls, inclusive and self time), count (calls), "
	"or\n"
	"                          state (calls; which function each thread is in, seen at random "
	"times)\n"
	"                          or trace (as time, from a record of each entry and exit: "
	"callers "
	"too)\n"
	"      --audit             mode trace: end with 3 unless the records alone give the same "
	"totals\n"
	"      --records FILE      mode trace: keep the records there\n"
	"  -F, --frequency HZ      mode state: how often to look, on average (default 1000)\n"
	"      --every N           count every call, time one in N of them, at random\n"
	"      --cap N[/EPOCH]     per thread, count and time the first N calls only, or the first "
	"N "
	"of\n"
	"                          each EPOCH (100ms, 2s): a busy function then costs next to "
	"nothing\n"
	"  -e, --event COUNTER     measure by a hardware counter of each thread (instructions, "
	"cycles,\n"
	"                          ...; user space unless it says otherwise) instead of time "
	"(tsc)\n"
	"      --barrier           reads of the counter wait for earlier instructions: dearer, "
	"sharper\n"
	"  -d, --duration SECONDS  remove the probes then (a command runs on to its end)\n"
	"      --buffer SIZE       memory for the sums of all threads (default 16M)\n"
	"      --perf-map          write /tmp/perf-PID.map: other profilers then name the probes' "
	"code by\n"
	"                          the function it belongs to\n"
	"      --follow            also probe the processes that it makes, by fork and by exec, "
	"and\n"
	"                          theirs; ends when all have ended\n"
	"      --dry-run           say what would be probed and what not, with reasons; a command "
	"is\n"
	"                          started and ended at its entry point\n"
	"      --remove            only put back what an assay left that was killed with its "
	"guardian\n"
	"                          (-p PID); every attachment does so first\n"
	"      --strict            end with 3 when a function that was meant could not be probed\n"
	"      --allow-seccomp     make system calls in a target that runs under seccomp\n"
	"      --json              as JSON;  -o, --output FILE: there instead of standard output\n"
	"  -q, --quiet   -h, --help\n"
	"\n"
	"Ctrl-C removes the probes and reports. Whatever happens to assay, even kill -9, the "
	"target\n"
	"goes on unprobed.\n";

#define ID_MOST          4194304
#define NS_PER_S         1000000000u
#define LOOKS_DEFAULT_HZ 1000u
#define LOOKS_MOST_HZ    10000u
#define BUFFER_MOST      (UINT64_C(1) << 34)

enum option_code {
	OPTION_MODE = 256,
	OPTION_EVERY,
	OPTION_CAP,
	OPTION_BUFFER,
	OPTION_BARRIER,
	OPTION_AUDIT,
	OPTION_RECORDS,
	OPTION_DRY_RUN,
	OPTION_STRICT,
	OPTION_REMOVE,
	OPTION_SECCOMP,
	OPTION_JSON,
	OPTION_REGION,
	OPTION_FOLLOW,
	OPTION_PERF_MAP,
	OPTION_LATER,
};

static const struct option long_options[] = {
	{ "function", required_argument, NULL, 'f' },
	{ "mode", required_argument, NULL, OPTION_MODE },
	{ "every", required_argument, NULL, OPTION_EVERY },
	{ "cap", required_argument, NULL, OPTION_CAP },
	{ "duration", required_argument, NULL, 'd' },
	{ "pid", required_argument, NULL, 'p' },
	{ "buffer", required_argument, NULL, OPTION_BUFFER },
	{ "dry-run", no_argument, NULL, OPTION_DRY_RUN },
	{ "strict", no_argument, NULL, OPTION_STRICT },
	{ "remove", no_argument, NULL, OPTION_REMOVE },
	{ "allow-seccomp", no_argument, NULL, OPTION_SECCOMP },
	{ "json", no_argument, NULL, OPTION_JSON },
	{ "output", required_argument, NULL, 'o' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "help", no_argument, NULL, 'h' },
	{ "event", required_argument, NULL, 'e' },
	{ "frequency", required_argument, NULL, 'F' },
	{ "follow", no_argument, NULL, OPTION_FOLLOW },
	{ "perf-map", no_argument, NULL, OPTION_PERF_MAP },
	{ "barrier", no_argument, NULL, OPTION_BARRIER },
	{ "audit", no_argument, NULL, OPTION_AUDIT },
	{ "records", required_argument, NULL, OPTION_RECORDS },
	{ "region", required_argument, NULL, OPTION_REGION },
	{ "from", required_argument, NULL, OPTION_LATER },
	{ NULL, 0, NULL, 0 },
};

static enum status mode_parse(struct probe_cli *cli, const char *word, struct error *error)
{
	if (!strcmp(word, "count"))
		cli->options.mode = PROBE_COUNT;
	else if (!strcmp(word, "time"))
		cli->options.mode = PROBE_TIME;
	else if (!strcmp(word, "state"))
		cli->options.mode = PROBE_STATE;
	else if (!strcmp(word, "trace"))
		cli->options.mode = PROBE_TRACE;
	else
		return error_set(error, STATUS_USAGE,
				 "--mode %s: count, time, trace and state are modes", word);
	return STATUS_OK;
}

static enum status number_parse(const char *what, const char *word, uint64_t most, uint64_t *number,
				struct error *error)
{
	char *end;

	*number = strtoull(word, &end, 10);
	if (*word < '0' || *word > '9' || *end || *number < 1 || *number > most)
		return error_set(error, STATUS_USAGE, "%s %s: a whole number of at least 1 is due",
				 what, word);
	return STATUS_OK;
}

/* "250ms", "2s", "2" (seconds) */
static bool duration_parse(const char *word, uint64_t *ns)
{
	char *end;
	double value = strtod(word, &end), unit = 1e9;

	if (!strcmp(end, "ms"))
		unit = 1e6;
	else if (!strcmp(end, "us"))
		unit = 1e3;
	else if (*end && strcmp(end, "s") != 0)
		return false;
	value *= unit;
	if (end == word || !isfinite(value) || value < 1e3 || value > 1e18)
		return false;
	*ns = (uint64_t)value;
	return true;
}

static enum status cap_parse(struct probe_cli *cli, const char *word, struct error *error)
{
	const char *slash = strchr(word, '/');
	char number[32] = "";

	if (!slash)
		return number_parse("--cap", word, INT64_MAX, &cli->options.cap, error);
	if ((size_t)(slash - word) < sizeof(number))
		memcpy(number, word, (size_t)(slash - word));
	if (!strcmp(slash + 1, "epoch")) {
		cli->options.cap_epoch_ns = 1000000000;
	} else if (!duration_parse(slash + 1, &cli->options.cap_epoch_ns)) {
		return error_set(
			error, STATUS_USAGE,
			"--cap %s: after the slash stands `epoch` (1 s), or its length (100ms, 2s)",
			word);
	}
	return number_parse("--cap", number, INT64_MAX, &cli->options.cap, error);
}

static enum status size_parse(struct probe_cli *cli, const char *word, struct error *error)
{
	char *end;
	const double value = strtod(word, &end);
	double unit = 1;

	if (*end == 'k' || *end == 'K')
		unit = 1024;
	else if (*end == 'M')
		unit = 1024.0 * 1024;
	else if (*end == 'G')
		unit = 1024.0 * 1024 * 1024;
	else if (*end)
		unit = 0;
	if (end == word || !(value * unit >= 1024) || value * unit > (double)BUFFER_MOST ||
	    (*end && end[1]))
		return error_set(error, STATUS_USAGE, "--buffer %s: a size such as 16M is due",
				 word);
	cli->options.buffer_bytes = (uint64_t)(value * unit);
	return STATUS_OK;
}

static enum status pid_add(struct probe_cli *cli, uint64_t pid, struct error *error)
{
	size_t *n = &cli->options.n_pids;

	for (size_t i = 0; i < *n; i++) {
		if (cli->pids[i] == (pid_t)pid)
			return error_set(error, STATUS_USAGE, "-p names process %d twice",
					 (int)pid);
	}
	if (*n >= PROBE_MAX_PIDS)
		return error_set(error, STATUS_USAGE, "-p: at most %u processes at once",
				 PROBE_MAX_PIDS);
	cli->pids[(*n)++] = (pid_t)pid;
	return STATUS_OK;
}

/* "12,34": several -p add up. */
static enum status pids_parse(struct probe_cli *cli, const char *words, struct error *error)
{
	enum status status = STATUS_OK;
	bool more = true;

	for (const char *at = words; status == STATUS_OK && more;) {
		const size_t length = strcspn(at, ",");
		char word[16] = "";
		uint64_t pid;

		if (length < sizeof(word))
			memcpy(word, at, length);
		status = number_parse("-p", word, ID_MOST, &pid, error);
		if (status == STATUS_OK)
			status = pid_add(cli, pid, error);
		more = at[length] == ',';
		at += length + more;
	}
	return status;
}

static enum status option_take(struct probe_cli *cli, const struct sys *sys, int option,
			       const char *word, const char *name, struct error *error)
{
	switch (option) {
	case 'f': return selection_add(&cli->selection, sys, word, error);
	case OPTION_REGION: return selection_add_region(&cli->selection, word, error);
	case OPTION_MODE: return mode_parse(cli, word, error);
	case OPTION_EVERY:
		return number_parse("--every", word, 1000000000, &cli->options.every, error);
	case OPTION_CAP: return cap_parse(cli, word, error);
	case 'd':
		if (!duration_parse(word, &cli->options.duration_ns))
			return error_set(error, STATUS_USAGE, "-d %s: seconds are due", word);
		return STATUS_OK;
	case 'p': return pids_parse(cli, word, error);
	case OPTION_BUFFER: return size_parse(cli, word, error);
	case OPTION_DRY_RUN: cli->options.dry_run = true; return STATUS_OK;
	case OPTION_STRICT: cli->strict = true; return STATUS_OK;
	case OPTION_REMOVE: cli->remove = true; return STATUS_OK;
	case OPTION_SECCOMP: cli->options.allow_seccomp = true; return STATUS_OK;
	case OPTION_JSON: cli->json = true; return STATUS_OK;
	case 'o': cli->output = word; return STATUS_OK;
	case 'q': cli->quiet = true; return STATUS_OK;
	case 'h': cli->help = true; return STATUS_OK;
	case 'e': cli->options.event = word; return STATUS_OK;
	case 'F': return number_parse("-F", word, LOOKS_MOST_HZ, &cli->rate_hz, error);
	case OPTION_AUDIT: cli->audit = true; return STATUS_OK;
	case OPTION_RECORDS: cli->records = word; return STATUS_OK;
	case OPTION_BARRIER: cli->options.barrier = true; return STATUS_OK;
	case OPTION_PERF_MAP: cli->options.perf_map = true; return STATUS_OK;
	case OPTION_FOLLOW: cli->options.follow = true; return STATUS_OK;
	case OPTION_LATER:
		return error_set(error, STATUS_UNSUPPORTED, "--%s: not in this version", name);
	}
	return error_set(error, STATUS_USAGE, "unknown option %s; `assay probe --help` lists them",
			 name);
}

static enum status whole_check(struct probe_cli *cli, int argc, char **argv, struct error *error)
{
	if (cli->help)
		return STATUS_OK;
	if (cli->remove) {
		if (!cli->options.n_pids || optind < argc || cli->selection.n)
			return error_set(
				error, STATUS_USAGE,
				"--remove takes -p PID alone: whatever is left is removed");
		return STATUS_OK;
	}
	if (!cli->selection.has_include)
		return error_set(error, STATUS_USAGE,
				 "which functions? -f 'glob', -f '/regex/', -f 'module!glob'");
	if (cli->selection.n_regions &&
	    (cli->options.mode == PROBE_STATE || cli->options.mode == PROBE_TRACE ||
	     cli->options.every > 1 || cli->options.cap))
		return error_set(
			error, STATUS_USAGE,
			"--region: every passage is counted and timed: with --mode time or "
			"count, without --every and --cap");
	if (cli->options.n_pids && optind < argc)
		return error_set(error, STATUS_USAGE, "-p and a command exclude each other");
	if (cli->options.follow && cli->options.dry_run)
		return error_set(error, STATUS_USAGE,
				 "--dry-run looks at what is there now: not with --follow");
	if (!cli->options.n_pids && optind >= argc)
		return error_set(error, STATUS_USAGE, "which program? -p PID, or a command");
	if (!probe_mode_measures(cli->options.mode) &&
	    (cli->options.every > 1 || cli->options.event || cli->options.barrier))
		return error_set(error, STATUS_USAGE,
				 "--every, -e and --barrier are about what calls cost: not with "
				 "--mode count and state");
	if (cli->options.mode == PROBE_STATE && cli->options.cap)
		return error_set(
			error, STATUS_USAGE,
			"--cap is about calls: not with --mode state, which looks at threads");
	if (cli->options.mode != PROBE_STATE && cli->rate_hz)
		return error_set(error, STATUS_USAGE,
				 "-F says how often to look: with --mode state only");
	if (cli->options.mode == PROBE_TRACE && (cli->options.every > 1 || cli->options.cap))
		return error_set(error, STATUS_USAGE,
				 "--every and --cap leave calls out: not with --mode trace");
	if (cli->options.mode != PROBE_TRACE && (cli->audit || cli->records))
		return error_set(error, STATUS_USAGE,
				 "--audit and --records are about records: with --mode trace only");
	cli->options.look_ns = NS_PER_S / (cli->rate_hz ? cli->rate_hz : LOOKS_DEFAULT_HZ);
	cli->options.pids = cli->pids;
	cli->options.argv = argv + optind;
	return STATUS_OK;
}

enum status probe_cli_parse(struct probe_cli *cli, const struct sys *sys, int argc, char **argv,
			    struct error *error)
{
	enum status status = STATUS_OK;
	int option, index = 0;

	*cli = (struct probe_cli){ .options = { .mode = PROBE_TIME,
						.every = 1,
						.buffer_bytes = BUFFERS_DEFAULT_BYTES,
						.records_fd = -1,
						.signal_fd = -1 } };
	selection_init(&cli->selection);
	cli->options.selection = &cli->selection;
	opterr = 0;
	optind = 0;
	while (status == STATUS_OK &&
	       (option = getopt_long(argc, argv, "+:f:d:p:o:e:F:qh", long_options, &index)) != -1) {
		if (option == ':')
			return error_set(error, STATUS_USAGE, "%s: a word is missing after it",
					 argv[optind - 1]);
		status = option_take(cli, sys, option, optarg,
				     option == OPTION_LATER ? long_options[index].name
							    : argv[optind - 1],
				     error);
	}
	if (status != STATUS_OK)
		return status;
	return whole_check(cli, argc, argv, error);
}

void probe_cli_release(struct probe_cli *cli)
{
	selection_release(&cli->selection);
}
