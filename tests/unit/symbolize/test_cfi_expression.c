/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/cfi_expression.h"

#include <dwarf.h>

#include "support/test.h"

/* Register n holds 1000 * n for n < 10; memory at a holds a * 2 below 4096. */
static bool test_register(void *state, uint64_t reg, uint64_t *value)
{
	(void)state;
	*value = 1000 * reg;
	return reg < 10;
}

static bool test_memory(void *state, uint64_t address, unsigned int size, uint64_t *value)
{
	(void)state;
	*value = address * 2;
	if (size < 8)
		*value &= (UINT64_C(1) << (8 * size)) - 1;
	return address < 4096;
}

static const struct cfi_machine machine = {
	.register_get = test_register,
	.memory_read = test_memory,
	.is_64_bit = true,
};

#define EVALUATE(result, initial, ...)                                                            \
	({                                                                                        \
		static const uint8_t code_[] = { __VA_ARGS__ };                                   \
		cfi_expression_evaluate(&machine, bytes_of(code_, sizeof(code_), false), initial, \
					result);                                                  \
	})

#define GIVES(expected, ...)                                        \
	do {                                                        \
		uint64_t result_ = 0;                               \
		assert_true(EVALUATE(&result_, NULL, __VA_ARGS__)); \
		assert_int_equal(result_, expected);                \
	} while (0)

#define REFUSED(...)                                                 \
	do {                                                         \
		uint64_t result_;                                    \
		assert_false(EVALUATE(&result_, NULL, __VA_ARGS__)); \
	} while (0)

static void numbers_of_every_size_and_sign_are_pushed(void **state)
{
	(void)state;
	GIVES(7, DW_OP_lit7);
	GIVES(200, DW_OP_const1u, 200);
	GIVES((uint64_t)-56, DW_OP_const1s, 200);
	GIVES(0xfffe, DW_OP_const2u, 0xfe, 0xff);
	GIVES((uint64_t)-2, DW_OP_const2s, 0xfe, 0xff);
	GIVES(0xfffffffe, DW_OP_const4u, 0xfe, 0xff, 0xff, 0xff);
	GIVES((uint64_t)-2, DW_OP_const4s, 0xfe, 0xff, 0xff, 0xff);
	GIVES(0x0807060504030201, DW_OP_const8u, 1, 2, 3, 4, 5, 6, 7, 8);
	GIVES(12857, DW_OP_constu, 57 + 0x80, 100);
	GIVES((uint64_t)-127, DW_OP_consts, 0x81, 0x7f);
	GIVES(0x0807060504030201, DW_OP_addr, 1, 2, 3, 4, 5, 6, 7, 8);
}

static void arithmetic_takes_the_first_pushed_as_the_left_operand(void **state)
{
	(void)state;
	GIVES(3, DW_OP_lit10, DW_OP_lit7, DW_OP_minus);
	GIVES((uint64_t)-5, DW_OP_const1s, 0xf6, DW_OP_lit2, DW_OP_div);
	GIVES(1, DW_OP_lit10, DW_OP_lit3, DW_OP_mod);
	GIVES(40, DW_OP_lit10, DW_OP_lit2, DW_OP_shl);
	GIVES((uint64_t)-3, DW_OP_const1s, 0xf4, DW_OP_lit2, DW_OP_shra);
	GIVES(1, DW_OP_const1s, 0xff, DW_OP_lit1, DW_OP_lt);
	GIVES(0, DW_OP_lit0, DW_OP_lit1, DW_OP_ge);
	GIVES(5, DW_OP_const1s, 0xfb, DW_OP_abs);
	GIVES(12, DW_OP_lit4, DW_OP_plus_uconst, 8);
}

static void stack_operations_move_what_they_name(void **state)
{
	(void)state;
	GIVES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_drop);
	GIVES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_over);
	GIVES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_swap);
	GIVES(2, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot);
	GIVES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop);
	GIVES(3, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_rot, DW_OP_drop, DW_OP_drop);
	GIVES(1, DW_OP_lit1, DW_OP_lit2, DW_OP_lit3, DW_OP_pick, 2);
	GIVES(9, DW_OP_lit3, DW_OP_dup, DW_OP_mul);
}

