/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Hooks that find no place at the start, or at an exit, may run some instructions away from it: those between stay
 * where they are, so that they need not be movable (calls and jumps apart). What a call does there is not timed.
 *
 *	entry	push %rbx		may run behind: the stack pointer is 8 less, and known
 *		mov 8(%rdi),%rbx	behind
 *		...
 *	exit	mov %rsi,%rax		may run before this one,
 *		mov %rax,8(%rdi)	which leaves this one in place
 *		ret
 *	exit	jg  1f			or, where nothing else leads to it, on the way there:
 *		...			when the branch is taken
 *	1:	ret
 *
 * While a hook runs with the stack pointer of the start, what lies between that and the real one is its red zone.
 * So nothing may have been stored below the real one by then: no instruction passed over has an operand near the
 * stack pointer.
 */
#include <elf.h>

#include "base/array.h"
#include "code/planner.h"

#define MAX_MOVED 8u /* instructions that a site may stand away from its place */

/* How far the instruction lowers the stack pointer and does nothing else: push of a register or constant,
 * sub $n,%rsp. 0: it does something else. */
static unsigned int lowers_sp(const struct planner *planner, const struct code_insn *insn)
{
	const uint8_t *b = code_module_bytes(planner->module, insn->address, insn->length);

	if (planner->machine != EM_X86_64 || !b)
		return 0;
	if (insn->length == 1 && b[0] >= 0x50 && b[0] <= 0x57)
		return 8;
	if (insn->length == 2 && b[0] == 0x41 && b[1] >= 0x50 && b[1] <= 0x57)
		return 8;
	if ((insn->length == 2 && b[0] == 0x6a) || (insn->length == 5 && b[0] == 0x68))
		return 8;
	if (insn->length == 4 && b[0] == 0x48 && b[1] == 0x83 && b[2] == 0xec && b[3] < 0x80)
		return b[3];
	return 0;
}

/* What a site may be moved across, whatever it does. */
static bool is_passable(const struct code_insn *insn)
{
	return insn->flow == CODE_NEXT && !(insn->flags & (CODE_IMMOVABLE | CODE_REPEATS));
}

/* Control comes from one to the next and only from there. */
static bool is_straight(const struct planner *planner, const struct code_insn *insn)
{
	const struct code_insn *next = insn + 1;

	return next < planner->insns + planner->n_insns && next->address == code_insn_end(insn) &&
	       planner_range_at(planner, next->address) &&
	       !planner_target_inside(planner, insn->address, next->address) &&
	       !code_module_is_target(planner->module, next->address);
}

/* The site of the entry; NULL in plans of points. */
static struct planned_site *entry_site(const struct planner *planner)
{
	for (size_t i = 0; i < planner->n_sites; i++)
		if (planner->sites[i].site.kind == CODE_SITE_ENTRY)
			return &planner->sites[i];
	return NULL;
}

static bool has_loop(const struct planner *planner)
{
	for (size_t i = 0; i < planner->n_sites; i++)
		if (planner->sites[i].loop)
			return true;
	return false;
}

/* Whether the stack pointer is known behind the instruction, and nothing lies below it: the sum in *sp_bytes. */
static bool sp_follow(const struct planner *planner, const struct code_insn *insn, bool pushes,
		      unsigned int *sp_bytes)
{
	const unsigned int lowers = pushes ? lowers_sp(planner, insn) : 0;

	if (lowers) {
		*sp_bytes += lowers;
		return *sp_bytes <= PLANNER_MAX_SP_BYTES;
	}
	if (insn->flags & CODE_TOUCHES_SP)
		return false;
	return !pushes || !(insn->flags & CODE_NEAR_SP);
}

static void site_set(struct planner *planner, struct planned_site *site, size_t insn)
{
	site->insn = insn;
	site->site.address = planner->insns[insn].address;
	if (site->site.kind == CODE_SITE_ENTRY)
		planner->entry = site->site.address;
	planner->plan->n_patches = planner->plan->n_sites = 0;
}

bool planner_defer_entry(struct planner *planner, bool pushes)
{
	struct planned_site *entry = entry_site(planner);
	const struct code_insn *insn;
	unsigned int sp_bytes;

	if (!entry || has_loop(planner) || planner->function->unknown_jump ||
	    entry->n_moved >= MAX_MOVED || entry->insn + 1 >= planner->n_insns)
		return false;
	insn = &planner->insns[entry->insn];
	sp_bytes = entry->site.sp_bytes;
	if (!is_passable(insn) || !is_straight(planner, insn) ||
	    !sp_follow(planner, insn, pushes, &sp_bytes))
		return false;
	entry->n_moved++;
	entry->site.sp_bytes = (uint16_t)sp_bytes;
	site_set(planner, entry, entry->insn + 1);
	return true;
}

