/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The GNU build-id of an ELF file: the note of type NT_GNU_BUILD_ID, owner "GNU", found through
 * PT_NOTE segments and, in files that have none (relocatable kernel modules), SHT_NOTE sections.
 *
 * Reads the file in small pieces and never maps it: this runs while the target is measured, on files
 * that may be large, hostile or shrinking. Source: elf(5), gABI chapter 5 (note section).
 */
#ifndef ASSAY_TARGET_BUILD_ID_H
#define ASSAY_TARGET_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"

#define BUILD_ID_MAX_BYTES 20

/* Size of the build-id of the open file (1..20), 0 when it has none or is no readable ELF file. */
size_t build_id_read(const struct sys *sys, int fd, uint8_t id[BUILD_ID_MAX_BYTES]);

/* The same from a block of notes in memory, /sys/kernel/notes for instance. `align` 4 or 8. */
size_t build_id_find(const uint8_t *notes, size_t size, size_t align, bool swap,
		     uint8_t id[BUILD_ID_MAX_BYTES]);

/* Lower-case hex, NUL-terminated. */
void build_id_format(const uint8_t *id, size_t size, char text[2 * BUILD_ID_MAX_BYTES + 1]);

#endif
