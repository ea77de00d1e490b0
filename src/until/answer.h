/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The words of an answer.
 */
#ifndef ASSAY_UNTIL_ANSWER_H
#define ASSAY_UNTIL_ANSWER_H

#include "until/look.h"
#include "until/table.h"

/* Fills all of *answer but epochs and samples from the test's result; `bias` NULL: none is known. */
void until_answer_fill(struct until_answer *answer, const struct until_question *question,
		       const struct until_table *table, const struct estimate_until *until,
		       const struct finding *bias);

/* A span of time that is only an estimate: "12 s", "3 min", "2.5 h". */
const char *until_answer_span(double seconds, char *text, size_t room);

#endif
