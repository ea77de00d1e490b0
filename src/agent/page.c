/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/page.h"

#include <stddef.h>

#include "agent/counter.h"
#include "agent/kernel.h"

#define CLOCK_OF_THREAD 3 /* CLOCK_THREAD_CPUTIME_ID */
#define NS_PER_S        1000000000u
#define MOST_ERRNO      4095u

/* PROT_READ, MAP_SHARED, PERF_FLAG_FD_CLOEXEC: the kernel's numbers, the same on both machines. */
#define PAGE_READ   1
#define PAGE_SHARED 1
#define FD_CLOEXEC_ 8
#define OWNER_ID    0x3fffffffu /* FUTEX_TID_MASK */

static uint64_t cpu_now_ns(void)
{
	long time[2] = { 0, 0 };

	kernel(__NR_clock_gettime, CLOCK_OF_THREAD, (long)time, 0, 0, 0, 0);
	return (uint64_t)time[0] * NS_PER_S + (uint64_t)time[1];
}

static uint32_t lock_of(const struct agent_block *block)
{
	return __atomic_load_n((const uint32_t *)block->lock_at, __ATOMIC_ACQUIRE);
}

void agent_page_open(struct agent_block *block, const struct agent_shared *shared, bool no_calls)
{
	const uint64_t old = block->page;
	long fd, page;

	block->page = 0;
	block->lock_at = (uint64_t)&block->lock;
	block->page_errno = 0;
	if (!shared->page_bytes || no_calls)
		return;
	if (old)
		kernel(__NR_munmap, (long)old, (long)shared->page_bytes, 0, 0, 0, 0);
	fd = kernel(__NR_perf_event_open, (long)shared->attributes, 0, -1, -1, FD_CLOEXEC_, 0);
	if (fd < 0) {
		block->page_errno = (uint32_t)-fd;
		return;
	}
	page = kernel(__NR_mmap, 0, (long)shared->page_bytes, PAGE_READ, PAGE_SHARED, fd, 0);
	kernel(__NR_close, fd, 0, 0, 0, 0, 0);
	if ((unsigned long)page >= -(unsigned long)MOST_ERRNO) {
		block->page_errno = (uint32_t)-page;
		return;
	}
	__atomic_store_n(&block->page, (uint64_t)page, __ATOMIC_SEQ_CST);
	/* when probes have ended meanwhile, whoever ends the events may have been here already */
	if (!(__atomic_load_n(&shared->owner, __ATOMIC_SEQ_CST) & OWNER_ID)) {
		kernel(__NR_munmap, page, (long)shared->page_bytes, 0, 0, 0, 0);
		block->page = 0;
		return;
	}
	block->lock_at = block->page + offsetof(struct perf_event_mmap_page, lock);
	block->lock = lock_of(block);
	block->cpu_ns = cpu_now_ns();
	block->cpu_ticks = block->last = counter_ticks();
}

uint64_t agent_page_off(struct agent_block *block, const struct agent_shared *shared, uint64_t now,
			uint64_t cpu_ns, uint64_t ticks)
{
	const unsigned __int128 on =
		(unsigned __int128)(cpu_ns - block->cpu_ns) * shared->ticks_per_ns >> 32;
	const int64_t off = (int64_t)(ticks - block->cpu_ticks - (uint64_t)on);
	const int64_t most = (int64_t)(now - block->last);

	block->cpu_ns = cpu_ns;
	block->cpu_ticks = ticks;
	return off <= 0 || most <= 0 ? 0 : (uint64_t)(off < most ? off : most);
}

AGENT_SAVES_ALL uint64_t agent_page_look(struct agent_block *block,
					 const struct agent_shared *shared, uint64_t now)
{
	uint64_t cpu_ns, off;

	block->lock = lock_of(block);
	cpu_ns = cpu_now_ns();
	off = agent_page_off(block, shared, now, cpu_ns, counter_ticks());
	block->overhead += off;
	block->off_ticks += off;
	block->off_looks++;
	return counter_ticks() - now;
}
