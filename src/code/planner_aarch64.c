/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64: every patch is one word, so that nothing can jump into its middle. The entry's stands behind bti
 * or paciasp. A jump back to the own start changes its target where it reaches as far as the trampoline may be
 * (b); shorter ones are moved like any exit.
 */
#include "code/planner.h"

static enum code_refusal as_entry(enum code_refusal refusal, bool entry)
{
	if (entry && refusal == CODE_EXIT_CALL)
		return CODE_ENTRY_CALL;
	return entry && refusal == CODE_EXIT_IMMOVABLE ? CODE_ENTRY_IMMOVABLE : refusal;
}

enum code_refusal planner_place_aarch64(struct planner *planner)
{
	size_t next;

	for (size_t i = 0; i < planner->n_sites; i = next) {
		const struct planned_site *site = &planner->sites[i];
		const struct code_insn *insn = &planner->insns[site->insn];
		const bool entry =
			site->site.kind == CODE_SITE_ENTRY || site->site.kind == CODE_SITE_POINT;
		struct code_patch patch = {
			.form = CODE_PATCH_JUMP,
			.start = insn->address,
			.moved = { insn->address, code_insn_end(insn) },
			.busy = { insn->address, code_insn_end(insn) },
			.sled = (insn->flags & CODE_NOP) ||
				code_module_sled_at(planner->module, insn->address),
			.may_fault = planner_may_fault(planner, insn),
		};
		enum code_refusal refusal;

		for (next = i + 1;
		     next < planner->n_sites && planner->sites[next].insn == site->insn;)
			next++;
		refusal = planner_movable(planner, insn);
		planner->blamed = i;
		if (refusal)
			return planner_refuse(planner, as_entry(refusal, entry), insn->address);
		if (site->loop && insn->flow == CODE_JUMP) {
			patch.form = CODE_PATCH_RETARGET;
			patch.moved.end = patch.moved.start;
		}
		refusal = planner_add_patch(planner, patch, i, next - i);
		if (refusal)
			return refusal;
	}
	return CODE_PLANNED;
}
