/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One look at a bundle: is the question answered by the epochs that it holds now?
 *
 *	bundle -> profile -> table of functions -> estimate_until -> answer
 *
 * The test may be repeated as often as one likes: a tied pair passes with a chance of at most 5 % over
 * all looks together (estimate/sequential.h). A *thorough* look asks the diagnosis, too: what is settled
 * as far as chance goes is not settled while a bias touches it.
 *
 * The kernel is one function until it matters. Its names are by far the dearest thing to read, and what
 * is settled with all of it in one row is settled with its parts. When it is among the first K, or in
 * the pair that is open, the looker reads the names, once.
 */
#ifndef ASSAY_UNTIL_LOOK_H
#define ASSAY_UNTIL_LOOK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "symbolize/symbolizer.h"
#include "until/question.h"

enum until_state {
	UNTIL_OPEN,
	UNTIL_SETTLED,
	UNTIL_BIASED,    /* more samples will not help */
	UNTIL_UNCHECKED, /* nothing can be settled without a randomised clock */
};

struct until_answer {
	enum until_state state;
	uint64_t epochs, samples; /* that it rests on */
	double seconds,
		seconds_max; /* further time, when open: probably, at most if shares are as they
					* look; INFINITY: never */
	char text[640];      /* one or two sentences, begun in lower case, without a stop */
};

struct until_looker {
	const struct sys *sys;
	const char *path; /* of the bundle */
	const struct until_question *question;
	struct symbolizer *symbolizer; /* kept from look to look */
	char *map_dir;
	bool kernel_names;
	size_t copies; /* files that the recorder had copied when the symbolizer was made */
};

/* `path` and `question` are borrowed. */
void until_looker_init(struct until_looker *looker, const struct sys *sys, const char *path,
		       const struct until_question *question);
void until_looker_release(struct until_looker *looker);

/* Fails when the bundle cannot be read (yet). */
MUST_CHECK enum status until_look(struct until_looker *looker, bool thorough,
				  struct until_answer *answer, struct error *error);

#endif
