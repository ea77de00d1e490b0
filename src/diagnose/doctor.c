/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/doctor_look.h"

#define FILE_MAX_BYTES (256u * 1024)
#define PATH_BYTES     512

void doctor_release(struct doctor *doctor)
{
	for (size_t i = 0; i < doctor->n; i++) {
		free(doctor->checks[i].text);
		free(doctor->checks[i].fix);
	}
	free(doctor->command);
	free(doctor->why);
	memset(doctor, 0, sizeof(*doctor));
}

static char *file_read(const struct doctor_look *look, const char *root, const char *path)
{
	char whole[PATH_BYTES], *text = NULL;
	size_t size = 0;

	if (snprintf(whole, sizeof(whole), "%s/%s", root, path) >= (int)sizeof(whole) ||
	    sys_read_file(look->sys, AT_FDCWD, whole, FILE_MAX_BYTES, &text, &size, NULL) !=
		    STATUS_OK)
		return NULL;
	while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
		text[--size] = '\0';
	return text;
}

char *doctor_proc(const struct doctor_look *look, const char *path)
{
	return file_read(look, look->proc, path);
}

char *doctor_sysfs(const struct doctor_look *look, const char *path)
{
	return file_read(look, look->sysfs, path);
}

int64_t doctor_number(const struct doctor_look *look, const char *proc_path)
{
	char *text = doctor_proc(look, proc_path), *end;
	int64_t number = INT64_MIN;

	if (text) {
		const long long parsed = strtoll(text, &end, 10);

		if (end != text)
			number = parsed;
	}
	free(text);
	return number;
}

char *doctor_field(const struct doctor_look *look, const char *proc_path, const char *key)
{
	char *text = doctor_proc(look, proc_path), *save = NULL, *value = NULL;
	const size_t length = strlen(key);

	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line && !value;
	     line = strtok_r(NULL, "\n", &save)) {
		if (strncmp(line, key, length))
			continue;
		line += length + strspn(line + length, " \t");
		if (*line == ':')
			value = strdup(line + 1 + strspn(line + 1, " \t"));
	}
	free(text);
	return value;
}

bool doctor_exists(const struct doctor_look *look, const char *root, const char *path)
{
	char whole[PATH_BYTES];
	struct stat stat;

	return snprintf(whole, sizeof(whole), "%s/%s", root, path) < (int)sizeof(whole) &&
	       look->sys->fstatat(look->sys->state, AT_FDCWD, whole, &stat, 0) == 0;
}

struct perf_event_attr doctor_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = type;
	attr.config = config;
	attr.disabled = 1;
	attr.exclude_kernel = 1;
	attr.exclude_hv = 1;
	attr.sample_period = 1000000;
	return attr;
}

