/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "agent/claim.h"

#include <stdbool.h>
#include <stddef.h>

#include "agent/kernel.h"
#include "agent/page.h"
#include "agent/records.h"
#include "agent/slots.h"

#define RETRY_MASK 63u /* a thread without a block looks for a dead one's at each 64th hit */
#define RETRY_LOOK 8u

#define NO_SUCH_PROCESS (-3) /* -ESRCH */

#if defined(AGENT_FREESTANDING) && defined(__x86_64__)

#define ARCH_SET_GS_BASE 0x1001

static inline bool state_set(const struct agent_control *control, struct agent_block *block)
{
	if (control->can_write_gs) {
		__asm__ volatile("wrgsbase %0" : : "r"(block));
		return true;
	}
	return !control->no_calls &&
	       kernel(__NR_arch_prctl, ARCH_SET_GS_BASE, (long)block, 0, 0, 0, 0) == 0;
}

static inline struct agent_block *state_get(const struct agent_control *control, uint64_t thread)
{
	(void)control, (void)thread;
	return NULL; /* the stub has looked */
}

#elif defined(AGENT_FREESTANDING) && defined(__aarch64__)

static inline uint64_t *slot_at(const struct agent_control *control, uint64_t thread,
				uint32_t probe)
{
	uint64_t *slots = (uint64_t *)(control->buffers + AGENT_SLOTS_OFFSET);

	return &slots[(agent_slot_of(thread) + probe) % AGENT_SLOTS];
}

static inline struct agent_block *state_get(const struct agent_control *control, uint64_t thread)
{
	for (uint32_t i = 0; i < AGENT_SLOT_PROBES; i++) {
		struct agent_block *block = (struct agent_block *)__atomic_load_n(
			slot_at(control, thread, i), __ATOMIC_ACQUIRE);

		if (block && block->negative_thread == -thread)
			return block;
	}
	return NULL;
}

/* A free slot, else the first: whom that one led to is found again by the slow path. */
static inline bool state_set(const struct agent_control *control, struct agent_block *block)
{
	const uint64_t thread = -block->negative_thread;

	for (uint32_t i = 0; i < AGENT_SLOT_PROBES; i++) {
		uint64_t nobody = 0;

		if (__atomic_compare_exchange_n(slot_at(control, thread, i), &nobody,
						(uint64_t)block, false, __ATOMIC_RELEASE,
						__ATOMIC_RELAXED))
			return true;
	}
	__atomic_store_n(slot_at(control, thread, 0), (uint64_t)block, __ATOMIC_RELEASE);
	return true;
}

#else /* in the engine's own process, for tests */

static inline bool state_set(const struct agent_control *control, struct agent_block *block)
{
	(void)control, (void)block;
	return true;
}

static inline struct agent_block *state_get(const struct agent_control *control, uint64_t thread)
{
	(void)control, (void)thread;
	return NULL;
}

#endif

static struct agent_block *block_at(const struct agent_control *control,
				    const struct agent_shared *shared, uint64_t index)
{
	return (struct agent_block *)(control->buffers + shared->blocks_offset +
				      index * shared->block_bytes);
}

static void state_start(struct agent_block *block, const struct agent_shared *shared)
{
	struct agent_state *bottom =
		(struct agent_state *)(void *)((char *)block + shared->state_offset);

	*bottom = (struct agent_state){ -UINT64_MAX, AGENT_STATE_NONE };
	block->state_top = shared->state_offset;
}

static void block_start(struct agent_block *block, struct agent_shared *shared, uint64_t thread,
			uint32_t tid, bool no_calls)
{
	block->self = (uint64_t)block;
	block->tid = tid;
	block->busy = 0;
	block->random = (thread ^ ((uint64_t)tid << 32)) * 0x9e3779b97f4a7c15u | 1;
	/* the first timed call comes anywhere in a gap, else the first would always be one */
	block->countdown = 1 + (block->random >> 33) % shared->every;
	agent_page_open(block, shared, no_calls);
	if (shared->n_states)
		state_start(block, shared);
	if (shared->n_records)
		record_single(block, shared, tid, 0, AGENT_POINT_THREAD, 0);
	__atomic_store_n(&block->negative_thread, -thread, __ATOMIC_RELAXED);
	__atomic_store_n(&block->state, AGENT_BLOCK_USED, __ATOMIC_RELEASE);
	__atomic_fetch_add(&shared->threads, 1, __ATOMIC_RELAXED);
}

