/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The numbers of the perf.data format that the kernel's own header does not give: magics, the file
 * header, feature bits, record types that only perf writes, and the maxima that assay sets.
 *
 *	file mode                                    pipe mode
 *	  0 u64 magic   "PERFILE2"                     0 u64 magic
 *	  8 u64 size    104                            8 u64 size 16
 *	 16 u64 attr_size (one entry: attr + 16)      16 records to the end of the stream
 *	 24 u64 attrs.offset, attrs.size
 *	 40 u64 data.offset, data.size
 *	 56 u64 event_types.offset, .size (unused)
 *	 72 u64 features[4], bit n: feature n
 *	104 ...
 *	attribute entry: struct perf_event_attr | u64 ids.offset | u64 ids.size
 *	right behind the data: one (u64 offset, u64 size) per feature bit, in the order of the bits
 *
 * Source: tools/perf/Documentation/perf.data-file-format.txt and tools/perf/util/header.[ch] of Linux.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_FORMAT_H
#define ASSAY_BUNDLE_PERFDATA_FORMAT_H

#include <stdint.h>

/* The eight magic bytes read as a little-endian number; a big-endian recorder wrote them reversed. */
#define PERFDATA_MAGIC_1 0x454c494646524550u /* "PERFFILE": the first format (2009) */
#define PERFDATA_MAGIC_2 0x32454c4946524550u /* "PERFILE2" */

#define PERFDATA_HEADER_BYTES      104u
#define PERFDATA_PIPE_HEADER_BYTES 16u
#define PERFDATA_ATTR_MIN_BYTES    64u /* PERF_ATTR_SIZE_VER0 */
#define PERFDATA_SECTION_BYTES     16u
#define PERFDATA_NAME_ALIGN        64u

/* What assay accepts of a file that somebody else wrote. */
#define PERFDATA_ATTR_MAX_BYTES    4096u
#define PERFDATA_RECORD_MAX_BYTES  65536u /* the size field has 16 bits */
#define PERFDATA_EVENTS_MAX        8192u
#define PERFDATA_IDS_MAX           (1u << 22) /* of all events together */
#define PERFDATA_FEATURE_MAX_BYTES (16u << 20)
#define PERFDATA_BUILD_IDS_MAX     (1u << 18)
#define PERFDATA_COMMAND_MAX_BYTES (1u << 20)
#define PERFDATA_NOTES_MAX         64u
#define PERFDATA_PARTS_MAX         4096u /* files of a recording that is a directory */
#define PERFDATA_SPOOL_MAX_BYTES   (UINT64_C(1) << 40)
#define PERFDATA_GUNZIP_MAX_BYTES  (UINT64_C(4) << 30)

enum perfdata_feature {
	PERFDATA_FEATURE_TRACING_DATA = 1,
	PERFDATA_FEATURE_BUILD_ID = 2,
	PERFDATA_FEATURE_HOSTNAME = 3,
	PERFDATA_FEATURE_OSRELEASE = 4,
	PERFDATA_FEATURE_VERSION = 5,
	PERFDATA_FEATURE_ARCH = 6,
	PERFDATA_FEATURE_NRCPUS = 7,
	PERFDATA_FEATURE_CPUDESC = 8,
	PERFDATA_FEATURE_CPUID = 9,
	PERFDATA_FEATURE_TOTAL_MEM = 10,
	PERFDATA_FEATURE_CMDLINE = 11,
	PERFDATA_FEATURE_EVENT_DESC = 12,
	PERFDATA_FEATURE_STAT = 19,
	PERFDATA_FEATURE_SAMPLE_TIME = 21,
	PERFDATA_FEATURE_CLOCKID = 23,
	PERFDATA_FEATURE_DIR_FORMAT = 24,
	PERFDATA_FEATURE_CLOCK_DATA = 29,
	PERFDATA_FEATURE_BITS = 256,
};

#define PERFDATA_KERNEL_LAST_KNOWN 22u /* CALLCHAIN_DEFERRED of Linux 6.18 */

/* Record types that perf writes itself: enum perf_user_event_type of tools/lib/perf. */
enum perfdata_user_type {
	PERFDATA_USER_ATTR = 64,
	PERFDATA_USER_EVENT_TYPE = 65,
	PERFDATA_USER_TRACING_DATA = 66, /* payload follows the record */
	PERFDATA_USER_BUILD_ID = 67,
	PERFDATA_USER_FINISHED_ROUND = 68,
	PERFDATA_USER_ID_INDEX = 69,
	PERFDATA_USER_AUXTRACE_INFO = 70,
	PERFDATA_USER_AUXTRACE = 71, /* payload follows the record */
	PERFDATA_USER_AUXTRACE_ERROR = 72,
	PERFDATA_USER_THREAD_MAP = 73,
	PERFDATA_USER_CPU_MAP = 74,
	PERFDATA_USER_STAT_CONFIG = 75,
	PERFDATA_USER_STAT = 76,
	PERFDATA_USER_STAT_ROUND = 77,
	PERFDATA_USER_EVENT_UPDATE = 78,
	PERFDATA_USER_TIME_CONV = 79,
	PERFDATA_USER_FEATURE = 80,
	PERFDATA_USER_COMPRESSED = 81, /* any size: the records behind it are not aligned */
	PERFDATA_USER_FINISHED_INIT = 82,
	PERFDATA_USER_COMPRESSED2 = 83, /* u64 length, bytes, padding */
	PERFDATA_USER_LAST_KNOWN = 86,  /* BPF_METADATA, SCHEDSTAT_CPU, SCHEDSTAT_DOMAIN */
};

/* enum perf_record_... of EVENT_UPDATE */
#define PERFDATA_UPDATE_NAME 2u

/* misc of a build-id entry: its length is stored behind the 20 bytes. */
#define PERFDATA_MISC_BUILD_ID_SIZE (1u << 15)

/* Bits of the ABI that linux/perf_event.h of Debian 12 does not name yet. */
#define PERFDATA_BRANCH_HW_INDEX UINT64_C(0x20000)
#define PERFDATA_BRANCH_COUNTERS UINT64_C(0x80000) /* Linux 6.8: one u64 per branch, behind them */

/* "type 9 (SAMPLE)" in messages: the name, or "" for a type that assay does not know. */
const char *perfdata_type_name(uint32_t type);

#endif
