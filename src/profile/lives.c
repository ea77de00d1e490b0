/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/lives.h"

#include <stdlib.h>

#include "base/array.h"

void lives_init(struct lives *lives)
{
	*lives = (struct lives){ 0 };
	keytable_init(&lives->tasks);
}

void lives_release(struct lives *lives)
{
	free(lives->born_ns);
	keytable_release(&lives->tasks);
	lives_init(lives);
}

static enum status born(struct lives *lives, uint32_t tid, uint64_t time_ns, struct error *error)
{
	uint32_t index = keytable_get(&lives->tasks, tid);

	if (index == KEYTABLE_NONE) {
		index = lives->n_tasks;
		if (!array_reserve(&lives->born_ns, &lives->capacity, (size_t)index + 1) ||
		    !keytable_set(&lives->tasks, tid, index))
			return error_set(error, STATUS_NO_MEMORY,
					 "no memory for the lives of tasks");
		lives->n_tasks++;
	}
	lives->born_ns[index] = time_ns;
	return STATUS_OK;
}

static void ended(struct lives *lives, uint32_t tid, uint64_t time_ns)
{
	const uint32_t index = keytable_get(&lives->tasks, tid);
	uint64_t life;
	int bucket;

	if (index == KEYTABLE_NONE || !lives->born_ns[index] || time_ns <= lives->born_ns[index])
		return;
	life = time_ns - lives->born_ns[index];
	lives->born_ns[index] = 0;
	bucket = 63 - __builtin_clzll(life);
	lives->n[bucket]++;
	lives->ns[bucket] += (double)life;
}

enum status lives_add(struct lives *lives, const struct perfdata_record *record,
		      struct error *error)
{
	const struct perfdata_task *task = &record->task;

	if (record->type == PERF_RECORD_FORK && task->time)
		return born(lives, task->tid, task->time, error);
	if (record->type == PERF_RECORD_EXIT)
		ended(lives, task->tid, task->time);
	return STATUS_OK;
}

uint64_t lives_below(const struct lives *lives, double ns, double *sum_ns)
{
	uint64_t n = 0;

	*sum_ns = 0;
	for (int bucket = 0; bucket < LIVES_BUCKETS - 1 && (double)(UINT64_C(2) << bucket) <= ns;
	     bucket++) {
		n += lives->n[bucket];
		*sum_ns += lives->ns[bucket];
	}
	return n;
}
