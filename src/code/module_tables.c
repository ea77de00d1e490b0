/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Jump tables of x86-64, as gcc, clang and hand-written code make them:
 *
 *	relative	lea table(%rip),%b;  movslq (%b,%i,4),%t;  add %b,%t;  jmp *%t
 *	absolute	jmp *table(,%i,8)  or  mov table(,%i,8),%t;  jmp *%t   (fixed addresses)
 *	pointers	lea table(%rip),%b;  jmp *(%b,%i,8)                     (relocated words)
 *
 * Two questions are answered. Which addresses inside the function may the jump lead to? All are marked as targets,
 * rather too many than too few: a relative table is read on until something else that code names begins, or until
 * an entry leads to no instruction. Absolute addresses were marked when data was read. Is the jump certain to
 * stay inside? Then it is no exit; else the hook decides by the target itself.
 *
 * What is left is a jump to a computed address that is no table's: CODE unknown_jump.
 */
#include <Zydis/Zydis.h>
#include <stdlib.h>
#include <string.h>

#include "code/module_state.h"

#define RING        64u /* instructions that are looked back at */
#define MAX_ENTRIES 65536u
#define MAX_DEPTH   4u

struct detail {
	uint64_t address;
	ZydisDecodedInstruction insn;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

struct tables {
	struct code_module *module;
	ZydisDecoder decoder;
	uint32_t function;
	struct detail *ring; /* of RING */
	uint64_t n;          /* instructions seen; the last is ring[(n - 1) % RING] */
};

/* What a register that is jumped through holds. */
enum origin {
	ORIGIN_UNSEEN,   /* set in a block that does not lie before */
	ORIGIN_POINTER,  /* an address that was loaded, passed or returned as it is */
	ORIGIN_TABLE,    /* decoded */
	ORIGIN_COMPUTED, /* anything else */
};

struct table {
	uint64_t base; /* 0: not known */
	uint64_t n;    /* entries, 0: not known */
	ZydisRegister base_register;
};

static const struct detail *back(const struct tables *tables, uint64_t position)
{
	return &tables->ring[position % RING];
}

static uint64_t oldest(const struct tables *tables)
{
	return tables->n > RING ? tables->n - RING : 0;
}

static ZydisRegister whole(ZydisRegister reg)
{
	return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
}

static bool ends_block(const struct detail *detail)
{
	return detail->insn.meta.category == ZYDIS_CATEGORY_UNCOND_BR ||
	       detail->insn.meta.category == ZYDIS_CATEGORY_RET;
}

static bool writes(const struct detail *detail, ZydisRegister reg)
{
	for (unsigned int i = 0; i < detail->insn.operand_count; i++) {
		const ZydisDecodedOperand *operand = &detail->operands[i];

		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) &&
		    whole(operand->reg.value) == reg)
			return true;
	}
	return false;
}

/* The last instruction before `position` that sets the register, in straight line; UINT64_MAX: none. */
static uint64_t setter(const struct tables *tables, uint64_t position, ZydisRegister reg)
{
	for (uint64_t i = position; i-- > oldest(tables);) {
		const struct detail *detail = back(tables, i);

		if (ends_block(detail))
			break;
		if (writes(detail, reg) || detail->insn.meta.category == ZYDIS_CATEGORY_CALL)
			return i;
	}
	return UINT64_MAX;
}

