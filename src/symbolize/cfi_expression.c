/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cfi_expression.h"

#include <dwarf.h>

#include "symbolize/encoded_pointer.h"

struct evaluation {
	const struct cfi_machine *machine;
	const uint8_t *start;
	struct bytes code;
	uint64_t stack[CFI_EXPRESSION_MAX_STACK];
	unsigned int depth;
	bool failed;
};

static void push(struct evaluation *evaluation, uint64_t value)
{
	if (evaluation->depth == CFI_EXPRESSION_MAX_STACK)
		evaluation->failed = true;
	else
		evaluation->stack[evaluation->depth++] = value;
}

static uint64_t pop(struct evaluation *evaluation)
{
	if (!evaluation->depth) {
		evaluation->failed = true;
		return 0;
	}
	return evaluation->stack[--evaluation->depth];
}

/* The value `index` places below the top. */
static uint64_t peek(struct evaluation *evaluation, unsigned int index)
{
	if (index >= evaluation->depth) {
		evaluation->failed = true;
		return 0;
	}
	return evaluation->stack[evaluation->depth - 1 - index];
}

static uint8_t byte_take(struct evaluation *evaluation)
{
	const uint8_t *byte = bytes_take(&evaluation->code, 1);

	return byte ? *byte : 0;
}

static void push_register(struct evaluation *evaluation, uint64_t reg)
{
	const uint64_t offset = bytes_leb128(&evaluation->code, true);
	uint64_t value = 0;

	if (!evaluation->machine->register_get(evaluation->machine->state, reg, &value))
		evaluation->failed = true;
	push(evaluation, value + offset);
}

static void dereference(struct evaluation *evaluation, unsigned int size)
{
	uint64_t value = 0;

	if ((size != 1 && size != 2 && size != 4 && size != 8) ||
	    !evaluation->machine->memory_read(evaluation->machine->state, pop(evaluation), size,
					      &value))
		evaluation->failed = true;
	push(evaluation, value);
}

/* Constants and other operations that take operands from the code. False: not one of them. */
static bool step_operand(struct evaluation *evaluation, uint8_t op)
{
	struct bytes *code = &evaluation->code;
	const unsigned int word = evaluation->machine->is_64_bit ? 8 : 4;

	switch (op) {
	case DW_OP_addr: push(evaluation, word == 8 ? bytes_u64(code) : bytes_u32(code)); break;
	case DW_OP_const1u: push(evaluation, byte_take(evaluation)); break;
	case DW_OP_const1s:
		push(evaluation, (uint64_t)(int64_t)(int8_t)byte_take(evaluation));
		break;
	case DW_OP_const2u: push(evaluation, bytes_u16(code)); break;
	case DW_OP_const2s: push(evaluation, (uint64_t)(int64_t)(int16_t)bytes_u16(code)); break;
	case DW_OP_const4u: push(evaluation, bytes_u32(code)); break;
	case DW_OP_const4s: push(evaluation, (uint64_t)(int64_t)(int32_t)bytes_u32(code)); break;
	case DW_OP_const8u:
	case DW_OP_const8s: push(evaluation, bytes_u64(code)); break;
	case DW_OP_constu: push(evaluation, bytes_leb128(code, false)); break;
	case DW_OP_consts: push(evaluation, bytes_leb128(code, true)); break;
	case DW_OP_plus_uconst:
		push(evaluation, pop(evaluation) + bytes_leb128(code, false));
		break;
	case DW_OP_bregx: push_register(evaluation, bytes_leb128(code, false)); break;
	case DW_OP_pick: push(evaluation, peek(evaluation, byte_take(evaluation))); break;
	case DW_OP_deref: dereference(evaluation, word); break;
	case DW_OP_deref_size: dereference(evaluation, byte_take(evaluation)); break;
	default: return false;
	}
	return true;
}

