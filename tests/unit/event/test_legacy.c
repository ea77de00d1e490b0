/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/legacy.h"

#include "unit/event/machine.h"

static const struct {
	const char *word;
	uint32_t type, config;
} spellings[] = {
	{ "cycles", 0, 0 },
	{ "cpu-cycles", 0, 0 },
	{ "instructions", 0, 1 },
	{ "cache-references", 0, 2 },
	{ "cache-misses", 0, 3 },
	{ "branch-instructions", 0, 4 },
	{ "branches", 0, 4 },
	{ "branch-misses", 0, 5 },
	{ "bus-cycles", 0, 6 },
	{ "stalled-cycles-frontend", 0, 7 },
	{ "idle-cycles-frontend", 0, 7 },
	{ "stalled-cycles-backend", 0, 8 },
	{ "idle-cycles-backend", 0, 8 },
	{ "ref-cycles", 0, 9 },
	{ "cpu-clock", 1, 0 },
	{ "task-clock", 1, 1 },
	{ "page-faults", 1, 2 },
	{ "faults", 1, 2 },
	{ "context-switches", 1, 3 },
	{ "cs", 1, 3 },
	{ "cpu-migrations", 1, 4 },
	{ "migrations", 1, 4 },
	{ "minor-faults", 1, 5 },
	{ "major-faults", 1, 6 },
	{ "alignment-faults", 1, 7 },
	{ "emulation-faults", 1, 8 },
	{ "dummy", 1, 9 },
	{ "bpf-output", 1, 10 },
	{ "cgroup-switches", 1, 11 },
};

static void every_name_of_the_abi_has_its_number(void **state)
{
	struct event_legacy legacy;

	(void)state;
	for (size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
		assert_true(event_legacy_find(&legacy, event_slice_of(spellings[i].word)));
		assert_int_equal(legacy.type, spellings[i].type);
		assert_int_equal(legacy.config, spellings[i].config);
	}
}

/* Fails when a kernel ABI grows a number that has no name here. */
static void every_number_that_the_headers_know_has_a_name(void **state)
{
	char name[48];

	(void)state;
	for (uint64_t i = 0; i < PERF_COUNT_HW_MAX; i++)
		assert_true(event_legacy_name(PERF_TYPE_HARDWARE, i, name));
	for (uint64_t i = 0; i < PERF_COUNT_SW_MAX; i++)
		assert_true(event_legacy_name(PERF_TYPE_SOFTWARE, i, name));
	assert_false(event_legacy_name(PERF_TYPE_HARDWARE, PERF_COUNT_HW_MAX, name));
	assert_false(event_legacy_name(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_MAX, name));
}

static void a_canonical_name_leads_back_to_its_number(void **state)
{
	struct event_legacy legacy;

	(void)state;
	for (uint64_t i = 0; i < PERF_COUNT_HW_MAX; i++) {
		char name[48];

		assert_true(event_legacy_name(PERF_TYPE_HARDWARE, i, name));
		assert_true(event_legacy_find(&legacy, event_slice_of(name)));
		assert_int_equal(legacy.type, PERF_TYPE_HARDWARE);
		assert_int_equal(legacy.config, i);
	}
}

static void the_case_of_letters_does_not_matter(void **state)
{
	struct event_legacy legacy;

	(void)state;
	assert_true(event_legacy_find(&legacy, event_slice_of("CPU-Cycles")));
	assert_string_equal(legacy.name, "cycles");
}

static void a_part_or_an_extension_of_a_name_is_no_name(void **state)
{
	struct event_legacy legacy;

	(void)state;
	assert_false(event_legacy_find(&legacy, event_slice_of("cycle")));
	assert_false(event_legacy_find(&legacy, event_slice_of("cycles2")));
	assert_false(event_legacy_find(&legacy, event_slice_of("")));
	assert_true(event_legacy_find(&legacy, (struct event_slice){ "cycles2", 6 }));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_name_of_the_abi_has_its_number),
		cmocka_unit_test(every_number_that_the_headers_know_has_a_name),
		cmocka_unit_test(a_canonical_name_leads_back_to_its_number),
		cmocka_unit_test(the_case_of_letters_does_not_matter),
		cmocka_unit_test(a_part_or_an_extension_of_a_name_is_no_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
