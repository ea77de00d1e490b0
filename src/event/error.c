/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Errors of the grammar: which word, where it stands, what it may have meant.
 *
 * What the user typed is shown back bounded and with control bytes replaced, so that an event name
 * out of a script cannot drive a terminal.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "event/grammar.h"

const char *event_show(struct event_shown *shown, struct event_slice slice)
{
	const size_t room = sizeof(shown->text) - 1;
	size_t n = slice.n < room ? slice.n : room;

	for (size_t i = 0; i < n; i++) {
		const unsigned char c = (unsigned char)slice.at[i];

		shown->text[i] = c < 0x20 || c == 0x7f ? '?' : (char)c;
	}
	shown->text[n] = '\0';
	if (slice.n > room)
		memcpy(shown->text + room - 3, "...", 3);
	return shown->text;
}

/* Where the whole argument is longer than can be shown, the part round the word is. */
static struct event_slice neighbourhood(const char *text, size_t offset)
{
	struct event_slice all = event_slice_of(text);
	const size_t room = sizeof(((struct event_shown *)0)->text) - 1;

	if (all.n > room && offset > room / 2) {
		all.at += offset - room / 2;
		all.n -= offset - room / 2;
	}
	return all;
}

enum status event_refuse(struct event_grammar *g, enum status status, struct event_slice at,
			 const char *format, ...)
{
	const size_t offset = (size_t)(at.at - g->text);
	struct event_shown whole;
	char words[640];
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	error_set(g->error, status, "%s (character %zu of '%s')", words, offset + 1,
		  event_show(&whole, neighbourhood(g->text, offset)));
	if (g->error)
		g->error->offset = offset;
	return status;
}

void event_refuse_more(struct event_grammar *g, const char *format, ...)
{
	size_t used;
	va_list args;

	if (!g->error)
		return;
	used = strlen(g->error->text);
	va_start(args, format);
	vsnprintf(g->error->text + used, sizeof(g->error->text) - used, format, args);
	va_end(args);
}

enum status event_no_memory(struct event_grammar *g)
{
	return error_set(g->error, STATUS_NO_MEMORY, "no memory for events");
}
