/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/doctor.h"
#include "support/tree.h"

/* A machine of the test's own: files below a tree, and a kernel that opens what the test says. */
struct machine {
	struct tree tree;
	struct sys sys;
	struct doctor doctor;
	int clock, kernel, cycles, per_cpu; /* 0 or the errno with which it is refused */
	unsigned int precise;               /* the highest level granted */
	int open_now;                       /* descriptors that were not closed */
	char proc[300], sysfs[300];
};

static int fake_open(void *state, struct perf_event_attr *attr, pid_t pid, int cpu, int group,
		     unsigned long flags)
{
	struct machine *m = state;
	int refused = attr->type == PERF_TYPE_SOFTWARE ? m->clock : m->cycles;

	(void)cpu;
	(void)group;
	(void)flags;
	if (!refused && pid == -1)
		refused = m->per_cpu;
	if (!refused && !attr->exclude_kernel)
		refused = m->kernel;
	if (!refused && attr->precise_ip > m->precise)
		refused = EOPNOTSUPP;
	if (refused)
		return -refused;
	m->open_now++;
	return 1000;
}

static int fake_close(void *state, int fd)
{
	struct machine *m = state;

	if (fd != 1000)
		return sys_real()->close(NULL, fd);
	m->open_now--;
	return 0;
}

/* A quiet bare-metal machine, root, everything allowed. */
static const struct tree_file healthy[] = {
	{ "proc/self/status", "Name:\tx\nSeccomp:\t0\nCapEff:\t000001ffffffffff\n" },
	{ "proc/self/limits",
	  "Limit                     Soft Limit           Hard Limit           Units\n"
	  "Max locked memory         8388608              8388608              bytes\n"
	  "Max open files            65536                1048576              files\n" },
	{ "proc/self/cgroup", "0::/\n" },
	{ "proc/mounts", "proc /proc proc rw 0 0\n" },
	{ "proc/1/cgroup", "0::/init.scope\n" },
	{ "proc/sys/kernel/perf_event_paranoid", "2\n" },
	{ "proc/sys/kernel/perf_event_max_sample_rate", "100000\n" },
	{ "proc/sys/kernel/perf_cpu_time_max_percent", "25\n" },
	{ "proc/sys/kernel/perf_event_mlock_kb", "516\n" },
	{ "proc/sys/kernel/perf_event_max_stack", "127\n" },
	{ "proc/sys/kernel/nmi_watchdog", "0\n" },
	{ "proc/sys/kernel/kptr_restrict", "1\n" },
	{ "proc/sys/kernel/yama/ptrace_scope", "1\n" },
	{ "proc/kallsyms", "ffffffff81000000 T _text\nffffffff81000100 T startup_64\n" },
	{ "proc/loadavg", "0.10 0.10 0.10 1/100 1000\n" },
	{ "proc/stat", "cpu 100 0 100 800 0 0 0 0 0 0\n" },
	{ "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc\n" },
	{ "sys/bus/event_source/devices/cpu/rdpmc", "1\n" },
	{ "sys/bus/event_source/devices/uprobe/type", "9\n" },
	{ "sys/kernel/tracing/events/sched/", "" },
	{ "sys/kernel/tracing/uprobe_events", "" },
	{ "sys/devices/system/cpu/online", "0-3,8\n" },
	{ "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n" },
	{ "sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n" },
	{ "sys/devices/system/clocksource/clocksource0/available_clocksource",
	  "tsc hpet acpi_pm\n" },
};

