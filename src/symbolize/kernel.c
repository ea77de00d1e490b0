/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"
#include "symbolize/symbolizer_state.h"

#define MAX_NOTES_BYTES (64u * 1024)

/* A note (gABI): u32 name size, u32 descriptor size, u32 type, name and descriptor padded to 4. */
size_t kernel_running_build_id(const struct sys *sys, uint8_t build_id[ELF_FILE_MAX_BUILD_ID])
{
	size_t size, found = 0;
	struct bytes notes;
	char *text;

	if (sys_read_file(sys, AT_FDCWD, "/sys/kernel/notes", MAX_NOTES_BYTES, &text, &size, NULL))
		return 0;
	notes = bytes_of(text, size, false);
	while (!found && bytes_left(&notes)) {
		const uint32_t name_size = bytes_u32(&notes), desc_size = bytes_u32(&notes);
		const uint32_t type = bytes_u32(&notes);
		const char *name = bytes_take(&notes, checked_align_up(name_size, 4));
		const uint8_t *desc = bytes_take(&notes, checked_align_up(desc_size, 4));

		if (notes.failed)
			break;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    desc_size <= ELF_FILE_MAX_BUILD_ID) {
			memcpy(build_id, desc, desc_size);
			found = desc_size;
		}
	}
	free(text);
	return found;
}

/* How the running kernel compares with the recorded one. */
enum same_kernel {
	KERNEL_SAME_BOOT,  /* as far as anything tells */
	KERNEL_SAME_BUILD, /* but possibly loaded elsewhere */
	KERNEL_OTHER,
	KERNEL_UNPROVEN, /* recorded elsewhere without a build-id */
};

static enum same_kernel running_kernel(const struct module *module)
{
	const struct module_identity *identity = &module->identity;
	uint8_t running[ELF_FILE_MAX_BUILD_ID];
	size_t size;

	if (!identity->build_id_size)
		return identity->foreign ? KERNEL_UNPROVEN : KERNEL_SAME_BOOT;
	size = kernel_running_build_id(module->symbolizer->sys, running);
	if (size && (size != identity->build_id_size || memcmp(running, identity->build_id, size)))
		return KERNEL_OTHER;
	if (!size)
		return identity->foreign ? KERNEL_UNPROVEN : KERNEL_SAME_BOOT;
	return identity->foreign ? KERNEL_SAME_BUILD : KERNEL_SAME_BOOT;
}

/* Recorded minus present address of the kernel's text; false when the anchors have no name in common. */
static bool shift_of(const struct kernel *kernel, uint64_t text, uint64_t stext, uint64_t *shift)
{
	if (kernel->text_start && text)
		*shift = kernel->text_start - text;
	else if (kernel->stext_start && stext)
		*shift = kernel->stext_start - stext;
	else
		return false;
	return true;
}

/* procfs makes the text as it is read, a page at a time. */
static bool text_feed(const struct sys *sys, const char *path, struct kallsyms *kallsyms)
{
	static const size_t piece = 64u * 1024;
	int fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	char *buffer = malloc(piece);
	uint64_t total = 0;
	bool good = fd >= 0 && buffer;
	ssize_t n = 1;

	while (good && n > 0) {
		n = sys->read(sys->state, fd, buffer, piece);
		if (n == -EINTR) {
			n = 1;
			continue;
		}
		total += n > 0 ? (uint64_t)n : 0;
		good = n >= 0 && total <= KALLSYMS_MAX_BYTES &&
		       kallsyms_feed(kallsyms, buffer, (size_t)n);
	}
	free(buffer);
	if (fd >= 0)
		sys->close(sys->state, fd);
	return good && kallsyms_finish(kallsyms);
}

/* With `anchored`, only when the recording's address of the kernel's text is known. */
static enum symbol_miss kallsyms_read(struct module *module, const char *path, bool anchored)
{
	struct kernel *kernel = module->kernel;
	struct kallsyms *kallsyms = &kernel->kallsyms;
	enum symbol_miss miss = SYMBOL_OK;
	uint64_t shift = 0;

	kallsyms_release(kallsyms);
	if (!text_feed(module->symbolizer->sys, path, kallsyms) || !kallsyms->n ||
	    kallsyms_hidden(kallsyms))
		miss = SYMBOL_KERNEL_RESTRICTED;
	else if (shift_of(kernel, kallsyms->text_start, kallsyms->stext_start, &shift))
		miss = SYMBOL_OK;
	else if (anchored)
		miss = SYMBOL_FILE_MISSING;
	if (miss != SYMBOL_OK)
		kallsyms_release(kallsyms);
	else if (shift)
		kallsyms_shift(kallsyms, shift);
	return miss;
}

