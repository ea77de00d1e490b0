/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/trail_aarch64.h"

#include <stdlib.h>

struct code_insn trail_insn(const struct code_trail *trail, uint64_t at)
{
	struct code_insn insn;

	if (!code_insn_decode_aarch64(trail->bytes + (at - trail->start), 4, at, &insn))
		insn = (struct code_insn){ .address = at, .length = 4, .flow = CODE_STOP };
	return insn;
}

bool trail_look(struct code_trail *trail, uint64_t n)
{
	if (trail->looks < n)
		return false;
	trail->looks -= n;
	return true;
}

/* Loads and stores that write the general register: as what is loaded, as a base, as a status. */
static bool memory_writes(uint32_t w, unsigned int reg)
{
	const bool loads =
		!(w >> 26 & 1) && (w >> 22 & 3) && trail_rd(w) == reg; /* of one register */
	const unsigned int form = w >> 10 & 3;

	if ((w & 0x3a000000) == 0x28000000) /* pairs: L is bit 22, written back with bit 23 */
		return (!(w >> 26 & 1) && (w >> 22 & 1) &&
			(trail_rd(w) == reg || (w >> 10 & 31) == reg)) ||
		       ((w >> 23 & 1) && trail_rn(w) == reg);
	if ((w & 0x3b000000) == 0x39000000) /* unsigned offset */
		return loads;
	if ((w & 0x3b200c00) == 0x38200800) /* register offset */
		return loads;
	if ((w & 0x3b200000) == 0x38000000) /* unscaled, before, after */
		return loads || ((form & 1) && trail_rn(w) == reg);
	if ((w & 0x3b000000) == 0x18000000) /* literal */
		return !(w >> 26 & 1) && trail_rd(w) == reg;
	if ((w & 0xbe000000) == 0x0c000000) /* structures of vectors */
		return (w >> 23 & 1) && trail_rn(w) == reg;
	return trail_rd(w) == reg || trail_rn(w) == reg || trail_rm(w) == reg ||
	       (w >> 10 & 31) == reg;
}

bool trail_writes(uint32_t w, unsigned int reg)
{
	const unsigned int op0 = w >> 25 & 15;

	if (op0 >> 1 == 5) /* branches; svc; and what reads a system register */
		return (w >> 24 == 0xd4 && !reg) || (w >> 24 == 0xd5 && trail_rd(w) == reg);
	if ((op0 & 5) == 4)
		return memory_writes(w, reg);
	/* data processing, immediates, vectors; SVE and SME are not told apart */
	return op0 == 0 || op0 == 2 || trail_rd(w) == reg;
}

