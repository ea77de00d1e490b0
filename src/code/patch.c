/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a patch's trampoline, and the bytes that lead to it.
 *
 *	for each moved instruction: [hook] instruction
 *	[hook] jump back, unless the last one ends the block
 *	for each conditional tail branch, or a call at the entry: [hook] jump to its target
 *
 * The code is laid out twice: first to learn where each instruction comes to stand, then for good, with jumps
 * inside the run leading to its moved instructions. All forms have one length, so that both agree.
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "code/module_state.h"
#include "code/plan.h"

#define MAX_MOVED (CODE_PLAN_MAX_BODY + 1)

struct moved_insn {
	struct code_insn insn;
	const uint8_t *bytes;
	uint64_t label; /* where a jump to the instruction leads: its exit hook, or itself */
	uint64_t stub;  /* of a conditional tail branch: its taken path */
};

struct emission {
	const struct code_plan *plan;
	const struct code_patch *patch;
	const struct code_hook *hook;
	struct code_buffer *buffer;
	struct code_origin *origins;
	size_t capacity, n_origins;
	size_t base; /* size of the buffer at the start */
	uint64_t resume;
	struct moved_insn *moved;
	size_t n_moved;
	bool hook_failed;
	bool origins_full;
};

static uint16_t machine_of(const struct emission *emission)
{
	return code_module_machine(emission->plan->module);
}

static void origin_add(struct emission *emission, uint64_t address, bool hook)
{
	if (!emission->capacity)
		return;
	if (emission->n_origins >= emission->capacity) {
		emission->origins_full = true;
		return;
	}
	emission->origins[emission->n_origins++] =
		(struct code_origin){ address, (uint32_t)(emission->buffer->size - emission->base),
				      hook };
}

static bool moved_read(struct emission *emission)
{
	const struct code_range range = emission->patch->moved;
	uint64_t at = range.start;

	while (at < range.end) {
		struct moved_insn *moved = &emission->moved[emission->n_moved];

		moved->bytes = code_module_bytes(emission->plan->module, at, range.end - at);
		if (!moved->bytes || emission->n_moved + 1 >= MAX_MOVED ||
		    !code_insn_decode(machine_of(emission), moved->bytes, range.end - at, at,
				      &moved->insn))
			return false;
		at += moved->insn.length;
		emission->n_moved++;
	}
	return at == range.end;
}

/* lea n(%rsp),%rsp: changes no flag. */
static void sp_raise(struct emission *emission, int32_t bytes)
{
	const uint32_t n = (uint32_t)bytes;
	const uint8_t code[] = { 0x48,
				 0x8d,
				 0xa4,
				 0x24,
				 (uint8_t)n,
				 (uint8_t)(n >> 8),
				 (uint8_t)(n >> 16),
				 (uint8_t)(n >> 24) };

	if (bytes)
		code_buffer_append(emission->buffer, code, sizeof(code));
}

static void hook_append(struct emission *emission, const struct code_site *site)
{
	origin_add(emission, site->address, true);
	sp_raise(emission, site->sp_bytes);
	if (!emission->hook->append(emission->hook->state, emission->plan, site, emission->buffer))
		emission->hook_failed = true;
	sp_raise(emission, -(int32_t)site->sp_bytes);
}

static const struct code_site *site_of(const struct emission *emission, uint32_t i)
{
	return &emission->plan->sites[emission->patch->first_site + i];
}

/* Where a jump to the address leads now. */
static uint64_t place_of(const struct emission *emission, uint64_t target)
{
	const struct code_function *function =
		&emission->plan->module->functions[emission->plan->function];
	const struct code_plan *plan = emission->plan;
	const struct code_patch *entry =
		plan->entry_patch < plan->n_patches ? &plan->patches[plan->entry_patch] : NULL;

	if (!entry)
		return target;
	if (emission->patch->body || entry == emission->patch)
		for (size_t i = 0; i < emission->n_moved; i++)
			if (emission->moved[i].insn.address == target)
				return emission->moved[i].label;
	/* in front of the entry's patch stands at most what marks a landing */
	if (target < function->range.start || target > entry->start)
		return target;
	if (entry == emission->patch)
		return emission->moved[0].label;
	if (!emission->resume)
		emission->buffer->refused = true; /* nobody said where */
	return emission->resume;
}

static void insn_append(struct emission *emission, struct moved_insn *moved)
{
	origin_add(emission, moved->insn.address, false);
	if (moved->insn.flags & CODE_NOP)
		return;
	code_relocate(machine_of(emission), &moved->insn, moved->bytes,
		      moved->stub ? moved->stub : place_of(emission, moved->insn.target),
		      emission->buffer);
}

