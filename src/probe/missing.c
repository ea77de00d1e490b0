/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words that mean nothing: what the user may have meant.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "probe/point_line.h"
#include "probe/probe_state.h"
#include "target/maps.h"

#define NEAR_SHOWN    5u
#define NEAR_MAX_NAME 64u
#define WORDS_TOLD    5u

/* Levenshtein's distance, cut off at `limit`. */
static unsigned int distance(const char *a, const char *b, unsigned int limit)
{
	unsigned int row[NEAR_MAX_NAME + 1];
	const size_t la = strnlen(a, NEAR_MAX_NAME + 1), lb = strnlen(b, NEAR_MAX_NAME + 1);

	if (la > NEAR_MAX_NAME || lb > NEAR_MAX_NAME || la > lb + limit || lb > la + limit)
		return limit + 1;
	for (size_t j = 0; j <= lb; j++)
		row[j] = (unsigned int)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned int diagonal = row[0];

		row[0] = (unsigned int)i;
		for (size_t j = 1; j <= lb; j++) {
			const unsigned int up = row[j];
			unsigned int best = diagonal + (a[i - 1] != b[j - 1]);

			best = up + 1 < best ? up + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			diagonal = up;
			row[j] = best;
		}
	}
	return row[lb];
}

struct near {
	const char *names[NEAR_SHOWN];
	unsigned int distances[NEAR_SHOWN];
	size_t n;
};

static void near_offer(struct near *near, const char *name, unsigned int far)
{
	size_t at;

	for (size_t i = 0; i < near->n; i++)
		if (!strcmp(near->names[i], name))
			return;
	at = near->n < NEAR_SHOWN ? near->n++ : NEAR_SHOWN - 1;
	if (at == NEAR_SHOWN - 1 && near->n == NEAR_SHOWN && near->names[at] &&
	    near->distances[at] <= far)
		return;
	for (; at > 0 && near->distances[at - 1] > far; at--) {
		near->names[at] = near->names[at - 1];
		near->distances[at] = near->distances[at - 1];
	}
	near->names[at] = name;
	near->distances[at] = far;
}

static void near_find(const struct probe *probe, const char *wanted, struct near *near)
{
	const unsigned int limit = (unsigned int)(strlen(wanted) / 3 + 1);

	for (size_t m = 0; m < probe->image.n; m++) {
		size_t n = 0;
		const struct function *functions =
			probe->image.modules[m].symbols
				? module_functions(probe->image.modules[m].symbols, &n)
				: NULL;

		for (size_t i = 0; i < n; i++) {
			const char *name = functions[i].stub ? NULL : functions[i].symbol;
			const unsigned int far = name ? distance(wanted, name, limit) : limit + 1;

			if (far <= limit)
				near_offer(near, name, far);
		}
	}
}

const char *near_names(const struct probe *probe, const char *wanted, char *text, size_t size)
{
	struct near near = { 0 };
	size_t used = 0;

	*text = '\0';
	near_find(probe, wanted ? wanted : "", &near);
	for (size_t i = 0; i < near.n && used < size - 1; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
					 i ? ", " : "; near misses: ", near.names[i]);
	return text;
}

/* What a launched command has become, when it is not what was given: a script's interpreter. */
static const char *other_program(const struct probe *probe, char *text, size_t size)
{
	const char *at = probe->image.maps, *given, *base;
	struct map map = { .path = "" };

	*text = '\0';
	if (!probe->result->launched || !at || !maps_next(&at, &map) || *map.path != '/')
		return text;
	given = strrchr(probe->options->argv[0], '/');
	given = given ? given + 1 : probe->options->argv[0];
	base = strrchr(map.path, '/') + 1;
	if (strncmp(base, given, strlen(given)) != 0)
		snprintf(text, size,
			 "; it runs %s: if %s is a script, name the program that it starts, or "
			 "take --follow",
			 map.path, given);
	return text;
}

/* "-f sqlite3_stepp", as the user wrote it: the first word that means something. */
static const struct selection_word *first_word(const struct selection *selection)
{
	for (size_t i = 0; i < selection->n; i++)
		if (!selection->words[i].exclude)
			return &selection->words[i];
	return NULL;
}

enum status near_misses(const struct probe *probe, struct error *error)
{
	const struct selection_word *word = first_word(probe->options->selection);
	const char *text = word ? word->text : "";
	char list[400], other[PATH_MAX + 200];
	size_t readable = 0;

	other_program(probe, other, sizeof(other));
	for (size_t i = 0; i < probe->image.n; i++)
		readable += !probe->image.modules[i].why;
	if (!probe->image.n)
		return error_set(
			error, STATUS_NOT_FOUND,
			"-f %s means no function of process %d: it has mapped no module of "
			"that name%s",
			text, probe->pid, other);
	if (!readable)
		return error_set(error, STATUS_NOT_FOUND,
				 "-f %s means no function of process %d: %s: %s%s", text,
				 probe->pid, probe->image.modules[0].name,
				 probe->image.modules[0].why, other);
	if (word && word->kind == SELECTION_MARKS)
		return error_set(error, STATUS_NOT_FOUND,
				 "-f %s means no mark of process %d (readelf -n lists a file's)%s",
				 text, probe->pid, other);
	for (size_t i = 0; i < probe->options->selection->n; i++) {
		if (probe->options->selection->words[i].exclude &&
		    probe->options->selection->words[i].used)
			return error_set(
				error, STATUS_NOT_FOUND,
				"-f %s: all that is meant in process %d is taken away again",
				probe->options->selection->words[i].text, probe->pid);
	}
	near_names(probe, word ? word->glob : NULL, list, sizeof(list));
	return error_set(error, STATUS_NOT_FOUND, "-f %s means no function of process %d%s%s", text,
			 probe->pid,
			 *list || *other ? list
					 : " (names are those of the symbol tables; globs need *)",
			 other);
}

void words_tell(const struct probe *probe)
{
	const struct selection *selection = probe->options->selection;
	size_t unused = 0;

	for (size_t i = 0; i < selection->n; i++) {
		const struct selection_word *word = &selection->words[i];
		char list[300] = "";

		if (word->used || point_word_awaited(probe, word))
			continue;
		if (++unused > WORDS_TOLD)
			continue;
		if (!word->exclude && word->kind != SELECTION_MARKS)
			near_names(probe, word->glob, list, sizeof(list));
		probe_notice(probe, "-f %s %s process %d%s", word->text,
			     word->exclude ? "takes no function away from those chosen in"
					   : "means nothing in",
			     probe->pid, list);
	}
	if (unused > WORDS_TOLD)
		probe_notice(probe, "and so do %zu more words", unused - WORDS_TOLD);
}
