/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which events the kernel opens: CPU clocks, hardware counters, their precision, reading them from
 * user space, clocks of whole CPUs.
 *
 * Sources: perf_event_open(2); Documentation/ABI/testing/sysfs-bus-event_source-devices-caps;
 * Documentation/arch/arm64/perf.rst (user-space access).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/directory.h"
#include "diagnose/doctor_look.h"

#define DEVICES_MAX 1024

static bool refused_for_permission(int error)
{
	return error == -EACCES || error == -EPERM;
}

/* Why an event was refused that every kernel has. */
static void clock_refused(struct doctor_look *look, int error)
{
	char fix[160];

	if (error == -ENOSYS)
		snprintf(fix, sizeof(fix), "%s",
			 look->container
				 ? "allow perf_event_open in the container's seccomp profile"
				 : "boot a kernel with CONFIG_PERF_EVENTS=y");
	else if (refused_for_permission(error) && look->paranoid > 2)
		snprintf(fix, sizeof(fix), "%ssysctl -w kernel.perf_event_paranoid=1",
			 doctor_where(look));
	else if (refused_for_permission(error))
		snprintf(fix, sizeof(fix), "%s",
			 look->container
				 ? "start the container with --cap-add PERFMON --security-opt "
				   "seccomp=unconfined"
				 : "look for a security module or seccomp filter that forbids "
				   "perf_event_open, or run as root");
	else
		snprintf(fix, sizeof(fix),
			 "perf_event_open of cpu-clock should not fail in this way");
	doctor_add(look, "cpu-clock", DOCTOR_BLOCKED, fix, "cpu-clock cannot be opened: %s",
		   strerror(-error));
}

void doctor_check_cpu_clock(struct doctor_look *look)
{
	struct perf_event_attr attr = doctor_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	const int error = doctor_open(look, &attr, 0, -1);
	char fix[96];

	look->clock = error == 0;
	if (error) {
		clock_refused(look, error);
		return;
	}
	attr.exclude_kernel = 0;
	look->clock_kernel = doctor_open(look, &attr, 0, -1) == 0;
	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.perf_event_paranoid=1", doctor_where(look));
	if (look->clock_kernel)
		doctor_add(look, "cpu-clock", DOCTOR_OK, "",
			   "CPU time can be sampled, kernel included");
	else
		doctor_add(look, "cpu-clock", DOCTOR_LIMITED, fix,
			   "CPU time can be sampled, without the kernel's part");
}

/* Names of event sources that are CPU PMUs: "cpu", "cpu_core", "armv8_pmuv3_0", ... */
static void pmu_names(const struct doctor_look *look, char *text, size_t size)
{
	struct directory devices;
	char path[256];

	*text = '\0';
	if (snprintf(path, sizeof(path), "%s/bus/event_source/devices", look->sysfs) >=
		    (int)sizeof(path) ||
	    directory_list(&devices, look->sys, AT_FDCWD, path, DEVICES_MAX, NULL) != STATUS_OK)
		return;
	for (size_t i = 0; i < devices.n; i++) {
		const char *name = devices.names[i];

		if (strcmp(name, "cpu") && strncmp(name, "cpu_", 4) && strncmp(name, "armv", 4))
			continue;
		if (strlen(text) + strlen(name) + 3 < size)
			snprintf(text + strlen(text), size - strlen(text), "%s%s",
				 *text ? ", " : "", name);
	}
	directory_release(&devices);
}

void doctor_check_pmu(struct doctor_look *look)
{
	const struct perf_event_attr attr =
		doctor_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	const int error = doctor_open(look, &attr, 0, -1);
	char names[128];

	pmu_names(look, names, sizeof(names));
	look->cycles = error == 0;
	if (!error)
		doctor_add(look, "pmu", DOCTOR_OK, "", "hardware counters: %s",
			   *names ? names : "cycles can be counted");
	else if (refused_for_permission(error))
		doctor_add(look, "pmu", DOCTOR_BLOCKED, "see the checks paranoid and capabilities",
			   "cycles may not be counted by this user: %s", strerror(-error));
	else
		doctor_add(look, "pmu", DOCTOR_LIMITED,
			   "in a virtual machine, let the hypervisor pass the counters through "
			   "(QEMU/KVM: -cpu "
			   "host,pmu=on; libvirt: <pmu state='on'/>; VMware: \"virtualize CPU "
			   "performance "
			   "counters\"; clouds: a bare-metal instance); else nothing: CPU time is "
			   "sampled instead",
			   "no hardware counters here%s%s (%s): cycles, instructions and cache "
			   "events cannot be "
			   "counted",
			   *names ? " although there is " : "", names, strerror(-error));
}

