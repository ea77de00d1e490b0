/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Unwinds a sampled user stack (registers and a copy of the top of the stack) by call frame
 * information, on the host's architecture or another one that elfutils knows (x86-64, AArch64).
 */
#ifndef ASSAY_SYMBOLIZE_UNWIND_H
#define ASSAY_SYMBOLIZE_UNWIND_H

#include "symbolize/symbolizer.h"

#define UNWIND_MAX_FRAMES 1024

enum unwind_end {
	UNWIND_COMPLETE,       /* reached the outermost frame */
	UNWIND_DUMP_EXHAUSTED, /* the copied part of the stack ended: truncated */
	UNWIND_DEPTH,          /* UNWIND_MAX_FRAMES reached: truncated */
	UNWIND_NO_CFI,         /* a module without frame information, or no module */
};

/* The address space at the moment of the sample: which module is mapped at an address. Returns false
 * when nothing is. *load_bias is runtime address minus ELF address. */
struct unwind_space {
	void *state;
	bool (*find)(void *state, struct runtime_address address, struct module **module,
		     uint64_t *load_bias);
};

struct unwind_sample {
	uint16_t machine;     /* EM_X86_64, EM_AARCH64 */
	uint64_t regs_mask;   /* PERF_REG_* of that architecture */
	const uint64_t *regs; /* popcount(mask) values */
	const void *stack;    /* bytes from the stack pointer up */
	uint64_t stack_size;
};

struct unwinder;

/* Fails only for memory. The symbolizer is borrowed: it owns the modules that the walks go through. */
MUST_CHECK enum status unwinder_new(struct unwinder **unwinder, struct symbolizer *symbolizer,
				    struct error *error);
void unwinder_free(struct unwinder *unwinder);

/* Fills addresses[0] = sampled ip, [1] = its return address, ... and returns how many. All but the first
 * are to be looked up one byte lower, as return addresses; for a frame that a signal interrupted, whose
 * address is none, one is added so that the same holds. `stack` holds the bytes in the byte order of the
 * target, which is little-endian. */
size_t unwind(struct unwinder *unwinder, const struct unwind_sample *sample,
	      const struct unwind_space *space, uint64_t *addresses, size_t capacity,
	      enum unwind_end *end);

#endif