bool planner_advance_exit(struct planner *planner, size_t index)
{
	struct planned_site *site = &planner->sites[index];
	const struct code_insn *before;

	if (!planner_is_certain_exit(site) || planner->function->unknown_jump ||
	    site->n_moved >= MAX_MOVED || !site->insn)
		return false;
	before = &planner->insns[site->insn - 1];
	if (before->address < planner->entry || !is_passable(before) ||
	    (before->flags & (CODE_TOUCHES_SP | CODE_LANDING)) || !is_straight(planner, before))
		return false;
	site->n_moved++;
	site_set(planner, site, site->insn - 1);
	return true;
}

/* True when control comes to the instruction from above; padding that nothing leads to is passed over. */
static bool is_run_into(const struct planner *planner, size_t insn)
{
	while (insn) {
		const struct code_insn *before = &planner->insns[insn - 1];

		if (code_insn_end(before) != planner->insns[insn].address ||
		    code_insn_ends_block(before))
			return false;
		if (!(before->flags & CODE_NOP) ||
		    code_module_is_target(planner->module, before->address))
			return true;
		insn--;
	}
	return false;
}

/* True when only direct jumps of this function lead to the address: *n of them. */
static bool jumps_count(const struct planner *planner, uint64_t address, size_t *n)
{
	const struct code_module *module = planner->module;

	*n = 0;
	if (code_module_marked(module, CODE_MARK_HARD, address) ||
	    code_module_marked(module, CODE_MARK_CALLED, address))
		return false;
	for (size_t i = code_module_edge_at(module, address);
	     i < module->n_edges && module->edges[i].target == address; i++)
		if (module->edges[i].from == CODE_NO_FUNCTION ||
		    module->functions[module->edges[i].from].owner != planner->index)
			return false;
	for (size_t i = 0; i < planner->n_insns; i++) {
		const struct code_insn *insn = &planner->insns[i];

		if (insn->target != address ||
		    (insn->flow != CODE_JUMP && insn->flow != CODE_BRANCH))
			continue;
		if (insn->flags & CODE_IMMOVABLE)
			return false;
		++*n;
	}
	return *n;
}

/* In the order of address, behind an entry at the same. */
static void site_insert(struct planner *planner, const struct planned_site *site)
{
	size_t at = planner->n_sites++;

	for (; at && planner->sites[at - 1].site.address > site->site.address; at--)
		planner->sites[at] = planner->sites[at - 1];
	planner->sites[at] = *site;
}

bool planner_split_exit(struct planner *planner, size_t index)
{
	const struct planned_site exit = planner->sites[index];
	size_t n;

	if (!planner_is_certain_exit(&exit) || planner->function->unknown_jump ||
	    planner->machine != EM_X86_64 || exit.site.address <= planner->entry ||
	    is_run_into(planner, exit.insn) || !jumps_count(planner, exit.site.address, &n) ||
	    planner->n_sites + n > CODE_PLAN_MAX_SITES ||
	    !array_reserve(&planner->sites, &planner->sites_capacity, planner->n_sites + n))
		return false;
	for (size_t i = index; i + 1 < planner->n_sites; i++)
		planner->sites[i] = planner->sites[i + 1];
	planner->n_sites--;
	for (size_t i = 0; i < planner->n_insns; i++) {
		const struct code_insn *insn = &planner->insns[i];
		struct planned_site site = { .site = exit.site, .insn = i, .n_moved = MAX_MOVED };

		if (insn->target != exit.site.address ||
		    (insn->flow != CODE_JUMP && insn->flow != CODE_BRANCH))
			continue;
		site.site.kind =
			insn->flow == CODE_JUMP ? CODE_SITE_TAIL_JUMP : CODE_SITE_TAIL_BRANCH;
		site.site.leaves = false;
		site.site.address = insn->address;
		site.site.target = insn->target;
		site_insert(planner, &site);
	}
	planner->plan->n_patches = planner->plan->n_sites = 0;
	return true;
}

void planner_unshift(struct planner *planner)
{
	for (size_t i = 0; i < planner->n_sites; i++) {
		struct planned_site *site = &planner->sites[i];
		const bool entry = site->site.kind == CODE_SITE_ENTRY;

		if (!site->n_moved)
			continue;
		site_set(planner, site,
			 entry ? site->insn - site->n_moved : site->insn + site->n_moved);
		site->n_moved = 0;
		site->site.sp_bytes = 0;
	}
}
