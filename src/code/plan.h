/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How one function can be patched so that a hook runs at its entry and at each of its exits.
 *
 * A plan is a list of patches. A patch moves a run of instructions into a trampoline and puts a jump in
 * their place; the hooks of its sites run inside the trampoline:
 *
 *	before			after				trampoline
 *	f: push %rbx		f: jmp T			T:  ENTRY hook
 *	   mov %rdi,%rbx	   (dead)			    push %rbx; mov %rdi,%rbx
 *	   sub $16,%rsp		   sub $16,%rsp			    jmp f+4
 *	   ...			   ...
 *	   add $16,%rsp		   jmp U			U:  add $16,%rsp; pop %rbx
 *	   pop %rbx		   (dead)			    RETURN hook
 *	   ret			   (dead)			    ret
 *
 * Hooks of exits run before the exit, when the stack pointer is that of the entry: as the last thing, or a few
 * instructions earlier where only those can move. A moved run may hold several sites, and for tiny functions it
 * is the whole body: one patch at the start.
 *
 * The return address is never touched, calls are never moved. endbr64, bti and paciasp stay in place in
 * front of the entry's patch. Undo is to write the original bytes.
 *
 * What the caller must see to: all threads are stopped for the writes; no thread's pc, and no pc that a
 * signal frame will restore, lies inside (busy_start, busy_end) (busy_start itself is allowed); the live bytes
 * of what is written and moved equal the file's.
 */
#ifndef ASSAY_CODE_PLAN_H
#define ASSAY_CODE_PLAN_H

#include "code/module.h"
#include "code/relocate.h"

#define CODE_PLAN_MAX_SITES   4096u
#define CODE_PLAN_MAX_BODY    512u /* bytes of a function that is moved as a whole */
#define CODE_PATCH_MAX_WINDOW 64u  /* bytes of any other moved run */
#define CODE_PATCH_MAX_WRITES 2u
#define CODE_WRITE_MAX_BYTES  8u

enum code_site_kind {
	CODE_SITE_ENTRY, /* maybe some instructions behind the start, none of which branches or calls */
	CODE_SITE_RETURN,        /* ret, rep ret, ret n, retaa ...: pop_bytes says n */
	CODE_SITE_TAIL_JUMP,     /* direct jump to another function */
	CODE_SITE_TAIL_BRANCH,   /* the same, when taken: the hook runs on the taken path only */
	CODE_SITE_TAIL_INDIRECT, /* an exit only if its target lies outside code_plan_inside() and the
				  * stack pointer has its entry value: the hook must look */
	CODE_SITE_POINT,         /* a point that the user chose */
	CODE_SITE_N_KINDS
};

struct code_site {
	uint64_t address; /* of the instruction that the hook runs before */
	uint64_t exit;    /* of an exit: the instruction that leaves; it may stand behind `address`,
			     * with nothing between that branches, calls or changes the stack pointer */
	uint64_t
		target; /* of a direct tail jump or branch, or of the call that an entry stands at; else 0 */
	uint16_t pop_bytes; /* of a return: what it pops beside the return address */
	uint16_t
		sp_bytes; /* of an entry: how far the stack pointer is below its value at the start;
			     * the hook runs with that value (code_patch_emit sees to it) */
	uint8_t kind;     /* enum code_site_kind */
	bool leaves;      /* of TAIL_INDIRECT: the target lies outside whatever it is */
};

enum code_patch_form {
	CODE_PATCH_JUMP,   /* 5-byte jump (AArch64: 4) at `start` */
	CODE_PATCH_ISLAND, /* 2-byte jump at `start` to a 5-byte jump at `island` */
	CODE_PATCH_RETARGET, /* a jump, branch or call at `start` keeps its place; its displacement changes */
	CODE_PATCH_RETARGET_ISLAND, /* the same with 8 bits of displacement, to a jump at `island` */
};

struct code_patch {
	uint8_t form;    /* enum code_patch_form */
	bool loop;       /* a jump back to the own start: led behind the entry's hook, no hook */
	bool sled;       /* a compiler's sled: nothing that runs was moved */
	bool body;       /* the whole function was moved */
	bool may_fault;  /* a moved instruction can fault */
	uint64_t start;  /* of what is written at the site */
	uint64_t island; /* padding that takes the long jump, 0: none */
	struct code_range
		moved; /* instructions that the trampoline holds; empty for RETARGET forms */
	struct code_range busy;       /* no pc may be strictly inside when bytes are written */
	uint32_t first_site, n_sites; /* in plan->sites */
};

