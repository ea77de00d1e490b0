/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a thread comes to its block: the slow path of a hit whose gs base is not this thread's.
 *
 * New threads inherit their creator's gs base, so the first hit of each comes here. A block whose thread
 * pointer is this one's belonged to a thread that is gone (thread pointers of the living differ): it is taken
 * over, sums and all. A process that merely shares the memory (vfork, CLONE_VM) is told by its process id and
 * gets nothing. When all blocks are taken, calls are counted in the overflow array, atomically.
 *
 * Makes system calls (getpid, gettid, tgkill 0, arch_prctl), none when control.no_calls is set.
 */
#ifndef ASSAY_AGENT_CLAIM_H
#define ASSAY_AGENT_CLAIM_H

#include "agent/frames.h"

/* The block of the calling thread, whose thread pointer is `thread`, made current; NULL when there is none
 * for it: then the call of `function` has been accounted for already (overflow or foreign). */
AGENT_SAVES_ALL struct agent_block *agent_claim(const struct agent_control *control,
						struct agent_shared *shared, uint64_t thread,
						uint64_t function);

#endif
