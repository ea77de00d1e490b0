/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

/* What perf 6.1 puts into the attribute for these letters, read off `perf record -vv`. */
static const struct {
	const char *text;
	unsigned int user, kernel, hv, guest, host, idle, precise;
} excluded[] = {
	{ "cycles", 0, 0, 0, 1, 0, 0, 0 },
	{ "cycles:u", 0, 1, 1, 1, 0, 0, 0 },
	{ "cycles:k", 1, 0, 1, 0, 0, 0, 0 },
	{ "cycles:h", 1, 1, 0, 0, 0, 0, 0 },
	{ "cycles:uk", 0, 0, 1, 1, 0, 0, 0 },
	{ "cycles:ukh", 0, 0, 0, 1, 0, 0, 0 },
	{ "cycles:G", 0, 0, 0, 0, 1, 0, 0 },
	{ "cycles:H", 0, 0, 0, 1, 0, 0, 0 },
	{ "cycles:GH", 0, 0, 0, 0, 0, 0, 0 },
	{ "cycles:uG", 0, 1, 1, 0, 1, 0, 0 },
	{ "cycles:uGH", 0, 1, 1, 0, 0, 0, 0 },
	{ "cycles:I", 0, 0, 0, 0, 0, 1, 0 },
	{ "cycles:p", 0, 0, 0, 1, 0, 0, 1 },
	{ "cycles:pp", 0, 0, 0, 1, 0, 0, 2 },
	{ "cycles:kppp", 1, 0, 1, 1, 0, 0, 3 },
	{ "cycles:P", 0, 0, 0, 0, 0, 0, 3 },
	{ "cycles:S", 0, 0, 0, 0, 0, 0, 0 },
	{ "cpu/event=0x3c/upp", 0, 1, 1, 1, 0, 0, 2 },
	{ "cpu/event=0x3c/:k", 1, 0, 1, 0, 0, 0, 0 },
	{ "sched:sched_switch:u", 0, 1, 1, 1, 0, 0, 0 },
	{ "r01c2:k", 1, 0, 1, 0, 0, 0, 0 },
};

static void letters_exclude_what_perf_excludes(void **state)
{
	for (size_t i = 0; i < sizeof(excluded) / sizeof(excluded[0]); i++) {
		const struct perf_event_attr *a = &machine_event(*state, excluded[i].text)->attr;

		if (a->exclude_user != excluded[i].user ||
		    a->exclude_kernel != excluded[i].kernel || a->exclude_hv != excluded[i].hv ||
		    a->exclude_guest != excluded[i].guest || a->exclude_host != excluded[i].host ||
		    a->exclude_idle != excluded[i].idle || a->precise_ip != excluded[i].precise)
			fail_msg("%s", excluded[i].text);
	}
}

static void letters_set_their_own_flag_and_no_other(void **state)
{
	const struct event *e = machine_event(*state, "cycles:D");

	assert_true(e->attr.pinned && !e->attr.exclusive && !e->group_read && !e->group_weak);
	e = machine_event(*state, "cycles:e");
	assert_true(e->attr.exclusive && !e->attr.pinned);
	e = machine_event(*state, "cycles:S");
	assert_true(e->group_read && !e->group_weak && !e->precise_max);
	e = machine_event(*state, "cycles:W");
	assert_true(e->group_weak && !e->group_read);
	e = machine_event(*state, "cycles:P");
	assert_true(e->precise_max && !e->guest_typed);
	e = machine_event(*state, "cycles:ppp");
	assert_false(e->precise_max);
	e = machine_event(*state, "cycles:H");
	assert_true(e->guest_typed);
}

static void b_is_taken_and_changes_nothing(void **state)
{
	assert_string_equal(machine_event(*state, "cycles:b")->granted, "cycles");
	assert_null(machine_event(*state, "cycles:b")->why);
}

static void an_unknown_letter_is_refused_at_its_place(void **state)
{
	machine_refuses(*state, "cs,cycles:uzp", STATUS_USAGE, 11, "unknown modifier 'z'");
	machine_refuses(*state, "cpu/event=1/uz", STATUS_USAGE, 13, "unknown modifier 'z'");
	machine_refuses(*state, "cpu/event=1/:", STATUS_USAGE, 12, "unknown modifier ':'");
	machine_refuses(*state, "cycles:u:k", STATUS_USAGE, 8, "unknown modifier ':'");
	machine_refuses(*state, "cycles:\x01", STATUS_USAGE, 7, "unknown modifier '?'");
}

static void a_letter_of_perf_stat_is_refused_as_such(void **state)
{
	machine_refuses(*state, "cycles:R", STATUS_UNSUPPORTED, 7, "perf stat");
}

static void a_letter_given_twice_is_refused(void **state)
{
	machine_refuses(*state, "cycles:uku", STATUS_USAGE, 9, "'u' is given twice");
	machine_refuses(*state, "cycles:SS", STATUS_USAGE, 8, "'S' is given twice");
}

static void four_p_are_refused_and_a_group_adds_up_to_three(void **state)
{
	const struct event *e;

	machine_refuses(*state, "cycles:pppp", STATUS_USAGE, 10, "at most ppp");
	e = machine_events(*state, "{cycles:pp,branches}:pp", 2);
	assert_int_equal(e[0].attr.precise_ip, 3);
	assert_int_equal(e[1].attr.precise_ip, 2);
}

static void a_typed_guest_choice_outlives_the_groups_letters(void **state)
{
	const struct event *e = machine_events(*state, "{cycles:G,branches}:u", 2);

	assert_true(!e[0].attr.exclude_guest && e[0].attr.exclude_host);
	assert_true(e[1].attr.exclude_guest && !e[1].attr.exclude_host);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, letters_exclude_what_perf_excludes),
		ON(skylake, letters_set_their_own_flag_and_no_other),
		ON(skylake, b_is_taken_and_changes_nothing),
		ON(skylake, an_unknown_letter_is_refused_at_its_place),
		ON(skylake, a_letter_of_perf_stat_is_refused_as_such),
		ON(skylake, a_letter_given_twice_is_refused),
		ON(skylake, four_p_are_refused_and_a_group_adds_up_to_three),
		ON(skylake, a_typed_guest_choice_outlives_the_groups_letters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
