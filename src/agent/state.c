/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/state.h"

static struct agent_state *state_at(struct agent_block *block, uint64_t offset)
{
	return (struct agent_state *)(void *)((char *)block + offset);
}

/* Down to the first that is at `sp` or above; the lowest one is above all. */
static uint64_t state_drop(struct agent_block *block, const struct agent_shared *shared,
			   uint64_t sp)
{
	uint64_t top = block->state_top;

	while (top > shared->state_offset && -state_at(block, top)->negative_sp < sp)
		top -= sizeof(struct agent_state);
	return top;
}

AGENT_SAVES_ALL void agent_state_enter(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t function)
{
	const uint64_t end =
		shared->state_offset + (uint64_t)shared->n_states * sizeof(struct agent_state);
	uint64_t top = state_drop(block, shared, sp + 1);

#ifdef __aarch64__ /* its stubs leave the counting to this */
	__atomic_fetch_add((uint64_t *)(void *)((char *)block + AGENT_FUNCTIONS_OFFSET +
						function * shared->function_bytes),
			   1, __ATOMIC_RELAXED);
#endif
	if (top + sizeof(struct agent_state) < end) {
		top += sizeof(struct agent_state);
		*state_at(block, top) = (struct agent_state){ -sp, function };
	}
	__atomic_store_n(&block->state_top, top, __ATOMIC_RELEASE);
}

AGENT_SAVES_ALL void agent_state_leave(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t function)
{
	uint64_t top = state_drop(block, shared, sp);

	if (top > shared->state_offset && -state_at(block, top)->negative_sp == sp &&
	    state_at(block, top)->function == function)
		top -= sizeof(struct agent_state);
	__atomic_store_n(&block->state_top, top, __ATOMIC_RELEASE);
}
