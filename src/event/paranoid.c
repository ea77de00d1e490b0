/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Levels: Documentation/admin-guide/sysctl/kernel.rst; 3 is Debian's and Android's patch, 4 Ubuntu's.
 */
#include "event/paranoid.h"

#include <fcntl.h>
#include <stdlib.h>

bool event_paranoid(const struct sys *sys, int *level)
{
	char *text, *end;
	long value;
	bool number;

	*level = 2;
	if (sys_read_file(sys, AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", 64, &text, NULL,
			  NULL) != STATUS_OK)
		return false;
	value = strtol(text, &end, 10);
	number = end != text && value >= -1000 && value <= 1000;
	free(text);
	if (number)
		*level = (int)value;
	return number;
}

const char *event_paranoid_means(int level)
{
	if (level < 0)
		return "everybody may measure everything";
	switch (level) {
	case 0: return "all but raw tracepoint data is open to everybody";
	case 1: return "users may measure their own processes, kernel included, but no whole CPUs";
	case 2: return "users may measure their own processes in user space only";
	default: return "users may measure nothing";
	}
}
