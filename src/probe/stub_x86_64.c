/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stubs of x86-64.
 *
 *	count		enabled? this thread's block? below the cap?	else out
 *			incq %gs:calls
 *			(every N: decq %gs:countdown, at 0 the agent opens a frame)
 *	state		the same, then the call is pushed; its exit pops it when the innermost is this one
 *	time		a call into the agent, which does the rest
 *
 * What is rare stands in front of what is not, behind the tests' one jump that is taken. Exits save what they use and
 * write no flag, since what the caller reads is never known. All registers and flags survive, and 128 bytes below the
 * target's stack pointer are not touched.
 */
#include "probe/stub.h"

#include <stddef.h>

#include "probe/stub_code_x86_64.h"

#define STUB_MAX_RANGES 16u /* of a function with an indirect exit */

/* Instructions on one word: opcode and its extension. */
#define INC     0xff, 0
#define DEC     0xff, 1
#define CMP_IMM 0x83, 7 /* with 8 bits, which follow */
#define MOV_IMM 0xc7, 0 /* with 32 bits, which follow */

static uint64_t of_function(const struct stub *stub, size_t field)
{
	return AGENT_FUNCTIONS_OFFSET + (uint64_t)stub->function * stub->function_bytes + field;
}

static void put_control(struct stub_code *code, unsigned int reg)
{
	put_region(code, true, CODE_LOAD, reg,
		   AGENT_CONTROL_OFFSET + offsetof(struct agent_control, negative_owner));
}

/* Goes on only when probes are on, else to LABEL_OUT. ZF: the block is this thread's; else it has none yet, and
 * put_claim() is next. */
static void put_tests(struct stub_code *code)
{
	const unsigned int reg = code->one;

	put_control(code, reg);
	PUT(code, (uint8_t)(0x48 | reg >> 3 << 2 | reg >> 3), 0x85,
	    (uint8_t)(0xc0 | (reg & 7) << 3 | (reg & 7))); /* test reg,reg */
	put_jump(code, JUMP_ZERO, LABEL_OUT);
	put_region(code, false, CODE_ADD, reg,
		   AGENT_SHARED_OFFSET + offsetof(struct agent_shared, owner));
	put_jump(code, JUMP_NONZERO, LABEL_OUT);
	put_thread(code, reg);
	put_block(code, CODE_ADD, reg, offsetof(struct agent_block, negative_thread));
}

/* A thread's first hit: on at LABEL_MINE with a block of its own. */
static void put_claim(struct stub_code *code)
{
	const uint32_t further = code->bytes < RED_ZONE ? RED_ZONE - code->bytes : 0;

	if (further)
		put_lea(code, RSP, RSP, -(int32_t)further);
	PUT(code, 0x50, 0xb8); /* push %rax; mov $function,%eax */
	put_u32(code, code->stub->function);
	put_call(code, code->stub->entries.claim);
	PUT(code, 0x48, 0x85, 0xc0, 0x58); /* test %rax,%rax; pop %rax */
	if (further)
		put_lea(code, RSP, RSP, (int32_t)further);
	put_jump(code, JUMP_ZERO, LABEL_OUT); /* counted for a thread without a block */
	put_jump(code, JUMP_ALWAYS, LABEL_MINE);
}

/* Below the cap on at LABEL_COUNT. At the cap: out, unless a new epoch has begun. `left` is compared as signed: a
 * signal handler may take the last one between test and decrement. */
static void put_cap(struct stub_code *code)
{
	const uint64_t left = of_function(code->stub, offsetof(struct agent_function, left));
	const uint64_t epoch = of_function(code->stub, offsetof(struct agent_function, epoch));

	put_block_word(code, CMP_IMM, left);
	PUT(code, 0);
	put_jump(code, JUMP_GREATER, LABEL_COUNT);
	put_region(code, true, CODE_LOAD, code->one,
		   AGENT_SHARED_OFFSET + offsetof(struct agent_shared, epoch));
	put_block(code, CODE_CMP, code->one, epoch);
	put_jump(code, JUMP_ZERO, LABEL_OUT);
	put_block(code, CODE_STORE, code->one, epoch);
	put_region(code, true, CODE_LOAD, code->one,
		   AGENT_SHARED_OFFSET + offsetof(struct agent_shared, cap));
	put_block(code, CODE_STORE, code->one, left);
	put_jump(code, JUMP_ALWAYS, LABEL_MINE);
}

