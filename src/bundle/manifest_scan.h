/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the values of a JSON document that may stop anywhere: strings and brackets only, so that each
 * value can be handed to the JSON parser on its own. Memory is bounded by the largest value, and what
 * stands whole before the cut is not lost.
 */
#ifndef ASSAY_BUNDLE_MANIFEST_SCAN_H
#define ASSAY_BUNDLE_MANIFEST_SCAN_H

#include <stdbool.h>
#include <stddef.h>

struct scan {
	const char *text;
	size_t size, at;
};

enum scan_result {
	SCAN_OK,
	SCAN_CUT,   /* the text ends (or turns into NUL bytes) before the value does */
	SCAN_WRONG, /* something else stands there */
};

/* Passes blanks and then exactly this character. */
enum scan_result scan_expect(struct scan *scan, char character);

/* The next character that is no blank, not consumed; NUL at the end. */
char scan_peek(struct scan *scan);

/* Passes one value; it stands at text[*start..*end). */
enum scan_result scan_value(struct scan *scan, size_t *start, size_t *end);

#endif
