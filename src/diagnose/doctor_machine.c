/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The machine around the measurement: cgroups, CPUs and their load, clocksource, frequency, hypervisor.
 *
 * Sources: Documentation/admin-guide/cgroup-v2.rst; Documentation/admin-guide/pm/cpufreq.rst;
 * proc_stat(5).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/doctor_look.h"

#define STEAL_WARN 0.01 /* of all CPU time since boot */

/* Where the v2 hierarchy is mounted and where we are in it; "" when either is unknown. */
static void cgroup_path(const struct doctor_look *look, char *path, size_t size)
{
	char *mounts = doctor_proc(look, "mounts"), *own = doctor_proc(look, "self/cgroup"),
	     *save = NULL;
	const char *place = own && !strncmp(own, "0::", 3) ? own
			    : own                          ? strstr(own, "\n0::")
							   : NULL;
	char where[256] = "", type[32];

	*path = '\0';
	for (char *line = mounts ? strtok_r(mounts, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save))
		if (sscanf(line, "%*s %255s %31s", where, type) == 2 && !strcmp(type, "cgroup2"))
			break;
		else
			where[0] = '\0';
	if (place && *where) {
		place = strchr(place, '/');
		if (place)
			snprintf(path, size, "%s%.*s", where, (int)strcspn(place, "\n"), place);
	}
	free(mounts);
	free(own);
}

void doctor_check_cgroup(struct doctor_look *look)
{
	char path[512], child[600];
	int error;

	cgroup_path(look, path, sizeof(path));
	if (!*path) {
		doctor_add(look, "cgroup", DOCTOR_LIMITED,
			   "as root: mount -t cgroup2 none /sys/fs/cgroup/unified",
			   "no cgroup v2 hierarchy: launched commands are told apart by thread, "
			   "not by cgroup");
		return;
	}
	snprintf(child, sizeof(child), "%s/assay-doctor", path);
	error = look->sys->mkdirat(look->sys->state, AT_FDCWD, child, 0755);
	if (!error)
		look->sys->unlinkat(look->sys->state, AT_FDCWD, child, AT_REMOVEDIR);
	look->cgroup = (!error || error == -EEXIST) && look->per_cpu;
	if (look->cgroup)
		doctor_add(look, "cgroup", DOCTOR_OK, "",
			   "launched commands are measured by CPU clocks of a cgroup of their own");
	else if (error && error != -EEXIST)
		doctor_add(look, "cgroup", DOCTOR_LIMITED,
			   "run as root, or in a cgroup of your own: systemd-run --user --scope -p "
			   "Delegate=yes "
			   "assay record ...",
			   "no cgroup can be made below %s: %s", path, strerror(-error));
	else
		doctor_add(look, "cgroup", DOCTOR_LIMITED, "see the check per-cpu",
			   "cgroups can be made, but their clocks are per CPU, which this user may "
			   "not open");
}

/* How many CPUs a list like "0-3,7" names. */
static unsigned int cpu_list_count(const char *list)
{
	unsigned int n = 0;

	while (*list) {
		char *end;
		const unsigned long from = strtoul(list, &end, 10);
		unsigned long to = from;

		if (end == list)
			break;
		if (*end == '-')
			to = strtoul(end + 1, &end, 10);
		if (to >= from && to - from < 1u << 20)
			n += (unsigned int)(to - from + 1);
		list = *end == ',' ? end + 1 : end;
	}
	return n;
}

void doctor_check_cpus(struct doctor_look *look)
{
	char *online = doctor_sysfs(look, "devices/system/cpu/online"),
	     *load = doctor_proc(look, "loadavg");
	const unsigned int n = online ? cpu_list_count(online) : 0;
	const double busy = load ? strtod(load, NULL) : 0;

	if (n == 1)
		doctor_add(
			look, "cpus", DOCTOR_LIMITED,
			"use a machine with two CPUs or more, or lower --budget",
			"one CPU: the collector takes its time from the program that is measured");
	else if (n && busy > n)
		doctor_add(look, "cpus", DOCTOR_LIMITED,
			   "wait until it is quiet, or stop what is running",
			   "%u CPUs, but %.1f runnable tasks on average over the last minute: "
			   "programs are "
			   "interrupted, and the collector may come late",
			   n, busy);
	else if (n)
		doctor_add(look, "cpus", DOCTOR_OK, "", "%u CPUs, load %.1f", n, busy);
	free(online);
	free(load);
}

