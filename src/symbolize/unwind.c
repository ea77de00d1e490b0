/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One step after the other, from the sampled registers to the outermost frame:
 *
 *	pc -> module and its unwind row -> CFA -> return address and callee-saved registers of the caller
 *
 * Where no frame information covers the pc: a signal trampoline is recognised by its code, else the frame
 * pointer is believed if it leads to a return address inside a known module.
 */
#include "symbolize/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "symbolize/cfi_cache.h"
#include "symbolize/cfi_expression.h"
#include "symbolize/signal_frame.h"
#include "symbolize/symbolizer_state.h"
#include "symbolize/unwind_registers.h"

/* How far above the dump an address may lie to count as the rest of the same stack. */
#define MAX_STACK_BYTES (UINT64_C(1) << 32)

struct unwinder {
	struct symbolizer *symbolizer;
};

struct walk {
	const struct unwind_machine *machine;
	const struct unwind_sample *sample;
	const struct unwind_space *space;
	struct unwind_registers registers;
	uint64_t stack_start;
	bool interrupted;    /* the pc is where the frame stood, not a return address */
	bool crossed_signal; /* the stack may have been switched */
	bool exhausted;      /* a read went past the dump */
};

enum step {
	STEP_CALLER,    /* the registers are the caller's now */
	STEP_OUTERMOST, /* there is no caller */
	STEP_LOST,      /* nothing tells where the caller is */
};

enum status unwinder_new(struct unwinder **unwinder, struct symbolizer *symbolizer,
			 struct error *error)
{
	*unwinder = calloc(1, sizeof(**unwinder));
	if (!*unwinder)
		return error_set(error, STATUS_NO_MEMORY, "no memory for an unwinder");
	(*unwinder)->symbolizer = symbolizer;
	return STATUS_OK;
}

void unwinder_free(struct unwinder *unwinder)
{
	free(unwinder);
}

static bool walk_memory(void *state, uint64_t address, unsigned int size, uint64_t *value)
{
	struct walk *walk = state;
	const struct unwind_sample *sample = walk->sample;
	const uint64_t offset = address - walk->stack_start;

	*value = 0;
	if (offset >= sample->stack_size || sample->stack_size - offset < size) {
		if (offset < MAX_STACK_BYTES || walk->crossed_signal)
			walk->exhausted = true;
		return false;
	}
	/* Both architectures are little-endian where they run Linux. */
	for (unsigned int i = 0; i < size; i++)
		*value |= (uint64_t)((const uint8_t *)sample->stack)[offset + i] << (8 * i);
	return true;
}

static bool walk_register(void *state, uint64_t reg, uint64_t *value)
{
	struct walk *walk = state;

	return unwind_register_get(&walk->registers, reg, value);
}

static bool expression(struct walk *walk, const struct cfi_rule *rule, const uint64_t *initial,
		       uint64_t *result)
{
	const struct cfi_machine machine = {
		.state = walk,
		.register_get = walk_register,
		.memory_read = walk_memory,
		.is_64_bit = walk->machine->is_64_bit,
	};

	return cfi_expression_evaluate(&machine,
				       bytes_of(rule->expression, rule->expression_size, false),
				       initial, result);
}

/* The value that a rule gives; false when it is not known. */
static bool rule_value(struct walk *walk, const struct cfi_rule *rule, uint64_t cfa, uint64_t reg,
		       uint64_t *value)
{
	const unsigned int word = walk->machine->word_size;
	uint64_t address;

	switch ((enum cfi_rule_kind)rule->kind) {
	case CFI_SAME: return walk_register(walk, reg, value);
	case CFI_UNDEFINED: return false;
	case CFI_AT_CFA: return walk_memory(walk, cfa + (uint64_t)rule->offset, word, value);
	case CFI_CFA_PLUS: *value = cfa + (uint64_t)rule->offset; return true;
	case CFI_REGISTER: return walk_register(walk, rule->reg, value);
	case CFI_AT_EXPRESSION:
		return expression(walk, rule, &cfa, &address) &&
		       walk_memory(walk, address, word, value);
	case CFI_IS_EXPRESSION: return expression(walk, rule, &cfa, value);
	}
	return false;
}

static bool row_cfa(struct walk *walk, const struct cfi_row *row, uint64_t *cfa)
{
	if (row->cfa.kind == CFI_IS_EXPRESSION)
		return expression(walk, &row->cfa, NULL, cfa);
	if (row->cfa.kind != CFI_CFA_PLUS || !walk_register(walk, row->cfa_register, cfa))
		return false;
	*cfa += (uint64_t)row->cfa.offset;
	return true;
}

/* A stack grows down, so a caller's frame lies above; only a signal handler may stand on another one. */
static bool moves_on(const struct walk *walk, uint64_t new_sp, uint64_t new_pc, bool is_signal)
{
	const uint64_t sp = walk->registers.value[walk->machine->sp];

	return is_signal || new_sp > sp || (new_sp == sp && new_pc != walk->registers.pc);
}

static enum step step_by_row(struct walk *walk, const struct cfi_row *row)
{
	const struct cfi_rule *return_rule = &row->rules[row->return_column];
	struct unwind_registers caller = { 0 };
	uint64_t cfa, sp;

