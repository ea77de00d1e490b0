/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Libraries that come to a target while it is probed (dlopen): those of their functions that are meant are planned and
 * written then, into the rows that the report has anyway; one that is closed and opened again, too.
 *
 *	the target's mappings, looked at every ARRIVALS_LOOK_NS ─► image_update ─► install_choose_later
 *	─► guardian_extend (a region near it) ─► install_fill ─► guardian_apply
 *
 * Calls before that moment are not counted, and the row says so (since_ns, gaps). Slots for such functions are those
 * that the buffers have to spare (buffers.h); what finds none is refused.
 *
 * Reading the mappings is dear in large processes, so it is done when the size of the address space has changed, or
 * patched bytes are the file's again, and now and then; never for more than one part in ARRIVALS_COST of the time.
 */
#ifndef ASSAY_PROBE_ARRIVALS_H
#define ASSAY_PROBE_ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

#include "probe/image.h"
#include "probe/selection.h"

#define ARRIVALS_LOOK_NS UINT64_C(20000000)
#define ARRIVALS_FULL_NS UINT64_C(500000000) /* the mappings are read at least so often */
#define ARRIVALS_SETTLE_NS \
	UINT64_C(5000000) /* that the mappings stand still before they are believed */
#define ARRIVALS_WAIT_NS UINT64_C(50000000) /* or that they have changed for */
#define ARRIVALS_COST    50u

struct probe;

struct arrivals {
	uint64_t taken;      /* hash of the mappings of code that was acted upon */
	uint64_t seen;       /* of those that were seen last */
	uint64_t changed_ns; /* when they began to differ; 0: they do not */
	uint64_t full_ns, cost_ns;
	uint64_t pages; /* of the address space */
	bool lost;      /* a library that was written is mapped anew */
	bool off;       /* the process is another program now (exec), or cannot be followed */
};

/* Looks at the target of `probe`, and writes what has come. Returns when to look next. What fails is told by notices. */
uint64_t arrivals_look(struct probe *probe, uint64_t now_ns);

/* Says which libraries have come so late that nothing of them is probed. */
void arrivals_end(struct probe *probe);

/* True when a word of the selection names modules of which the process has none yet. */
bool arrivals_awaited(const struct selection *selection, const struct image *image);

#endif
