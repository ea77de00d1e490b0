/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "target/build_id.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/checked.h"

#define HEADERS_MAX_BYTES (256u * 1024) /* program or section headers that are looked at */
#define NOTES_MAX_BYTES   (1024u * 1024)

size_t build_id_find(const uint8_t *notes, size_t size, size_t align, bool swap,
		     uint8_t id[BUILD_ID_MAX_BYTES])
{
	struct bytes b = bytes_of(notes, size, swap);

	while (bytes_left(&b) >= 12) {
		const uint32_t name_size = bytes_u32(&b), body_size = bytes_u32(&b);
		const uint32_t type = bytes_u32(&b);
		const void *name, *body;

		if (name_size > size || body_size > size)
			return 0;
		name = bytes_take(&b, (size_t)checked_align_up(name_size, 4));
		/* The last note's padding may be missing. */
		body = bytes_take(&b, body_size);
		if (b.failed)
			return 0;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(name, "GNU", 4) &&
		    body_size && body_size <= BUILD_ID_MAX_BYTES) {
			memcpy(id, body, body_size);
			return body_size;
		}
		const size_t padding = (size_t)(checked_align_up(body_size, align) - body_size);

		if (padding > bytes_left(&b))
			return 0;
		bytes_take(&b, padding);
	}
	return 0;
}

struct elf {
	const struct sys *sys;
	int fd;
	bool wide, swap; /* ELFCLASS64; other byte order */
	uint64_t table_at;
	uint16_t entry_size, entries;
};

static uint64_t elf_word(const struct elf *elf, struct bytes *b)
{
	return elf->wide ? bytes_u64(b) : bytes_u32(b);
}

static size_t notes_search(const struct elf *elf, uint64_t offset, uint64_t size, uint64_t align,
			   uint8_t *id)
{
	uint8_t *notes;
	ssize_t n;
	size_t found = 0;

	if (!size || size > NOTES_MAX_BYTES || offset > INT64_MAX)
		return 0;
	notes = malloc((size_t)size);
	if (!notes)
		return 0;
	n = sys_pread_full(elf->sys, elf->fd, notes, (size_t)size, (off_t)offset);
	if (n > 0)
		found = build_id_find(notes, (size_t)n, align == 8 ? 8 : 4, elf->swap, id);
	free(notes);
	return found;
}

/* Elf64_Phdr: type, flags, offset, vaddr, paddr, filesz, memsz, align; in Elf32_Phdr flags come
 * after memsz. */
static size_t segment_search(const struct elf *elf, struct bytes entry, uint8_t *id)
{
	const uint32_t type = bytes_u32(&entry);
	uint64_t offset, size, align;

	if (type != PT_NOTE)
		return 0;
	if (elf->wide)
		bytes_u32(&entry);
	offset = elf_word(elf, &entry);
	elf_word(elf, &entry);
	elf_word(elf, &entry);
	size = elf_word(elf, &entry);
	elf_word(elf, &entry);
	if (!elf->wide)
		bytes_u32(&entry);
	align = elf_word(elf, &entry);
	return entry.failed ? 0 : notes_search(elf, offset, size, align, id);
}

/* Elf64_Shdr: name, type, flags, addr, offset, size, link, info, addralign, entsize. */
static size_t section_search(const struct elf *elf, struct bytes entry, uint8_t *id)
{
	uint64_t offset, size, align;

	bytes_u32(&entry);
	if (bytes_u32(&entry) != SHT_NOTE)
		return 0;
	elf_word(elf, &entry);
	elf_word(elf, &entry);
	offset = elf_word(elf, &entry);
	size = elf_word(elf, &entry);
	bytes_u32(&entry);
	bytes_u32(&entry);
	align = elf_word(elf, &entry);
	return entry.failed ? 0 : notes_search(elf, offset, size, align, id);
}

static size_t table_search(const struct elf *elf, uint8_t *id,
			   size_t (*search)(const struct elf *, struct bytes, uint8_t *))
{
	const size_t size = (size_t)elf->entries * elf->entry_size;
	uint8_t *table;
	ssize_t n;
	size_t found = 0;

	if (!size || size > HEADERS_MAX_BYTES || elf->table_at > INT64_MAX)
		return 0;
	table = malloc(size);
	if (!table)
		return 0;
	n = sys_pread_full(elf->sys, elf->fd, table, size, (off_t)elf->table_at);
	for (size_t at = 0; !found && n > 0 && at + elf->entry_size <= (size_t)n;
	     at += elf->entry_size)
		found = search(elf, bytes_of(table + at, elf->entry_size, elf->swap), id);
	free(table);
	return found;
}

size_t build_id_read(const struct sys *sys, int fd, uint8_t id[BUILD_ID_MAX_BYTES])
{
	const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint8_t header[sizeof(Elf64_Ehdr)];
	struct elf elf = { .sys = sys, .fd = fd };
	uint16_t sections_size, sections;
	uint64_t sections_at;
	size_t found;
	ssize_t n = sys_pread_full(sys, fd, header, sizeof(header), 0);

	if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(header, ELFMAG, SELFMAG))
		return 0;
	elf.wide = header[EI_CLASS] == ELFCLASS64;
	elf.swap = (header[EI_DATA] == ELFDATA2LSB) != little;

	struct bytes b = bytes_of(header + EI_NIDENT, (size_t)n - EI_NIDENT, elf.swap);

	bytes_u16(&b); /* type */
	bytes_u16(&b); /* machine */
	bytes_u32(&b); /* version */
	elf_word(&elf, &b);
	elf.table_at = elf_word(&elf, &b);
	sections_at = elf_word(&elf, &b);
	bytes_u32(&b); /* flags */
	bytes_u16(&b); /* size of this header */
	elf.entry_size = bytes_u16(&b);
	elf.entries = bytes_u16(&b);
	sections_size = bytes_u16(&b);
	sections = bytes_u16(&b);
	if (b.failed)
		return 0;
	found = table_search(&elf, id, segment_search);
	if (found)
		return found;
	elf.table_at = sections_at;
	elf.entry_size = sections_size;
	elf.entries = sections;
	return table_search(&elf, id, section_search);
}

void build_id_format(const uint8_t *id, size_t size, char text[2 * BUILD_ID_MAX_BYTES + 1])
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < size && i < BUILD_ID_MAX_BYTES; i++) {
		*text++ = digits[id[i] >> 4];
		*text++ = digits[id[i] & 15];
	}
	*text = '\0';
}
