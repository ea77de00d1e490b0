/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/plan.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "code/planner.h"

#define MAX_SHIFTS 256u /* times that a function is placed anew with a site elsewhere */

enum code_refusal planner_add_patch(struct planner *planner, struct code_patch patch, size_t first,
				    size_t n)
{
	struct code_plan *plan = planner->plan;
	size_t patches = plan->patches_capacity_, sites = plan->sites_capacity_;
	bool good = array_reserve(&plan->patches, &patches, plan->n_patches + 1u) &&
		    array_reserve(&plan->sites, &sites, plan->n_sites + n + 1);

	plan->patches_capacity_ = (uint32_t)patches;
	plan->sites_capacity_ = (uint32_t)sites;
	if (!good) {
		planner->no_memory = true;
		return planner_refuse(planner, CODE_TOO_LARGE, patch.start);
	}
	patch.first_site = plan->n_sites;
	patch.n_sites = 0;
	for (size_t i = first; i < first + n; i++) {
		if (planner->sites[i].loop)
			continue;
		if (planner->sites[i].site.kind == CODE_SITE_ENTRY)
			plan->entry_patch = plan->n_patches;
		plan->sites[plan->n_sites++] = planner->sites[i].site;
		patch.n_sites++;
	}
	patch.loop = n && !patch.n_sites;
	plan->patches[plan->n_patches++] = patch;
	return CODE_PLANNED;
}

void planner_drop_patch(struct planner *planner)
{
	struct code_plan *plan = planner->plan;

	plan->n_patches--;
	plan->n_sites = plan->patches[plan->n_patches].first_site;
}

static void planner_release(struct planner *planner)
{
	free(planner->insns);
	free(planner->sites);
}

void code_plan_release(struct code_plan *plan)
{
	const uint64_t refused_at = plan->refused_at;

	free(plan->sites);
	free(plan->patches);
	memset(plan, 0, sizeof(*plan));
	plan->refused_at = refused_at;
}

static enum code_refusal place(struct planner *planner)
{
	enum code_refusal refusal;

	planner->blamed = NO_SITE;
	if (planner->machine == EM_AARCH64)
		return planner_place_aarch64(planner);
	refusal = planner_place_x86_64(planner);
	if (refusal == CODE_PLANNED || planner->no_memory)
		return refusal;
	/* the reason that stays is that of the windows, not of the second try */
	return planner_body_x86_64(planner) == CODE_PLANNED ? CODE_PLANNED : refusal;
}

/* The site that found no place, or else the entry, goes on to where it may find one. */
static bool shift(struct planner *planner)
{
	const size_t blamed = planner->blamed;

	if (blamed != NO_SITE &&
	    (planner_advance_exit(planner, blamed) || planner_split_exit(planner, blamed)))
		return true;
	return planner_defer_entry(planner, true);
}

/* Where the sites belong; then with the entry behind what leaves the stack pointer alone; then anywhere near. */
static enum code_refusal place_somewhere(struct planner *planner)
{
	const enum code_refusal first = place(planner);
	const uint64_t refused_at = planner->plan->refused_at;
	enum code_refusal refusal = first;
	unsigned int tries = 0;

	while (refusal != CODE_PLANNED && !planner->no_memory &&
	       planner_defer_entry(planner, false))
		refusal = place(planner);
	if (refusal != CODE_PLANNED) {
		planner_unshift(planner);
		refusal = place(planner);
	}
	while (refusal != CODE_PLANNED && !planner->no_memory && tries++ < MAX_SHIFTS &&
	       shift(planner))
		refusal = place(planner);
	planner->plan->refused_at = refused_at;
	return refusal == CODE_PLANNED ? CODE_PLANNED : first;
}

static void exits_count(struct code_plan *plan)
{
	plan->n_exits = 0;
	for (uint32_t i = 0; i < plan->n_sites; i++)
		if (plan->sites[i].kind != CODE_SITE_ENTRY &&
		    plan->sites[i].kind != CODE_SITE_POINT)
			plan->n_exits++;
}

