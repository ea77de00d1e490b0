/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbolizer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "symbolize/demangle.h"
#include "symbolize/symbolizer_state.h"

static bool text_copy(const char **text)
{
	if (*text)
		*text = strdup(*text);
	return *text != NULL;
}

/* The options' strings become ours; false when one of them could not be copied. */
static bool options_copy(struct symbolizer_options *options)
{
	const char **texts[] = { &options->symfs,   &options->kallsyms_path, &options->vmlinux,
				 &options->map_dir, &options->debug_dir,     &options->perf_cache };
	bool good = true;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (*texts[i] && !text_copy(texts[i]))
			good = false;
	return good;
}

enum status symbolizer_new(struct symbolizer **symbolizer, const struct sys *sys,
			   const struct symbolizer_options *options, struct error *error)
{
	struct symbolizer *self = calloc(1, sizeof(*self));

	*symbolizer = NULL;
	if (!self)
		return error_set(error, STATUS_NO_MEMORY, "no memory for a symbolizer");
	self->sys = sys;
	self->options = *options;
	self->debug_limit = SYMBOLIZER_DEBUG_BYTES;
	strings_init(&self->strings);
	if (!options_copy(&self->options)) {
		symbolizer_free(self);
		return error_set(error, STATUS_NO_MEMORY, "no memory for a symbolizer");
	}
	self->search = (struct debug_search){
		.sys = sys,
		.symfs = self->options.symfs,
		.debug_dir = self->options.debug_dir ? self->options.debug_dir : "/usr/lib/debug",
		.perf_cache = self->options.perf_cache,
		.debuginfod = self->options.debuginfod,
	};
	*symbolizer = self;
	return STATUS_OK;
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	if (!symbolizer)
		return;
	for (size_t i = 0; i < symbolizer->n_modules; i++)
		module_free(symbolizer->modules[i]);
	free(symbolizer->modules);
	free(symbolizer->slots);
	free(symbolizer->readable);
	debug_search_release(&symbolizer->search);
	strings_release(&symbolizer->strings);
	free((char *)symbolizer->options.symfs);
	free((char *)symbolizer->options.kallsyms_path);
	free((char *)symbolizer->options.vmlinux);
	free((char *)symbolizer->options.map_dir);
	free((char *)symbolizer->options.debug_dir);
	free((char *)symbolizer->options.perf_cache);
	free(symbolizer);
}

const char *symbolizer_string(struct symbolizer *symbolizer, const char *text)
{
	return strings_get(&symbolizer->strings, strings_add(&symbolizer->strings, text));
}

/* The same symbol comes up again and again, inlined in many places. */
const char *symbolizer_name(struct symbolizer *symbolizer, const char *symbol)
{
	struct strings *strings = &symbolizer->strings;
	const uint32_t raw = strings_add(strings, symbol);
	const size_t known = symbolizer->n_readable;
	uint32_t index;
	char *readable;

	if (raw < known && symbolizer->readable[raw] != STRINGS_NONE)
		return strings_get(strings, symbolizer->readable[raw]);
	readable = symbolizer->options.demangle ? demangle(symbol) : NULL;
	if (readable)
		index = strings_add(strings, readable);
	else
		index = strings_add_n(strings, symbol, demangle_unversioned_length(symbol));
	free(readable);
	if (raw != STRINGS_NONE &&
	    array_reserve(&symbolizer->readable, &symbolizer->readable_capacity, (size_t)raw + 1)) {
		for (size_t i = known; i <= raw; i++)
			symbolizer->readable[i] = STRINGS_NONE;
		if (raw >= known)
			symbolizer->n_readable = (size_t)raw + 1;
		symbolizer->readable[raw] = index;
	}
	return strings_get(strings, index);
}

static uint64_t identity_hash(enum module_kind kind, uint32_t pid,
			      const struct module_identity *identity)
{
	uint64_t hash = hash_u64((uint64_t)kind << 32 | pid);

	hash = hash_combine(hash, hash_bytes(identity->path, strlen(identity->path)));
	if (identity->copy)
		hash = hash_combine(hash, hash_bytes(identity->copy, strlen(identity->copy)));
	hash = hash_combine(hash, hash_bytes(identity->build_id, identity->build_id_size));
	hash = hash_combine(hash, identity->device);
	hash = hash_combine(hash, identity->inode);
	hash = hash_combine(hash, identity->mtime_ns);
	hash = hash_combine(hash, identity->size);
	return hash_combine(hash, identity->foreign);
}

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool identity_equal(const struct module_identity *a, const struct module_identity *b)
{
	return texts_equal(a->path, b->path) && texts_equal(a->copy, b->copy) &&
	       a->build_id_size == b->build_id_size &&
	       (!a->build_id_size || !memcmp(a->build_id, b->build_id, a->build_id_size)) &&
	       a->device == b->device && a->inode == b->inode && a->mtime_ns == b->mtime_ns &&
	       a->size == b->size && a->foreign == b->foreign;
}