static bool is_register(const ZydisDecodedOperand *operand)
{
	return operand->type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool is_data_lea(const struct detail *detail, uint64_t *address)
{
	const ZydisDecodedOperand *memory = &detail->operands[1];

	if (detail->insn.mnemonic != ZYDIS_MNEMONIC_LEA || memory->mem.base != ZYDIS_REGISTER_RIP)
		return false;
	*address = detail->address + detail->insn.length + (uint64_t)memory->mem.disp.value;
	return true;
}

/* How many values the index can have, by the check before: cmp $n,%i; ja  or  and $n,%i. 0: not seen. */
static uint64_t index_count(const struct tables *tables, uint64_t position, ZydisRegister index)
{
	ZydisMnemonic after = ZYDIS_MNEMONIC_INVALID;

	for (uint64_t i = position; i-- > oldest(tables);) {
		const struct detail *detail = back(tables, i);
		const ZydisDecodedOperand *to = &detail->operands[0], *from = &detail->operands[1];
		const bool same = detail->insn.operand_count > 1 && is_register(to) &&
				  whole(to->reg.value) == index;
		const bool constant = from->type == ZYDIS_OPERAND_TYPE_IMMEDIATE;

		if (ends_block(detail))
			return 0;
		if (same && constant && detail->insn.mnemonic == ZYDIS_MNEMONIC_CMP) {
			if (after == ZYDIS_MNEMONIC_JNBE)
				return from->imm.value.u + 1;
			return after == ZYDIS_MNEMONIC_JNB ? from->imm.value.u : 0;
		}
		if (same && constant && detail->insn.mnemonic == ZYDIS_MNEMONIC_AND &&
		    from->imm.value.u < MAX_ENTRIES)
			return from->imm.value.u + 1;
		if (writes(detail, index)) {
			const bool copy = detail->insn.mnemonic == ZYDIS_MNEMONIC_MOV ||
					  detail->insn.mnemonic == ZYDIS_MNEMONIC_MOVZX ||
					  detail->insn.mnemonic == ZYDIS_MNEMONIC_MOVSXD;

			if (!same || !copy || !is_register(from))
				return 0;
			index = whole(from->reg.value);
		}
		if (detail->insn.meta.category == ZYDIS_CATEGORY_COND_BR)
			after = detail->insn.mnemonic;
	}
	return 0;
}

/* The load movslq (%b,%i,4),%t that set `reg` before `position`, with %b the other summand. */
static bool relative_load(const struct tables *tables, uint64_t position, ZydisRegister reg,
			  ZydisRegister other, struct table *table)
{
	const uint64_t at = setter(tables, position, reg);
	const struct detail *load = at == UINT64_MAX ? NULL : back(tables, at);
	const ZydisDecodedOperand *memory = load ? &load->operands[1] : NULL;
	uint64_t base_at;

	if (!load || load->insn.mnemonic != ZYDIS_MNEMONIC_MOVSXD ||
	    memory->type != ZYDIS_OPERAND_TYPE_MEMORY || memory->mem.base != other ||
	    memory->mem.index == ZYDIS_REGISTER_NONE || memory->mem.scale != 4 ||
	    memory->mem.disp.value)
		return false;
	*table = (struct table){ .base_register = other };
	base_at = setter(tables, at, other);
	if (base_at != UINT64_MAX)
		is_data_lea(back(tables, base_at), &table->base);
	table->n = index_count(tables, at, memory->mem.index);
	return true;
}

static enum origin sum_origin(const struct tables *tables, uint64_t position,
			      const struct detail *sum, struct table *table)
{
	ZydisRegister a, b;

	if (sum->insn.mnemonic == ZYDIS_MNEMONIC_ADD && is_register(&sum->operands[0]) &&
	    is_register(&sum->operands[1])) {
		a = sum->operands[0].reg.value;
		b = sum->operands[1].reg.value;
	} else if (sum->insn.mnemonic == ZYDIS_MNEMONIC_LEA && sum->operands[1].mem.scale == 1 &&
		   !sum->operands[1].mem.disp.value) {
		a = sum->operands[1].mem.base;
		b = sum->operands[1].mem.index;
	} else {
		return ORIGIN_COMPUTED;
	}
	return relative_load(tables, position, a, b, table) ||
			       relative_load(tables, position, b, a, table)
		       ? ORIGIN_TABLE
		       : ORIGIN_COMPUTED;
}

/* Where the value of a register before `position` comes from. */
static enum origin register_origin(const struct tables *tables, uint64_t position,
				   ZydisRegister reg, struct table *table, unsigned int depth)
{
	const uint64_t at = setter(tables, position, reg);
	const struct detail *detail = at == UINT64_MAX ? NULL : back(tables, at);
	uint64_t address;

	if (!detail)
		return ORIGIN_UNSEEN;
	if (detail->insn.meta.category == ZYDIS_CATEGORY_CALL)
		return ORIGIN_POINTER;
	switch (detail->insn.mnemonic) {
	case ZYDIS_MNEMONIC_POP: return ORIGIN_POINTER;
	case ZYDIS_MNEMONIC_MOV:
		if (detail->operands[0].size != 64)
			return ORIGIN_COMPUTED;
		if (detail->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER)
			return ORIGIN_POINTER;
		return depth ? register_origin(tables, at, detail->operands[1].reg.value, table,
					       depth - 1)
			     : ORIGIN_COMPUTED;
	case ZYDIS_MNEMONIC_ADD: return sum_origin(tables, at, detail, table);
	case ZYDIS_MNEMONIC_LEA:
		return is_data_lea(detail, &address) ? ORIGIN_POINTER
						     : sum_origin(tables, at, detail, table);
	default:
		if (detail->insn.meta.category != ZYDIS_CATEGORY_CMOV)
			return ORIGIN_COMPUTED;
		if (is_register(&detail->operands[1]) &&
		    (!depth || register_origin(tables, at, detail->operands[1].reg.value, table,
					       depth - 1) != ORIGIN_POINTER))
			return ORIGIN_COMPUTED;
		return depth ? register_origin(tables, at, reg, table, depth - 1) : ORIGIN_COMPUTED;
	}
}

static bool is_named(const struct code_module *module, uint64_t address)
{
	size_t low = 0, high = module->n_data_refs;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->ref_targets[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low < module->n_data_refs && module->ref_targets[low] == address;
}

/* Marks what the relative table leads to; false when one of its certain entries leads to no instruction. */
static bool relative_read(struct tables *tables, uint64_t source, uint64_t base, uint64_t certain)
{
	struct code_module *module = tables->module;

	for (uint64_t i = 0; i < MAX_ENTRIES; i++) {
		const uint8_t *entry = elf_file_at(&module->file, base + 4 * i, 4);
		uint32_t word = 0;
		uint64_t target;

		if (i >= certain && i && is_named(module, base + 4 * i))
			return true;
		if (entry)
			memcpy(&word, entry, sizeof(word));
		target = base + (uint64_t)(int64_t)(int32_t)word;
		if (!entry || !code_module_marked(module, CODE_MARK_BOUNDARY, target))
			return i >= certain;
		if (i < certain || code_module_function_at(module, target) == tables->function ||
		    !code_module_enters_fresh(module, target))
			code_module_lead(module, source, tables->function, target);
		else
			code_module_mark(module, CODE_MARK_HARD, target);
	}
	return certain <= MAX_ENTRIES;
}

/* Every table that the function's code names might be the one. References are in the order of source. */
static void all_relative_read(struct tables *tables, uint64_t source)
{
	const struct code_module *module = tables->module;
	const struct code_range range = module->functions[tables->function].range;
	size_t low = 0, high = module->n_data_refs;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->data_refs[middle].source < range.start)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < module->n_data_refs && module->data_refs[low].source < range.end; low++)
		relative_read(tables, source, module->data_refs[low].target, 0);
}

