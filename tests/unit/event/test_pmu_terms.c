/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static void terms_go_to_the_bits_of_their_formats(void **state)
{
	const struct perf_event_attr *a =
		&machine_event(*state, "cpu/event=0x3c,umask=0x1,cmask=2,inv,edge/")->attr;

	assert_int_equal(a->type, 4);
	assert_int_equal(a->config, 0x02840000u | 0x13c);
}

static void ranges_apart_and_other_fields_are_filled(void **state)
{
	assert_int_equal(machine_event(*state, "uncore_cha_0/filter=0xabc/")->attr.config,
			 0xa000000bcull);
	assert_int_equal(machine_event(*state, "uncore_cha_0/event=1,opc=0xf/")->attr.config2,
			 0xf0);
}

static void config_terms_set_whole_fields_below_the_others(void **state)
{
	const struct perf_event_attr *a =
		&machine_event(*state, "cpu/event=0x11,config=0x123400ff,config1=7,config2=8/")
			 ->attr;

	assert_int_equal(a->config, 0x12340011);
	assert_int_equal(a->config1, 7);
	assert_int_equal(a->config2, 8);
}

static void a_raw_term_sets_config(void **state)
{
	assert_int_equal(machine_event(*state, "cpu/r1c2/")->attr.config, 0x1c2);
	assert_int_equal(machine_event(*state, "cpu/r1c2,umask=7/")->attr.config, 0x7c2);
}

static void a_typed_term_replaces_the_aliases_own(void **state)
{
	const struct perf_event_attr *a = &machine_event(*state, "cpu/ldlat=30,mem-loads/")->attr;

	assert_int_equal(a->config, 0x1cd);
	assert_int_equal(a->config1, 30);
	assert_int_equal(machine_event(*state, "cpu/mem-loads/")->attr.config1, 3);
}

static void a_leading_zero_is_decimal(void **state)
{
	assert_int_equal(machine_event(*state, "cpu/topdown-slots-issued/")->attr.config, 0x10e);
	assert_int_equal(machine_event(*state, "cpu/event=010/")->attr.config, 10);
}

static void an_alias_with_a_parameter_needs_it(void **state)
{
	machine_refuses(*state, "hv_24x7/PM_CYC/", STATUS_USAGE, 8, "needs core=VALUE");
	machine_refuses(*state, "hv_24x7/PM_CYC,core/", STATUS_USAGE, 8, "needs core=VALUE");
	assert_int_equal(machine_event(*state, "hv_24x7/PM_CYC,core=5/")->attr.config, 0x50002);
}

static void numbered_names_work_on_a_core_pmu(void **state)
{
	const struct event *e = machine_event(*state, "cpu_core/cycles/u");

	assert_int_equal(e->attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(e->attr.config, 4ull << 32);
	assert_string_equal(e->granted, "cpu_core/cycles/u");
	e = machine_event(*state, "cpu_atom/LLC-loads,period=5/");
	assert_int_equal(e->attr.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e->attr.config, 10ull << 32 | 2);
	assert_int_equal(e->attr.sample_period, 5);
	assert_int_equal(machine_event(*state, "software/cpu-clock/")->kind, EVENT_CLOCK);
	machine_refuses(*state, "cpu_core/cpu-clock/", STATUS_USAGE, 9, "knows no term");
	machine_refuses(*state, "software/cycles/", STATUS_USAGE, 9, "knows no term");
	machine_refuses(*state, "cpu_core/cycles,umask=1/", STATUS_USAGE, 9, "no further terms");
}

static void a_numbered_name_on_the_only_core_pmu_names_no_pmu(void **state)
{
	assert_int_equal(machine_event(*state, "cpu/instructions/")->attr.config, 1);
	assert_int_equal(machine_event(*state, "cpu/instructions/")->attr.type, PERF_TYPE_HARDWARE);
}

static void a_value_that_does_not_fit_is_refused_with_the_largest(void **state)
{
	machine_refuses(*state, "cpu/event=0x100/", STATUS_USAGE, 4,
			"event=0x100 is too large: at most 0xff");
	machine_refuses(*state, "cpu/umask=1,edge=2/", STATUS_USAGE, 12, "at most 0x1");
	machine_refuses(*state, "cpu/event=cycles/", STATUS_USAGE, 4,
			"needs a number, not 'cycles'");
	machine_refuses(*state, "cpu/config=zz/", STATUS_USAGE, 4, "config needs a number");
	machine_refuses(*state, "cpu/event=0x10000000000000000/", STATUS_USAGE, 4,
			"needs a number");
}

static void an_unknown_term_is_answered_with_near_ones(void **state)
{
	machine_refuses(*state, "cpu/evnt=1/", STATUS_USAGE, 4, "did you mean event?");
	machine_refuses(*state, "cpu/mem-load/", STATUS_USAGE, 4, "did you mean mem-loads?");
	machine_refuses(*state, "cpu/event=1,xyzzy/", STATUS_USAGE, 12,
			"devices/cpu/format and events");
	machine_refuses(*state, "cpu/mem-loads=1/", STATUS_USAGE, 4, "knows no term");
}

static void a_term_given_twice_is_refused(void **state)
{
	machine_refuses(*state, "cpu/event=1,event=1/", STATUS_USAGE, 12, "'event' is given twice");
}

static void formats_of_a_later_kernel_are_refused_not_guessed(void **state)
{
	machine_refuses(*state, "uncore_cha_0/later=1/", STATUS_CORRUPT, 13,
			"no format known here");
#ifndef PERF_ATTR_SIZE_VER8
	machine_refuses(*state, "uncore_cha_0/late=1/", STATUS_UNSUPPORTED, 13, "config3");
	machine_refuses(*state, "uncore_cha_0/config3=1/", STATUS_UNSUPPORTED, 13, "config3");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, terms_go_to_the_bits_of_their_formats),
		ON(xeon, ranges_apart_and_other_fields_are_filled),
		ON(skylake, config_terms_set_whole_fields_below_the_others),
		ON(skylake, a_raw_term_sets_config),
		ON(skylake, a_typed_term_replaces_the_aliases_own),
		ON(skylake, a_leading_zero_is_decimal),
		ON(xeon, an_alias_with_a_parameter_needs_it),
		ON(alderlake, numbered_names_work_on_a_core_pmu),
		ON(skylake, a_numbered_name_on_the_only_core_pmu_names_no_pmu),
		ON(skylake, a_value_that_does_not_fit_is_refused_with_the_largest),
		ON(skylake, an_unknown_term_is_answered_with_near_ones),
		ON(skylake, a_term_given_twice_is_refused),
		ON(xeon, formats_of_a_later_kernel_are_refused_not_guessed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
