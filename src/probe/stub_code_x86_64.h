/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machine code of x86-64 stubs under construction: instructions with any register, forward and backward jumps, and the
 * frame of a hook, that is what it saved before it may use a register or write a flag.
 *
 *	nothing			where the code behind the hook overwrites the flags and enough registers
 *				before it reads them (code/liveness.h)
 *	rax, rcx		128 bytes below the target's stack pointer, where it overwrites the flags
 *	rax, rcx, flags		else: lahf and seto hold them in ax
 *
 * Offsets are those of struct agent_block, by the gs base, and of the region (agent/layout.h), relative to rip.
 */
#ifndef ASSAY_PROBE_STUB_CODE_X86_64_H
#define ASSAY_PROBE_STUB_CODE_X86_64_H

#include "code/liveness.h"
#include "probe/stub.h"

#define CODE_MAX_LABELS 12u
#define CODE_MAX_JUMPS  40u
#define RED_ZONE        128u

/* How far the stack pointer is down when the agent is called, beside rax, which the call saves: what it expects
 * (entry_x86_64.S). */
#define DEPTH_INLINE (RED_ZONE + 16u)
#define DEPTH_STATE  (RED_ZONE + 24u)

enum code_label {
	LABEL_OUT,
	LABEL_MINE,
	LABEL_CLAIM,
	LABEL_AGENT,
	LABEL_COUNT,
	LABEL_INSIDE,
	LABEL_LEFT,
	LABEL_END,
	LABEL_AFTER
};

/* Registers by their number in instructions. */
enum code_register { RAX = 0, RCX = 1, RDX = 2, RSP = 4, RSI = 6, RDI = 7, R8 = 8, R11 = 11 };

struct stub_code {
	const struct stub *stub;
	struct code_buffer *buffer;
	struct code_dead dead; /* behind the hook */
	struct {
		size_t at; /* of the displacement */
		enum code_label label;
		bool is_short; /* 8 bits */
	} jumps[CODE_MAX_JUMPS];
	size_t n_jumps;
	size_t labels[CODE_MAX_LABELS];

	/* the open frame */
	bool saved, flags; /* rax and rcx are saved; ax holds the flags */
	uint8_t one, two;  /* what may be used */
	uint32_t bytes;    /* the stack pointer is below the target's */
};

/* Opcodes with a register and an operand in memory, 64 bits wide (…_32: 32) unless said. */
enum code_opcode {
	CODE_ADD = 0x03,    /* register += memory */
	CODE_CMP_TO = 0x39, /* memory - register, for the flags */
	CODE_CMP = 0x3b,    /* register - memory */
	CODE_SUB = 0x2b,    /* register -= memory */
	CODE_STORE = 0x89,  /* memory = register */
	CODE_LOAD = 0x8b,   /* register = memory */
};

#define PUT(code, ...)                                                       \
	code_buffer_append((code)->buffer, (const uint8_t[]){ __VA_ARGS__ }, \
			   sizeof((const uint8_t[]){ __VA_ARGS__ }))

/* Appends the low 32 bits, the lowest byte first. */
void put_u32(struct stub_code *code, uint64_t value);

/* mov %fs:0,reg: the thread pointer */
void put_thread(struct stub_code *code, unsigned int reg);
/* With something of the region; the instruction must end with it. */
void put_region(struct stub_code *code, bool wide, enum code_opcode opcode, unsigned int reg,
		uint64_t offset);
/* With a word at an offset from the gs base, or from where the register in it says. */
void put_block(struct stub_code *code, enum code_opcode opcode, unsigned int reg, size_t offset);
void put_block_at(struct stub_code *code, enum code_opcode opcode, unsigned int reg,
		  unsigned int base, uint8_t offset);
/* An instruction without register on such a word: `extension` of the opcode, and what follows is the caller's. */
void put_block_word(struct stub_code *code, uint8_t opcode, unsigned int extension, size_t offset);
/* lea offset(base),reg */
void put_lea(struct stub_code *code, unsigned int reg, unsigned int base, int32_t offset);

/* jcc or jmp (0), 32 bits */
#define JUMP_ALWAYS   0u
#define JUMP_BELOW    0x82u
#define JUMP_AT_LEAST 0x83u
#define JUMP_ZERO     0x84u
#define JUMP_NONZERO  0x85u
#define JUMP_LESS_EQ  0x8eu
#define JUMP_GREATER  0x8fu
void put_jump(struct stub_code *code, unsigned int condition, enum code_label label);
/* The only jump that asks no flag; forward, at most 127 bytes. */
void put_jump_if_rcx_is_0(struct stub_code *code, enum code_label label);
void put_label(struct stub_code *code, enum code_label label);
void code_jumps_fill(struct stub_code *code);

/* The frame: `n` registers, 1 or 2, may be used until it is closed. */
void put_open(struct stub_code *code, unsigned int n);
/* One register, and no more, could be used without saving anything. */
bool stub_code_spares_one(const struct stub_code *code);
void put_close(struct stub_code *code);

/* call of something in the agent's code */
void put_call(struct stub_code *code, uint32_t entry);
/* Calls the agent for the stub's function from inside the frame: all registers survive. */
void put_agent(struct stub_code *code, uint32_t entry, uint32_t depth);

#endif
