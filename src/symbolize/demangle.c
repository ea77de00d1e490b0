/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define OPTIONS (DMGL_PARAMS | DMGL_ANSI)
#define STUB    "@plt"

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

/* `output` is the caller's so that its fields stay defined after the longjmp. */
static bool demangle_into(const char *mangled, struct output *output)
{
	if (setjmp(output->full))
		return false;
	if (rust_demangle_callback(mangled, OPTIONS, output_append, output))
		return true;
	output->used = 0;
	return mangled[1] == 'Z' &&
	       cplus_demangle_v3_callback(mangled, OPTIONS, output_append, output);
}

char *demangle(const char *symbol)
{
	size_t length = demangle_unversioned_length(symbol);
	const bool stub = is_stub(symbol, length);
	struct output output = { 0 };
	char *mangled;

	if (!looks_mangled(symbol) || length > DEMANGLE_MAX_INPUT)
		return NULL;
	if (stub)
		length -= strlen(STUB);
	mangled = strndup(symbol, length);
	if (!mangled)
		return NULL;
	if (!demangle_into(mangled, &output) || !output.used ||
	    (stub && !array_reserve(&output.text, &output.capacity, output.used + sizeof(STUB)))) {
		free(output.text);
		output.text = NULL;
	} else if (stub) {
		memcpy(output.text + output.used, STUB, sizeof(STUB));
	}
	free(mangled);
	return output.text;
}