static void registers_and_memory_are_read_through_the_machine(void **state)
{
	const uint64_t cfa = 500;
	uint64_t result;

	(void)state;
	GIVES(3010, DW_OP_breg3, 10);
	GIVES(2999, DW_OP_bregx, 3, 0x7f);
	GIVES(2000, DW_OP_breg1, 0, DW_OP_deref);
	GIVES(0xd0, DW_OP_breg1, 0, DW_OP_deref_size, 1);
	assert_true(EVALUATE(&result, &cfa, DW_OP_lit8, DW_OP_minus));
	assert_int_equal(result, 492);
}

/* What the linker writes for x86-64's PLT: rsp + 8 + ((rip & 15) >= 11) * 8, here with registers that
 * stand in for rsp (7) and rip (3). */
static void the_expression_of_a_plt_is_evaluated(void **state)
{
	(void)state;
	GIVES(7008, DW_OP_breg7, 8, DW_OP_breg3, 0, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
	      DW_OP_lit3, DW_OP_shl, DW_OP_plus);
	GIVES(7016, DW_OP_breg7, 8, DW_OP_breg3, 5, DW_OP_lit15, DW_OP_and, DW_OP_lit11, DW_OP_ge,
	      DW_OP_lit3, DW_OP_shl, DW_OP_plus);
}

static void branches_go_both_ways_and_only_inside(void **state)
{
	(void)state;
	GIVES(5, DW_OP_lit1, DW_OP_bra, 2, 0, DW_OP_lit9, DW_OP_lit9, DW_OP_lit5);
	GIVES(9, DW_OP_lit9, DW_OP_skip, 1, 0, DW_OP_drop);
	REFUSED(DW_OP_lit1, DW_OP_skip, 100, 0);
	REFUSED(DW_OP_lit1, DW_OP_skip, 0xf0, 0xff);
}

static void an_expression_that_never_ends_is_given_up(void **state)
{
	(void)state;
	REFUSED(DW_OP_skip, 0xfd, 0xff);
	REFUSED(DW_OP_lit1, DW_OP_skip, 0xfc, 0xff);
}

static void what_cannot_be_evaluated_is_refused(void **state)
{
	(void)state;
	REFUSED(DW_OP_drop);
	REFUSED(DW_OP_nop);
	REFUSED(DW_OP_lit1, DW_OP_plus);
	REFUSED(DW_OP_lit1, DW_OP_lit0, DW_OP_div);
	REFUSED(DW_OP_lit1, DW_OP_lit0, DW_OP_mod);
	REFUSED(DW_OP_const8u, 0, 0, 0, 0, 0, 0, 0, 0x80, DW_OP_const1s, 0xff, DW_OP_div);
	REFUSED(DW_OP_breg20, 0);
	REFUSED(DW_OP_const2u, 0xff, 0xff, DW_OP_deref);
	REFUSED(DW_OP_lit1, DW_OP_deref_size, 3);
	REFUSED(DW_OP_const4u, 1, 2);
	REFUSED(DW_OP_lit1, DW_OP_lit2, DW_OP_call2, 0, 0);
	REFUSED(0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_every_size_and_sign_are_pushed),
		cmocka_unit_test(arithmetic_takes_the_first_pushed_as_the_left_operand),
		cmocka_unit_test(stack_operations_move_what_they_name),
		cmocka_unit_test(registers_and_memory_are_read_through_the_machine),
		cmocka_unit_test(the_expression_of_a_plt_is_evaluated),
		cmocka_unit_test(branches_go_both_ways_and_only_inside),
		cmocka_unit_test(an_expression_that_never_ends_is_given_up),
		cmocka_unit_test(what_cannot_be_evaluated_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
