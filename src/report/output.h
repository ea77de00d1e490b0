/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Text under construction: a growing buffer, its errors sticky.
 *
 * Renderers write here and ask once at the end; cli/ alone decides where the bytes go.
 */
#ifndef ASSAY_REPORT_OUTPUT_H
#define ASSAY_REPORT_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

struct output {
	char *text; /* NUL-terminated once anything was added */
	size_t size, capacity;
	bool no_memory;
};

void output_init(struct output *output);
void output_release(struct output *output);

/* Each appends; after a failure none does anything. */
void output_add(struct output *output, const char *text);
void output_add_n(struct output *output, const char *text, size_t size);
void output_format(struct output *output, const char *format, ...) PRINTF_LIKE(2, 3);
void output_repeat(struct output *output, const char *text, size_t times);

/* STATUS_NO_MEMORY if memory was ever short. */
MUST_CHECK enum status output_check(const struct output *output, struct error *error);

#endif