static bool step_stack(struct evaluation *evaluation, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case DW_OP_nop: break;
	case DW_OP_dup: push(evaluation, peek(evaluation, 0)); break;
	case DW_OP_drop: pop(evaluation); break;
	case DW_OP_over: push(evaluation, peek(evaluation, 1)); break;
	case DW_OP_swap:
		a = pop(evaluation);
		b = pop(evaluation);
		push(evaluation, a);
		push(evaluation, b);
		break;
	case DW_OP_rot:
		a = pop(evaluation);
		b = pop(evaluation);
		c = pop(evaluation);
		push(evaluation, a);
		push(evaluation, c);
		push(evaluation, b);
		break;
	case DW_OP_abs:
		a = pop(evaluation);
		push(evaluation, (int64_t)a < 0 ? 0 - a : a);
		break;
	case DW_OP_neg: push(evaluation, 0 - pop(evaluation)); break;
	case DW_OP_not: push(evaluation, ~pop(evaluation)); break;
	default: return false;
	}
	return true;
}

static uint64_t shifted(uint8_t op, uint64_t value, uint64_t by)
{
	if (op == DW_OP_shl)
		return by < 64 ? value << by : 0;
	if (op == DW_OP_shr)
		return by < 64 ? value >> by : 0;
	/* arithmetic, without relying on how the compiler shifts negative numbers */
	if (by >= 64)
		by = 63;
	return value >> by | (value >> 63 && by ? UINT64_MAX << (64 - by) : 0);
}

/* Two operands: `left` was pushed first. */
static bool binary(uint8_t op, uint64_t left, uint64_t right, uint64_t *result)
{
	const int64_t l = (int64_t)left, r = (int64_t)right;

	switch (op) {
	case DW_OP_and: *result = left & right; break;
	case DW_OP_or: *result = left | right; break;
	case DW_OP_xor: *result = left ^ right; break;
	case DW_OP_plus: *result = left + right; break;
	case DW_OP_minus: *result = left - right; break;
	case DW_OP_mul: *result = left * right; break;
	case DW_OP_div:
		if (!r || (l == INT64_MIN && r == -1))
			return false;
		*result = (uint64_t)(l / r);
		break;
	case DW_OP_mod:
		if (!right)
			return false;
		*result = left % right;
		break;
	case DW_OP_shl:
	case DW_OP_shr:
	case DW_OP_shra: *result = shifted(op, left, right); break;
	case DW_OP_eq: *result = l == r; break;
	case DW_OP_ne: *result = l != r; break;
	case DW_OP_lt: *result = l < r; break;
	case DW_OP_le: *result = l <= r; break;
	case DW_OP_gt: *result = l > r; break;
	case DW_OP_ge: *result = l >= r; break;
	default: return false;
	}
	return true;
}

static void jump(struct evaluation *evaluation, bool taken)
{
	const int16_t by = (int16_t)bytes_u16(&evaluation->code);
	const ptrdiff_t target = evaluation->code.at - evaluation->start + by;

	if (!taken)
		return;
	if (target < 0 || target > evaluation->code.end - evaluation->start)
		evaluation->failed = true;
	else
		evaluation->code.at = evaluation->start + target;
}

static void step(struct evaluation *evaluation)
{
	const uint8_t op = byte_take(evaluation);
	uint64_t left, right, result;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(evaluation, (uint64_t)op - DW_OP_lit0);
	} else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_register(evaluation, (uint64_t)op - DW_OP_breg0);
	} else if (op == DW_OP_skip) {
		jump(evaluation, true);
	} else if (op == DW_OP_bra) {
		jump(evaluation, pop(evaluation) != 0);
	} else if (!step_operand(evaluation, op) && !step_stack(evaluation, op)) {
		right = pop(evaluation);
		left = pop(evaluation);
		if (binary(op, left, right, &result))
			push(evaluation, result);
		else
			evaluation->failed = true;
	}
}

bool cfi_expression_evaluate(const struct cfi_machine *machine, struct bytes expression,
			     const uint64_t *initial, uint64_t *result)
{
	struct evaluation evaluation = {
		.machine = machine,
		.start = expression.at,
		.code = expression,
	};

	if (initial)
		push(&evaluation, *initial);
	for (unsigned int steps = 0; bytes_left(&evaluation.code); steps++) {
		if (steps == CFI_EXPRESSION_MAX_STEPS)
			return false;
		step(&evaluation);
		if (evaluation.failed || evaluation.code.failed)
			return false;
	}
	*result = pop(&evaluation);
	return !evaluation.failed;
}
