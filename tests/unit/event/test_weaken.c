/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/kernel.h"

static int nothing_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	(void)attr;
	return ENOENT;
}

/* The event of `text` on a Skylake, to be changed. */
static struct event *typed(void **state, const char *text)
{
	struct machine *m = *state;

	machine_event(m, text);
	return &m->list.events[0];
}

static void a_typed_precision_goes_down_one_step_a_call_and_is_explained(void **state)
{
	struct event *e = typed(state, "cycles:ppp");

	for (int left = 2; left >= 0; left--) {
		assert_true(event_weaken(e, sys_real(), EOPNOTSUPP));
		assert_int_equal(e->attr.precise_ip, left);
		assert_int_equal(e->attr.type, PERF_TYPE_HARDWARE);
	}
	assert_true(e->attr.exclude_guest);
	assert_string_equal(e->granted, "cycles");
	assert_string_equal(e->why, "precise_ip 3 is not supported here, 0 taken");
}

static void the_highest_precision_goes_down_without_being_a_substitution(void **state)
{
	struct event *e = typed(state, "cycles:P");

	assert_true(event_weaken(e, sys_real(), EINVAL));
	assert_string_equal(e->granted, "cycles:P");
	assert_true(event_weaken(e, sys_real(), EOPNOTSUPP));
	assert_true(event_weaken(e, sys_real(), ENOENT));
	assert_int_equal(e->attr.precise_ip, 0);
	assert_string_equal(e->granted, "cycles");
	assert_null(e->why);
}

static void cycles_without_a_pmu_become_cpu_clock(void **state)
{
	static const int errnos[] = { ENOENT, ENXIO, ENODEV, EOPNOTSUPP };

	for (size_t i = 0; i < 4; i++) {
		struct event *e = typed(state, i ? "cycles:u" : "cycles:ppu");

		for (int steps = i ? 1 : 3; steps; steps--) {
			assert_int_equal(e->attr.type, PERF_TYPE_HARDWARE);
			assert_true(event_weaken(e, sys_real(), errnos[i]));
		}
		assert_int_equal(e->attr.type, PERF_TYPE_SOFTWARE);
		assert_int_equal(e->attr.config, PERF_COUNT_SW_CPU_CLOCK);
		assert_int_equal(e->attr.precise_ip, 0);
		assert_int_equal(e->kind, EVENT_CLOCK);
		assert_string_equal(e->unit, "ns");
		assert_string_equal(e->granted, "cpu-clock:u");
		assert_string_equal(e->asked, i ? "cycles:u" : "cycles:ppu");
		assert_string_equal(e->why,
				    "this machine shows no PMU that can sample cycles, cpu-clock "
				    "taken");
		assert_false(event_weaken(e, sys_real(), errnos[i]));
	}
}

static void several_steps_are_told_together(void **state)
{
	struct event *e = typed(state, "cycles/period=1000/pp");
	struct kernel kernel;

	kernel_init(&kernel, nothing_opens, "2\n");
	assert_true(event_weaken(e, &kernel.sys, EACCES));
	assert_true(event_weaken(e, &kernel.sys, EOPNOTSUPP));
	assert_string_equal(e->why, "precise_ip 2 is not supported here, 1 taken; "
				    "perf_event_paranoid 2: user space only");
	assert_true(event_weaken(e, &kernel.sys, EOPNOTSUPP));
	assert_true(event_weaken(e, &kernel.sys, ENOENT));
	assert_string_equal(e->why,
			    "this machine shows no PMU that can sample cycles, cpu-clock taken; "
			    "its typed period of 1000 cycles is dropped; "
			    "perf_event_paranoid 2: user space only");
	assert_string_equal(e->granted, "cpu-clock:u");
}

static void a_period_of_cycles_is_not_carried_over_to_nanoseconds(void **state)
{
	struct event *e = typed(state, "cycles/period=1000/");

	assert_true(event_weaken(e, sys_real(), ENOENT));
	assert_false(e->period_typed);
	assert_int_equal(e->attr.sample_period, 0);
	assert_non_null(strstr(e->why, "typed period of 1000 cycles is dropped"));
	e = typed(state, "cycles/freq=999/");
	assert_true(event_weaken(e, sys_real(), ENOENT));
	assert_true(e->freq_typed && e->attr.freq);
	assert_int_equal(e->attr.sample_freq, 999);
}

static void cycles_of_one_core_pmu_become_a_clock_on_its_cpus(void **state)
{
	struct machine *m = *state;

	machine_events(m, "cycles", 2);
	assert_true(event_weaken(&m->list.events[0], sys_real(), ENOENT));
	assert_string_equal(m->list.events[0].granted, "cpu-clock");
	assert_int_equal(m->list.events[0].cpus[0], 4);
}

