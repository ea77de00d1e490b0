/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x86-64: the whole function moves. What remains of it is one jump at its start, so it needs no more room than that
 * anywhere; but everything that can come to its middle must move along. It may hold no call (a return address), no
 * part, no jump table, and nobody else may jump into it.
 */
#include "code/planner.h"

static bool is_entered_inside(const struct planner *planner, const struct code_range *body)
{
	const struct code_module *module = planner->module;
	const uint64_t first = planner->entry + 1;

	if (code_module_any_marked(module, CODE_MARK_HARD, first, body->end) ||
	    code_module_any_marked(module, CODE_MARK_CALLED, first, body->end))
		return true;
	for (size_t i = code_module_edge_at(module, first);
	     i < module->n_edges && module->edges[i].target < body->end; i++)
		if (module->edges[i].from != planner->index)
			return true;
	return false;
}

static bool has_table(const struct planner *planner)
{
	for (size_t i = 0; i < planner->n_insns; i++)
		if (planner->insns[i].flow == CODE_JUMP_INDIRECT &&
		    code_module_indirect(planner->module, planner->insns[i].address) ==
			    CODE_INDIRECT_TABLE)
			return true;
	return false;
}

enum code_refusal planner_body_x86_64(struct planner *planner)
{
	const struct code_range body = planner->function->range;
	const uint64_t size = body.end - planner->entry;
	const uint64_t refused_at = planner->plan->refused_at;
	struct code_patch patch = {
		.form = CODE_PATCH_JUMP,
		.body = true,
		.start = planner->entry,
		.moved = { planner->entry, body.end },
		.busy = { body.start, body.end },
	};

	if (planner->n_ranges != 1 || planner->function->unknown_jump ||
	    planner->entry >= body.end || size > CODE_PLAN_MAX_BODY || has_table(planner) ||
	    is_entered_inside(planner, &body))
		return CODE_OVERLAP;
	if (size < JUMP_BYTES &&
	    size + planner_padding(planner, body.end, JUMP_BYTES - size) < JUMP_BYTES)
		return CODE_ENTRY_SHORT;
	for (size_t i = 0; i < planner->n_insns; i++) {
		const struct code_insn *insn = &planner->insns[i];
		enum code_refusal refusal;

		if (insn->address < planner->entry)
			continue;
		refusal = planner_movable(planner, insn);
		if (refusal) {
			planner->plan->refused_at = refused_at;
			return refusal;
		}
		patch.may_fault |= planner_may_fault(planner, insn);
	}
	while (planner->plan->n_patches)
		planner_drop_patch(planner);
	return planner_add_patch(planner, patch, 0, planner->n_sites);
}
