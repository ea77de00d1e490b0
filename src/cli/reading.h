/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The options that every command has which reads recordings: which samples, where names are found, how the
 * answer is shown.
 *
 * A command puts READING_LONG_OPTIONS and READING_SHORT_OPTIONS into its own lists and its own codes above
 * READING_LAST; its switch hands what it does not know itself to reading_take.
 */
#ifndef ASSAY_CLI_READING_H
#define ASSAY_CLI_READING_H

#include <getopt.h>
#include <stdbool.h>

#include "base/status.h"
#include "cli/page.h"
#include "cli/session.h"
#include "profile/filter.h"

struct reading {
	const char *event, *symfs, *kallsyms, *vmlinux;
	struct filter filter;
	bool json, verbose, debuginfod, pager, help;
	enum page_colour colour;
};

enum reading_option {
	READING_JSON = 256,
	READING_SYMFS,
	READING_KALLSYMS,
	READING_DEBUGINFOD,
	READING_COLOUR,
	READING_NO_PAGER,
	READING_COMM,
	READING_TIME,
	READING_LAST
};

#define READING_SHORT_OPTIONS "e:k:vh"
#define READING_LONG_OPTIONS                                                                    \
	{ "event", required_argument, NULL, 'e' }, { "json", no_argument, NULL, READING_JSON }, \
		{ "symfs", required_argument, NULL, READING_SYMFS },                            \
		{ "kallsyms", required_argument, NULL, READING_KALLSYMS },                      \
		{ "vmlinux", required_argument, NULL, 'k' },                                    \
		{ "debuginfod", no_argument, NULL, READING_DEBUGINFOD },                        \
		{ "color", required_argument, NULL, READING_COLOUR },                           \
		{ "no-pager", no_argument, NULL, READING_NO_PAGER },                            \
		{ "verbose", no_argument, NULL, 'v' },                                          \
	{                                                                                       \
		"help", no_argument, NULL, 'h'                                                  \
	}

/* Which samples: for commands that look at one recording. */
#define READING_FILTER_SHORT_OPTIONS "p:t:C:"
#define READING_FILTER_LONG_OPTIONS                                                               \
	{ "comm", required_argument, NULL, READING_COMM },                                        \
		{ "comms", required_argument, NULL, READING_COMM },                               \
		{ "pid", required_argument, NULL, 'p' }, { "tid", required_argument, NULL, 't' }, \
		{ "cpu", required_argument, NULL, 'C' },                                          \
	{                                                                                         \
		"time", required_argument, NULL, READING_TIME                                     \
	}

/* reading_release afterwards in any case. */
void reading_init(struct reading *reading);
void reading_release(struct reading *reading);

/* The option that getopt_long has just returned, as the user wrote it. */
const char *reading_word(char **argv);

/* Takes the option `code` with its value in optarg; `word` is how the user wrote it, `command` whose --help
 * tells more. STATUS_USAGE for a value that is wrong or missing, and for an option that is none of these. */
MUST_CHECK enum status reading_take(struct reading *reading, int code, const char *word,
				    const char *command, struct error *error);

/* The one recording that is left in argv after the options, into *path (untouched when there is none). */
MUST_CHECK enum status reading_path(const char **path, int argc, char **argv, struct error *error);

/* What a session needs of it, names demangled; `path` NULL: the default. Points into `reading`. */
struct session_options reading_session(struct reading *reading, const char *path);

#endif
