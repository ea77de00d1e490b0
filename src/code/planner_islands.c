/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Islands: 5 bytes within reach of a 2-byte jump that nothing runs through, for the long jump. They are found in
 * the padding inside the function and behind it, and in what windows longer than a jump leave unused; at last a window
 * is made longer, or a run of 10 bytes without a site is moved, for the sake of its bytes. Padding belongs to
 * the function before it, so that plans of several functions never want the same.
 */
#include <stdlib.h>

#include "code/planner.h"

#define SHORT_REACH 127u

/* Padding that patches use is what their jumps overhang; islands given away before count, too. */
static bool is_free(const struct planner *planner, uint64_t start, uint64_t end)
{
	const struct code_plan *plan = planner->plan;

	for (uint32_t i = 0; i < plan->n_patches; i++) {
		const struct code_patch *patch = &plan->patches[i];
		const uint64_t written =
			patch->start + (patch->form == CODE_PATCH_JUMP ? JUMP_BYTES : SHORT_BYTES);

		if (start < written && patch->start < end)
			return false;
		if (patch->island && start < patch->island + JUMP_BYTES && patch->island < end)
			return false;
	}
	return true;
}

/* A place in [low, high) that the short jump reaches from `origin`, the end of its bytes. */
static uint64_t island_in(const struct planner *planner, uint64_t low, uint64_t high,
			  uint64_t origin)
{
	const uint64_t first = origin > SHORT_REACH ? origin - SHORT_REACH : 0;

	if (low < first)
		low = first;
	for (; low + JUMP_BYTES <= high && low <= origin + SHORT_REACH; low++)
		if (is_free(planner, low, low + JUMP_BYTES))
			return low;
	return 0;
}

static uint64_t island_in_padding(const struct planner *planner, uint64_t origin)
{
	for (size_t i = 0; i < planner->n_insns; i++) {
		const struct code_insn *insn = &planner->insns[i];
		const uint64_t end = code_insn_end(insn);
		uint64_t found;

		if (end + MAX_GAP + SHORT_REACH < origin || !code_insn_ends_block(insn))
			continue;
		if (end > origin + SHORT_REACH)
			break;
		found = island_in(planner, end, end + planner_padding(planner, end, MAX_GAP),
				  origin);
		if (found)
			return found;
	}
	return 0;
}

/* A function that ends in a call has padding behind it, too. */
static uint64_t island_behind(const struct planner *planner, uint64_t origin)
{
	for (size_t i = 0; i < planner->n_ranges; i++) {
		const uint64_t end = planner->ranges[i].end;
		const uint64_t found = island_in(
			planner, end, end + planner_padding(planner, end, MAX_GAP), origin);

		if (found)
			return found;
	}
	return 0;
}

/* Nops in front of the function, which its compiler left for patches: they are no padding of the one before. */
static uint64_t island_in_front(const struct planner *planner, uint64_t origin)
{
	const uint64_t start = planner->function->range.start;
	const struct code_sled *sled = code_module_sled_at(planner->module, start - 1);

	if (!sled || sled->kind != CODE_SLED_PATCHABLE || sled->address + sled->bytes != start ||
	    code_module_is_target(planner->module, sled->address) ||
	    planner_target_inside(planner, sled->address, start))
		return 0;
	return island_in(planner, sled->address, start, origin);
}

static uint64_t island_in_windows(const struct planner *planner, uint64_t origin)
{
	for (uint32_t i = 0; i < planner->plan->n_patches; i++) {
		const struct code_patch *patch = &planner->plan->patches[i];
		uint64_t found;

		if (patch->form != CODE_PATCH_JUMP)
			continue;
		found = island_in(planner, patch->start + JUMP_BYTES, patch->moved.end, origin);
		if (found)
			return found;
	}
	return 0;
}

/* What patches write or move: a run for the sake of its bytes keeps clear of it. */
static bool is_untouched(const struct planner *planner, const struct code_patch *except,
			 uint64_t start, uint64_t end)
{
	const struct code_plan *plan = planner->plan;

	for (uint32_t i = 0; i < plan->n_patches; i++) {
		const struct code_patch *patch = &plan->patches[i];

		if (patch != except && start < planner_occupied_end(patch) && patch->start < end)
			return false;
	}
	return true;
}

/* True when the instruction may join a run that control comes to from above. */
static bool may_join(const struct planner *planner, const struct code_patch *except, size_t insn)
{
	const struct code_insn *at = &planner->insns[insn];

	return planner_movable(planner, at) == CODE_PLANNED &&
	       !planner_target_inside(planner, at->address, code_insn_end(at)) &&
	       is_untouched(planner, except, at->address, code_insn_end(at));
}

static bool is_joined(const struct planner *planner, size_t insn)
{
	return insn + 1 < planner->n_insns &&
	       planner->insns[insn + 1].address == code_insn_end(&planner->insns[insn]) &&
	       !code_insn_ends_block(&planner->insns[insn]) &&
	       !code_module_is_target(planner->module, planner->insns[insn + 1].address);
}

