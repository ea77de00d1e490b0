/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/places.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "base/array.h"
#include "base/hash.h"

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the addresses of the samples");
}

/* What the manifest knows of a file, and the build-ids of a perf.data header, by path. With several
 * files of one path (replaced while recording) the inode decides. */
static uint64_t object_key(const char *path, uint64_t inode)
{
	return hash_combine(hash_bytes(path, strlen(path)), inode);
}

static bool index_objects(struct places *places)
{
	const struct manifest *manifest = &places->bundle->manifest;
	const struct perfdata_header *header = perfdata_reader_header(places->bundle->reader);

	for (size_t i = 0; places->bundle->has_manifest && i < manifest->n_objects; i++)
		if (!keytable_set(&places->object_index,
				  object_key(manifest->objects[i].path, manifest->objects[i].inode),
				  (uint32_t)i))
			return false;
	for (size_t i = 0; i < header->n_build_ids; i++)
		if (!keytable_set(&places->build_id_index, object_key(header->build_ids[i].path, 0),
				  (uint32_t)i))
			return false;
	return true;
}

enum status places_init(struct places *places, const struct bundle *bundle,
			const struct timeline *timeline, struct symbolizer *symbolizer,
			const struct origin *origin, struct error *error)
{
	memset(places, 0, sizeof(*places));
	places->bundle = bundle;
	places->timeline = timeline;
	places->symbolizer = symbolizer;
	places->origin = *origin;
	places->modules = calloc(timeline->n_files + 1, sizeof(struct module *));
	if (!places->modules || !index_objects(places)) {
		places_release(places);
		return no_memory(error);
	}
	if (bundle->has_manifest) {
		char *absolute = realpath(bundle->path, NULL);

		if (absolute && asprintf(&places->objects, "%s/objects", absolute) < 0)
			places->objects = NULL;
		free(absolute);
	}
	return STATUS_OK;
}

void places_release(struct places *places)
{
	free(places->objects);
	free(places->items);
	free(places->modules);
	keytable_release(&places->index);
	keytable_release(&places->object_index);
	keytable_release(&places->build_id_index);
	memset(places, 0, sizeof(*places));
}

static bool starts_with(const char *text, const char *start)
{
	return !strncmp(text, start, strlen(start));
}

/* Memory that no file backs, in the names that the kernel gives it (include/linux/mm.h,
 * kernel/events/core.c: perf_event_mmap_event) and perf's own for it. */
static bool path_is_anonymous(const char *path)
{
	return !*path || starts_with(path, "//anon") || starts_with(path, "/dev/zero") ||
	       starts_with(path, "/anon_hugepage") || starts_with(path, "[heap]") ||
	       starts_with(path, "[stack") || starts_with(path, "[anon") ||
	       starts_with(path, "/SYSV") || starts_with(path, "anon_inode:") ||
	       starts_with(path, "/memfd:");
}

