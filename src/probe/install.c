/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/install.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bytes.h"
#include "base/array.h"
#include "probe/journal.h"
#include "probe/leftovers.h"
#include "probe/machine.h"
#include "probe/placement.h"

#define REGION_MIN_BYTES UINT64_C(0x10000)
#define HOOK_BYTES       300u

static const struct {
	const char *name, *text;
} reasons[INSTALL_N_REFUSALS] = {
	[INSTALL_PROBED] = { "", "" },
	[INSTALL_CODE] = { "", "" },
	[INSTALL_IFUNC] = { "ifunc", "an indirect function: nothing in the module says what its "
				     "resolver picked" },
	[INSTALL_CHANGED] = { "changed", "the code in memory is not the file's" },
	[INSTALL_NO_ROOM] = { "no-room", "no free page within reach of a jump" },
	[INSTALL_UNREACHABLE] = { "unreachable",
				  "it refers to something too far away from any free page" },
	[INSTALL_BUSY] = { "busy", "a thread stood in it whenever it was to be written" },
	[INSTALL_NO_SLOT] = { "no-slot", "its library came when the buffers had no room left for "
					 "more functions (--buffer)" },
	[INSTALL_FAILED] = { "failed", "its library came later, and the process could not be "
				       "changed then" },
};

const char *install_reason_name(const struct install_function *function)
{
	return function->refusal == INSTALL_CODE ? code_refusal_name(function->code_refusal)
						 : reasons[function->refusal].name;
}

const char *install_reason_text(const struct install_function *function)
{
	return function->refusal == INSTALL_CODE ? code_refusal_text(function->code_refusal)
						 : reasons[function->refusal].text;
}

/* More than a trampoline takes: hooks of up to 400 bytes, and the moved run twice over; and its part of the journal. */
static uint64_t code_bytes(const struct code_plan *plan)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < plan->n_patches; i++) {
		const struct code_patch *patch = &plan->patches[i];

		bytes += 64 + (uint64_t)patch->n_sites * 400 +
			 4 * (patch->moved.end - patch->moved.start) +
			 CODE_PATCH_MAX_WRITES * sizeof(struct journal_entry);
	}
	return bytes;
}

/* Points and ends of regions take a call each, or what counting takes. */
static uint64_t hook_bytes(const struct install *install, size_t function)
{
	struct stub_hook hooks[INSTALL_MAX_HOOKS];

	return HOOK_BYTES * install_hooks(install, function, hooks, INSTALL_MAX_HOOKS);
}

static uint64_t module_bytes(const struct install *install, const struct image_module *module)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < install->n; i++) {
		if (install->functions[i].module == module && !install->functions[i].refusal)
			bytes += code_bytes(&install->functions[i].plan) + hook_bytes(install, i);
	}
	return bytes;
}

static void module_assign(struct install *install, const struct image_module *module,
			  uint32_t region)
{
	for (size_t i = 0; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (function->module != module || function->refusal)
			continue;
		function->region = region;
		if (region == UINT32_MAX)
			function->refusal = INSTALL_NO_ROOM;
	}
}

/* Sizes are powers of two, so that a region that is outgrown is outgrown by a factor, and all that a process
 * collects is no more than twice the largest. */
static uint64_t region_bytes(uint64_t wanted)
{
	uint64_t size = REGION_MIN_BYTES;

	while (size < wanted)
		size *= 2;
	return size;
}

/* The smallest region that an earlier assay left and that does. */
static bool leftover_choose(const struct install *install, const struct leftovers *leftovers,
			    const struct image_module *module, uint64_t size,
			    struct guardian_region *chosen)
{
	const uint64_t reach = code_reach_bytes(code_module_machine(module->code));

	chosen->size = 0;
	for (uint32_t i = 0; i < leftovers->n_regions; i++) {
		const struct guardian_region *region = &leftovers->regions[i];
		bool used = leftovers->patched[i];

		for (uint32_t k = 0; k < install->n_regions; k++)
			used |= install->regions[k].address == region->address;
		if (!used && region->size >= size &&
		    (!chosen->size || region->size < chosen->size) &&
		    placement_reaches(region->address, region->size, module->low, module->high,
				      reach))
			*chosen = (struct guardian_region){ region->address, region->size, true };
	}
	return chosen->size;
}

