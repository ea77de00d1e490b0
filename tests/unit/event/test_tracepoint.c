/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>

#include "unit/event/machine.h"

static void a_tracepoint_takes_its_id_from_tracefs(void **state)
{
	const struct event *e = machine_event(*state, "sched:sched_switch");

	assert_int_equal(e->attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(e->attr.config, 316);
	assert_string_equal(e->granted, "sched:sched_switch");
	assert_int_equal(machine_event(*state, "kvm-s390:kvm_entry")->attr.config, 900);
}

static void it_takes_modifiers_and_own_terms(void **state)
{
	const struct event *e = machine_event(*state, "sched:sched_switch/period=3,name=sw/k");

	assert_int_equal(e->attr.sample_period, 3);
	assert_string_equal(e->label, "sw");
	assert_true(e->attr.exclude_user);
	assert_true(machine_event(*state, "sched:sched_switch:u")->attr.exclude_kernel);
}

static void a_glob_matches_within_its_part_and_in_byte_order(void **state)
{
	const struct event *e = machine_events(*state, "sched:sched_wak*:u", 2);

	assert_string_equal(e[0].name, "sched:sched_wakeup");
	assert_string_equal(e[1].name, "sched:sched_waking");
	assert_true(e[0].attr.exclude_kernel && e[1].attr.exclude_kernel);
	assert_string_equal(e[1].asked, "sched:sched_wak*:u");
	machine_events(*state, "sched:*", 3);
	machine_events(*state, "s*:*", 4);
	machine_events(*state, "*:*_re[a]d", 1);
	machine_events(*state, "*:*", 5);
}

static void a_glob_without_a_match_is_refused(void **state)
{
	machine_refuses(*state, "sched:nothing*", STATUS_NOT_FOUND, 0,
			"no tracepoint matches 'sched:nothing*'");
	machine_refuses(*state, "nothing*:*", STATUS_NOT_FOUND, 0, "no tracepoint matches");
}

static void a_glob_over_more_than_1024_is_refused(void **state)
{
	struct machine *m = *state;

	for (int i = 0; i <= EVENT_MAX; i++) {
		char path[64];

		snprintf(path, sizeof(path), "tracefs/events/many/e%d/id", i);
		tree_write(&m->tree, path, "1\n");
	}
	assert_int_equal(machine_try(m, "many:*"), STATUS_LIMIT);
	assert_non_null(strstr(m->error.text, "narrow the glob"));
	machine_events(m, "many:e1*", 1 + 10 + 100 + 25);
}

static void an_unknown_name_or_system_is_answered_with_near_ones(void **state)
{
	machine_refuses(
		*state, "sched:sched_swich", STATUS_NOT_FOUND, 6,
		"no tracepoint 'sched_swich' in 'sched' (character 7 of 'sched:sched_swich'): did "
		"you mean sched_switch?");
	machine_refuses(*state, "cs,shced:sched_switch", STATUS_NOT_FOUND, 3,
			"did you mean sched?");
	machine_refuses(*state, "sched:zzz", STATUS_NOT_FOUND, 6, "/events/sched");
	machine_refuses(*state, "sched:enable", STATUS_NOT_FOUND, 6, "no tracepoint 'enable'");
}

static void an_id_that_is_garbage_is_refused_with_the_file(void **state)
{
	struct machine *m = *state;

	tree_write(&m->tree, "tracefs/events/sched/bad/id", "x\n");
	tree_write(&m->tree, "tracefs/events/sched/dir/id/", NULL);
	machine_refuses(m, "sched:bad", STATUS_CORRUPT, 0, "sched/bad/id holds no number");
	machine_refuses(m, "sched:dir", STATUS_IO, 0, "sched/dir/id");
}

static void where_tracefs_is_not_mounted_the_command_is_named(void **state)
{
	struct machine *m = *state;

	m->roots.tracefs = "/nonexistent/tracing";
	machine_refuses(m, "sched:sched_switch", STATUS_NOT_FOUND, 0,
			"tracefs is not mounted; let root run: mount -t tracefs nodev "
			"/nonexistent/tracing");
	machine_refuses(m, "sched:*", STATUS_NOT_FOUND, 0, "mount -t tracefs");
}

static int forbidden_fstatat(void *state, int dir_fd, const char *path, struct stat *stat,
			     int flags)
{
	(void)state;
	return strstr(path, "trac") ? -EACCES
				    : sys_real()->fstatat(NULL, dir_fd, path, stat, flags);
}

static void where_tracefs_may_not_be_read_the_command_is_named(void **state)
{
	struct machine *m = *state;
	struct sys sys = *sys_real();
	const struct event_roots standard = { m->sysfs, NULL };

	sys.fstatat = forbidden_fstatat;
	assert_int_equal(event_parse(&m->list, &sys, &standard, "sched:sched_switch", &m->error),
			 STATUS_PERMISSION);
	assert_non_null(strstr(m->error.text, "run assay as root"));
	assert_non_null(strstr(m->error.text, "mount -o remount,mode=755 /sys/kernel/tracing"));
}

/* Only the older place is mounted. */
static int debugfs_fstatat(void *state, int dir_fd, const char *path, struct stat *stat, int flags)
{
	(void)state;
	if (!strncmp(path, "/sys/kernel/tracing", 19))
		return -ENOENT;
	if (!strncmp(path, "/sys/kernel/debug/tracing/events", 32)) {
		memset(stat, 0, sizeof(*stat));
		stat->st_mode = S_IFDIR;
		return 0;
	}
	return sys_real()->fstatat(NULL, dir_fd, path, stat, flags);
}

static int debugfs_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	const char *root = ((struct machine *)state)->tree.root;
	char there[1024];

	if (strncmp(path, "/sys/kernel/debug/tracing", 25))
		return sys_real()->openat(NULL, dir_fd, path, flags, mode);
	snprintf(there, sizeof(there), "%s/tracefs%s", root, path + 25);
	return sys_real()->openat(NULL, dir_fd, there, flags, mode);
}

static void the_place_below_debugfs_is_tried_too(void **state)
{
	struct machine *m = *state;
	struct sys sys = *sys_real();
	const struct event_roots standard = { m->sysfs, NULL };

	sys.state = m;
	sys.fstatat = debugfs_fstatat;
	sys.openat = debugfs_openat;
	assert_int_equal(event_parse(&m->list, &sys, &standard, "sched:sched_switch", &m->error),
			 STATUS_OK);
	assert_int_equal(m->list.events[0].attr.config, 316);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, a_tracepoint_takes_its_id_from_tracefs),
		ON(skylake, it_takes_modifiers_and_own_terms),
		ON(skylake, a_glob_matches_within_its_part_and_in_byte_order),
		ON(skylake, a_glob_without_a_match_is_refused),
		ON(skylake, a_glob_over_more_than_1024_is_refused),
		ON(skylake, an_unknown_name_or_system_is_answered_with_near_ones),
		ON(skylake, an_id_that_is_garbage_is_refused_with_the_file),
		ON(skylake, where_tracefs_is_not_mounted_the_command_is_named),
		ON(skylake, where_tracefs_may_not_be_read_the_command_is_named),
		ON(skylake, the_place_below_debugfs_is_tried_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
