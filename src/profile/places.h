/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A place: one address of one generation, turned once into (module, offset in its file).
 *
 * Everything that samples say about an address is asked of its place, so that each distinct address is
 * looked up and named once, however many samples and stacks it is in.
 *
 *	kernel address                 the kernel module, offset = the address itself
 *	file mapping                   its file's module
 *	anonymous or unmapped address  the perf map of the process
 *	guest, hypervisor              no module
 */
#ifndef ASSAY_PROFILE_PLACES_H
#define ASSAY_PROFILE_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "bundle/bundle.h"
#include "profile/keytable.h"
#include "profile/origin.h"
#include "profile/timeline.h"
#include "symbolize/symbolizer.h"

enum place_mode { PLACE_USER, PLACE_KERNEL, PLACE_HYPERVISOR, PLACE_GUEST };

struct place {
	struct runtime_address address;
	uint32_t generation; /* 0 outside user space: the kernel is the same in all */
	enum place_mode mode;
	bool return_address;   /* the code called from the instruction before */
	struct module *module; /* NULL: none */
	struct file_offset offset;
	bool mapped; /* user space: something is known to be mapped there */
	uint32_t subjects,
		n_subjects; /* once named, see subjects.h: the place's part of its list */
	enum symbol_miss miss;
};

struct places {
	const struct bundle *bundle;
	const struct timeline *timeline;
	struct symbolizer *symbolizer;
	struct origin origin;
	char *objects; /* absolute path of the bundle's objects/, NULL without one */
	struct place *items;
	size_t n, capacity;
	struct keytable index, object_index, build_id_index;
	struct module *kernel;   /* once asked for */
	struct module **modules; /* by file of the timeline, NULL: not asked yet */
};

/* `places` borrows all that it is given. */
MUST_CHECK enum status places_init(struct places *places, const struct bundle *bundle,
				   const struct timeline *timeline, struct symbolizer *symbolizer,
				   const struct origin *origin, struct error *error);
void places_release(struct places *places);

/* The number of the place, added when new. */
MUST_CHECK enum status places_at(struct places *places, uint32_t generation, enum place_mode mode,
				 struct runtime_address address, bool return_address,
				 uint32_t *index, struct error *error);

/* The module mapped at a user address and the address's offset in its file; NULL when there is none.
 * *mapped (may be NULL): whether anything is known to be mapped there. */
struct module *places_user_module(struct places *places, uint32_t generation,
				  struct runtime_address address, struct file_offset *offset,
				  bool *mapped);

#endif
