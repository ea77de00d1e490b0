/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Places that a program has marked for tracers: USDT notes (section .note.stapsdt), as include/assay/mark.h and
 * SystemTap's <sys/sdt.h> write them. Layout: "User Space Probe Implementation", version 3, in SystemTap's wiki.
 */
#ifndef ASSAY_CODE_NOTES_H
#define ASSAY_CODE_NOTES_H

#include "symbolize/elf_file.h"

#define CODE_NOTES_MAX (1u << 20)

struct code_note {
	const char *provider, *name; /* borrowed from the file */
	uint64_t address;            /* of the nop */
};

/* Calls `each` for every note of the file, in its order, until it returns false. Notes that are cut short end the
 * walk. */
void code_notes_read(const struct elf_file *file,
		     bool (*each)(void *data, const struct code_note *note), void *data);

#endif
