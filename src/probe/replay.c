/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define STORED_AT_ONCE 4096u

struct open_call {
	uint64_t start, sp;
	int64_t child;
	uint32_t function, node, switches;
	bool nested;
};

struct open_calls {
	struct open_call *calls;
	size_t n, capacity;
};

struct replay_thread {
	uint32_t tid;
	struct open_calls regions[AGENT_REGIONS];
};

enum status replay_init(struct replay *replay, const struct sys *sys,
			const struct buffers_plan *plan, uint64_t inner_ticks, uint32_t pid, int fd,
			struct error *error)
{
	*replay = (struct replay){ .n_functions = plan->n_functions,
				   .inner_ticks = inner_ticks,
				   .n_threads = plan->n_blocks,
				   .sys = sys,
				   .fd = fd,
				   .pid = pid };
	replay->totals = calloc(plan->n_functions + 1, sizeof(*replay->totals));
	replay->rows = malloc((plan->n_functions + (size_t)1) * sizeof(*replay->rows));
	replay->threads = calloc(plan->n_blocks + 1, sizeof(struct replay_thread *));
	replay->stored = fd >= 0 ? calloc(STORED_AT_ONCE, sizeof(*replay->stored)) : NULL;
	if (!replay->totals || !replay->rows || !replay->threads || (fd >= 0 && !replay->stored) ||
	    !array_reserve(&replay->nodes, &replay->nodes_capacity, 1))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	memset(replay->rows, 0xff, plan->n_functions * sizeof(*replay->rows));
	replay->nodes[0] = (struct replay_node){ .function = REPLAY_NO_FUNCTION };
	replay->n_nodes = 1;
	return STATUS_OK;
}

void replay_release(struct replay *replay)
{
	for (uint32_t i = 0; replay->threads && i < replay->n_threads; i++) {
		for (uint32_t k = 0; replay->threads[i] && k < AGENT_REGIONS; k++)
			free(replay->threads[i]->regions[k].calls);
		free(replay->threads[i]);
	}
	free((void *)replay->threads);
	free(replay->totals);
	free(replay->rows);
	free(replay->nodes);
	free(replay->stored);
	*replay = (struct replay){ .fd = -1 };
}

void replay_flush(struct replay *replay)
{
	int result;

	if (!replay->n_stored)
		return;
	result = sys_write_all(replay->sys, replay->fd, replay->stored,
			       replay->n_stored * sizeof(*replay->stored));
	if (result < 0 && !replay->write_errno)
		replay->write_errno = -result;
	replay->n_stored = 0;
}

static void record_store(struct replay *replay, const struct agent_record *record, uint32_t tid)
{
	if (replay->fd < 0 || replay->write_errno)
		return;
	replay->stored[replay->n_stored++] = (struct replay_stored){ *record, replay->pid, tid };
	if (replay->n_stored == STORED_AT_ONCE)
		replay_flush(replay);
}

/* The node of `function` under `parent`; the root when there are too many. */
static uint32_t node_of(struct replay *replay, uint32_t parent, uint32_t function)
{
	uint32_t previous = 0, node = replay->nodes[parent].first_child;

	while (node && replay->nodes[node].function != function) {
		previous = node;
		node = replay->nodes[node].next_sibling;
	}
	if (!node) {
		if (replay->n_nodes >= REPLAY_MAX_NODES ||
		    !array_reserve(&replay->nodes, &replay->nodes_capacity, replay->n_nodes + 1)) {
			replay->nodes_lost++;
			return 0;
		}
		node = replay->n_nodes++;
		replay->nodes[node] =
			(struct replay_node){ .parent = parent,
					      .function = function,
					      .next_sibling = replay->nodes[parent].first_child };
		replay->nodes[parent].first_child = node;
	} else if (previous) { /* to the front: it will be asked for again */
		replay->nodes[previous].next_sibling = replay->nodes[node].next_sibling;
		replay->nodes[node].next_sibling = replay->nodes[parent].first_child;
		replay->nodes[parent].first_child = node;
	}
	return node;
}

/* Open calls whose stack pointer is below `sp` were left without an exit. */
static void calls_abandon(struct replay *replay, struct open_calls *open, uint64_t sp)
{
	while (open->n && open->calls[open->n - 1].sp < sp)
		replay->totals[open->calls[--open->n].function].abandoned++;
}

