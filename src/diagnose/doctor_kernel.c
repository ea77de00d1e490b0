/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names and places inside the kernel and in programs: tracefs, uprobes, kernel and user symbols.
 *
 * Sources: Documentation/admin-guide/sysctl/kernel.rst (kptr_restrict); kallsyms_show_value in
 * kernel/ksyms_common.c; Documentation/trace/uprobetracer.rst.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/doctor_look.h"

/* 0, or -errno of opening SYS/path like this. */
static int try_open(const struct doctor_look *look, const char *root, const char *path, int flags)
{
	char whole[512];
	int fd;

	if (snprintf(whole, sizeof(whole), "%s/%s", root, path) >= (int)sizeof(whole))
		return -ENAMETOOLONG;
	fd = look->sys->openat(look->sys->state, AT_FDCWD, whole, flags | O_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	look->sys->close(look->sys->state, fd);
	return 0;
}

void doctor_check_tracefs(struct doctor_look *look)
{
	const char *const places[] = { "kernel/tracing/events", "kernel/debug/tracing/events" };
	int error = -ENOENT;
	char fix[128];

	for (size_t i = 0; i < 2; i++) {
		const int here = try_open(look, look->sysfs, places[i], O_RDONLY | O_DIRECTORY);

		if (!here) {
			doctor_add(look, "tracefs", DOCTOR_OK, "",
				   "tracepoints can be looked up by name");
			return;
		}
		if (here != -ENOENT)
			error = here;
	}
	snprintf(fix, sizeof(fix), "%s%s", doctor_where(look),
		 error == -ENOENT ? "mount -t tracefs tracefs /sys/kernel/tracing"
				  : "mount -o remount,mode=755 /sys/kernel/tracing");
	doctor_add(look, "tracefs", DOCTOR_LIMITED, fix,
		   error == -ENOENT
			   ? "tracefs is not mounted: tracepoints (sched:sched_switch ...) cannot "
			     "be used"
			   : "tracefs may not be read by this user: tracepoints cannot be used");
}

void doctor_check_uprobes(struct doctor_look *look)
{
	const bool pmu = doctor_exists(look, look->sysfs, "bus/event_source/devices/uprobe");
	const int error =
		try_open(look, look->sysfs, "kernel/tracing/uprobe_events", O_WRONLY | O_APPEND);

	if (!error)
		doctor_add(look, "uprobes", DOCTOR_OK, "",
			   "marks (assay/mark.h, USDT) and uprobes can be recorded");
	else if (!pmu && error == -ENOENT)
		doctor_add(look, "uprobes", DOCTOR_LIMITED,
			   "boot a kernel with CONFIG_UPROBE_EVENTS=y",
			   "no uprobes: marks of programs cannot be recorded");
	else
		doctor_add(look, "uprobes", DOCTOR_LIMITED,
			   "create the probe as root: sudo perf probe ...",
			   "uprobes cannot be created by this user: %s", strerror(-error));
}

/* Whether /proc/kallsyms shows addresses: 1, 0 when they are zero, -1 when there is none to see. */
static int kallsyms_shown(const struct doctor_look *look)
{
	char path[256], text[65];
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s/kallsyms", look->proc) >= (int)sizeof(path))
		return -1;
	fd = look->sys->openat(look->sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	n = sys_read_full(look->sys, fd, text, sizeof(text) - 1);
	look->sys->close(look->sys->state, fd);
	if (n < 16)
		return -1;
	text[n] = '\0';
	/* the very first symbol is absolute and may be 0 in earnest; look at the second, too */
	if (strtoull(text, NULL, 16))
		return 1;
	return strchr(text, '\n') && strtoull(strchr(text, '\n') + 1, NULL, 16) ? 1 : 0;
}

void doctor_check_kernel_symbols(struct doctor_look *look)
{
	const int64_t restrict_level = doctor_number(look, "sys/kernel/kptr_restrict");
	const int shown = kallsyms_shown(look);
	char fix[160];

	if (shown > 0) {
		doctor_add(look, "kernel-symbols", DOCTOR_OK, "",
			   "the kernel's functions have names");
		return;
	}
	if (shown < 0)
		snprintf(fix, sizeof(fix), "boot a kernel with CONFIG_KALLSYMS=y");
	else if (restrict_level >= 2)
		snprintf(fix, sizeof(fix), "%ssysctl -w kernel.kptr_restrict=1",
			 doctor_where(look));
	else if (restrict_level == 1)
		snprintf(fix, sizeof(fix),
			 "run as root (CAP_SYSLOG), or %ssysctl -w kernel.kptr_restrict=0",
			 doctor_where(look));
	else
		snprintf(fix, sizeof(fix),
			 "run as root (CAP_SYSLOG), or %ssysctl -w kernel.perf_event_paranoid=1",
			 doctor_where(look));
	doctor_add(look, "kernel-symbols", DOCTOR_LIMITED, fix,
		   shown < 0 ? "/proc/kallsyms cannot be read: the kernel's functions have no names"
			     : "/proc/kallsyms hides addresses (kernel.kptr_restrict=%" PRId64
			       "): the kernel's functions have no names",
		   restrict_level);
}

void doctor_check_user_symbols(struct doctor_look *look)
{
	/* of the machine, not below a root: where debug packages put their files */
	const bool debug_files =
		look->sys->fstatat(look->sys->state, AT_FDCWD, "/usr/lib/debug/.build-id",
				   &(struct stat){ 0 }, 0) == 0;

	doctor_add(look, "user-symbols", debug_files ? DOCTOR_OK : DOCTOR_LIMITED,
		   debug_files ? ""
			       : "install the -dbg or -dbgsym (Debian), -debuginfo (Fedora) "
				 "package of what you "
				 "measure, or set DEBUGINFOD_URLS and use --debuginfod",
		   debug_files ? "separate debug files are installed for some programs"
			       : "no separate debug files are installed: functions of stripped "
				 "programs appear as "
				 "module+0x1234");
}
