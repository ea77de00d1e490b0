/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64: where what an instruction finds in a register comes from, told backwards along all ways that control can
 * have come: from above, by the direct jumps of the function, by its indirect ones to addresses that are held, or
 * to which nothing else leads. Where another function may lead there, or an exception, nothing is told.
 *
 * Part of reading jump tables (module_tables_aarch64.c). Encodings: Arm Architecture Reference Manual (DDI 0487),
 * chapter C4.
 */
#ifndef ASSAY_CODE_TRAIL_AARCH64_H
#define ASSAY_CODE_TRAIL_AARCH64_H

#include "code/module_state.h"

#define TRAIL_MAX_BACK  64u  /* instructions of a question that follows one way */
#define TRAIL_MAX_STEPS 512u /* ways into one place */
#define TRAIL_NONE      UINT64_MAX
#define TRAIL_SP        31u /* sp or zr: a register that is no other's copy */

/* An instruction that control came from; taken: by its jump. */
struct trail_step {
	uint64_t at;
	bool taken;
};

struct trail_steps {
	struct trail_step from[TRAIL_MAX_STEPS];
	size_t n;
};

/* A direct jump; `from` is TRAIL_NONE where it is another function's. */
struct trail_way {
	uint64_t to, from;
};

/* One function. Addresses are multiples of 4 in [start, end). What stands before trail_open()'s is to be filled in. */
struct code_trail {
	struct code_module *module;
	struct code_function *function;
	uint32_t index;
	uint64_t start, end; /* of the function's own range */
	const uint8_t *bytes;
	const struct code_indirect *jumps; /* the function's indirect ones */
	size_t n_jumps;
	struct trail_steps *steps; /* scratch */
	uint64_t
		looks; /* at instructions that are left to answer with: hostile code is not searched for ever */
	/* trail_open() */
	struct trail_way *ways; /* by `to` */
	size_t n_ways;
	bool has_pads; /* exceptions may land inside */
};

/* Learns where the function's jumps lead, before any of its tables is read. False when it is too large, or memory is
 * short: then nothing is told. To be closed in either case. */
bool trail_open(struct code_trail *trail);
void trail_close(struct code_trail *trail);

/* The fields Rd or Rt, Rn, Rm. */
static inline unsigned int trail_rd(uint32_t w)
{
	return w & 31;
}

static inline unsigned int trail_rn(uint32_t w)
{
	return w >> 5 & 31;
}

static inline unsigned int trail_rm(uint32_t w)
{
	return w >> 16 & 31;
}

static inline uint32_t trail_word(const struct code_trail *trail, uint64_t at)
{
	const uint8_t *b = trail->bytes + (at - trail->start);

	return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

/* The instruction at the address, decoded; one that stops where there is none. */
struct code_insn trail_insn(const struct code_trail *trail, uint64_t at);

/* Takes `n` looks; false when so many are not left. */
bool trail_look(struct code_trail *trail, uint64_t n);

/* Whether the instruction may write the general register: rather said too often. Calls are not asked. */
bool trail_writes(uint32_t w, unsigned int reg);

/* All instructions from which control may come to `at`; false when they are not known. */
bool trail_before(struct code_trail *trail, uint64_t at, struct trail_steps *steps);

/* Goes to the instruction from which control came to *at; *taken: by its jump. False when it may be several, or a
 * call. */
bool trail_step_back(struct code_trail *trail, uint64_t *at, bool *taken);

/* The instruction that set the register before the one at `at`; TRAIL_NONE: not known. *passed: none since the function's
 * start, so that it is the caller's. */
uint64_t trail_setter(struct code_trail *trail, uint64_t at, unsigned int reg, bool *passed);

/* The address that the register holds before the instruction at `at`, whatever way control came there: by adr, adrp, add
 * and copies, at most `depth` of them. */
bool trail_value(struct code_trail *trail, uint64_t at, unsigned int reg, unsigned int depth,
		 uint64_t *value);

/* True when the register holds, whatever way control came there, what was loaded, passed or returned as it is, or an
 * address outside the function. */
bool trail_pointer(struct code_trail *trail, uint64_t at, unsigned int reg, unsigned int depth);

/* Whether the instruction loads 64 bits into the register: ldr x, ldp x, ldr x literal. */
bool trail_loads_word(uint32_t w, unsigned int reg);

#endif
