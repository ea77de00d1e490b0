/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/signal_frame.h"

#include <string.h>

#include "symbolize/unwind_registers.h"

bool signal_frame_is(const struct elf_file *file, uint64_t vaddr)
{
	/* mov $15,%rax; syscall, and with the 32-bit mov */
	static const uint8_t x86_64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t x86_64_short[] = { 0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	/* mov x8,#139; svc #0 */
	static const uint8_t aarch64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };
	const uint8_t *code;

	if (file->machine == EM_X86_64) {
		code = elf_file_at(file, vaddr, sizeof(x86_64));
		if (code && !memcmp(code, x86_64, sizeof(x86_64)))
			return true;
		code = elf_file_at(file, vaddr, sizeof(x86_64_short));
		return code && !memcmp(code, x86_64_short, sizeof(x86_64_short));
	}
	code = file->machine == EM_AARCH64 ? elf_file_at(file, vaddr, sizeof(aarch64)) : NULL;
	return code && !memcmp(code, aarch64, sizeof(aarch64));
}

/* On x86-64 the handler's return has popped the trampoline's address: sp points at the ucontext, whose
 * registers start at 40: r8-r15 rdi rsi rbp rbx rdx rax rcx rsp rip. */
static int64_t x86_64_offset(int reg)
{
	static const int8_t place[16] = { 13, 12, 14, 11, 9, 8, 10, 15, 0, 1, 2, 3, 4, 5, 6, 7 };

	if (reg == MACHINE_PC)
		return 40 + 8 * 16;
	return reg < 16 ? 40 + 8 * place[reg] : -1;
}

static int64_t aarch64_offset(int reg)
{
	const int64_t registers = 304 + 8;

	if (reg == MACHINE_PC)
		return registers + 8 * 32;
	return reg < 32 ? registers + 8 * reg : -1;
}

int64_t signal_frame_offset(uint16_t machine, int reg)
{
	switch (machine) {
	case EM_X86_64: return x86_64_offset(reg);
	case EM_AARCH64: return aarch64_offset(reg);
	default: return -1;
	}
}