struct code_plan {
	const struct code_module *module; /* borrowed */
	uint32_t function;
	struct code_site *sites; /* by patch, in the order of address */
	uint32_t n_sites, n_exits;
	struct code_patch *patches; /* in the order of start */
	uint32_t n_patches;
	uint32_t entry_patch; /* index of the patch with the entry's hook; of a point: UINT32_MAX */
	uint32_t sites_capacity_, patches_capacity_;
	uint64_t refused_at; /* when refused: the address that did it */
};

struct code_plan_options {
	bool faults_matter; /* the program handles SIGSEGV, SIGBUS, SIGFPE or SIGILL */
	bool entry_only;    /* no exits: mode count */
};

/* Plans the patches of one function. CODE_PLANNED and a plan to release, or why not (then the plan is empty, but
 * for refused_at). Out of memory is CODE_TOO_LARGE. */
enum code_refusal code_plan_make(struct code_plan *plan, const struct code_module *module,
				 uint32_t function, const struct code_plan_options *options);

/* The ranges that an indirect jump may lead to without leaving the function. Its own start is not among
 * them: a jump there (a virtual call of itself, say) runs the entry's hook, so it is an exit, too. Returns how many
 * were written, at most `capacity`; CODE_FUNCTION_MAX_PARTS always suffices. */
size_t code_plan_inside(const struct code_plan *plan, struct code_range *ranges, size_t capacity);

/* Plans one patch with one CODE_SITE_POINT at an instruction of a function. */
enum code_refusal code_plan_point(struct code_plan *plan, const struct code_module *module,
				  uint64_t vaddr, const struct code_plan_options *options);
void code_plan_release(struct code_plan *plan);

/* Which trampoline bytes stand for which original instruction: entry i covers the bytes from its offset to
 * that of entry i + 1. Hooks are listed with the address of the instruction they precede. */
struct code_origin {
	uint64_t address; /* of the original instruction */
	uint32_t offset;  /* in the trampoline */
	bool hook;
};

/* Writes the code of a hook. Called twice per site (to measure and to write): it must append equally many
 * bytes both times. Everything the target can see must survive it, flags and red zone included. The
 * stack pointer on entry of the code is that of the target. */
struct code_hook {
	void *state;
	bool (*append)(void *state, const struct code_plan *plan, const struct code_site *site,
		       struct code_buffer *buffer);
};

enum code_emission {
	CODE_EMITTED,
	CODE_UNREACHABLE, /* what it refers to is too far from the trampoline: take a nearer page */
	CODE_NO_SPACE,    /* the buffer or the array of origins is too small */
	CODE_HOOK_FAILED,
	CODE_IMPOSSIBLE, /* an instruction that cannot be moved: no plan holds one */
};

/* Appends the trampoline of a patch to the buffer: hooks, moved instructions, the jump back. *origins (may be NULL
 * with capacity 0) gets *n_origins entries, in the order of offset from the buffer's size at the call.
 *
 * `resume` is where the entry's trampoline holds its first moved instruction, behind the hook (its origin with
 * `hook` false): jumps back to the function's own start are led there. So the entry's patch, which is
 * plan->patches[plan->entry_patch], is emitted first, with 0. A patch with `loop` and form RETARGET has no
 * trampoline: nothing is appended. */
enum code_emission code_patch_emit(const struct code_plan *plan, const struct code_patch *patch,
				   uint64_t resume, const struct code_hook *hook,
				   struct code_buffer *buffer, struct code_origin *origins,
				   size_t capacity, size_t *n_origins);

struct code_write {
	uint64_t address;
	uint8_t length;
	uint8_t original[CODE_WRITE_MAX_BYTES], bytes[CODE_WRITE_MAX_BYTES];
};

/* What to write into the text so that the patch leads to its trampoline (for a patch with `loop` and
 * form RETARGET: to `resume`). Islands come first: they are to be
 * written before what leads to them. Returns how many writes, 0 when `trampoline` is out of reach. */
size_t code_patch_writes(const struct code_plan *plan, const struct code_patch *patch,
			 uint64_t trampoline, struct code_write writes[CODE_PATCH_MAX_WRITES]);

/* How far a trampoline may be away from a site, in bytes: a page is looked for within it. */
uint64_t code_reach_bytes(uint16_t machine);

#endif
