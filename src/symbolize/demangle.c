/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
#define STUB    "@plt"

#define LONG_NAME       1000                 /* from here on libiberty may refuse */
#define LONG_NAME_STACK (256u * 1024 * 1024) /* 8 KiB for each byte of the longest name */

struct output {
	char *text;
	size_t used, capacity;
	jmp_buf full;
};

/* libiberty offers no way to stop its printer but to leave it: the callback forms keep their state
 * on the stack only, so nothing leaks. */
static void output_append(const char *text, size_t length, void *opaque)
{
	struct output *output = opaque;

	if (!length)
		return;
	if (output->used + length > DEMANGLE_MAX_OUTPUT ||
	    !array_reserve(&output->text, &output->capacity, output->used + length + 1))
		longjmp(output->full, 1);
	memcpy(output->text + output->used, text, length);
	output->used += length;
	output->text[output->used] = '\0';
}

static bool is_stub(const char *symbol, size_t length)
{
	return length > strlen(STUB) && !strcmp(symbol + length - strlen(STUB), STUB);
}

size_t demangle_unversioned_length(const char *symbol)
{
	const size_t length = strlen(symbol);
	const char *at = is_stub(symbol, length) ? NULL : strchr(symbol, '@');

	return at && at > symbol ? (size_t)(at - symbol) : length;
}

static bool looks_mangled(const char *symbol)
{
	return symbol[0] == '_' && (symbol[1] == 'Z' || symbol[1] == 'R');
}

struct attempt {
	const char *mangled;
	int options;
	struct output
		output; /* not the attempt's own frame's, so that it stays defined after the longjmp */
	bool good;
};

static void attempt_run(struct attempt *attempt)
{
	struct output *output = &attempt->output;

	attempt->good = false;
	if (setjmp(output->full))
		return;
	/* A legacy Rust name is a C++ one too: Rust is asked first. */
	attempt->good = rust_demangle_callback(attempt->mangled, OPTIONS, output_append, output);
	if (attempt->good || attempt->mangled[1] != 'Z')
		return;
	output->used = 0;
	attempt->good = cplus_demangle_v3_callback(attempt->mangled, attempt->options,
						   output_append, output);
}

static void *attempt_thread(void *argument)
{
	attempt_run(argument);
	return NULL;
}

/* libiberty refuses C++ names beyond 1024 bytes, which templates easily make, because its recursion might
 * overflow the stack. With a stack that no name within our bounds can fill, it need not. */
static void attempt_with_room(struct attempt *attempt)
{
	pthread_attr_t attributes;
	pthread_t thread;

	attempt->options |= DMGL_NO_RECURSE_LIMIT;
	attempt->good = false;
	if (pthread_attr_init(&attributes))
		return;
	if (!pthread_attr_setstacksize(&attributes, LONG_NAME_STACK) &&
	    !pthread_create(&thread, &attributes, attempt_thread, attempt))
		pthread_join(thread, NULL);
	pthread_attr_destroy(&attributes);
}

char *demangle(const char *symbol)
{
	size_t length = demangle_unversioned_length(symbol);
	const bool stub = is_stub(symbol, length);
	struct attempt attempt = { .options = OPTIONS };
	struct output *output = &attempt.output;
	char *mangled;

	if (!looks_mangled(symbol) || length > DEMANGLE_MAX_INPUT)
		return NULL;
	if (stub)
		length -= strlen(STUB);
	mangled = strndup(symbol, length);
	if (!mangled)
		return NULL;
	attempt.mangled = mangled;
	if (length < LONG_NAME)
		attempt_run(&attempt);
	else
		attempt_with_room(&attempt);
	free(mangled);
	if (!attempt.good || !output->used ||
	    (stub &&
	     !array_reserve(&output->text, &output->capacity, output->used + sizeof(STUB)))) {
		free(output->text);
		return NULL;
	}
	if (stub)
		memcpy(output->text + output->used, STUB, sizeof(STUB));
	return output->text;
}
