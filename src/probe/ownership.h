/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The enable word of a process's agents as a robust futex of this thread: when the thread ends, however that
 * comes, the kernel marks the word (FUTEX_OWNER_DIED), and the agents, who compare it at every hit, are off.
 * Source: Documentation/locking/robust-futex-ABI.rst.
 *
 * The thread's robust list is replaced meanwhile: it is the program's main thread and has no other robust lock.
 */
#ifndef ASSAY_PROBE_OWNERSHIP_H
#define ASSAY_PROBE_OWNERSHIP_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "agent/layout.h"
#include "base/status.h"

#define OWNERSHIP_MAX 1536u /* the kernel marks 2048 words of a list (ROBUST_LIST_LIMIT) */

struct ownership {
	struct { /* struct robust_list_head of <linux/futex.h> */
		void *next;
		long futex_offset;
		void *pending;
	} head;
	void *old_head;
	size_t old_size;
	struct agent_shared *owned[OWNERSHIP_MAX];
	size_t n;
	uint32_t tid;
};

/* Makes the calling thread an owner of nothing yet. The handle must stay where it is. */
MUST_CHECK enum status ownership_begin(struct ownership *ownership, struct error *error);

/* Takes the word: agents of these buffers run from now on. */
MUST_CHECK enum status ownership_take(struct ownership *ownership, struct agent_shared *shared,
				      struct error *error);

/* Gives one word back: agents of these buffers are off, and they may be unmapped. */
void ownership_drop(struct ownership *ownership, struct agent_shared *shared);

/* Gives all words back: agents are off. */
void ownership_end(struct ownership *ownership);

#endif
