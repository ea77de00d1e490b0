/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/term.h"

#include "unit/event/machine.h"

static void period_and_freq_are_marked_as_typed(void **state)
{
	const struct event *e = machine_event(*state, "cycles/period=100003/");

	assert_true(e->period_typed && !e->freq_typed);
	assert_int_equal(e->attr.sample_period, 100003);
	assert_int_equal(e->attr.freq, 0);
	e = machine_event(*state, "cpu/event=0x3c,freq=0x3e7/u");
	assert_true(e->freq_typed && !e->period_typed);
	assert_int_equal(e->attr.sample_freq, 999);
	assert_int_equal(e->attr.freq, 1);
}

static void a_label_may_hold_commas_in_quotes(void **state)
{
	assert_string_equal(machine_event(*state, "cycles/name=mine/u")->label, "mine");
	assert_string_equal(machine_event(*state, "cycles/name='a, b=c/d',period=3/u")->label,
			    "a, b=c/d");
	assert_null(machine_event(*state, "cycles")->label);
}

static void rates_that_no_kernel_takes_are_refused(void **state)
{
	machine_refuses(*state, "cycles/period=0/", STATUS_USAGE, 7, "period needs a number");
	machine_refuses(*state, "cycles/freq/", STATUS_USAGE, 7, "freq needs a number");
	machine_refuses(*state, "cycles/period=1k/", STATUS_USAGE, 7, "period needs a number");
	machine_refuses(*state, "cycles/period=9223372036854775808/", STATUS_USAGE, 7,
			"below 2^63");
	machine_refuses(*state, "cycles/period=99999999999999999999/", STATUS_USAGE, 7,
			"below 2^63");
	machine_refuses(*state, "cycles/period=5,freq=6/", STATUS_USAGE, 16, "and once");
}

static void terms_of_the_whole_recording_are_refused_with_the_option_that_does_it(void **state)
{
	machine_refuses(*state, "cycles/call-graph=fp/", STATUS_UNSUPPORTED, 7, "--call-graph");
	machine_refuses(*state, "cpu/event=1,call-graph=fp/", STATUS_UNSUPPORTED, 12,
			"--call-graph");
	machine_refuses(*state, "sched:sched_switch/stack-size=8/", STATUS_UNSUPPORTED, 19,
			"--call-graph dwarf");
	machine_refuses(*state, "cycles/no-inherit/", STATUS_UNSUPPORTED, 7, "-t");
}

static void a_pmus_term_on_another_event_is_refused(void **state)
{
	machine_refuses(*state, "cycles/umask=1/", STATUS_USAGE, 7, "'umask' belongs to a PMU");
	machine_refuses(*state, "sched:sched_switch/config=1/", STATUS_USAGE, 19,
			"belongs to a PMU");
}

static void malformed_terms_are_refused_at_their_place(void **state)
{
	machine_refuses(*state, "cpu/event=1,,umask=1/", STATUS_USAGE, 12, "is no term");
	machine_refuses(*state, "cpu/event=/", STATUS_USAGE, 4, "'event=' is no term");
	machine_refuses(*state, "cpu/=1/", STATUS_USAGE, 4, "'=1' is no term");
	machine_refuses(*state, "cpu/event=1,/", STATUS_USAGE, 12, "is no term");
	machine_refuses(*state, "cycles/name=/", STATUS_USAGE, 7, "is no term");
	machine_refuses(*state, "cycles/name=''/", STATUS_USAGE, 7, "name needs a value");
	machine_refuses(*state, "cycles/name='\x1b[2J'/", STATUS_USAGE, 13, "control");
}

static void more_than_64_terms_are_refused(void **state)
{
	char text[8 + 65 * 8] = "cpu/";

	for (int i = 0; i < 65; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%sa%d", i ? "," : "",
			 i);
	strcat(text, "/");
	assert_int_equal(machine_try(*state, text), STATUS_LIMIT);
}

static void empty_slashes_are_no_terms(void **state)
{
	assert_string_equal(machine_event(*state, "cycles//u")->granted, "cycles:u");
	assert_int_equal(machine_event(*state, "msr//")->attr.type, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, period_and_freq_are_marked_as_typed),
		ON(skylake, a_label_may_hold_commas_in_quotes),
		ON(skylake, rates_that_no_kernel_takes_are_refused),
		ON(skylake, terms_of_the_whole_recording_are_refused_with_the_option_that_does_it),
		ON(skylake, a_pmus_term_on_another_event_is_refused),
		ON(skylake, malformed_terms_are_refused_at_their_place),
		ON(skylake, more_than_64_terms_are_refused),
		ON(skylake, empty_slashes_are_no_terms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
