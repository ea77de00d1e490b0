/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a thread of the target is asked for by tgkill, which the table has not
 */
#include "probe/states.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define READ_TRIES 4u
#define LONGEST    20.0 /* of a gap, in means: exp(-20) of them would be longer */

enum status states_init(struct states *states, uint32_t n_functions, struct error *error)
{
	*states = (struct states){ .n_functions = n_functions };
	states->samples = calloc(n_functions ? n_functions : 1, sizeof(*states->samples));
	if (!states->samples)
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	return STATUS_OK;
}

void states_release(struct states *states)
{
	free(states->samples);
	states->samples = NULL;
}

/* The innermost function of the block's thread. The thread pushes and pops meanwhile: read again until the top stood
 * still; what is read at last is then a function that it was in some nanoseconds ago. */
static uint64_t state_read(const struct agent_block *block, const struct buffers_plan *plan)
{
	const uint64_t end =
		plan->state_offset + (uint64_t)plan->n_states * sizeof(struct agent_state);
	uint64_t function = AGENT_STATE_NONE;

	for (unsigned int i = 0; i < READ_TRIES; i++) {
		const uint64_t top = __atomic_load_n(&block->state_top, __ATOMIC_ACQUIRE);
		const struct agent_state *state;

		if (top < plan->state_offset || top >= end || top % sizeof(uint64_t))
			return AGENT_STATE_NONE;
		state = (const struct agent_state *)(const void *)((const uint8_t *)block + top);
		function = __atomic_load_n(&state->function, __ATOMIC_ACQUIRE);
		if (__atomic_load_n(&block->state_top, __ATOMIC_RELAXED) == top)
			break;
	}
	return function;
}

static bool thread_lives(pid_t pid, uint32_t tid)
{
	return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno != ESRCH;
}

void states_look(struct states *states, const uint8_t *buffers, const struct buffers_plan *plan,
		 pid_t pid)
{
	const uint32_t n = buffers_blocks_taken(buffers, plan);

	states->looks++;
	for (uint32_t i = 0; i < n; i++) {
		const struct agent_block *block = buffers_block(buffers, plan, i);
		uint64_t function;

		if (__atomic_load_n(&block->state, __ATOMIC_ACQUIRE) != AGENT_BLOCK_USED)
			continue;
		function = state_read(block, plan);
		if (block->tid && !thread_lives(pid, block->tid))
			continue;
		states->threads++;
		if (function < states->n_functions)
			states->samples[function]++;
		else
			states->outside++;
	}
}

uint64_t states_gap_ns(const struct sys *sys, uint64_t mean_ns)
{
	uint64_t random = 0;
	double gap;

	if (sys->getrandom(sys->state, &random, sizeof(random), 0) != (ssize_t)sizeof(random))
		return mean_ns;
	gap = -log(((double)(random >> 11) + 1) / 9007199254740992.0);
	return (uint64_t)((gap < LONGEST ? gap : LONGEST) * (double)mean_ns) + 1;
}
