/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The vdso, a small ELF object that the kernel maps into every process. It is no file: for recordings
 * of this machine our own copy serves. A build-id that the recording kept must agree.
 */
#ifndef ASSAY_SYMBOLIZE_VDSO_H
#define ASSAY_SYMBOLIZE_VDSO_H

#include "symbolize/elf_file.h"

#define VDSO_MAX_BYTES (1u << 20)

enum symbol_miss vdso_open(struct elf_file *file, const struct sys *sys,
			   const struct module_identity *identity);

#endif
