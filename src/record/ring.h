/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A perf ring buffer: one control page and 2^n pages of records that the kernel appends.
 *
 *	data_tail (ours) <= record starts < data_head (the kernel's), both counted without wrapping
 *
 * The kernel maps the records read-only (perf_mmap_pfn_mkwrite refuses), and one may wrap around the
 * end of the buffer: each is handed out as a copy that may be changed. Source: perf_event_open(2) and
 * the comment above data_head in include/uapi/linux/perf_event.h.
 */
#ifndef ASSAY_RECORD_RING_H
#define ASSAY_RECORD_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

#define RING_RECORD_MAX 65536 /* perf_event_header.size is 16 bits */

struct ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	uint8_t *data;
	uint64_t data_bytes; /* a power of two */
	size_t mapped_bytes;
	uint64_t tail;   /* our copy of data_tail */
	uint8_t *record; /* the copy */
};

/* `pages` a power of two. STATUS_PERMISSION when the locked-memory limit is in the way; the message
 * names it. */
MUST_CHECK enum status ring_map(struct ring *ring, const struct sys *sys, int fd, size_t pages,
				struct error *error);
void ring_unmap(struct ring *ring, const struct sys *sys);

/* The kernel's head, with acquire semantics: all bytes before it are complete. */
uint64_t ring_head(const struct ring *ring);

/* The next record before `limit` (a value of ring_head), a copy valid until the next call; NULL
 * when there is none. A record whose size is impossible empties the ring up to `limit`: *damaged. */
struct perf_event_header *ring_next(struct ring *ring, uint64_t limit, bool *damaged);

/* Gives what was read back to the kernel. */
void ring_release(struct ring *ring);

#endif