static int way_compare(const void *a, const void *b)
{
	const struct trail_way *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

static bool is_call(const struct code_insn *insn)
{
	return insn->flow == CODE_CALL || insn->flow == CODE_CALL_INDIRECT;
}

/* Marked before any table of the function was read, and by no address that is held: where exceptions land. */
static void pads_find(struct code_trail *trail)
{
	const struct code_module *module = trail->module;

	for (uint64_t at = trail->start + 4; at < trail->end; at += 4) {
		const struct code_insn before = trail_insn(trail, at - 4);

		if (code_module_marked(module, CODE_MARK_HARD, at) &&
		    !code_module_marked(module, CODE_MARK_TAKEN, at) && !is_call(&before))
			trail->has_pads = true;
	}
}

bool trail_open(struct code_trail *trail)
{
	struct code_module *module = trail->module;
	const size_t n_words = (size_t)(trail->end - trail->start) / 4;
	size_t n = 0;

	trail->ways = NULL;
	trail->n_ways = 0;
	trail->has_pads = false;
	if (!trail_look(trail, n_words + module->n_edges))
		return false;
	/* room for each instruction to jump, and for what comes from elsewhere */
	trail->ways = malloc((n_words + module->n_edges + 1) * sizeof(*trail->ways));
	if (!trail->ways)
		return false;
	for (uint64_t at = trail->start; at < trail->end; at += 4) {
		const struct code_insn insn = trail_insn(trail, at);

		if ((insn.flow == CODE_JUMP || insn.flow == CODE_BRANCH) &&
		    insn.target >= trail->start && insn.target < trail->end)
			trail->ways[n++] = (struct trail_way){ insn.target, at };
	}
	for (size_t i = 0; i < module->n_edges; i++)
		if (module->edges[i].target > trail->start &&
		    module->edges[i].target < trail->end && module->edges[i].from != trail->index)
			trail->ways[n++] =
				(struct trail_way){ module->edges[i].target, TRAIL_NONE };
	qsort(trail->ways, n, sizeof(*trail->ways), way_compare);
	trail->n_ways = n;
	pads_find(trail);
	return true;
}

void trail_close(struct code_trail *trail)
{
	free(trail->ways);
	trail->ways = NULL;
}

static size_t way_at(const struct code_trail *trail, uint64_t to)
{
	size_t low = 0, high = trail->n_ways;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (trail->ways[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool trail_before(struct code_trail *trail, uint64_t at, struct trail_steps *steps)
{
	const struct code_module *module = trail->module;
	bool indirect, falls, names_itself;
	struct code_insn before;

	steps->n = 0;
	if (at <= trail->start || !trail_look(trail, 1) ||
	    code_module_marked(module, CODE_MARK_CALLED, at))
		return false;
	before = trail_insn(trail, at - 4);
	falls = !code_insn_ends_block(&before);
	if (falls)
		steps->from[steps->n++] = (struct trail_step){ at - 4, false };
	for (size_t i = way_at(trail, at); i < trail->n_ways && trail->ways[i].to == at; i++) {
		if (trail->ways[i].from == TRAIL_NONE || steps->n == TRAIL_MAX_STEPS)
			return false;
		steps->from[steps->n++] = (struct trail_step){ trail->ways[i].from, true };
	}
	/* clang's tables of words hold distances from the adr that names itself: nothing jumps there */
	names_itself = (trail_word(trail, at) & 0xffffffe0) == 0x10000000;
	indirect = !steps->n ||
		   (!names_itself &&
		    (code_module_marked(module, CODE_MARK_TAKEN, at) ||
		     (code_module_marked(module, CODE_MARK_HARD, at) && !is_call(&before))));
	if (indirect && trail->has_pads)
		return false;
	for (size_t i = 0; indirect && i < trail->n_jumps; i++) {
		const uint64_t from = trail->jumps[i].address;

		if (steps->n == TRAIL_MAX_STEPS || from < trail->start || from >= trail->end)
			return false;
		steps->from[steps->n++] = (struct trail_step){ from, true };
	}
	return steps->n;
}

bool trail_step_back(struct code_trail *trail, uint64_t *at, bool *taken)
{
	struct trail_steps *steps = trail->steps;
	struct code_insn insn;

	if (!trail_before(trail, *at, steps) || steps->n != 1)
		return false;
	*at = steps->from[0].at;
	*taken = steps->from[0].taken;
	insn = trail_insn(trail, *at);
	return !is_call(&insn) && insn.flow != CODE_JUMP_INDIRECT;
}

uint64_t trail_setter(struct code_trail *trail, uint64_t at, unsigned int reg, bool *passed)
{
	bool taken;

	*passed = false;
	for (unsigned int i = 0; i < TRAIL_MAX_BACK; i++) {
		if (at == trail->start) {
			*passed = true;
			return TRAIL_NONE;
		}
		if (!trail_step_back(trail, &at, &taken))
			return TRAIL_NONE;
		if (trail_writes(trail_word(trail, at), reg))
			return at;
	}
	return TRAIL_NONE;
}

/* Where a store with a constant offset from its base writes; false when it is another one. */
static bool store_range(uint32_t w, uint64_t *offset, uint64_t *bytes)
{
	const bool vector = w >> 26 & 1;
	const unsigned int size = w >> 30;

	if ((w & 0x3b400000) == 0x39000000) { /* one register; str q has size 0 and opc 2 */
		*bytes = vector && (w >> 23 & 1) ? 16 : UINT64_C(1) << size;
		*offset = (uint64_t)(w >> 10 & 0xfff) * *bytes;
		return true;
	}
	if ((w & 0x3bc00000) == 0x29000000) { /* a pair: of w, x; s, d, q */
		*bytes = vector ? UINT64_C(8) << size : size ? 16 : 8;
		*offset = (((w >> 15 & 127) ^ 64) - UINT64_C(64)) * (*bytes / 2);
		return true;
	}
	return false;
}

/* True when the instruction may store to the 8 bytes at sp + slot. x29 counts as sp: compilers let it point to the
 * frame's lower end. *reg: what it stores there as a whole, TRAIL_SP when it is not one general register. */
static bool stores_to_slot(uint32_t w, uint64_t slot, unsigned int *reg)
{
	const unsigned int base = trail_rn(w);
	uint64_t at, bytes;

	*reg = TRAIL_SP;
	if ((base != 31 && base != 29) || (w >> 25 & 5) != 4 || (w >> 22 & 1) ||
	    (w & 0x3e800000) == 0x38800000) /* loads: ldr, ldp; ldrs, prfm */
		return false;
	if (store_range(w, &at, &bytes)) {
		if ((w & 0xffc00000) == 0xf9000000 && at == slot) /* str x */
			*reg = trail_rd(w);
		if ((w & 0xffc00000) == 0xa9000000 && at == slot) /* stp x */
			*reg = trail_rd(w);
		if ((w & 0xffc00000) == 0xa9000000 && at + 8 == slot)
			*reg = w >> 10 & 31;
		return at < slot + 8 && slot < at + bytes;
	}
	if ((w & 0x3ac00000) == 0x28800000 || (w & 0x3b200400) == 0x38000400)
		return slot < 16; /* moves sp, and stores where it leads then: the frame's end */
	return true;              /* unscaled offsets and others: not looked at closely */
}

/* The address in a slot of the stack, when all that the function ever stores there is that address: what a compiler had no
 * register for. */
static bool slot_value(struct code_trail *trail, uint64_t slot, unsigned int depth, uint64_t *value)
{
	bool found = false;

	if (!trail_look(trail, (trail->end - trail->start) / 4))
		return false;
	for (uint64_t at = trail->start; at < trail->end; at += 4) {
		unsigned int reg;
		uint64_t one;

		if (!stores_to_slot(trail_word(trail, at), slot, &reg))
			continue;
		if (!trail_value(trail, at, reg, depth, &one) || (found && one != *value))
			return false;
		found = true;
		*value = one;
	}
	return found;
}

/* The address that the instruction puts into its register, by adr, adrp, add, a copy or from the stack. */
static bool made_value(struct code_trail *trail, uint64_t at, unsigned int depth, uint64_t *value)
{
	const uint32_t w = trail_word(trail, at);

	if ((w & 0x1f000000) == 0x10000000) { /* adr, adrp */
		*value = trail_insn(trail, at).operand;
		return true;
	}
	if ((w & 0xff800000) == 0x91000000) { /* add xd, xn, #n{, lsl #12} */
		if (!depth || !trail_value(trail, at, trail_rn(w), depth - 1, value))
			return false;
		*value += (uint64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
		return true;
	}
	if ((w & 0xffe0ffe0) == 0xaa0003e0) /* mov xd, xm */
		return depth && trail_value(trail, at, trail_rm(w), depth - 1, value);
	if ((w & 0xffc003e0) == 0xf94003e0) /* ldr xd, [sp, #n] */
		return depth &&
		       slot_value(trail, UINT64_C(8) * (w >> 10 & 0xfff), depth - 1, value);
	return false;
}

bool trail_loads_word(uint32_t w, unsigned int reg)
{
	if ((w & 0xfe400000) == 0xa8400000 && (w >> 10 & 31) == reg)
		return true;
	return trail_rd(w) == reg &&
	       ((w & 0xffc00000) == 0xf9400000 || (w & 0xffe00000) == 0xf8400000 ||
		(w & 0xffe00c00) == 0xf8600800 || (w & 0xfe400000) == 0xa8400000 ||
		(w & 0xff000000) == 0x58000000);
}

/* A walk over all ways that lead to a place, to what set a register on each. */
struct walk {
	uint64_t *seen;  /* bit per instruction */
	uint64_t *stack; /* addresses whose predecessors are still to be looked at */
	size_t n;
	unsigned int reg, depth;
	bool pointers; /* any pointer will do, the caller's, too; else it must be one address */
	bool found;
	uint64_t value;
};

/* Whether what the instruction makes may be a target of the function's own. */
static bool makes_pointer(struct code_trail *trail, uint64_t at, const struct walk *walk)
{
	const uint32_t w = trail_word(trail, at);
	uint64_t value;

	if (trail_loads_word(w, walk->reg))
		return true;
	if (trail_rd(w) != walk->reg)
		return false;
	if ((w & 0xffe0ffe0) == 0xaa0003e0) /* mov xd, xm */
		return walk->depth && trail_pointer(trail, at, trail_rm(w), walk->depth - 1);
	return made_value(trail, at, walk->depth, &value) &&
	       (value < trail->start || value >= trail->end);
}

/* The instruction, if it sets the register, does so as all others have to: *sets says whether. */
static bool step_agrees(struct code_trail *trail, uint64_t at, struct walk *walk, bool *sets)
{
	const struct code_insn insn = trail_insn(trail, at);
	const uint32_t w = trail_word(trail, at);
	uint64_t one;

	/* a call returns x0 and x1; no other register that it may lose is used behind it */
	*sets = is_call(&insn) ? walk->reg <= 1 : trail_writes(w, walk->reg);
	if (!*sets)
		return true;
	if (walk->pointers)
		return is_call(&insn) || makes_pointer(trail, at, walk);
	if (is_call(&insn) || trail_rd(w) != walk->reg ||
	    !made_value(trail, at, walk->depth, &one) || (walk->found && one != walk->value))
		return false;
	walk->found = true;
	walk->value = one;
	return true;
}

static bool walk_back(struct code_trail *trail, struct walk *walk, uint64_t at)
{
	struct trail_steps steps;
	bool sets;

	walk->stack[walk->n++] = at;
	while (walk->n) {
		at = walk->stack[--walk->n];
		if (!trail_before(trail, at, &steps) && !(walk->pointers && at == trail->start))
			return false;
		for (size_t i = 0; i < steps.n; i++) {
			const uint64_t from = steps.from[i].at;
			const uint64_t bit = (from - trail->start) / 4;

			if (walk->seen[bit / 64] >> bit % 64 & 1)
				continue;
			walk->seen[bit / 64] |= UINT64_C(1) << bit % 64;
			if (!step_agrees(trail, from, walk, &sets))
				return false;
			if (!sets)
				walk->stack[walk->n++] = from;
		}
	}
	return true;
}

static bool walk_all(struct code_trail *trail, struct walk *walk, uint64_t at)
{
	const size_t n_words = (size_t)(trail->end - trail->start) / 4;
	bool known = false;

	if (walk->reg == TRAIL_SP)
		return false;
	walk->seen = calloc(n_words / 64 + 1, sizeof(*walk->seen));
	walk->stack = malloc((n_words + 1) * sizeof(*walk->stack));
	if (walk->seen && walk->stack)
		known = walk_back(trail, walk, at);
	free(walk->seen);
	free(walk->stack);
	return known;
}

bool trail_value(struct code_trail *trail, uint64_t at, unsigned int reg, unsigned int depth,
		 uint64_t *value)
{
	struct walk walk = { .reg = reg, .depth = depth };
	const bool known = walk_all(trail, &walk, at) && walk.found;

	*value = walk.value;
	return known;
}

bool trail_pointer(struct code_trail *trail, uint64_t at, unsigned int reg, unsigned int depth)
{
	struct walk walk = { .reg = reg, .depth = depth, .pointers = true };

	return walk_all(trail, &walk, at);
}
