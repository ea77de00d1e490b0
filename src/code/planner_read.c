/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes a function completely and finds where it is left. What cannot be told for certain refuses it.
 */
#include <elf.h>
#include <stdlib.h>

#include "base/array.h"
#include "code/planner.h"

#define MAX_PROLOGUE 8u /* instructions in which a frame pointer is set up */

enum code_refusal planner_refuse(struct planner *planner, enum code_refusal refusal,
				 uint64_t address)
{
	planner->plan->refused_at = address;
	return refusal;
}

const struct code_range *planner_range_at(const struct planner *planner, uint64_t address)
{
	for (size_t i = 0; i < planner->n_ranges; i++)
		if (address >= planner->ranges[i].start && address < planner->ranges[i].end)
			return &planner->ranges[i];
	return NULL;
}

size_t planner_insn_at(const struct planner *planner, uint64_t address)
{
	size_t low = 0, high = planner->n_insns;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (planner->insns[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < planner->n_insns && planner->insns[low].address == address ? low : NO_INSN;
}

static int range_compare(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static enum code_refusal range_decode(struct planner *planner, const struct code_range *range)
{
	const uint8_t *bytes =
		code_module_bytes(planner->module, range->start, range->end - range->start);
	uint64_t at = range->start;

	if (!bytes)
		return planner_refuse(planner, CODE_NO_CODE, at);
	/* about as many as there will be: growing takes time where functions are planned by the thousand */
	if (!array_reserve(&planner->insns, &planner->insns_capacity,
			   planner->n_insns + (size_t)(range->end - at) / 3 + 1)) {
		planner->no_memory = true;
		return planner_refuse(planner, CODE_TOO_LARGE, at);
	}
	while (at < range->end) {
		struct code_insn insn;

		if (!code_insn_decode(planner->machine, bytes + (at - range->start),
				      range->end - at, at, &insn))
			return planner_refuse(planner, CODE_UNDECODABLE, at);
		if (!array_reserve(&planner->insns, &planner->insns_capacity,
				   planner->n_insns + 1)) {
			planner->no_memory = true;
			return planner_refuse(planner, CODE_TOO_LARGE, at);
		}
		planner->insns[planner->n_insns++] = insn;
		at += insn.length;
	}
	return CODE_PLANNED;
}

static enum code_refusal ranges_decode(struct planner *planner)
{
	uint64_t total = 0;

	planner->n_ranges = code_module_ranges(planner->module, planner->index, planner->ranges,
					       CODE_FUNCTION_MAX_PARTS);
	if (planner->n_ranges == CODE_FUNCTION_MAX_PARTS)
		return planner_refuse(planner, CODE_TOO_LARGE, planner->function->range.start);
	qsort(planner->ranges, planner->n_ranges, sizeof(planner->ranges[0]), range_compare);
	for (size_t i = 0; i < planner->n_ranges; i++) {
		enum code_refusal refusal;

		total += planner->ranges[i].end - planner->ranges[i].start;
		if (total > CODE_FUNCTION_MAX_BYTES)
			return planner_refuse(planner, CODE_TOO_LARGE, planner->ranges[i].start);
		refusal = range_decode(planner, &planner->ranges[i]);
		if (refusal)
			return refusal;
	}
	return CODE_PLANNED;
}

/* Behind the last instruction of a range nothing of this function follows: it must not go on. A call there is one
 * that does not return: compilers leave nothing behind those. */
static enum code_refusal end_check(struct planner *planner, const struct code_range *range)
{
	size_t last = planner->n_insns;

	while (last > 0 && planner->insns[last - 1].address >= range->end)
		last--;
	if (planner->options.entry_only || planner_range_at(planner, range->end))
		return CODE_PLANNED;
	while (last > 0 && planner->insns[last - 1].address >= range->start &&
	       (planner->insns[last - 1].flags & CODE_NOP) &&
	       !code_module_is_target(planner->module, planner->insns[last - 1].address))
		last--;
	if (last == 0 || planner->insns[last - 1].address < range->start)
		return planner_refuse(planner, CODE_RUNS_OFF, range->start);
	last--;
	if (!code_insn_ends_block(&planner->insns[last]) &&
	    planner->insns[last].flow != CODE_CALL &&
	    planner->insns[last].flow != CODE_CALL_INDIRECT)
		return planner_refuse(planner, CODE_RUNS_OFF, planner->insns[last].address);
	return CODE_PLANNED;
}

/* A jump over a lock prefix, as glibc once made for single-threaded programs: both ways are instructions. */
static bool skips_prefix(const struct planner *planner, uint64_t target)
{
	const uint8_t *before = code_module_bytes(planner->module, target - 1, 1);

	return planner->machine == EM_X86_64 && before && *before == 0xf0 &&
	       planner_insn_at(planner, target - 1) != NO_INSN;
}

static bool add_site(struct planner *planner, size_t insn, enum code_site_kind kind, bool loop)
{
	const struct code_insn *at = &planner->insns[insn];
	const bool direct = at->flow == CODE_JUMP || at->flow == CODE_BRANCH;

	if (planner->n_sites >= CODE_PLAN_MAX_SITES ||
	    !array_reserve(&planner->sites, &planner->sites_capacity, planner->n_sites + 1))
		return false;
	planner->sites[planner->n_sites++] = (struct planned_site){
		.site = { .address = at->address,
			  .exit = kind == CODE_SITE_ENTRY ? 0 : at->address,
			  .target = direct ? at->target : 0,
			  .pop_bytes = at->pop_bytes,
			  .kind = (uint8_t)kind },
		.insn = insn,
		.loop = loop,
	};
	return true;
}

/* Where a direct jump or branch leads. */
static enum code_refusal transfer_read(struct planner *planner, size_t insn)
{
	const struct code_insn *at = &planner->insns[insn];
	const struct code_module *module = planner->module;
	const struct code_function *to;
	uint32_t function;

	if (planner_range_at(planner, at->target)) {
		if (planner_insn_at(planner, at->target) == NO_INSN &&
		    !skips_prefix(planner, at->target))
			return planner_refuse(planner, CODE_INTO_INSTRUCTION, at->address);
		if (planner_is_own_start(planner, at->target) && (at->flags & CODE_IMMOVABLE))
			return planner_refuse(planner, CODE_ODD_FLOW, at->address);
		if (planner_is_own_start(planner, at->target) &&
		    !add_site(planner, insn, CODE_SITE_TAIL_JUMP, true))
			return planner_refuse(planner, CODE_TOO_LARGE, at->address);
		return CODE_PLANNED;
	}
	if (planner->options.entry_only)
		return CODE_PLANNED;
	if (at->flags & CODE_IMMOVABLE)
		return planner_refuse(planner, CODE_ODD_FLOW, at->address);
	function = code_module_function_at(module, at->target);
	if (function == CODE_NO_FUNCTION)
		return planner_refuse(planner, CODE_JUMP_NOWHERE, at->address);
	to = &module->functions[function];
	if (to->range.start != at->target || to->owner != function)
		return planner_refuse(planner, CODE_SHARED_TAIL, at->address);
	if (!add_site(planner, insn,
		      at->flow == CODE_JUMP ? CODE_SITE_TAIL_JUMP : CODE_SITE_TAIL_BRANCH, false))
		return planner_refuse(planner, CODE_TOO_LARGE, at->address);
	return CODE_PLANNED;
}

/* True when a jump through a pointer cannot lead inside: nobody holds an address there but for those behind
 * calls. */
static bool pointers_leave(const struct planner *planner)
{
	const struct code_function *function = planner->function;

	if (function->names_inside || function->unknown_jump)
		return false;
	for (size_t i = 0; i < planner->n_insns; i++) {
		const struct code_insn *insn = &planner->insns[i], *before = i ? insn - 1 : NULL;

		if (insn->address != function->range.start &&
		    code_module_marked(planner->module, CODE_MARK_HARD, insn->address) &&
		    (!before || code_insn_end(before) != insn->address ||
		     (before->flow != CODE_CALL && before->flow != CODE_CALL_INDIRECT)))
			return false;
	}
	return true;
}

static bool indirect_read(struct planner *planner, size_t insn)
{
	const enum code_indirect_kind kind =
		code_module_indirect(planner->module, planner->insns[insn].address);

	if (planner->options.entry_only || kind == CODE_INDIRECT_TABLE)
		return true;
	if (!add_site(planner, insn, CODE_SITE_TAIL_INDIRECT, false))
		return false;
	planner->sites[planner->n_sites - 1].site.leaves =
		kind == CODE_INDIRECT_POINTER && pointers_leave(planner);
	return true;
}

static enum code_refusal insn_read(struct planner *planner, size_t insn)
{
	const struct code_insn *at = &planner->insns[insn];
	bool good = true;

	switch (at->flow) {
	case CODE_ODD: return planner_refuse(planner, CODE_ODD_FLOW, at->address);
	case CODE_JUMP:
	case CODE_BRANCH: return transfer_read(planner, insn);
	case CODE_RETURN:
		good = planner->options.entry_only ||
		       add_site(planner, insn, CODE_SITE_RETURN, false);
		break;
	case CODE_JUMP_INDIRECT: good = indirect_read(planner, insn); break;
	default: break;
	}
	return good ? CODE_PLANNED : planner_refuse(planner, CODE_TOO_LARGE, at->address);
}

/* mov %rsp,%rbp (48 89 e5 or 48 8b ec); mov x29, sp (add x29, sp, #n) */
static bool sets_frame_pointer(const struct planner *planner, const struct code_insn *insn)
{
	const uint8_t *b = code_module_bytes(planner->module, insn->address, insn->length);

	if (planner->machine == EM_AARCH64)
		return (b[0] & 0x1f) == 0x1d && (b[0] & 0xe0) == 0xe0 && (b[1] & 0x03) == 0x03 &&
		       b[3] == 0x91 && !(b[2] & 0x80);
	return insn->length == 3 && b[0] == 0x48 &&
	       ((b[1] == 0x89 && b[2] == 0xe5) || (b[1] == 0x8b && b[2] == 0xec));
}

static void prologue_read(struct planner *planner, size_t first)
{
	size_t i = first;

	for (; i < planner->n_insns && (planner->insns[i].flags & CODE_LANDING); i++)
		;
	planner->entry = i < planner->n_insns ? planner->insns[i].address : UINT64_MAX;
	for (i = first; i < planner->n_insns && i < first + MAX_PROLOGUE; i++)
		planner->frame_pointer |= sets_frame_pointer(planner, &planner->insns[i]);
}

enum code_refusal planner_read(struct planner *planner)
{
	const uint64_t start = planner->function->range.start;
	enum code_refusal refusal = ranges_decode(planner);
	size_t first, entry;

	if (refusal)
		return refusal;
	if (!code_module_enters_fresh(planner->module, start))
		return planner_refuse(planner, CODE_NOT_A_START, start);
	for (size_t i = 0; i < planner->n_ranges; i++) {
		refusal = end_check(planner, &planner->ranges[i]);
		if (refusal)
			return refusal;
	}
	first = planner_insn_at(planner, start);
	if (first == NO_INSN)
		return planner_refuse(planner, CODE_NO_CODE, start);
	prologue_read(planner, first);
	entry = planner_insn_at(planner, planner->entry);
	if (entry == NO_INSN)
		return planner_refuse(planner, CODE_ENTRY_SHORT, start);
	for (size_t i = 0; i < planner->n_insns; i++) {
		if (i == entry && !add_site(planner, i, CODE_SITE_ENTRY, false))
			return planner_refuse(planner, CODE_TOO_LARGE, start);
		refusal = insn_read(planner, i);
		if (refusal)
			return refusal;
	}
	return CODE_PLANNED;
}

bool planner_may_fault(const struct planner *planner, const struct code_insn *insn)
{
	if (insn->flags & CODE_MAY_FAULT)
		return true;
	if ((insn->flags & CODE_BY_FRAME) && !planner->frame_pointer)
		return true;
	if (!(insn->flags & CODE_LOADS))
		return false;
	/* what the object itself maps does not fault */
	if (!(insn->flags & CODE_PC_RELATIVE) && !planner->module->fixed)
		return true;
	return !elf_file_segment_at(&planner->module->file, insn->operand, false);
}

enum code_refusal planner_movable(const struct planner *planner, const struct code_insn *insn)
{
	if (insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT)
		return CODE_EXIT_CALL;
	/* endbr64 and bti must be where indirect jumps land */
	if ((insn->flags & (CODE_IMMOVABLE | CODE_LANDING)) || insn->flow == CODE_ODD ||
	    insn->flow == CODE_STOP)
		return CODE_EXIT_IMMOVABLE;
	if (planner->options.faults_matter && planner_may_fault(planner, insn))
		return CODE_FAULTS;
	return CODE_PLANNED;
}

bool planner_target_inside(const struct planner *planner, uint64_t start, uint64_t end)
{
	return code_module_any_marked(planner->module, CODE_MARK_DIRECT, start + 1, end) ||
	       code_module_any_marked(planner->module, CODE_MARK_HARD, start + 1, end);
}

/* Own, or in the gap behind it: no byte of another function. */
static bool is_own_or_gap(const struct planner *planner, uint64_t address)
{
	return planner_range_at(planner, address) ||
	       code_module_function_at(planner->module, address) == CODE_NO_FUNCTION;
}

/* Nops in front of the function that follows, which are its own: gcc's -fpatchable-function-entry=N,M. */
static bool is_anothers_sled(const struct planner *planner, uint64_t address)
{
	const struct code_sled *sled = code_module_sled_at(planner->module, address);

	return sled && sled->kind == CODE_SLED_PATCHABLE && !planner_range_at(planner, address);
}

uint64_t planner_padding(const struct planner *planner, uint64_t start, uint64_t wanted)
{
	const struct code_text *text = code_text_at(planner->module, start);
	uint64_t at = start;

	while (text && at < text->end && at - start < wanted) {
		struct code_insn insn;

		if (!code_insn_decode(planner->machine, text->bytes + (at - text->start),
				      text->end - at, at, &insn) ||
		    (!(insn.flags & CODE_NOP) && text->bytes[at - text->start] != 0xcc) ||
		    !is_own_or_gap(planner, at) ||
		    !is_own_or_gap(planner, code_insn_end(&insn) - 1) ||
		    is_anothers_sled(planner, at) || code_module_is_target(planner->module, at) ||
		    planner_target_inside(planner, at, code_insn_end(&insn)))
			break;
		at = code_insn_end(&insn);
	}
	return at - start < wanted ? at - start : wanted;
}
