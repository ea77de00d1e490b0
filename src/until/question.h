/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a recording is to answer before it ends: the word after --until.
 *
 *	top=K          which functions are the first K, and their order
 *	top=K:set      which they are, in whatever order
 *	share=+-P%     every function's share to within P points (also "+/-P%", "P%" and the sign itself)
 */
#ifndef ASSAY_UNTIL_QUESTION_H
#define ASSAY_UNTIL_QUESTION_H

#include <stddef.h>

#include "base/status.h"
#include "estimate/sequential.h"

#define UNTIL_TOP_MAX 100

struct until_question {
	enum estimate_until_kind kind;
	size_t top_k;
	double half_width; /* of a share, 0..1 */
	char text[32];     /* in the form above, for the manifest */
};

/* STATUS_USAGE says what was not understood. */
MUST_CHECK enum status until_question_parse(struct until_question *question, const char *word,
					    struct error *error);

#endif
