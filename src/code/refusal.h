/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Why a function is not patched. A function is patched completely or not at all; each reason is one row of
 * the table in docs/probes.md.
 */
#ifndef ASSAY_CODE_REFUSAL_H
#define ASSAY_CODE_REFUSAL_H

enum code_refusal {
	CODE_PLANNED = 0, /* not refused */
	CODE_NO_CODE,     /* no bytes in the file, or no code at the address */
	CODE_STUB,        /* a stub of the procedure linkage table */
	CODE_SPECIAL,     /* returns twice, or is entered with special registers: a list of names */
	CODE_PART,        /* a split part: it is patched with the function it belongs to */
	CODE_SHARED_PART, /* it, or a part of it, is shared by several functions */
	CODE_NOT_A_START, /* frame information says that it is entered in mid-frame */
	CODE_UNDECODABLE, /* bytes that are no known instruction */
	CODE_INTO_INSTRUCTION, /* a jump into the middle of an instruction */
	CODE_RUNS_OFF,         /* control can run off its end into what follows */
	CODE_SHARED_TAIL,      /* it jumps into the middle of another function */
	CODE_JUMP_NOWHERE,     /* it jumps to where no function is known */
	CODE_ODD_FLOW,         /* far transfers, iret */
	CODE_UNKNOWN_JUMP,     /* an indirect jump whose targets inside are not known */
	CODE_DAMAGED_LANDINGS, /* its table of landing pads cannot be read */
	CODE_RESTARTABLE,      /* overlaps a restartable sequence (rseq) */
	CODE_MOVING_STACK,     /* a runtime that moves stacks (Go) */
	CODE_LOOP_TO_START,    /* a jump back to its start that cannot be led past the counter */
	CODE_ENTRY_TARGET,     /* something jumps into the bytes that the entry's patch needs */
	CODE_ENTRY_CALL,       /* a call stands in the bytes that the entry's patch needs */
	CODE_ENTRY_IMMOVABLE,  /* an instruction that cannot be moved stands there */
	CODE_ENTRY_SHORT,      /* it is shorter than a patch, and a neighbour follows at once */
	CODE_EXIT_TARGET,      /* the same for an exit */
	CODE_EXIT_CALL,
	CODE_EXIT_IMMOVABLE,
	CODE_EXIT_SHORT,
	CODE_OVERLAP,   /* the bytes that two patches need overlap */
	CODE_FAULTS,    /* only by moving what can fault, in a program that handles faults */
	CODE_TOO_LARGE, /* a named maximum of assay */
	CODE_N_REFUSALS
};

/* The reason in words; for any value, never NULL. */
const char *code_refusal_text(enum code_refusal refusal);

/* The reason as one word with dashes, for JSON and tables ("entry-target"); never NULL. */
const char *code_refusal_name(enum code_refusal refusal);

#endif
