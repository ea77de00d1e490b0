/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cfi_row.h"

#include <dwarf.h>
#include <string.h>

#include "symbolize/encoded_pointer.h"

/* libdw's dwarf.h of Debian 12 does not know it: AADWARF64, "DW_CFA_AARCH64_negate_ra_state". */
#define CFA_AARCH64_NEGATE_RA_STATE 0x2d

struct program {
	const struct elf_file *file;
	const struct fde_cie *cie;
	struct bytes code;
	uint64_t section_vaddr; /* and start, for DW_CFA_set_loc with pc-relative encoding */
	const uint8_t *section_start;
	uint64_t location, wanted;
	struct cfi_row *row;
	const struct cfi_row *initial; /* what the CIE set up; NULL while it runs */
	struct cfi_row saved[CFI_MAX_SAVED];
	unsigned int n_saved;
	bool failed;
};

static uint64_t uleb(struct program *program)
{
	return bytes_leb128(&program->code, false);
}

static int64_t factored(const struct program *program, uint64_t value)
{
	return (int64_t)(value * (uint64_t)(int64_t)program->cie->cie.data_alignment_factor);
}

static void rule_set(struct program *program, uint64_t reg, struct cfi_rule rule)
{
	if (reg < CFI_N_REGISTERS)
		program->row->rules[reg] = rule;
}

static void rule_restore(struct program *program, uint64_t reg)
{
	if (!program->initial)
		program->failed = true;
	else if (reg < CFI_N_REGISTERS)
		program->row->rules[reg] = program->initial->rules[reg];
}

static void offset_rule(struct program *program, uint64_t reg, uint32_t kind, uint64_t factor)
{
	rule_set(program, reg,
		 (struct cfi_rule){ .kind = kind, .offset = factored(program, factor) });
}

static struct cfi_rule expression_take(struct program *program, uint32_t kind)
{
	const uint64_t size = uleb(program);
	struct cfi_rule rule = { .kind = kind };

	if (size > bytes_left(&program->code)) {
		program->failed = true;
		return rule;
	}
	rule.expression_size = (uint32_t)size;
	rule.expression = bytes_take(&program->code, size);
	return rule;
}

static void cfa_register_set(struct program *program, uint64_t reg)
{
	if (reg >= CFI_N_REGISTERS)
		program->failed = true;
	else
		program->row->cfa_register = (uint32_t)reg;
	program->row->cfa.kind = CFI_CFA_PLUS;
}

static void cfa_offset_set(struct program *program, int64_t offset)
{
	/* An offset alone cannot follow an expression. */
	if (program->row->cfa.kind != CFI_CFA_PLUS)
		program->failed = true;
	program->row->cfa.offset = offset;
}

static void location_advance(struct program *program, uint64_t delta)
{
	program->location += delta * program->cie->cie.code_alignment_factor;
}

static void location_set(struct program *program)
{
	struct encoded_pointer pointer = {
		.is_64_bit = program->file->is_64_bit,
		.vaddr = program->section_vaddr +
			 (uint64_t)(program->code.at - program->section_start),
	};

	if (program->cie->encoding < 0 ||
	    !encoded_pointer_read(&pointer, &program->code, (uint8_t)program->cie->encoding))
		program->failed = true;
	program->location = pointer.value;
}

static void state_remember(struct program *program)
{
	if (program->n_saved == CFI_MAX_SAVED)
		program->failed = true;
	else
		program->saved[program->n_saved++] = *program->row;
}

static void state_restore(struct program *program)
{
	if (!program->n_saved)
		program->failed = true;
	else
		*program->row = program->saved[--program->n_saved];
}

/* Instructions about the CFA. False: not one of them. */
static bool step_cfa(struct program *program, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = uleb(program);
		cfa_register_set(program, reg);
		cfa_offset_set(program, (int64_t)uleb(program));
		break;
	case DW_CFA_def_cfa_sf:
		reg = uleb(program);
		cfa_register_set(program, reg);
		cfa_offset_set(program, factored(program, bytes_leb128(&program->code, true)));
		break;
	case DW_CFA_def_cfa_register:
		if (program->row->cfa.kind != CFI_CFA_PLUS)
			program->failed = true;
		cfa_register_set(program, uleb(program));
		break;
	case DW_CFA_def_cfa_offset: cfa_offset_set(program, (int64_t)uleb(program)); break;
	case DW_CFA_def_cfa_offset_sf:
		cfa_offset_set(program, factored(program, bytes_leb128(&program->code, true)));
		break;
	case DW_CFA_def_cfa_expression:
		program->row->cfa = expression_take(program, CFI_IS_EXPRESSION);
		break;
	default: return false;
	}
	return true;
}

/* Instructions about registers. False: not one of them. */
static bool step_register(struct program *program, uint8_t op)
{
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op > DW_CFA_val_expression)
		return false;
	if (op == DW_CFA_remember_state || op == DW_CFA_restore_state)
		return false;
	reg = uleb(program);
	switch (op) {
	case DW_CFA_offset_extended: offset_rule(program, reg, CFI_AT_CFA, uleb(program)); break;
	case DW_CFA_offset_extended_sf:
		offset_rule(program, reg, CFI_AT_CFA, bytes_leb128(&program->code, true));
		break;
	case DW_CFA_val_offset: offset_rule(program, reg, CFI_CFA_PLUS, uleb(program)); break;
	case DW_CFA_val_offset_sf:
		offset_rule(program, reg, CFI_CFA_PLUS, bytes_leb128(&program->code, true));
		break;
	case DW_CFA_restore_extended: rule_restore(program, reg); break;
	case DW_CFA_undefined:
		rule_set(program, reg, (struct cfi_rule){ .kind = CFI_UNDEFINED });
		break;
	case DW_CFA_same_value:
		rule_set(program, reg, (struct cfi_rule){ .kind = CFI_SAME });
		break;
	case DW_CFA_register:
		rule_set(program, reg,
			 (struct cfi_rule){ .kind = CFI_REGISTER, .reg = uleb(program) });
		break;
	case DW_CFA_expression:
		rule_set(program, reg, expression_take(program, CFI_AT_EXPRESSION));
		break;
	case DW_CFA_val_expression:
		rule_set(program, reg, expression_take(program, CFI_IS_EXPRESSION));
		break;
	default: return false;
	}
	return true;
}

