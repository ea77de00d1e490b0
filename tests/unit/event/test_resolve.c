/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static void raw_is_hexadecimal_of_up_to_64_bits(void **state)
{
	assert_int_equal(machine_event(*state, "r01c2")->attr.config, 0x1c2);
	assert_int_equal(machine_event(*state, "r01c2")->attr.type, PERF_TYPE_RAW);
	assert_int_equal(machine_event(*state, "r0x1C2:u")->attr.config, 0x1c2);
	assert_int_equal(machine_event(*state, "rffffffffffffffff")->attr.config, ~0ull);
	machine_refuses(*state, "cs,r10000000000000000", STATUS_USAGE, 3, "more than 64 bits");
}

static void type_and_config_may_be_given_as_numbers(void **state)
{
	const struct event *e = machine_event(*state, "0:1:u");

	assert_int_equal(e->attr.type, PERF_TYPE_HARDWARE);
	assert_string_equal(e->granted, "instructions:u");
	assert_int_equal(machine_event(*state, "3:0x10000")->attr.config, 0x10000);
	assert_string_equal(machine_event(*state, "3:0x10000")->name, "L1-dcache-load-misses");
	assert_int_equal(machine_event(*state, "27:5")->attr.type, 27);
	machine_refuses(*state, "4294967296:0", STATUS_USAGE, 0, "a type has 32 bits");
}

static void a_numbered_name_comes_before_an_alias_of_the_same_name(void **state)
{
	assert_int_equal(machine_event(*state, "cpu-cycles")->attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(machine_event(*state, "cpu/cpu-cycles/")->attr.config, 0x3c);
}

static void a_pmu_without_slashes_is_explained(void **state)
{
	machine_refuses(*state, "msr", STATUS_USAGE, 0, "write msr/EVENT/");
	machine_refuses(*state, "cpu:u", STATUS_USAGE, 0, "write cpu/EVENT/");
}

static void an_unknown_event_is_answered_with_near_names_of_every_kind(void **state)
{
	machine_refuses(*state, "brnches:u", STATUS_USAGE, 0, "did you mean branches?");
	machine_refuses(*state, "L1-dcache-load-mises", STATUS_USAGE, 0, "L1-dcache-load-misses");
	machine_refuses(*state, "mem-laods", STATUS_USAGE, 0, "mem-loads");
	machine_refuses(*state, "no-such-thing-at-all", STATUS_USAGE, 0, "perf list");
}

static void an_impossible_cache_event_is_told_from_an_unknown_one(void **state)
{
	machine_refuses(*state, "iTLB-stores", STATUS_USAGE, 0, "cannot be counted");
}

static void terms_on_a_numbered_event_keep_its_number(void **state)
{
	const struct event *e = machine_event(*state, "r1c2/name=x/u");

	assert_int_equal(e->attr.config, 0x1c2);
	assert_string_equal(e->label, "x");
	assert_string_equal(e->granted, "r1c2:u");
	assert_int_equal(machine_event(*state, "LLC-loads/period=9/")->attr.sample_period, 9);
	machine_refuses(*state, "sched:sched_switch:u/period=3/", STATUS_USAGE, 19, "second '/'");
	machine_refuses(*state, "cyclse/period=3/", STATUS_NOT_FOUND, 0, "no PMU 'cyclse'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, raw_is_hexadecimal_of_up_to_64_bits),
		ON(skylake, type_and_config_may_be_given_as_numbers),
		ON(skylake, a_numbered_name_comes_before_an_alias_of_the_same_name),
		ON(skylake, a_pmu_without_slashes_is_explained),
		ON(skylake, an_unknown_event_is_answered_with_near_names_of_every_kind),
		ON(skylake, an_impossible_cache_event_is_told_from_an_unknown_one),
		ON(skylake, terms_on_a_numbered_event_keep_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
