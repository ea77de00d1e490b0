/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * LIBPFM_FORCE_PMU makes libpfm4 believe that this machine is a Skylake, on any host, so that its
 * x86 tables answer. libpfm4 reads it at its first use, hence before the first test.
 */
#include "event/vendor.h"

#include "unit/event/machine.h"

static int force_skylake(void **state)
{
	(void)state;
	return setenv("LIBPFM_FORCE_PMU", "skl", 1);
}

static void a_vendors_name_has_the_vendors_encoding(void **state)
{
	const struct event *e = machine_event(*state, "INST_RETIRED:ANY_P");

	assert_int_equal(e->kind, EVENT_HARDWARE);
	assert_int_equal(e->attr.config & 0xffff, 0xc0);
	assert_string_equal(e->name, "skl::INST_RETIRED:ANY_P");
	assert_int_equal(machine_event(*state, "BR_MISP_RETIRED:ALL_BRANCHES")->attr.config & 0xff,
			 0xc5);
}

static void case_dots_and_the_pmus_name_are_as_libpfm4_takes_them(void **state)
{
	const uint64_t config = machine_event(*state, "L2_RQSTS:MISS")->attr.config;

	assert_int_equal(config & 0xff, 0x24);
	assert_int_equal(machine_event(*state, "l2_rqsts.miss")->attr.config, config);
	assert_int_equal(machine_event(*state, "skl::L2_RQSTS:MISS")->attr.config, config);
}

static void perfs_modifiers_work_on_it(void **state)
{
	const struct event *e = machine_event(*state, "INST_RETIRED:ANY_P:upp");

	assert_true(e->attr.exclude_kernel && !e->attr.exclude_user);
	assert_int_equal(e->attr.precise_ip, 2);
	assert_string_equal(e->granted, "skl::INST_RETIRED:ANY_P:upp");
	e = machine_event(*state, "INST_RETIRED:u");
	assert_true(e->attr.exclude_kernel && !e->attr.exclude_user);
	e = machine_event(*state, "INST_RETIRED:ku");
	assert_true(!e->attr.exclude_kernel && !e->attr.exclude_user);
}

static void libpfm4s_own_attributes_are_part_of_the_name(void **state)
{
	const struct event *e = machine_event(*state, "INST_RETIRED:ANY_P:c=2:i=1:u=1");

	assert_int_equal(e->attr.config >> 24 & 0xff, 2);
	assert_true(e->attr.exclude_kernel);
	assert_true(machine_event(*state, "INST_RETIRED:period=1000")->period_typed);
	assert_int_equal(machine_event(*state, "INST_RETIRED:period=1000")->attr.sample_period,
			 1000);
}

static void terms_of_every_event_work_in_lists_too(void **state)
{
	const struct event *e = machine_events(*state, "cs,{INST_RETIRED:ANY_P,cycles}:S", 3);

	assert_int_equal(e[1].group, 0);
	assert_string_equal(e[1].granted, "skl::INST_RETIRED:ANY_P:S");
}

static void a_known_event_with_a_wrong_attribute_is_told_apart_from_an_unknown_one(void **state)
{
	machine_refuses(*state, "INST_RETIRED:NOSUCH", STATUS_USAGE, 0,
			"libpfm4 does not take 'INST_RETIRED:NOSUCH': invalid event attribute");
}

static void near_misses_include_vendors_names(void **state)
{
	machine_refuses(*state, "INST_RETRIED", STATUS_USAGE, 0, "INST_RETIRED");
}

static void numbered_names_are_never_left_to_libpfm4(void **state)
{
	assert_string_equal(machine_event(*state, "cycles")->name, "cycles");
	assert_string_equal(machine_event(*state, "r1c2")->name, "r1c2");
}

static void a_word_that_is_too_long_or_empty_is_unknown(void **state)
{
	char text[2001];

	memset(text, 'A', 2000);
	text[2000] = '\0';
	assert_int_equal(machine_try(*state, text), STATUS_USAGE);
	machine_refuses(*state, ":u", STATUS_USAGE, 0, "unknown event ''");
}

static void elsewhere_there_is_nothing_to_compare_with(void **state)
{
	(void)state;
	SKIP("libpfm4 has its x86 tables on x86 only");
}

int main(void)
{
	const struct CMUnitTest elsewhere[] = {
		cmocka_unit_test(elsewhere_there_is_nothing_to_compare_with),
	};
	const struct CMUnitTest tests[] = {
		ON(skylake, a_vendors_name_has_the_vendors_encoding),
		ON(skylake, case_dots_and_the_pmus_name_are_as_libpfm4_takes_them),
		ON(skylake, perfs_modifiers_work_on_it),
		ON(skylake, libpfm4s_own_attributes_are_part_of_the_name),
		ON(skylake, terms_of_every_event_work_in_lists_too),
		ON(skylake, a_known_event_with_a_wrong_attribute_is_told_apart_from_an_unknown_one),
		ON(skylake, near_misses_include_vendors_names),
		ON(skylake, numbered_names_are_never_left_to_libpfm4),
		ON(skylake, a_word_that_is_too_long_or_empty_is_unknown),
	};

#if !defined(__x86_64__)
	(void)tests;
	return cmocka_run_group_tests(elsewhere, NULL, NULL);
#endif
	(void)elsewhere;
	return cmocka_run_group_tests(tests, force_skylake, NULL);
}
