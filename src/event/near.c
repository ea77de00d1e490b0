/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Near misses: the known names closest to a word that is not known.
 *
 * Distance is that of optimal string alignment (insert, delete, replace, swap neighbours: Damerau
 * 1964), case ignored. A name is near when at most a third of the word's letters must change, and
 * never more than four: beyond that a suggestion is noise.
 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "event/grammar.h"

#define WORD_MAX     48u /* longer words get no suggestions; bounds the work per name */
#define DISTANCE_MAX 4u

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Three rows of the dynamic programme: d[i] is the distance of a[..i] to the part of b seen so far. */
static size_t distance(struct event_slice a, struct event_slice b)
{
	size_t rows[3][WORD_MAX + 1], *two = rows[0], *one = rows[1], *now = rows[2];

	for (size_t i = 0; i <= a.n; i++)
		one[i] = i;
	for (size_t j = 1; j <= b.n; j++) {
		const int cb = tolower((unsigned char)b.at[j - 1]);
		size_t *oldest = two;

		now[0] = j;
		for (size_t i = 1; i <= a.n; i++) {
			const int ca = tolower((unsigned char)a.at[i - 1]);

			now[i] = least(least(now[i - 1], one[i]) + 1, one[i - 1] + (ca != cb));
			if (i > 1 && j > 1 && ca == tolower((unsigned char)b.at[j - 2]) &&
			    cb == tolower((unsigned char)a.at[i - 2]))
				now[i] = least(now[i], two[i - 2] + 1);
		}
		two = one;
		one = now;
		now = oldest;
	}
	return one[a.n];
}

void event_near_init(struct event_near *near, struct event_slice word)
{
	near->word = word;
	near->n = 0;
}

static bool known(const struct event_near *near, const char *name)
{
	for (size_t i = 0; i < near->n; i++)
		if (!strcmp(near->best[i].name, name))
			return true;
	return false;
}

void event_near_offer(struct event_near *near, const char *name)
{
	const struct event_slice candidate = event_slice_of(name);
	const size_t third = near->word.n / 3 ? near->word.n / 3 : 1;
	const size_t limit = least(third, DISTANCE_MAX);
	size_t d, i;

	if (!near->word.n || near->word.n > WORD_MAX || candidate.n > WORD_MAX ||
	    candidate.n + limit < near->word.n || near->word.n + limit < candidate.n)
		return;
	d = distance(near->word, candidate);
	if (d > limit || known(near, name))
		return;
	if (near->n < EVENT_NEAR_MAX)
		near->n++;
	else if (near->best[near->n - 1].distance <= d)
		return;
	for (i = near->n - 1; i > 0 && near->best[i - 1].distance > d; i--)
		near->best[i] = near->best[i - 1];
	snprintf(near->best[i].name, sizeof(near->best[i].name), "%s", name);
	near->best[i].distance = d;
}

void event_near_tell(struct event_grammar *g, const struct event_near *near)
{
	for (size_t i = 0; i < near->n; i++) {
		struct event_shown name;

		event_refuse_more(g, "%s%s",
				  i == 0            ? ": did you mean "
				  : i + 1 < near->n ? ", "
						    : " or ",
				  event_show(&name, event_slice_of(near->best[i].name)));
	}
	if (near->n)
		event_refuse_more(g, "?");
}
