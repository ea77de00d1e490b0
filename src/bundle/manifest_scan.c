/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/manifest_scan.h"

char scan_peek(struct scan *scan)
{
	while (scan->at < scan->size) {
		const char c = scan->text[scan->at];

		if (c != ' ' && c != '\t' && c != '\n' && c != '\r')
			return c;
		scan->at++;
	}
	return '\0';
}

enum scan_result scan_expect(struct scan *scan, char character)
{
	const char c = scan_peek(scan);

	if (c == '\0')
		return SCAN_CUT;
	if (c != character)
		return SCAN_WRONG;
	scan->at++;
	return SCAN_OK;
}

/* The cursor stands on the opening quote. */
static enum scan_result scan_string(struct scan *scan)
{
	for (scan->at++; scan->at < scan->size; scan->at++) {
		const char c = scan->text[scan->at];

		if (c == '\0')
			break;
		if (c == '\\' && ++scan->at < scan->size && scan->text[scan->at] == '\0')
			break;
		if (c == '"') {
			scan->at++;
			return SCAN_OK;
		}
	}
	return SCAN_CUT;
}

static bool is_scalar(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       c == '-' || c == '+' || c == '.';
}

/* A number, true, false, null. One that reaches the end of the text may be cut. */
static enum scan_result scan_scalar(struct scan *scan)
{
	const size_t start = scan->at;

	while (scan->at < scan->size && is_scalar(scan->text[scan->at]))
		scan->at++;
	if (scan->at == start)
		return SCAN_WRONG;
	return scan->at == scan->size || !scan->text[scan->at] ? SCAN_CUT : SCAN_OK;
}

/* Brackets are counted, not matched by kind: the JSON parser will see to that. */
static enum scan_result scan_nested(struct scan *scan)
{
	size_t depth = 0;

	while (scan->at < scan->size) {
		const char c = scan->text[scan->at];

		if (c == '\0')
			break;
		if (c == '"') {
			if (scan_string(scan) != SCAN_OK)
				return SCAN_CUT;
			continue;
		}
		scan->at++;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return SCAN_OK;
	}
	return SCAN_CUT;
}

enum scan_result scan_value(struct scan *scan, size_t *start, size_t *end)
{
	const char c = scan_peek(scan);
	enum scan_result result;

	*start = scan->at;
	if (c == '\0')
		return SCAN_CUT;
	if (c == '"')
		result = scan_string(scan);
	else if (c == '{' || c == '[')
		result = scan_nested(scan);
	else
		result = scan_scalar(scan);
	*end = scan->at;
	return result;
}
