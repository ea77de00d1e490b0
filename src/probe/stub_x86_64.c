/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stubs of x86-64.
 *
 *	count		lea -128(%rsp),%rsp; push rax, rcx; flags to ax
 *			enabled? this thread's block? below the cap?	else out
 *			incq %gs:calls
 *			(every N: decq %gs:countdown, at 0 open a frame)
 *			flags, rcx, rax and rsp back
 *	time		the same frame, then a call into the agent, which does the rest
 *
 * All registers and flags survive, and 128 bytes below the target's stack pointer are not touched.
 */
#include "probe/stub.h"

#include <stddef.h>
#include <string.h>

#include <elf.h>

#define STUB_MAX_LABELS 12u
#define STUB_MAX_JUMPS  32u
#define STUB_MAX_RANGES 16u /* of a function with an indirect exit */
#define RED_ZONE        128

enum label {
	LABEL_OUT,
	LABEL_MINE,
	LABEL_CALL,
	LABEL_AGAIN,
	LABEL_COUNT,
	LABEL_INSIDE,
	LABEL_SLOW,
	LABEL_DONE,
	LABEL_LEFT,
	LABEL_END,
	LABEL_AFTER
};

/* Code under construction with forward jumps, filled in at the end. */
struct writer {
	const struct stub *stub;
	struct code_buffer *buffer;
	struct {
		size_t at; /* of the displacement */
		enum label label;
		bool is_short; /* 8 bits */
	} jumps[STUB_MAX_JUMPS];
	size_t n_jumps;
	size_t labels[STUB_MAX_LABELS];
};

