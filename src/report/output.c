/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

void output_init(struct output *output)
{
	memset(output, 0, sizeof(*output));
}

void output_release(struct output *output)
{
	free(output->text);
	output_init(output);
}

void output_add_n(struct output *output, const char *text, size_t size)
{
	if (output->no_memory ||
	    !array_reserve(&output->text, &output->capacity, output->size + size + 1)) {
		output->no_memory = true;
		return;
	}
	memcpy(output->text + output->size, text, size);
	output->size += size;
	output->text[output->size] = '\0';
}

void output_add(struct output *output, const char *text)
{
	output_add_n(output, text, strlen(text));
}

void output_repeat(struct output *output, const char *text, size_t times)
{
	while (times--)
		output_add(output, text);
}

void output_format(struct output *output, const char *format, ...)
{
	char *text = NULL;
	va_list arguments;
	int size;

	va_start(arguments, format);
	size = vasprintf(&text, format, arguments);
	va_end(arguments);
	if (size < 0) {
		output->no_memory = true;
		return;
	}
	output_add_n(output, text, (size_t)size);
	free(text);
}

enum status output_check(const struct output *output, struct error *error)
{
	return output->no_memory ? error_set(error, STATUS_NO_MEMORY, "no memory for the report")
				 : STATUS_OK;
}