static uint64_t room_find(const struct install *install, const struct image_module *module,
			  uint64_t size)
{
	const uint64_t reach = code_reach_bytes(code_module_machine(module->code));
	struct placement_range taken[2 * GUARDIAN_MAX_REGIONS];
	uint32_t n_taken = 0;

	for (uint32_t i = 0; i < install->n_regions; i++)
		taken[n_taken++] = (struct placement_range){ install->regions[i].address,
							     install->regions[i].size };
	for (uint32_t i = 0; i < install->n_blocked; i++)
		taken[n_taken++] = (struct placement_range){ install->blocked[i].address,
							     install->blocked[i].size };
	return placement_find(install->image->maps, taken, n_taken, module->low, module->high, size,
			      reach);
}

/* One region per module that needs one, since modules may lie anywhere. */
static void module_place(struct install *install, const struct leftovers *leftovers,
			 const struct image_module *module)
{
	const uint64_t code = module_bytes(install, module);
	const uint64_t need =
		(AGENT_CODE_OFFSET + agent_code_bytes + code + 0xffff) & ~UINT64_C(0xffff);
	struct guardian_region region = { .size = region_bytes(need) };

	if (!code)
		return;
	if (install->n_regions < GUARDIAN_MAX_REGIONS &&
	    !leftover_choose(install, leftovers, module, need, &region)) {
		region.size = region_bytes(need);
		region.address = room_find(install, module, region.size);
		if (!region.address) {
			region.size = need;
			region.address = room_find(install, module, need);
		}
	}
	if (!region.address) {
		module_assign(install, module, UINT32_MAX);
		return;
	}
	module_assign(install, module, install->n_regions);
	install->regions[install->n_regions++] = region;
}

/* What an earlier assay left, unless one is at work with it now. */
static enum status leftovers_read(const struct install *install, struct leftovers *leftovers,
				  struct error *error)
{
	const pid_t pid = install->image->pid;
	char path[64];
	int memory_fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory_fd =
		install->sys->openat(install->sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	*leftovers = (struct leftovers){ 0 };
	if (memory_fd < 0)
		return STATUS_OK;
	leftovers_find(leftovers, install->sys, memory_fd, install->image->maps);
	for (uint32_t i = 0; i < install->n_busy; i++)
		leftovers_leave(leftovers, install->busy[i]);
	install->sys->close(install->sys->state, memory_fd);
	if (leftovers->owner && leftovers->owner != install->owner)
		return error_set(error, STATUS_UNSUPPORTED,
				 "process %d is probed already, by thread %u (another assay): let "
				 "that end first",
				 pid, leftovers->owner);
	return STATUS_OK;
}

enum status install_place(struct install *install, struct error *error)
{
	enum status status = image_read_maps(install->image, error);
	struct leftovers leftovers;

	install->n_regions = 0;
	if (status == STATUS_OK)
		status = leftovers_read(install, &leftovers, error);
	for (size_t i = 0; status == STATUS_OK && i < install->image->n; i++) {
		if (install->image->modules[i].code)
			module_place(install, &leftovers, &install->image->modules[i]);
	}
	return status;
}

enum status install_place_later(struct install *install, const struct image_module *module,
				struct error *error)
{
	enum status status = image_read_maps(install->image, error);
	struct leftovers leftovers;