static size_t slot_find(const struct symbolizer *symbolizer, enum module_kind kind, uint32_t pid,
			const struct module_identity *identity)
{
	const size_t mask = symbolizer->n_slots - 1;
	size_t slot = identity_hash(kind, pid, identity) & mask;

	for (; symbolizer->slots[slot]; slot = (slot + 1) & mask) {
		const struct module *module = symbolizer->modules[symbolizer->slots[slot] - 1];

		if (module->kind == kind && module->pid == pid &&
		    identity_equal(&module->identity, identity))
			break;
	}
	return slot;
}

static bool slots_grow(struct symbolizer *symbolizer)
{
	const size_t n = symbolizer->n_slots ? 2 * symbolizer->n_slots : 64;
	uint32_t *slots;

	if (2 * (symbolizer->n_modules + 1) <= symbolizer->n_slots)
		return true;
	slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(symbolizer->slots);
	symbolizer->slots = slots;
	symbolizer->n_slots = n;
	for (size_t i = 0; i < symbolizer->n_modules; i++) {
		const struct module *module = symbolizer->modules[i];

		slots[slot_find(symbolizer, module->kind, module->pid, &module->identity)] =
			(uint32_t)i + 1;
	}
	return true;
}

/* NULL only when memory is short. */
static struct module *module_intern(struct symbolizer *symbolizer, enum module_kind kind,
				    uint32_t pid, const struct module_identity *wanted)
{
	struct module_identity identity = *wanted;
	struct module *module;
	size_t slot;

	if (!identity.path)
		identity.path = "";
	if (!identity.build_id)
		identity.build_id_size = 0;
	if (!slots_grow(symbolizer))
		return NULL;
	slot = slot_find(symbolizer, kind, pid, &identity);
	if (symbolizer->slots[slot])
		return symbolizer->modules[symbolizer->slots[slot] - 1];
	if (!array_reserve_bytes((void **)&symbolizer->modules, &symbolizer->modules_capacity,
				 symbolizer->n_modules + 1, sizeof(struct module *)))
		return NULL;
	module = module_new(symbolizer, kind, &identity);
	if (!module)
		return NULL;
	module->pid = pid;
	symbolizer->modules[symbolizer->n_modules++] = module;
	symbolizer->slots[slot] = (uint32_t)symbolizer->n_modules;
	return module;
}

struct module *symbolizer_module(struct symbolizer *symbolizer,
				 const struct module_identity *identity)
{
	const bool vdso = identity->path && !strcmp(identity->path, "[vdso]") && !identity->copy;

	return module_intern(symbolizer, vdso ? MODULE_VDSO : MODULE_FILE, 0, identity);
}

struct module *symbolizer_kernel(struct symbolizer *symbolizer, const uint8_t *build_id,
				 size_t build_id_size, bool foreign)
{
	const struct module_identity identity = {
		.path = "[kernel.kallsyms]",
		.build_id = build_id,
		.build_id_size = build_id_size,
		.foreign = foreign,
	};

	return module_intern(symbolizer, MODULE_KERNEL, 0, &identity);
}

void symbolizer_kernel_anchor(struct module *kernel, const char *symbol, uint64_t address)
{
	if (!kernel || kernel->kind != MODULE_KERNEL)
		return;
	if (!strcmp(symbol, "_text"))
		kernel->kernel->text_start = address;
	else if (!strcmp(symbol, "_stext"))
		kernel->kernel->stext_start = address;
}

struct module *symbolizer_kernel_part(struct module *kernel, const char *name)
{
	const struct module_identity identity = { .path = name };
	struct module *part = module_intern(kernel->symbolizer, MODULE_LABEL, 0, &identity);

	if (part)
		part->whole = kernel;
	return part;
}

struct module *symbolizer_vdso(struct symbolizer *symbolizer, bool foreign)
{
	const struct module_identity identity = { .path = "[vdso]", .foreign = foreign };

	return module_intern(symbolizer, MODULE_VDSO, 0, &identity);
}

struct module *symbolizer_perf_map_of(struct symbolizer *symbolizer, uint32_t pid, bool foreign)
{
	struct module_identity identity = { .foreign = foreign };
	char name[32];

	snprintf(name, sizeof(name), "perf-%" PRIu32 ".map", pid);
	identity.path = name;
	return module_intern(symbolizer, MODULE_PERF_MAP, pid, &identity);
}

struct module *symbolizer_perf_map(struct symbolizer *symbolizer, uint32_t pid)
{
	return symbolizer_perf_map_of(symbolizer, pid, false);
}