#define PUT(writer, ...)                                                       \
	code_buffer_append((writer)->buffer, (const uint8_t[]){ __VA_ARGS__ }, \
			   sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void put_u32(struct writer *w, uint64_t value)
{
	const uint32_t v = (uint32_t)value;

	code_buffer_append(w->buffer, &v, sizeof(v));
}

/* The displacement to something in the region, from the end of an instruction that it ends. */
static void put_distance(struct writer *w, uint64_t offset)
{
	const uint64_t end = code_buffer_here(w->buffer) + 4;
	const int64_t distance = (int64_t)(w->stub->region + offset - end);

	if (distance != (int32_t)distance)
		w->buffer->unreachable = true;
	put_u32(w, (uint64_t)distance);
}

static void put_jump(struct writer *w, enum label label)
{
	w->jumps[w->n_jumps].at = w->buffer->size;
	w->jumps[w->n_jumps++].label = label;
	put_u32(w, 0);
}

/* The only jump that asks no flag; the label must be within 127 bytes. */
static void put_jump_if_rcx_is_0(struct writer *w, enum label label)
{
	PUT(w, 0xe3); /* jrcxz */
	w->jumps[w->n_jumps].at = w->buffer->size;
	w->jumps[w->n_jumps].is_short = true;
	w->jumps[w->n_jumps++].label = label;
	PUT(w, 0);
}

static void put_label(struct writer *w, enum label label)
{
	w->labels[label] = w->buffer->size;
}

static void jumps_fill(struct writer *w)
{
	for (size_t i = 0; i < w->n_jumps; i++) {
		const size_t at = w->jumps[i].at, bytes = w->jumps[i].is_short ? 1 : 4;
		const uint32_t distance = (uint32_t)(w->labels[w->jumps[i].label] - (at + bytes));

		if (w->buffer->full || at + bytes > w->buffer->size)
			continue;
		if (w->jumps[i].is_short && distance > INT8_MAX)
			w->buffer->unreachable = true;
		memcpy(w->buffer->bytes + at, &distance,
		       bytes); /* little-endian: the low byte first */
	}
}

static void put_call(struct writer *w, uint32_t entry)
{
	PUT(w, 0xe8); /* call rel32 */
	put_distance(w, AGENT_CODE_OFFSET + entry);
}

static uint64_t of_function(const struct stub *stub, size_t field)
{
	return AGENT_FUNCTIONS_OFFSET + (uint64_t)stub->function * stub->function_bytes + field;
}

/* Down past the red zone; rax, rcx and flags saved: ah and al hold the flags. */
static void put_open(struct writer *w)
{
	PUT(w, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -0x80(%rsp),%rsp */
	PUT(w, 0x50, 0x51);                   /* push %rax; push %rcx */
	PUT(w, 0x9f, 0x0f, 0x90, 0xc0);       /* lahf; seto %al */
}

static void put_close(struct writer *w)
{
	PUT(w, 0x04, 0x7f, 0x9e, 0x59, 0x58);                   /* add $0x7f,%al; sahf; pop; pop */
	PUT(w, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea 0x80(%rsp),%rsp */
}

static void put_control(struct writer *w)
{
	PUT(w, 0x48, 0x8b, 0x0d); /* mov control.negative_owner(%rip),%rcx */
	put_distance(w, AGENT_CONTROL_OFFSET + offsetof(struct agent_control, negative_owner));
}

/* Goes on only when probes are on and the block is this thread's; else to LABEL_OUT, or, for a thread's first
 * hit, falls through with LABEL_MINE ahead. */
static void put_tests(struct writer *w)
{
	put_control(w);
	PUT(w, 0x48, 0x85, 0xc9); /* test %rcx,%rcx */
	PUT(w, 0x0f, 0x84);       /* jz */
	put_jump(w, LABEL_OUT);
	PUT(w, 0x03, 0x0d); /* add shared.owner(%rip),%ecx */
	put_distance(w, AGENT_SHARED_OFFSET + offsetof(struct agent_shared, owner));
	PUT(w, 0x0f, 0x85); /* jnz */
	put_jump(w, LABEL_OUT);
	PUT(w, 0x64, 0x48, 0x8b, 0x0c, 0x25, 0, 0, 0, 0); /* mov %fs:0,%rcx */
	PUT(w, 0x65, 0x48, 0x03, 0x0c, 0x25);             /* add %gs:negative_thread,%rcx */
	put_u32(w, offsetof(struct agent_block, negative_thread));
}

/* Calls the agent with the function's number; rax (the flags) survives. */
static void put_agent(struct writer *w, uint32_t entry)
{
	PUT(w, 0x50, 0xb8); /* push %rax; mov $function,%eax */
	put_u32(w, stub_point(w->stub));
	put_call(w, entry);
	PUT(w, 0x58); /* pop %rax */
}

/* At the cap: out, unless a new epoch has begun. `left` is compared as signed: a signal handler may take the
 * last one between test and decrement. */
static void put_cap(struct writer *w)
{
	put_label(w, LABEL_AGAIN);
	PUT(w, 0x65, 0x48, 0x83, 0x3c, 0x25); /* cmpq $0,%gs:left */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, left)));
	PUT(w, 0x00);
	PUT(w, 0x0f, 0x8f); /* jg */
	put_jump(w, LABEL_COUNT);
	PUT(w, 0x48, 0x8b, 0x0d); /* mov shared.epoch(%rip),%rcx */
	put_distance(w, AGENT_SHARED_OFFSET + offsetof(struct agent_shared, epoch));
	PUT(w, 0x65, 0x48, 0x3b, 0x0c, 0x25); /* cmp %gs:epoch,%rcx */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, epoch)));
	PUT(w, 0x0f, 0x84); /* je */
	put_jump(w, LABEL_OUT);
	PUT(w, 0x65, 0x48, 0x89, 0x0c, 0x25); /* mov %rcx,%gs:epoch */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, epoch)));
	PUT(w, 0x48, 0x8b, 0x0d); /* mov shared.cap(%rip),%rcx */
	put_distance(w, AGENT_SHARED_OFFSET + offsetof(struct agent_shared, cap));
	PUT(w, 0x65, 0x48, 0x89, 0x0c, 0x25); /* mov %rcx,%gs:left */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, left)));
	PUT(w, 0xe9); /* jmp */
	put_jump(w, LABEL_AGAIN);
	put_label(w, LABEL_COUNT);
	PUT(w, 0x65, 0x48, 0xff, 0x0c, 0x25); /* decq %gs:left */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, left)));
}

/* Up to where the thread's block is known: LABEL_MINE. */
static void put_entry_tests(struct writer *w)
{
	put_open(w);
	put_tests(w);
	PUT(w, 0x0f, 0x84); /* jz */
	put_jump(w, LABEL_MINE);
	PUT(w, 0x50, 0xb8); /* push %rax; mov $function,%eax */
	put_u32(w, w->stub->function);
	put_call(w, w->stub->entries.claim);
	PUT(w, 0x48, 0x85, 0xc0, 0x58); /* test %rax,%rax; pop %rax */
	PUT(w, 0x0f, 0x84);             /* jz: counted for a thread without a block */
	put_jump(w, LABEL_OUT);
	put_label(w, LABEL_MINE);
}

