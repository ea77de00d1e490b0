/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay: finds the subcommand and hands over. `assay COMMAND --help` is the command's own matter.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exit_code.h"

struct command {
	const char *name, *about;
	int (*run)(int argc, char **argv); /* NULL: not in this version */
};

static const struct command commands[] = {
	{ "record", "sample a program into a bundle", cmd_record },
	{ "report", "ranked table of a bundle or perf.data, with its uncertainty", cmd_report },
	{ "diagnose", "can this measurement be trusted", cmd_diagnose },
	{ "diff", "two recordings: did the workload change, or the measurement", cmd_diff },
	{ "run", "sample, diagnose, probe what is uncertain, report", NULL },
	{ "probe", "exact counts at entry and exit of functions", cmd_probe },
	{ "compare", "interleaved comparison of commands", NULL },
	{ "export", "other tools' formats", NULL },
	{ "bench", "workloads of known truth: scores assay and its peers", NULL },
	{ "doctor", "what this machine can measure, and what is in the way", cmd_doctor },
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static void usage(FILE *out)
{
	fputs("usage: assay COMMAND [options]      (assay COMMAND --help says more)\n\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-9s %s%s\n", commands[i].name, commands[i].about,
			commands[i].run ? "" : " (not in this version)");
	fputs("\n  --version  --help\n", out);
}

int main(int argc, char **argv)
{
	/* A reader that goes away is seen as EPIPE by whoever writes. */
	signal(SIGPIPE, SIG_IGN);
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "version")) {
		puts("assay " ASSAY_VERSION);
		return EXIT_DONE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
		usage(stdout);
		return EXIT_DONE;
	}
	for (size_t i = 0; i < N_COMMANDS; i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		if (commands[i].run)
			return commands[i].run(argc - 1, argv + 1);
		fprintf(stderr, "assay %s: not in this version\n", argv[1]);
		return EXIT_FAILED;
	}
	fprintf(stderr, "assay: no command \"%s\"; `assay --help` lists them\n", argv[1]);
	return EXIT_USAGE;
}
