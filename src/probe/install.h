/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From chosen functions to what the guardian is to write: plans, numbers in the blocks, regions, trampolines.
 *
 *	install_choose	functions and points of the image that the selection means; each planned or refused (choice.c)
 *	install_place	regions for the planned ones (their addresses are wishes until the guardian has mapped them)
 *	install_fill	buffers are there: the agent's code, the trampolines and the writes into the arena
 *	install_settle	what the guardian answered: functions that could not be written are refused
 */
#ifndef ASSAY_PROBE_INSTALL_H
#define ASSAY_PROBE_INSTALL_H

#include "code/plan.h"
#include "probe/guardian.h"
#include "probe/image.h"
#include "probe/stub.h"

#define INSTALL_MAX_FUNCTIONS (1u << 20)

/* Why a function is not probed, beyond what the code says (enum code_refusal). */
enum install_refusal {
	INSTALL_PROBED = 0,
	INSTALL_CODE,    /* see code_refusal */
	INSTALL_IFUNC,   /* a resolver, and nothing says what it picked */
	INSTALL_CHANGED, /* the live bytes are not the file's: patched by somebody, or generated */
	INSTALL_NO_ROOM, /* no free page within reach of a jump */
	INSTALL_UNREACHABLE, /* what it refers to is too far from the trampoline */
	INSTALL_BUSY,        /* a thread stood inside the bytes whenever they were to be written */
	INSTALL_N_REFUSALS
};

#define INSTALL_MAX_PICKED_FOR 6u

struct install_function {
	const struct image_module *module;
	uint32_t index;   /* in the module's functions */
	uint64_t address; /* the object's own */
	char *point;      /* NULL: a function; else the point as it is shown */
	/* indirect functions whose resolvers picked this one; borrowed from the module */
	const char *picked_for[INSTALL_MAX_PICKED_FOR];
	uint32_t n_picked_for;
	uint32_t number; /* in the blocks, UINT32_MAX: none */
	enum install_refusal refusal;
	enum code_refusal code_refusal;
	struct code_plan plan;
	uint32_t region;
};

struct install {
	const struct sys *sys;
	struct image *image;
	enum probe_mode mode;
	bool capped, sampled, full;
	uint32_t state_end; /* as a stub has it */
	struct install_function *functions;
	size_t n, capacity;
	uint32_t n_planned;
	uint64_t n_sites;
	struct guardian_region regions[GUARDIAN_MAX_REGIONS];
	uint32_t n_regions;
	struct guardian_region blocked[GUARDIAN_MAX_REGIONS]; /* turned out to be taken */
	uint32_t n_blocked;
	uint64_t busy[GUARDIAN_MAX_BUSY]; /* regions of an earlier assay that a thread stands in */
	uint32_t n_busy;
};

/* The reason as one word with dashes, as the JSON has it; and in words. */
const char *install_reason_name(const struct install_function *function);
const char *install_reason_text(const struct install_function *function);

/* Steps in order; see above. Release in any case. */
MUST_CHECK enum status install_choose(struct install *install, const struct sys *sys,
				      struct image *image, struct selection *selection,
				      struct error *error);
MUST_CHECK enum status install_place(struct install *install, struct error *error);
MUST_CHECK enum status install_fill(struct install *install, struct guardian_arena *arena,
				    uint32_t function_bytes, struct error *error);
void install_settle(struct install *install, struct guardian_arena *arena);
void install_release(struct install *install);

#endif
