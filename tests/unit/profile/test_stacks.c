/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "base/random.h"
#include "profile/stacks.h"
#include "support/test.h"

static uint32_t add(struct stacks *stacks, const struct stack *stack)
{
	uint32_t index = UINT32_MAX;

	assert_int_equal(stacks_add(stacks, stack, &index, NULL), STATUS_OK);
	return index;
}

static void equal_stacks_are_one_and_their_chain_is_copied(void **state)
{
	uint64_t chain[] = { 1, 2, 3 };
	struct stack stack = { .ip = 1, .chain = chain, .n_chain = 3, .generation = 4 };
	struct stacks stacks;

	(void)state;
	stacks_init(&stacks);
	assert_int_equal(add(&stacks, &stack), 0);
	chain[2] = 99;
	assert_int_equal(stacks.items[0].chain[2], 3);
	chain[2] = 3;
	assert_int_equal(add(&stacks, &stack), 0);
	assert_int_equal(stacks.n, 1);
	stacks_release(&stacks);
}

static void whatever_differs_makes_another_stack(void **state)
{
	uint64_t chain[] = { 1, 2, 3 }, other[] = { 1, 2, 4 };
	const struct stack base = { .ip = 1, .chain = chain, .n_chain = 3 };
	struct stack differs[7];
	struct stacks stacks;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		differs[i] = base;
	differs[0].ip = 2;
	differs[1].chain = other;
	differs[2].n_chain = 2;
	differs[3].generation = 1;
	differs[4].tag = 1;
	differs[5].cpumode = 1;
	differs[6].cut = STACK_CUT_DUMP;
	stacks_init(&stacks);
	add(&stacks, &base);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(add(&stacks, &differs[i]), i + 1);
	stacks_release(&stacks);
}

static void a_stack_without_a_chain_is_its_address_alone(void **state)
{
	const struct stack one = { .ip = 1 }, two = { .ip = 2 };
	struct stacks stacks;

	(void)state;
	stacks_init(&stacks);
	assert_int_equal(add(&stacks, &one), 0);
	assert_int_equal(add(&stacks, &two), 1);
	assert_int_equal(add(&stacks, &one), 0);
	stacks_release(&stacks);
}

static void a_chain_beyond_the_maximum_is_cut_and_marked(void **state)
{
	static uint64_t chain[STACKS_MAX_ADDRESSES + 1];
	const struct stack stack = { .chain = chain, .n_chain = STACKS_MAX_ADDRESSES + 1 };
	struct stacks stacks;

	(void)state;
	stacks_init(&stacks);
	add(&stacks, &stack);
	assert_int_equal(stacks.items[0].n_chain, STACKS_MAX_ADDRESSES);
	assert_int_equal(stacks.items[0].cut, STACK_CUT_DEPTH);
	stacks_release(&stacks);
}

static void many_stacks_keep_their_numbers_and_chains(void **state)
{
	uint64_t chain[20];
	struct stack stack = { .chain = chain };
	struct stacks stacks;

	(void)state;
	stacks_init(&stacks);
	for (int round = 0; round < 2; round++)
		for (uint32_t i = 0; i < 50000; i++) {
			stack.n_chain = 1 + i % 20;
			for (uint32_t k = 0; k < stack.n_chain; k++)
				chain[k] = i * 31ull + k;
			assert_int_equal(add(&stacks, &stack), i);
		}
	assert_int_equal(stacks.n, 50000);
	assert_int_equal(stacks.items[33333].chain[2], 33333 * 31 + 2);
	stacks_release(&stacks);
}

/* Filed in random order of cells, as a file whose records are out of order would do. */
static void counts_add_up_per_cell_in_any_order(void **state)
{
	const struct stack stack = { .ip = 1 };
	unsigned int expected[30] = { 0 };
	struct random random;
	struct stacks stacks;
	size_t cells = 0;

	(void)state;
	random_init(&random, 3, 0, 0, 0);
	stacks_init(&stacks);
	add(&stacks, &stack);
	for (int i = 0; i < 5000; i++) {
		const uint32_t cell = (uint32_t)random_below(&random, 30);

		assert_int_equal(stacks_count(&stacks, 0, cell, 0.5, NULL), STATUS_OK);
		expected[cell]++;
	}
	for (uint32_t at = stacks.items[0].counts; at != STACKS_END; at = stacks.counts[at].next) {
		assert_int_equal(stacks.counts[at].count, expected[stacks.counts[at].cell]);
		assert_true(stacks.counts[at].weight == 0.5 * stacks.counts[at].count);
		cells++;
	}
	assert_int_equal(cells, 30);
	assert_int_equal(stacks.n_counts, 30);
	stacks_release(&stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_one_and_their_chain_is_copied),
		cmocka_unit_test(whatever_differs_makes_another_stack),
		cmocka_unit_test(a_stack_without_a_chain_is_its_address_alone),
		cmocka_unit_test(a_chain_beyond_the_maximum_is_cut_and_marked),
		cmocka_unit_test(many_stacks_keep_their_numbers_and_chains),
		cmocka_unit_test(counts_add_up_per_cell_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
