/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/kernel.h"

/* A PMU with precision up to 2. */
static int pmu_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	if (attr->type == PERF_TYPE_HARDWARE && attr->precise_ip > 2)
		return EOPNOTSUPP;
	return attr->sample_period ? 0 : EINVAL;
}

/* No PMU: what a virtual machine shows. */
static int clock_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	return attr->type == PERF_TYPE_SOFTWARE ? 0 : ENOENT;
}

/* A PMU that counts but cannot interrupt. */
static int counting_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	return attr->type == PERF_TYPE_HARDWARE && attr->sample_period ? EOPNOTSUPP : 0;
}

static int users_pmu_opens(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	return attr->exclude_kernel ? pmu_opens(kernel, attr) : EACCES;
}

static int nothing_is_permitted(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	(void)attr;
	return EACCES;
}

static int descriptors_are_short(const struct kernel *kernel, const struct perf_event_attr *attr)
{
	(void)kernel;
	(void)attr;
	return EMFILE;
}

static const struct event *chosen(struct machine *m, struct kernel *kernel, bool user_only,
				  size_t n)
{
	kernel->sysfs = m->sysfs;
	event_list_release(&m->list);
	if (event_default(&m->list, &kernel->sys, user_only, &m->error) != STATUS_OK)
		fail_msg("%s", m->error.text);
	assert_int_equal(m->list.n, n);
	assert_int_equal(kernel->n_open, 0);
	for (size_t i = 0; i < n; i++)
		assert_true(m->list.events[i].by_default);
	return m->list.events;
}

static void with_a_pmu_it_is_cycles_at_the_highest_precision_that_opens(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, pmu_opens, "2\n");
	e = chosen(*state, &kernel, false, 1);
	assert_string_equal(e->name, "cycles");
	assert_int_equal(e->attr.precise_ip, 2);
	assert_null(e->why);
	assert_int_equal(e->attr.sample_period, 0);
	assert_false(e->attr.disabled);
}

static void without_one_it_is_cpu_clock_with_a_reason(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, clock_opens, "2\n");
	e = chosen(*state, &kernel, false, 1);
	assert_string_equal(e->granted, "cpu-clock");
	assert_int_equal(e->kind, EVENT_CLOCK);
	assert_non_null(e->why);
}

static void a_pmu_that_cannot_interrupt_does_not_sample(void **state)
{
	struct kernel kernel;

	kernel_init(&kernel, counting_opens, "2\n");
	assert_string_equal(chosen(*state, &kernel, false, 1)->granted, "cpu-clock");
}

static void user_only_adds_u(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, users_pmu_opens, "2\n");
	e = chosen(*state, &kernel, true, 1);
	assert_true(e->attr.exclude_kernel && e->attr.exclude_hv);
	assert_null(e->why);
	kernel_init(&kernel, clock_opens, "2\n");
	assert_string_equal(chosen(*state, &kernel, true, 1)->granted, "cpu-clock:u");
}

static void where_the_kernel_is_forbidden_it_is_left_out_with_a_reason(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, users_pmu_opens, "2\n");
	e = chosen(*state, &kernel, false, 1);
	assert_true(e->attr.exclude_kernel);
	assert_non_null(strstr(e->why, "user space only"));
}

static void on_a_hybrid_machine_each_core_pmu_has_its_event(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, pmu_opens, "2\n");
	e = chosen(*state, &kernel, false, 2);
	assert_string_equal(e[0].name, "cpu_atom/cycles/");
	assert_string_equal(e[1].name, "cpu_core/cycles/");
}

static void on_a_hybrid_machine_whose_pmus_do_not_count_one_clock_is_enough(void **state)
{
	struct kernel kernel;
	const struct event *e;

	kernel_init(&kernel, clock_opens, "2\n");
	e = chosen(*state, &kernel, false, 1);
	assert_string_equal(e->granted, "cpu-clock");
	assert_null(e->cpus);
}

static void when_nothing_opens_the_list_stays_and_the_reason_is_told(void **state)
{
	struct machine *m = *state;
	struct kernel kernel;

	machine_event(m, "cs");
	kernel_init(&kernel, nothing_is_permitted, "3\n");
	assert_int_equal(event_default(&m->list, &kernel.sys, true, &m->error), STATUS_PERMISSION);
	assert_non_null(strstr(m->error.text, "perf_event_paranoid is 3"));
	assert_int_equal(m->list.n, 1);
	kernel_init(&kernel, descriptors_are_short, "2\n");
	assert_int_equal(event_default(&m->list, &kernel.sys, true, &m->error), STATUS_LIMIT);
	assert_int_equal(kernel.n_open, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, with_a_pmu_it_is_cycles_at_the_highest_precision_that_opens),
		ON(skylake, without_one_it_is_cpu_clock_with_a_reason),
		ON(skylake, a_pmu_that_cannot_interrupt_does_not_sample),
		ON(skylake, user_only_adds_u),
		ON(skylake, where_the_kernel_is_forbidden_it_is_left_out_with_a_reason),
		ON(alderlake, on_a_hybrid_machine_each_core_pmu_has_its_event),
		ON(alderlake, on_a_hybrid_machine_whose_pmus_do_not_count_one_clock_is_enough),
		ON(skylake, when_nothing_opens_the_list_stays_and_the_reason_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
