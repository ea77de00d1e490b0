/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/machine.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/array.h"

#define SMALL_FILE_BYTES  65536
#define CPUINFO_MAX_BYTES (8u * 1024 * 1024)
#define CPUS_MAX          16384
#define CPU_DIRECTORY     "/sys/devices/system/cpu/"
#define CLOCKSOURCE       "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* The first line of a small file; NULL when it cannot be read. */
static char *line_read(const struct sys *sys, const char *path)
{
	char *text;

	if (sys_read_file(sys, AT_FDCWD, path, SMALL_FILE_BYTES, &text, NULL, NULL) != STATUS_OK)
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static int64_t number_read(const struct sys *sys, const char *path)
{
	char *line = line_read(sys, path), *end;
	int64_t value = INT64_MIN;

	if (!line)
		return value;
	value = strtoll(line, &end, 10);
	if (end == line)
		value = INT64_MIN;
	free(line);
	return value;
}

int64_t machine_sysctl(const struct sys *sys, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	return number_read(sys, path);
}

static enum status cpu_list_parse(const char *text, int **cpus, size_t *n, struct error *error)
{
	size_t capacity = 0;

	*cpus = NULL;
	*n = 0;
	for (const char *at = text; isdigit((unsigned char)*at);) {
		char *end;
		long first = strtol(at, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		for (long cpu = first; cpu <= last && cpu < CPUS_MAX; cpu++) {
			if (!array_reserve(cpus, &capacity, *n + 1))
				return error_set(error, STATUS_NO_MEMORY, "no memory for CPUs");
			(*cpus)[(*n)++] = (int)cpu;
		}
		at = *end == ',' ? end + 1 : end;
	}
	return STATUS_OK;
}

enum status machine_cpus_online(const struct sys *sys, int **cpus, size_t *n, struct error *error)
{
	char *line = line_read(sys, CPU_DIRECTORY "online");
	enum status status = STATUS_OK;

	*cpus = NULL;
	*n = 0;
	if (line)
		status = cpu_list_parse(line, cpus, n, error);
	free(line);
	if (status == STATUS_OK && *n)
		return STATUS_OK;
	/* Without sysfs: the C library's count, numbered from 0. */
	const long count = sysconf(_SC_NPROCESSORS_ONLN);

	*n = count > 0 ? (size_t)count : 1;
	*cpus = calloc(*n, sizeof(**cpus));
	if (!*cpus)
		return error_set(error, STATUS_NO_MEMORY, "no memory for CPUs");
	for (size_t i = 0; i < *n; i++)
		(*cpus)[i] = (int)i;
	return STATUS_OK;
}

/* The value of "KEY : VALUE" in /proc/cpuinfo. */
static char *cpuinfo_value(const char *text, const char *key)
{
	const size_t length = strlen(key);

	for (const char *line = text; line && *line;) {
		const char *end = strchrnul(line, '\n'), *value;

		if (!strncmp(line, key, length) && strchr("\t :", line[length]) &&
		    (value = memchr(line, ':', (size_t)(end - line)))) {
			do
				value++;
			while (*value == ' ');
			return strndup(value, (size_t)(end - value));
		}
		line = *end ? end + 1 : NULL;
	}
	return NULL;
}

/* x86-64 names its model; AArch64 gives numbers. */
static void cpu_read(struct manifest_machine *machine, const struct sys *sys)
{
	char *text, *flags;

	if (sys_read_file(sys, AT_FDCWD, "/proc/cpuinfo", CPUINFO_MAX_BYTES, &text, NULL, NULL) !=
	    STATUS_OK)
		return;
	machine->cpu_model = cpuinfo_value(text, "model name");
	if (!machine->cpu_model) {
		char *implementer = cpuinfo_value(text, "CPU implementer");
		char *part = cpuinfo_value(text, "CPU part");

		if (implementer && part &&
		    asprintf(&machine->cpu_model, "implementer %s part %s", implementer, part) < 0)
			machine->cpu_model = NULL;
		free(implementer);
		free(part);
	}
	flags = cpuinfo_value(text, "flags");
	if (!machine->hypervisor && flags && strstr(flags, " hypervisor"))
		machine->hypervisor = strdup("yes");
	free(flags);
	free(text);
}

static uint64_t memory_kib(const struct sys *sys)
{
	char *text, *at;
	uint64_t kib = 0;

	if (sys_read_file(sys, AT_FDCWD, "/proc/meminfo", SMALL_FILE_BYTES, &text, NULL, NULL) !=
	    STATUS_OK)
		return 0;
	at = strstr(text, "MemTotal:");
	if (at)
		kib = strtoull(at + strlen("MemTotal:"), NULL, 10);
	free(text);
	return kib;
}

static uint32_t count_of(int name)
{
	const long n = sysconf(name);

	return n > 0 ? (uint32_t)n : 0;
}

void machine_read(struct manifest_machine *machine, const struct sys *sys)
{
	struct utsname name;

	*machine = (struct manifest_machine){
		.governor = line_read(sys, CPU_DIRECTORY "cpu0/cpufreq/scaling_governor"),
		.clocksource = line_read(sys, CLOCKSOURCE),
		.hypervisor = line_read(sys, "/sys/hypervisor/type"),
		.temperature_millidegree =
			number_read(sys, "/sys/class/thermal/thermal_zone0/temp"),
		.cpus_online = count_of(_SC_NPROCESSORS_ONLN),
		.cpus_configured = count_of(_SC_NPROCESSORS_CONF),
		.page_size = sys->page_size(sys->state),
		.memory_kib = memory_kib(sys),
		.perf_event_paranoid = machine_sysctl(sys, "perf_event_paranoid"),
		.max_sample_rate = machine_sysctl(sys, "perf_event_max_sample_rate"),
		.cpu_time_max_percent = machine_sysctl(sys, "perf_cpu_time_max_percent"),
		.mlock_kb = machine_sysctl(sys, "perf_event_mlock_kb"),
		.max_stack = machine_sysctl(sys, "perf_event_max_stack"),
		.boot_id = line_read(sys, "/proc/sys/kernel/random/boot_id"),
	};
	cpu_read(machine, sys);
	if (uname(&name) < 0)
		return;
	machine->hostname = strdup(name.nodename);
	machine->kernel = strdup(name.release);
	machine->arch = strdup(name.machine);
}
