/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records for what existed before recording began: processes, threads, names and executable mappings
 * from /proc, the kernel's text and its modules. perf does the same, and so does this in the same
 * form. A process that ends meanwhile is left out.
 */
#ifndef ASSAY_RECORD_SYNTHESIZE_H
#define ASSAY_RECORD_SYNTHESIZE_H

#include <sys/types.h>

#include "base/status.h"
#include "base/sys.h"
#include "record/record_bytes.h"

/* Takes each record; `mapping` set for MMAP2 ones. */
struct synthesize_sink {
	void *data;
	enum status (*record)(void *data, const struct perf_event_header *record,
			      const struct mapping_bytes *mapping, struct error *error);
	/* A thread of a process that existed already. */
	enum status (*thread)(void *data, pid_t pid, pid_t tid, struct error *error);
};

/* One process: FORK and COMM per thread, MMAP2 per executable mapping. `only_tid` > 0: no other
 * thread than that. */
MUST_CHECK enum status synthesize_process(const struct sys *sys, pid_t pid, pid_t only_tid,
					  const struct synthesize_sink *sink, struct error *error);

/* The kernel's text and modules; nothing when /proc/kallsyms hides addresses from this user. */
MUST_CHECK enum status synthesize_kernel(const struct sys *sys, const struct synthesize_sink *sink,
					 struct error *error);

#endif