	if (status == STATUS_OK)
		status = leftovers_read(install, &leftovers, error);
	for (size_t i = 0; status == STATUS_OK && i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (function->module == module && function->number != UINT32_MAX)
			function->refusal = INSTALL_PROBED;
	}
	if (status == STATUS_OK)
		module_place(install, &leftovers, module);
	return status;
}

/* What is filled: the code of one region, and the writes of all. */
struct filler {
	struct install *install;
	const struct install_part *part;
	struct guardian_write *writes;
	size_t n_writes, capacity;
	uint8_t *code[GUARDIAN_MAX_REGIONS];
	uint64_t used[GUARDIAN_MAX_REGIONS];
	uint64_t journaled[GUARDIAN_MAX_REGIONS]; /* writes in the journal at its end */
	uint32_t function_bytes;
};

/* What a region has for code and journal. */
static uint64_t code_room(const struct filler *filler, uint32_t region)
{
	return filler->install->regions[region].size - AGENT_CODE_OFFSET;
}

static bool writes_journal(struct filler *filler, uint32_t region, size_t first)
{
	const uint64_t room = code_room(filler, region);

	return journal_append(filler->code[region] + room, room - filler->used[region],
			      &filler->journaled[region], filler->writes + first,
			      filler->n_writes - first);
}

/* Where the entry's trampoline holds the first moved instruction, behind the hook. */
static uint64_t behind_hook(const struct code_origin *origins, size_t n, uint64_t trampoline,
			    uint64_t address)
{
	for (size_t i = 0; i < n; i++) {
		if (!origins[i].hook && origins[i].address == address)
			return trampoline + origins[i].offset;
	}
	return 0;
}

static bool write_add(struct filler *filler, const struct install_function *function,
		      const struct code_patch *patch, uint64_t trampoline)
{
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	const size_t n = code_patch_writes(&function->plan, patch, trampoline, writes);
	const uint64_t bias = function->module->bias;

	if (!n || !array_reserve(&filler->writes, &filler->capacity, filler->n_writes + n))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct guardian_write *write = &filler->writes[filler->n_writes++];
		const bool island = writes[i].address != patch->start;

		*write = (struct guardian_write){ .address = writes[i].address + bias,
						  .busy_start = patch->busy.start + bias,
						  .busy_end = patch->busy.end + bias,
						  .function = function->number,
						  .length = writes[i].length,
						  .island = island };
		if (island) {
			write->busy_start = write->address - 1;
			write->busy_end = write->address + write->length;
		}
		memcpy(write->original, writes[i].original, sizeof(write->original));
		memcpy(write->bytes, writes[i].bytes, sizeof(write->bytes));
	}
	return true;
}

/* Emits one patch and its writes; `resume` as code_patch_emit has it, found when it is the entry's. */
static bool patch_emit(struct filler *filler, struct install_function *function,
		       const struct code_patch *patch, struct stub *stub, uint64_t *resume)
{
	struct install *install = filler->install;
	const uint32_t r = function->region;
	const uint64_t used = (filler->used[r] + 15) & ~UINT64_C(15);
	struct code_buffer buffer = {
		.bytes = filler->code[r] + used,
		.capacity = code_room(filler, r) - used - journal_bytes(filler->journaled[r]),
		.address = install->regions[r].address + AGENT_CODE_OFFSET + used -
			   function->module->bias,
	};
	const struct code_hook hook = { stub, stub_append };
	struct code_origin origins[CODE_PLAN_MAX_BODY * 2];
	size_t n_origins = 0;

	if (patch->loop && patch->form == CODE_PATCH_RETARGET)
		return *resume && write_add(filler, function, patch, *resume);
	if (code_patch_emit(&function->plan, patch, *resume, &hook, &buffer, origins,
			    sizeof(origins) / sizeof(*origins), &n_origins) != CODE_EMITTED ||
	    !write_add(filler, function, patch, buffer.address))
		return false;
	if (!*resume)
		*resume = behind_hook(origins, n_origins, buffer.address, patch->moved.start);
	filler->used[r] = used + buffer.size;
	return true;
}

/* All of a function or nothing: what was made of it is dropped when one part fails. */
static void function_fill(struct filler *filler, struct install_function *function)
{
	const struct install *install = filler->install;
	const struct code_plan *plan = &function->plan;
	const size_t writes_before = filler->n_writes;
	const uint64_t used_before = filler->used[function->region];
	struct stub_hook hooks[INSTALL_MAX_HOOKS];
	struct stub stub = { .mode = install->mode,
			     .capped = install->capped,
			     .sampled = install->sampled,
			     .atomics = machine_has_atomics(),
			     .full = install->full,
			     .state_end = install->state_end,
			     .hooks = hooks,
			     .hooks_only = function->point != INSTALL_FUNCTION,
			     .function = function->number,
			     .function_bytes = filler->function_bytes,
			     .region = install->regions[function->region].address -
				       function->module->bias };
	uint64_t resume = 0;
	bool good;

	stub.n_hooks = (uint32_t)install_hooks(install, (size_t)(function - install->functions),
					       hooks, INSTALL_MAX_HOOKS);
	if (stub.hooks_only && !stub.n_hooks) {
		function->number = UINT32_MAX; /* of a region that another place is refused of */
		return;
	}
	memcpy(&stub.entries, agent_code_start, sizeof(stub.entries));
	good = plan->entry_patch >= plan->n_patches ||
	       patch_emit(filler, function, &plan->patches[plan->entry_patch], &stub, &resume);
	for (uint32_t i = 0; good && i < plan->n_patches; i++) {
		if (i != plan->entry_patch)
			good = patch_emit(filler, function, &plan->patches[i], &stub, &resume);
	}
	if (good && writes_journal(filler, function->region, writes_before)) {
		function->code_start = install->regions[function->region].address +
				       AGENT_CODE_OFFSET + used_before;
		function->code_bytes = filler->used[function->region] - used_before;
		return;
	}
	function->refusal = INSTALL_UNREACHABLE;
	filler->n_writes = writes_before;
	filler->used[function->region] = used_before;
}

