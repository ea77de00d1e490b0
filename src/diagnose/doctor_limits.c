/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Limits that a recording can run into: sampling rate, ring memory, descriptors, depth of stacks.
 *
 * Sources: Documentation/admin-guide/sysctl/kernel.rst (perf_*); kernel/events/core.c, perf_mmap and
 * perf_cpu_time_max_percent_handler.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/doctor_look.h"

#define RATE_WANTED       10000 /* samples per second that nobody here exceeds for long */
#define MLOCK_WANTED_KIB  516   /* the kernel's default: a page and 512 KiB per CPU */
#define FILES_WANTED      4096  /* clocks x CPUs or threads, each a descriptor */
#define MAX_STACK_DEFAULT 127

/* The kernel lowers the rate by itself when interrupts take long, and leaves it so. */
void doctor_check_rate(struct doctor_look *look)
{
	const int64_t rate = doctor_number(look, "sys/kernel/perf_event_max_sample_rate");
	const int64_t percent = doctor_number(look, "sys/kernel/perf_cpu_time_max_percent");
	char fix[128];

	if (rate == INT64_MIN)
		return;
	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.perf_event_max_sample_rate=100000",
		 doctor_where(look));
	if (rate < RATE_WANTED)
		doctor_add(look, "sample-rate", DOCTOR_LIMITED, fix,
			   "kernel.perf_event_max_sample_rate=%" PRId64
			   ": denser sampling is throttled (perf_cpu_time_max_percent=%" PRId64 ")",
			   rate, percent);
	else
		doctor_add(look, "sample-rate", DOCTOR_OK, "",
			   "up to %" PRId64
			   " samples per second and CPU before the kernel throttles",
			   rate);
}

/* The "Max NAME" line of /proc/self/limits: soft and hard limit, INT64_MAX for unlimited. */
static bool limit_read(const struct doctor_look *look, const char *name, int64_t *soft,
		       int64_t *hard)
{
	char *text = doctor_proc(look, "self/limits"), words[2][32];
	const char *line = text ? strstr(text, name) : NULL;
	bool found = line && sscanf(line + strlen(name), " %31s %31s", words[0], words[1]) == 2;

	for (int i = 0; found && i < 2; i++) {
		char *end;
		const long long value = strtoll(words[i], &end, 10);

		*(i ? hard : soft) = strcmp(words[i], "unlimited") ? value : INT64_MAX;
		found = *end == '\0' || !strcmp(words[i], "unlimited");
	}
	free(text);
	return found;
}

void doctor_check_mlock(struct doctor_look *look)
{
	const int64_t kib = doctor_number(look, "sys/kernel/perf_event_mlock_kb");
	int64_t soft = 0, hard = 0;
	char fix[192];

	if (kib == INT64_MIN)
		return;
	if (doctor_has(look, CAPABILITY_IPC_LOCK) || look->paranoid < 0) {
		doctor_add(look, "ring-memory", DOCTOR_OK, "",
			   "ring memory is not limited for this user");
		return;
	}
	if (!limit_read(look, "Max locked memory", &soft, &hard))
		soft = 0;
	snprintf(fix, sizeof(fix),
		 "%ssysctl -w kernel.perf_event_mlock_kb=2048, or raise the limit of locked "
		 "memory (ulimit -l)",
		 doctor_where(look));
	doctor_add(look, "ring-memory", kib < MLOCK_WANTED_KIB ? DOCTOR_LIMITED : DOCTOR_OK,
		   kib < MLOCK_WANTED_KIB ? fix : "",
		   "kernel.perf_event_mlock_kb=%" PRId64 " per CPU and user, and %" PRId64
		   " KiB of locked memory: bursts beyond that are lost",
		   kib, soft == INT64_MAX ? soft : soft / 1024);
}

void doctor_check_files(struct doctor_look *look)
{
	int64_t soft, hard;
	char fix[160];

	if (!limit_read(look, "Max open files", &soft, &hard))
		return;
	if (soft >= FILES_WANTED) {
		doctor_add(look, "open-files", DOCTOR_OK, "", "up to %" PRId64 " open files", soft);
		return;
	}
	if (hard > soft)
		snprintf(fix, sizeof(fix), "ulimit -n %s",
			 hard >= 1048576 ? "1048576" : "$(ulimit -Hn)");
	else
		snprintf(fix, sizeof(fix),
			 "raise the hard limit: `* hard nofile 1048576` in "
			 "/etc/security/limits.d/assay.conf, then log in again");
	doctor_add(look, "open-files", DOCTOR_LIMITED, fix,
		   "%" PRId64 " open files: with clocks per thread, enough for about %" PRId64
		   " threads",
		   soft, soft / 3);
}

void doctor_check_stack(struct doctor_look *look)
{
	const int64_t depth = doctor_number(look, "sys/kernel/perf_event_max_stack");
	char fix[96];

	if (depth == INT64_MIN)
		return;
	snprintf(fix, sizeof(fix), "%ssysctl -w kernel.perf_event_max_stack=%d", doctor_where(look),
		 MAX_STACK_DEFAULT);
	doctor_add(look, "stack-depth", depth < MAX_STACK_DEFAULT ? DOCTOR_LIMITED : DOCTOR_OK,
		   depth < MAX_STACK_DEFAULT ? fix : "",
		   "stacks of up to %" PRId64 " frames are recorded whole", depth);
}
