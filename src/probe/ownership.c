/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lint: seam because a thread's robust list is real whatever the table is
 */
#include "probe/ownership.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum status ownership_begin(struct ownership *ownership, struct error *error)
{
	*ownership = (struct ownership){ 0 };
	ownership->tid = (uint32_t)syscall(SYS_gettid);
	ownership->head.next = &ownership->head;
	ownership->head.futex_offset = (long)offsetof(struct agent_shared, owner) -
				       (long)offsetof(struct agent_shared, robust_next);
	if (syscall(SYS_get_robust_list, 0, &ownership->old_head, &ownership->old_size) < 0 ||
	    syscall(SYS_set_robust_list, &ownership->head, sizeof(ownership->head)) < 0) {
		ownership->tid = 0;
		return error_set_errno(
			error, STATUS_UNSUPPORTED, errno,
			"this kernel has no robust futexes, by which probes end with "
			"assay");
	}
	return STATUS_OK;
}

/* The list: head -> owned[n - 1] -> ... -> owned[0] -> head. */
enum status ownership_take(struct ownership *ownership, struct agent_shared *shared,
			   struct error *error)
{
	if (ownership->n >= OWNERSHIP_MAX)
		return error_set(error, STATUS_LIMIT, "at most %u processes can be probed at once",
				 OWNERSHIP_MAX);
	shared->robust_next = (uint64_t)(uintptr_t)ownership->head.next;
	ownership->owned[ownership->n++] = shared;
	__atomic_store_n(&ownership->head.next, (void *)&shared->robust_next, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->owner, ownership->tid, __ATOMIC_RELEASE);
	return STATUS_OK;
}

void ownership_drop(struct ownership *ownership, struct agent_shared *shared)
{
	size_t at = 0;
	void *next;

	while (at < ownership->n && ownership->owned[at] != shared)
		at++;
	if (at == ownership->n)
		return;
	/* the list is this array's, whatever the target has made of its own part */
	next = at ? (void *)&ownership->owned[at - 1]->robust_next : (void *)&ownership->head;
	if (at + 1 < ownership->n)
		ownership->owned[at + 1]->robust_next = (uint64_t)(uintptr_t)next;
	else
		__atomic_store_n(&ownership->head.next, next, __ATOMIC_RELEASE);
	__atomic_store_n(&shared->owner, 0, __ATOMIC_RELEASE);
	ownership->n--;
	memmove(&ownership->owned[at], &ownership->owned[at + 1],
		(ownership->n - at) * sizeof(struct agent_shared *));
}

void ownership_end(struct ownership *ownership)
{
	if (!ownership->tid)
		return;
	for (size_t i = 0; i < ownership->n; i++)
		__atomic_store_n(&ownership->owned[i]->owner, 0, __ATOMIC_RELEASE);
	ownership->head.next = &ownership->head;
	syscall(SYS_set_robust_list, ownership->old_head, ownership->old_size);
	ownership->tid = 0;
	ownership->n = 0;
}
