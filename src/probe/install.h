/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From chosen functions to what the guardian is to write: plans, numbers in the blocks, regions, trampolines.
 *
 *	install_choose	functions and points of the image that the selection means; each planned or refused (choice.c)
 *	install_place	regions for the planned ones (their addresses are wishes until the guardian has mapped them)
 *	install_fill	buffers are there: the agent's code, the trampolines and the writes into the arena
 *	install_settle	what the guardian answered: functions that could not be written are refused (install_settle.c)
 *
 * A module that comes later goes the same way by itself (arrivals.h).
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
	INSTALL_NO_SLOT,     /* it came later, when the buffers had no slot left */
	INSTALL_FAILED,      /* it came later, and could not be written then */
	INSTALL_N_REFUSALS
};

#define INSTALL_MAX_PICKED_FOR 6u

/* What is patched: a function, or a place that points and regions need. */
enum install_kind { INSTALL_FUNCTION, INSTALL_AT_START, INSTALL_INSIDE };

struct install_function {
	const struct image_module *module;
	uint32_t index;   /* in the module's functions */
	uint64_t address; /* the object's own */
	uint8_t point;    /* enum install_kind: places have no row of their own */
	bool hooked;      /* points are counted here, or regions begin or end */
	/* indirect functions whose resolvers picked this one; borrowed from the module */
	const char *picked_for[INSTALL_MAX_PICKED_FOR];
	uint32_t n_picked_for;
	uint32_t number; /* in the blocks, UINT32_MAX: none */
	enum install_refusal refusal;
	enum code_refusal code_refusal;
	struct code_plan plan;
	uint32_t region;
	uint64_t code_start, code_bytes; /* its trampolines in the target, once filled */
	bool written;                    /* it was, some time */
	bool late;                       /* not from the start on */
	uint64_t since_ns;               /* after the start; 0: from the start on */
	uint32_t gaps;                   /* times that it was mapped anew and written again */
};

/* A module at an address, as it was written there: should it be mapped there again, it is written again. */
struct install_place {
	const struct image_module *module;
	uint64_t bias;
	uint32_t region;
	struct guardian_write *writes; /* what became of each the last time is its state */
	size_t n_writes, capacity;
};

/* What is counted of its own: a point, or a line of the source, which may have several places; or a region. Regions
 * come first, and number i is the i-th one's. */
struct install_place_of_point {
	uint32_t function; /* in install->functions */
	uint8_t role;      /* enum stub_role */
};

struct install_point {
	char *name, *aliases;              /* as shown; aliases: NULL or the places */
	const struct image_module *module; /* of the first place */
	uint64_t address;
	uint32_t number; /* in the blocks, UINT32_MAX: refused */
	bool region;
	struct install_place_of_point *places;
	size_t n, capacity;
};

/* What is filled and settled at once: all, or one module that came later. */
struct install_part {
	const struct image_module *module; /* NULL: all */
	uint32_t first_region;             /* from which on regions are new */
	bool again;                        /* a place is written once more (install_refill) */
};

struct install {
	const struct sys *sys;
	struct image *image;
	enum probe_mode mode;
	bool capped, sampled, full;
	uint32_t state_end; /* as a stub has it */
	struct install_function *functions;
	size_t n, capacity;
	struct install_point *points;
	size_t n_points, points_capacity;
	uint32_t
		n_planned; /* numbers given: regions, then functions, places and points, module by module */
	uint64_t n_sites;
	struct guardian_region regions[GUARDIAN_MAX_REGIONS];
	uint32_t n_regions;
	struct guardian_region blocked[GUARDIAN_MAX_REGIONS]; /* turned out to be taken */
	uint32_t n_blocked;
	uint64_t busy[GUARDIAN_MAX_BUSY]; /* regions of an earlier assay that a thread stands in */
	uint32_t n_busy;
	struct install_place *places;
	size_t n_places, places_capacity;
	uint32_t owner; /* thread that owns what is in the target already; 0: nothing is */
};

/* The reason as one word with dashes, as the JSON has it; and in words. */
const char *install_reason_name(const struct install_function *function);
const char *install_reason_text(const struct install_function *function);

/* Steps in order; see above. Release in any case. */
MUST_CHECK enum status install_choose(struct install *install, const struct sys *sys,
				      struct image *image, struct selection *selection,
				      struct error *error);
MUST_CHECK enum status install_place(struct install *install, struct error *error);
MUST_CHECK enum status install_fill(struct install *install, const struct install_part *part,
				    struct guardian_arena *arena, uint32_t function_bytes,
				    struct error *error);
void install_settle(struct install *install, const struct install_part *part,
		    struct guardian_arena *arena);

/* The first two steps for a module that came later. `most`: numbers that there are; functions beyond are refused. */
MUST_CHECK enum status install_choose_later(struct install *install, struct selection *selection,
					    const struct image_module *module, uint32_t most,
					    struct error *error);
/* Takes a region for all of the module's functions that have a number, those too that were written elsewhere. */
MUST_CHECK enum status install_place_later(struct install *install,
					   const struct image_module *module, struct error *error);

/* The place where the module is now, if it was written there before; NULL: it was not. */
struct install_place *install_place_of(const struct install *install,
				       const struct image_module *module);

/* The writes of a place into the arena, nothing else; install_settle says what came of them. */
MUST_CHECK enum status install_refill(const struct install_place *place,
				      struct guardian_arena *arena, struct error *error);

/* The place for which the point or region is refused: all of them are needed. NULL: it is not. */
const struct install_function *install_point_refused(const struct install *install,
						     const struct install_point *point);

#define INSTALL_MAX_HOOKS 64u

/* What runs at the point's place, or at the function's start beside its own hook; in that order. Returns how many were
 * written, at most `capacity`. */
size_t install_hooks(const struct install *install, size_t function, struct stub_hook *hooks,
		     size_t capacity);
void install_points_release(struct install *install);
void install_release(struct install *install);

#endif
