/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "record/weather.h"
#include "support/tree.h"

/* A kernel whose /proc and /sys are below a tree of the test's own. */
static struct tree tree;
static int opened;

static int tree_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	char below[512];

	(void)state;
	opened++;
	snprintf(below, sizeof(below), "%.255s%.255s", tree.root, path);
	return sys_real()->openat(NULL, dir_fd, below, flags, mode);
}

static struct sys fake(void)
{
	struct sys sys = *sys_real();

	sys.openat = tree_openat;
	opened = 0;
	return sys;
}

#define TICK_NS (1000000000u / (uint64_t)sysconf(_SC_CLK_TCK))

static void an_epoch_gets_what_happened_since_the_one_before(void **state)
{
	struct manifest_epoch epoch = { 0 };
	struct weather weather;
	struct sys sys = fake();

	(void)state;
	tree_make(&tree, NULL, 0);
	tree_write(&tree, "proc/stat", "cpu  100 1 50 900 7 2 3 40 5 6\ncpu0 1 2 3\n");
	tree_write(&tree, "sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
	tree_write(&tree, "sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "3000000\n");
	tree_write(&tree, "sys/class/thermal/thermal_zone0/temp", "41500\n");
	weather_start(&weather, &sys);
	tree_write(&tree, "proc/stat", "cpu  110 1 55 950 9 2 4 43 9 9\n");
	weather_epoch(&weather, &sys, &epoch);
	/* user 10, system 5, softirq 1; neither idle, waiting for I/O nor guest time again */
	assert_int_equal(epoch.busy_ns, 16 * TICK_NS);
	assert_int_equal(epoch.steal_ns, 3 * TICK_NS);
	assert_int_equal(epoch.frequency_khz, 2500000);
	assert_int_equal(epoch.temperature_millidegree, 41500);
	weather_epoch(&weather, &sys, &epoch);
	assert_int_equal(epoch.busy_ns, 0);
	tree_remove(&tree);
}

static void what_a_machine_does_not_tell_is_not_asked_again(void **state)
{
	struct manifest_epoch epoch = { 0 };
	struct weather weather;
	struct sys sys = fake();

	(void)state;
	tree_make(&tree, NULL, 0);
	weather_start(&weather, &sys);
	opened = 0;
	weather_epoch(&weather, &sys, &epoch);
	assert_int_equal(opened, 0);
	assert_int_equal(epoch.busy_ns + epoch.steal_ns + epoch.frequency_khz, 0);
	tree_remove(&tree);
}

static void a_counter_that_goes_back_is_no_time(void **state)
{
	struct manifest_epoch epoch = { 0 };
	struct weather weather;
	struct sys sys = fake();

	(void)state;
	tree_make(&tree, NULL, 0);
	tree_write(&tree, "proc/stat", "cpu  100 1 50 900 7 2 3 40\n");
	weather_start(&weather, &sys);
	tree_write(&tree, "proc/stat", "cpu  10 1 5 90 7 2 3 4\n");
	weather_epoch(&weather, &sys, &epoch);
	assert_int_equal(epoch.busy_ns, 0);
	assert_int_equal(epoch.steal_ns, 0);
	tree_write(&tree, "proc/stat", "nonsense\n");
	weather_epoch(&weather, &sys, &epoch);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_epoch_gets_what_happened_since_the_one_before),
		cmocka_unit_test(what_a_machine_does_not_tell_is_not_asked_again),
		cmocka_unit_test(a_counter_that_goes_back_is_no_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