/* The end of the straight run of at least 10 bytes from `first` on, 0 when there is none. */
static uint64_t run_end(const struct planner *planner, const struct code_patch *except,
			size_t first, bool *may_fault)
{
	const uint64_t start = planner->insns[first].address;

	*may_fault = false;
	for (size_t i = first; may_join(planner, except, i); i++) {
		const uint64_t end = code_insn_end(&planner->insns[i]);

		*may_fault |= planner_may_fault(planner, &planner->insns[i]);
		if (end - start >= 2 * JUMP_BYTES && (!except || end >= except->moved.end))
			return end - start <= CODE_PATCH_MAX_WINDOW ? end : 0;
		if (!is_joined(planner, i))
			break;
	}
	return 0;
}

/* A jump at `start` leaves an island in [start + 5, end), or there is none within reach. */
static uint64_t island_left(const struct planner *planner, uint64_t start, uint64_t end,
			    uint64_t origin)
{
	return island_in(planner, start + JUMP_BYTES, end, origin);
}

/* Makes one of the windows longer, behind its end or before its start. */
static uint64_t island_by_growth(struct planner *planner, uint64_t origin)
{
	for (uint32_t i = 0; i < planner->plan->n_patches; i++) {
		struct code_patch *patch = &planner->plan->patches[i];
		const size_t last = planner_insn_at(planner, patch->start);
		const bool entry = i == planner->plan->entry_patch;
		size_t first = last;

		if (patch->form != CODE_PATCH_JUMP || last == NO_INSN ||
		    patch->start + 2 * SHORT_REACH < origin ||
		    patch->start > origin + 2 * SHORT_REACH)
			continue;
		for (;;) {
			const uint64_t start = planner->insns[first].address;
			bool may_fault;
			const uint64_t end = run_end(planner, patch, first, &may_fault);
			const uint64_t found = end ? island_left(planner, start, end, origin) : 0;

			if (found) {
				patch->start = start;
				patch->moved = patch->busy = (struct code_range){ start, end };
				patch->may_fault |= may_fault;
				return found;
			}
			if (entry || !first || !is_joined(planner, first - 1) ||
			    planner->insns[last].address - start > 2 * JUMP_BYTES)
				break;
			first--;
		}
	}
	return 0;
}

/* Moves a run without a site. */
static uint64_t island_by_run(struct planner *planner, uint64_t origin)
{
	for (size_t i = 0; i < planner->n_insns; i++) {
		const uint64_t start = planner->insns[i].address;
		struct code_patch patch = { .form = CODE_PATCH_JUMP, .start = start };
		uint64_t end, found;

		if (start + 2 * SHORT_REACH < origin || start < planner->entry)
			continue;
		if (start > origin + SHORT_REACH)
			break;
		end = run_end(planner, NULL, i, &patch.may_fault);
		found = end ? island_left(planner, start, end, origin) : 0;
		if (!found)
			continue;
		patch.moved = patch.busy = (struct code_range){ start, end };
		return planner_add_patch(planner, patch, 0, 0) == CODE_PLANNED ? found : 0;
	}
	return 0;
}

static uint64_t island_find(struct planner *planner, uint64_t origin)
{
	uint64_t island = island_in_front(planner, origin);

	if (!island)
		island = island_in_padding(planner, origin);
	if (!island)
		island = island_behind(planner, origin);
	if (!island)
		island = island_in_windows(planner, origin);
	if (!island && !planner->function->unknown_jump)
		island = island_by_growth(planner, origin);
	if (!island && !planner->function->unknown_jump)
		island = island_by_run(planner, origin);
	return island;
}

static int patch_compare(const void *a, const void *b)
{
	const struct code_patch *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Runs were appended: the order of start is made anew. */
static void patches_sort(struct planner *planner)
{
	struct code_plan *plan = planner->plan;

	qsort(plan->patches, plan->n_patches, sizeof(*plan->patches), patch_compare);
	for (uint32_t i = 0; i < plan->n_patches; i++) {
		const struct code_patch *patch = &plan->patches[i];

		for (uint32_t j = 0; j < patch->n_sites; j++)
			if (plan->sites[patch->first_site + j].kind == CODE_SITE_ENTRY)
				plan->entry_patch = i;
	}
}

/* The site of a patch, as the planner has it. */
static size_t site_of(const struct planner *planner, const struct code_patch *patch)
{
	for (size_t i = 0; i < planner->n_sites && patch->n_sites; i++)
		if (planner->sites[i].site.address ==
			    planner->plan->sites[patch->first_site].address &&
		    planner->sites[i].site.kind == planner->plan->sites[patch->first_site].kind)
			return i;
	return NO_SITE;
}

enum code_refusal planner_islands(struct planner *planner)
{
	uint32_t n = planner->plan->n_patches;

	for (uint32_t i = 0; i < n; i++) {
		const struct code_patch *patch = &planner->plan->patches[i];
		const uint64_t start = patch->start;
		uint64_t island;

		if (patch->form != CODE_PATCH_ISLAND && patch->form != CODE_PATCH_RETARGET_ISLAND)
			continue;
		island = island_find(planner, patch->form == CODE_PATCH_ISLAND ? start + SHORT_BYTES
									       : patch->busy.end);
		if (!island) {
			planner->blamed = site_of(planner, &planner->plan->patches[i]);
			return planner_refuse(planner,
					      start == planner->entry ? CODE_ENTRY_SHORT
								      : CODE_EXIT_SHORT,
					      start);
		}
		planner->plan->patches[i].island = island;
	}
	if (planner->plan->n_patches > n)
		patches_sort(planner);
	return CODE_PLANNED;
}
