/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stubs of AArch64. Encodings: Arm Architecture Reference Manual (DDI 0487), chapter C6.
 *
 *	count		stp x16, x17, [sp, #-160]!; stp x14, x15, [sp, #16]
 *			enabled? this thread's block, by the table of agent/slots.h? below the cap?	else out
 *			stadd #1, [calls]
 *			(every N: ldadd #-1, [countdown], at 0 open a frame)
 *			x14-x17 and sp back
 *	time		stp x16, x30, [sp, #-160]!, then a call into the agent, which does the rest
 *
 * No flag is written: comparisons are subtractions whose result is tested for zero or for its sign. Words that a
 * signal handler of the same thread may change, too, are added to by one instruction (LSE), or by a pair that
 * begins anew when it was interrupted (ldxr, stxr).
 */
#include "probe/stub.h"

#include <elf.h>
#include <stddef.h>

#include "agent/slots.h"

#define STUB_MAX_JUMPS  40u
#define STUB_MAX_RANGES 16u /* of a function with an indirect exit */
#define FRAME           160
#define SIGN            63u
#define PAGE_MASK       UINT64_C(0xfff)

enum { X14 = 14, X15, X16, X17, X30 = 30, SP = 31, ZR = 31 };

enum label {
	LABEL_OUT,
	LABEL_CLAIM,
	LABEL_MINE,
	LABEL_CALL,
	LABEL_AGAIN,
	LABEL_COUNT,
	LABEL_INSIDE,
	LABEL_END,
	N_LABELS
};

/* Code under construction; forward branches are filled in at the end. */
struct writer {
	const struct stub *stub;
	struct code_buffer *buffer;
	struct {
		size_t at;
		enum label label;
	} jumps[STUB_MAX_JUMPS];
	size_t n_jumps;
	size_t labels[N_LABELS];
};

static void put(struct writer *w, uint32_t word)
{
	const uint8_t bytes[] = { (uint8_t)word, (uint8_t)(word >> 8), (uint8_t)(word >> 16),
				  (uint8_t)(word >> 24) };

	code_buffer_append(w->buffer, bytes, sizeof(bytes));
}

static void put_jump(struct writer *w, uint32_t word, enum label label)
{
	if (w->n_jumps == STUB_MAX_JUMPS) {
		w->buffer->full = true;
		return;
	}
	w->jumps[w->n_jumps].at = w->buffer->size;
	w->jumps[w->n_jumps++].label = label;
	put(w, word);
}

static void put_label(struct writer *w, enum label label)
{
	w->labels[label] = w->buffer->size;
}

/* The field of a branch for this distance in words: by its opcode 26, 19 or 14 bits. */
static uint32_t branch_field(uint32_t word, int64_t words)
{
	if ((word & 0x7c000000) == 0x14000000)
		return (uint32_t)words & 0x3ffffff;
	if ((word & 0x7e000000) == 0x36000000)
		return ((uint32_t)words & 0x3fff) << 5;
	return ((uint32_t)words & 0x7ffff) << 5;
}

static void jumps_fill(struct writer *w)
{
	for (size_t i = 0; i < w->n_jumps && !w->buffer->full; i++) {
		const size_t at = w->jumps[i].at;
		uint8_t *bytes = w->buffer->bytes + at;
		uint32_t word = (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 |
				(uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;

		word |= branch_field(word,
				     ((int64_t)w->labels[w->jumps[i].label] - (int64_t)at) / 4);
		bytes[0] = (uint8_t)word, bytes[1] = (uint8_t)(word >> 8);
		bytes[2] = (uint8_t)(word >> 16), bytes[3] = (uint8_t)(word >> 24);
	}
	w->n_jumps = 0;
}

static void put_cbz(struct writer *w, unsigned int reg, enum label label)
{
	put_jump(w, 0xb4000000 | reg, label);
}

static void put_cbnz(struct writer *w, unsigned int reg, enum label label)
{
	put_jump(w, 0xb5000000 | reg, label);
}

static void put_if_negative(struct writer *w, unsigned int reg, enum label label)
{
	put_jump(w, 0xb7000000 | (SIGN & 31) << 19 | reg, label); /* tbnz */
}

static void put_if_not_negative(struct writer *w, unsigned int reg, enum label label)
{
	put_jump(w, 0xb6000000 | (SIGN & 31) << 19 | reg, label); /* tbz */
}

static void put_b(struct writer *w, enum label label)
{
	put_jump(w, 0x14000000, label);
}

static void put_bl(struct writer *w, uint64_t offset)
{
	const int64_t distance = (int64_t)(w->stub->region + offset - code_buffer_here(w->buffer));

	if (distance < -(INT64_C(1) << 27) || distance >= INT64_C(1) << 27)
		w->buffer->unreachable = true;
	put(w, 0x94000000 | ((uint32_t)(distance >> 2) & 0x3ffffff));
}

/* Pairs of 64-bit registers: at sp + offset, or with sp moved by it before or after. */
static uint32_t pair(uint32_t opcode, unsigned int a, unsigned int b, int offset)
{
	return opcode | ((uint32_t)(offset / 8) & 0x7f) << 15 | b << 10 | SP << 5 | a;
}

static void put_store_pair(struct writer *w, unsigned int a, unsigned int b, int offset)
{
	put(w, pair(0xa9000000, a, b, offset));
}

static void put_load_pair(struct writer *w, unsigned int a, unsigned int b, int offset)
{
	put(w, pair(0xa9400000, a, b, offset));
}

static void put_push_pair(struct writer *w, unsigned int a, unsigned int b, int size)
{
	put(w, pair(0xa9800000, a, b, -size));
}

static void put_pop_pair(struct writer *w, unsigned int a, unsigned int b, int size)
{
	put(w, pair(0xa8c00000, a, b, size));
}

static void put_load(struct writer *w, unsigned int to, unsigned int base, uint64_t offset)
{
	put(w, 0xf9400000 | (uint32_t)(offset / 8) << 10 | base << 5 | to);
}

static void put_load_word(struct writer *w, unsigned int to, unsigned int base, uint64_t offset)
{
	put(w, 0xb9400000 | (uint32_t)(offset / 4) << 10 | base << 5 | to);
}

static void put_store(struct writer *w, unsigned int from, unsigned int base, uint64_t offset)
{
	put(w, 0xf9000000 | (uint32_t)(offset / 8) << 10 | base << 5 | from);
}

static void put_add(struct writer *w, unsigned int to, unsigned int a, unsigned int b)
{
	put(w, 0x8b000000 | b << 16 | a << 5 | to);
}

static void put_sub(struct writer *w, unsigned int to, unsigned int a, unsigned int b)
{
	put(w, 0xcb000000 | b << 16 | a << 5 | to);
}

static void put_add_constant(struct writer *w, unsigned int to, unsigned int from,
			     uint32_t constant)
{
	put(w, 0x91000000 | constant << 10 | from << 5 | to);
}

static void put_sub_constant(struct writer *w, unsigned int to, unsigned int from,
			     uint32_t constant)
{
	put(w, 0xd1000000 | constant << 10 | from << 5 | to);
}

/* 32 bits, zero extended: movz, movk */
static void put_constant(struct writer *w, unsigned int to, uint32_t value)
{
	put(w, 0x52800000 | (value & 0xffff) << 5 | to);
	if (value >> 16)
		put(w, 0x72a00000 | value >> 16 << 5 | to);
}

static void put_minus_one(struct writer *w, unsigned int to)
{
	put(w, 0x92800000 | to); /* movn */
}

/* adrp of a place that begins a page; else with the add of its low bits */
static void put_address(struct writer *w, unsigned int to, uint64_t target)
{
	const uint64_t here = code_buffer_here(w->buffer);
	const int64_t pages = (int64_t)((target & ~PAGE_MASK) - (here & ~PAGE_MASK)) >> 12;
	const uint32_t field = (uint32_t)pages & 0x1fffff;

	if (pages < -(INT64_C(1) << 20) || pages >= INT64_C(1) << 20)
		w->buffer->unreachable = true;
	put(w, 0x90000000 | (field & 3) << 29 | field >> 2 << 5 | to);
	if (target & PAGE_MASK)
		put_add_constant(w, to, to, (uint32_t)(target & PAGE_MASK));
}

/* Adds 1 or -1 to the word at [x15]; x16 = its new value; x14 is used. */
static void put_atomic_add(struct writer *w, bool up)
{
	if (w->stub->atomics) {
		if (up)
			put_constant(w, X16, 1);
		else
			put_minus_one(w, X16);
		put(w, 0xf8200000 | X16 << 16 | X15 << 5 | X14); /* ldadd x16, x14, [x15] */
		put_add(w, X16, X14, X16);
		return;
	}
	put(w, 0xc85f7c00 | X15 << 5 | X16); /* ldxr x16, [x15] */
	if (up)
		put_add_constant(w, X16, X16, 1);
	else
		put_sub_constant(w, X16, X16, 1);
	put(w, 0xc8007c00 | X14 << 16 | X15 << 5 | X16); /* stxr w14, x16, [x15] */
	put(w, 0x35000000 | (-3u & 0x7ffff) << 5 | X14); /* cbnz w14, back to ldxr */
}

static void put_open(struct writer *w)
{
	put_push_pair(w, X16, X17, FRAME);
	put_store_pair(w, X14, X15, 16);
}

static void put_close(struct writer *w)
{
	put_load_pair(w, X14, X15, 16);
	put_pop_pair(w, X16, X17, FRAME);
}

/* Goes on with x17 = this thread's block when probes are on; else to LABEL_OUT, or to LABEL_CLAIM when the block is
 * not in its slot. */
static void put_tests(struct writer *w)
{
	const struct stub *stub = w->stub;

	put_address(w, X15, stub->region + AGENT_CONTROL_OFFSET);
	put_load(w, X16, X15, offsetof(struct agent_control, negative_owner));
	put_cbz(w, X16, LABEL_OUT);
	put_load_word(w, X17, X15,
		      AGENT_SHARED_OFFSET - AGENT_CONTROL_OFFSET +
			      offsetof(struct agent_shared, owner));
	put(w, 0x0b000000 | X17 << 16 | X16 << 5 | X16); /* add w16, w16, w17 */
	put_jump(w, 0x35000000 | X16, LABEL_OUT);        /* cbnz w16 */
	put_load(w, X17, X15, offsetof(struct agent_control, buffers));
	put(w, 0xd53bd040 | X16); /* mrs x16, tpidr_el0 */
	put_constant(w, X15, AGENT_SLOT_FACTOR);
	put(w, 0x9b007c00 | X15 << 16 | X16 << 5 | X15); /* mul x15, x16, x15 */
	put(w,
	    0xd3400000 | 32 << 16 | (32 + AGENT_SLOT_BITS - 1) << 10 | X15 << 5 | X15); /* ubfx */
	put_add_constant(w, X15, X15, AGENT_SLOTS_OFFSET / 8);
	put(w, 0xf8607800 | X15 << 16 | X17 << 5 | X17); /* ldr x17, [x17, x15, lsl #3] */
	put_cbz(w, X17, LABEL_CLAIM);
	put_load(w, X15, X17, offsetof(struct agent_block, negative_thread));
	put_add(w, X15, X15, X16);
	put_cbnz(w, X15, LABEL_CLAIM);
	put_label(w, LABEL_MINE);
}

/* Calls the agent with a number in w16; x17 is the block. */
static void put_agent(struct writer *w, uint32_t entry, uint32_t number)
{
	put(w, 0xf81f0fe0 | X30); /* str x30, [sp, #-16]! */
	put_constant(w, X16, number);
	put_bl(w, AGENT_CODE_OFFSET + entry);
	put(w, 0xf84107e0 | X30); /* ldr x30, [sp], #16 */
}

/* Behind the stub's end: asks the agent for the block, and goes on with it. */
static void put_claim(struct writer *w, uint32_t number)
{
	put_b(w, LABEL_END);
	put_label(w, LABEL_CLAIM);
	put_agent(w, w->stub->entries.claim, number);
	put_cbnz(w, X17, LABEL_MINE);
	put_b(w, LABEL_OUT);
	put_label(w, LABEL_END);
}

/* x15 = address of a field of this function in the block */
static void put_field(struct writer *w, size_t field)
{
	const struct stub *stub = w->stub;

	put_constant(w, X15,
		     (uint32_t)(AGENT_FUNCTIONS_OFFSET +
				(uint64_t)stub->function * stub->function_bytes + field));
	put_add(w, X15, X17, X15);
}

/* At the cap: out, unless a new epoch has begun. A signal handler may take the last one between test and
 * decrement: `left` is signed. */
static void put_cap(struct writer *w)
{
	const uint64_t shared = w->stub->region + AGENT_SHARED_OFFSET;
	const size_t epoch =
		offsetof(struct agent_function, epoch) - offsetof(struct agent_function, left);

	put_field(w, offsetof(struct agent_function, left));
	put_label(w, LABEL_AGAIN);
	put_load(w, X16, X15, 0);
	put_sub_constant(w, X16, X16, 1);
	put_if_not_negative(w, X16, LABEL_COUNT);
	put_address(w, X14, shared);
	put_load(w, X14, X14, offsetof(struct agent_shared, epoch));
	put_load(w, X16, X15, epoch);
	put_sub(w, X16, X16, X14);
	put_cbz(w, X16, LABEL_OUT);
	put_store(w, X14, X15, epoch);
	put_address(w, X14, shared);
	put_load(w, X14, X14, offsetof(struct agent_shared, cap));
	put_store(w, X14, X15, 0);
	put_b(w, LABEL_AGAIN);
	put_label(w, LABEL_COUNT);
	put_atomic_add(w, false);
}

static void entry_inline(struct writer *w)
{
	put_open(w);
	put_tests(w);
	if (w->stub->capped)
		put_cap(w);
	put_field(w, offsetof(struct agent_function, calls));
	put_atomic_add(w, true);
	if (probe_mode_measures(w->stub->mode)) {
		put_add_constant(w, X15, X17, offsetof(struct agent_block, countdown));
		put_atomic_add(w, false);
		put_sub_constant(w, X16, X16, 1);
		put_if_not_negative(w, X16, LABEL_OUT);
		put_agent(w, w->stub->full ? w->stub->entries.full_sample : w->stub->entries.sample,
			  w->stub->function);
	}
	put_label(w, LABEL_OUT);
	put_close(w);
	put_claim(w, w->stub->function);
	jumps_fill(w);
}

/* Only a frame whose stack pointer this is can end here, as long as the stack is the current one. */
static void exit_inline(struct writer *w)
{
	put_open(w);
	put_tests(w);
	put_add_constant(w, X15, SP, FRAME);
	put_load(w, X16, X17, offsetof(struct agent_block, top_sp));
	put_sub(w, X16, X16, X15);
	put_cbz(w, X16, LABEL_CALL);
	put_load(w, X16, X17, offsetof(struct agent_block, low));
	put_sub(w, X15, X15, X16);
	put_if_negative(w, X15, LABEL_CALL);
	put_load(w, X16, X17, offsetof(struct agent_block, size));
	put_sub(w, X15, X15, X16);
	put_if_negative(w, X15, LABEL_OUT);
	put_label(w, LABEL_CALL);
	put_agent(w,
		  w->stub->full ? w->stub->entries.full_leave_inline
				: w->stub->entries.leave_inline,
		  stub_point(w->stub));
	put_label(w, LABEL_OUT);
	put_close(w);
	put_claim(w, AGENT_CLAIM_NOTHING);
	jumps_fill(w);
}

/* Every call is timed: the agent tests, counts and reads the clock. */
static void pair_called(struct writer *w, uint32_t entry)
{
	put_push_pair(w, X16, X30, FRAME);
	put_constant(w, X16, stub_point(w->stub));
	put_bl(w, AGENT_CODE_OFFSET + entry);
	put_pop_pair(w, X16, X30, FRAME);
}

/* An indirect jump leaves the function when its target lies in none of its ranges: to LABEL_INSIDE if not.
 * Inside is what is not below the start (no sign) and below the end (a sign). */
static bool put_target_test(struct writer *w, const struct code_plan *plan,
			    const struct code_site *site)
{
	struct code_range ranges[CODE_FUNCTION_MAX_PARTS];
	const size_t n = code_plan_inside(plan, ranges, CODE_FUNCTION_MAX_PARTS);
	const uint8_t *bytes = code_module_bytes(plan->module, site->address, 4);
	struct code_insn insn;

	if (!bytes || n > STUB_MAX_RANGES ||
	    !code_insn_decode(EM_AARCH64, bytes, 4, site->address, &insn))
		return false;
	put_open(w);
	if (!code_target_load_append(EM_AARCH64, &insn, bytes, X15, FRAME, w->buffer))
		return false;
	for (size_t i = 0; i < n; i++) {
		put_address(w, X16, ranges[i].start);
		put_sub(w, X16, X15, X16);
		put_constant(w, X14, (uint32_t)(ranges[i].end - ranges[i].start));
		put_sub(w, X14, X16, X14);
		put(w, 0x8a200000 | X16 << 16 | X14 << 5 | X14); /* bic x14, x14, x16 */
		put_if_negative(w, X14, LABEL_INSIDE);
	}
	put_close(w);
	return true;
}

static bool hook_append(struct writer *w, enum code_site_kind kind)
{
	const struct stub *stub = w->stub;
	const bool in_line = stub->mode == PROBE_COUNT || stub->sampled || stub->capped;

	if (stub->mode == PROBE_STATE)
		pair_called(w, kind == CODE_SITE_ENTRY ? stub->entries.state_enter
						       : stub->entries.state_leave);
	else if (kind == CODE_SITE_ENTRY && in_line)
		entry_inline(w);
	else if (kind == CODE_SITE_ENTRY)
		pair_called(w, stub->full ? stub->entries.full_enter : stub->entries.enter);
	else if (probe_mode_measures(stub->mode) && in_line)
		exit_inline(w);
	else if (probe_mode_measures(stub->mode))
		pair_called(w, stub->full ? stub->entries.full_leave : stub->entries.leave);
	return true;
}

bool stub_append_call_aarch64(const struct stub *stub, uint32_t entry, struct code_buffer *buffer)
{
	struct writer w = { .stub = stub, .buffer = buffer };

	pair_called(&w, entry);
	return true;
}

bool stub_append_kind_aarch64(const struct stub *stub, enum code_site_kind kind,
			      struct code_buffer *buffer)
{
	struct writer w = { .stub = stub, .buffer = buffer };

	return hook_append(&w, kind);
}

bool stub_append_aarch64(const struct stub *stub, const struct code_plan *plan,
			 const struct code_site *site, struct code_buffer *buffer)
{
	struct writer outer = { .stub = stub, .buffer = buffer };
	struct stub own = *stub;
	struct writer w = { .stub = &own, .buffer = buffer };
	const bool looks =
		site->kind == CODE_SITE_TAIL_INDIRECT && !site->leaves && stub->mode != PROBE_COUNT;

	if (stub->mode == PROBE_TRACE)
		own.exit = stub_exit_number(plan, site);
	if (looks && !put_target_test(&outer, plan, site))
		return false;
	if (!hook_append(&w, (enum code_site_kind)site->kind))
		return false;
	if (looks) {
		put_b(&outer, LABEL_END);
		put_label(&outer, LABEL_INSIDE);
		put_close(&outer);
		put_label(&outer, LABEL_END);
		jumps_fill(&outer);
	}
	return true;
}
