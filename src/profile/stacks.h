/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The distinct stacks of a recording and how often each was seen in each cell.
 *
 * A stack is what the file says, not yet what it means: sampled address, raw call chain with its
 * context markers, the generation that gives the addresses their meaning, and a tag (a combination of
 * comm, pid, tid, cpu that the report asked to keep apart). Equal ones are one, so that nothing is
 * resolved or named twice, and memory follows the number of distinct stacks, not of samples.
 *
 * Counts hang on each stack as a short list, newest cell first: samples come nearly in order of time,
 * so the cell of the next one is found in the first few links.
 */
#ifndef ASSAY_PROFILE_STACKS_H
#define ASSAY_PROFILE_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define STACKS_MAX           0x7fffffffu
#define STACKS_CHUNK_WORDS   (32u * 1024)
#define STACKS_MAX_ADDRESSES (16u * 1024) /* longer chains are cut; a record holds at most 8191 */

/* Why frames at the root are missing: bits. */
#define STACK_CUT_DEPTH  1u /* kernel.perf_event_max_stack, or the unwinder's own limit */
#define STACK_CUT_DUMP   2u /* the copied piece of the user stack ended */
#define STACK_CUT_UNWIND 4u /* a module without call frame information */

struct stack {
	uint64_t hash, ip;
	const uint64_t *chain; /* innermost first, with PERF_CONTEXT_* markers */
	uint32_t n_chain;
	uint32_t generation, tag;
	uint32_t counts; /* newest link */
	uint8_t cpumode; /* of the sampled address */
	uint8_t cut;     /* STACK_CUT_* */
};

struct stack_count {
	uint32_t next; /* STACKS_END: none */
	uint32_t cell; /* epoch * columns + column, as the caller counts them */
	uint32_t count;
	double weight;
};

#define STACKS_END UINT32_MAX

struct stacks {
	struct stack *items;
	size_t n, capacity;
	struct stack_count *counts;
	size_t n_counts, counts_capacity;
	struct stacks_slot {
		uint32_t hash, index; /* index + 1, 0: free */
	} * slots;
	size_t n_slots;
	uint64_t **chunks;
	size_t n_chunks, chunks_capacity, chunk_used;
};

void stacks_init(struct stacks *stacks);
void stacks_release(struct stacks *stacks);

/* The number of the stack that equals *stack (whose hash and counts are not looked at), added when
 * new; the chain is copied then. */
MUST_CHECK enum status stacks_add(struct stacks *stacks, const struct stack *stack, uint32_t *index,
				  struct error *error);

MUST_CHECK enum status stacks_count(struct stacks *stacks, uint32_t index, uint32_t cell,
				    double weight, struct error *error);

#endif