static int setup(void **state)
{
	static struct machine machine;
	struct machine *m = &machine;
	char mounts[400];

	memset(m, 0, sizeof(*m));
	tree_make(&m->tree, healthy, sizeof(healthy) / sizeof(healthy[0]));
	tree_write(&m->tree, "cgroup/", "");
	snprintf(mounts, sizeof(mounts), "none %.255s/cgroup cgroup2 rw 0 0\n", m->tree.root);
	tree_write(&m->tree, "proc/mounts", mounts);
	m->sys = *sys_real();
	m->sys.state = m;
	m->sys.perf_event_open = fake_open;
	m->sys.close = fake_close;
	m->precise = 2;
	snprintf(m->proc, sizeof(m->proc), "%.255s/proc", m->tree.root);
	snprintf(m->sysfs, sizeof(m->sysfs), "%.255s/sys", m->tree.root);
	*state = m;
	return 0;
}

static int teardown(void **state)
{
	struct machine *m = *state;

	tree_remove(&m->tree);
	doctor_release(&m->doctor);
	return 0;
}

static void examine(struct machine *m)
{
	const struct doctor_roots roots = { m->proc, m->sysfs };

	doctor_release(&m->doctor);
	assert_int_equal(doctor_examine(&m->doctor, &m->sys, &roots, NULL), STATUS_OK);
	assert_int_equal(m->open_now, 0);
	for (size_t i = 0; i < m->doctor.n; i++) {
		const struct doctor_check *check = &m->doctor.checks[i];

		/* what is not well says how to mend it, what is well does not */
		if ((*check->fix != '\0') != (check->state != DOCTOR_OK))
			fail_msg("check %s: state %s, fix '%s'", check->name,
				 doctor_state_name(check->state), check->fix);
	}
}

static const struct doctor_check *check(struct machine *m, const char *name,
					enum doctor_state state)
{
	const struct doctor_check *found;

	examine(m);
	found = doctor_find(&m->doctor, name);
	if (!found)
		fail_msg("no check %s", name);
	if (found->state != state)
		fail_msg("check %s is %s: %s", name, doctor_state_name(found->state), found->text);
	return found;
}

static void user(struct machine *m)
{
	tree_write(&m->tree, "proc/self/status", "Seccomp:\t0\nCapEff:\t0000000000000000\n");
	m->kernel = EACCES;
	m->per_cpu = EACCES;
}

static void a_healthy_machine_needs_no_mending(void **state)
{
	struct machine *m = *state;

	examine(m);
	for (size_t i = 0; i < m->doctor.n; i++)
		if (m->doctor.checks[i].state != DOCTOR_OK &&
		    strcmp(m->doctor.checks[i].name, "user-symbols"))
			fail_msg("%s: %s", m->doctor.checks[i].name, m->doctor.checks[i].text);
	assert_string_equal(m->doctor.command, "assay record -g -- ./program");
	assert_true(m->doctor.n >= 22);
}

static void the_highest_precise_level_that_opens_is_named(void **state)
{
	struct machine *m = *state;

	assert_non_null(strstr(check(m, "precise", DOCTOR_OK)->text, "level 2"));
	m->precise = 0;
	check(m, "precise", DOCTOR_LIMITED);
}

static void without_a_pmu_the_recommended_command_still_works(void **state)
{
	struct machine *m = *state;

	m->cycles = ENOENT;
	assert_non_null(strstr(check(m, "pmu", DOCTOR_LIMITED)->fix, "pmu=on"));
	check(m, "precise", DOCTOR_LIMITED);
	check(m, "user-counters", DOCTOR_LIMITED);
	assert_null(doctor_find(&m->doctor, "watchdog"));
	assert_non_null(strstr(m->doctor.why, "cpu-clock"));
	assert_non_null(strstr(m->doctor.command, "assay record"));
}

static void a_plain_user_is_told_the_knob_and_a_command_that_works_for_him(void **state)
{
	struct machine *m = *state;

	user(m);
	assert_non_null(strstr(check(m, "paranoid", DOCTOR_LIMITED)->fix,
			       "sysctl -w kernel.perf_event_paranoid=-1"));
	check(m, "capabilities", DOCTOR_LIMITED);
	check(m, "per-cpu", DOCTOR_LIMITED);
	check(m, "cpu-clock", DOCTOR_LIMITED);
	check(m, "ptrace", DOCTOR_LIMITED);
	assert_string_equal(m->doctor.command, "assay record -e cycles:u -g -- ./program");
	m->cycles = ENOENT;
	examine(m);
	assert_string_equal(m->doctor.command, "assay record -e cpu-clock:u -g -- ./program");
}

