/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads perf.data: any sample layout, driven by the attributes in the file itself.
 *
 * One reader serves file mode and pipe mode, both byte orders, attribute sizes 64 to 4096, zstd
 * COMPRESSED and COMPRESSED2 records and unfinished files. The file is read in windows, never mapped
 * whole; memory is bounded by the window and by the largest record (64 KiB), not by the file.
 * Input that cannot be rewound (a pipe) is spooled to an unlinked temporary file.
 *
 * Records come in file order; nobody sorts here (profile/ makes two passes instead).
 *
 * Damage: what is readable is given, what is not is told. A file that cannot be read at all makes
 * perfdata_reader_open fail; damage further on ends the stream (STATUS_END) and leaves a note with
 * offset and record type. No note, no damage. Format: tools/perf/Documentation/perf.data-file-format
 * and include/uapi/linux/perf_event.h of Linux.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_READER_H
#define ASSAY_BUNDLE_PERFDATA_READER_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

#define PERFDATA_BUILD_ID_MAX 20
#define PERFDATA_NO_EVENT     UINT32_MAX

struct perfdata_reader;

/* One attribute of the file ("evsel" in perf's words). */
struct perfdata_event {
	struct perf_event_attr attr; /* native byte order; fields the file lacks are zero */
	uint32_t attr_size;          /* what the file says, may exceed sizeof(attr) */
	const char *name;            /* from EVENT_DESC or EVENT_UPDATE, else made from the attr */
	const uint64_t *ids;
	size_t n_ids;
};

struct perfdata_read_value {
	uint64_t value, id, lost;
};

/* A decoded PERF_RECORD_SAMPLE. Fields that the layout lacks are zero / NULL / -1 as noted.
 * Pointers are valid until the next call on the reader. */
struct perfdata_sample {
	uint32_t
		event; /* index into perfdata_reader_events, PERFDATA_NO_EVENT if its id is unknown */
	uint8_t cpumode; /* PERF_RECORD_MISC_KERNEL, _USER, ... of the record's misc */
	bool exact_ip;
	bool has_time, has_period, has_cpu, has_read, has_id;
	uint64_t id, ip, time, addr, period, weight, transaction, data_source, phys_addr;
	uint32_t pid, tid; /* UINT32_MAX when unknown */
	uint32_t cpu;
	uint64_t read_time_enabled, read_time_running;
	const struct perfdata_read_value *read; /* the group leader's first */
	uint32_t n_read;
	const uint64_t *callchain; /* with PERF_CONTEXT_* markers, as in the file */
	uint32_t n_callchain;
	const void *raw;
	uint32_t raw_size;
	uint32_t n_branches;
	const uint64_t
		*branches; /* n_branches times from, to, flags (flags in the file's bit order) */
	uint64_t user_regs_abi, user_regs_mask; /* abi 0: none */
	const uint64_t *user_regs;              /* popcount(mask) values, lowest register first */
	const void *user_stack;
	uint64_t user_stack_size, user_stack_dumped; /* room in the record; bytes really dumped */
	uint64_t cgroup, data_page_size, code_page_size;
};

struct perfdata_mmap {
	uint32_t pid, tid;
	uint64_t address, length, page_offset;
	uint32_t major, minor; /* 0 when the record carries a build-id instead */
	uint64_t inode, inode_generation;
	uint32_t protection, flags; /* protection is PROT_EXEC for old MMAP records of code */
	bool data;                  /* PERF_RECORD_MISC_MMAP_DATA: not executable */
	bool has_inode;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	uint8_t build_id_size; /* 0: none in this record */
	const char *path;      /* bounded by the record; any byte but NUL */
};

struct perfdata_task { /* FORK, EXIT */
	uint32_t pid, parent_pid, tid, parent_tid;
	uint64_t time;
};

struct perfdata_comm {
	uint32_t pid, tid;
	bool exec; /* PERF_RECORD_MISC_COMM_EXEC: address space replaced */
	const char *comm;
};

struct perfdata_record {
	uint32_t type; /* PERF_RECORD_*, or a PERF_RECORD_USER type from 64 on */
	uint16_t misc;
	uint64_t
		offset; /* where the record starts in the file (of its compressed carrier, if any) */
	/* the trailing sample_id of non-sample records, when attr.sample_id_all gave one */
	bool has_time;
	uint64_t time;     /* for a sample the same as sample.time */
	uint32_t cpu;      /* UINT32_MAX when unknown */
	uint32_t pid, tid; /* the task that was running; UINT32_MAX when unknown */
	uint64_t id;       /* of the event that the record belongs to, 0 when unknown */
	union {
		struct perfdata_sample sample;
		struct perfdata_mmap mmap; /* MMAP and MMAP2 */
		struct perfdata_task task; /* FORK, EXIT */
		struct perfdata_comm comm;
		struct {
			uint64_t id, lost;
		} lost; /* LOST; LOST_SAMPLES has id of the trailer */
		struct {
			uint64_t time, id, stream_id;
			bool unthrottle;
		} throttle; /* THROTTLE and UNTHROTTLE */
		struct {
			bool out, preempt;
			uint32_t next_prev_pid, next_prev_tid; /* SWITCH_CPU_WIDE only */
		} context_switch;                              /* SWITCH and SWITCH_CPU_WIDE */
		struct {
			uint64_t address;
			uint32_t length;
			uint16_t ksym_type, flags;
			const char *name;
		} ksymbol;
		struct {
			const uint8_t *data; /* undecoded payload, in the file's byte order */
			size_t size;
		} other;
	};
};

