/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row of the unwind table: how the caller's registers are found when execution stands at an address
 * (DWARF 5 section 6.4). Own interpreter of call frame instructions, so that rows can be kept, compared
 * and shared, for every machine on every host.
 */
#ifndef ASSAY_SYMBOLIZE_CFI_ROW_H
#define ASSAY_SYMBOLIZE_CFI_ROW_H

#include "symbolize/fde_table.h"

/* DWARF numbers: x86-64 0-15 and 16 = return address; AArch64 0-30, 31 = sp; i386 0-7 and 8. Vector
 * registers have higher numbers and are not followed. */
#define CFI_N_REGISTERS 33u
#define CFI_MAX_SAVED   32u /* nested DW_CFA_remember_state */
#define CFI_MAX_STEPS   65536u

enum cfi_rule_kind {
	CFI_SAME,          /* also where nothing is said, for registers that calls preserve */
	CFI_UNDEFINED,     /* for the return address: there is no caller */
	CFI_AT_CFA,        /* saved at CFA + offset */
	CFI_CFA_PLUS,      /* its value is CFA + offset */
	CFI_REGISTER,      /* in another register */
	CFI_AT_EXPRESSION, /* saved at the address that the expression gives */
	CFI_IS_EXPRESSION, /* its value is what the expression gives */
};

/* Rows and rules have no padding, so that equal ones are equal bytes. */
struct cfi_rule {
	uint32_t kind; /* enum cfi_rule_kind */
	uint32_t expression_size;
	union {
		int64_t offset;
		uint64_t reg;
		const uint8_t *expression; /* in the section */
	};
};

struct cfi_row {
	struct cfi_rule cfa; /* CFI_CFA_PLUS: cfa_register + offset; CFI_IS_EXPRESSION */
	uint32_t cfa_register;
	uint16_t return_column; /* whose rule gives the return address */
	uint16_t is_signal;     /* the frame was interrupted: its pc is not a return address */
	struct cfi_rule rules[CFI_N_REGISTERS];
};

/* Computes the row at `vaddr`, which lies in `range`; false when the entry is damaged or uses what is not
 * understood. */
bool cfi_row_at(struct cfi_row *row, const struct elf_file *file, const struct fde_table *table,
		const struct fde_range *range, uint64_t vaddr);

#endif
