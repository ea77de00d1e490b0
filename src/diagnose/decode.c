/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/decode.h"

#include <elf.h>

size_t decode(uint16_t machine, const uint8_t *code, size_t size, uint64_t address,
	      struct instruction *instructions, size_t capacity)
{
	size_t n = 0, at = 0;

	while (at < size && n < capacity) {
		struct instruction *instruction = &instructions[n];
		const bool good =
			machine == EM_X86_64
				? decode_x86_64(code + at, size - at, address + at, instruction)
			: machine == EM_AARCH64
				? decode_aarch64(code + at, size - at, address + at, instruction)
				: false;

		if (!good)
			break;
		at += instruction->length;
		n++;
	}
	return n;
}