static void call_open(struct replay *replay, struct open_calls *open,
		      const struct agent_record *record, uint32_t function)
{
	uint32_t parent;

	calls_abandon(replay, open, record->sp + 1);
	parent = open->n ? open->calls[open->n - 1].node : 0;
	if (!array_reserve(&open->calls, &open->capacity, open->n + 1)) {
		replay->out_of_memory = true;
		return;
	}
	open->calls[open->n] =
		(struct open_call){ .start = record->counter,
				    .sp = record->sp,
				    .function = function,
				    .switches = record->where >> AGENT_WHERE_SWITCHES,
				    .nested = record->where & AGENT_WHERE_NESTED };
	open->calls[open->n].node = node_of(replay, parent, function);
	replay->nodes[open->calls[open->n++].node].calls++;
	replay->totals[function].calls++;
}

/* The arithmetic of frame_close in agent/frames.c, from what is in the records. */
static void call_close(struct replay *replay, struct open_calls *open,
		       const struct agent_record *record)
{
	const struct open_call *call = &open->calls[--open->n];
	struct replay_totals *totals = &replay->totals[call->function];
	struct replay_node *node = &replay->nodes[call->node];
	const int64_t spent = (int64_t)(record->counter - call->start - replay->inner_ticks);

	if (record->where & AGENT_WHERE_UNREAD) {
		totals->unread++;
		return;
	}
	if (record->where >> AGENT_WHERE_SWITCHES != call->switches) {
		totals->interrupted++;
		totals->interrupted_ticks += spent;
		return;
	}
	totals->timed++;
	totals->self += spent - call->child;
	node->self += call->node ? spent - call->child : 0;
	if (!call->nested) {
		totals->inclusive += spent;
		node->inclusive += call->node ? spent : 0;
	}
	if (open->n)
		open->calls[open->n - 1].child += spent;
}

static struct replay_thread *thread_of(struct replay *replay, uint32_t index)
{
	if (index >= replay->n_threads)
		return NULL;
	if (!replay->threads[index]) {
		replay->threads[index] = calloc(1, sizeof(struct replay_thread));
		replay->out_of_memory |= !replay->threads[index];
	}
	return replay->threads[index];
}

void replay_take(struct replay *replay, uint32_t index, const struct agent_record *record)
{
	const uint32_t region = record->where & AGENT_WHERE_REGION;
	const uint32_t function = record->point & ((1u << AGENT_POINT_BITS) - 1);
	struct replay_thread *thread = thread_of(replay, index);
	struct open_calls *open;

	replay->records++;
	if (!thread || replay->out_of_memory || region >= AGENT_REGIONS)
		return;
	open = &thread->regions[region];
	if (record->point == AGENT_POINT_THREAD) {
		for (uint32_t i = 0; i < AGENT_REGIONS; i++)
			calls_abandon(replay, &thread->regions[i], UINT64_MAX);
		thread->tid = (uint32_t)record->counter;
	} else if (record->point == AGENT_POINT_LEFT) {
		calls_abandon(replay, open, UINT64_MAX);
	} else if (function < replay->n_functions && record->point >> AGENT_POINT_BITS == 0) {
		call_open(replay, open, record, function);
	} else if (function < replay->n_functions) {
		calls_abandon(replay, open, record->sp);
		if (open->n && open->calls[open->n - 1].sp == record->sp &&
		    open->calls[open->n - 1].function == function)
			call_close(replay, open, record);
		else
			replay->odd_exits++;
	}
	record_store(replay, record, thread->tid);
}

bool replay_drain(struct replay *replay, uint8_t *buffers, const struct buffers_plan *plan)
{
	const uint32_t n = buffers_blocks_taken(buffers, plan);
	bool full = false;

	for (uint32_t i = 0; i < n && plan->n_records; i++) {
		uint8_t *bytes = buffers + plan->blocks_offset + (uint64_t)i * plan->block_bytes;
		struct agent_block *block = (struct agent_block *)(void *)bytes;
		const struct agent_record *records =
			(const struct agent_record *)(const void *)(bytes + plan->record_offset);
		const uint64_t head = __atomic_load_n(&block->records_head, __ATOMIC_ACQUIRE);
		uint64_t tail = block->records_tail;

		full |= head - tail > plan->n_records / 2;
		if (head - tail > plan->n_records) /* not ours any more: the target wrote into it */
			tail = head;
		for (; tail != head; tail++)
			replay_take(replay, i, &records[tail & (plan->n_records - 1)]);
		__atomic_store_n(&block->records_tail, tail, __ATOMIC_RELEASE);
	}
	return full;
}

bool replay_agrees(const struct replay *replay, uint32_t function, const struct function_sums *sums)
{
	const struct replay_totals *totals = &replay->totals[function];

	return totals->timed == sums->timed && totals->inclusive == sums->inclusive &&
	       totals->self == sums->self && totals->abandoned == sums->abandoned &&
	       totals->interrupted == sums->interrupted &&
	       totals->interrupted_ticks == sums->interrupted_ticks &&
	       totals->unread == sums->unread;
}
