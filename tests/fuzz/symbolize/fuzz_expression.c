/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as the expression of an unwind rule: evaluated within its bounds, or refused. */
#include "symbolize/cfi_expression.h"

static bool register_get(void *state, uint64_t reg, uint64_t *value)
{
	(void)state;
	*value = reg * 4096;
	return reg < 17;
}

static bool memory_read(void *state, uint64_t address, unsigned int size, uint64_t *value)
{
	(void)state;
	*value = address ^ size;
	return address % 3 != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct cfi_machine machine = {
		.register_get = register_get,
		.memory_read = memory_read,
		.is_64_bit = size % 2,
	};
	const uint64_t cfa = 0x7fff0000;
	uint64_t result;

	(void)!cfi_expression_evaluate(&machine, bytes_of(data, size, false), NULL, &result);
	(void)!cfi_expression_evaluate(&machine, bytes_of(data, size, true), &cfa, &result);
	return 0;
}
