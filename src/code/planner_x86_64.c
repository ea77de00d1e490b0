/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * x86-64: which bytes each site's jump takes.
 *
 * Sites are placed in the order of address. A window is a straight run of instructions around the site: as few
 * before it as do, and after it what its 5 bytes still cover: further instructions, or padding when the run has
 * ended. Nothing may jump behind its first byte. Where a window meets the one before, the two become one patch with
 * several sites. Where 5 bytes cannot be had, 2 may do, with a jump in padding nearby (islands).
 *
 *	call rel32		where the entry's hook may run there: only the displacement changes
 *	jmp rel32, jcc rel32	only the displacement changes, nothing is moved (jcc: the hook runs when taken)
 */
#include "code/planner.h"

#define RETURN_BYTES 8u

struct window {
	size_t first, last;  /* instructions */
	uint64_t start, end; /* of the moved run */
	bool may_fault, sled;
};

static bool is_entry(const struct planned_site *site)
{
	return site->site.kind == CODE_SITE_ENTRY || site->site.kind == CODE_SITE_POINT;
}

static bool follows(const struct planner *planner, size_t insn)
{
	return insn + 1 < planner->n_insns &&
	       planner->insns[insn + 1].address == code_insn_end(&planner->insns[insn]);
}

static bool only_nops(const struct planner *planner, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		if (!(planner->insns[i].flags & CODE_NOP))
			return false;
	return true;
}

/* The compiler left all of it for patches, what runs there included; it aligns its sleds by a nop. */
static bool is_sled(const struct planner *planner, const struct window *window)
{
	const uint64_t last = planner->insns[window->last].address;
	const struct code_sled *sled = code_module_sled_at(planner->module, last);
	size_t i = window->first;

	if (!sled || window->end > sled->address + sled->bytes)
		return false;
	while (i < window->last && planner->insns[i].address < sled->address &&
	       (planner->insns[i].flags & CODE_NOP))
		i++;
	return planner->insns[i].address >= sled->address;
}

/* The run from `first` over `through` with room for `wanted` bytes. CODE_EXIT_*: why not. */
static enum code_refusal window_try(const struct planner *planner, size_t first, size_t through,
				    uint64_t wanted, struct window *window)
{
	const struct code_insn *start = &planner->insns[first];
	const bool one_only = planner->function->unknown_jump;
	size_t i = first;

	*window = (struct window){ .first = first, .start = start->address };
	for (;; i++) {
		const struct code_insn *insn = &planner->insns[i];
		const enum code_refusal refusal = planner_movable(planner, insn);
		uint64_t length;

		if (refusal)
			return refusal;
		if (i > first && one_only)
			return CODE_UNKNOWN_JUMP;
		if (i > first && code_module_is_target(planner->module, insn->address))
			return CODE_EXIT_TARGET;
		if (planner_target_inside(planner, insn->address, code_insn_end(insn)))
			return CODE_EXIT_TARGET;
		window->may_fault |= planner_may_fault(planner, insn);
		window->last = i;
		window->end = code_insn_end(insn);
		length = window->end - window->start;
		if (i >= through && length >= wanted)
			break;
		if (code_insn_ends_block(insn)) {
			if (i < through)
				return CODE_EXIT_TARGET; /* the site is not reached from above */
			if (length + planner_padding(planner, window->end, wanted - length) <
			    wanted)
				return CODE_EXIT_SHORT;
			break;
		}
		if (!follows(planner, i))
			return CODE_EXIT_SHORT;
	}
	if (window->end - window->start > CODE_PATCH_MAX_WINDOW)
		return CODE_TOO_LARGE;
	window->sled = only_nops(planner, first, window->last) || is_sled(planner, window);
	return CODE_PLANNED;
}