void doctor_check_clocksource(struct doctor_look *look)
{
	static const char *const fast[] = { "tsc", "arch_sys_counter", "kvm-clock",
					    "hyperv_clocksource_tsc_page" };
	char *now =
		doctor_sysfs(look, "devices/system/clocksource/clocksource0/current_clocksource");
	char *others =
		doctor_sysfs(look, "devices/system/clocksource/clocksource0/available_clocksource");

	for (size_t i = 0; now && i < sizeof(fast) / sizeof(fast[0]); i++)
		if (!strcmp(now, fast[i])) {
			doctor_add(look, "clocksource", DOCTOR_OK, "",
				   "%s: reading the time is cheap", now);
			goto out;
		}
	if (now)
		doctor_add(
			look, "clocksource", DOCTOR_LIMITED,
			others && strstr(others, "tsc")
				? "as root: echo tsc > "
				  "/sys/devices/system/clocksource/clocksource0/current_clocksource"
				: "boot with tsc=reliable if the TSC of this machine is known to "
				  "be sound",
			"%s: reading the time is a slow device access or system call, which makes "
			"samples and "
			"probes dear",
			now);
out:
	free(now);
	free(others);
}

void doctor_check_frequency(struct doctor_look *look)
{
	char *governor = doctor_sysfs(look, "devices/system/cpu/cpu0/cpufreq/scaling_governor");
	char *no_turbo = doctor_sysfs(look, "devices/system/cpu/intel_pstate/no_turbo");
	char *boost = doctor_sysfs(look, "devices/system/cpu/cpufreq/boost");
	const bool turbo = no_turbo ? !strcmp(no_turbo, "0") : boost && !strcmp(boost, "1");

	if (!governor)
		doctor_add(look, "frequency", DOCTOR_OK, "",
			   "the CPU's frequency is not visible here (a virtual machine, or no "
			   "cpufreq driver)");
	else if (!strcmp(governor, "performance"))
		doctor_add(look, "frequency", DOCTOR_OK, "", "governor performance%s",
			   turbo ? ", turbo on: speed depends on temperature and on the other cores"
				 : "");
	else
		doctor_add(look, "frequency", DOCTOR_LIMITED,
			   "as root: cpupower frequency-set -g performance",
			   "governor %s: the CPU's speed follows the load, so that time is not "
			   "proportional to work",
			   governor);
	free(governor);
	free(no_turbo);
	free(boost);
}

/* Part of all CPU time since boot that the hypervisor gave to somebody else; 0 when unknown. */
static double steal_part(const struct doctor_look *look)
{
	char *text = doctor_proc(look, "stat");
	unsigned long long v[8] = { 0 }, total = 0;
	int n = 0;

	if (text)
		n = sscanf(text, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2],
			   &v[3], &v[4], &v[5], &v[6], &v[7]);
	free(text);
	for (int i = 0; i < n; i++)
		total += v[i];
	return n == 8 && total ? (double)v[7] / (double)total : 0;
}

void doctor_check_virtual(struct doctor_look *look)
{
	char *flags = doctor_field(look, "cpuinfo", "flags");
	char *vendor = doctor_sysfs(look, "class/dmi/id/sys_vendor");
	const bool virtual = flags && strstr(flags, " hypervisor");
	const double steal = steal_part(look);

	if (steal > STEAL_WARN)
		doctor_add(look, "virtual", DOCTOR_LIMITED,
			   "ask for dedicated CPUs, or measure at a quieter time",
			   "a virtual machine whose hypervisor gave %.1f %% of its CPU time to "
			   "others since boot",
			   100 * steal);
	else if (virtual)
		doctor_add(look, "virtual", DOCTOR_OK, "",
			   "a virtual machine%s%s: traps and timers cost more than on the bare "
			   "machine",
			   vendor ? " of " : "", vendor ? vendor : "");
	else
		doctor_add(look, "virtual", DOCTOR_OK, "", "no hypervisor seen");
	free(flags);
	free(vendor);
}
