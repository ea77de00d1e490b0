/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "until/question.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static enum status refuse(struct error *error, const char *word)
{
	return error_set(
		error, STATUS_USAGE,
		"--until: \"%s\" is not top=K (K from 1 to %d), top=K:set or share=\u00b1P%% "
		"(P from 0.01 to 50)",
		word, UNTIL_TOP_MAX);
}

static enum status top_parse(struct until_question *question, const char *word, struct error *error)
{
	char *end;
	const unsigned long k = strtoul(word + 4, &end, 10);

	if (!isdigit((unsigned char)word[4]) || k < 1 || k > UNTIL_TOP_MAX ||
	    (*end && strcmp(end, ":set")))
		return refuse(error, word);
	question->kind = *end ? ESTIMATE_UNTIL_SET : ESTIMATE_UNTIL_ORDER;
	question->top_k = k;
	snprintf(question->text, sizeof(question->text), "top=%lu%s", k, end);
	return STATUS_OK;
}

static enum status share_parse(struct until_question *question, const char *word,
			       struct error *error)
{
	static const char *const signs[] = { "\u00b1", "+-", "+/-", "" };
	const char *number = word + 6;
	double points;
	char *end;

	for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
		if (!strncmp(number, signs[i], strlen(signs[i]))) {
			number += strlen(signs[i]);
			break;
		}
	points = strtod(number, &end);
	if (!isdigit((unsigned char)number[0]) || strpbrk(number, "xXpPeE") || strcmp(end, "%") ||
	    !(points >= 0.01 && points <= 50))
		return refuse(error, word);
	question->kind = ESTIMATE_UNTIL_SHARE;
	question->half_width = points / 100;
	snprintf(question->text, sizeof(question->text), "share=\u00b1%g%%", points);
	return STATUS_OK;
}

enum status until_question_parse(struct until_question *question, const char *word,
				 struct error *error)
{
	*question = (struct until_question){ .top_k = 0 };
	if (!strncmp(word, "top=", 4))
		return top_parse(question, word, error);
	if (!strncmp(word, "share=", 6))
		return share_parse(question, word, error);
	return refuse(error, word);
}
