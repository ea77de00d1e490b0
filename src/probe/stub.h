/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a probe: what runs in a trampoline at an entry or an exit (a hook of src/code), x86-64.
 *
 * Where mode and options allow it, everything is done in line, since two nanoseconds matter:
 *
 *	count		lea -128(%rsp),%rsp; push rax, rcx; flags to ax
 *			enabled? this thread's block? below the cap?	else out
 *			incq %gs:calls
 *			(every N: decq %gs:countdown, at 0 open a frame)
 *			flags, rcx, rax and rsp back
 *	time		the same frame, then a call into the agent, which does the rest
 *
 * All registers and flags survive, and 128 bytes below the target's stack pointer are not touched.
 */
#ifndef ASSAY_PROBE_STUB_H
#define ASSAY_PROBE_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/layout.h"
#include "code/plan.h"

enum probe_mode { PROBE_COUNT, PROBE_TIME };

struct stub {
	enum probe_mode mode;
	bool capped;       /* a cap is set */
	bool sampled;      /* one call in N is timed */
	uint32_t function; /* number of the function in the blocks */
	uint32_t function_bytes;
	uint64_t region; /* address of the region, in the terms of the plan's module */
	struct agent_entries entries;
};

/* A code_hook.append: state is a struct stub. */
bool stub_append(void *state, const struct code_plan *plan, const struct code_site *site,
		 struct code_buffer *buffer);

/* Entry and exit stubs for callers that have no plan (calibration). */
bool stub_append_kind(const struct stub *stub, enum code_site_kind kind,
		      struct code_buffer *buffer);

#endif
