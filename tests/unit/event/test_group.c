/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static void assert_groups(const struct event_list *list, const char *const *names,
			  const int *groups, size_t n)
{
	assert_int_equal(list->n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list->events[i].name, names[i]);
		assert_int_equal(list->events[i].group, groups[i]);
	}
}

static void a_group_of_one_core_pmu_is_one_group(void **state)
{
	struct machine *m = *state;

	machine_events(m, "{cycles,instructions,cpu-clock,cpu/event=1/,msr/tsc/}", 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(m->list.events[i].group, 0);
	assert_int_equal(m->list.n_groups, 1);
}

static void on_a_hybrid_machine_each_core_pmu_gets_a_group(void **state)
{
	static const char *const names[] = { "cpu_atom/cycles/", "cpu_atom/instructions/",
					     "cpu_core/cycles/", "cpu_core/instructions/" };
	static const int groups[] = { 0, 0, 1, 1 };
	struct machine *m = *state;

	machine_events(m, "{cycles,instructions}:S", 4);
	assert_groups(&m->list, names, groups, 4);
	assert_int_equal(m->list.n_groups, 2);
	assert_true(m->list.events[3].group_read);
}

static void members_typed_for_one_pmu_join_its_group_and_software_the_first(void **state)
{
	static const char *const names[] = { "cpu-clock", "cpu_atom/cycles/", "cpu_core/cycles/",
					     "cpu_core/event=1/" };
	static const int groups[] = { 0, 0, 1, 1 };
	struct machine *m = *state;

	machine_events(m, "{cpu-clock,cycles,cpu_core/event=1/}", 4);
	assert_groups(&m->list, names, groups, 4);
}

static void pinned_goes_to_the_leader_of_each_group(void **state)
{
	const struct event *e = machine_events(*state, "{cycles,instructions}:D", 4);

	assert_true(e[0].attr.pinned && e[2].attr.pinned);
	assert_false(e[1].attr.pinned || e[3].attr.pinned);
}

static void instances_of_an_uncore_pmu_are_grouped_one_by_one(void **state)
{
	const struct event *e =
		machine_events(*state, "cs,{uncore_imc/event=1/,uncore_imc/event=2/},cs", 6);

	assert_int_equal(e[1].attr.type, 20);
	assert_int_equal(e[2].attr.type, 20);
	assert_int_equal(e[1].group, e[2].group);
	assert_int_equal(e[3].group, e[4].group);
	assert_int_not_equal(e[2].group, e[3].group);
	assert_int_equal(e[5].group, -1);
}

static void tracepoints_of_a_glob_stay_in_one_group(void **state)
{
	const struct event *e = machine_events(*state, "{sched:*,cycles}", 4);

	for (int i = 0; i < 4; i++)
		assert_int_equal(e[i].group, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, a_group_of_one_core_pmu_is_one_group),
		ON(alderlake, on_a_hybrid_machine_each_core_pmu_gets_a_group),
		ON(alderlake, members_typed_for_one_pmu_join_its_group_and_software_the_first),
		ON(alderlake, pinned_goes_to_the_leader_of_each_group),
		ON(xeon, instances_of_an_uncore_pmu_are_grouped_one_by_one),
		ON(skylake, tracepoints_of_a_glob_stay_in_one_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
