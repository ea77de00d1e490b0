/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/followed.h"

#include <stdlib.h>

#include "base/array.h"

void followed_init(struct followed *followed)
{
	*followed = (struct followed){ .free_list = ID_MAP_NONE };
}

void followed_release(struct followed *followed)
{
	free(followed->items);
	id_map_release(&followed->by_tid);
	followed_init(followed);
}

static enum status place_take(struct followed *followed, pid_t tid, uint32_t *index,
			      struct error *error)
{
	if (followed->free_list != ID_MAP_NONE) {
		*index = followed->free_list;
	} else if (followed->n == FOLLOWED_MAX) {
		return error_set(error, STATUS_LIMIT, "more than %d threads at one time",
				 FOLLOWED_MAX);
	} else {
		if (!array_reserve(&followed->items, &followed->capacity, followed->n + 1))
			return error_set(error, STATUS_NO_MEMORY, "no memory for a thread");
		*index = (uint32_t)followed->n;
	}
	if (!id_map_put(&followed->by_tid, (uint64_t)tid, *index))
		return error_set(error, STATUS_NO_MEMORY, "no memory for a thread");
	if (*index == followed->free_list)
		followed->free_list = followed->items[*index].next_free;
	else
		followed->n++;
	followed->n_living++;
	return STATUS_OK;
}

static void unsampled_count(struct followed *followed, const struct followed_task *task)
{
	if (task->sampled)
		return;
	followed->unsampled++;
	followed->unsampled_cpu_ns += task->cpu_ns;
}

enum status followed_add(struct followed *followed, pid_t pid, pid_t tid,
			 struct followed_task **task, struct error *error)
{
	uint32_t index = id_map_get(&followed->by_tid, (uint64_t)tid);
	enum status status;

	if (index == ID_MAP_NONE) {
		status = place_take(followed, tid, &index, error);
		if (status != STATUS_OK)
			return status;
		followed->items[index].counters = followed->items[index].sidebands = ID_MAP_NONE;
	} else if (followed->items[index].ended) {
		followed->n_ended--;
		followed->n_living++;
		unsampled_count(followed, &followed->items[index]);
	} else {
		*task = &followed->items[index];
		return STATUS_OK;
	}
	*task = &followed->items[index];
	**task = (struct followed_task){
		.pid = pid,
		.tid = tid,
		.counters = (*task)->counters,
		.sidebands = (*task)->sidebands,
	};
	followed->seen++;
	return STATUS_OK;
}

struct followed_task *followed_find(const struct followed *followed, pid_t tid)
{
	const uint32_t index = id_map_get(&followed->by_tid, (uint64_t)tid);

	return index == ID_MAP_NONE ? NULL : &followed->items[index];
}

void followed_end(struct followed *followed, pid_t tid)
{
	struct followed_task *task = followed_find(followed, tid);

	if (!task || task->ended)
		return;
	task->ended = true;
	followed->n_ended++;
	followed->n_living--;
}

bool followed_sweep(struct followed *followed, size_t *cursor, struct followed_task *gone)
{
	for (; followed->n_ended && *cursor < followed->n; ++*cursor) {
		struct followed_task *task = &followed->items[*cursor];

		if (!task->tid || !task->ended)
			continue;
		if (!task->swept_once) {
			task->swept_once = true;
			continue;
		}
		id_map_remove(&followed->by_tid, (uint64_t)task->tid);
		unsampled_count(followed, task);
		*gone = *task;
		task->next_free = followed->free_list;
		followed->free_list = (uint32_t)*cursor;
		followed->n_ended--;
		task->tid = 0;
		++*cursor;
		return true;
	}
	return false;
}
