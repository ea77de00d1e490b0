/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions are parts of others.
 *
 * Compilers move unlikely code away from its function (.text.unlikely, "f.cold"). In a stripped file such a
 * piece has an FDE like any function, but no return address of its own. It is told by how control comes to it: never
 * by a call, its address held by nobody, not visible to other objects, only by jumps (or table entries, or landing
 * pads) from one function, at its start or in mid-frame. A function that is entered only by tail jumps of one
 * other function looks the same and is counted as a part of that one; its times are the same.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "code/module_state.h"
#include "symbolize/key_sort.h"

#define MAX_ROUNDS 16u

static bool edges_sort(struct code_module *module)
{
	struct sort_key *keys = malloc((module->n_edges + 1) * sizeof(*keys));
	struct code_edge *sorted = malloc((module->n_edges + 1) * sizeof(*sorted));
	bool good = keys && sorted && module->n_edges < UINT32_MAX;

	for (size_t i = 0; good && i < module->n_edges; i++)
		keys[i] = (struct sort_key){ module->edges[i].target, (uint32_t)i };
	good = good && key_sort(keys, module->n_edges);
	for (size_t i = 0; good && i < module->n_edges; i++)
		sorted[i] = module->edges[keys[i].index];
	free(keys);
	if (!good) {
		free(sorted);
		return false;
	}
	free(module->edges);
	module->edges = sorted;
	module->edges_capacity = module->n_edges + 1;
	return true;
}

static bool named_cold(const char *symbol)
{
	const char *cold = symbol ? strstr(symbol, ".cold") : NULL;

	return cold && (!cold[5] || cold[5] == '.');
}

/* What could be a part at all, by itself. */
static bool is_candidate(const struct code_module *module, uint32_t index)
{
	const struct code_function *function = &module->functions[index];

	if (function->stub || function->exported || function->refusal == CODE_NOT_A_START ||
	    code_module_marked(module, CODE_MARK_CALLED, function->range.start))
		return false;
	return named_cold(function->symbol) ||
	       (!function->symbol &&
		!code_module_marked(module, CODE_MARK_TAKEN, function->range.start));
}

enum reached {
	REACHED_NOT,
	REACHED_BY_ONE,
	REACHED_BY_SEVERAL,
};

/* Who jumps into the function, as the wholes are known so far. */
static enum reached jumper_of(const struct code_module *module, uint32_t index, uint32_t *jumper,
			      bool *at_start)
{
	const struct code_range range = module->functions[index].range;
	enum reached reached = REACHED_NOT;

	*at_start = false;
	for (size_t i = code_module_edge_at(module, range.start);
	     i < module->n_edges && module->edges[i].target < range.end; i++) {
		const uint32_t from = module->edges[i].from;
		const uint32_t whole =
			from == CODE_NO_FUNCTION ? CODE_NO_FUNCTION : module->functions[from].owner;

		if (whole == index || from == index)
			continue;
		*at_start |= module->edges[i].target == range.start;
		if (reached != REACHED_NOT && whole != *jumper)
			return REACHED_BY_SEVERAL;
		*jumper = whole;
		reached = whole == CODE_NO_FUNCTION ? REACHED_BY_SEVERAL : REACHED_BY_ONE;
	}
	return reached;
}

static bool owner_find(struct code_module *module, uint32_t index)
{
	struct code_function *function = &module->functions[index];
	uint32_t jumper = CODE_NO_FUNCTION;
	bool at_start;

	if (jumper_of(module, index, &jumper, &at_start) != REACHED_BY_ONE)
		return false;
	if (!at_start && code_module_enters_fresh(module, function->range.start))
		return false; /* somebody enters it in a way that was not seen */
	function->owner = module->functions[jumper].owner;
	return function->owner != index;
}

/* A piece that starts in mid-frame and has no single owner: nothing it belongs to can be patched completely. */
static void shared_refuse(struct code_module *module, uint32_t index)
{
	struct code_function *function = &module->functions[index];
	const struct code_range range = function->range;

	if (!function->refusal)
		function->refusal = CODE_SHARED_PART;
	for (size_t i = code_module_edge_at(module, range.start);
	     i < module->n_edges && module->edges[i].target < range.end; i++) {
		const uint32_t from = module->edges[i].from;
		struct code_function *whole;

		if (from == CODE_NO_FUNCTION || from == index)
			continue;
		whole = &module->functions[module->functions[from].owner];
		if (!whole->refusal)
			whole->refusal = CODE_SHARED_PART;
	}
}

static int piece_compare(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->range.start < y->range.start ? -1 : x->range.start > y->range.start;
}

/* A part's range, and the pieces it had itself, go to its owner. */
static bool pieces_collect(struct code_module *module)
{
	for (size_t i = 0; i < module->n_pieces; i++)
		module->pieces[i].owner = module->functions[module->pieces[i].owner].owner;
	for (size_t i = 0; i < module->n_functions; i++) {
		const struct code_function *function = &module->functions[i];

		if (function->owner == i)
			continue;
		if (!array_reserve(&module->pieces, &module->pieces_capacity, module->n_pieces + 1))
			return false;
		module->pieces[module->n_pieces++] =
			(struct code_piece){ function->owner, function->range };
	}
	if (module->n_pieces)
		qsort(module->pieces, module->n_pieces, sizeof(*module->pieces), piece_compare);
	return true;
}

/* What refuses a part refuses its whole. */
static void refusals_spread(struct code_module *module)
{
	for (size_t i = 0; i < module->n_functions; i++) {
		struct code_function *part = &module->functions[i];
		struct code_function *whole = &module->functions[part->owner];

		if (part->owner == i)
			continue;
		if (part->refusal && !whole->refusal)
			whole->refusal = part->refusal;
		part->refusal = CODE_PART;
	}
}

static void owners_find(struct code_module *module, const uint32_t *candidates, size_t n)
{
	bool changed = true;

	for (unsigned int round = 0; round < MAX_ROUNDS && changed; round++) {
		changed = false;
		for (size_t i = 0; i < n; i++)
			if (module->functions[candidates[i]].owner == candidates[i])
				changed |= owner_find(module, candidates[i]);
	}
	/* chains: an owner that became a part itself */
	for (size_t i = 0; i < n; i++) {
		struct code_function *function = &module->functions[candidates[i]];

		for (unsigned int round = 0; round < MAX_ROUNDS; round++)
			function->owner = module->functions[function->owner].owner;
	}
}

void code_parts_find(struct code_module *module)
{
	uint32_t *candidates = malloc((module->n_functions + 1) * sizeof(*candidates));
	size_t n = 0;

	if (!candidates || !edges_sort(module)) {
		free(candidates);
		module->no_memory = true;
		return;
	}
	for (size_t i = 0; i < module->n_functions; i++)
		if (is_candidate(module, (uint32_t)i))
			candidates[n++] = (uint32_t)i;
	owners_find(module, candidates, n);
	for (size_t i = 0; i < n; i++) {
		const struct code_function *function = &module->functions[candidates[i]];

		if (function->owner == candidates[i] &&
		    !code_module_enters_fresh(module, function->range.start))
			shared_refuse(module, candidates[i]);
	}
	free(candidates);
	if (!pieces_collect(module))
		module->no_memory = true;
	else
		refusals_spread(module);
}
