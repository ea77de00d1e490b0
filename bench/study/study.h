/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the parts of the study share: how many recordings to make, and the list of claims that must hold.
 */
#ifndef ASSAY_STUDY_STUDY_H
#define ASSAY_STUDY_STUDY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

struct study {
	FILE *out;
	bool brief;     /* few recordings, limits widened by their sampling error */
	bool verbose;   /* print claims that hold, too */
	size_t divisor; /* of the number of recordings; 1 in the full study */
	size_t n_claims, n_failed;
};

/* `full` recordings in the full study, fewer in a brief one (at least 20). */
size_t study_recordings(const struct study *study, size_t full);

/* A rate of `hits` in `n` must be at least / at most `limit`. In the full study the limit is taken as it
 * stands when n is 2000 or more, and gives way by two standard errors of a rate that just meets it when n is
 * less; in a brief one by four, since nobody looks at a single failure there. */
bool study_at_least(struct study *study, size_t hits, size_t n, double limit, const char *format,
		    ...) PRINTF_LIKE(5, 6);
bool study_at_most(struct study *study, size_t hits, size_t n, double limit, const char *format,
		   ...) PRINTF_LIKE(5, 6);
/* Any other claim. */
bool study_claim(struct study *study, bool holds, const char *format, ...) PRINTF_LIKE(3, 4);

/* Parts. */
void part_coverage(struct study *study);
void part_variance(struct study *study);
void part_lengths(struct study *study);
void part_ranks(struct study *study);
void part_until(struct study *study);
void part_stopped(struct study *study);
void part_diff(struct study *study);
void part_unseen(struct study *study);
void part_lock(struct study *study);
void part_ab(struct study *study);
void part_timed(struct study *study);
void part_stability(struct study *study);

#endif