/* True when all words of a table of addresses are known and lead into the function. */
static bool pointers_stay(struct tables *tables, uint64_t source, uint64_t base, uint64_t n)
{
	struct code_module *module = tables->module;

	if (!base || !n || n > MAX_ENTRIES)
		return false;
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t target = code_module_pointer(module, base + 8 * i);

		if (!target || (code_module_function_at(module, target) != tables->function &&
				code_module_enters_fresh(module, target)))
			return false;
	}
	for (uint64_t i = 0; i < n; i++)
		code_module_lead(module, source, tables->function,
				 code_module_pointer(module, base + 8 * i));
	return true;
}

/* A load of a word: from table(,%i,8) or (%b,%i,8), or from anywhere else. */
static enum code_indirect_kind word_kind(struct tables *tables, uint64_t position,
					 const ZydisDecodedOperand *memory)
{
	const uint64_t source = back(tables, position)->address;
	uint64_t base = 0, at;

	if (memory->type != ZYDIS_OPERAND_TYPE_MEMORY || memory->mem.scale != 8 ||
	    memory->mem.index == ZYDIS_REGISTER_NONE)
		return CODE_INDIRECT_POINTER;
	if (memory->mem.base == ZYDIS_REGISTER_NONE) {
		base = (uint64_t)memory->mem.disp.value;
	} else if (!memory->mem.disp.value) {
		at = setter(tables, position, memory->mem.base);
		if (at == UINT64_MAX || !is_data_lea(back(tables, at), &base))
			return CODE_INDIRECT_OPEN;
	}
	return pointers_stay(tables, source, base, index_count(tables, position, memory->mem.index))
		       ? CODE_INDIRECT_TABLE
		       : CODE_INDIRECT_OPEN;
}

static enum code_indirect_kind table_kind(struct tables *tables, uint64_t source,
					  const struct table *table)
{
	struct code_function *function = &tables->module->functions[tables->function];

	if (table->base && table->n <= MAX_ENTRIES &&
	    relative_read(tables, source, table->base, table->n))
		return CODE_INDIRECT_TABLE;
	if (table->base)
		function->unknown_jump = true;
	else
		all_relative_read(tables, source);
	return table->base ? CODE_INDIRECT_OPEN : CODE_INDIRECT_TABLE;
}

