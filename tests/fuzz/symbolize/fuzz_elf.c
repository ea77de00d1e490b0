/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a program: opened as a file (in memory) by path, as a recording names it; all functions
 * listed, frames with inlines and lines asked for inside and between them, unwind rows computed, and a
 * stack walked through it.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbolize/cfi_cache.h"
#include "symbolize/unwind.h"

#define MAX_FUNCTIONS 300

static void frames_ask(struct symbolizer *symbolizer, struct module *module, uint64_t offset)
{
	struct frame frames[SYMBOLIZER_MAX_INLINES];
	const size_t n = symbolizer_frames(symbolizer, module, (struct file_offset){ offset },
					   offset % 2, frames, SYMBOLIZER_MAX_INLINES);

	assert(n >= 1 && n <= SYMBOLIZER_MAX_INLINES);
	for (size_t i = 0; i < n; i++)
		assert(frames[i].name && strlen(frames[i].name) < 1u << 20);
}

static void rows_compute(const char *path)
{
	struct cfi_cache cache;
	struct elf_file file;

	if (elf_file_open(&file, sys_real(), path) != SYMBOL_OK)
		return;
	cfi_cache_init(&cache, &file, NULL);
	cfi_cache_at(&cache, 0);
	for (size_t i = 0; i < cache.fdes.n && i < MAX_FUNCTIONS; i++) {
		cfi_cache_at(&cache, cache.fdes.ranges[i].start);
		cfi_cache_at(&cache, cache.fdes.ranges[i].end - 1);
	}
	cfi_cache_release(&cache);
	elf_file_release(&file);
}

static bool space_find(void *state, struct runtime_address address, struct module **module,
		       uint64_t *load_bias)
{
	(void)address;
	*module = state;
	*load_bias = 0;
	return true;
}

static void stack_walk(struct module *module, uint64_t pc)
{
	static const uint16_t machines[] = { EM_X86_64, EM_AARCH64 };
	const struct unwind_space space = { module, space_find };
	uint64_t stack[64], addresses[64], regs[33];

	for (size_t i = 0; i < 64; i++)
		stack[i] = i % 3 ? pc + i : 0x7000 + 8 * i;
	for (size_t i = 0; i < 33; i++)
		regs[i] = 0x7000 + 16 * (i % 4);
	for (size_t i = 0; i < 2; i++) {
		const bool x86 = machines[i] == EM_X86_64;
		const struct unwind_sample sample = {
			.machine = machines[i],
			.regs_mask = x86 ? 0xff01ff : (UINT64_C(1) << 33) - 1,
			.regs = regs,
			.stack = stack,
			.stack_size = sizeof(stack),
		};
		enum unwind_end end;

		regs[x86 ? 8 : 32] = pc;
		assert(unwind(NULL, &sample, &space, addresses, 64, &end) <= 64);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct symbolizer_options options = {
		.inlines = true,
		.demangle = true,
		.debug_dir = "/nonexistent",
	};
	const int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct module_identity identity = { 0 };
	struct symbolizer *symbolizer;
	const struct function *functions;
	struct module *module;
	char path[64];
	size_t n;

	if (fd < 0)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	identity.path = path;
	if (write(fd, data, size) == (ssize_t)size &&
	    !symbolizer_new(&symbolizer, sys_real(), &options, NULL)) {
		module = symbolizer_module(symbolizer, &identity);
		functions = module_functions(module, &n);
		for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
			frames_ask(symbolizer, module, functions[i].start.value);
			frames_ask(symbolizer, module, functions[i].end.value);
			if (i < 8)
				stack_walk(module, functions[i].start.value + 1);
		}
		for (uint64_t offset = 0; offset < size; offset += size / 64 + 1)
			frames_ask(symbolizer, module, offset);
		module_remedy(module);
		symbolizer_free(symbolizer);
		rows_compute(path);
	}
	close(fd);
	return 0;
}
