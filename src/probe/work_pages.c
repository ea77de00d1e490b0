/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The guardian's last step of "remove": the events that threads of the target have opened for themselves (agent/page.h)
 * end with their mappings. A page of zeros takes the place of each in one call, so that a thread that stands
 * in the agent, or will come back to it from a signal handler, may still read there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "agent/layout.h"
#include "base/array.h"
#include "probe/guardian_work.h"
#include "probe/remote.h"

#define MAPS_MOST  (UINT64_C(64) << 20)
#define EVENT_MARK "[perf_event]"

struct pages {
	uint64_t *addresses;
	size_t n, capacity;
};

static bool page_is_events(const char *maps, uint64_t address)
{
	char start[32];
	const char *line, *end;

	snprintf(start, sizeof(start), "%08llx-", (unsigned long long)address);
	line = strstr(maps, start);
	while (line && line != maps && line[-1] != '\n')
		line = strstr(line + 1, start);
	if (!line)
		return false;
	end = strchr(line, '\n');
	line = strstr(line, EVENT_MARK);
	return line && (!end || line < end);
}

/* Those that the blocks name, if they are what they should be: the target may have written anything there. */
static void pages_find(const struct work *work, const struct agent_shared *shared, const char *maps,
		       struct pages *pages)
{
	const uint64_t n =
		shared->blocks_taken < shared->n_blocks ? shared->blocks_taken : shared->n_blocks;

	for (uint64_t i = 0; i < n; i++) {
		const uint64_t at = work->buffers + shared->blocks_offset +
				    i * shared->block_bytes + offsetof(struct agent_block, page);
		uint64_t page;

		if (sys_pread_full(work->sys, work->memory_fd, &page, sizeof(page), (off_t)at) !=
			    (ssize_t)sizeof(page) ||
		    !page || page % AGENT_PAGE || !page_is_events(maps, page))
			continue;
		if (!array_reserve(&pages->addresses, &pages->capacity, pages->n + 1))
			return;
		pages->addresses[pages->n++] = page;
	}
}

static enum status pages_replace(struct work *work, const struct pages *pages, uint32_t page_bytes,
				 struct error *error)
{
	struct tracees tracees;
	struct tracee *thread;
	struct remote remote = { .sys = work->sys };
	int64_t result;
	enum status status = work_stop_one(work, &tracees, error), ended;

	if (status != STATUS_OK)
		return status;
	thread = tracees_for_calls(&tracees);
	if (!thread)
		status = error_set(error, STATUS_UNSUPPORTED, "process %d is stopped", work->pid);
	if (status == STATUS_OK)
		status =
			remote_begin(&remote, work->sys, work->pid, thread, work->memory_fd, error);
	if (status == STATUS_OK) {
		for (size_t i = 0; status == STATUS_OK && i < pages->n; i++) {
			const uint64_t arguments[6] = {
				pages->addresses[i], page_bytes,
				PROT_READ,           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
				(uint64_t)-1,        0
			};

			status = remote_call(&remote, SYS_mmap, arguments, &result, error);
		}
		ended = remote_end(&remote, error);
		if (status == STATUS_OK)
			status = ended;
	}
	work_resume(work, &tracees);
	return status;
}

enum status work_pages_drop(struct work *work, struct error *error)
{
	struct agent_shared shared;
	struct pages pages = { 0 };
	enum status status = STATUS_OK;
	char path[64], *maps;

	if (!work->buffers ||
	    sys_pread_full(work->sys, work->memory_fd, &shared, sizeof(shared),
			   (off_t)work->buffers) != (ssize_t)sizeof(shared) ||
	    shared.magic != AGENT_MAGIC || !shared.page_bytes || !shared.blocks_taken)
		return STATUS_OK;
	snprintf(path, sizeof(path), "/proc/%d/maps", work->pid);
	if (sys_read_file(work->sys, -1, path, MAPS_MOST, &maps, NULL, NULL) != STATUS_OK)
		return STATUS_OK; /* it has ended */
	pages_find(work, &shared, maps, &pages);
	free(maps);
	if (pages.n)
		status = pages_replace(work, &pages, shared.page_bytes, error);
	free(pages.addresses);
	return status;
}