/* Between the hooks of a function of one instruction: as many jumps as all other functions take from one to the other,
 * so that counted instructions are calibrated for it, too. */
static void between_append(struct emission *emission)
{
	for (unsigned int i = 0; i < 2; i++)
		code_jump_append(machine_of(emission), code_buffer_here(emission->buffer) + 4,
				 emission->buffer);
}

/* Hooks of this instruction; the label is set where jumps to it must lead: in front of an exit's hook, behind the
 * entry's. */
static void hooks_append(struct emission *emission, struct moved_insn *moved)
{
	uint64_t label = 0;

	for (uint32_t i = 0; i < emission->patch->n_sites; i++) {
		const struct code_site *site = site_of(emission, i);

		if (site->address != moved->insn.address || site->kind == CODE_SITE_TAIL_BRANCH)
			continue;
		if (!label && site->kind != CODE_SITE_ENTRY)
			label = code_buffer_here(emission->buffer);
		if (i && machine_of(emission) == EM_AARCH64 && site->kind != CODE_SITE_ENTRY &&
		    site_of(emission, i - 1)->kind == CODE_SITE_ENTRY)
			between_append(emission);
		hook_append(emission, site);
	}
	moved->label = label ? label : code_buffer_here(emission->buffer);
}

static struct moved_insn *moved_at(const struct emission *emission, uint64_t address)
{
	for (size_t i = 0; i < emission->n_moved; i++)
		if (emission->moved[i].insn.address == address)
			return &emission->moved[i];
	return NULL;
}

/* What a displacement leads to: the taken path of a branch, the entry's hook at a call. */
static bool is_led_to(const struct emission *emission, const struct code_site *site)
{
	return site->kind == CODE_SITE_TAIL_BRANCH ||
	       (site->kind == CODE_SITE_ENTRY && emission->patch->form == CODE_PATCH_RETARGET);
}

static void stubs_append(struct emission *emission)
{
	for (uint32_t i = 0; i < emission->patch->n_sites; i++) {
		const struct code_site *site = site_of(emission, i);
		struct moved_insn *moved;

		if (!is_led_to(emission, site))
			continue;
		moved = moved_at(emission, site->address);
		if (moved)
			moved->stub = code_buffer_here(emission->buffer);
		hook_append(emission, site);
		origin_add(emission, site->address, false);
		code_jump_append(machine_of(emission),
				 site->kind == CODE_SITE_ENTRY ? site->target
							       : place_of(emission, site->target),
				 emission->buffer);
	}
}

/* The hook of an exit that stays in place behind the moved run. */
static void end_append(struct emission *emission)
{
	for (uint32_t i = 0; i < emission->patch->n_sites; i++) {
		const struct code_site *site = site_of(emission, i);

		if (site->address == emission->patch->moved.end)
			hook_append(emission, site);
	}
	origin_add(emission, emission->patch->moved.end, false);
	code_jump_append(machine_of(emission), emission->patch->moved.end, emission->buffer);
}

static void layout(struct emission *emission)
{
	emission->n_origins = 0;
	for (size_t i = 0; i < emission->n_moved; i++) {
		hooks_append(emission, &emission->moved[i]);
		insn_append(emission, &emission->moved[i]);
	}
	if (emission->n_moved &&
	    !code_insn_ends_block(&emission->moved[emission->n_moved - 1].insn))
		end_append(emission);
	stubs_append(emission);
}

static enum code_emission outcome(const struct emission *emission, size_t size_first)
{
	const struct code_buffer *buffer = emission->buffer;

	if (emission->hook_failed)
		return CODE_HOOK_FAILED;
	if (buffer->full || emission->origins_full)
		return CODE_NO_SPACE;
	if (buffer->refused)
		return CODE_IMPOSSIBLE;
	if (buffer->unreachable)
		return CODE_UNREACHABLE;
	return buffer->size == size_first ? CODE_EMITTED : CODE_HOOK_FAILED;
}

static enum code_emission emit(struct emission *emission)
{
	const struct code_buffer before = *emission->buffer;
	size_t size;
	enum code_emission result;

	if (!moved_read(emission))
		return CODE_IMPOSSIBLE;
	layout(emission);
	size = emission->buffer->size;
	if (!emission->hook_failed && !emission->buffer->full) {
		/* what was out of reach of a label that was not known yet does not count */
		emission->buffer->size = before.size;
		emission->buffer->unreachable = before.unreachable;
		layout(emission);
	}
	result = outcome(emission, size);
	if (result != CODE_EMITTED)
		*emission->buffer = before;
	return result;
}

