/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Misses in words: why an address has no name, and what would mend it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/module_state.h"

const char *symbol_miss_text(enum symbol_miss miss)
{
	switch (miss) {
	case SYMBOL_OK: return "named";
	case SYMBOL_NO_MAPPING: return "address in no known mapping";
	case SYMBOL_ANONYMOUS: return "code in anonymous memory, no perf map";
	case SYMBOL_FILE_MISSING: return "file missing";
	case SYMBOL_FILE_UNREADABLE: return "file not readable";
	case SYMBOL_FILE_REPLACED: return "file replaced since it was mapped";
	case SYMBOL_BUILD_ID_MISMATCH: return "file of another build";
	case SYMBOL_NOT_ELF: return "not an ELF file";
	case SYMBOL_DAMAGED: return "damaged ELF file";
	case SYMBOL_STRIPPED: return "stripped: function known by its bounds only";
	case SYMBOL_NO_COVER: return "no symbol covers the address";
	case SYMBOL_KERNEL_RESTRICTED: return "kernel addresses hidden";
	case SYMBOL_N_MISSES: break;
	}
	return "unknown reason";
}

/* Debian 12's own debug packages of what profiles meet most. */
static const char *debug_package(const char *name)
{
	static const struct {
		const char *prefix, *package;
	} known[] = {
		{ "libc.so", "libc6-dbg" },         { "libc-2.", "libc6-dbg" },
		{ "libm.so", "libc6-dbg" },         { "libm-2.", "libc6-dbg" },
		{ "libpthread", "libc6-dbg" },      { "ld-linux", "libc6-dbg" },
		{ "libdl.so", "libc6-dbg" },        { "librt.so", "libc6-dbg" },
		{ "python3.11", "python3.11-dbg" }, { "libpython3.11", "python3.11-dbg" },
	};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strncmp(name, known[i].prefix, strlen(known[i].prefix)))
			return known[i].package;
	return NULL;
}

static void build_id_words(const struct module *module, char *words, size_t size)
{
	const bool own = module->file.build_id_size > 0;
	const struct build_id_text id =
		own ? build_id_text(module->file.build_id, module->file.build_id_size)
		    : build_id_text(module->identity.build_id, module->identity.build_id_size);

	words[0] = '\0';
	if (id.hex[0])
		snprintf(words, size, " (build-id %s)", id.hex);
}

static int stripped_remedy(const struct module *module, const char *id, char **text)
{
	const char *package = debug_package(module->name);

	if (module->kind != MODULE_FILE || module->has_symtab)
		return -1;
	if (package)
		return asprintf(text, "install %s, the debug symbols of %s%s", package,
				module->identity.path, id);
	return asprintf(text,
			"install the debug symbols of %s%s: its package's -dbgsym or -dbg, or "
			"--debuginfod",
			module->identity.path, id);
}

static int missing_remedy(const struct module *module, const char *id, char **text)
{
	if (!module->identity.foreign)
		return asprintf(text, "put back %s%s, or point --symfs at a directory that has it",
				module->identity.path, id);
	if (module->identity.build_id_size)
		return asprintf(text,
				"recorded on another machine: copy its %s%s below a directory and "
				"point --symfs there",
				module->identity.path, id);
	return asprintf(text,
			"recorded on another machine without a build-id, so a local %s proves "
			"nothing: copy the original below a directory and point --symfs there",
			module->identity.path);
}

static int remedy_make(struct module *module, char **text)
{
	const char *path = module->identity.path;
	char id[2 * ELF_FILE_MAX_BUILD_ID + 32];

	build_id_words(module, id, sizeof(id));
	switch (module->miss) {
	case SYMBOL_OK: return stripped_remedy(module, id, text);
	case SYMBOL_ANONYMOUS:
		return asprintf(
			text,
			"let the runtime write /tmp/perf-PID.map (Node.js: --perf-basic-prof; "
			"Java: -XX:+DumpPerfMapAtExit)");
	case SYMBOL_FILE_MISSING: return missing_remedy(module, id, text);
	case SYMBOL_FILE_UNREADABLE:
		return asprintf(text, "make %s readable for this user, or report as root", path);
	case SYMBOL_FILE_REPLACED:
		return asprintf(
			text,
			"%s is not the file that ran: record again, or point --symfs at the old "
			"one",
			path);
	case SYMBOL_BUILD_ID_MISMATCH:
		return asprintf(
			text,
			"%s is another build than the one that ran%s: point --symfs at that "
			"one",
			path, id);
	case SYMBOL_KERNEL_RESTRICTED:
		return asprintf(text, "report as root, or set kernel.kptr_restrict to 0 (sysctl)");
	default: return -1;
	}
}

const char *module_remedy(const struct module *module)
{
	/* The remedy is made when somebody asks; modules are always allocated by this folder. */
	struct module *self = (struct module *)module;

	module_open(self);
	if (self->miss == SYMBOL_OK)
		module_model(self);
	if (!self->remedy && remedy_make(self, &self->remedy) < 0)
		self->remedy = NULL;
	return self->remedy;
}