/* The planner is large, for its ranges: it lives on the heap no longer than a plan takes. */
static struct planner *planner_new(struct code_plan *plan, const struct code_module *module,
				   uint32_t function, const struct code_plan_options *options)
{
	struct planner *planner = calloc(1, sizeof(*planner));

	memset(plan, 0, sizeof(*plan));
	plan->module = module;
	plan->function = function;
	plan->entry_patch = UINT32_MAX;
	if (!planner)
		return NULL;
	planner->module = module;
	planner->index = function;
	planner->function = &module->functions[function];
	planner->machine = code_module_machine(module);
	planner->plan = plan;
	if (options)
		planner->options = *options;
	return planner;
}

enum code_refusal code_plan_make(struct code_plan *plan, const struct code_module *module,
				 uint32_t function, const struct code_plan_options *options)
{
	enum code_refusal refusal;
	struct planner *planner;

	memset(plan, 0, sizeof(*plan));
	if (function >= module->n_functions)
		return CODE_NO_CODE;
	plan->refused_at = module->functions[function].range.start;
	if (module->functions[function].refusal)
		return (enum code_refusal)module->functions[function].refusal;
	planner = planner_new(plan, module, function, options);
	if (!planner)
		return CODE_TOO_LARGE;
	refusal = planner_read(planner);
	if (refusal == CODE_PLANNED)
		refusal = place_somewhere(planner);
	planner_release(planner);
	free(planner);
	if (refusal != CODE_PLANNED)
		code_plan_release(plan);
	else
		exits_count(plan);
	return refusal;
}

size_t code_plan_inside(const struct code_plan *plan, struct code_range *ranges, size_t capacity)
{
	const size_t n = code_module_ranges(plan->module, plan->function, ranges, capacity);

	if (n && plan->entry_patch < plan->n_patches)
		ranges[0].start = plan->patches[plan->entry_patch].start + 1;
	return n;
}

/* The point alone: what leaves the function does not matter. */
static enum code_refusal point_place(struct planner *planner, uint64_t vaddr)
{
	size_t insn = planner_insn_at(planner, vaddr);

	while (insn != NO_INSN && (planner->insns[insn].flags & CODE_LANDING)) {
		vaddr = code_insn_end(&planner->insns[insn]);
		insn = planner_insn_at(planner, vaddr);
	}
	if (insn == NO_INSN)
		return planner_refuse(planner, CODE_INTO_INSTRUCTION, vaddr);
	planner->n_sites = 0;
	if (!array_reserve(&planner->sites, &planner->sites_capacity, 1)) {
		planner->no_memory = true;
		return planner_refuse(planner, CODE_TOO_LARGE, vaddr);
	}
	planner->sites[planner->n_sites++] =
		(struct planned_site){ .site = { .address = vaddr, .kind = CODE_SITE_POINT },
				       .insn = insn };
	return planner->machine == EM_AARCH64 ? planner_place_aarch64(planner)
					      : planner_place_x86_64(planner);
}

enum code_refusal code_plan_point(struct code_plan *plan, const struct code_module *module,
				  uint64_t vaddr, const struct code_plan_options *options)
{
	struct code_plan_options point_options = { .entry_only = true };
	uint32_t function = code_module_function_at(module, vaddr);
	enum code_refusal refusal;
	struct planner *planner;

	memset(plan, 0, sizeof(*plan));
	plan->refused_at = vaddr;
	if (function == CODE_NO_FUNCTION)
		return CODE_NO_CODE;
	function = module->functions[function].owner;
	if (module->functions[function].refusal &&
	    module->functions[function].refusal != CODE_SHARED_PART)
		return (enum code_refusal)module->functions[function].refusal;
	if (options)
		point_options.faults_matter = options->faults_matter;
	planner = planner_new(plan, module, function, &point_options);
	if (!planner)
		return CODE_TOO_LARGE;
	refusal = planner_read(planner);
	if (refusal == CODE_PLANNED)
		refusal = point_place(planner, vaddr);
	planner_release(planner);
	free(planner);
	if (refusal != CODE_PLANNED)
		code_plan_release(plan);
	return refusal;
}
