/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the checks of the doctor share: reading small files below the roots, opening an event for a
 * moment, adding a check. Internal to doctor_*.c.
 */
#ifndef ASSAY_DIAGNOSE_DOCTOR_LOOK_H
#define ASSAY_DIAGNOSE_DOCTOR_LOOK_H

#include <linux/perf_event.h>
#include <stdint.h>

#include "diagnose/doctor.h"

struct doctor_look {
	const struct sys *sys;
	const char *proc, *sysfs;
	struct doctor *doctor;
	/* found by early checks and used by later ones */
	int64_t paranoid;           /* INT64_MIN: unreadable */
	uint64_t capabilities;      /* effective */
	bool container, privileged; /* privileged: CAP_PERFMON or CAP_SYS_ADMIN */
	bool clock, clock_kernel, cycles, per_cpu, cgroup;
};

/* The text of PROC/path or SYS/path, trailing newline gone, NULL when it cannot be read. The caller
 * frees it. */
char *doctor_proc(const struct doctor_look *look, const char *path);
char *doctor_sysfs(const struct doctor_look *look, const char *path);
/* The number in such a file; INT64_MIN when there is none. */
int64_t doctor_number(const struct doctor_look *look, const char *proc_path);
/* A word of a "Key:\tvalue" file, NULL when it is not there. Freed by the caller. */
char *doctor_field(const struct doctor_look *look, const char *proc_path, const char *key);
bool doctor_exists(const struct doctor_look *look, const char *root, const char *path);

/* 0, or the negative errno with which the kernel refused the event (opened and closed again). */
int doctor_open(const struct doctor_look *look, const struct perf_event_attr *attr, pid_t pid,
		int cpu);
struct perf_event_attr doctor_attr(uint32_t type, uint64_t config);

void doctor_add(struct doctor_look *look, const char *name, enum doctor_state state,
		const char *fix, const char *format, ...) PRINTF_LIKE(5, 6);

/* "as root: " inside a machine that is ours, "on the host, as root: " inside a container. */
const char *doctor_where(const struct doctor_look *look);

#define CAPABILITY_SYS_PTRACE 19
#define CAPABILITY_SYS_ADMIN  21
#define CAPABILITY_IPC_LOCK   14
#define CAPABILITY_SYSLOG     34
#define CAPABILITY_PERFMON    38
bool doctor_has(const struct doctor_look *look, unsigned int capability);

/* The checks, in the order of the report. */
void doctor_check_container(struct doctor_look *look);
void doctor_check_capabilities(struct doctor_look *look);
void doctor_check_paranoid(struct doctor_look *look);
void doctor_check_cpu_clock(struct doctor_look *look);
void doctor_check_pmu(struct doctor_look *look);
void doctor_check_precise(struct doctor_look *look);
void doctor_check_user_counters(struct doctor_look *look);
void doctor_check_watchdog(struct doctor_look *look);
void doctor_check_per_cpu(struct doctor_look *look);
void doctor_check_cgroup(struct doctor_look *look);
void doctor_check_rate(struct doctor_look *look);
void doctor_check_mlock(struct doctor_look *look);
void doctor_check_files(struct doctor_look *look);
void doctor_check_stack(struct doctor_look *look);
void doctor_check_tracefs(struct doctor_look *look);
void doctor_check_uprobes(struct doctor_look *look);
void doctor_check_ptrace(struct doctor_look *look);
void doctor_check_kernel_symbols(struct doctor_look *look);
void doctor_check_user_symbols(struct doctor_look *look);
void doctor_check_cpus(struct doctor_look *look);
void doctor_check_clocksource(struct doctor_look *look);
void doctor_check_frequency(struct doctor_look *look);
void doctor_check_virtual(struct doctor_look *look);

#endif
