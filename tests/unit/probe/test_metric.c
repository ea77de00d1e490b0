/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Words after -e, and machines whose PMU is scripted. */
#include "probe/metric.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

struct machine {
	int opens; /* what perf_event_open returns */
	bool readable;
	struct perf_event_mmap_page page;
	struct perf_event_attr opened;
};

static int scripted_open(void *state, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
			 unsigned long flags)
{
	struct machine *machine = state;

	(void)pid, (void)cpu, (void)group, (void)flags;
	machine->opened = *attr;
	return machine->opens;
}

static void *scripted_mmap(void *state, void *address, size_t size, int protection, int flags,
			   int fd, off_t offset)
{
	struct machine *machine = state;

	(void)address, (void)size, (void)protection, (void)flags, (void)fd, (void)offset;
	machine->page.cap_user_rdpmc = machine->readable;
	return &machine->page;
}

static int scripted_munmap(void *state, void *address, size_t size)
{
	(void)state, (void)address, (void)size;
	return 0;
}

static int scripted_close(void *state, int fd)
{
	(void)state, (void)fd;
	return 0;
}

static struct sys scripted(struct machine *machine)
{
	struct sys sys = *sys_real();

	sys.state = machine;
	sys.perf_event_open = scripted_open;
	sys.mmap = scripted_mmap;
	sys.munmap = scripted_munmap;
	sys.close = scripted_close;
	return sys;
}

static void no_word_is_the_clock(void **state)
{
	struct metric metric;
	struct agent_shared shared = { 0 };

	(void)state;
	assert_int_equal(metric_choose(&metric, sys_real(), NULL, false, NULL), STATUS_OK);
	assert_false(metric.by_event);
	assert_false(metric_is_full(&metric));
	metric_header_fill(&shared, &metric, 2.5);
	assert_int_equal(shared.counter, AGENT_CLOCK);
	assert_true(shared.ticks_per_ns == UINT64_C(5) << 31);
	assert_int_equal(metric_choose(&metric, sys_real(), "time", true, NULL), STATUS_OK);
	assert_true(metric_is_full(&metric));
	metric_header_fill(&shared, &metric, 1);
	assert_int_equal(shared.counter, AGENT_ORDERED);
}

static void a_hardware_event_is_counted_in_user_space(void **state)
{
	struct machine machine = { .opens = 5, .readable = true };
	const struct sys sys = scripted(&machine);
	struct metric metric;
	struct agent_shared shared = { 0 };
	struct error error = { 0 };

	(void)state;
	assert_int_equal(metric_choose(&metric, &sys, "instructions", false, &error), STATUS_OK);
	assert_true(metric.by_event && metric_is_full(&metric));
	assert_string_equal(metric.name, "instructions:u");
	metric_header_fill(&shared, &metric, 1);
	assert_int_equal(shared.counter, AGENT_EVENT);
	assert_memory_equal(shared.attributes, &machine.opened, sizeof(machine.opened));
	assert_int_equal(machine.opened.exclude_kernel, 1);
	assert_int_equal(machine.opened.sample_period, 0);
}

static void a_machine_without_pmu_is_told_of_the_clock(void **state)
{
	struct machine machine = { .opens = -ENOENT };
	const struct sys sys = scripted(&machine);
	struct metric metric;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(metric_choose(&metric, &sys, "cycles", false, &error), STATUS_UNSUPPORTED);
	assert_non_null(strstr(error.text, "cycles"));
	assert_non_null(strstr(error.text, "the default"));
	assert_non_null(strstr(error.text, "no PMU"));
}

static void a_counter_that_programs_may_not_read_names_the_knob(void **state)
{
	struct machine machine = { .opens = 5, .readable = false };
	const struct sys sys = scripted(&machine);
	struct metric metric;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(metric_choose(&metric, &sys, "cycles", false, &error), STATUS_PERMISSION);
	assert_non_null(strstr(error.text, "perf_user_access"));
}

static void what_the_kernel_counts_is_refused(void **state)
{
	struct machine machine = { .opens = 5, .readable = true };
	const struct sys sys = scripted(&machine);
	struct metric metric;
	struct error error = { 0 };

	(void)state;
	assert_int_equal(metric_choose(&metric, &sys, "page-faults", false, &error),
			 STATUS_UNSUPPORTED);
	assert_non_null(strstr(error.text, "page-faults"));
	assert_int_equal(metric_choose(&metric, &sys, "cycles,instructions", false, &error),
			 STATUS_USAGE);
	assert_int_not_equal(metric_choose(&metric, &sys, "instrctions", false, &error), STATUS_OK);
	assert_non_null(strstr(error.text, "instructions"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_word_is_the_clock),
		cmocka_unit_test(a_hardware_event_is_counted_in_user_space),
		cmocka_unit_test(a_machine_without_pmu_is_told_of_the_clock),
		cmocka_unit_test(a_counter_that_programs_may_not_read_names_the_knob),
		cmocka_unit_test(what_the_kernel_counts_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
