/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/journal.h"

#include <string.h>

#include "base/array.h"

_Static_assert(sizeof(struct journal_entry) == 32, "the layout is shared with other versions");
_Static_assert(sizeof(struct journal_tail) == 32, "the layout is shared with other versions");
_Static_assert(sizeof(((struct journal_entry *)NULL)->bytes) ==
		       sizeof(((struct guardian_write *)NULL)->bytes),
	       "an entry holds a write");

#define READ_AT_ONCE 128u /* entries */

uint64_t journal_bytes(uint64_t n_writes)
{
	return sizeof(struct journal_tail) + n_writes * sizeof(struct journal_entry);
}

bool journal_append(uint8_t *end, uint64_t room, uint64_t *n, const struct guardian_write *writes,
		    size_t n_writes)
{
	struct journal_tail tail = { .magic = JOURNAL_MAGIC, .n = *n + n_writes };

	if (journal_bytes(tail.n) > room)
		return false;
	for (size_t i = 0; i < n_writes; i++) {
		struct journal_entry entry = { .address = writes[i].address,
					       .function = writes[i].function,
					       .length = writes[i].length,
					       .island = writes[i].island };

		memcpy(entry.original, writes[i].original, sizeof(entry.original));
		memcpy(entry.bytes, writes[i].bytes, sizeof(entry.bytes));
		memcpy(end - journal_bytes(*n + i + 1), &entry, sizeof(entry));
	}
	memcpy(end - sizeof(tail), &tail, sizeof(tail));
	*n = tail.n;
	return true;
}

static struct guardian_write entry_write(const struct journal_entry *entry)
{
	struct guardian_write write = { .address = entry->address,
					.function = entry->function,
					.length = entry->length,
					.island = entry->island,
					.state = GUARDIAN_WRITTEN };

	/* strictly inside is busy: an island from its first byte on */
	write.busy_start = write.address - write.island;
	write.busy_end = write.address + write.length;
	memcpy(write.original, entry->original, sizeof(write.original));
	memcpy(write.bytes, entry->bytes, sizeof(write.bytes));
	return write;
}

static bool entry_stands(const struct sys *sys, int memory_fd, const struct journal_entry *entry)
{
	uint8_t live[sizeof(entry->bytes)];

	return entry->length && entry->length <= sizeof(live) &&
	       sys_pread_full(sys, memory_fd, live, entry->length, (off_t)entry->address) ==
		       (ssize_t)entry->length &&
	       !memcmp(live, entry->bytes, entry->length) &&
	       memcmp(live, entry->original, entry->length) != 0;
}

enum status journal_read(const struct sys *sys, int memory_fd, uint64_t start, uint64_t end,
			 struct guardian_write **writes, size_t *n, size_t *capacity,
			 struct error *error)
{
	struct journal_entry entries[READ_AT_ONCE];
	struct journal_tail tail;

	if (end - start < sizeof(tail) ||
	    sys_pread_full(sys, memory_fd, &tail, sizeof(tail), (off_t)(end - sizeof(tail))) !=
		    (ssize_t)sizeof(tail) ||
	    tail.magic != JOURNAL_MAGIC || tail.n > (end - start) / sizeof(*entries) - 1)
		return STATUS_OK;
	for (uint64_t at = 0; at < tail.n;) {
		const uint64_t some = tail.n - at < READ_AT_ONCE ? tail.n - at : READ_AT_ONCE;
		const size_t size = (size_t)some * sizeof(*entries);

		at += some;
		if (sys_pread_full(sys, memory_fd, entries, size,
				   (off_t)(end - journal_bytes(at))) != (ssize_t)size)
			return STATUS_OK;
		for (uint64_t i = some; i-- > 0;) {
			if (!entry_stands(sys, memory_fd, &entries[i]))
				continue;
			if (!array_reserve(writes, capacity, *n + 1))
				return error_set(error, STATUS_NO_MEMORY, "out of memory");
			(*writes)[(*n)++] = entry_write(&entries[i]);
		}
	}
	return STATUS_OK;
}
