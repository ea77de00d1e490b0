/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Open calls of one thread: pushed at entry, closed at exit, matched by stack pointer on their own stack.
 *
 * Rules (design: the return address is never touched, nothing is guessed from an equal stack pointer):
 *   entry at s	what is open on this stack at or below s was left without an exit: abandoned
 *   exit at s	frames below s are abandoned; a frame of this function at s is closed; no such frame: an odd
 *		exit (a return that is none, or of a call that was not seen), counted and nothing else
 *   stack	a stack pointer far from all that the current stack used belongs to another one
 *
 * Freestanding: no libc, no floating point, no allocation, no system call; bounded loops. Every store leaves
 * the block consistent, since a signal handler may never return to the agent.
 */
#ifndef ASSAY_AGENT_FRAMES_H
#define ASSAY_AGENT_FRAMES_H

#include "agent/layout.h"

/* In the freestanding build, called from stubs that save no register. */
#if defined(AGENT_FREESTANDING) && defined(__x86_64__)
#define AGENT_SAVES_ALL __attribute__((no_caller_saved_registers))
#else
#define AGENT_SAVES_ALL
#endif

/* A call of `function` begins; `sp` is where its return address lies. Counts it, and opens a frame. */
AGENT_SAVES_ALL void agent_enter(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t function);

/* The same for a call that the stub has counted and whose turn it is to be timed: draws the next gap. */
AGENT_SAVES_ALL void agent_sample(struct agent_block *block, struct agent_shared *shared,
				  uint64_t sp, uint64_t function);

/* A call ends here, by return or by tail call, `now` the counter. */
AGENT_SAVES_ALL void agent_leave(struct agent_block *block, struct agent_shared *shared,
				 uint64_t sp, uint64_t function, uint64_t now);

/* The same three by whatever shared->counter says, and into the trace if there is one. `point` is the function, and
 * for an exit which one it is, as in struct agent_record. The counter is read inside. */
AGENT_SAVES_ALL void agent_full_enter(struct agent_block *block, struct agent_shared *shared,
				      uint64_t sp, uint64_t point);
AGENT_SAVES_ALL void agent_full_sample(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t point);
AGENT_SAVES_ALL void agent_full_leave(struct agent_block *block, struct agent_shared *shared,
				      uint64_t sp, uint64_t point);

/* An end of a region is passed (agent/passages.h). `region` numbers it like a function. */
AGENT_SAVES_ALL void agent_passage_begin(struct agent_block *block, struct agent_shared *shared,
					 uint64_t sp, uint64_t region);
AGENT_SAVES_ALL void agent_passage_end(struct agent_block *block, struct agent_shared *shared,
				       uint64_t sp, uint64_t region);
AGENT_SAVES_ALL void agent_full_passage_begin(struct agent_block *block,
					      struct agent_shared *shared, uint64_t sp,
					      uint64_t region);
AGENT_SAVES_ALL void agent_full_passage_end(struct agent_block *block, struct agent_shared *shared,
					    uint64_t sp, uint64_t region);

/* Closes every open frame as abandoned: the thread that had the block is gone. */
AGENT_SAVES_ALL void agent_abandon_all(struct agent_block *block, struct agent_shared *shared);

#endif