/* What the header and its feature sections say. Strings are NULL when absent. */
struct perfdata_build_id {
	uint32_t pid; /* UINT32_MAX for files, else the kernel's (guest) pid */
	uint16_t misc;
	uint8_t id[PERFDATA_BUILD_ID_MAX], size;
	const char *path;
};

struct perfdata_header {
	bool pipe, swapped, finished; /* finished: the recorder wrote data.size and features */
	uint64_t data_offset, data_size;
	const char *hostname, *os_release, *version, *arch, *cpu_description;
	const char *const *command; /* words; NULL: unknown */
	size_t n_command;
	uint32_t n_cpus;
	const struct perfdata_build_id *build_ids;
	size_t n_build_ids;
	int clock_id; /* -1 unless CLOCK_DATA or an attribute says */
	const char *cpu_id;
	uint64_t total_memory_kib;
	uint64_t first_sample_ns, last_sample_ns; /* SAMPLE_TIME; 0 when absent */
	bool counters;                            /* `perf stat record`: counts, no samples */
	bool directory;                           /* one file of a recording that is a directory */
};

/* What was wrong or missing in the file. */
enum perfdata_note_kind {
	PERFDATA_NOTE_UNFINISHED,   /* recorder did not close the file */
	PERFDATA_NOTE_TRUNCATED,    /* a record or section is cut by the end of the file */
	PERFDATA_NOTE_DAMAGED,      /* bytes contradict the format; reading stopped here */
	PERFDATA_NOTE_SKIPPED,      /* one record or feature was dropped, reading went on */
	PERFDATA_NOTE_UNKNOWN_TYPE, /* record types that this version does not know */
	PERFDATA_NOTE_UNKNOWN_ID,   /* samples whose event id is in no attribute */
	PERFDATA_NOTE_MENDED,       /* a field was cut to what can be true, its record was kept */
	PERFDATA_NOTE_ELSEWHERE,    /* the samples are in other files of the recording */
};

struct perfdata_note {
	enum perfdata_note_kind kind;
	uint64_t offset, count;
	uint32_t record_type;
	char text[256];
};

/* Opens `path`: a file, a directory that `perf record --threads` wrote, or "-" for standard input.
 * On failure *reader is NULL. */
MUST_CHECK enum status perfdata_reader_open(struct perfdata_reader **reader, const struct sys *sys,
					    const char *path, struct error *error);

/* The same relative to a directory; `label` names the file in messages. */
MUST_CHECK enum status perfdata_reader_open_at(struct perfdata_reader **reader,
					       const struct sys *sys, int dir_fd, const char *name,
					       const char *label, struct error *error);

/* The same on bytes in memory, which must outlive the reader: for tests and fuzzers. */
MUST_CHECK enum status perfdata_reader_open_memory(struct perfdata_reader **reader,
						   const void *data, size_t size,
						   struct error *error);
void perfdata_reader_close(struct perfdata_reader *reader);

/* Complete after open in file mode; in pipe mode events and features arrive with the records, so it
 * is complete only after the first whole pass (perfdata_reader_rewind keeps what was learnt). */
const struct perfdata_header *perfdata_reader_header(const struct perfdata_reader *reader);
const struct perfdata_event *perfdata_reader_events(const struct perfdata_reader *reader,
						    size_t *n);
const struct perfdata_note *perfdata_reader_notes(const struct perfdata_reader *reader, size_t *n);

/* Which records the next calls deliver; the others are passed over as cheaply as possible, their
 * trailers undecoded. Default: everything. Bits: */
#define PERFDATA_WANT_SAMPLES  1u
#define PERFDATA_WANT_SIDEBAND 2u /* every kernel record that is no sample */
#define PERFDATA_WANT_USER     4u /* synthesised records of perf, types from 64 on */
/* Samples are delivered with time, ids, pid, tid, cpu, ip and period only: no chain, no stack. */
#define PERFDATA_WANT_BRIEF 8u
void perfdata_reader_want(struct perfdata_reader *reader, unsigned int want);

/* Reads no further than this many bytes of the data section, UINT64_MAX for all (the default): a
 * bundle whose recorder was killed is read up to its last finished epoch. */
void perfdata_reader_limit(struct perfdata_reader *reader, uint64_t data_bytes);

/* The next record, or STATUS_END. Damage inside the data ends the stream with a note; only failing
 * system calls and memory make it fail. */
MUST_CHECK enum status perfdata_reader_next(struct perfdata_reader *reader,
					    struct perfdata_record *record, struct error *error);

/* The earliest and the latest time of any SAMPLE record passed so far, delivered or not. False when
 * there was none with a time. A pass without PERFDATA_WANT_SAMPLES gathers them at little cost. */
bool perfdata_reader_sample_times(const struct perfdata_reader *reader, uint64_t *first_ns,
				  uint64_t *last_ns);

/* Back to the first record. Notes are not repeated. */
MUST_CHECK enum status perfdata_reader_rewind(struct perfdata_reader *reader, struct error *error);

#endif
