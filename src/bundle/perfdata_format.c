/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_format.h"

#include <stddef.h>

const char *perfdata_type_name(uint32_t type)
{
	static const char *const kernel[] = {
		[1] = "MMAP",
		[2] = "LOST",
		[3] = "COMM",
		[4] = "EXIT",
		[5] = "THROTTLE",
		[6] = "UNTHROTTLE",
		[7] = "FORK",
		[8] = "READ",
		[9] = "SAMPLE",
		[10] = "MMAP2",
		[11] = "AUX",
		[12] = "ITRACE_START",
		[13] = "LOST_SAMPLES",
		[14] = "SWITCH",
		[15] = "SWITCH_CPU_WIDE",
		[16] = "NAMESPACES",
		[17] = "KSYMBOL",
		[18] = "BPF_EVENT",
		[19] = "CGROUP",
		[20] = "TEXT_POKE",
		[21] = "AUX_OUTPUT_HW_ID",
		[22] = "CALLCHAIN_DEFERRED",
	};
	static const char *const user[] = {
		"HEADER_ATTR",    "HEADER_EVENT_TYPE", "TRACING_DATA",     "HEADER_BUILD_ID",
		"FINISHED_ROUND", "ID_INDEX",          "AUXTRACE_INFO",    "AUXTRACE",
		"AUXTRACE_ERROR", "THREAD_MAP",        "CPU_MAP",          "STAT_CONFIG",
		"STAT",           "STAT_ROUND",        "EVENT_UPDATE",     "TIME_CONV",
		"HEADER_FEATURE", "COMPRESSED",        "FINISHED_INIT",    "COMPRESSED2",
		"BPF_METADATA",   "SCHEDSTAT_CPU",     "SCHEDSTAT_DOMAIN",
	};

	if (type < sizeof(kernel) / sizeof(kernel[0]) && kernel[type])
		return kernel[type];
	if (type >= PERFDATA_USER_ATTR &&
	    type - PERFDATA_USER_ATTR < sizeof(user) / sizeof(user[0]))
		return user[type - PERFDATA_USER_ATTR];
	return "";
}