static size_t hex_bytes(const char *hex, uint8_t *bytes, size_t capacity)
{
	size_t n = 0;
	unsigned int byte;

	for (; n < capacity && hex[0] && hex[1] && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = (uint8_t)byte;
	return *hex ? 0 : n;
}

/* Adds what the manifest and the header know to what the mapping's record said. */
static void identity_complete(const struct places *places, const struct timeline_file *file,
			      struct module_identity *identity, uint8_t *build_id, char **copy)
{
	const uint32_t at =
		keytable_get(&places->object_index, object_key(identity->path, file->inode));
	const uint32_t known = keytable_get(&places->build_id_index, object_key(identity->path, 0));
	const struct perfdata_header *header = perfdata_reader_header(places->bundle->reader);

	if (at != KEYTABLE_NONE) {
		const struct manifest_object *object = &places->bundle->manifest.objects[at];

		identity->device = object->device;
		identity->inode = object->inode;
		identity->mtime_ns = object->mtime_ns;
		identity->size = object->size;
		if (!identity->build_id && object->build_id) {
			identity->build_id_size =
				hex_bytes(object->build_id, build_id, PERFDATA_BUILD_ID_MAX);
			identity->build_id = identity->build_id_size ? build_id : NULL;
		}
		if (object->copy && places->objects && !strchr(object->copy, '/') &&
		    asprintf(copy, "%s/%s", places->objects, object->copy) >= 0)
			identity->copy = *copy;
	} else if (!identity->build_id && known != KEYTABLE_NONE) {
		/* perf reads build-ids when it stops recording, from the path: true for the file that
		 * was mapped unless it was replaced, which the inode then shows. */
		identity->build_id = header->build_ids[known].id;
		identity->build_id_size = header->build_ids[known].size;
	}
}

static struct module *file_module(struct places *places, uint32_t index)
{
	const struct timeline_file *file = &places->timeline->files[index];
	struct module_identity identity = {
		.path = strings_get(&places->timeline->strings, file->path),
		.build_id = file->build_id_size ? file->build_id : NULL,
		.build_id_size = file->build_id_size,
		.device = makedev(file->major, file->minor),
		.inode = file->inode,
		.foreign = places->origin.foreign,
	};
	uint8_t build_id[PERFDATA_BUILD_ID_MAX];
	char *copy = NULL;

	if (!places->modules[index]) {
		identity_complete(places, file, &identity, build_id, &copy);
		places->modules[index] = symbolizer_module(places->symbolizer, &identity);
		free(copy);
	}
	return places->modules[index];
}

struct module *places_user_module(struct places *places, uint32_t generation,
				  struct runtime_address address, struct file_offset *offset,
				  bool *mapped)
{
	const struct timeline_mapping *mapping =
		timeline_mapping_at(places->timeline, generation, address.value);
	uint32_t pid = timeline_generation_pid(places->timeline, generation);
	const char *path = "";

	offset->value = address.value;
	if (mapped)
		*mapped = mapping != NULL;
	if (mapping) {
		path = strings_get(&places->timeline->strings,
				   places->timeline->files[mapping->file].path);
		pid = mapping->pid;
	}
	if (path_is_anonymous(path))
		return pid == UINT32_MAX ? NULL : symbolizer_perf_map(places->symbolizer, pid);
	offset->value = address.value - mapping->start + mapping->page_offset;
	if (!strcmp(path, "[vdso]"))
		return symbolizer_vdso(places->symbolizer, places->origin.kernel_foreign);
	if (path[0] == '[')
		return NULL;
	return file_module(places, mapping->file);
}

static struct module *kernel_module(struct places *places)
{
	const struct timeline *timeline = places->timeline;
	const struct perfdata_header *header = perfdata_reader_header(places->bundle->reader);
	const uint8_t *build_id = timeline->kernel_build_id;
	size_t size = timeline->kernel_build_id_size;

	if (places->kernel)
		return places->kernel;
	for (size_t i = 0; !size && i < header->n_build_ids; i++)
		if (!strncmp(header->build_ids[i].path, "[kernel.kallsyms]", 17)) {
			build_id = header->build_ids[i].id;
			size = header->build_ids[i].size;
		}
	places->kernel = symbolizer_kernel(places->symbolizer, size ? build_id : NULL, size,
					   places->origin.kernel_foreign);
	if (places->kernel && timeline->kernel_start)
		symbolizer_kernel_anchor(places->kernel, timeline->kernel_symbol,
					 timeline->kernel_start);
	return places->kernel;
}

/* On 64-bit machines the kernel lives in the upper half; a precise event may report a user address for
 * a sample that was taken in the kernel, and that is nobody's. */
static bool kernel_holds(const struct places *places, uint64_t address)
{
	const uint16_t machine = places->origin.machine;

	return (machine != EM_X86_64 && machine != EM_AARCH64) || address >> 63;
}

static void place_resolve(struct places *places, struct place *place)
{
	/* A return address may be the first byte after its mapping; the call before it is not. */
	const struct runtime_address inside = { place->address.value - place->return_address };

	place->module = NULL;
	place->offset.value = place->address.value;
	if (place->mode == PLACE_KERNEL) {
		if (kernel_holds(places, place->address.value))
			place->module = kernel_module(places);
	} else if (place->mode == PLACE_USER) {
		place->module = places_user_module(places, place->generation, inside,
						   &place->offset, &place->mapped);
		place->offset.value += place->return_address;
	}
}

enum status places_at(struct places *places, uint32_t generation, enum place_mode mode,
		      struct runtime_address address, bool return_address, uint32_t *index,
		      struct error *error)
{
	struct place place = { .address = address,
			       .generation = mode == PLACE_USER ? generation : 0,
			       .mode = mode,
			       .return_address = return_address };
	uint64_t key = hash_combine(hash_combine(address.value, place.generation),
				    (uint64_t)mode * 2 + return_address);

	/* Keys that collide are told apart by counting up. */
	for (; (*index = keytable_get(&places->index, key)) != KEYTABLE_NONE; key++) {
		const struct place *known = &places->items[*index];

		if (known->address.value == address.value &&
		    known->generation == place.generation && known->mode == mode &&
		    known->return_address == return_address)
			return STATUS_OK;
	}
	if (!array_reserve(&places->items, &places->capacity, places->n + 1) ||
	    !keytable_set(&places->index, key, (uint32_t)places->n))
		return no_memory(error);
	place_resolve(places, &place);
	*index = (uint32_t)places->n;
	places->items[places->n++] = place;
	return STATUS_OK;
}