uint64_t planner_occupied_end(const struct code_patch *patch)
{
	const uint64_t written =
		patch->start + (patch->form == CODE_PATCH_JUMP ? JUMP_BYTES : SHORT_BYTES);
	uint64_t end = patch->busy.end;

	if (patch->form == CODE_PATCH_JUMP || patch->form == CODE_PATCH_ISLAND)
		end = written > end ? written : end;
	return end;
}

static const struct code_patch *last_patch(const struct planner *planner)
{
	return planner->plan->n_patches ? &planner->plan->patches[planner->plan->n_patches - 1]
					: NULL;
}

/* Sites whose instruction lies in the window, from `first` on. */
static size_t sites_inside(const struct planner *planner, size_t first, uint64_t end)
{
	size_t n = 0;

	while (first + n < planner->n_sites && planner->sites[first + n].site.address < end)
		n++;
	return n;
}

static enum code_refusal window_add_sites(struct planner *planner, const struct window *window,
					  enum code_patch_form form, size_t first_site, size_t n)
{
	const struct code_patch patch = {
		.form = (uint8_t)form,
		.start = window->start,
		.moved = { window->start, window->end },
		.busy = { window->start, window->end },
		.may_fault = window->may_fault,
		.sled = window->sled,
	};

	return planner_add_patch(planner, patch, first_site, n);
}

static enum code_refusal window_add(struct planner *planner, const struct window *window,
				    enum code_patch_form form, size_t first_site, size_t *n_sites)
{
	*n_sites = sites_inside(planner, first_site, window->end);
	return window_add_sites(planner, window, form, first_site, *n_sites);
}

/* The first site of the patch that was placed last. */
static size_t first_site_of_last(const struct planner *planner, size_t before)
{
	const uint64_t start = last_patch(planner)->start;

	while (before && planner->sites[before - 1].site.address >= start)
		before--;
	return before;
}

/* The window of a site that begins no earlier than `limit`, of at least `wanted` bytes; with as few
 * instructions before the site as do. */
static enum code_refusal window_find(const struct planner *planner, size_t insn, uint64_t limit,
				     uint64_t wanted, bool backwards, struct window *window)
{
	enum code_refusal first = CODE_PLANNED, refusal;

	for (size_t start = insn;; start--) {
		refusal = window_try(planner, start, insn, wanted, window);
		if (refusal == CODE_PLANNED || !backwards)
			return refusal;
		if (planner->function->unknown_jump)
			return refusal == CODE_EXIT_SHORT ? CODE_UNKNOWN_JUMP : refusal;
		if (!first || first == CODE_EXIT_SHORT)
			first = refusal;
		if (planner->insns[insn].address - planner->insns[start].address >
		    CODE_PATCH_MAX_WINDOW)
			return first;
		if (code_module_is_target(planner->module, planner->insns[start].address))
			return CODE_EXIT_TARGET; /* it would be inside the next longer window */
		if (!start || !follows(planner, start - 1))
			return first;
		if (planner->insns[start - 1].address < limit)
			return CODE_OVERLAP;
		if (code_insn_ends_block(&planner->insns[start - 1]))
			return CODE_EXIT_TARGET;
	}
}

static enum code_refusal reason_of(enum code_refusal refusal, bool entry)
{
	if (!entry)
		return refusal;
	switch (refusal) {
	case CODE_EXIT_TARGET: return CODE_ENTRY_TARGET;
	case CODE_EXIT_CALL: return CODE_ENTRY_CALL;
	case CODE_EXIT_IMMOVABLE: return CODE_ENTRY_IMMOVABLE;
	case CODE_EXIT_SHORT: return CODE_ENTRY_SHORT;
	default: return refusal;
	}
}

/* One patch from the start of the last one over this site. */
static enum code_refusal merge_try(struct planner *planner, size_t site, struct window *window,
				   size_t *first_site)
{
	const struct code_patch *last = last_patch(planner);
	size_t insn;
	enum code_refusal refusal;

	if (!last)
		return CODE_OVERLAP;
	insn = planner_insn_at(planner, last->start);
	if (insn == NO_INSN)
		return CODE_OVERLAP;
	refusal = window_try(planner, insn, planner->sites[site].insn, JUMP_BYTES, window);
	if (refusal == CODE_PLANNED)
		*first_site = first_site_of_last(planner, site);
	return refusal;
}

