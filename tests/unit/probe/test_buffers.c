/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/buffers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const enum probe_mode modes[] = { PROBE_COUNT, PROBE_TIME, PROBE_STATE, PROBE_TRACE };
static const uint32_t sizes[] = { 0, 1, 10, 300, 5000 };
static const uint64_t limits[] = { 1u << 20, BUFFERS_DEFAULT_BYTES, 1u << 28 };

#define N(list) (sizeof(list) / sizeof(*(list)))

static uint64_t one_block(const struct buffers_plan *plan)
{
	struct buffers_plan one = *plan;

	one.n_blocks_now = 1;
	return buffers_touched_bytes(&one);
}

static void memory_stays_within_the_limit_unless_one_block_is_more(void **state)
{
	(void)state;
	for (size_t m = 0; m < N(modes); m++)
		for (size_t s = 0; s < N(sizes); s++)
			for (size_t l = 0; l < N(limits); l++) {
				struct buffers_plan plan;

				buffers_plan_make(&plan, modes[m], sizes[s], limits[l]);
				if (one_block(&plan) <= limits[l])
					assert_true(buffers_touched_bytes(&plan) <= limits[l]);
				else
					assert_int_equal(plan.n_blocks, 1);
			}
}

static void parts_of_a_block_do_not_overlap(void **state)
{
	(void)state;
	for (size_t m = 0; m < N(modes); m++)
		for (size_t s = 0; s < N(sizes); s++) {
			struct buffers_plan plan;
			uint64_t end;

			buffers_plan_make(&plan, modes[m], sizes[s], BUFFERS_DEFAULT_BYTES);
			end = AGENT_FUNCTIONS_OFFSET +
			      (uint64_t)plan.n_functions * plan.function_bytes;
			assert_true(end <= plan.pool_offset);
			assert_int_equal(plan.pool_offset % AGENT_PAGE, 0);
			end = plan.pool_offset;
			if (probe_mode_measures(modes[m]))
				end += AGENT_FRAMES * sizeof(struct agent_frame);
			if (modes[m] == PROBE_STATE) {
				assert_true(plan.state_offset >= end);
				end = plan.state_offset + AGENT_STATES * sizeof(struct agent_state);
			}
			if (modes[m] == PROBE_TRACE) {
				assert_true(plan.record_offset >= end);
				end = plan.record_offset +
				      plan.n_records * sizeof(struct agent_record);
			}
			assert_true(end <= plan.block_bytes);
			assert_true(plan.overflow_offset + 8u * plan.n_functions <=
				    plan.blocks_offset);
			assert_int_equal(plan.bytes, plan.blocks_offset + (uint64_t)plan.n_blocks *
										  plan.block_bytes);
		}
}

static void all_functions_of_a_large_library_fit_later_by_default(void **state)
{
	(void)state;
	for (size_t m = 0; m < N(modes); m++) {
		struct buffers_plan plan;

		buffers_plan_make(&plan, modes[m], 0, BUFFERS_DEFAULT_BYTES);
		assert_true(buffers_slots_most(&plan, 0) >= 2048);
		assert_true(buffers_slots_most(&plan, 0) <= plan.n_functions);
	}
}

static void later_functions_take_room_from_blocks_that_nobody_has(void **state)
{
	(void)state;
	for (size_t m = 0; m < N(modes); m++)
		for (uint32_t taken = 0; taken < 40; taken += 13) {
			struct buffers_plan plan;
			struct agent_shared *shared = calloc(1, sizeof(*shared));
			uint32_t most;

			assert_non_null(shared);
			buffers_plan_make(&plan, modes[m], 10, BUFFERS_DEFAULT_BYTES);
			buffers_header_fill(shared, &plan, 1, 0);
			shared->blocks_taken = taken < plan.n_blocks ? taken : plan.n_blocks;
			most = buffers_slots_most(&plan, (uint32_t)shared->blocks_taken);
			assert_true(most >= plan.n_used);
			buffers_slots_use(&plan, (uint8_t *)shared, most);
			assert_true(buffers_touched_bytes(&plan) <= BUFFERS_DEFAULT_BYTES);
			assert_int_equal(shared->n_blocks, plan.n_blocks_now);
			assert_true(plan.n_blocks_now >= shared->blocks_taken);
			assert_true(plan.n_blocks_now <= plan.n_blocks);
			free(shared);
		}
}

static void a_thread_that_asked_meanwhile_keeps_its_block(void **state)
{
	struct agent_shared *shared = calloc(1, sizeof(*shared));
	struct buffers_plan plan;
	uint32_t most;

	(void)state;
	assert_non_null(shared);
	buffers_plan_make(&plan, PROBE_TIME, 1, BUFFERS_DEFAULT_BYTES);
	buffers_header_fill(shared, &plan, 1, 0);
	most = buffers_slots_most(&plan, 0);
	shared->blocks_taken = plan.n_blocks;
	buffers_slots_use(&plan, (uint8_t *)shared, most);
	assert_int_equal(shared->n_blocks, plan.n_blocks);
	assert_int_equal(plan.n_blocks_now, plan.n_blocks);
	free(shared);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_stays_within_the_limit_unless_one_block_is_more),
		cmocka_unit_test(parts_of_a_block_do_not_overlap),
		cmocka_unit_test(all_functions_of_a_large_library_fit_later_by_default),
		cmocka_unit_test(later_functions_take_room_from_blocks_that_nobody_has),
		cmocka_unit_test(a_thread_that_asked_meanwhile_keeps_its_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
