/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/arrivals.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/hash.h"
#include "probe/leftovers.h"
#include "probe/probe_state.h"
#include "target/maps.h"

#define PLACE_TRIES 6u
#define NEVER_NS    (UINT64_C(1) << 62)

static bool word_means_module(const struct selection_word *word, const char *path)
{
	const char *slash = strrchr(path, '/');

	return !fnmatch(word->module, path, 0) || (slash && !fnmatch(word->module, slash + 1, 0));
}

bool arrivals_awaited(const struct selection *selection, const struct image *image)
{
	for (size_t i = 0; i < selection->n; i++) {
		const struct selection_word *word = &selection->words[i];
		bool any = false;

		if (word->exclude || !word->module)
			continue;
		for (size_t k = 0; k < image->n && !any; k++)
			any = word_means_module(word, image->modules[k].path);
		if (!any)
			return true;
	}
	return false;
}

/* Pages of the address space: cheap to ask for, and changed by every library. 0: not known. */
static uint64_t pages_now(const struct probe *probe)
{
	char path[64], *text;
	uint64_t pages;

	snprintf(path, sizeof(path), "/proc/%d/statm", probe->pid);
	if (sys_read_file(probe->sys, -1, path, 4096, &text, NULL, NULL) != STATUS_OK)
		return 0;
	pages = strtoull(text, NULL, 10);
	free(text);
	return pages;
}

/* A write by which the place is known to be mapped anew: its bytes are the file's. Not one that some thread stood in. */
static const struct guardian_write *place_sign(const struct install_place *place)
{
	for (size_t i = 0; i < place->n_writes; i++) {
		if (place->writes[i].state == GUARDIAN_WRITTEN ||
		    place->writes[i].state == GUARDIAN_DIFFERENT)
			return &place->writes[i];
	}
	return NULL;
}

