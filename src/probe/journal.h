/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The list of what is written into the text of a target, kept in the target itself, at the end of each region of
 * trampolines: should assay and its guardian both be killed, whoever comes next can put the bytes back.
 *
 *	end of the region - 32		struct journal_tail
 *	- 32 (k + 2)			entry k, in the order of the writes
 *
 * It is written before the first byte of text changes, and lists intentions: an entry counts as long as the text holds its
 * `bytes`. Forked children inherit it together with the patched text. It stays when the bytes are back; then no
 * entry counts any more.
 */
#ifndef ASSAY_PROBE_JOURNAL_H
#define ASSAY_PROBE_JOURNAL_H

#include "base/sys.h"
#include "probe/guardian.h"

#define JOURNAL_MAGIC UINT64_C(0x41535341594a524e) /* "ASSAYJRN" */

struct journal_entry {
	uint64_t address;
	uint8_t original[8], bytes[8];
	uint32_t function; /* writes of one function are put back together */
	uint8_t length, island;
	uint8_t reserved[2];
};

struct journal_tail {
	uint64_t magic;
	uint64_t n;
	uint64_t reserved[2];
};

/* How much of a region's end a journal of so many writes takes. */
uint64_t journal_bytes(uint64_t n_writes);

/* Appends writes to the journal of `*n` entries whose region's copy ends at `end`, with `room` bytes before it that are
 * free or the journal's; false when they do not fit, then it is as it was. With no writes: begins an empty one. */
MUST_CHECK bool journal_append(uint8_t *end, uint64_t room, uint64_t *n,
			       const struct guardian_write *writes, size_t n_writes);

/* The writes of the journal at the end of [start, end) in a target's memory that still stand in its text, appended to the
 * array *writes of *n (grown by base/array.h); all are GUARDIAN_WRITTEN. No journal there: none. */
MUST_CHECK enum status journal_read(const struct sys *sys, int memory_fd, uint64_t start,
				    uint64_t end, struct guardian_write **writes, size_t *n,
				    size_t *capacity, struct error *error);

#endif