static void step_other(struct program *program, uint8_t op)
{
	const uint8_t *byte;
	uint64_t reg;

	switch (op) {
	case DW_CFA_nop: break;
	case DW_CFA_set_loc: location_set(program); break;
	case DW_CFA_advance_loc1:
		byte = bytes_take(&program->code, 1);
		location_advance(program, byte ? *byte : 0);
		break;
	case DW_CFA_advance_loc2: location_advance(program, bytes_u16(&program->code)); break;
	case DW_CFA_advance_loc4: location_advance(program, bytes_u32(&program->code)); break;
	case DW_CFA_remember_state: state_remember(program); break;
	case DW_CFA_restore_state: state_restore(program); break;
	case DW_CFA_GNU_args_size: uleb(program); break;
	case DW_CFA_GNU_negative_offset_extended:
		reg = uleb(program);
		offset_rule(program, reg, CFI_AT_CFA, 0 - uleb(program));
		break;
	case CFA_AARCH64_NEGATE_RA_STATE:
		/* Whether the return address is signed: its upper bits are dropped anyway. */
		if (program->file->machine != EM_AARCH64)
			program->failed = true;
		break;
	default: program->failed = true;
	}
}

static void step(struct program *program)
{
	const uint8_t *byte = bytes_take(&program->code, 1);
	const uint8_t op = byte ? *byte : 0, low = op & 0x3f;

	switch (op & 0xc0) {
	case DW_CFA_advance_loc: location_advance(program, low); break;
	case DW_CFA_offset: offset_rule(program, low, CFI_AT_CFA, uleb(program)); break;
	case DW_CFA_restore: rule_restore(program, low); break;
	default:
		if (!step_cfa(program, op) && !step_register(program, op))
			step_other(program, op);
	}
}

/* Runs until the location passes the wanted one or the code ends. */
static bool run(struct program *program, const uint8_t *start, const uint8_t *end)
{
	program->code = bytes_of(start, (size_t)(end - start), program->code.swap);
	for (unsigned int steps = 0; bytes_left(&program->code); steps++) {
		if (steps == CFI_MAX_STEPS)
			return false;
		if (program->location > program->wanted)
			return true;
		/* The row in force is the one before the advance that passes `wanted`. */
		step(program);
		if (program->failed || program->code.failed)
			return false;
	}
	return true;
}

/* The instructions of an FDE follow its two pointers and, with 'z', its augmentation data. */
static bool instructions_find(struct program *program, const Dwarf_FDE *fde, const uint8_t **start)
{
	struct bytes bytes =
		bytes_of(fde->start, (size_t)(fde->end - fde->start), program->code.swap);
	struct encoded_pointer pointer = { .is_64_bit = program->file->is_64_bit };
	const uint8_t encoding = (uint8_t)program->cie->encoding;

	if (program->cie->encoding < 0 || !encoded_pointer_read(&pointer, &bytes, encoding) ||
	    !encoded_pointer_read(&pointer, &bytes, encoding & 0x0f))
		return false;
	if (program->cie->has_data) {
		const uint64_t size = bytes_leb128(&bytes, false);

		if (bytes.failed || size > bytes_left(&bytes))
			return false;
		bytes_take(&bytes, size);
	}
	*start = bytes.at;
	return true;
}

bool cfi_row_at(struct cfi_row *row, const struct elf_file *file, const struct fde_table *table,
		const struct fde_range *range, uint64_t vaddr)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(file->elf, NULL);
	const struct fde_bytes *section = &table->sections[range->section];
	struct program program = { .file = file, .row = row };
	const uint8_t *instructions;
	struct cfi_row initial;
	Dwarf_CFI_Entry entry;
	struct fde_cie cie;
	Elf_Data data = section->data;
	Dwarf_Off next;

	if (!ident ||
	    dwarf_next_cfi(ident, &data, range->section == FDE_EH_FRAME, range->offset, &next,
			   &entry) ||
	    dwarf_cfi_cie_p(&entry) ||
	    !fde_cie_read(file, table, range->section, entry.fde.CIE_pointer, &cie))
		return false;
	memset(row, 0, sizeof(*row));
	row->is_signal = cie.is_signal;
	if (cie.cie.return_address_register >= CFI_N_REGISTERS)
		return false;
	row->return_column = (uint16_t)cie.cie.return_address_register;
	program.cie = &cie;
	program.code.swap = file->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	program.section_vaddr = section->vaddr;
	program.section_start = section->data.d_buf;
	program.location = range->start;
	program.wanted = UINT64_MAX;
	if (!instructions_find(&program, &entry.fde, &instructions) ||
	    !run(&program, cie.cie.initial_instructions, cie.cie.initial_instructions_end))
		return false;
	initial = *row;
	program.initial = &initial;
	program.location = range->start;
	program.wanted = vaddr;
	return run(&program, instructions, entry.fde.end);
}