static void put_count(struct writer *w)
{
	PUT(w, 0x65, 0x48, 0xff, 0x04, 0x25); /* incq %gs:calls */
	put_u32(w, of_function(w->stub, offsetof(struct agent_function, calls)));
}

static void entry_inline(struct writer *w)
{
	put_entry_tests(w);
	if (w->stub->capped)
		put_cap(w);
	put_count(w);
	if (probe_mode_measures(w->stub->mode)) {
		PUT(w, 0x65, 0x48, 0xff, 0x0c, 0x25); /* decq %gs:countdown */
		put_u32(w, offsetof(struct agent_block, countdown));
		PUT(w, 0x0f, 0x8f); /* jg */
		put_jump(w, LABEL_OUT);
		put_agent(w,
			  w->stub->full ? w->stub->entries.full_sample : w->stub->entries.sample);
	}
	put_label(w, LABEL_OUT);
	put_close(w);
}

/* As put_open; but where the top frame is not at this stack pointer, and no frame is open on another stack, on behind
 * the hook without touching a flag. */
static void put_open_at_top(struct writer *w)
{
	PUT(w, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -0x80(%rsp),%rsp */
	PUT(w, 0x50, 0x51);                   /* push %rax; push %rcx */
	put_control(w);                       /* rcx = 0: off, and %gs may lead nowhere */
	put_jump_if_rcx_is_0(w, LABEL_LEFT);
	PUT(w, 0x48, 0x8d, 0x8c, 0x24, RED_ZONE + 16, 0, 0, 0); /* lea 144(%rsp),%rcx */
	PUT(w, 0x48, 0xf7, 0xd1);                               /* not %rcx */
	PUT(w, 0x65, 0x48, 0x8b, 0x04, 0x25);                   /* mov %gs:top_sp,%rax */
	put_u32(w, offsetof(struct agent_block, top_sp));
	PUT(w, 0x48, 0x8d, 0x4c, 0x01, 0x01); /* lea 1(%rcx,%rax),%rcx */
	put_jump_if_rcx_is_0(w, LABEL_MINE);
	PUT(w, 0x65, 0x48, 0x8b, 0x0c, 0x25); /* mov %gs:elsewhere,%rcx */
	put_u32(w, offsetof(struct agent_block, elsewhere));
	put_jump_if_rcx_is_0(w, LABEL_LEFT);
	PUT(w, 0xe9); /* jmp */
	put_jump(w, LABEL_MINE);
	put_label(w, LABEL_LEFT);
	PUT(w, 0x59, 0x58);                                     /* pop %rcx; pop %rax */
	PUT(w, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea 0x80(%rsp),%rsp */
	PUT(w, 0xe9);                                           /* jmp */
	put_jump(w, LABEL_END);
	put_label(w, LABEL_MINE);
	PUT(w, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
}

/* Only a frame whose stack pointer this is can end here, as long as the stack is the current one. */
static void exit_inline(struct writer *w)
{
	put_open_at_top(w);
	put_tests(w);
	PUT(w, 0x0f, 0x85); /* jnz */
	put_jump(w, LABEL_OUT);
	PUT(w, 0x48, 0x8d, 0x8c, 0x24, RED_ZONE + 16, 0, 0, 0); /* lea 144(%rsp),%rcx */
	PUT(w, 0x65, 0x48, 0x3b, 0x0c, 0x25);                   /* cmp %gs:top_sp,%rcx */
	put_u32(w, offsetof(struct agent_block, top_sp));
	PUT(w, 0x0f, 0x84); /* je */
	put_jump(w, LABEL_CALL);
	PUT(w, 0x65, 0x48, 0x2b, 0x0c, 0x25); /* sub %gs:low,%rcx */
	put_u32(w, offsetof(struct agent_block, low));
	PUT(w, 0x65, 0x48, 0x3b, 0x0c, 0x25); /* cmp %gs:size,%rcx */
	put_u32(w, offsetof(struct agent_block, size));
	PUT(w, 0x0f, 0x82); /* jb */
	put_jump(w, LABEL_OUT);
	put_label(w, LABEL_CALL);
	put_agent(w, w->stub->full ? w->stub->entries.full_leave_inline
				   : w->stub->entries.leave_inline);
	put_label(w, LABEL_OUT);
	put_close(w);
	put_label(w, LABEL_END);
}

/* Pushes this call, when the one below it is that of a caller and there is room. The slot is written before
 * it becomes the top: who reads from outside sees the one or the other. */
static void entry_state(struct writer *w)
{
	put_entry_tests(w);
	put_count(w);
	PUT(w, 0x50);                         /* push %rax */
	PUT(w, 0x65, 0x48, 0x8b, 0x0c, 0x25); /* mov %gs:state_top,%rcx */
	put_u32(w, offsetof(struct agent_block, state_top));
	PUT(w, 0x48, 0x8d, 0x84, 0x24, RED_ZONE + 24, 0, 0, 0); /* lea 152(%rsp),%rax */
	PUT(w, 0x48, 0xf7, 0xd8);                               /* neg %rax */
	PUT(w, 0x65, 0x48, 0x39, 0x01);                         /* cmp %rax,%gs:(%rcx) */
	PUT(w, 0x0f, 0x83);                                     /* jae */
	put_jump(w, LABEL_SLOW);
	PUT(w, 0x81, 0xf9); /* cmp $state_end,%ecx */
	put_u32(w, w->stub->state_end);
	PUT(w, 0x0f, 0x83); /* jae */
	put_jump(w, LABEL_SLOW);
	PUT(w, 0x65, 0x48, 0x89, 0x41, sizeof(struct agent_state)); /* mov %rax,%gs:16(%rcx) */
	PUT(w, 0x65, 0x48, 0xc7, 0x41, /* movq $function,%gs:24(%rcx) */
	    sizeof(struct agent_state) + offsetof(struct agent_state, function));
	put_u32(w, w->stub->function);
	PUT(w, 0x48, 0x8d, 0x49, sizeof(struct agent_state)); /* lea 16(%rcx),%rcx */
	PUT(w, 0x65, 0x48, 0x89, 0x0c, 0x25);                 /* mov %rcx,%gs:state_top */
	put_u32(w, offsetof(struct agent_block, state_top));
	PUT(w, 0xe9); /* jmp */
	put_jump(w, LABEL_DONE);
	put_label(w, LABEL_SLOW);
	put_agent(w, w->stub->entries.state_enter);
	put_label(w, LABEL_DONE);
	PUT(w, 0x58); /* pop %rax */
	put_label(w, LABEL_OUT);
	put_close(w);
}

/* Leaves the flags alone, and so need not save them, when the innermost call is this one. Whether the block is this
 * thread's need not be asked then: no other thread's stack pointer is the same. */
static void exit_state(struct writer *w)
{
	PUT(w, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -0x80(%rsp),%rsp */
	PUT(w, 0x50, 0x51);                   /* push %rax; push %rcx */
	put_control(w);                       /* rcx = 0: off, and %gs may lead nowhere */
	put_jump_if_rcx_is_0(w, LABEL_LEFT);
	PUT(w, 0x65, 0x48, 0x8b, 0x04, 0x25); /* mov %gs:state_top,%rax */
	put_u32(w, offsetof(struct agent_block, state_top));
	PUT(w, 0x65, 0x48, 0x8b, 0x08);                         /* mov %gs:(%rax),%rcx */
	PUT(w, 0x48, 0x8d, 0x8c, 0x0c, RED_ZONE + 16, 0, 0, 0); /* lea 144(%rsp,%rcx),%rcx */
	put_jump_if_rcx_is_0(w, LABEL_MINE);
	PUT(w, 0xe9); /* jmp */
	put_jump(w, LABEL_SLOW);
	put_label(w, LABEL_MINE);
	PUT(w, 0x48, 0x8d, 0x40, 0x100 - sizeof(struct agent_state)); /* lea -16(%rax),%rax */
	PUT(w, 0x65, 0x48, 0x89, 0x04, 0x25);                         /* mov %rax,%gs:state_top */
	put_u32(w, offsetof(struct agent_block, state_top));
	put_label(w, LABEL_LEFT);
	PUT(w, 0x59, 0x58);                                     /* pop %rcx; pop %rax */
	PUT(w, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea 0x80(%rsp),%rsp */
	PUT(w, 0xe9);                                           /* jmp */
	put_jump(w, LABEL_END);
	put_label(w, LABEL_SLOW);
	PUT(w, 0x9f, 0x0f, 0x90, 0xc0); /* lahf; seto %al */
	put_tests(w);
	PUT(w, 0x0f, 0x85); /* jnz */
	put_jump(w, LABEL_OUT);
	PUT(w, 0x50); /* push %rax */
	put_agent(w, w->stub->entries.state_leave);
	PUT(w, 0x58); /* pop %rax */
	put_label(w, LABEL_OUT);
	put_close(w);
	put_label(w, LABEL_END);
}

/* Every call is timed: the agent tests, counts and reads the clock. */
static void pair_called(struct writer *w, uint32_t entry)
{
	PUT(w, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -0x80(%rsp),%rsp */
	PUT(w, 0x50, 0xb8);                   /* push %rax; mov $function,%eax */
	put_u32(w, stub_point(w->stub));
	put_call(w, entry);
	PUT(w, 0x58);                                           /* pop %rax */
	PUT(w, 0x48, 0x8d, 0xa4, 0x24, 0x80, 0x00, 0x00, 0x00); /* lea 0x80(%rsp),%rsp */
}

/* An indirect jump leaves the function when its target lies in none of its ranges: to LABEL_INSIDE if not. */
static bool put_target_test(struct writer *w, const struct code_plan *plan,
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
	PUT(w, 0x48, 0x8d, 0x64, 0x24, 0x80); /* lea -0x80(%rsp),%rsp */
	PUT(w, 0x50, 0x51);                   /* push %rax; push %rcx */
	if (n > STUB_MAX_RANGES ||
	    !code_target_load_append(machine, &insn, bytes, 1 /* rcx */, RED_ZONE + 16, w->buffer))
		return false;
	PUT(w, 0x9f, 0x0f, 0x90, 0xc0, 0x52); /* lahf; seto %al; push %rdx */
	for (size_t i = 0; i < n; i++) {
		PUT(w, 0x48, 0x8d, 0x15); /* lea start(%rip),%rdx */
		put_u32(w, ranges[i].start - (code_buffer_here(w->buffer) + 4));
		PUT(w, 0x48, 0xf7, 0xda, 0x48, 0x01, 0xca); /* neg %rdx; add %rcx,%rdx */
		PUT(w, 0x48, 0x81, 0xfa);                   /* cmp $size,%rdx */
		put_u32(w, ranges[i].end - ranges[i].start);
		PUT(w, 0x0f, 0x82); /* jb */
		put_jump(w, LABEL_INSIDE);
	}
	PUT(w, 0x5a); /* pop %rdx */
	put_close(w);
	return true;
}

static void put_inside(struct writer *w)
{
	PUT(w, 0xe9); /* jmp */
	put_jump(w, LABEL_AFTER);
	put_label(w, LABEL_INSIDE);
	PUT(w, 0x5a); /* pop %rdx */
	put_close(w);
	put_label(w, LABEL_AFTER);
}

static void hook_append(struct writer *w, enum code_site_kind kind)
{
	const struct stub *stub = w->stub;
	const bool in_line = stub->mode == PROBE_COUNT || stub->sampled || stub->capped;

	if (stub->mode == PROBE_STATE && kind == CODE_SITE_ENTRY)
		entry_state(w);
	else if (stub->mode == PROBE_STATE)
		exit_state(w);
	else if (kind == CODE_SITE_ENTRY && in_line)
		entry_inline(w);
	else if (kind == CODE_SITE_ENTRY)
		pair_called(w, stub->full ? stub->entries.full_enter : stub->entries.enter);
	else if (probe_mode_measures(stub->mode) && in_line)
		exit_inline(w);
	else if (probe_mode_measures(stub->mode))
		pair_called(w, stub->full ? stub->entries.full_leave : stub->entries.leave);
}

bool stub_append_kind_x86_64(const struct stub *stub, enum code_site_kind kind,
			     struct code_buffer *buffer)
{
	struct writer w = { .stub = stub, .buffer = buffer };

	hook_append(&w, kind);
	jumps_fill(&w);
	return true;
}

bool stub_append_x86_64(const struct stub *stub, const struct code_plan *plan,
			const struct code_site *site, struct code_buffer *buffer)
{
	struct stub own = *stub;
	struct writer w = { .stub = &own, .buffer = buffer };
	const bool looks = site->kind == CODE_SITE_TAIL_INDIRECT && !site->leaves &&
			   w.stub->mode != PROBE_COUNT;

	if (stub->mode == PROBE_TRACE)
		own.exit = stub_exit_number(plan, site);
	if (looks && !put_target_test(&w, plan, site))
		return false;
	hook_append(&w, (enum code_site_kind)site->kind);
	if (looks)
		put_inside(&w);
	jumps_fill(&w);
	return true;
}
