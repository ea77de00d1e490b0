/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Pieces of the text that the user typed: compared, split, read as numbers. Nothing here allocates or
 * reads a byte outside the slice.
 */
#include <string.h>
#include <strings.h>

#include "event/grammar.h"

struct event_slice event_slice_of(const char *text)
{
	return (struct event_slice){ text, strlen(text) };
}

bool event_slice_is(struct event_slice slice, const char *word)
{
	return strlen(word) == slice.n && !memcmp(slice.at, word, slice.n);
}

bool event_slice_is_folded(struct event_slice slice, const char *word)
{
	return strlen(word) == slice.n && !strncasecmp(slice.at, word, slice.n);
}

bool event_slice_has_glob(struct event_slice slice)
{
	for (size_t i = 0; i < slice.n; i++)
		if (strchr("*?[", slice.at[i]))
			return true;
	return false;
}

bool event_slice_split(struct event_slice slice, char c, struct event_slice *head,
		       struct event_slice *rest)
{
	const char *found = slice.n ? memchr(slice.at, c, slice.n) : NULL;

	if (!found) {
		*head = slice;
		*rest = (struct event_slice){ slice.at + slice.n, 0 };
		return false;
	}
	*head = (struct event_slice){ slice.at, (size_t)(found - slice.at) };
	*rest = (struct event_slice){ found + 1, slice.n - head->n - 1 };
	return true;
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct event_slice event_slice_trim(struct event_slice slice)
{
	while (slice.n && blank(slice.at[0])) {
		slice.at++;
		slice.n--;
	}
	while (slice.n && blank(slice.at[slice.n - 1]))
		slice.n--;
	return slice;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 16;
}

static bool digits(struct event_slice slice, unsigned int base, uint64_t *value)
{
	uint64_t v = 0;

	if (!slice.n)
		return false;
	for (size_t i = 0; i < slice.n; i++) {
		unsigned int digit = (unsigned int)digit_of(slice.at[i]);

		if (digit >= base || __builtin_mul_overflow(v, (uint64_t)base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)digit, &v))
			return false;
	}
	*value = v;
	return true;
}

/* A leading zero is decimal, as in perf: sysfs writes `umask=01`. */
bool event_slice_number(struct event_slice slice, uint64_t *value)
{
	if (slice.n > 2 && slice.at[0] == '0' && (slice.at[1] == 'x' || slice.at[1] == 'X'))
		return digits((struct event_slice){ slice.at + 2, slice.n - 2 }, 16, value);
	return digits(slice, 10, value);
}

bool event_slice_hex(struct event_slice slice, uint64_t *value)
{
	return digits(slice, 16, value);
}

bool event_slice_file_name(struct event_slice slice, char *name, size_t size)
{
	if (!slice.n || slice.n >= size || slice.at[0] == '.' || memchr(slice.at, '/', slice.n) ||
	    memchr(slice.at, '\0', slice.n))
		return false;
	memcpy(name, slice.at, slice.n);
	name[slice.n] = '\0';
	return true;
}
