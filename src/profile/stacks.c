/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/hash.h"

void stacks_init(struct stacks *stacks)
{
	memset(stacks, 0, sizeof(*stacks));
	stacks->free_counts = STACKS_END;
}

void stacks_release(struct stacks *stacks)
{
	for (size_t i = 0; i < stacks->n_chunks; i++)
		free(stacks->chunks[i]);
	free(stacks->chunks);
	free(stacks->items);
	free(stacks->counts);
	free(stacks->slots);
	stacks_init(stacks);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the distinct stacks");
}

static uint64_t stack_hash(const struct stack *stack)
{
	const uint64_t kind = (uint64_t)stack->cpumode << 8 | stack->cut;
	uint64_t hash = hash_bytes(stack->chain, stack->n_chain * sizeof(*stack->chain));

	hash = hash_combine(hash, stack->ip);
	hash = hash_combine(hash, (uint64_t)stack->generation << 32 | stack->tag);
	return hash_combine(hash, kind);
}

static bool stack_same(const struct stack *a, const struct stack *b)
{
	return a->ip == b->ip && a->n_chain == b->n_chain && a->generation == b->generation &&
	       a->tag == b->tag && a->cpumode == b->cpumode && a->cut == b->cut &&
	       !memcmp(a->chain, b->chain, a->n_chain * sizeof(*a->chain));
}

/* The slot that holds `stack` (with its hash filled in), or the free one where it belongs. */
static size_t slot_of(const struct stacks *stacks, const struct stack *stack)
{
	const size_t mask = stacks->n_slots - 1;
	size_t at = (size_t)stack->hash & mask;

	for (;; at = (at + 1) & mask) {
		const struct stacks_slot *slot = &stacks->slots[at];

		if (!slot->index || (slot->hash == (uint32_t)(stack->hash >> 32) &&
				     stack_same(&stacks->items[slot->index - 1], stack)))
			return at;
	}
}

static bool slots_grow(struct stacks *stacks)
{
	const size_t n = stacks->n_slots ? 2 * stacks->n_slots : 1024;
	struct stacks_slot *slots;

	if (2 * (stacks->n + 1) <= stacks->n_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	for (size_t i = 0; i < stacks->n; i++) {
		size_t at = (size_t)stacks->items[i].hash & (n - 1);

		while (slots[at].index)
			at = (at + 1) & (n - 1);
		slots[at] = (struct stacks_slot){ (uint32_t)(stacks->items[i].hash >> 32),
						  (uint32_t)i + 1 };
	}
	free(stacks->slots);
	stacks->slots = slots;
	stacks->n_slots = n;
	return true;
}

static const uint64_t *chain_copy(struct stacks *stacks, const uint64_t *chain, size_t n)
{
	uint64_t *copy;

	if (!stacks->n_chunks || STACKS_CHUNK_WORDS - stacks->chunk_used < n) {
		if (!array_reserve(&stacks->chunks, &stacks->chunks_capacity,
				   stacks->n_chunks + 1) ||
		    !(copy = malloc(STACKS_CHUNK_WORDS * sizeof(*copy))))
			return NULL;
		stacks->chunks[stacks->n_chunks++] = copy;
		stacks->chunk_used = 0;
	}
	copy = stacks->chunks[stacks->n_chunks - 1] + stacks->chunk_used;
	stacks->chunk_used += n;
	if (n)
		memcpy(copy, chain, n * sizeof(*chain));
	return copy;
}

enum status stacks_add(struct stacks *stacks, const struct stack *stack, uint32_t *index,
		       struct error *error)
{
	struct stack key = *stack;
	struct stacks_slot *slot;

	if (key.n_chain > STACKS_MAX_ADDRESSES) {
		key.n_chain = STACKS_MAX_ADDRESSES;
		key.cut |= STACK_CUT_DEPTH;
	}
	key.hash = stack_hash(&key);
	if (!slots_grow(stacks))
		return no_memory(error);
	slot = &stacks->slots[slot_of(stacks, &key)];
	if (slot->index) {
		*index = slot->index - 1;
		return STATUS_OK;
	}
	if (stacks->n >= STACKS_MAX)
		return error_set(error, STATUS_LIMIT,
				 "the recording has more than %u distinct stacks", STACKS_MAX);
	key.chain = chain_copy(stacks, key.chain, key.n_chain);
	if (!key.chain || !array_reserve(&stacks->items, &stacks->capacity, stacks->n + 1))
		return no_memory(error);
	key.counts = STACKS_END;
	*index = (uint32_t)stacks->n;
	stacks->items[stacks->n++] = key;
	*slot = (struct stacks_slot){ (uint32_t)(key.hash >> 32), *index + 1 };
	return STATUS_OK;
}

static uint32_t count_new(struct stacks *stacks)
{
	const uint32_t at = stacks->free_counts;

	if (at != STACKS_END) {
		stacks->free_counts = stacks->counts[at].next;
		return at;
	}
	if (stacks->n_counts >= STACKS_MAX ||
	    !array_reserve(&stacks->counts, &stacks->counts_capacity, stacks->n_counts + 1))
		return STACKS_END;
	return (uint32_t)stacks->n_counts++;
}

enum status stacks_count(struct stacks *stacks, uint32_t index, int32_t epoch, uint32_t column,
			 double weight, struct error *error)
{
	uint32_t at = stacks->items[index].counts;

	while (at != STACKS_END &&
	       (stacks->counts[at].epoch != epoch || stacks->counts[at].column != column))
		at = stacks->counts[at].next;
	if (at == STACKS_END) {
		at = count_new(stacks);
		if (at == STACKS_END)
			return no_memory(error);
		stacks->counts[at] =
			(struct stack_count){ stacks->items[index].counts, epoch, column, 0, 0 };
		stacks->items[index].counts = at;
	}
	stacks->counts[at].count++;
	stacks->counts[at].weight += weight;
	return STATUS_OK;
}

/* Moves what `at` counted to the first link of the list that has its cell; true when there is one
 * before `at` itself. */
static bool count_merge(struct stacks *stacks, uint32_t first, uint32_t at)
{
	const struct stack_count *from = &stacks->counts[at];

	for (uint32_t into = first; into != at; into = stacks->counts[into].next) {
		struct stack_count *count = &stacks->counts[into];

		if (count->epoch == from->epoch && count->column == from->column) {
			count->count += from->count;
			count->weight += from->weight;
			return true;
		}
	}
	return false;
}

void stacks_fold(struct stacks *stacks, unsigned int times)
{
	for (size_t i = 0; times && i < stacks->n; i++) {
		uint32_t *link = &stacks->items[i].counts;

		while (*link != STACKS_END) {
			const uint32_t at = *link;

			stacks->counts[at].epoch >>= times < 31 ? times : 31;
			if (count_merge(stacks, stacks->items[i].counts, at)) {
				*link = stacks->counts[at].next;
				stacks->counts[at].next = stacks->free_counts;
				stacks->free_counts = at;
			} else {
				link = &stacks->counts[at].next;
			}
		}
	}
}
