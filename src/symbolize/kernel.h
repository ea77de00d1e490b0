/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The kernel as a module: names from kallsyms (the running kernel's, or a copy that a recording kept),
 * and from a vmlinux when the user has one.
 *
 * Addresses are runtime addresses. The kernel may have been loaded elsewhere when it was recorded (KASLR,
 * another boot): the recording's address of _text, the anchor, tells by how much. Without an anchor,
 * only kallsyms of the same boot can be right, and a vmlinux cannot be placed at all.
 */
#ifndef ASSAY_SYMBOLIZE_KERNEL_H
#define ASSAY_SYMBOLIZE_KERNEL_H

#include "symbolize/elf_file.h"
#include "symbolize/kallsyms.h"
#include "symbolize/module.h"

struct kernel {
	struct kallsyms kallsyms;         /* no entries when there is none to trust */
	uint64_t text_start, stext_start; /* in the recording, 0: unknown */
	uint64_t shift;                   /* runtime address minus vmlinux address */
	struct module
		*parts[KALLSYMS_MAX_MODULES]; /* modules by index of kallsyms, made on demand */
};

struct module;

/* Reads the symbols: kallsyms into module->kernel, a vmlinux into module->file and module->symbols.
 * SYMBOL_OK, or the reason why there are none. */
enum symbol_miss kernel_open(struct module *module);
struct kernel *kernel_new(void);
void kernel_free(struct kernel *kernel);

/* The function at a runtime address and the module that its frames belong to: the kernel itself or
 * "[nf_tables]". NULL when there is none. */
struct function *kernel_function_at(struct module *module, uint64_t address, struct module **part);

/* The build-id of the running kernel, from the notes in /sys/kernel/notes; its size, 0 when unknown. */
size_t kernel_running_build_id(const struct sys *sys, uint8_t build_id[ELF_FILE_MAX_BUILD_ID]);

#endif