int doctor_open(const struct doctor_look *look, const struct perf_event_attr *attr, pid_t pid,
		int cpu)
{
	struct perf_event_attr copy = *attr;
	const int fd = look->sys->perf_event_open(look->sys->state, &copy, pid, cpu, -1,
						  PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return fd;
	look->sys->close(look->sys->state, fd);
	return 0;
}

void doctor_add(struct doctor_look *look, const char *name, enum doctor_state state,
		const char *fix, const char *format, ...)
{
	struct doctor *doctor = look->doctor;
	struct doctor_check *check = &doctor->checks[doctor->n];
	va_list args;

	if (doctor->n >= DOCTOR_CHECKS_MAX)
		return;
	*check = (struct doctor_check){ .name = name, .state = state, .fix = strdup(fix) };
	va_start(args, format);
	if (vasprintf(&check->text, format, args) < 0)
		check->text = NULL;
	va_end(args);
	if (!check->text || !check->fix) {
		free(check->text);
		free(check->fix);
		doctor->no_memory = true;
		return;
	}
	doctor->n++;
}

const char *doctor_where(const struct doctor_look *look)
{
	return look->container ? "on the host, as root: " : "as root: ";
}

bool doctor_has(const struct doctor_look *look, unsigned int capability)
{
	return look->capabilities >> capability & 1;
}

/* What a newcomer should type here, and why. */
static void recommend(struct doctor_look *look)
{
	struct doctor *doctor = look->doctor;
	const char *command = "assay record -g -- ./program", *why;

	if (!look->clock) {
		command = "";
		why = "Nothing can be recorded here until cpu-clock can be opened: mend the checks "
		      "marked "
		      "blocked, from the top.";
	} else if (look->privileged && look->cycles) {
		why = "Cycles of all CPUs, kernel included, randomised clocks within 1 % of cost.";
	} else if (look->privileged) {
		why = "Without hardware counters, CPU time (cpu-clock) of all CPUs, kernel "
		      "included; "
		      "randomised clocks within 1 % of cost.";
	} else if (look->clock_kernel) {
		why = "As this user: own processes, kernel included, clocks per thread. As root "
		      "(or with "
		      "CAP_PERFMON) clocks are per CPU, which is right for short tasks too.";
	} else {
		command = look->cycles ? "assay record -e cycles:u -g -- ./program"
				       : "assay record -e cpu-clock:u -g -- ./program";
		why = "As this user: own processes, without the kernel's part, clocks per thread. "
		      "As root "
		      "(or with CAP_PERFMON) clocks are per CPU and see the kernel.";
	}
	doctor->command = strdup(command);
	doctor->why = strdup(why);
	if (!doctor->command || !doctor->why)
		doctor->no_memory = true;
}

enum status doctor_examine(struct doctor *doctor, const struct sys *sys,
			   const struct doctor_roots *roots, struct error *error)
{
	/* The first five fill in what the later ones explain their findings with. */
	static void (*const checks[])(struct doctor_look *) = {
		doctor_check_container,     doctor_check_capabilities, doctor_check_paranoid,
		doctor_check_cpu_clock,     doctor_check_pmu,          doctor_check_precise,
		doctor_check_user_counters, doctor_check_watchdog,     doctor_check_per_cpu,
		doctor_check_cgroup,        doctor_check_rate,         doctor_check_mlock,
		doctor_check_files,         doctor_check_stack,        doctor_check_tracefs,
		doctor_check_uprobes,       doctor_check_ptrace,       doctor_check_kernel_symbols,
		doctor_check_user_symbols,  doctor_check_cpus,         doctor_check_clocksource,
		doctor_check_frequency,     doctor_check_virtual,
	};
	struct doctor_look look = {
		.sys = sys,
		.proc = roots && roots->proc ? roots->proc : "/proc",
		.sysfs = roots && roots->sys ? roots->sys : "/sys",
		.doctor = doctor,
	};

	memset(doctor, 0, sizeof(*doctor));
	for (size_t i = 0; i < sizeof(checks) / sizeof(checks[0]); i++)
		checks[i](&look);
	recommend(&look);
	if (doctor->no_memory)
		return error_set(error, STATUS_NO_MEMORY,
				 "not enough memory to examine the machine");
	return STATUS_OK;
}

const struct doctor_check *doctor_find(const struct doctor *doctor, const char *name)
{
	for (size_t i = 0; i < doctor->n; i++)
		if (!strcmp(doctor->checks[i].name, name))
			return &doctor->checks[i];
	return NULL;
}

enum doctor_state doctor_worst(const struct doctor *doctor)
{
	enum doctor_state worst = DOCTOR_OK;

	for (size_t i = 0; i < doctor->n; i++)
		if (doctor->checks[i].state > worst)
			worst = doctor->checks[i].state;
	return worst;
}

const char *doctor_state_name(enum doctor_state state)
{
	switch (state) {
	case DOCTOR_OK: return "ok";
	case DOCTOR_LIMITED: return "limited";
	case DOCTOR_BLOCKED: return "blocked";
	}
	return "ok";
}