/* As in a rootless container: all capabilities, none of which the kernel accepts for events. */
static void capabilities_of_a_user_namespace_do_not_count(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/self/uid_map", "         0          0 4294967295\n");
	check(m, "capabilities", DOCTOR_OK);
	tree_write(&m->tree, "proc/self/uid_map", "         0       1000          1\n");
	m->per_cpu = m->kernel = EACCES;
	assert_non_null(strstr(check(m, "capabilities", DOCTOR_LIMITED)->text, "user namespace"));
	check(m, "paranoid", DOCTOR_LIMITED);
	assert_string_equal(m->doctor.command, "assay record -e cycles:u -g -- ./program");
}

/* Debian's level 3 forbids every event. */
static void at_paranoid_3_nothing_can_be_recorded_and_the_fix_is_exact(void **state)
{
	struct machine *m = *state;

	user(m);
	tree_write(&m->tree, "proc/sys/kernel/perf_event_paranoid", "3\n");
	m->clock = m->cycles = EACCES;
	assert_string_equal(check(m, "cpu-clock", DOCTOR_BLOCKED)->fix,
			    "as root: sysctl -w kernel.perf_event_paranoid=1");
	check(m, "paranoid", DOCTOR_BLOCKED);
	assert_string_equal(m->doctor.command, "");
	assert_int_equal(doctor_worst(&m->doctor), DOCTOR_BLOCKED);
}

static void inside_a_container_the_fix_is_on_the_host(void **state)
{
	struct machine *m = *state;

	user(m);
	tree_write(&m->tree, "proc/1/cgroup", "0::/docker/0123\n");
	tree_write(&m->tree, "proc/self/status", "Seccomp:\t2\nCapEff:\t0\n");
	m->clock = EPERM;
	assert_non_null(strstr(check(m, "container", DOCTOR_LIMITED)->fix, "--cap-add PERFMON"));
	assert_non_null(strstr(doctor_find(&m->doctor, "container")->text, "docker"));
	assert_non_null(strstr(doctor_find(&m->doctor, "paranoid")->fix, "on the host"));
	assert_non_null(strstr(check(m, "cpu-clock", DOCTOR_BLOCKED)->fix, "seccomp"));
}

static void a_kernel_without_events_is_said_to_be_one(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/sys/kernel/perf_event_paranoid", "");
	m->clock = m->cycles = ENOSYS;
	assert_non_null(strstr(check(m, "paranoid", DOCTOR_BLOCKED)->fix, "CONFIG_PERF_EVENTS"));
	assert_non_null(strstr(check(m, "cpu-clock", DOCTOR_BLOCKED)->fix, "CONFIG_PERF_EVENTS"));
}

static void hidden_kernel_symbols_are_told_with_their_knob(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/kallsyms",
		   "0000000000000000 T _text\n0000000000000000 T startup_64\n");
	tree_write(&m->tree, "proc/sys/kernel/kptr_restrict", "2\n");
	assert_string_equal(check(m, "kernel-symbols", DOCTOR_LIMITED)->fix,
			    "as root: sysctl -w kernel.kptr_restrict=1");
	tree_write(&m->tree, "proc/sys/kernel/kptr_restrict", "0\n");
	assert_non_null(
		strstr(check(m, "kernel-symbols", DOCTOR_LIMITED)->fix, "perf_event_paranoid"));
	/* the first symbol of many kernels is absolute */
	tree_write(&m->tree, "proc/kallsyms",
		   "0000000000000000 A fixed_percpu\nffffffff81000100 T _text\n");
	check(m, "kernel-symbols", DOCTOR_OK);
}