static void put_count(struct stub_code *code)
{
	put_block_word(code, INC, of_function(code->stub, offsetof(struct agent_function, calls)));
}

static void entry_inline(struct stub_code *code)
{
	const struct stub *stub = code->stub;
	const bool sampled = probe_mode_measures(stub->mode);

	put_open(code, 1);
	put_tests(code);
	if (stub->capped) { /* what has reached its cap takes one jump */
		put_jump(code, JUMP_NONZERO, LABEL_CLAIM);
		put_label(code, LABEL_MINE);
		put_cap(code);
		put_label(code, LABEL_CLAIM);
	} else {
		put_jump(code, JUMP_ZERO, LABEL_MINE);
	}
	put_claim(code);
	if (sampled) {
		put_label(code, LABEL_AGENT);
		put_agent(code, stub->full ? stub->entries.full_sample : stub->entries.sample,
			  DEPTH_INLINE);
		put_jump(code, JUMP_ALWAYS, LABEL_OUT);
	}
	put_label(code, stub->capped ? LABEL_COUNT : LABEL_MINE);
	if (stub->capped)
		put_block_word(code, DEC, of_function(stub, offsetof(struct agent_function, left)));
	put_count(code);
	if (sampled) {
		put_block_word(code, DEC, offsetof(struct agent_block, countdown));
		put_jump(code, JUMP_LESS_EQ, LABEL_AGENT);
	}
	put_label(code, LABEL_OUT);
	put_close(code);
}

/* Only a frame whose stack pointer this is can end here, as long as no frame is open on another stack: else the agent
 * looks. What the control word says comes first: %gs may lead nowhere. */
static void exit_inline(struct stub_code *code)
{
	const struct agent_entries *entries = &code->stub->entries;

	put_lea(code, RSP, RSP, -(int32_t)(DEPTH_INLINE - 8));
	PUT(code, 0x51); /* push %rcx */
	code->bytes = DEPTH_INLINE;
	put_control(code, RCX);
	put_jump_if_rcx_is_0(code, LABEL_LEFT);
	put_block(code, CODE_LOAD, RCX, offsetof(struct agent_block, top_sp));
	PUT(code, 0x48, 0xf7, 0xd1, 0x48, 0x8d, 0x8c,
	    0x0c); /* not %rcx; lea DEPTH + 1(%rsp,%rcx),%rcx */
	put_u32(code, DEPTH_INLINE + 1);
	put_jump_if_rcx_is_0(code, LABEL_MINE);
	put_block(code, CODE_LOAD, RCX, offsetof(struct agent_block, elsewhere));
	put_jump_if_rcx_is_0(code, LABEL_LEFT);
	put_label(code, LABEL_MINE);
	put_agent(code, code->stub->full ? entries->full_leave_inline : entries->leave_inline,
		  DEPTH_INLINE);
	put_label(code, LABEL_LEFT);
	PUT(code, 0x59); /* pop %rcx */
	put_lea(code, RSP, RSP, DEPTH_INLINE - 8);
}

#define STATE_NEXT ((uint8_t)sizeof(struct agent_state))

/* The top in register `one`; to LABEL_AGENT unless the call below is that of a caller. Register `two`: minus the stack
 * pointer. */
static void put_state_below(struct stub_code *code)
{
	put_block(code, CODE_LOAD, code->one, offsetof(struct agent_block, state_top));
	put_lea(code, code->two, RSP, (int32_t)code->bytes);
	PUT(code, (uint8_t)(0x48 | code->two >> 3), 0xf7,
	    (uint8_t)(0xd8 | (code->two & 7))); /* neg two */
	put_block_at(code, CODE_CMP_TO, code->two, code->one, 0);
	put_jump(code, JUMP_AT_LEAST, LABEL_AGENT);
}

/* The same with one register and nothing saved: the sum of the stack pointer and minus the caller's is one of 65 bits
 * when that is not above. */
static void put_state_below_by_one(struct stub_code *code)
{
	put_block(code, CODE_LOAD, code->one, offsetof(struct agent_block, state_top));
	put_block_at(code, CODE_LOAD, code->one, code->one, 0);
	PUT(code, (uint8_t)(0x48 | code->one >> 3), 0x01,
	    (uint8_t)(0xe0 | (code->one & 7))); /* add %rsp,one */
	put_jump(code, JUMP_BELOW, LABEL_AGENT);
	put_block(code, CODE_LOAD, code->one, offsetof(struct agent_block, state_top));
}

