/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * .gnu_debugdata: a small ELF file with a symbol table, compressed by xz, inside a stripped program
 * (Fedora's "MiniDebugInfo").
 */
#ifndef ASSAY_SYMBOLIZE_MINIDEBUG_H
#define ASSAY_SYMBOLIZE_MINIDEBUG_H

#include "symbolize/elf_file.h"

/* What it may unpack to, and what the decoder may use: a bomb ends here. */
#define MINIDEBUG_MAX_BYTES   (UINT64_C(256) << 20)
#define MINIDEBUG_MAX_DECODER (UINT64_C(128) << 20)

/* Opens the object inside. SYMBOL_OK; SYMBOL_STRIPPED when there is none; SYMBOL_DAMAGED. */
enum symbol_miss minidebug_open(struct elf_file *inner, const struct elf_file *file);

#endif