void doctor_check_precise(struct doctor_look *look)
{
	struct perf_event_attr attr = doctor_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	unsigned int level;

	if (!look->cycles) {
		doctor_add(look, "precise", DOCTOR_LIMITED, "see the check pmu",
			   "no precise events without hardware counters: samples of cpu-clock are "
			   "named after "
			   "the instruction that the timer interrupt came back to");
		return;
	}
	for (level = 3; level > 0; level--) {
		attr.precise_ip = level & 3;
		if (doctor_open(look, &attr, 0, -1) == 0)
			break;
	}
	if (level)
		doctor_add(look, "precise", DOCTOR_OK, "",
			   "cycles can be sampled with precise level %u (:%.*s)", level, (int)level,
			   "ppp");
	else
		doctor_add(look, "precise", DOCTOR_LIMITED,
			   doctor_exists(look, look->sysfs, "bus/event_source/devices/ibs_op")
				   ? "use IBS: -e ibs_op//"
			   : doctor_exists(look, look->sysfs, "bus/event_source/devices/arm_spe_0")
				   ? "use SPE: perf record -e arm_spe//"
				   : "none on this CPU: trust functions more than instructions",
			   "no precise level is granted for cycles: samples skid past the "
			   "instruction that "
			   "caused them");
}

void doctor_check_user_counters(struct doctor_look *look)
{
	char *rdpmc = doctor_sysfs(look, "bus/event_source/devices/cpu/rdpmc");
	const int64_t arm = doctor_number(look, "sys/kernel/perf_user_access");
	char fix[128];

	if (!look->cycles) {
		doctor_add(look, "user-counters", DOCTOR_LIMITED, "see the check pmu",
			   "no counter to read from user space; probes take time from the TSC or "
			   "the generic timer");
	} else if (rdpmc ? strcmp(rdpmc, "0") != 0 : arm > 0) {
		doctor_add(look, "user-counters", DOCTOR_OK, "",
			   "counters can be read in the thread itself (%s)",
			   rdpmc ? "rdpmc" : "PMCCNTR_EL0");
	} else {
		snprintf(fix, sizeof(fix), "%s%s", doctor_where(look),
			 rdpmc ? "echo 1 > /sys/bus/event_source/devices/cpu/rdpmc"
			       : "sysctl -w kernel.perf_user_access=1");
		doctor_add(look, "user-counters", DOCTOR_LIMITED,
			   rdpmc || arm == 0 ? fix : "needs Linux 5.17 or later on AArch64",
			   "counters cannot be read in user space: probes would need a system call "
			   "per reading");
	}
	free(rdpmc);
}

/* The watchdog keeps one counter for itself: groups become smaller by one, multiplexing begins sooner. */
void doctor_check_watchdog(struct doctor_look *look)
{
	const int64_t on = doctor_number(look, "sys/kernel/nmi_watchdog");
	char fix[96];

	if (!look->cycles || on == INT64_MIN)
		return;
	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.nmi_watchdog=0", doctor_where(look));
	if (on > 0)
		doctor_add(look, "watchdog", DOCTOR_LIMITED, fix,
			   "the NMI watchdog occupies one hardware counter");
	else
		doctor_add(look, "watchdog", DOCTOR_OK, "", "all hardware counters are free");
}

void doctor_check_per_cpu(struct doctor_look *look)
{
	const struct perf_event_attr attr =
		doctor_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	const int error = look->clock ? doctor_open(look, &attr, -1, 0) : -EACCES;
	char fix[160];

	look->per_cpu = error == 0;
	snprintf(fix, sizeof(fix),
		 "run as root or with CAP_PERFMON, or %ssysctl -w "
		 "kernel.perf_event_paranoid=0",
		 doctor_where(look));
	if (!error)
		doctor_add(
			look, "per-cpu", DOCTOR_OK, "",
			"whole CPUs can be sampled: -a works, and short tasks are measured right");
	else if (refused_for_permission(error))
		doctor_add(look, "per-cpu", DOCTOR_LIMITED, fix,
			   "clocks must be attached to threads, which is biased on tasks shorter "
			   "than a sampling "
			   "interval");
	else
		doctor_add(look, "per-cpu", DOCTOR_LIMITED, fix, "CPU 0 cannot be sampled: %s",
			   strerror(-error));
}