/* The jump is the last instruction seen. */
static enum code_indirect_kind jump_kind(struct tables *tables)
{
	struct code_function *function = &tables->module->functions[tables->function];
	const uint64_t position = tables->n - 1;
	const struct detail *jump = back(tables, position);
	const ZydisDecodedOperand *operand = &jump->operands[0];
	struct table table = { .base = 0 };
	uint64_t at;

	if (!is_register(operand))
		return word_kind(tables, position, operand);
	switch (register_origin(tables, position, operand->reg.value, &table, MAX_DEPTH)) {
	case ORIGIN_TABLE: return table_kind(tables, jump->address, &table);
	case ORIGIN_POINTER:
		at = setter(tables, position, operand->reg.value);
		if (back(tables, at)->insn.mnemonic == ZYDIS_MNEMONIC_MOV)
			return word_kind(tables, at, &back(tables, at)->operands[1]);
		return CODE_INDIRECT_POINTER;
	case ORIGIN_UNSEEN:
		all_relative_read(tables, jump->address);
		function->unknown_jump |= function->names_inside;
		return CODE_INDIRECT_OPEN;
	case ORIGIN_COMPUTED: break;
	}
	all_relative_read(tables, jump->address);
	function->unknown_jump = true;
	return CODE_INDIRECT_OPEN;
}

/* Reads a function that holds indirect jumps, from index `first` on; returns the index behind its last. */
static size_t function_read(struct tables *tables, size_t first)
{
	struct code_module *module = tables->module;
	const struct code_range range = module->functions[tables->function].range;
	uint64_t at = range.start;
	size_t next = first;

	tables->n = 0;
	while (at < range.end && next < module->n_indirects) {
		struct detail *detail = &tables->ring[tables->n % RING];
		const uint8_t *bytes = code_module_bytes(module, at, range.end - at);

		if (!bytes ||
		    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&tables->decoder, bytes, range.end - at,
							 &detail->insn, detail->operands))) {
			at++;
			continue;
		}
		detail->address = at;
		tables->n++;
		if (at == module->indirects[next].address) {
			module->indirects[next].kind = (uint8_t)jump_kind(tables);
			next++;
			if (next == module->n_indirects ||
			    module->indirects[next].function != tables->function)
				break;
		}
		at += detail->insn.length;
	}
	return next;
}

static int u64_compare(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool refs_sort(struct code_module *module)
{
	module->ref_targets = malloc((module->n_data_refs + 1) * sizeof(uint64_t));
	if (!module->ref_targets)
		return false;
	for (size_t i = 0; i < module->n_data_refs; i++)
		module->ref_targets[i] = module->data_refs[i].target;
	qsort(module->ref_targets, module->n_data_refs, sizeof(uint64_t), u64_compare);
	return true;
}

static void indirects_read(struct tables *tables)
{
	struct code_module *module = tables->module;
	size_t i = 0;

	while (i < module->n_indirects) {
		size_t behind = i;

		tables->function = module->indirects[i].function;
		if (tables->function != CODE_NO_FUNCTION)
			behind = function_read(tables, i);
		/* a piece behind a nested function is not followed: its jumps stay open */
		for (; behind < module->n_indirects &&
		       module->indirects[behind].function == tables->function;
		     behind++)
			if (tables->function != CODE_NO_FUNCTION)
				module->functions[tables->function].unknown_jump = true;
		i = behind > i ? behind : i + 1;
	}
}

void code_tables_read(struct code_module *module)
{
	struct tables tables = { .module = module };

	if (module->file.machine != EM_X86_64) {
		code_tables_read_aarch64(module);
		return;
	}
	tables.ring = malloc(RING * sizeof(*tables.ring));
	if (!tables.ring || !refs_sort(module) ||
	    !ZYAN_SUCCESS(ZydisDecoderInit(&tables.decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)))
		module->no_memory = true;
	else
		indirects_read(&tables);
	free(tables.ring);
}

enum code_indirect_kind code_module_indirect(const struct code_module *module, uint64_t vaddr)
{
	size_t low = 0, high = module->n_indirects;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->indirects[middle].address < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < module->n_indirects && module->indirects[low].address == vaddr
		       ? module->indirects[low].kind
		       : CODE_INDIRECT_OPEN;
}