/* A library that was closed and opened again at its old place shows in no mapping, but in bytes that are the file's. */
static bool places_check(struct probe *probe)
{
	struct install *install = &probe->install;
	char path[64];
	bool lost = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", probe->pid);
	fd = probe->sys->openat(probe->sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	for (size_t i = 0; fd >= 0 && i < install->n_places; i++) {
		const struct install_place *place = &install->places[i];
		const struct guardian_write *write = place_sign(place);
		uint8_t live[sizeof(write->bytes)];

		if (!write || place->module->bias != place->bias ||
		    place->module->presence != IMAGE_HERE ||
		    sys_pread_full(probe->sys, fd, live, write->length, (off_t)write->address) !=
			    (ssize_t)write->length ||
		    memcmp(live, write->original, write->length) != 0)
			continue;
		probe->image.modules[place->module - probe->image.modules].presence = IMAGE_GONE;
		lost = true;
	}
	if (fd >= 0)
		probe->sys->close(probe->sys->state, fd);
	return lost;
}

/* A hash of all mappings of code; *ours: the buffers are mapped still, so that it is the program that was probed. */
static uint64_t mappings_hash(const struct probe *probe, bool *ours)
{
	const char *at = probe->image.maps;
	uint64_t hash = 0;
	struct map map;

	*ours = false;
	while (maps_next(&at, &map)) {
		if (map.start == probe->buffers_at && strstr(map.path, LEFTOVERS_MEMFD_NAME))
			*ours = true;
		if (!(map.protection & PROT_EXEC) || !map.inode)
			continue;
		hash = hash_combine(hash, map.start);
		hash = hash_combine(hash, map.inode);
		hash = hash_combine(hash, map.offset);
	}
	return hash;
}

/* Of the module's functions: how many are written, and how many are not. */
static uint32_t module_count(const struct install *install, const struct image_module *module,
			     bool written)
{
	uint32_t n = 0;

	for (size_t i = 0; i < install->n; i++)
		n += install->functions[i].module == module &&
		     install->functions[i].written == written;
	return n;
}

static void module_failed(struct probe *probe, const struct image_module *module,
			  const struct error *error)
{
	for (size_t i = 0; i < probe->install.n; i++) {
		struct install_function *function = &probe->install.functions[i];

		if (function->module == module && !function->written &&
		    (!function->refusal || function->refusal == INSTALL_BUSY))
			function->refusal = INSTALL_FAILED;
	}
	probe_notice(probe, "%s was opened in process %d and could not be probed: %s", module->name,
		     probe->pid, error->text);
}

/* A region for the module, at another place when the first choice turns out to be taken. */
static enum status region_map(struct probe *probe, const struct image_module *module,
			      uint32_t first, struct error *error)
{
	struct guardian_arena *arena = probe->guardian->arena;
	struct install *install = &probe->install;
	enum status status = STATUS_OK;

	for (unsigned int attempt = 0; attempt < PLACE_TRIES; attempt++) {
		install->n_regions = first;
		status = install_place_later(install, module, error);
		if (status != STATUS_OK || install->n_regions == first)
			return status;
		arena->n_regions = install->n_regions - first;
		memcpy(arena->regions, install->regions + first,
		       arena->n_regions * sizeof(*arena->regions));
		status = guardian_extend(probe->guardian, error);
		if (status == STATUS_OK)
			return status;
		install->n_regions = first;
		if (arena->error.os_errno != EEXIST || install->n_blocked >= GUARDIAN_MAX_REGIONS)
			return status;
		install->blocked[install->n_blocked++] = arena->regions[arena->failed_region];
	}
	return status;
}

/* Writes what has been filled into the arena; functions are settled whatever comes of it. */
static enum status part_apply(struct probe *probe, const struct install_part *part,
			      struct error *error)
{
	struct guardian_arena *arena = probe->guardian->arena;
	const enum status status = guardian_apply(probe->guardian, error);

	probe_stops_add(&probe->result->attach, &arena->stops);
	install_settle(&probe->install, part, arena);
	probe_names_write(probe);
	return status;
}

static enum status module_write(struct probe *probe, const struct image_module *module,
				struct error *error)
{
	const struct install_part part = { .module = module,
					   .first_region = probe->install.n_regions };
	enum status status = region_map(probe, module, part.first_region, error);

	if (status != STATUS_OK || probe->install.n_regions == part.first_region)
		return status;
	status = install_fill(&probe->install, &part, probe->guardian->arena,
			      probe->plan.function_bytes, error);
	return status == STATUS_OK ? part_apply(probe, &part, error) : status;
}

/* Where it was before the trampolines are there still. */
static enum status module_write_again(struct probe *probe, const struct image_module *module,
				      struct error *error)
{
	const struct install_part part = { .module = module, .again = true };
	const struct install_place *place = install_place_of(&probe->install, module);
	enum status status;

	if (!place)
		return module_write(probe, module, error);
	status = install_refill(place, probe->guardian->arena, error);
	return status == STATUS_OK ? part_apply(probe, &part, error) : status;
}

static double seconds_since_start(const struct probe *probe)
{
	return (double)(sys_now_ns(probe->sys) - probe->start_ns) / 1e9;
}

/* The loader may still be going to write into their code. */
static void functions_leave(struct install *install, size_t first)
{
	for (size_t i = first; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		function->refusal = function->refusal ? function->refusal : INSTALL_CHANGED;
		function->number = UINT32_MAX;
	}
}

/* Those that are written now for the first time. */
static void since_set(struct probe *probe, const struct image_module *module)
{
	for (size_t i = 0; i < probe->install.n; i++) {
		struct install_function *function = &probe->install.functions[i];

		if (function->module == module && function->late && function->written &&
		    !function->since_ns)
			function->since_ns = sys_now_ns(probe->sys) - probe->start_ns;
	}
}

/* A module that was not there: its functions are planned, numbered and written. */
static enum status module_come(struct probe *probe, const struct image_module *module,
			       struct error *error)
{
	struct install *install = &probe->install;
	const size_t first = install->n;
	const uint32_t most = buffers_slots_most(
		&probe->plan, buffers_blocks_taken(probe->buffers, &probe->plan));
	enum status status =
		install_choose_later(install, probe->options->selection, module, most, error);

	if (status != STATUS_OK || install->n == first)
		return status;
	for (size_t i = first; i < install->n; i++)
		install->functions[i].late = true;
	if (module->relocates_text)
		functions_leave(install, first);
	if (install->n_planned > probe->plan.n_used)
		buffers_slots_use(&probe->plan, probe->buffers, install->n_planned);
	status = module_write(probe, module, error);
	since_set(probe, module);
	if (status == STATUS_OK)
		probe_notice(probe,
			     "%s was opened in process %d: %u of its functions are probed from "
			     "%.3f s after the start on, %u are not",
			     module->name, probe->pid, module_count(install, module, true),
			     seconds_since_start(probe), module_count(install, module, false));
	return status;
}

/* Whatever was tried with it has not come to it. */
static void unwritten_refuse(struct install *install, const struct image_module *module)
{
	for (size_t i = 0; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (function->module == module && !function->written && !function->refusal)
			function->refusal = INSTALL_FAILED;
	}
}

static enum status module_return(struct probe *probe, const struct image_module *module,
				 struct error *error)
{
	struct install *install = &probe->install;
	bool any = false;

	for (size_t i = 0; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (function->module != module || function->number == UINT32_MAX)
			continue;
		any = true;
		if (function->written) {
			function->gaps++;
			continue;
		}
		function->late = true;
		function->refusal = INSTALL_PROBED;
	}
	if (any) {
		const enum status status = module_write_again(probe, module, error);

		since_set(probe, module);
		unwritten_refuse(&probe->install, module);
		return status;
	}
	return STATUS_OK;
}

/* One that has ended meanwhile has nothing to be told of. */
static void status_tell(struct probe *probe, const struct image_module *module, enum status status,
			const struct error *error)
{
	if (status != STATUS_OK && pages_now(probe))
		module_failed(probe, module, error);
}

static void mappings_take(struct probe *probe)
{
	struct image *image = &probe->image;
	const size_t n_before = image->n;
	struct error error;

	probe_ask(probe);
	if (image_update(image, probe->options->selection, &error) != STATUS_OK) {
		probe_notice(probe, "libraries that are opened from now on are not probed: %s",
			     error.text);
		probe->arrivals.off = true;
	}
	for (size_t i = 0; i < image->n; i++) {
		struct image_module *module = &image->modules[i];

		if (i >= n_before && module->code)
			status_tell(probe, module, module_come(probe, module, &error), &error);
		else if (i < n_before && module->presence == IMAGE_BACK && module->code)
			status_tell(probe, module, module_return(probe, module, &error), &error);
		if (module->presence == IMAGE_BACK)
			module->presence = IMAGE_HERE;
	}
}

/* Reads the mappings and says whether they are to be acted upon: changed, and standing still. */
static bool mappings_settled(struct probe *probe, uint64_t now_ns)
{
	struct arrivals *arrivals = &probe->arrivals;
	struct error ignored;
	uint64_t hash, before;
	bool ours, settled;

	arrivals->full_ns = now_ns;
	if (image_read_maps(&probe->image, &ignored) != STATUS_OK)
		return false;
	hash = mappings_hash(probe, &ours);
	arrivals->cost_ns = sys_now_ns(probe->sys) - now_ns;
	if (!ours) {
		arrivals->off = true;
		return false;
	}
	before = arrivals->seen;
	arrivals->seen = hash;
	if (hash == arrivals->taken && !arrivals->lost) {
		arrivals->changed_ns = 0;
		return false;
	}
	if (!arrivals->changed_ns)
		arrivals->changed_ns = now_ns;
	settled = hash == before || now_ns - arrivals->changed_ns >= ARRIVALS_WAIT_NS;
	if (settled) {
		arrivals->taken = hash;
		arrivals->changed_ns = 0;
		arrivals->lost = false;
	}
	return settled;
}

uint64_t arrivals_look(struct probe *probe, uint64_t now_ns)
{
	struct arrivals *arrivals = &probe->arrivals;
	uint64_t pages, gap = ARRIVALS_LOOK_NS;

	if (!probe->buffers || probe->ended || arrivals->off)
		return NEVER_NS;
	arrivals->lost |= places_check(probe);
	pages = pages_now(probe);
	if (!arrivals->lost && !arrivals->changed_ns && pages == arrivals->pages &&
	    now_ns - arrivals->full_ns < ARRIVALS_FULL_NS)
		return now_ns + gap;
	arrivals->pages = pages;
	if (mappings_settled(probe, now_ns))
		mappings_take(probe);
	if (arrivals->changed_ns)
		gap = ARRIVALS_SETTLE_NS;
	else if (gap < arrivals->cost_ns * ARRIVALS_COST)
		gap = arrivals->cost_ns * ARRIVALS_COST;
	return sys_now_ns(probe->sys) + gap;
}

void arrivals_end(struct probe *probe)
{
	struct image *image = &probe->image;
	const size_t n_before = image->n;
	struct error ignored;
	bool ours;

	if (!probe->buffers || probe->arrivals.off ||
	    image_read_maps(image, &ignored) != STATUS_OK ||
	    mappings_hash(probe, &ours) == probe->arrivals.taken || !ours ||
	    image_update(image, probe->options->selection, &ignored) != STATUS_OK)
		return;
	for (size_t i = n_before; i < image->n; i++) {
		if (image->modules[i].code)
			probe_notice(probe,
				     "%s was opened in process %d right before the end: its "
				     "functions are not probed",
				     image->modules[i].name, probe->pid);
	}
}
