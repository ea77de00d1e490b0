/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Binaries built by tests/data/symbolize/build into a directory of the test's own, a symbolizer over
 * them, and the output of other tools to compare with.
 */
#ifndef ASSAY_TESTS_UNIT_SYMBOLIZE_FIXTURE_H
#define ASSAY_TESTS_UNIT_SYMBOLIZE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/test.h"
#include "symbolize/symbolizer.h"

#define UNUSED __attribute__((unused))

struct fixture {
	char dir[256];
	struct symbolizer *symbolizer;
};

static UNUSED const char *fixture_path(const struct fixture *fixture, const char *name)
{
	static char paths[8][600];
	static unsigned int next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", fixture->dir, name);
	return path;
}

/* Runs a command and hands each line of its output to `line`. The command's exit code. */
static UNUSED int fixture_run(const char *command, void (*line)(void *state, char *text),
			      void *state)
{
	static char text[1 << 16];
	FILE *pipe = popen(command, "r");
	int code;

	assert_non_null(pipe);
	while (fgets(text, sizeof(text), pipe)) {
		text[strcspn(text, "\n")] = '\0';
		if (line)
			line(state, text);
	}
	code = pclose(pipe);
	return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static UNUSED void fixture_last_line(void *state, char *text)
{
	snprintf(state, 256, "%.255s", text);
}

static UNUSED void fixture_init(struct fixture *fixture)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(fixture->dir, sizeof(fixture->dir), "%.200s/assay-symbolize-XXXXXX",
		 tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(fixture->dir));
	fixture->symbolizer = NULL;
}

static UNUSED void fixture_release(struct fixture *fixture)
{
	char command[400];

	symbolizer_free(fixture->symbolizer);
	snprintf(command, sizeof(command), "rm -rf '%s'", fixture->dir);
	assert_int_equal(fixture_run(command, NULL, NULL), 0);
}

/* True when they were built; else the toolchain cannot build one of them, and says why. */
static UNUSED bool fixture_try_build(const struct fixture *fixture, const char *names,
				     char reason[256])
{
	const char *source = getenv("ASSAY_SOURCE");
	char root[600], command[2000];
	int code;

	/* tests/unit/symbolize/<file> -> the checkout */
	snprintf(root, sizeof(root), "%s", source ? source : __FILE__);
	for (int up = 0; !source && up < 4; up++)
		*strrchr(root, '/') = '\0';
	snprintf(command, sizeof(command), "%s/tests/data/symbolize/build", root);
	if (access(command, X_OK)) {
		snprintf(reason, 256, "what builds them is not on this machine");
		return false;
	}
	snprintf(command, sizeof(command), "%s/tests/data/symbolize/build '%s' %s 2>'%s/log'", root,
		 fixture->dir, names, fixture->dir);
	reason[0] = '\0';
	code = fixture_run(command, fixture_last_line, reason);
	if (code && code != 77) {
		snprintf(command, sizeof(command), "cat '%s/log' >&2", fixture->dir);
		fixture_run(command, NULL, NULL);
		fail_msg("cannot build %s", names);
	}
	return code == 0;
}

/* Ends the test as skipped when the toolchain cannot build one of them. */
static UNUSED void fixture_build(struct fixture *fixture, const char *names)
{
	char reason[256];

	if (!fixture_try_build(fixture, names, reason)) {
		fixture_release(fixture);
		SKIP("%s: %s", names, reason);
	}
}

/* `options` NULL: debug files are looked for in the fixture's directory only. */
static UNUSED void fixture_open(struct fixture *fixture, const struct symbolizer_options *options)
{
	const struct symbolizer_options plain = {
		.inlines = true,
		.demangle = true,
		.debug_dir = fixture->dir,
	};

	symbolizer_free(fixture->symbolizer);
	assert_int_equal(
		symbolizer_new(&fixture->symbolizer, sys_real(), options ? options : &plain, NULL),
		STATUS_OK);
}

/* The module of a built file, with nothing known of it but its path. */
static UNUSED struct module *fixture_module(struct fixture *fixture, const char *name)
{
	const struct module_identity identity = { .path = fixture_path(fixture, name) };
	struct module *module;

	if (!fixture->symbolizer)
		fixture_open(fixture, NULL);
	module = symbolizer_module(fixture->symbolizer, &identity);
	assert_non_null(module);
	return module;
}

static UNUSED const struct function *fixture_function(struct module *module, const char *symbol)
{
	size_t n;
	const struct function *functions = module_functions(module, &n);

	for (size_t i = 0; i < n; i++)
		if (functions[i].symbol && !strcmp(functions[i].symbol, symbol))
			return &functions[i];
	return NULL;
}

#endif
