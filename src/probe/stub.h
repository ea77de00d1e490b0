/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code of a probe: what runs in a trampoline at an entry or an exit (a hook of src/code). Pure: bytes are
 * written for either machine on every host.
 *
 * Where mode and options allow it, everything is done in line, since two nanoseconds matter: is the engine
 * alive, is the block this thread's, is the cap reached? Then one word is added to. What times a call goes on
 * into the agent. All registers and flags survive, and 128 bytes below the target's stack pointer are not touched.
 */
#ifndef ASSAY_PROBE_STUB_H
#define ASSAY_PROBE_STUB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/layout.h"
#include "code/plan.h"

enum probe_mode { PROBE_COUNT, PROBE_TIME, PROBE_STATE, PROBE_TRACE };

/* Calls are measured, not only counted. */
static inline bool probe_mode_measures(enum probe_mode mode)
{
	return mode == PROBE_TIME || mode == PROBE_TRACE;
}

/* What runs at a point, or at a function's start beside the function's own hook. */
enum stub_role { STUB_END, STUB_BEGIN, STUB_COUNT, STUB_N_ROLES };

struct stub_hook {
	uint32_t number; /* of what is counted, or of the region */
	uint8_t role;    /* enum stub_role */
};

struct stub {
	enum probe_mode mode;
	bool capped;       /* a cap is set */
	bool sampled;      /* one call in N is timed */
	bool atomics;      /* AArch64: the machine adds to memory in one instruction (LSE) */
	bool full;         /* by an event, with ordered reads or into a trace */
	uint32_t function; /* number of the function in the blocks */
	uint32_t function_bytes;
	uint32_t exit;      /* mode trace: number of the exit, 0: the entry */
	uint32_t state_end; /* offset in a block of the last struct agent_state */
	bool hooks_only;    /* the plan's entry is a point: nothing but `hooks` runs there */
	bool passage;       /* a region of the program: entries begin it, exits end it */
	const struct stub_hook
		*hooks; /* of the plan's point or entry, in the order that they run */
	uint32_t n_hooks;
	uint64_t region; /* address of the region, in the terms of the plan's module */
	struct agent_entries entries;
};

/* What the agent is told: the function and, in mode trace, which exit it is. */
static inline uint32_t stub_point(const struct stub *stub)
{
	return stub->function | stub->exit << AGENT_POINT_BITS;
}

/* Number of a site of the plan, from 1; those beyond AGENT_POINT_MOST share the last. The entry's is 0. */
static inline uint32_t stub_exit_number(const struct code_plan *plan, const struct code_site *site)
{
	const uint64_t number = (uint64_t)(site - plan->sites) + 1;

	if (site->kind == CODE_SITE_ENTRY)
		return 0;
	return number < AGENT_POINT_MOST ? (uint32_t)number : AGENT_POINT_MOST;
}

/* A code_hook.append: state is a struct stub. */
bool stub_append(void *state, const struct code_plan *plan, const struct code_site *site,
		 struct code_buffer *buffer);

/* Entry and exit stubs for callers that have no plan (calibration); machine: EM_X86_64 or EM_AARCH64. */
bool stub_append_kind(uint16_t machine, const struct stub *stub, enum code_site_kind kind,
		      struct code_buffer *buffer);

/* The machines, each for itself. */
bool stub_append_x86_64(const struct stub *stub, const struct code_plan *plan,
			const struct code_site *site, struct code_buffer *buffer);
bool stub_append_kind_x86_64(const struct stub *stub, enum code_site_kind kind,
			     struct code_buffer *buffer);
bool stub_append_aarch64(const struct stub *stub, const struct code_plan *plan,
			 const struct code_site *site, struct code_buffer *buffer);
bool stub_append_call_x86_64(const struct stub *stub, uint32_t entry, struct code_buffer *buffer);
bool stub_append_call_aarch64(const struct stub *stub, uint32_t entry, struct code_buffer *buffer);
bool stub_append_kind_aarch64(const struct stub *stub, enum code_site_kind kind,
			      struct code_buffer *buffer);

#endif