enum code_emission code_patch_emit(const struct code_plan *plan, const struct code_patch *patch,
				   uint64_t resume, const struct code_hook *hook,
				   struct code_buffer *buffer, struct code_origin *origins,
				   size_t capacity, size_t *n_origins)
{
	struct emission emission = {
		.plan = plan,
		.patch = patch,
		.hook = hook,
		.buffer = buffer,
		.origins = origins,
		.capacity = origins ? capacity : 0,
		.base = buffer->size,
		.resume = resume,
	};
	enum code_emission result;

	*n_origins = 0;
	emission.moved = calloc(MAX_MOVED, sizeof(*emission.moved));
	if (!emission.moved)
		return CODE_NO_SPACE;
	result = emit(&emission);
	*n_origins = result == CODE_EMITTED ? emission.n_origins : 0;
	free(emission.moved);
	return result;
}

static bool write_init(const struct code_plan *plan, struct code_write *write, uint64_t address,
		       uint8_t length)
{
	const uint8_t *original = code_module_bytes(plan->module, address, length);

	*write = (struct code_write){ .address = address, .length = length };
	if (!original)
		return false;
	memcpy(write->original, original, length);
	memcpy(write->bytes, original, length);
	return true;
}

/* A jump of the machine's long form at `address`. */
static bool jump_write(const struct code_plan *plan, struct code_write *write, uint64_t address,
		       uint64_t target)
{
	const uint16_t machine = code_module_machine(plan->module);
	struct code_buffer buffer = { .bytes = write->bytes,
				      .capacity = sizeof(write->bytes),
				      .address = address };

	if (!write_init(plan, write, address, machine == EM_AARCH64 ? 4 : 5))
		return false;
	code_jump_append(machine, target, &buffer);
	return code_buffer_good(&buffer);
}

/* x86-64: the last four bytes of a jump or branch; AArch64: the jump itself. */
static bool retarget_write(const struct code_plan *plan, struct code_write *write,
			   const struct code_patch *patch, uint64_t target)
{
	const uint64_t end = patch->busy.end;
	const int64_t distance = (int64_t)(target - end);

	if (code_module_machine(plan->module) == EM_AARCH64)
		return jump_write(plan, write, patch->start, target);
	if (!write_init(plan, write, end - 4, 4) || distance < INT32_MIN || distance > INT32_MAX)
		return false;
	for (unsigned int i = 0; i < 4; i++)
		write->bytes[i] = (uint8_t)((uint64_t)distance >> 8 * i);
	return true;
}

/* The 8 bits of displacement to the island: behind the opcode of a branch, or in a short jump. */
static bool short_write(const struct code_plan *plan, struct code_write *write,
			const struct code_patch *patch)
{
	const bool branch = patch->form == CODE_PATCH_RETARGET_ISLAND;
	const uint64_t end = branch ? patch->busy.end : patch->start + 2;
	const int64_t distance = (int64_t)(patch->island - end);

	if (distance < INT8_MIN || distance > INT8_MAX)
		return false;
	if (!write_init(plan, write, branch ? end - 1 : patch->start, branch ? 1 : 2))
		return false;
	if (!branch)
		write->bytes[0] = 0xeb;
	write->bytes[write->length - 1] = (uint8_t)distance;
	return true;
}

size_t code_patch_writes(const struct code_plan *plan, const struct code_patch *patch,
			 uint64_t trampoline, struct code_write writes[CODE_PATCH_MAX_WRITES])
{
	switch (patch->form) {
	case CODE_PATCH_JUMP: return jump_write(plan, &writes[0], patch->start, trampoline);
	case CODE_PATCH_RETARGET: return retarget_write(plan, &writes[0], patch, trampoline);
	case CODE_PATCH_ISLAND:
	case CODE_PATCH_RETARGET_ISLAND:
		return jump_write(plan, &writes[0], patch->island, trampoline) &&
				       short_write(plan, &writes[1], patch)
			       ? 2
			       : 0;
	default: return 0;
	}
}

uint64_t code_reach_bytes(uint16_t machine)
{
	/* one page less than the displacements allow, for the length of a trampoline page */
	return machine == EM_AARCH64 ? (UINT64_C(1) << 27) - (64u << 10)
				     : (UINT64_C(1) << 31) - (64u << 10);
}