/* The slot's stack pointer, from register `two`, or by negating it in place. */
static void put_state_sp(struct stub_code *code, bool by_one)
{
	put_block_at(code, CODE_STORE, by_one ? RSP : code->two, code->one, STATE_NEXT);
	if (by_one) /* negq %gs:next(one) */
		PUT(code, 0x65, (uint8_t)(0x48 | code->one >> 3), 0xf7,
		    (uint8_t)(0x58 | (code->one & 7)), STATE_NEXT);
}

/* Pushes this call, when the one below it is that of a caller and there is room. The slot is written before
 * it becomes the top: who reads from outside sees the one or the other. */
static void entry_state(struct stub_code *code)
{
	const bool by_one = stub_code_spares_one(code);

	put_open(code, by_one ? 1 : 2);
	put_tests(code);
	put_jump(code, JUMP_ZERO, LABEL_MINE);
	put_claim(code);
	put_label(code, LABEL_AGENT);
	put_agent(code, code->stub->entries.state_enter, DEPTH_STATE);
	put_jump(code, JUMP_ALWAYS, LABEL_OUT);

	put_label(code, LABEL_MINE);
	put_count(code);
	if (by_one)
		put_state_below_by_one(code);
	else
		put_state_below(code);
	PUT(code, (uint8_t)(0x48 | code->one >> 3), 0x81, (uint8_t)(0xf8 | (code->one & 7)));
	put_u32(code, code->stub->state_end); /* cmp $state_end,one */
	put_jump(code, JUMP_AT_LEAST, LABEL_AGENT);
	put_state_sp(code, by_one);
	PUT(code, 0x65, (uint8_t)(0x48 | code->one >> 3), 0xc7, (uint8_t)(0x40 | (code->one & 7)),
	    STATE_NEXT + offsetof(struct agent_state, function));
	put_u32(code, code->stub->function); /* movq $function,%gs:next + 8(one) */
	put_lea(code, code->one, code->one, STATE_NEXT);
	put_block(code, CODE_STORE, code->one, offsetof(struct agent_block, state_top));
	put_label(code, LABEL_OUT);
	put_close(code);
}

/* Whether the block is this thread's need not be asked when the innermost call is this one: no other thread's stack
 * pointer is the same. */
static void exit_state(struct stub_code *code)
{
	put_lea(code, RSP, RSP, -(int32_t)RED_ZONE);
	PUT(code, 0x56, 0x51); /* push %rsi; push %rcx */
	code->bytes = DEPTH_INLINE;
	put_control(code, RCX);
	put_jump_if_rcx_is_0(code, LABEL_LEFT);
	put_block(code, CODE_LOAD, RSI, offsetof(struct agent_block, state_top));
	put_block_at(code, CODE_LOAD, RCX, RSI, 0);
	PUT(code, 0x48, 0x8d, 0x8c, 0x0c); /* lea DEPTH(%rsp,%rcx),%rcx */
	put_u32(code, DEPTH_INLINE);
	put_jump_if_rcx_is_0(code, LABEL_MINE);
	put_agent(code, code->stub->entries.state_leave, DEPTH_INLINE);
	put_jump(code, JUMP_ALWAYS, LABEL_LEFT);
	put_label(code, LABEL_MINE);
	put_lea(code, RSI, RSI, -(int32_t)sizeof(struct agent_state));
	put_block(code, CODE_STORE, RSI, offsetof(struct agent_block, state_top));
	put_label(code, LABEL_LEFT);
	PUT(code, 0x59, 0x5e); /* pop %rcx; pop %rsi */
	put_lea(code, RSP, RSP, RED_ZONE);
}

/* Every call is timed: the agent tests, counts and reads the clock. */
static void pair_called(struct stub_code *code, uint32_t entry)
{
	code->bytes = 0;
	put_agent(code, entry, RED_ZONE);
}