static void other_events_have_no_substitute(void **state)
{
	static const char *const texts[] = {
		"instructions", "L1-dcache-loads", "r1",
		"cpu/event=1/", "cpu-clock",       "sched:sched_switch"
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(event_weaken(typed(state, texts[i]), sys_real(), ENOENT));
}

static void at_paranoid_2_the_kernel_is_left_out_and_said_so(void **state)
{
	struct kernel kernel;
	struct event *e = typed(state, "instructions");

	kernel_init(&kernel, nothing_opens, "2\n");
	assert_true(event_weaken(e, &kernel.sys, EACCES));
	assert_true(e->attr.exclude_kernel && e->attr.exclude_hv && !e->attr.exclude_user);
	assert_string_equal(e->granted, "instructions:u");
	assert_string_equal(e->why, "perf_event_paranoid 2: user space only");
	assert_false(event_weaken(e, &kernel.sys, EACCES));
	assert_int_equal(kernel.n_open, 0);
}

static void below_paranoid_2_it_would_not_help_and_is_not_done(void **state)
{
	struct kernel kernel;

	kernel_init(&kernel, nothing_opens, "1\n");
	assert_false(event_weaken(typed(state, "instructions"), &kernel.sys, EACCES));
	kernel_init(&kernel, nothing_opens, "-1\n");
	assert_false(event_weaken(typed(state, "cycles"), &kernel.sys, EACCES));
}

static void an_event_for_the_kernel_alone_is_never_turned_round(void **state)
{
	struct kernel kernel;

	kernel_init(&kernel, nothing_opens, "2\n");
	assert_false(event_weaken(typed(state, "cycles:k"), &kernel.sys, EACCES));
	assert_false(event_weaken(typed(state, "sched:sched_switch"), &kernel.sys, EACCES));
	assert_false(event_weaken(typed(state, "cycles"), &kernel.sys, EPERM));
}

static void an_untyped_exclude_guest_is_dropped_without_a_word_a_typed_one_never(void **state)
{
	struct event *e = typed(state, "msr/tsc/");

	assert_true(e->attr.exclude_guest);
	assert_true(event_weaken(e, sys_real(), EINVAL));
	assert_false(e->attr.exclude_guest);
	assert_null(e->why);
	assert_false(event_weaken(e, sys_real(), EINVAL));
	assert_false(event_weaken(typed(state, "msr/tsc/H"), sys_real(), EINVAL));
}

/* IBS of AMD, which serves cycles:pp, can leave out nothing. */
static void exclude_guest_goes_before_precision(void **state)
{
	struct event *e = typed(state, "cycles:pp");

	assert_true(event_weaken(e, sys_real(), EINVAL));
	assert_false(e->attr.exclude_guest);
	assert_int_equal(e->attr.precise_ip, 2);
	assert_null(e->why);
	assert_true(event_weaken(e, sys_real(), EINVAL));
	assert_int_equal(e->attr.precise_ip, 1);
}

static void errnos_that_no_weaker_event_mends_change_nothing(void **state)
{
	static const int errnos[] = { EMFILE, ENOMEM, EBUSY, ENOSPC, ESRCH, E2BIG, EINTR };
	struct event *e = typed(state, "cycles:pp");

	for (size_t i = 0; i < sizeof(errnos) / sizeof(errnos[0]); i++)
		assert_false(event_weaken(e, sys_real(), errnos[i]));
	assert_string_equal(e->granted, "cycles:pp");
	assert_null(e->why);
}

static void whatever_the_errno_the_steps_come_to_an_end(void **state)
{
	static const char *const texts[] = { "cycles:ppp", "cycles:P", "cycles", "instructions:P" };
	struct kernel kernel;

	kernel_init(&kernel, nothing_opens, "2\n");
	for (int os_errno = 1; os_errno < 134; os_errno++)
		for (size_t i = 0; i < 4; i++) {
			struct event *e = typed(state, texts[i]);
			int steps = 0;

			while (event_weaken(e, &kernel.sys, os_errno))
				assert_true(++steps < 8);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, a_typed_precision_goes_down_one_step_a_call_and_is_explained),
		ON(skylake, the_highest_precision_goes_down_without_being_a_substitution),
		ON(skylake, cycles_without_a_pmu_become_cpu_clock),
		ON(skylake, several_steps_are_told_together),
		ON(skylake, a_period_of_cycles_is_not_carried_over_to_nanoseconds),
		ON(alderlake, cycles_of_one_core_pmu_become_a_clock_on_its_cpus),
		ON(skylake, other_events_have_no_substitute),
		ON(skylake, at_paranoid_2_the_kernel_is_left_out_and_said_so),
		ON(skylake, below_paranoid_2_it_would_not_help_and_is_not_done),
		ON(skylake, an_event_for_the_kernel_alone_is_never_turned_round),
		ON(skylake, an_untyped_exclude_guest_is_dropped_without_a_word_a_typed_one_never),
		ON(skylake, exclude_guest_goes_before_precision),
		ON(skylake, errnos_that_no_weaker_event_mends_change_nothing),
		ON(skylake, whatever_the_errno_the_steps_come_to_an_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
