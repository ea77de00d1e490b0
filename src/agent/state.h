/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Mode state: which probed function the thread is in, for somebody to read from another CPU. The thread keeps a
 * stack of its open calls in its block; block->state_top is the innermost. Stubs push and pop in line; here is what they leave
 * over: calls that were left without an exit, exits of calls that are not there, a full stack.
 *
 * Only what is published may be wrong, and only for a while, where signals come between two stores, or where a thread
 * changes stacks: frames are told by their stack pointer alone. Calls are counted by the stubs, exactly.
 */
#ifndef ASSAY_AGENT_STATE_H
#define ASSAY_AGENT_STATE_H

#include "agent/frames.h"

/* A call begins at `sp`: what is open at or below was left. Beyond AGENT_STATES the caller stays published. */
AGENT_SAVES_ALL void agent_state_enter(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t function);

/* A call at `sp` ends, if it is open. */
AGENT_SAVES_ALL void agent_state_leave(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t function);

#endif
