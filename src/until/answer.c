/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "until/answer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond this the weaker promise is the better one. */
#define PATIENCE_S (30 * 86400.0)
#define NAMES_TOLD 5
#define NAME_BYTES 96

const char *until_answer_span(double seconds, char *text, size_t room)
{
	if (seconds < 60)
		snprintf(text, room, "%.0f s", fmax(1, seconds));
	else if (seconds < 5400)
		snprintf(text, room, "%.0f min", seconds / 60);
	else if (seconds < 172800)
		snprintf(text, room, "%.1f h", seconds / 3600);
	else
		snprintf(text, room, "%.1f days", seconds / 86400);
	return text;
}

static size_t asked_k(const struct until_question *question, const struct until_table *table)
{
	const size_t n = table->estimates.n_functions;

	return question->top_k < n ? question->top_k : n;
}

/* "a, b, c and 4 others" of the first k. */
static void names_list(const struct until_table *table, size_t k, char *text, size_t room)
{
	const size_t told = k > NAMES_TOLD ? NAMES_TOLD - 1 : k;
	size_t used = 0;
	char name[NAME_BYTES];

	text[0] = '\0';
	for (size_t i = 0; i < told && used < room; i++) {
		until_table_name(table, table->order[i], name, sizeof(name));
		used += (size_t)snprintf(text + used, room - used, "%s%s", i ? ", " : "", name);
	}
	if (told < k && used < room)
		snprintf(text + used, room - used, " and %zu others", k - told);
}

static void settled_words(struct until_answer *answer, const struct until_question *question,
			  const struct until_table *table)
{
	const size_t k = asked_k(question, table);
	char names[NAMES_TOLD * (NAME_BYTES + 2) + 32];

	if (question->kind == ESTIMATE_UNTIL_SHARE) {
		snprintf(answer->text, sizeof(answer->text),
			 "every share is known to within %g points", 100 * question->half_width);
		return;
	}
	names_list(table, k, names, sizeof(names));
	if (k == 1)
		snprintf(answer->text, sizeof(answer->text), "%s is first", names);
	else if (question->kind == ESTIMATE_UNTIL_SET)
		snprintf(answer->text, sizeof(answer->text),
			 "the first %zu are settled, not their order: %s", k, names);
	else
		snprintf(answer->text, sizeof(answer->text),
			 "the first %zu and their order are settled: %s", k, names);
}

static void doubt_words(const struct until_question *question, const struct until_table *table,
			const struct estimate_until *until, char *text, size_t room)
{
	char a[NAME_BYTES], b[NAME_BYTES];
	double share_a, share_b;
	int decimals;

	until_table_name(table, until->a, a, sizeof(a));
	if (question->kind == ESTIMATE_UNTIL_SHARE) {
		snprintf(text, room, "the share of %s is not known to within %g points yet", a,
			 100 * question->half_width);
		return;
	}
	until_table_name(table, until->b, b, sizeof(b));
	share_a = 100 * until_table_share(table, until->a);
	share_b = 100 * until_table_share(table, until->b);
	decimals = fmin(share_a, share_b) < 9.95;
	snprintf(text, room, "which of %s (%.*f %%) and %s (%.*f %%) takes more is open", a,
		 decimals, share_a, b, decimals, share_b);
}

static void open_words(struct until_answer *answer, const struct until_question *question,
		       const struct until_table *table, const struct estimate_until *until)
{
	char doubt[2 * NAME_BYTES + 128], more[32], most[32];

	answer->seconds = until->epochs_more * table->epoch_s;
	answer->seconds_max = until->epochs_more_max * table->epoch_s;
	if (until->why || until->a == ESTIMATE_UNTIL_NONE) {
		snprintf(answer->text, sizeof(answer->text), "too early to say: %s",
			 until->why ? until->why : "no samples");
		return;
	}
	doubt_words(question, table, until, doubt, sizeof(doubt));
	if (answer->seconds > PATIENCE_S)
		snprintf(answer->text, sizeof(answer->text),
			 "%s: they are too alike to be told apart in reasonable time", doubt);
	else
		snprintf(answer->text, sizeof(answer->text),
			 "%s; about %s more would probably settle it (at most %s if shares are as "
			 "they look)",
			 doubt, until_answer_span(answer->seconds, more, sizeof(more)),
			 answer->seconds_max > PATIENCE_S
				 ? "a month"
				 : until_answer_span(answer->seconds_max, most, sizeof(most)));
}

void until_answer_fill(struct until_answer *answer, const struct until_question *question,
		       const struct until_table *table, const struct estimate_until *until,
		       const struct finding *bias)
{
	answer->seconds = answer->seconds_max = 0;
	if (!table->estimates.randomised && table->estimates.n_functions) {
		answer->state = UNTIL_UNCHECKED;
		snprintf(answer->text, sizeof(answer->text),
			 "without a randomised clock nothing can be settled: more samples would "
			 "repeat what a locked clock sees");
	} else if (bias) {
		answer->state = UNTIL_BIASED;
		snprintf(answer->text, sizeof(answer->text),
			 "more samples will not help, the doubt is bias (%s): %.300s", bias->code,
			 bias->text);
	} else if (until->settled) {
		answer->state = UNTIL_SETTLED;
		settled_words(answer, question, table);
	} else {
		answer->state = UNTIL_OPEN;
		open_words(answer, question, table, until);
	}
}
