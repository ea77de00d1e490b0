/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The machine code of a module, for who decodes instructions. */
#include "symbolize/module_state.h"

const uint8_t *module_code(struct module *module, struct elf_vaddr start, uint64_t size,
			   uint16_t *machine)
{
	if ((module->kind != MODULE_FILE && module->kind != MODULE_VDSO) ||
	    module_open(module) != SYMBOL_OK || module->file.big_endian)
		return NULL;
	*machine = module->file.machine;
	return elf_file_at(&module->file, start.value, size);
}
