/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static void a_list_that_was_never_filled_can_be_released(void **state)
{
	struct event_list list;

	(void)state;
	event_list_init(&list);
	event_list_release(&list);
	assert_int_equal(list.n, 0);
	assert_null(list.events);
}

static void a_released_list_can_be_filled_again(void **state)
{
	struct machine *m = *state;

	machine_event(m, "cycles");
	event_list_release(&m->list);
	assert_int_equal(m->list.n, 0);
	assert_string_equal(machine_event(m, "cs")->name, "context-switches");
}

static void the_granted_name_is_canonical_with_modifiers_in_perfs_order(void **state)
{
	static const char *const pairs[][2] = {
		{ "cs", "context-switches" },
		{ "cpu-cycles:ku", "cycles:uk" },
		{ "cycles:ppu", "cycles:upp" },
		{ "cycles:P", "cycles:P" },
		{ "instructions:DuHeISpppG", "instructions:uGHpppSDIe" },
		{ "l1d-misses:h", "L1-dcache-load-misses:h" },
		{ "r00ff:W", "rff:W" },
		{ "cpu/event=0x3c,umask=1,period=7,name=x/uk", "cpu/event=0x3c,umask=1/uk" },
		{ "cpu/cpu-cycles/", "cpu/cpu-cycles/" },
		{ "mem:4096:w", "mem:0x1000:w" },
		{ "sched:sched_switch:k", "sched:sched_switch:k" },
		{ "1:0", "cpu-clock" },
		{ "7:35", "7:35" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		assert_string_equal(machine_event(*state, pairs[i][0])->granted, pairs[i][1]);
}

static void a_clock_has_the_unit_ns_and_other_events_their_own_name(void **state)
{
	assert_string_equal(machine_event(*state, "cpu-clock:u")->unit, "ns");
	assert_string_equal(machine_event(*state, "task-clock")->unit, "ns");
	assert_string_equal(machine_event(*state, "cycles:u")->unit, "cycles");
	assert_string_equal(machine_event(*state, "cs:u")->unit, "context-switches");
}

static void the_kind_follows_from_type_and_number(void **state)
{
	static const struct {
		const char *text;
		enum event_kind kind;
	} kinds[] = {
		{ "cpu-clock", EVENT_CLOCK },
		{ "task-clock", EVENT_CLOCK },
		{ "software/config=0/", EVENT_CLOCK },
		{ "page-faults", EVENT_SOFTWARE },
		{ "bpf-output", EVENT_SOFTWARE },
		{ "cycles", EVENT_HARDWARE },
		{ "LLC-loads", EVENT_HARDWARE },
		{ "msr/tsc/", EVENT_HARDWARE },
		{ "r1", EVENT_HARDWARE },
		{ "sched:sched_switch", EVENT_TRACEPOINT },
		{ "mem:0x10:x", EVENT_BREAKPOINT },
		{ "dummy", EVENT_DUMMY },
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		assert_int_equal(machine_event(*state, kinds[i].text)->kind, kinds[i].kind);
}

static void asked_is_this_events_part_of_the_text(void **state)
{
	const struct event *e =
		machine_events(*state, " cs:u , cpu/event=1/k,{mem:0x10/8:w,cycles}:S", 4);

	assert_string_equal(e[0].asked, "cs:u");
	assert_string_equal(e[1].asked, "cpu/event=1/k");
	assert_string_equal(e[2].asked, "mem:0x10/8:w");
	assert_string_equal(e[3].asked, "cycles");
}

static void another_spelling_is_no_substitution(void **state)
{
	assert_null(machine_event(*state, "cs")->why);
	assert_null(machine_event(*state, "cpu-cycles:P")->why);
	assert_null(machine_event(*state, "sched:sched_sw*")->why);
}

static void the_attribute_says_its_own_size_and_sets_no_rate(void **state)
{
	const struct event *e = machine_event(*state, "sched:sched_switch");

	assert_int_equal(e->attr.size, sizeof(struct perf_event_attr));
	assert_int_equal(e->attr.sample_period, 0);
	assert_int_equal(e->attr.freq, 0);
	assert_false(e->period_typed || e->freq_typed || e->by_default);
	assert_int_equal(e->group, -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_that_was_never_filled_can_be_released),
		ON(skylake, a_released_list_can_be_filled_again),
		ON(skylake, the_granted_name_is_canonical_with_modifiers_in_perfs_order),
		ON(skylake, a_clock_has_the_unit_ns_and_other_events_their_own_name),
		ON(skylake, the_kind_follows_from_type_and_number),
		ON(skylake, asked_is_this_events_part_of_the_text),
		ON(skylake, another_spelling_is_no_substitution),
		ON(skylake, the_attribute_says_its_own_size_and_sets_no_rate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
