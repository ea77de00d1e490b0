/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cli/reading.h"

void reading_init(struct reading *reading)
{
	*reading = (struct reading){ .pager = true };
	filter_init(&reading->filter);
}

void reading_release(struct reading *reading)
{
	filter_release(&reading->filter);
}

const char *reading_word(char **argv)
{
	return optind > 1 && optarg && optarg == argv[optind - 1] ? argv[optind - 2]
								  : argv[optind - 1];
}

enum status reading_take(struct reading *reading, int code, const char *word, const char *command,
			 struct error *error)
{
	switch (code) {
	case 'e': reading->event = optarg; return STATUS_OK;
	case 'p': return filter_pids(&reading->filter, optarg, error);
	case 't': return filter_tids(&reading->filter, optarg, error);
	case 'C': return filter_cpus(&reading->filter, optarg, error);
	case READING_COMM: return filter_comms(&reading->filter, optarg, error);
	case READING_TIME: return filter_time(&reading->filter, optarg, error);
	case READING_JSON: reading->json = true; return STATUS_OK;
	case READING_SYMFS: reading->symfs = optarg; return STATUS_OK;
	case READING_KALLSYMS: reading->kallsyms = optarg; return STATUS_OK;
	case 'k': reading->vmlinux = optarg; return STATUS_OK;
	case READING_DEBUGINFOD: reading->debuginfod = true; return STATUS_OK;
	case READING_NO_PAGER: reading->pager = false; return STATUS_OK;
	case 'v': reading->verbose = true; return STATUS_OK;
	case 'h': reading->help = true; return STATUS_OK;
	case READING_COLOUR:
		if (page_colour_parse(optarg, &reading->colour))
			return STATUS_OK;
		return error_set(error, STATUS_USAGE,
				 "--color takes auto, always or never, not \"%s\"", optarg);
	case ':': return error_set(error, STATUS_USAGE, "%s needs a value", word);
	default:
		return error_set(error, STATUS_USAGE, "%s: no such option (assay %s --help)", word,
				 command);
	}
}

enum status reading_path(const char **path, int argc, char **argv, struct error *error)
{
	if (optind < argc)
		*path = argv[optind++];
	if (optind < argc)
		return error_set(error, STATUS_USAGE, "one recording at a time: \"%s\" is too much",
				 argv[optind]);
	return STATUS_OK;
}

struct session_options reading_session(struct reading *reading, const char *path)
{
	return (struct session_options){ .path = path,
					 .event = reading->event,
					 .symfs = reading->symfs,
					 .kallsyms = reading->kallsyms,
					 .vmlinux = reading->vmlinux,
					 .debuginfod = reading->debuginfod,
					 .demangle = true,
					 .filter = &reading->filter };
}
