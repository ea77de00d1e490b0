/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stack machine of DWARF expressions (DWARF 5 section 2.5), as far as call frame information uses
 * it: numbers, registers, memory, arithmetic, branches.
 *
 * Expressions come from files, so steps and stack are bounded; anything else ends the evaluation.
 */
#ifndef ASSAY_SYMBOLIZE_CFI_EXPRESSION_H
#define ASSAY_SYMBOLIZE_CFI_EXPRESSION_H

#include "base/bytes.h"

#define CFI_EXPRESSION_MAX_STEPS 1024
#define CFI_EXPRESSION_MAX_STACK 64

/* What the machine looks at. Both return false when the value is not known. */
struct cfi_machine {
	void *state;
	bool (*register_get)(void *state, uint64_t reg, uint64_t *value);
	bool (*memory_read)(void *state, uint64_t address, unsigned int size, uint64_t *value);
	bool is_64_bit;
};

/* Evaluates; `initial` (may be NULL) is on the stack first, the CFA for register rules. */
bool cfi_expression_evaluate(const struct cfi_machine *machine, struct bytes expression,
			     const uint64_t *initial, uint64_t *result);

#endif
