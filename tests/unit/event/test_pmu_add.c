/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static void a_name_without_its_number_means_every_instance(void **state)
{
	const struct event *e = machine_events(*state, "uncore_imc/event=4,umask=3/", 2);

	assert_int_equal(e[0].attr.type, 20);
	assert_int_equal(e[1].attr.type, 21);
	assert_string_equal(e[1].name, "uncore_imc_1/event=4,umask=3/");
	assert_string_equal(e[1].asked, "uncore_imc/event=4,umask=3/");
}

static void the_prefix_uncore_may_be_left_out(void **state)
{
	const struct event *e = machine_events(*state, "imc/cas_count_read/", 2);

	assert_int_equal(e[0].attr.config, 0x304);
	assert_int_equal(e[1].attr.type, 21);
	assert_int_equal(machine_event(*state, "cha_0/event=1/")->attr.type, 30);
}

static void an_exact_name_means_that_pmu_only(void **state)
{
	assert_int_equal(machine_event(*state, "uncore_imc_1/event=4/")->attr.type, 21);
}

static void a_glob_means_all_that_match(void **state)
{
	machine_events(*state, "uncore_imc_[01]/event=4/", 2);
	machine_events(*state, "uncore_imc*/event=4/", 3);
	machine_events(*state, "imc_?/event=4/", 2);
}

static void pmus_that_lack_a_term_are_passed_over_while_one_has_it(void **state)
{
	const struct event *e = machine_events(*state, "uncore_*/cas_count_read/", 2);

	assert_int_equal(e[0].attr.type, 20);
	assert_int_equal(e[1].attr.type, 21);
}

static void when_none_has_it_the_first_reason_is_told(void **state)
{
	machine_refuses(*state, "uncore_imc/cas_cuont_read/", STATUS_USAGE, 11,
			"PMU uncore_imc_0 knows no term or event 'cas_cuont_read'");
	machine_refuses(*state, "uncore_imc/cas_cuont_read/", STATUS_USAGE, 11,
			"did you mean cas_count_read?");
}

static void an_unknown_pmu_is_answered_with_those_that_exist(void **state)
{
	machine_refuses(
		*state, "cs,uncore_imcs/event=4/", STATUS_NOT_FOUND, 3,
		"no PMU 'uncore_imcs' (character 4 of 'cs,uncore_imcs/event=4/'): PMUs here are "
		"cpu, hv_24x7, uncore_cha_0, uncore_imc_0, uncore_imc_1, "
		"uncore_imc_free_running_0, uncore_pcu");
}

static void an_alias_alone_means_every_pmu_that_has_it(void **state)
{
	const struct event *e = machine_events(*state, "cas_count_read", 2);

	assert_string_equal(e[0].granted, "uncore_imc_0/cas_count_read/");
	assert_int_equal(e[1].attr.config, 0x304);
}

static void an_alias_alone_takes_modifiers_and_terms(void **state)
{
	const struct event *e = machine_events(*state, "mem-loads:pp,mem-loads/ldlat=30/u", 2);

	assert_int_equal(e[0].attr.precise_ip, 2);
	assert_int_equal(e[0].attr.config1, 3);
	assert_int_equal(e[1].attr.config1, 30);
	assert_string_equal(e[1].granted, "cpu/mem-loads,ldlat=30/u");
}

static void on_a_hybrid_machine_an_alias_opens_where_it_exists(void **state)
{
	const struct event *e = machine_events(*state, "mem-loads", 2);

	assert_int_equal(e[0].attr.type, 10);
	assert_int_equal(e[0].attr.config, 0x5d0);
	assert_int_equal(e[1].attr.type, 4);
	assert_int_equal(e[1].attr.config, 0x1cd);
	assert_string_equal(machine_event(*state, "slots")->granted, "cpu_core/slots/");
}

static void scale_and_unit_are_no_aliases(void **state)
{
	machine_refuses(*state, "cas_count_read.unit", STATUS_USAGE, 0, "unknown event");
	machine_refuses(*state, "cas_count_read.scale", STATUS_USAGE, 0, "unknown event");
}

static void when_the_list_is_full_midway_it_is_an_error(void **state)
{
	char text[3 * EVENT_MAX + 64];

	for (size_t i = 0; i < EVENT_MAX - 1; i++)
		memcpy(text + 3 * i, "cs,", 3);
	strcpy(text + 3 * (size_t)(EVENT_MAX - 1), "uncore_imc/event=4/");
	assert_int_equal(machine_try(*state, text), STATUS_LIMIT);
	strcpy(text + 3 * (size_t)(EVENT_MAX - 1), "uncore_imc_1/event=4/");
	machine_events(*state, text, EVENT_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(xeon, a_name_without_its_number_means_every_instance),
		ON(xeon, the_prefix_uncore_may_be_left_out),
		ON(xeon, an_exact_name_means_that_pmu_only),
		ON(xeon, a_glob_means_all_that_match),
		ON(xeon, pmus_that_lack_a_term_are_passed_over_while_one_has_it),
		ON(xeon, when_none_has_it_the_first_reason_is_told),
		ON(xeon, an_unknown_pmu_is_answered_with_those_that_exist),
		ON(xeon, an_alias_alone_means_every_pmu_that_has_it),
		ON(skylake, an_alias_alone_takes_modifiers_and_terms),
		ON(alderlake, on_a_hybrid_machine_an_alias_opens_where_it_exists),
		ON(xeon, scale_and_unit_are_no_aliases),
		ON(xeon, when_the_list_is_full_midway_it_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
