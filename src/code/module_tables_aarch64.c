/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jump tables of AArch64, as gcc and clang make them (both in position-independent code, too):
 *
 *	gcc	ldrb|ldrh|ldr %e, [%t, %i, uxtw #n];  adr %b, anchor;  add %x, %b, %e, sxtb|sxth|sxtw #2;  br %x
 *	clang	ldrb|ldrh %e, [%t, %i, lsl #n];       adr %b, anchor;  add %x, %b, %e, lsl #2;             br %x
 *		ldrsw %e, [%t, %i, lsl #2];           add %x, %t, %e;                                      br %x
 *	words	ldr %x, [%t, %i, lsl #3];  br %x      (relocated)
 *
 * with %t an address in data (adrp, add), set before or once in the whole function. A jump is that of a table, and no
 * exit, only if all is proven: where the table is, how many entries it has (cmp, b.hi and the like, a mask, or the
 * width of what was loaded as the index), and that each leads to an instruction inside. Every other jump may lead anywhere,
 * and its hook looks at the target when it runs.
 * Proofs go backwards from the jump (trail_aarch64.h).
 *
 * Encodings: Arm Architecture Reference Manual (DDI 0487), chapter C4.
 */
#include <stdlib.h>
#include <string.h>

#include "code/trail_aarch64.h"

#define MAX_DEPTH   4u
#define MAX_ENTRIES 65536u
#define MAX_WAYS    8u /* into a place, of what an index is followed along */
#define MAX_JOINS   4u /* that it is followed through */
#define MAX_LOOKS \
	(UINT64_C(1) << 24) /* instructions and entries that are looked at in one module */

struct table {
	uint64_t base, anchor, count;
	uint32_t load,
		add; /* the instructions that read an entry and make an address of it; add 0: it is one */
};

/* Said too often by vector instructions and calls. */
static bool may_write_flags(const struct code_insn *insn, uint32_t w)
{
	const unsigned int op0 = w >> 25 & 15;

	if (insn->flow != CODE_NEXT)
		return insn->flow != CODE_BRANCH;
	if ((op0 & 5) == 4)
		return false;
	if (op0 >> 1 == 5) /* msr, svc */
		return !(insn->flags & (CODE_NOP | CODE_LANDING)) && (w & 0xfff00000) != 0xd5300000;
	if (op0 >> 1 == 4) /* of immediates: adds, subs; ands */
		return (w & 0x3f000000) == 0x31000000 || (w & 0x7f800000) == 0x72000000;
	if ((w & 0x1f000000) == 0x0a000000) /* ands, bics */
		return (w >> 29 & 3) == 3;
	return (op0 & 7) != 5 || (w >> 29 & 1);
}

/* movz w|x: a constant that is compared with */
static bool constant_of(struct code_trail *trail, uint64_t at, unsigned int reg, uint64_t *value)
{
	bool passed;
	const uint64_t from = trail_setter(trail, at, reg, &passed);
	const uint32_t w = from == TRAIL_NONE ? 0 : trail_word(trail, from);

	*value = w >> 5 & 0xffff;
	return from != TRAIL_NONE && (w & 0x7fe00000) == 0x52800000;
}

/* mov reg, from; ...; the compare at `at`: both hold the same there */
static bool is_copy(struct code_trail *trail, uint64_t at, unsigned int reg, unsigned int from)
{
	bool passed;
	const uint64_t made = trail_setter(trail, at, reg, &passed);
	const uint32_t w = made == TRAIL_NONE ? 0 : trail_word(trail, made);

	if ((w & 0x7fe0ffe0) != 0x2a0003e0 || trail_rm(w) != from || made > at)
		return false;
	for (uint64_t between = made + 4; between < at; between += 4) {
		const uint8_t flow = trail_insn(trail, between).flow;

		if ((flow != CODE_NEXT && flow != CODE_BRANCH) ||
		    trail_writes(trail_word(trail, between), from))
			return false;
	}
	return true;
}

/* How many values the register can have where the branch led, by its compare; 0: that says nothing of it. *wide: all of
 * its 64 bits were compared. */
static uint64_t compared_count(struct code_trail *trail, uint64_t at, bool taken, unsigned int reg,
			       bool *wide)
{
	const uint32_t branch = trail_word(trail, at);
	const unsigned int condition = branch & 15;
	const bool below = condition == (taken ? 3 : 2);   /* lo, or not hs */
	const bool at_most = condition == (taken ? 9 : 8); /* ls, or not hi */
	uint64_t limit;

	if ((branch & 0xff000010) != 0x54000000 || (!below && !at_most))
		return 0;
	for (unsigned int i = 0; i < TRAIL_MAX_BACK && trail_step_back(trail, &at, &taken); i++) {
		const uint32_t w = trail_word(trail, at);
		const struct code_insn insn = trail_insn(trail, at);

		if (!may_write_flags(&insn, w)) {
			if (trail_writes(w, reg))
				return 0;
			continue;
		}
		*wide = w >> 31;
		if ((w & 0x7f80001f) == 0x7100001f) /* cmp rn, #n */
			limit = (uint64_t)(w >> 10 & 0xfff) << (w >> 22 & 1 ? 12 : 0);
		else if ((w & 0x7fe0fc1f) != 0x6b00001f || /* cmp rn, rm */
			 !constant_of(trail, at, trail_rm(w), &limit))
			return 0;
		if (trail_rn(w) != reg && !is_copy(trail, at, reg, trail_rn(w)))
			return 0;
		return limit + at_most;
	}
	return 0;
}

/* The result's upper half is zero. */
static bool is_narrow(uint32_t w)
{
	const unsigned int op0 = w >> 25 & 15, opc = w >> 22 & 3;

	if ((op0 & 5) == 4) /* one general register is loaded, as 32 bits or fewer */
		return ((w & 0x3f000000) == 0x39000000 || (w & 0x3f200c00) == 0x38200800 ||
			(w & 0x3f200000) == 0x38000000) &&
		       (opc == 3 || (opc == 1 && w >> 30 < 3));
	return (op0 >> 1 == 4 || (op0 & 7) == 5) && !(w >> 31) && (w & 0x1f000000) != 0x10000000;
}

/* How many values what the instruction makes can have: a mask, a field of bits, a small load. 0: any. */
static uint64_t made_count(uint32_t w)
{
	const unsigned int immr = w >> 16 & 63, imms = w >> 10 & 63;

	/* and, with ones at the bottom: elements as wide as the register */
	if ((w & 0x7f800000) == 0x12000000 && !immr && (w >> 31 || !(imms & 32)) &&
	    w >> 31 == (w >> 22 & 1))
		return UINT64_C(2) << imms;
	if ((w & 0x7f800000) == 0x53000000 && imms >= immr) /* ubfx, lsr, uxtb, uxth */
		return UINT64_C(2) << (imms - immr);
	if (is_narrow(w) && (w >> 25 & 5) == 4 && (w >> 22 & 3) == 1 && w >> 30 < 2)
		return w >> 30 ? 65536 : 256; /* ldrh, ldrb */
	return 0;
}

/* The register that is copied, TRAIL_SP when none is; *whole is left only by a copy of all 64 bits. */
static unsigned int copied(uint32_t w, bool *whole)
{
	if ((w & 0xffe0ffe0) == 0xaa0003e0) /* mov xd, xm */
		return trail_rm(w);
	*whole = false;
	if ((w & 0xffe0ffe0) == 0x2a0003e0) /* mov wd, wm */
		return trail_rm(w);
	return (w & 0xfffffc00) == 0x93407c00 ? trail_rn(w) : TRAIL_SP; /* sxtw xd, wn */
}

/* What an index is known of on one way back: the register, whether all 64 bits of it are the index, and how many values
 * its low half has, 0 as long as that is not known. */
struct index {
	unsigned int reg;
	bool whole;
	uint64_t count;
};

/* The instruction at `at` came before, by its jump if `taken`: true when `index` says all that there is to say, with
 * count 0 when that is nothing. */
static bool index_follow(struct code_trail *trail, uint64_t at, bool taken, struct index *index)
{
	const uint32_t w = trail_word(trail, at);
	const uint8_t flow = trail_insn(trail, at).flow;
	bool wide = false;

	if (flow == CODE_BRANCH) {
		if (!index->count)
			index->count = compared_count(trail, at, taken, index->reg, &wide);
		return index->count && (wide || !index->whole);
	}
	if (flow != CODE_NEXT && flow != CODE_JUMP) {
		index->count = 0;
		return true;
	}
	if (!trail_writes(w, index->reg))
		return false;
	if (trail_rd(w) != index->reg) {
		index->count = 0;
		return true;
	}
	if (index->count) {
		index->count = is_narrow(w) ? index->count : 0;
		return true;
	}
	index->count = made_count(w);
	index->reg = copied(w, &index->whole);
	return index->count || index->reg == TRAIL_SP;
}

/* How many values the index has before the instruction at `at`, the most that any way there allows; 0: not proven. */
static uint64_t index_count(struct code_trail *trail, uint64_t at, struct index index,
			    unsigned int depth)
{
	struct trail_step steps[MAX_WAYS];
	uint64_t most = 0;
	size_t n = 0;

	for (unsigned int i = 0; i < TRAIL_MAX_BACK; i++) {
		if (!trail_before(trail, at, trail->steps) || trail->steps->n > MAX_WAYS)
			return 0;
		n = trail->steps->n;
		if (n > 1)
			break;
		at = trail->steps->from[0].at;
		if (index_follow(trail, at, trail->steps->from[0].taken, &index))
			return index.count;
	}
	if (n < 2 || !depth)
		return 0;
	memcpy(steps, trail->steps->from, n * sizeof(*steps));
	for (size_t i = 0; i < n; i++) {
		struct index one = index;
		const uint64_t count = index_follow(trail, steps[i].at, steps[i].taken, &one)
					       ? one.count
					       : index_count(trail, steps[i].at, one, depth - 1);

		if (!count)
			return 0;
		most = count > most ? count : most;
	}
	return most;
}

/* How extends of the add see a register: uxtb, uxth, uxtw, uxtx, sxtb, ... */
static uint64_t extended(uint64_t value, unsigned int option)
{
	const unsigned int bits = 8u << (option & 3);
	const uint64_t sign = UINT64_C(1) << (bits - 1);

	if (bits == 64)
		return value;
	value &= (sign << 1) - 1;
	return option & 4 ? (value ^ sign) - sign : value;
}

/* What the load leaves in its register. */
static uint64_t loaded(uint32_t load, const uint8_t *entry)
{
	const unsigned int size = load >> 30, opc = load >> 22 & 3;
	uint64_t value = 0;

	for (unsigned int i = 0; i < 1u << size; i++)
		value |= (uint64_t)entry[i] << 8 * i;
	if (opc >= 2)
		value = extended(value, 4 | size);
	return opc == 3 ? value & UINT32_MAX : value;
}

/* Where entry i leads; 0: there is none. */
static uint64_t entry_target(const struct code_trail *trail, const struct table *table, uint64_t i)
{
	const uint64_t at = table->base + (i << (table->load >> 30));
	const uint8_t *entry;
	unsigned int shift = table->add >> 10 & 63, option = 3;

	if (!table->add)
		return code_module_pointer(trail->module, at);
	entry = elf_file_at(&trail->module->file, at, UINT64_C(1) << (table->load >> 30));
	if (!entry)
		return 0;
	if (table->add >> 21 & 1) { /* extended register */
		option = table->add >> 13 & 7;
		shift = table->add >> 10 & 7;
	}
	return table->anchor + (extended(loaded(table->load, entry), option) << shift);
}

/* Marks what the entries lead to when all of them stay inside. */
static bool table_stays(struct code_trail *trail, uint64_t source, const struct table *table)
{
	struct code_module *module = trail->module;

	if (!table->count || table->count > MAX_ENTRIES || !trail_look(trail, table->count))
		return false;
	for (uint64_t i = 0; i < table->count; i++) {
		const uint64_t target = entry_target(trail, table, i);

		if (!target || !code_module_marked(module, CODE_MARK_BOUNDARY, target) ||
		    (code_module_function_at(module, target) != trail->index &&
		     code_module_enters_fresh(module, target)))
			return false;
	}
	for (uint64_t i = 0; i < table->count; i++)
		code_module_lead(module, source, trail->index, entry_target(trail, table, i));
	return true;
}

/* ldr.. %e, [%t, %i, extend #size] at `at`: where the table is and how long. */
static bool load_read(struct code_trail *trail, uint64_t at, struct table *table)
{
	const uint32_t w = trail_word(trail, at);
	const unsigned int option = w >> 13 & 7, size = w >> 30, opc = w >> 22 & 3;

	if ((w & 0x3f200c00) != 0x38200800 || !opc || (size == 3 && opc > 1) ||
	    (size && !(w >> 12 & 1)) || !(option & 2))
		return false;
	table->load = w;
	table->count = index_count(
		trail, at, (struct index){ .reg = trail_rm(w), .whole = option & 1 }, MAX_JOINS);
	return table->count && trail_value(trail, at, trail_rn(w), MAX_DEPTH, &table->base);
}

/* add %x, %b, %e at `at`, with these two. */
static bool sum_read(struct code_trail *trail, uint64_t at, unsigned int base, unsigned int entry,
		     struct table *table)
{
	bool passed;
	const uint64_t load = trail_setter(trail, at, entry, &passed);

	table->add = trail_word(trail, at);
	return load != TRAIL_NONE && trail_rd(trail_word(trail, load)) == entry &&
	       load_read(trail, load, table) &&
	       trail_value(trail, at, base, MAX_DEPTH, &table->anchor);
}

static enum code_indirect_kind sum_kind(struct code_trail *trail, uint64_t source, uint64_t at)
{
	const uint32_t w = trail_word(trail, at);
	struct table table = { 0 };

	if (((w & 0xffe00000) == 0x8b200000 || (w & 0xffe00000) == 0x8b000000) &&
	    sum_read(trail, at, trail_rn(w), trail_rm(w), &table) &&
	    table_stays(trail, source, &table))
		return CODE_INDIRECT_TABLE;
	/* without a shift the two may stand the other way round */
	table = (struct table){ 0 };
	if ((w & 0xffe0fc00) == 0x8b000000 &&
	    sum_read(trail, at, trail_rm(w), trail_rn(w), &table) &&
	    table_stays(trail, source, &table))
		return CODE_INDIRECT_TABLE;
	trail->function->unknown_jump = true;
	return CODE_INDIRECT_OPEN;
}

/* A load of 64 bits: an entry of a table of addresses, or a pointer. */
static enum code_indirect_kind load_kind(struct code_trail *trail, uint64_t source, uint64_t at)
{
	struct table table = { 0 };

	if ((trail_word(trail, at) & 0xffe00c00) != 0xf8600800)
		return CODE_INDIRECT_POINTER;
	return load_read(trail, at, &table) && table_stays(trail, source, &table)
		       ? CODE_INDIRECT_TABLE
		       : CODE_INDIRECT_OPEN;
}

/* An instruction on the way to the jump: true when it decides what kind that is. A copy goes on with its source. */
static bool source_follow(struct code_trail *trail, uint64_t source, uint64_t at, unsigned int *reg,
			  enum code_indirect_kind *kind)
{
	const uint32_t w = trail_word(trail, at);
	const uint8_t flow = trail_insn(trail, at).flow;

	if (flow != CODE_NEXT && flow != CODE_JUMP && flow != CODE_BRANCH) {
		trail->function->unknown_jump |= trail->function->names_inside;
		*kind = CODE_INDIRECT_OPEN;
		return true;
	}
	if (!trail_writes(w, *reg))
		return false;
	if ((w & 0xffe0ffe0) == 0xaa0003e0) { /* mov xd, xm */
		*reg = trail_rm(w);
		return false;
	}
	*kind = trail_loads_word(w, *reg) ? load_kind(trail, source, at)
					  : sum_kind(trail, source, at);
	return true;
}

/* What the register that is jumped through holds before the instruction at `at`: of one kind whatever way control came
 * there, else open. */
static enum code_indirect_kind source_kind(struct code_trail *trail, uint64_t source, uint64_t at,
					   unsigned int reg, unsigned int depth)
{
	enum code_indirect_kind kind = CODE_INDIRECT_OPEN, one;
	struct trail_step steps[MAX_WAYS];
	size_t n = 0;

	for (unsigned int i = 0; i < TRAIL_MAX_BACK; i++) {
		n = 0;
		if (at == trail->start)
			return CODE_INDIRECT_POINTER; /* the caller's */
		if (!trail_before(trail, at, trail->steps) || trail->steps->n > MAX_WAYS)
			break;
		n = trail->steps->n;
		if (n > 1)
			break;
		at = trail->steps->from[0].at;
		if (source_follow(trail, source, at, &reg, &kind))
			return kind;
	}
	if (n < 2 || !depth) {
		trail->function->unknown_jump |= trail->function->names_inside;
		return CODE_INDIRECT_OPEN;
	}
	memcpy(steps, trail->steps->from, n * sizeof(*steps));
	for (size_t i = 0; i < n; i++) {
		unsigned int held = reg;

		if (!source_follow(trail, source, steps[i].at, &held, &one))
			one = source_kind(trail, source, steps[i].at, held, depth - 1);
		if (i && one != kind)
			return CODE_INDIRECT_OPEN;
		kind = one;
	}
	return kind;
}

static enum code_indirect_kind jump_kind(struct code_trail *trail, uint64_t source)
{
	const uint32_t w = trail_word(trail, source);
	enum code_indirect_kind kind;

	if ((w & 0xfffffc1f) != 0xd61f0000) /* signed pointers are no entries of tables */
		return CODE_INDIRECT_POINTER;
	kind = source_kind(trail, source, source, trail_rn(w), MAX_JOINS);
	if (kind == CODE_INDIRECT_OPEN && trail_pointer(trail, source, trail_rn(w), MAX_DEPTH))
		kind = CODE_INDIRECT_POINTER;
	return kind;
}

/* The jumps of one function. */
static void function_read(struct code_trail *trail, struct code_indirect *jumps)
{
	const bool open = trail->bytes && trail_open(trail);

	for (size_t i = 0; i < trail->n_jumps; i++) {
		/* a piece behind a nested function is not followed: its jumps stay open */
		if (open && jumps[i].address >= trail->start && jumps[i].address < trail->end)
			jumps[i].kind = (uint8_t)jump_kind(trail, jumps[i].address);
		else
			trail->function->unknown_jump = true;
	}
	if (trail->bytes)
		trail_close(trail);
}

void code_tables_read_aarch64(struct code_module *module)
{
	struct code_trail trail = { .module = module, .looks = MAX_LOOKS };
	size_t behind;

	trail.steps = malloc(sizeof(*trail.steps));
	if (!trail.steps)
		module->no_memory = true;
	for (size_t i = 0; trail.steps && i < module->n_indirects; i = behind) {
		struct code_indirect *jumps = &module->indirects[i];

		for (behind = i + 1; behind < module->n_indirects &&
				     module->indirects[behind].function == jumps->function;
		     behind++)
			;
		if (jumps->function == CODE_NO_FUNCTION)
			continue;
		trail.index = jumps->function;
		trail.function = &module->functions[trail.index];
		trail.start = trail.function->range.start;
		trail.end = trail.function->range.end & ~UINT64_C(3);
		trail.jumps = jumps;
		trail.n_jumps = behind - i;
		trail.bytes =
			trail.start % 4 == 0 && trail.start < trail.end
				? code_module_bytes(module, trail.start, trail.end - trail.start)
				: NULL;
		function_read(&trail, jumps);
	}
	free(trail.steps);
}
