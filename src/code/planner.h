/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The work of making one plan, for the files of this folder:
 *
 *	planner_read	decodes all ranges of the function, finds its exits, refuses what cannot be known
 *	planner_place	chooses a patch for each site (x86-64: windows, islands; AArch64: one word each)
 *	planner_body	x86-64: moves the whole function instead
 *	planner_shift	puts hooks elsewhere than at the start or the exit
 */
#ifndef ASSAY_CODE_PLANNER_H
#define ASSAY_CODE_PLANNER_H

#include "code/module_state.h"
#include "code/plan.h"

#define JUMP_BYTES  5u /* x86-64: e9 rel32 */
#define SHORT_BYTES 2u /* x86-64: eb rel8 */
#define WORD_BYTES  4u /* AArch64: b */
#define NO_INSN     SIZE_MAX
#define NO_SITE     SIZE_MAX
#define PLANNER_MAX_SP_BYTES \
	128u         /* the red zone: how far an entry's hook may raise the stack pointer */
#define MAX_GAP 256u /* bytes of padding behind a function that are looked at */

/* A site before it has a patch. */
struct planned_site {
	struct code_site site;
	size_t insn;     /* that the hook runs before */
	uint8_t n_moved; /* instructions between it and where it should be */
	bool loop;       /* a jump to the own start, no site for hooks */
};

struct planner {
	const struct code_module *module;
	const struct code_function *function;
	uint32_t index;
	uint16_t machine;
	struct code_plan_options options;
	struct code_plan *plan;

	struct code_range ranges[CODE_FUNCTION_MAX_PARTS]; /* in the order of address */
	size_t n_ranges;
	struct code_insn *insns; /* of all ranges, in the order of address */
	size_t n_insns, insns_capacity;
	struct planned_site
		*sites; /* in the order of address; the entry before an exit at the same */
	size_t n_sites, sites_capacity;

	size_t blamed;      /* the site that found no place, NO_SITE: none that is known */
	uint64_t entry;     /* where the entry's patch goes: behind endbr64, bti, paciasp */
	bool frame_pointer; /* rbp or x29 is set up as one */
	bool no_memory;
};

/* Remembers the address that is to blame, and gives the reason. */
enum code_refusal planner_refuse(struct planner *planner, enum code_refusal refusal,
				 uint64_t address);

enum code_refusal planner_read(struct planner *planner);
enum code_refusal planner_place_x86_64(struct planner *planner);
enum code_refusal planner_body_x86_64(struct planner *planner);
enum code_refusal planner_place_aarch64(struct planner *planner);

/* x86-64: the end of what a patch takes: no other one may write there or move from there. */
uint64_t planner_occupied_end(const struct code_patch *patch);

/* x86-64: finds 5 bytes of padding for each patch that has only room for a short jump. */
enum code_refusal planner_islands(struct planner *planner);

/* True when the site is an exit whatever happens there, so that its hook may run before and elsewhere. */
static inline bool planner_is_certain_exit(const struct planned_site *site)
{
	return !site->loop &&
	       (site->site.kind == CODE_SITE_RETURN || site->site.kind == CODE_SITE_TAIL_JUMP ||
		(site->site.kind == CODE_SITE_TAIL_INDIRECT && site->site.leaves));
}

/* planner_shift: sites that find no place where they belong.
 *
 * Moves the entry's site one instruction down, where that is still the entry: every call and nothing else comes
 * there, with the stack pointer as it was; with `pushes`, as far below as is known. False when it may not move.
 * Patches placed so far are dropped. */
bool planner_defer_entry(struct planner *planner, bool pushes);

/* Moves the site of an exit one instruction up, where control comes to the exit from there and only from there,
 * with the same stack pointer. */
bool planner_advance_exit(struct planner *planner, size_t site);

/* Replaces the site of an exit that only direct jumps lead to by one at each of these. */
bool planner_split_exit(struct planner *planner, size_t site);

/* Puts the sites back where they belong. */
void planner_unshift(struct planner *planner);

/* The range of the function that holds the address, NULL when none does. */
const struct code_range *planner_range_at(const struct planner *planner, uint64_t address);

/* The instruction that starts at the address, NO_INSN when none does. */
size_t planner_insn_at(const struct planner *planner, uint64_t address);

/* Whether an instruction may be moved into a trampoline. CODE_PLANNED, or CODE_EXIT_CALL, CODE_EXIT_IMMOVABLE,
 * CODE_FAULTS. */
enum code_refusal planner_movable(const struct planner *planner, const struct code_insn *insn);

/* Whether it can fault there. */
bool planner_may_fault(const struct planner *planner, const struct code_insn *insn);

/* True when control may come to an address in (start, end), both excluded, other than from above. */
bool planner_target_inside(const struct planner *planner, uint64_t start, uint64_t end);

/* Bytes of dead padding from the address on, at most `wanted`: nothing but nops that no target stands in, inside
 * the range behind an instruction that ends a block, or behind the range up to the next function. */
uint64_t planner_padding(const struct planner *planner, uint64_t start, uint64_t wanted);

/* True when the jump leads back to where the function begins. */
static inline bool planner_is_own_start(const struct planner *planner, uint64_t target)
{
	return target >= planner->function->range.start && target <= planner->entry;
}

/* Appends a patch that holds the sites [first, first + n) of planner->sites: those that are no loops become
 * sites of the plan. CODE_TOO_LARGE when memory is short. */
enum code_refusal planner_add_patch(struct planner *planner, struct code_patch patch, size_t first,
				    size_t n);

/* Takes the last patch back, with its sites. */
void planner_drop_patch(struct planner *planner);

#endif
