/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/leftovers.h"

#include <string.h>

#include "agent/layout.h"
#include "target/maps.h"

#define OWNER_DIED       UINT32_C(0x40000000) /* FUTEX_OWNER_DIED of <linux/futex.h> */
#define MAX_REGION_BYTES (UINT64_C(1) << 31)

static const char mapped_name[] = "/memfd:" LEFTOVERS_MEMFD_NAME;

static bool shared_read(const struct sys *sys, int memory_fd, uint64_t address,
			struct agent_shared *shared)
{
	return sys_pread_full(sys, memory_fd, shared, sizeof(*shared), (off_t)address) ==
		       (ssize_t)sizeof(*shared) &&
	       shared->magic == AGENT_MAGIC && shared->version == AGENT_VERSION;
}

/* The control page lies in front of the shared one. A forked child reads zeros there. */
static void region_add(struct leftovers *leftovers, const struct sys *sys, int memory_fd,
		       uint64_t shared_at, uint64_t inode)
{
	const uint64_t start = shared_at - AGENT_SHARED_OFFSET;
	struct agent_control control;

	if (leftovers->n_regions >= GUARDIAN_MAX_REGIONS ||
	    sys_pread_full(sys, memory_fd, &control, sizeof(control),
			   (off_t)(start + AGENT_CONTROL_OFFSET)) != (ssize_t)sizeof(control) ||
	    control.magic != AGENT_MAGIC || control.version != AGENT_VERSION ||
	    control.region_bytes <= AGENT_CODE_OFFSET || control.region_bytes > MAX_REGION_BYTES ||
	    control.region_bytes % AGENT_PAGE)
		return;
	leftovers->patched[leftovers->n_regions] = control.patched != 0;
	if (control.patched)
		leftovers->guardian = (pid_t)control.guardian;
	leftovers->of[leftovers->n_regions] = inode;
	leftovers->regions[leftovers->n_regions++] =
		(struct guardian_region){ .address = start, .size = control.region_bytes };
}

void leftovers_find(struct leftovers *leftovers, const struct sys *sys, int memory_fd,
		    const char *maps)
{
	struct agent_shared shared;
	struct map map;

	*leftovers = (struct leftovers){ 0 };
	while (maps_next(&maps, &map)) {
		if (strncmp(map.path, mapped_name, sizeof(mapped_name) - 1) != 0 || map.offset ||
		    !shared_read(sys, memory_fd, map.start, &shared))
			continue;
		if (shared.owner && !(shared.owner & OWNER_DIED))
			leftovers->owner = shared.owner;
		if (map.end - map.start == AGENT_PAGE) {
			region_add(leftovers, sys, memory_fd, map.start, map.inode);
		} else if (leftovers->n_buffers < GUARDIAN_MAX_REGIONS) {
			leftovers->buffers_inode[leftovers->n_buffers] = map.inode;
			leftovers->buffers[leftovers->n_buffers++] =
				(struct guardian_region){ .address = map.start,
							  .size = map.end - map.start };
		}
	}
}

void leftovers_leave(struct leftovers *leftovers, uint64_t address)
{
	uint32_t n = 0;
	uint64_t inode = 0;

	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		if (leftovers->regions[i].address == address)
			inode = leftovers->of[i];
	}
	if (!inode)
		return;
	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		if (leftovers->of[i] == inode)
			continue;
		leftovers->regions[n] = leftovers->regions[i];
		leftovers->patched[n] = leftovers->patched[i];
		leftovers->of[n++] = leftovers->of[i];
	}
	leftovers->n_regions = n;
	n = 0;
	for (uint32_t i = 0; i < leftovers->n_buffers; i++) {
		if (leftovers->buffers_inode[i] == inode)
			continue;
		leftovers->buffers[n] = leftovers->buffers[i];
		leftovers->buffers_inode[n++] = leftovers->buffers_inode[i];
	}
	leftovers->n_buffers = n;
}
