/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One ELF object, opened for reading: its bytes, its identity and its segments.
 *
 * The bytes come from a file (mapped privately, read-only), from memory that somebody else owns (the
 * vdso) or from a buffer that becomes ours (a decompressed .gnu_debugdata). libelf checks the headers;
 * everything that is kept here has been checked against the size of the image.
 *
 * Invariant: after a successful open, every segment lies inside the image and no address range wraps.
 */
#ifndef ASSAY_SYMBOLIZE_ELF_FILE_H
#define ASSAY_SYMBOLIZE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/sys.h"
#include "symbolize/module.h"

#define ELF_FILE_MAX_SEGMENTS 4096u
#define ELF_FILE_MAX_SECTIONS (1u << 20)
#define ELF_FILE_MAX_BUILD_ID 64u
#define ELF_FILE_MAX_IMAGE    (UINT64_C(1) << 40)

struct elf_segment {
	uint64_t offset, file_size; /* in the file */
	uint64_t vaddr, memory_size;
	bool executable;
};

/* Where the bytes of an opened file live, so that it can be told from another one later. */
struct elf_origin {
	uint64_t device, inode, size, mtime_ns;
};

struct elf_file {
	const struct sys *sys;
	char *path; /* NULL when the bytes did not come from a file */
	struct elf_origin origin;

	void *image;
	size_t size;
	enum { ELF_IMAGE_MAPPED, ELF_IMAGE_ALLOCATED, ELF_IMAGE_BORROWED } image_kind;

	Elf *elf;
	uint16_t machine, type; /* EM_*, ET_* */
	bool is_64_bit;
	bool big_endian;
	uint8_t build_id[ELF_FILE_MAX_BUILD_ID];
	size_t build_id_size; /* 0: the object carries none */
	struct elf_segment *segments;
	size_t n_segments;
};

/* Opens the regular file `path`. SYMBOL_OK, or why it cannot be used: SYMBOL_FILE_MISSING,
 * SYMBOL_FILE_UNREADABLE, SYMBOL_NOT_ELF or SYMBOL_DAMAGED. On a miss *file needs no release. */
enum symbol_miss elf_file_open(struct elf_file *file, const struct sys *sys, const char *path);

/* The same for an image in memory; with `owned` it is freed by the release, also on a miss. */
enum symbol_miss elf_file_open_image(struct elf_file *file, void *image, size_t size, bool owned);

void elf_file_release(struct elf_file *file);

/* The section called `name`; false when there is none. */
bool elf_file_section(const struct elf_file *file, const char *name, Elf_Scn **section,
		      GElf_Shdr *header);

/* The bytes of a section, decompressed when need be; NULL when it has none or they are damaged.
 * Owned by the file. */
Elf_Data *elf_file_section_data(const struct elf_file *file, const char *name, GElf_Shdr *header);

/* `size` bytes of the file-backed part of a segment at this address, NULL when there are fewer. */
const uint8_t *elf_file_at(const struct elf_file *file, uint64_t vaddr, uint64_t size);

/* The segment that holds the address, NULL when none does. */
const struct elf_segment *elf_file_segment_at(const struct elf_file *file, uint64_t vaddr,
					      bool executable);

struct build_id_text {
	char hex[2 * ELF_FILE_MAX_BUILD_ID + 1];
};
/* The build-id in hexadecimal, as paths hold it; "" when it is longer than we take. */
struct build_id_text build_id_text(const uint8_t *build_id, size_t size);

/* False also for a build-id of size 0: nothing is no proof. */
bool elf_file_has_build_id(const struct elf_file *file, const uint8_t *build_id, size_t size);

#endif
