/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/refusal.h"

struct reason {
	const char *name, *text;
};

static const struct reason reasons[CODE_N_REFUSALS] = {
	[CODE_PLANNED] = { "planned", "can be patched" },
	[CODE_NO_CODE] = { "no-code", "the file holds no code there" },
	[CODE_STUB] = { "stub", "a stub of the procedure linkage table" },
	[CODE_SPECIAL] = { "special", "returns twice or is entered with special registers (setjmp, "
				      "vfork, ...)" },
	[CODE_PART] = { "part", "a split part of another function, patched with that one" },
	[CODE_SHARED_PART] = { "shared-part", "a split part is shared by several functions" },
	[CODE_NOT_A_START] = { "not-a-start",
			       "frame information says that it starts in mid-frame" },
	[CODE_UNDECODABLE] = { "undecodable", "holds bytes that are no known instruction" },
	[CODE_INTO_INSTRUCTION] = { "into-instruction",
				    "a jump leads into the middle of an instruction" },
	[CODE_RUNS_OFF] = { "runs-off", "control can run off its end into what follows" },
	[CODE_SHARED_TAIL] = { "shared-tail", "jumps into the middle of another function" },
	[CODE_JUMP_NOWHERE] = { "jump-nowhere", "jumps to where no function is known" },
	[CODE_ODD_FLOW] = { "odd-flow", "far transfers or interrupt returns" },
	[CODE_UNKNOWN_JUMP] = { "unknown-jump",
				"an indirect jump inside has targets that are not known" },
	[CODE_DAMAGED_LANDINGS] = { "damaged-landings",
				    "its table of landing pads cannot be read" },
	[CODE_RESTARTABLE] = { "restartable", "overlaps a restartable sequence (rseq)" },
	[CODE_MOVING_STACK] = { "moving-stack", "the runtime moves stacks (Go)" },
	[CODE_LOOP_TO_START] = { "loop-to-start",
				 "a jump back to its start cannot be led past the counter" },
	[CODE_ENTRY_TARGET] = { "entry-target",
				"a jump leads into the bytes the entry's patch needs" },
	[CODE_ENTRY_CALL] = { "entry-call", "a call stands in the bytes the entry's patch needs" },
	[CODE_ENTRY_IMMOVABLE] = { "entry-immovable",
				   "an instruction at the entry cannot be moved" },
	[CODE_ENTRY_SHORT] = { "entry-short", "shorter than a patch, and a neighbour follows" },
	[CODE_EXIT_TARGET] = { "exit-target", "a jump leads into the bytes an exit's patch needs" },
	[CODE_EXIT_CALL] = { "exit-call", "a call stands in the bytes an exit's patch needs" },
	[CODE_EXIT_IMMOVABLE] = { "exit-immovable", "an instruction at an exit cannot be moved" },
	[CODE_EXIT_SHORT] = { "exit-short", "an exit is shorter than a patch, and code follows" },
	[CODE_OVERLAP] = { "overlap", "the bytes two patches need overlap" },
	[CODE_FAULTS] = { "faults",
			  "what would be moved can fault, and the program handles faults" },
	[CODE_TOO_LARGE] = { "too-large", "larger than assay analyses, or memory was short" },
};

static const struct reason *reason_of(enum code_refusal refusal)
{
	static const struct reason unknown = { "unknown", "an unknown reason" };

	return (unsigned int)refusal < CODE_N_REFUSALS ? &reasons[refusal] : &unknown;
}

const char *code_refusal_text(enum code_refusal refusal)
{
	return reason_of(refusal)->text;
}

const char *code_refusal_name(enum code_refusal refusal)
{
	return reason_of(refusal)->name;
}