/* The entry's hook at a call: its displacement leads to the hook, its return address is pushed where it was. */
static bool is_entry_call(const struct planner *planner, const struct planned_site *site)
{
	if (site->site.kind != CODE_SITE_ENTRY || planner->insns[site->insn].flow != CODE_CALL ||
	    site->site.sp_bytes + RETURN_BYTES > PLANNER_MAX_SP_BYTES)
		return false;
	for (size_t i = 0; i < planner->n_sites; i++)
		if (planner->sites[i].loop)
			return false;
	return true;
}

/* A long direct jump or branch needs no window. */
static bool can_retarget(const struct planner *planner, const struct planned_site *site)
{
	const struct code_insn *insn = &planner->insns[site->insn];
	const bool direct = insn->flow == CODE_BRANCH || (insn->flow == CODE_JUMP && site->loop);

	if (is_entry_call(planner, site))
		return true;
	return site->site.kind != CODE_SITE_POINT && site->site.kind != CODE_SITE_ENTRY && direct &&
	       !(insn->flags & CODE_SHORT);
}

static enum code_refusal retarget_add(struct planner *planner, size_t site,
				      enum code_patch_form form)
{
	const struct code_insn *insn = &planner->insns[planner->sites[site].insn];
	const struct code_patch patch = {
		.form = (uint8_t)form,
		.start = insn->address,
		.moved = { insn->address, insn->address },
		.busy = { insn->address, code_insn_end(insn) },
	};

	enum code_refusal refusal = planner_add_patch(planner, patch, site, 1);

	if (refusal == CODE_PLANNED && insn->flow == CODE_CALL) {
		struct code_site *entry = &planner->plan->sites[planner->plan->n_sites - 1];

		entry->target = insn->target;
		entry->sp_bytes = (uint16_t)(entry->sp_bytes + RETURN_BYTES);
	}
	return refusal;
}

/* Two bytes and an island: for a short branch its displacement alone. */
static enum code_refusal island_try(struct planner *planner, size_t site, uint64_t limit,
				    size_t *n_sites)
{
	const struct planned_site *at = &planner->sites[site];
	const struct code_insn *insn = &planner->insns[at->insn];
	struct window window;
	enum code_refusal refusal;

	if (insn->flow == CODE_BRANCH && !is_entry(at) && (insn->flags & CODE_SHORT) && !at->loop) {
		*n_sites = 1;
		return retarget_add(planner, site, CODE_PATCH_RETARGET_ISLAND);
	}
	refusal = window_find(planner, at->insn, limit, SHORT_BYTES, !is_entry(at), &window);
	if (refusal)
		return refusal;
	return window_add(planner, &window, CODE_PATCH_ISLAND, site, n_sites);
}

/* A run that ends where the exit's hook belongs: what follows stays in place, and is gone to from the hook. */
static enum code_refusal before_try(struct planner *planner, size_t site, uint64_t limit,
				    size_t *n_sites)
{
	const struct planned_site *at = &planner->sites[site];
	const struct code_insn *last = &planner->insns[at->insn] - 1;
	struct window window;

	*n_sites = 1;
	if (!planner_is_certain_exit(at) || planner->function->unknown_jump || !at->insn ||
	    !follows(planner, at->insn - 1) || code_insn_ends_block(last) ||
	    code_module_is_target(planner->module, at->site.address))
		return CODE_EXIT_TARGET;
	for (size_t start = at->insn - 1; planner->insns[start].address >= limit; start--) {
		enum code_refusal refusal = window_try(planner, start, at->insn - 1, 0, &window);
		const uint64_t length = window.end - window.start;

		if (refusal)
			return refusal;
		if (length >= JUMP_BYTES)
			break;
		if (!start || !follows(planner, start - 1) ||
		    code_insn_ends_block(&planner->insns[start - 1]) ||
		    code_module_is_target(planner->module, window.start) ||
		    planner->insns[start - 1].address < limit) {
			if (length < SHORT_BYTES)
				return CODE_EXIT_SHORT;
			break;
		}
	}
	if (planner->insns[at->insn - 1].address < limit)
		return CODE_OVERLAP;
	return window_add_sites(planner, &window,
				window.end - window.start >= JUMP_BYTES ? CODE_PATCH_JUMP
									: CODE_PATCH_ISLAND,
				site, 1);
}

