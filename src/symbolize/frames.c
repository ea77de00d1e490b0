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

size_t symbolizer_frames(struct symbolizer *symbolizer, struct module *module,
			 struct file_offset offset, bool return_address, struct frame *frames,
			 size_t capacity)
{
	const struct function *function;
	struct elf_vaddr address;

	(void)symbolizer;
	(void)capacity;
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
	return 1;
}
