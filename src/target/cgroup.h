/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cgroup-v2 child made for one launched command, below the cgroup that assay itself runs in.
 *
 * It has no controller enabled, so it changes nothing about how the command is scheduled or limited;
 * it only gives perf events a scope (PERF_FLAG_PID_CGROUP) and the kernel's exact CPU time of all
 * that ever ran in it (cpu.stat). A process that assay did not start is never moved. What still runs
 * in the cgroup when it is removed (a daemon that the command left) goes back to the parent.
 * Source: Documentation/admin-guide/cgroup-v2.rst.
 */
#ifndef ASSAY_TARGET_CGROUP_H
#define ASSAY_TARGET_CGROUP_H

#include <limits.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"

struct cgroup {
	int fd;      /* of the directory, for perf_event_open; -1: none */
	int stat_fd; /* of its cpu.stat, which is read often; -1: none */
	char path[PATH_MAX];
	char parent[PATH_MAX];
};

/* Finds the cgroup-v2 hierarchy through /proc/mounts and this process's place in it, and makes
 * the child `assay-<pid>`. Children that a killed assay left empty are removed on the way. */
MUST_CHECK enum status cgroup_create(struct cgroup *cgroup, const struct sys *sys,
				     struct error *error);
MUST_CHECK enum status cgroup_add(const struct cgroup *cgroup, const struct sys *sys, pid_t pid,
				  struct error *error);

/* CPU time that ever ran in it, in ns; 0 when unreadable. */
uint64_t cgroup_cpu_ns(const struct cgroup *cgroup, const struct sys *sys);

/* True when no process is left in it (an ended command's children included). */
bool cgroup_is_empty(const struct cgroup *cgroup, const struct sys *sys);

/* Moves what is left to the parent and removes it. Harmless on one that was never made. */
void cgroup_remove(struct cgroup *cgroup, const struct sys *sys);

#endif