static enum status regions_start(struct filler *filler, struct error *error)
{
	const size_t agent = agent_code_bytes;

	for (uint32_t i = filler->part->first_region; i < filler->install->n_regions; i++) {
		filler->code[i] = malloc(filler->install->regions[i].size);
		if (!filler->code[i])
			return error_set(error, STATUS_NO_MEMORY, "out of memory");
		memcpy(filler->code[i], agent_code_start, agent);
		filler->used[i] = agent;
		if (!writes_journal(filler, i, filler->n_writes))
			return error_set(error, STATUS_LIMIT, "a region is too small");
	}
	return STATUS_OK;
}

/* The code from the region's start, and the journal at its end. */
static void region_chunks(const struct filler *filler, uint32_t region,
			  struct guardian_chunk *chunks, uint8_t *bytes, uint64_t *at)
{
	const uint64_t start = filler->install->regions[region].address + AGENT_CODE_OFFSET;
	const uint64_t used = filler->used[region];
	const uint64_t journal = journal_bytes(filler->journaled[region]);
	const uint64_t journal_at = code_room(filler, region) - journal;

	chunks[0] = (struct guardian_chunk){ start, used, *at };
	memcpy(bytes + *at, filler->code[region], used);
	*at += used;
	chunks[1] = (struct guardian_chunk){ start + journal_at, journal, *at };
	memcpy(bytes + *at, filler->code[region] + journal_at, journal);
	*at += journal;
}

static enum status arena_fill(const struct filler *filler, struct guardian_arena *arena,
			      struct error *error)
{
	const struct install *install = filler->install;
	const uint32_t first = filler->part->first_region;
	uint64_t capacity, at = 0;
	struct guardian_chunk *chunks;
	uint8_t *bytes;

	if (filler->n_writes > GUARDIAN_ARENA_BYTES / 4 / sizeof(struct guardian_write))
		return error_set(error, STATUS_LIMIT, "too many probes at once");
	arena->n_writes = filler->n_writes;
	arena->n_chunks = 2 * (install->n_regions - first);
	if (filler->n_writes)
		memcpy(guardian_writes(arena), filler->writes,
		       filler->n_writes * sizeof(*filler->writes));
	chunks = guardian_chunks(arena);
	bytes = guardian_bytes(arena, &capacity);
	for (uint32_t i = first; i < install->n_regions; i++) {
		if (filler->used[i] + journal_bytes(filler->journaled[i]) > capacity - at)
			return error_set(error, STATUS_LIMIT, "too many probes at once");
		region_chunks(filler, i, &chunks[2 * (i - first)], bytes, &at);
	}
	return STATUS_OK;
}

enum status install_fill(struct install *install, const struct install_part *part,
			 struct guardian_arena *arena, uint32_t function_bytes, struct error *error)
{
	struct filler filler = { .install = install,
				 .part = part,
				 .function_bytes = function_bytes };
	enum status status = regions_start(&filler, error);

	for (size_t i = 0; status == STATUS_OK && i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (!function->refusal && (!part->module || function->module == part->module))
			function_fill(&filler, function);
	}
	if (status == STATUS_OK)
		status = arena_fill(&filler, arena, error);
	for (uint32_t i = part->first_region; i < install->n_regions; i++)
		free(filler.code[i]);
	free(filler.writes);
	return status;
}

static void function_release(struct install_function *function)
{
	code_plan_release(&function->plan);
}

void install_release(struct install *install)
{
	for (size_t i = 0; i < install->n; i++)
		function_release(&install->functions[i]);
	for (size_t i = 0; i < install->n_places; i++)
		free(install->places[i].writes);
	free(install->places);
	install_points_release(install);
	free(install->functions);
	install->places = NULL;
	install->n_places = install->places_capacity = 0;
	install->functions = NULL;
	install->n = install->capacity = 0;
}
