/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "event/pmu.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "unit/event/machine.h"

static void a_numbered_event_of_a_usual_machine_names_no_pmu(void **state)
{
	const struct event *e = machine_event(*state, "cycles");

	assert_int_equal(e->attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(e->attr.config, PERF_COUNT_HW_CPU_CYCLES);
	assert_null(e->cpus);
}

static void on_a_hybrid_machine_it_opens_on_every_core_pmu(void **state)
{
	const struct event *e = machine_events(*state, "instructions:u", 2);

	assert_string_equal(e[0].granted, "cpu_atom/instructions/u");
	assert_int_equal(e[0].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(e[0].attr.config, 10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(e[0].n_cpus, 4);
	assert_int_equal(e[0].cpus[0], 4);
	assert_int_equal(e[0].cpus[3], 7);
	assert_string_equal(e[1].granted, "cpu_core/instructions/u");
	assert_int_equal(e[1].attr.config, 4ull << 32 | PERF_COUNT_HW_INSTRUCTIONS);
	assert_int_equal(e[1].cpus[0], 0);
	e = machine_events(*state, "L1-dcache-load-misses", 2);
	assert_int_equal(e[1].attr.type, PERF_TYPE_HW_CACHE);
	assert_int_equal(e[1].attr.config, 4ull << 32 | 0x10000);
}

static void raw_on_a_hybrid_machine_takes_each_pmus_own_type(void **state)
{
	const struct event *e = machine_events(*state, "r1c2", 2);

	assert_int_equal(e[0].attr.type, 10);
	assert_int_equal(e[0].attr.config, 0x1c2);
	assert_int_equal(e[1].attr.type, 4);
	assert_string_equal(e[1].name, "cpu_core/r1c2/");
}

static void software_events_are_single_on_a_hybrid_machine(void **state)
{
	assert_int_equal(machine_event(*state, "cpu-clock")->attr.type, PERF_TYPE_SOFTWARE);
}

static void a_core_pmu_whose_cpus_are_all_offline_is_passed_over(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, DEV "cpu_atom/cpus", "\n");
	assert_string_equal(machine_event(m, "cycles")->granted, "cycles");
	machine_refuses(m, "cpu_atom/event=1/", STATUS_UNSUPPORTED, 0, "no CPU that is online");
}

static void the_only_core_pmu_counts_everywhere_and_lends_no_cpus(void **state)
{
	assert_null(machine_event(*state, "cycles")->cpus);
	assert_null(machine_event(*state, "armv8_pmuv3_0/cpu_cycles/")->cpus);
	assert_int_equal(machine_event(*state, "armv8_pmuv3_0/cpu_cycles/")->attr.type, 8);
}

static void an_uncore_pmu_lends_the_cpus_of_its_mask(void **state)
{
	const struct event *e = machine_event(*state, "uncore_imc_0/event=4/");

	assert_int_equal(e->n_cpus, 2);
	assert_int_equal(e->cpus[0], 0);
	assert_int_equal(e->cpus[1], 24);
}

static void a_machine_without_pmus_still_has_software_events(void **state)
{
	struct machine *m = *state;
	const struct event_roots nowhere = { "/nonexistent", "/nonexistent" };

	assert_int_equal(event_parse(&m->list, sys_real(), &nowhere, "cpu-clock,cycles", &m->error),
			 STATUS_OK);
	assert_int_equal(m->list.events[1].attr.type, PERF_TYPE_HARDWARE);
	assert_int_equal(event_parse(&m->list, sys_real(), &nowhere, "cpu/event=1/", &m->error),
			 STATUS_NOT_FOUND);
	assert_non_null(strstr(m->error.text, "shows none (is sysfs mounted?)"));
}

/* What a broken driver or a hostile mount could show. */
static int hostile_up(void **state)
{
	struct machine *m = MACHINE(skylake_files);
	char *huge = malloc(1 << 20);
	static const char bytes[] = { '4', '\0', '5', '\n' };

	*state = m;
	if (!huge)
		return -1;
	memset(huge, '7', 1 << 20);
	tree_write_bytes(&m->tree, DEV "huge/type", huge, 1 << 20);
	tree_write(&m->tree, DEV "hugeterm/type", "50\n");
	tree_write_bytes(&m->tree, DEV "hugeterm/format/event", huge, 1 << 20);
	free(huge);
	tree_write(&m->tree, DEV "word/type", "four\n");
	tree_write(&m->tree, DEV "negative/type", "-1\n");
	tree_write(&m->tree, DEV "wide/type", "4294967296\n");
	tree_write(&m->tree, DEV "empty/type", "");
	tree_write(&m->tree, DEV "none/format/event", "config:0-7\n");
	tree_write(&m->tree, DEV "folder/type/", NULL);
	tree_write_bytes(&m->tree, DEV "nul/type", bytes, sizeof(bytes));
	tree_write(&m->tree, DEV "cpus1/type", "60\n");
	tree_write(&m->tree, DEV "cpus1/cpus", "0-4294967295\n");
	tree_write(&m->tree, DEV "cpus2/type", "61\n");
	tree_write(&m->tree, DEV "cpus2/cpus", "3-1\n");
	tree_write(&m->tree, DEV "cpus3/type", "62\n");
	tree_write(&m->tree, DEV "cpus3/cpumask", "0-3,2-5\n");
	tree_write(&m->tree, DEV "cpus4/type", "63\n");
	tree_write(&m->tree, DEV "cpus4/cpumask/", NULL);
	tree_write(&m->tree, DEV "terms/type", "51\n");
	tree_write(&m->tree, DEV "terms/format/bad", "config:64\n");
	tree_write(&m->tree, DEV "terms/format/dir/", NULL);
	tree_write(&m->tree, DEV "terms/format/good", "config:0-7\n");
	tree_write(&m->tree, DEV "terms/events/empty", "");
	tree_write(&m->tree, DEV "terms/events/commas", ",,,\n");
	tree_write(&m->tree, DEV "terms/events/words", "good=many\n");
	tree_write(&m->tree, DEV "terms/events/loop", "loop\n");
	tree_write(&m->tree, DEV "terms/events/wide", "good=0x100\n");
	tree_write(&m->tree, DEV "terms/events/lost", "gone=1\n");
	tree_write(&m->tree, DEV "terms/events/ok", "good=0x12\n");
	tree_write(&m->tree, DEV "a\x1b[2Jb/type", "52\n");
	return 0;
}

static void garbage_in_one_pmu_does_not_keep_others_from_working(void **state)
{
	assert_int_equal(machine_event(*state, "cpu/event=0x3c/")->attr.config, 0x3c);
	assert_int_equal(machine_event(*state, "terms/ok/")->attr.config, 0x12);
	assert_int_equal(machine_event(*state, "cycles")->attr.type, PERF_TYPE_HARDWARE);
}

static void a_pmu_whose_type_is_garbage_is_refused_with_the_file(void **state)
{
	static const char *const pmus[] = { "huge",  "word", "negative", "wide",
					    "empty", "none", "folder" };

	for (size_t i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		char text[64], file[64];

		snprintf(text, sizeof(text), "%s/event=1/", pmus[i]);
		snprintf(file, sizeof(file), "devices/%s/type", pmus[i]);
		machine_refuses(*state, text, STATUS_CORRUPT, 0, file);
	}
	/* A NUL ends the text, as it would end a string in the kernel. */
	assert_int_equal(machine_event(*state, "nul//")->attr.type, 4);
}

static void cpu_lists_that_are_garbage_or_huge_are_no_cpus(void **state)
{
	const struct event *e = machine_event(*state, "cpus1/config=1/");

	assert_null(e->cpus);
	assert_null(machine_event(*state, "cpus2/config=1/")->cpus);
	assert_null(machine_event(*state, "cpus3/config=1/")->cpus);
	assert_null(machine_event(*state, "cpus4/config=1/")->cpus);
}

static void terms_that_are_garbage_are_refused_where_they_are_used(void **state)
{
	machine_refuses(*state, "terms/bad=1/", STATUS_CORRUPT, 6, "as 'config:64'");
	machine_refuses(*state, "terms/dir=1/", STATUS_USAGE, 6, "knows no term or event 'dir'");
	machine_refuses(*state, "terms/empty/", STATUS_CORRUPT, 6, "not a list of terms");
	machine_refuses(*state, "terms/commas/", STATUS_CORRUPT, 6, "not a list of terms");
	machine_refuses(*state, "terms/words/", STATUS_USAGE, 6, "needs a number, not 'many'");
	machine_refuses(*state, "terms/loop/", STATUS_CORRUPT, 6, "which it does not have");
	machine_refuses(*state, "terms/wide/", STATUS_USAGE, 6, "at most 0xff");
	machine_refuses(*state, "terms/lost/", STATUS_CORRUPT, 6, "term gone");
	machine_refuses(*state, "hugeterm/event=1/", STATUS_USAGE, 9, "knows no term");
}

static void a_name_is_never_a_path(void **state)
{
	machine_refuses(*state, "../config=1/", STATUS_NOT_FOUND, 0, "no PMU '..'");
	machine_refuses(*state, "./config=1/", STATUS_NOT_FOUND, 0, "no PMU '.'");
	machine_refuses(*state, "terms/..=1/", STATUS_USAGE, 6, "knows no term");
	machine_refuses(*state, "..:..", STATUS_USAGE, 0, "a tracepoint is SYSTEM:NAME");
	machine_refuses(*state, "sched:..", STATUS_USAGE, 0, "a tracepoint is SYSTEM:NAME");
}

static void control_bytes_of_names_never_reach_the_message(void **state)
{
	struct machine *m = *state;

	assert_int_equal(machine_try(m, "nosuch/x=1/"), STATUS_NOT_FOUND);
	assert_non_null(strstr(m->error.text, "a?[2Jb"));
	assert_null(strchr(m->error.text, '\x1b'));
}

/* A FIFO would block a reader for ever; opened without a writer it must not. */
static void a_fifo_in_the_way_does_not_block(void **state)
{
	struct machine *m = *state;
	char path[600];

	snprintf(path, sizeof(path), "%s/" DEV "cpu/events/fifo", m->tree.root);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_not_equal(machine_try(m, "cpu/fifo/"), STATUS_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, a_numbered_event_of_a_usual_machine_names_no_pmu),
		ON(alderlake, on_a_hybrid_machine_it_opens_on_every_core_pmu),
		ON(alderlake, raw_on_a_hybrid_machine_takes_each_pmus_own_type),
		ON(alderlake, software_events_are_single_on_a_hybrid_machine),
		ON(alderlake, a_core_pmu_whose_cpus_are_all_offline_is_passed_over),
		ON(cortex, the_only_core_pmu_counts_everywhere_and_lends_no_cpus),
		ON(xeon, an_uncore_pmu_lends_the_cpus_of_its_mask),
		ON(skylake, a_machine_without_pmus_still_has_software_events),
		ON(hostile, garbage_in_one_pmu_does_not_keep_others_from_working),
		ON(hostile, a_pmu_whose_type_is_garbage_is_refused_with_the_file),
		ON(hostile, cpu_lists_that_are_garbage_or_huge_are_no_cpus),
		ON(hostile, terms_that_are_garbage_are_refused_where_they_are_used),
		ON(hostile, a_name_is_never_a_path),
		ON(hostile, control_bytes_of_names_never_reach_the_message),
		ON(skylake, a_fifo_in_the_way_does_not_block),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
