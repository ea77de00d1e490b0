/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What calls are measured by: the machine's clock, or a hardware event that each thread of the target counts
 * for itself and reads from user space.
 */
#ifndef ASSAY_PROBE_METRIC_H
#define ASSAY_PROBE_METRIC_H

#include <linux/perf_event.h>

#include "agent/layout.h"
#include "base/sys.h"

#define METRIC_MAX_NAME 128u

struct metric {
	bool by_event;              /* else the clock, with time off the CPU taken out */
	bool ordered;               /* reads with barriers */
	char name[METRIC_MAX_NAME]; /* of the event, as granted; "time" */
	/* what each thread opens: the event, or one that counts nothing and tells when it was switched out */
	struct perf_event_attr attributes;
	uint32_t page_bytes;
};

/* `word` is what -e got: NULL or "tsc" (AArch64: "cntvct") for the clock, else one hardware event in the grammar of
 * src/event, of user space unless it says otherwise. It is opened and read once on the calling thread, so that what this
 * machine cannot do is said before anything is done to the target. */
MUST_CHECK enum status metric_choose(struct metric *metric, const struct sys *sys, const char *word,
				     bool ordered, struct error *error);

/* The part of the header that tells agents; ticks_per_ns 0: not known yet, time off the CPU stays in. */
void metric_header_fill(struct agent_shared *shared, const struct metric *metric,
			double ticks_per_ns);

/* True when stubs must lead to the agent's full code. */
bool metric_is_full(const struct metric *metric);

#endif
