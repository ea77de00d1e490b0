/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/ring.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum status ring_map(struct ring *ring, const struct sys *sys, int fd, size_t pages,
		     struct error *error)
{
	const size_t page_size = sys->page_size(sys->state);
	void *mapped;

	*ring = (struct ring){ .mapped_bytes = (pages + 1) * page_size };
	ring->record = malloc(RING_RECORD_MAX);
	if (!ring->record)
		return error_set(error, STATUS_NO_MEMORY, "no memory for a ring buffer");
	mapped = sys->mmap(sys->state, NULL, ring->mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0);
	if (mapped == MAP_FAILED) {
		const int reason = errno;

		free(ring->record);
		*ring = (struct ring){ 0 };
		if (reason == EPERM || reason == EAGAIN)
			return error_set_errno(
				error, STATUS_PERMISSION, reason,
				"a ring buffer of %zu KiB exceeds the locked memory allowed "
				"(kernel.perf_event_mlock_kb and ulimit -l); raise one of them or "
				"ask for less with -m",
				(pages + 1) * page_size / 1024);
		return error_set_errno(error, status_from_errno(reason), reason,
				       "cannot map a ring buffer of %zu KiB",
				       (pages + 1) * page_size / 1024);
	}
	ring->page = mapped;
	ring->data = (uint8_t *)mapped + page_size;
	ring->data_bytes = pages * page_size;
	ring->tail = ring->page->data_tail;
	return STATUS_OK;
}

void ring_unmap(struct ring *ring, const struct sys *sys)
{
	if (ring->page)
		sys->munmap(sys->state, ring->page, ring->mapped_bytes);
	free(ring->record);
	*ring = (struct ring){ 0 };
}

uint64_t ring_head(const struct ring *ring)
{
	return __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
}

struct perf_event_header *ring_next(struct ring *ring, uint64_t limit, bool *damaged)
{
	const uint64_t mask = ring->data_bytes - 1, at = ring->tail & mask;
	struct perf_event_header header;
	uint64_t until_end;

	*damaged = false;
	if (ring->tail >= limit)
		return NULL;
	/* Records are multiples of 8 bytes, so a header never wraps. */
	memcpy(&header, ring->data + at, sizeof(header));
	if (header.size < sizeof(header) || header.size % 8 || header.size > limit - ring->tail ||
	    header.size > ring->data_bytes) {
		ring->tail = limit;
		*damaged = true;
		return NULL;
	}
	ring->tail += header.size;
	until_end = ring->data_bytes - at;
	if (header.size <= until_end) {
		memcpy(ring->record, ring->data + at, header.size);
	} else {
		memcpy(ring->record, ring->data + at, until_end);
		memcpy(ring->record + until_end, ring->data, header.size - until_end);
	}
	return (struct perf_event_header *)(void *)ring->record;
}

void ring_release(struct ring *ring)
{
	__atomic_store_n(&ring->page->data_tail, ring->tail, __ATOMIC_RELEASE);
}