/* The same, where the patch before ends there already. */
static enum code_refusal join_try(struct planner *planner, size_t site)
{
	const struct planned_site *at = &planner->sites[site];
	const uint32_t n = planner->plan->n_patches;
	struct code_patch last;
	size_t first;

	if (!n || !planner_is_certain_exit(at) || planner->function->unknown_jump || !at->insn ||
	    !follows(planner, at->insn - 1) ||
	    code_insn_ends_block(&planner->insns[at->insn - 1]) ||
	    code_module_is_target(planner->module, at->site.address))
		return CODE_EXIT_TARGET;
	last = planner->plan->patches[n - 1];
	if (last.moved.end != at->site.address || last.moved.start == last.moved.end ||
	    last.n_sites == 0)
		return CODE_OVERLAP;
	first = first_site_of_last(planner, site);
	if (site - first != last.n_sites) /* a loop is among them */
		return CODE_OVERLAP;
	planner_drop_patch(planner);
	return planner_add_patch(planner, last, first, site - first + 1);
}

static enum code_refusal site_place(struct planner *planner, size_t site, size_t *n_sites)
{
	const struct planned_site *at = &planner->sites[site];
	const struct code_patch *last = last_patch(planner);
	const uint64_t limit = last ? planner_occupied_end(last) : 0;
	enum code_refusal refusal, merged;
	struct window window;
	size_t first = site;

	*n_sites = 1;
	if (can_retarget(planner, at))
		return retarget_add(planner, site, CODE_PATCH_RETARGET);
	refusal =
		planner->insns[at->insn].address < limit
			? CODE_OVERLAP
			: window_find(planner, at->insn, limit, JUMP_BYTES, !is_entry(at), &window);
	if (refusal == CODE_PLANNED)
		return window_add(planner, &window, CODE_PATCH_JUMP, site, n_sites);
	merged = merge_try(planner, site, &window, &first);
	if (merged == CODE_PLANNED) {
		planner_drop_patch(planner);
		refusal = window_add(planner, &window, CODE_PATCH_JUMP, first, n_sites);
		*n_sites -= site - first;
		return refusal;
	}
	if (planner->insns[at->insn].address >= limit &&
	    (island_try(planner, site, limit, n_sites) == CODE_PLANNED ||
	     before_try(planner, site, limit, n_sites) == CODE_PLANNED))
		return CODE_PLANNED;
	*n_sites = 1;
	if (join_try(planner, site) == CODE_PLANNED)
		return CODE_PLANNED;
	planner->blamed = site;
	return planner_refuse(planner,
			      at->loop ? CODE_LOOP_TO_START : reason_of(refusal, is_entry(at)),
			      at->site.address);
}

enum code_refusal planner_place_x86_64(struct planner *planner)
{
	enum code_refusal refusal;
	size_t n;

	for (size_t i = 0; i < planner->n_sites; i += n) {
		refusal = site_place(planner, i, &n);
		if (refusal)
			return refusal;
		if (!n)
			return planner_refuse(planner, CODE_OVERLAP,
					      planner->sites[i].site.address);
	}
	return planner_islands(planner);
}