static void limits_below_what_a_recording_takes_are_told(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "proc/self/limits",
		   "Max locked memory         8388608  8388608  bytes\n"
		   "Max open files            256      1048576  files\n");
	assert_string_equal(check(m, "open-files", DOCTOR_LIMITED)->fix, "ulimit -n 1048576");
	tree_write(&m->tree, "proc/self/limits",
		   "Max open files            256      256      files\n");
	assert_non_null(strstr(check(m, "open-files", DOCTOR_LIMITED)->fix, "limits.d"));
	tree_write(&m->tree, "proc/sys/kernel/perf_event_max_sample_rate", "1000\n");
	assert_non_null(strstr(check(m, "sample-rate", DOCTOR_LIMITED)->text, "1000"));
	tree_write(&m->tree, "proc/sys/kernel/perf_event_max_stack", "16\n");
	check(m, "stack-depth", DOCTOR_LIMITED);
	user(m);
	tree_write(&m->tree, "proc/sys/kernel/perf_event_mlock_kb", "64\n");
	check(m, "ring-memory", DOCTOR_LIMITED);
}

static void a_slow_clocksource_a_governor_and_a_busy_machine_are_told(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "sys/devices/system/clocksource/clocksource0/current_clocksource",
		   "hpet\n");
	assert_non_null(strstr(check(m, "clocksource", DOCTOR_LIMITED)->fix, "echo tsc"));
	tree_write(&m->tree, "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	check(m, "frequency", DOCTOR_LIMITED);
	tree_write(&m->tree, "proc/loadavg", "5.50 1.00 1.00 1/100 1000\n"); /* 5 CPUs: 0-3,8 */
	assert_non_null(strstr(check(m, "cpus", DOCTOR_LIMITED)->text, "5 CPUs"));
	tree_write(&m->tree, "sys/devices/system/cpu/online", "0\n");
	assert_non_null(strstr(check(m, "cpus", DOCTOR_LIMITED)->text, "one CPU"));
	tree_write(&m->tree, "proc/stat", "cpu 100 0 100 700 0 0 0 100 0 0\n");
	assert_non_null(strstr(check(m, "virtual", DOCTOR_LIMITED)->text, "10.0 %"));
}

static void missing_places_are_told_apart_from_forbidden_ones(void **state)
{
	struct machine *m = *state;
	const struct doctor_roots nowhere = { m->proc, "/nonexistent" };

	tree_write(&m->tree, "proc/mounts", "proc /proc proc rw 0 0\n");
	assert_non_null(strstr(check(m, "cgroup", DOCTOR_LIMITED)->fix, "mount -t cgroup2"));
	doctor_release(&m->doctor);
	assert_int_equal(doctor_examine(&m->doctor, &m->sys, &nowhere, NULL), STATUS_OK);
	assert_non_null(strstr(doctor_find(&m->doctor, "tracefs")->fix, "mount -t tracefs"));
	assert_non_null(strstr(doctor_find(&m->doctor, "uprobes")->fix, "CONFIG_UPROBE_EVENTS"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_healthy_machine_needs_no_mending),
		TEST(the_highest_precise_level_that_opens_is_named),
		TEST(without_a_pmu_the_recommended_command_still_works),
		TEST(a_plain_user_is_told_the_knob_and_a_command_that_works_for_him),
		TEST(capabilities_of_a_user_namespace_do_not_count),
		TEST(at_paranoid_3_nothing_can_be_recorded_and_the_fix_is_exact),
		TEST(inside_a_container_the_fix_is_on_the_host),
		TEST(a_kernel_without_events_is_said_to_be_one),
		TEST(hidden_kernel_symbols_are_told_with_their_knob),
		TEST(limits_below_what_a_recording_takes_are_told),
		TEST(a_slow_clocksource_a_governor_and_a_busy_machine_are_told),
		TEST(missing_places_are_told_apart_from_forbidden_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
