/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * assay doctor: what this machine can measure, what is in the way, and the exact fix.
 */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/exit_code.h"
#include "cli/page.h"
#include "report/diagnosis.h"

static const char help[] = "usage: assay doctor [options]\n"
			   "\n"
			   "  Looks at hardware counters, precise levels, counters in user space, "
			   "sysctls, capabilities,\n"
			   "  containers, clocksource, tracefs and symbols; says the state of "
			   "each, the exact fix, and the\n"
			   "  recording command that works here. Changes nothing.\n"
			   "\n"
			   "      --json              machine-readable, schema assay.doctor/1\n"
			   "      --color WHEN        auto, always, never;  --no-pager\n"
			   "\n"
			   "  Exit code: 0, whatever was found.\n";

struct doctor_cli {
	bool json, pager, help;
	enum page_colour colour;
};

enum { OPTION_JSON = 256, OPTION_COLOUR, OPTION_NO_PAGER };

static enum status options_parse(struct doctor_cli *cli, int argc, char **argv, struct error *error)
{
	static const struct option options[] = { { "json", no_argument, NULL, OPTION_JSON },
						 { "color", required_argument, NULL,
						   OPTION_COLOUR },
						 { "no-pager", no_argument, NULL, OPTION_NO_PAGER },
						 { "verbose", no_argument, NULL, 'v' },
						 { "quiet", no_argument, NULL, 'q' },
						 { "help", no_argument, NULL, 'h' },
						 { NULL, 0, NULL, 0 } };
	int option;

	*cli = (struct doctor_cli){ .pager = true };
	opterr = 0;
	optind = 0;
	while ((option = getopt_long(argc, argv, "hvq", options, NULL)) != -1)
		switch (option) {
		case OPTION_JSON: cli->json = true; break;
		case OPTION_NO_PAGER: cli->pager = false; break;
		case OPTION_COLOUR:
			if (!page_colour_parse(optarg, &cli->colour))
				return error_set(error, STATUS_USAGE,
						 "--color takes auto, always or never, not \"%s\"",
						 optarg);
			break;
		case 'h': cli->help = true; break;
		case 'v':
		case 'q': break;
		default:
			return error_set(error, STATUS_USAGE,
					 "%s: no such option (assay doctor --help)",
					 argv[optind - 1]);
		}
	if (optind < argc)
		return error_set(error, STATUS_USAGE, "%s: assay doctor takes no argument",
				 argv[optind]);
	return STATUS_OK;
}

static enum status examine(const struct doctor_cli *cli, struct error *error)
{
	const struct text_options text = { .colour = page_wants_colour(cli->colour),
					   .unicode = page_is_unicode(),
					   .width = page_width(sys_real()) };
	struct doctor doctor;
	struct output output;
	enum status status = doctor_examine(&doctor, sys_real(), NULL, error);

	output_init(&output);
	if (status == STATUS_OK && cli->json) {
		status = doctor_json(&doctor, &output, error);
	} else if (status == STATUS_OK) {
		doctor_text(&doctor, &text, &output);
		status = output_check(&output, error);
	}
	if (status == STATUS_OK)
		status = page_write(sys_real(), output.text, output.size, cli->pager && !cli->json,
				    error);
	output_release(&output);
	doctor_release(&doctor);
	return status;
}

int cmd_doctor(int argc, char **argv)
{
	struct error error = { 0 };
	struct doctor_cli cli;
	enum status status = options_parse(&cli, argc, argv, &error);

	if (status == STATUS_OK && cli.help) {
		fputs(help, stdout);
		return EXIT_DONE;
	}
	if (status == STATUS_OK)
		status = examine(&cli, &error);
	if (status != STATUS_OK)
		fprintf(stderr, "assay doctor: %s\n", error.text);
	return exit_code_of(status);
}
