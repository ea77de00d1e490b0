/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Islands: 5 bytes within reach of a 2-byte jump that nothing runs through, for the long jump. They are found in
 * the padding inside the function and behind it, and in what windows longer than a jump leave unused. Padding
 * belongs to the function before it, so that plans of several functions never want the same.
 */
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

enum code_refusal planner_islands(struct planner *planner)
{
	for (uint32_t i = 0; i < planner->plan->n_patches; i++) {
		struct code_patch *patch = &planner->plan->patches[i];
		const uint64_t origin = patch->start + SHORT_BYTES;

		if (patch->form != CODE_PATCH_ISLAND && patch->form != CODE_PATCH_RETARGET_ISLAND)
			continue;
		patch->island = island_in_padding(planner, origin);
		if (!patch->island)
			patch->island = island_behind(planner, origin);
		if (!patch->island)
			patch->island = island_in_windows(planner, origin);
		if (!patch->island)
			return planner_refuse(planner,
					      patch->start == planner->entry ? CODE_ENTRY_SHORT
									     : CODE_EXIT_SHORT,
					      patch->start);
	}
	return CODE_PLANNED;
}
