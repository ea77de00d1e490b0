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
	static const uint64_t no_chain[1];
	struct stack key = *stack;
	struct stacks_slot *slot;

	if (key.n_chain > STACKS_MAX_ADDRESSES) {
		key.n_chain = STACKS_MAX_ADDRESSES;
		key.cut |= STACK_CUT_DEPTH;
	}
	if (!key.n_chain)
		key.chain = no_chain;
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

enum status stacks_count(struct stacks *stacks, uint32_t index, uint32_t cell, double weight,
			 struct error *error)
{
	uint32_t at = stacks->items[index].counts;

	while (at != STACKS_END && stacks->counts[at].cell != cell)
		at = stacks->counts[at].next;
	if (at == STACKS_END) {
		if (stacks->n_counts >= STACKS_MAX ||
		    !array_reserve(&stacks->counts, &stacks->counts_capacity, stacks->n_counts + 1))
			return no_memory(error);
		at = (uint32_t)stacks->n_counts++;
		stacks->counts[at] =
			(struct stack_count){ stacks->items[index].counts, cell, 0, 0 };
		stacks->items[index].counts = at;
	}
	stacks->counts[at].count++;
	stacks->counts[at].weight += weight;
	return STATUS_OK;
}
