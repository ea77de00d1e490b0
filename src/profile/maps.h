/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Address spaces as immutable values: what is mapped where, at every moment of a recording.
 *
 * A root names one state of one address space, for ever. Putting a mapping gives a new root and
 * leaves the old one as it was, sharing all of it but O(log n) nodes; so fork is the copy of a
 * number, and a process that maps a thousand libraries keeps every state it went through without
 * keeping a thousand tables.
 *
 * A later mapping replaces what it overlaps, whole or in part (the kernel records no munmap).
 *
 * The tree is a height-balanced one built on `join` (Blelloch, Ferizovic, Sun 2016, "Just Join for
 * Parallel Ordered Sets"): splitting at both ends of the new range, dropping the middle and joining
 * again is the whole of an update. Its height is below 1.45 log2(n), whatever the input, so nothing
 * here recurses deeper than 48.
 */
#ifndef ASSAY_PROFILE_MAPS_H
#define ASSAY_PROFILE_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* The most nodes of all spaces together; a recording with more mappings than fit is refused. */
#define MAPS_MAX_NODES (64u * 1024 * 1024)

/* No mapping at all: the root of every space that has just been made. */
#define MAPS_EMPTY 0u

struct maps_segment {
	uint64_t start, end; /* [start, end), a piece of its mapping */
	uint32_t mapping;    /* the caller's number */
};

struct maps {
	struct maps_node *nodes; /* [0] stands for "none" */
	size_t n_nodes, capacity;
	uint32_t version; /* nodes of this version belong to one root only and may be changed */
};

void maps_init(struct maps *maps);
void maps_release(struct maps *maps);

/* From now on every root that exists is kept: call before keeping a second root to a space. */
void maps_freeze(struct maps *maps);

/* Puts [start, end) into the space *root, start < end, and moves *root on. The old root stays valid
 * only if maps_freeze was called since it was made. On failure *root is as before. */
MUST_CHECK enum status maps_put(struct maps *maps, uint32_t *root, uint64_t start, uint64_t end,
				uint32_t mapping, struct error *error);

/* The segment that holds `address`, NULL when nothing is mapped there. Valid until the next put. */
const struct maps_segment *maps_find(const struct maps *maps, uint32_t root, uint64_t address);

/* The lowest segment that shares a byte with [start, end), NULL when none does. */
const struct maps_segment *maps_overlap(const struct maps *maps, uint32_t root, uint64_t start,
					uint64_t end);

#endif