	if (return_rule->kind == CFI_UNDEFINED)
		return STEP_OUTERMOST;
	if (!row_cfa(walk, row, &cfa) ||
	    !rule_value(walk, return_rule, cfa, row->return_column, &caller.pc))
		return STEP_LOST;
	for (uint64_t reg = 0; reg < CFI_N_REGISTERS; reg++) {
		uint64_t value;

		if (rule_value(walk, &row->rules[reg], cfa, reg, &value))
			unwind_register_set(&caller, reg, value);
	}
	/* What calls do not preserve stays in the set: it is only read where a rule asks for it. The
	 * caller's stack pointer is the CFA unless a rule says otherwise. */
	if (row->rules[walk->machine->sp].kind == CFI_SAME)
		unwind_register_set(&caller, walk->machine->sp, cfa);
	caller.pc = unwind_code_address(walk->machine, caller.pc);
	sp = caller.value[walk->machine->sp];
	if (!caller.pc)
		return STEP_OUTERMOST;
	if (!moves_on(walk, sp, caller.pc, row->is_signal))
		return STEP_LOST;
	unwind_register_set(&caller, walk->machine->pc, caller.pc);
	walk->registers = caller;
	walk->interrupted = row->is_signal;
	walk->crossed_signal |= row->is_signal;
	return STEP_CALLER;
}

static enum step step_by_signal_frame(struct walk *walk)
{
	const uint64_t sp = walk->registers.value[walk->machine->sp];
	struct unwind_registers interrupted = { 0 };

	for (uint64_t reg = 0; reg < CFI_N_REGISTERS; reg++) {
		const int64_t offset = signal_frame_offset(walk->machine->machine, (int)reg);
		uint64_t value;

		if (offset < 0)
			continue;
		if (!walk_memory(walk, sp + (uint64_t)offset, 8, &value))
			return STEP_LOST;
		unwind_register_set(&interrupted, reg, value);
	}
	if (!walk_memory(walk,
			 sp + (uint64_t)signal_frame_offset(walk->machine->machine, MACHINE_PC), 8,
			 &interrupted.pc))
		return STEP_LOST;
	unwind_register_set(&interrupted, walk->machine->pc, interrupted.pc);
	walk->registers = interrupted;
	walk->interrupted = true;
	walk->crossed_signal = true;
	return STEP_CALLER;
}

/* A frame record: the caller's frame pointer, then the return address. */
static enum step step_by_frame_pointer(struct walk *walk)
{
	const struct unwind_machine *machine = walk->machine;
	const unsigned int word = machine->word_size;
	struct module *module;
	uint64_t fp, sp, saved, pc, bias;

	if (!walk_register(walk, machine->fp, &fp) || !walk_register(walk, machine->sp, &sp))
		return STEP_LOST;
	if (!fp)
		return STEP_OUTERMOST;
	if (fp < sp || fp % word || !walk_memory(walk, fp, word, &saved) ||
	    !walk_memory(walk, fp + word, word, &pc))
		return STEP_LOST;
	pc = unwind_code_address(machine, pc);
	if (!pc)
		return STEP_OUTERMOST;
	if (!walk->space->find(walk->space->state, (struct runtime_address){ pc - 1 }, &module,
			       &bias))
		return STEP_LOST;
	walk->registers.pc = pc;
	unwind_register_set(&walk->registers, machine->pc, pc);
	unwind_register_set(&walk->registers, machine->fp, saved);
	unwind_register_set(&walk->registers, machine->sp, fp + 2 * word);
	/* The link register of a caller is not known. */
	if (machine->machine == EM_AARCH64)
		walk->registers.known &= ~(UINT64_C(1) << 30);
	walk->interrupted = false;
	return STEP_CALLER;
}

static enum step walk_step(struct walk *walk)
{
	const uint64_t lookup = walk->registers.pc - (walk->interrupted ? 0 : 1);
	const struct cfi_row *row = NULL;
	struct module *module = NULL;
	uint64_t bias;

	if (walk->space->find(walk->space->state, (struct runtime_address){ lookup }, &module,
			      &bias) &&
	    module) {
		struct cfi_cache *cache = module_cfi(module);

		row = cache ? cfi_cache_at(cache, lookup - bias) : NULL;
		if (row)
			return step_by_row(walk, row);
		if (cache && signal_frame_is(cache->file, walk->registers.pc - bias))
			return step_by_signal_frame(walk);
	}
	return step_by_frame_pointer(walk);
}

size_t unwind(struct unwinder *unwinder, const struct unwind_sample *sample,
	      const struct unwind_space *space, uint64_t *addresses, size_t capacity,
	      enum unwind_end *end)
{
	struct walk walk = {
		.machine = unwind_machine_find(sample->machine),
		.sample = sample,
		.space = space,
		.interrupted = true,
	};
	size_t n = 0;

	(void)unwinder;
	*end = UNWIND_NO_CFI;
	if (!walk.machine || !unwind_registers_load(&walk.registers, walk.machine, sample))
		return 0;
	if (capacity > UNWIND_MAX_FRAMES)
		capacity = UNWIND_MAX_FRAMES;
	walk.stack_start = walk.registers.value[walk.machine->sp];
	for (;;) {
		enum step step;

		if (n == capacity) {
			*end = UNWIND_DEPTH;
			return n;
		}
		/* The reader takes one off all but the first, as for any return address. */
		addresses[n] = walk.registers.pc + (n && walk.interrupted);
		n++;
		step = walk_step(&walk);
		if (step == STEP_CALLER)
			continue;
		if (step == STEP_OUTERMOST)
			*end = UNWIND_COMPLETE;
		else if (walk.exhausted)
			*end = UNWIND_DUMP_EXHAUSTED;
		return n;
	}
}
