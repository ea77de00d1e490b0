/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How long the tasks lived that were born and ended within the recording, by FORK and EXIT records: a
 * histogram over powers of two, since a clock that starts with its task sees a short life at one age only.
 */
#ifndef ASSAY_PROFILE_LIVES_H
#define ASSAY_PROFILE_LIVES_H

#include <stdint.h>

#include "base/status.h"
#include "bundle/perfdata_reader.h"
#include "profile/keytable.h"

#define LIVES_BUCKETS 64

struct lives {
	uint64_t n[LIVES_BUCKETS]; /* bucket b: lives of 2^b to 2^(b+1) - 1 ns */
	double ns[LIVES_BUCKETS];  /* their sum */
	uint64_t *born_ns;         /* by task under way; 0: ended */
	uint32_t n_tasks;
	size_t capacity;
	struct keytable tasks; /* tid -> index of born_ns */
};

void lives_init(struct lives *lives);
void lives_release(struct lives *lives);

/* Takes any record of the first pass, in any order but with a task's FORK before its EXIT. Records with
 * time 0 were synthesised for tasks that ran already. */
MUST_CHECK enum status lives_add(struct lives *lives, const struct perfdata_record *record,
				 struct error *error);

/* Tasks that lived for less than about `ns` (to the power of two below), and the sum of their lives. */
uint64_t lives_below(const struct lives *lives, double ns, double *sum_ns);

#endif