/* Claims the block of a thread that is gone, so that no two threads can. */
static bool block_seize(struct agent_block *block, struct agent_shared *shared, uint64_t thread,
			uint32_t tid, bool no_calls)
{
	uint32_t used = AGENT_BLOCK_USED;

	if (!__atomic_compare_exchange_n(&block->state, &used, AGENT_BLOCK_CLAIMED, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	agent_abandon_all(block, shared);
	block_start(block, shared, thread, tid, no_calls);
	return true;
}

static struct agent_block *block_of_dead(const struct agent_control *control,
					 struct agent_shared *shared, uint64_t thread, uint32_t tid,
					 uint64_t misses)
{
	/* On AArch64 a thread finds the block of one that is gone by itself, when it got its thread pointer: the
	 * id in the block is then not that of its owner. */
	if ((misses & RETRY_MASK) || control->no_calls || AGENT_SLOTS_BYTES)
		return NULL;
	for (uint64_t n = 0; n < RETRY_LOOK; n++) {
		struct agent_block *block =
			block_at(control, shared,
				 (misses / (RETRY_MASK + 1) * RETRY_LOOK + n) % shared->n_blocks);

		if (block->state == AGENT_BLOCK_USED &&
		    kernel(__NR_tgkill, (long)control->pid, (long)block->tid, 0, 0, 0, 0) ==
			    NO_SUCH_PROCESS &&
		    block_seize(block, shared, thread, tid, false))
			return block;
	}
	return NULL;
}

static struct agent_block *block_find(const struct agent_control *control,
				      struct agent_shared *shared, uint64_t thread, uint32_t tid,
				      uint64_t function)
{
	const uint64_t taken = __atomic_load_n(&shared->blocks_taken, __ATOMIC_RELAXED);
	const uint64_t n = taken < shared->n_blocks ? taken : shared->n_blocks;
	uint64_t index, misses;

	for (uint64_t i = 0; i < n; i++) {
		struct agent_block *block = block_at(control, shared, i);

		if (block->state != AGENT_BLOCK_USED || block->negative_thread != -thread)
			continue;
		if (block->tid == tid)
			return block;
		if (block_seize(block, shared, thread, tid, control->no_calls))
			return block;
	}
	if (taken < shared->n_blocks) {
		index = __atomic_fetch_add(&shared->blocks_taken, 1, __ATOMIC_RELAXED);
		if (index < shared->n_blocks) {
			block_start(block_at(control, shared, index), shared, thread, tid,
				    control->no_calls);
			return block_at(control, shared, index);
		}
	}
	misses = __atomic_fetch_add(&shared->without_block, 1, __ATOMIC_RELAXED);
	struct agent_block *block = block_of_dead(control, shared, thread, tid, misses);

	if (!block)
		__atomic_fetch_add((uint64_t *)(control->buffers + shared->overflow_offset) +
					   function,
				   1, __ATOMIC_RELAXED);
	return block;
}

AGENT_SAVES_ALL struct agent_block *agent_claim(const struct agent_control *control,
						struct agent_shared *shared, uint64_t thread,
						uint64_t function)
{
	uint32_t tid = 0;
	struct agent_block *block = state_get(control, thread);

	if (block || function == AGENT_CLAIM_NOTHING)
		return block;
	if (!control->no_calls) {
		if ((uint64_t)kernel(__NR_getpid, 0, 0, 0, 0, 0, 0) != control->pid) {
			__atomic_fetch_add(&shared->foreign, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		tid = (uint32_t)kernel(__NR_gettid, 0, 0, 0, 0, 0, 0);
	}
	block = block_find(control, shared, thread, tid, function);
	if (block && !state_set(control, block)) {
		__atomic_fetch_add((uint64_t *)(control->buffers + shared->overflow_offset) +
					   function,
				   1, __ATOMIC_RELAXED);
		return NULL;
	}
	return block;
}