/* An indirect jump leaves the function when its target lies in none of its ranges: to LABEL_INSIDE if not. */
static bool put_target_test(struct stub_code *code, const struct code_plan *plan,
			    const struct code_site *site)
{
	const uint16_t machine = code_module_machine(plan->module);
	struct code_range ranges[CODE_FUNCTION_MAX_PARTS];
	const size_t n = code_plan_inside(plan, ranges, CODE_FUNCTION_MAX_PARTS);
	const uint8_t *bytes = NULL;
	struct code_insn insn;
	size_t length;

	for (length = CODE_INSN_MAX_LENGTH; length > 1; length--) {
		bytes = code_module_bytes(plan->module, site->address, length);
		if (bytes)
			break;
	}
	if (!bytes || !code_insn_decode(machine, bytes, length, site->address, &insn))
		return false;
	put_lea(code, RSP, RSP, -(int32_t)RED_ZONE);
	PUT(code, 0x50, 0x51); /* push %rax; push %rcx */
	if (n > STUB_MAX_RANGES ||
	    !code_target_load_append(machine, &insn, bytes, RCX, DEPTH_INLINE, code->buffer))
		return false;
	PUT(code, 0x9f, 0x0f, 0x90, 0xc0, 0x52); /* lahf; seto %al; push %rdx */
	for (size_t i = 0; i < n; i++) {
		PUT(code, 0x48, 0x8d, 0x15); /* lea start(%rip),%rdx */
		put_u32(code, ranges[i].start - (code_buffer_here(code->buffer) + 4));
		PUT(code, 0x48, 0xf7, 0xda, 0x48, 0x01, 0xca); /* neg %rdx; add %rcx,%rdx */
		PUT(code, 0x48, 0x81, 0xfa);                   /* cmp $size,%rdx */
		put_u32(code, ranges[i].end - ranges[i].start);
		put_jump(code, JUMP_BELOW, LABEL_INSIDE);
	}
	PUT(code, 0x5a); /* pop %rdx */
	code->saved = code->flags = true;
	code->bytes = DEPTH_INLINE;
	put_close(code);
	return true;
}

static void put_inside(struct stub_code *code)
{
	put_jump(code, JUMP_ALWAYS, LABEL_AFTER);
	put_label(code, LABEL_INSIDE);
	PUT(code, 0x5a); /* pop %rdx */
	code->saved = code->flags = true;
	code->bytes = DEPTH_INLINE;
	put_close(code);
	put_label(code, LABEL_AFTER);
}

static void hook_append(struct stub_code *code, enum code_site_kind kind)
{
	const struct stub *stub = code->stub;
	const bool in_line = stub->mode == PROBE_COUNT || stub->sampled || stub->capped;

	if (stub->mode == PROBE_STATE && kind == CODE_SITE_ENTRY)
		entry_state(code);
	else if (stub->mode == PROBE_STATE)
		exit_state(code);
	else if (kind == CODE_SITE_ENTRY && in_line)
		entry_inline(code);
	else if (kind == CODE_SITE_ENTRY)
		pair_called(code, stub->full ? stub->entries.full_enter : stub->entries.enter);
	else if (probe_mode_measures(stub->mode) && in_line)
		exit_inline(code);
	else if (probe_mode_measures(stub->mode))
		pair_called(code, stub->full ? stub->entries.full_leave : stub->entries.leave);
}

bool stub_append_call_x86_64(const struct stub *stub, uint32_t entry, struct code_buffer *buffer)
{
	struct stub_code code = { .stub = stub, .buffer = buffer };

	pair_called(&code, entry);
	return true;
}

bool stub_append_kind_x86_64(const struct stub *stub, enum code_site_kind kind,
			     struct code_buffer *buffer)
{
	struct stub_code code = { .stub = stub, .buffer = buffer };

	hook_append(&code, kind);
	code_jumps_fill(&code);
	return true;
}

bool stub_append_x86_64(const struct stub *stub, const struct code_plan *plan,
			const struct code_site *site, struct code_buffer *buffer)
{
	struct stub own = *stub;
	struct stub_code code = { .stub = &own, .buffer = buffer };
	const bool looks =
		site->kind == CODE_SITE_TAIL_INDIRECT && !site->leaves && stub->mode != PROBE_COUNT;

	if (stub->mode == PROBE_TRACE)
		own.exit = stub_exit_number(plan, site);
	if (looks && !put_target_test(&code, plan, site))
		return false;
	if (site->kind == CODE_SITE_ENTRY)
		code.dead = code_dead_before(plan->module, site->address);
	hook_append(&code, (enum code_site_kind)site->kind);
	if (looks)
		put_inside(&code);
	code_jumps_fill(&code);
	return true;
}
