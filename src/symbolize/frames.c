/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One address to its frames: the function, and the chain of functions inlined at it.
 */
#include <string.h>

#include "symbolize/symbolizer_state.h"

#define UNKNOWN "[unknown]"

static void frame_name(struct frame *frame, const struct function *function)
{
	frame->function = function;
	frame->name = function->name;
	frame->miss = function->symbol ? SYMBOL_OK : SYMBOL_STRIPPED;
	if (function->symbol && strcmp(function->symbol, frame->name))
		frame->symbol = function->symbol;
}

/* DWARF speaks addresses of the file; for the kernel those are shifted. */
static struct debug_info *info_at(struct module *module, uint64_t *vaddr)
{
	if (!module->symbolizer->options.inlines)
		return NULL;
	if (module->kind == MODULE_KERNEL)
		*vaddr -= module->kernel->shift;
	else if (module->kind != MODULE_FILE)
		return NULL;
	return module_debug_info(module);
}

/* Puts what DWARF knows around the frame of the function model, whose name is kept: probes and reports
 * without debug information call the function the same. Returns the number of frames. */
static size_t inlines_add(struct debug_info *info, uint64_t vaddr, struct frame *frames,
			  size_t capacity)
{
	struct debug_frame chain[SYMBOLIZER_MAX_INLINES];
	const struct frame outer = frames[0];
	size_t n;

	if (capacity > SYMBOLIZER_MAX_INLINES)
		capacity = SYMBOLIZER_MAX_INLINES;
	n = debug_info_frames(info, vaddr, chain, capacity);
	for (size_t i = 0; i < n; i++) {
		frames[i] = outer;
		frames[i].file = chain[i].file;
		frames[i].line = chain[i].line;
		frames[i].inlined = i + 1 < n;
		if (i + 1 == n && (!chain[i].name || (outer.function && outer.function->symbol)))
			continue;
		frames[i].name = chain[i].name ? chain[i].name : UNKNOWN;
		frames[i].symbol = chain[i].symbol && strcmp(chain[i].symbol, frames[i].name)
					   ? chain[i].symbol
					   : NULL;
		frames[i].miss = chain[i].name ? SYMBOL_OK : SYMBOL_STRIPPED;
	}
	return n ? n : 1;
}

size_t symbolizer_frames(struct symbolizer *symbolizer, struct module *module,
			 struct file_offset offset, bool return_address, struct frame *frames,
			 size_t capacity)
{
	const struct function *function;
	struct debug_info *info;
	struct elf_vaddr address;

	(void)symbolizer;
	frames[0] =
		(struct frame){ .module = module, .name = UNKNOWN, .miss = module_open(module) };
	if (frames[0].miss != SYMBOL_OK)
		return 1;
	frames[0].miss = SYMBOL_NO_COVER;
	if (!module_vaddr(module, offset, &address))
		return 1;
	/* A call can be the last instruction of its function: the address behind it may be the next
	 * function's, the call's own last byte never is. */
	if (return_address && address.value)
		address.value--;
	function = module_function_find(module, address.value, &frames[0].module);
	if (function)
		frame_name(&frames[0], function);
	info = info_at(module, &address.value);
	return info ? inlines_add(info, address.value, frames, capacity) : 1;
}
