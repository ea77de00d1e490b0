/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One address to its frames: the function, and the chain of functions inlined at it.
 */
#include <string.h>

#include "symbolize/symbolizer_state.h"

#define UNKNOWN "[unknown]"

static void frame_name(struct frame *frame, struct module *module, struct function *function)
{
	frame->function = function;
	frame->name = module_function_name(module, function);
	frame->miss = function->symbol ? SYMBOL_OK : SYMBOL_STRIPPED;
	if (function->symbol && strcmp(function->symbol, frame->name))
		frame->symbol = function->symbol;
}

size_t symbolizer_frames(struct symbolizer *symbolizer, struct module *module,
			 struct file_offset offset, bool return_address, struct frame *frames,
			 size_t capacity)
{
	const struct function_model *model;
	struct frame *frame = frames;
	struct elf_vaddr address;
	uint32_t index;

	(void)symbolizer;
	(void)capacity;
	*frame = (struct frame){ .module = module, .name = UNKNOWN, .miss = module_open(module) };
	if (frame->miss != SYMBOL_OK)
		return 1;
	model = module_model(module);
	if (!model || !module_vaddr(module, offset, &address)) {
		frame->miss = SYMBOL_NO_COVER;
		return 1;
	}
	/* A call can be the last instruction of its function: the address behind it may be the next
	 * function's, the call's own last byte never is. */
	if (return_address && address.value)
		address.value--;
	index = function_model_at(model, address.value);
	if (index == FUNCTION_NONE)
		frame->miss = SYMBOL_NO_COVER;
	else
		frame_name(frame, module, &model->functions[index]);
	return 1;
}
