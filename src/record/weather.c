/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/weather.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES  256
#define TEMPERATURE "/sys/class/thermal/thermal_zone0/temp"

/* The beginning of a small file, without allocation: this runs several times a second. False when it
 * cannot be read. */
static bool head_read(const struct sys *sys, const char *path, char text[LINE_BYTES])
{
	const int fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	ssize_t n;

	if (fd < 0)
		return false;
	n = sys->read(sys->state, fd, text, LINE_BYTES - 1);
	sys->close(sys->state, fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	return true;
}

/* "cpu user nice system idle iowait irq softirq steal ...", in ticks, of all CPUs together (proc_stat(5)).
 * Steal is not in the others. */
static bool stat_read(const struct sys *sys, uint64_t *busy_ns, uint64_t *steal_ns)
{
	const uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	uint64_t v[8];
	char text[LINE_BYTES];

	if (!head_read(sys, "/proc/stat", text) ||
	    sscanf(text,
		   "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64,
		   &v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]) != 8)
		return false;
	*busy_ns = (v[0] + v[1] + v[2] + v[5] + v[6]) * tick_ns;
	*steal_ns = v[7] * tick_ns;
	return true;
}

static bool number_read(const struct sys *sys, const char *path, int64_t *number)
{
	char text[LINE_BYTES], *end;

	if (!head_read(sys, path, text))
		return false;
	*number = strtoll(text, &end, 10);
	return end != text;
}

static bool frequency_read(const struct sys *sys, uint32_t cpu, int64_t *khz)
{
	char path[96];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
	return number_read(sys, path, khz);
}

void weather_start(struct weather *weather, const struct sys *sys)
{
	int64_t ignored;

	memset(weather, 0, sizeof(*weather));
	weather->no_stat = !stat_read(sys, &weather->busy_ns, &weather->steal_ns);
	weather->no_temperature = !number_read(sys, TEMPERATURE, &ignored);
	while (weather->n_cpus < WEATHER_CPUS_MAX && frequency_read(sys, weather->n_cpus, &ignored))
		weather->n_cpus++;
}

void weather_epoch(struct weather *weather, const struct sys *sys, struct manifest_epoch *epoch)
{
	uint64_t busy_ns, steal_ns, sum = 0;
	uint32_t n = 0;
	int64_t number;

	if (!weather->no_stat && stat_read(sys, &busy_ns, &steal_ns)) {
		/* a counter of the kernel's that goes back (CPUs that went offline) is no time */
		epoch->busy_ns = busy_ns > weather->busy_ns ? busy_ns - weather->busy_ns : 0;
		epoch->steal_ns = steal_ns > weather->steal_ns ? steal_ns - weather->steal_ns : 0;
		weather->busy_ns = busy_ns;
		weather->steal_ns = steal_ns;
	}
	for (uint32_t cpu = 0; cpu < weather->n_cpus; cpu++)
		if (frequency_read(sys, cpu, &number) && number > 0) {
			sum += (uint64_t)number;
			n++;
		}
	epoch->frequency_khz = n ? sum / n : 0;
	if (!weather->no_temperature && number_read(sys, TEMPERATURE, &number))
		epoch->temperature_millidegree = number;
}