/* What perf kept of that build. */
static enum symbol_miss kallsyms_of_build(struct module *module)
{
	const struct module_identity *identity = &module->identity;
	const char *cache = module->symbolizer->options.perf_cache;
	const struct build_id_text id = build_id_text(identity->build_id, identity->build_id_size);
	char path[DEBUG_SEARCH_MAX_PATH];

	if (!cache || identity->build_id_size < 2 ||
	    (size_t)snprintf(path, sizeof(path), "%s/.build-id/%.2s/%s/kallsyms", cache, id.hex,
			     id.hex + 2) >= sizeof(path))
		return SYMBOL_FILE_MISSING;
	return kallsyms_read(module, path, true) == SYMBOL_OK ? SYMBOL_OK : SYMBOL_FILE_MISSING;
}

static enum symbol_miss kallsyms_find(struct module *module)
{
	const char *given = module->symbolizer->options.kallsyms_path;
	enum symbol_miss miss;

	if (given)
		return kallsyms_read(module, given, false);
	switch (running_kernel(module)) {
	case KERNEL_SAME_BOOT: return kallsyms_read(module, "/proc/kallsyms", false);
	case KERNEL_SAME_BUILD:
		miss = kallsyms_read(module, "/proc/kallsyms", true);
		return miss == SYMBOL_OK ? miss : kallsyms_of_build(module);
	case KERNEL_OTHER:
		miss = kallsyms_of_build(module);
		return miss == SYMBOL_OK ? miss : SYMBOL_BUILD_ID_MISMATCH;
	case KERNEL_UNPROVEN: break;
	}
	return SYMBOL_FILE_MISSING;
}

static uint64_t symbol_address(const struct symbol_table *table, const char *name)
{
	for (size_t i = 0; i < table->n; i++)
		if (!strcmp(table->symbols[i].name, name))
			return table->symbols[i].start;
	return 0;
}

/* The vmlinux must be the recorded build, or, when that is unknown, the running one. */
static bool vmlinux_fits(const struct module *module)
{
	const struct module_identity *identity = &module->identity;
	uint8_t running[ELF_FILE_MAX_BUILD_ID];
	size_t size;

	if (identity->build_id_size)
		return elf_file_has_build_id(&module->file, identity->build_id,
					     identity->build_id_size);
	if (identity->foreign)
		return false;
	size = kernel_running_build_id(module->symbolizer->sys, running);
	return elf_file_has_build_id(&module->file, running, size);
}

/* Places the vmlinux by the recording's anchor, or by the kallsyms that were found. */
static bool vmlinux_place(struct module *module)
{
	struct kernel *kernel = module->kernel;
	const uint64_t text = symbol_address(&module->symbols, "_text");
	const uint64_t stext = symbol_address(&module->symbols, "_stext");

	if (shift_of(kernel, text, stext, &kernel->shift))
		return true;
	if (!kernel->kallsyms.n)
		return false;
	kernel->text_start = kernel->kallsyms.text_start;
	kernel->stext_start = kernel->kallsyms.stext_start;
	return shift_of(kernel, text, stext, &kernel->shift);
}

static bool vmlinux_read(struct module *module)
{
	struct symbolizer *symbolizer = module->symbolizer;
	struct symbol_table *table = &module->symbols;
	size_t n;

	if (elf_file_open(&module->file, symbolizer->sys, symbolizer->options.vmlinux) != SYMBOL_OK)
		return false;
	if (!vmlinux_fits(module) || !symbol_table_read(table, &module->file, SHT_SYMTAB, &n) ||
	    !vmlinux_place(module)) {
		table->n = 0;
		elf_file_release(&module->file);
		return false;
	}
	for (size_t i = 0; i < table->n; i++) {
		table->symbols[i].start += module->kernel->shift;
		table->symbols[i].limit += module->kernel->shift;
	}
	return true;
}

enum symbol_miss kernel_open(struct module *module)
{
	const enum symbol_miss miss = kallsyms_find(module);

	if (module->symbolizer->options.vmlinux && vmlinux_read(module))
		return SYMBOL_OK;
	return miss;
}

struct kernel *kernel_new(void)
{
	struct kernel *kernel = calloc(1, sizeof(*kernel));

	if (kernel)
		kallsyms_init(&kernel->kallsyms);
	return kernel;
}

void kernel_free(struct kernel *kernel)
{
	if (!kernel)
		return;
	kallsyms_release(&kernel->kallsyms);
	free(kernel);
}

/* The vmlinux knows sizes, so it goes first; it has no loadable modules. */
struct function *kernel_function_at(struct module *module, uint64_t address, struct module **part)
{
	const uint32_t index = function_model_at(&module->model, address);
	struct function *function;
	const char *name = NULL;

	*part = module;
	if (index != FUNCTION_NONE)
		return &module->model.functions[index];
	function = kallsyms_function_at(&module->kernel->kallsyms, address, &name);
	if (function && name)
		*part = symbolizer_kernel_part(module, name);
	if (!*part)
		*part = module;
	return function;
}
