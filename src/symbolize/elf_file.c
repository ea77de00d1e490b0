/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/checked.h"

/* Segments whose ranges wrap or leave the file are dropped: what they claim cannot be looked up. */
static bool segments_read(struct elf_file *file)
{
	size_t n;

	if (elf_getphdrnum(file->elf, &n) || n > ELF_FILE_MAX_SEGMENTS)
		return false;
	file->segments = calloc(n ? n : 1, sizeof(*file->segments));
	if (!file->segments)
		return false;
	for (size_t i = 0; i < n; i++) {
		struct elf_segment *segment = &file->segments[file->n_segments];
		GElf_Phdr header;
		uint64_t end;

		if (!gelf_getphdr(file->elf, (int)i, &header) || header.p_type != PT_LOAD)
			continue;
		if (!checked_add_u64(header.p_vaddr, header.p_memsz, &end) ||
		    header.p_filesz > header.p_memsz)
			continue;
		/* A separate debug file keeps the headers but not the bytes. */
		if (!checked_range(header.p_offset, header.p_filesz, file->size))
			header.p_filesz = 0;
		*segment = (struct elf_segment){
			.offset = header.p_offset,
			.file_size = header.p_filesz,
			.vaddr = header.p_vaddr,
			.memory_size = header.p_memsz,
			.executable = header.p_flags & PF_X,
		};
		file->n_segments++;
	}
	return true;
}

static void build_id_read(struct elf_file *file)
{
	const void *bytes;
	ssize_t size = dwelf_elf_gnu_build_id(file->elf, &bytes);

	if (size <= 0 || (size_t)size > sizeof(file->build_id))
		return;
	memcpy(file->build_id, bytes, (size_t)size);
	file->build_id_size = (size_t)size;
}

static enum symbol_miss headers_read(struct elf_file *file)
{
	GElf_Ehdr header;
	const char *ident;
	size_t n_sections;

	elf_version(EV_CURRENT);
	if (file->size < SELFMAG || memcmp(file->image, ELFMAG, SELFMAG))
		return SYMBOL_NOT_ELF;
	file->elf = elf_memory(file->image, file->size);
	if (!file->elf || elf_kind(file->elf) != ELF_K_ELF)
		return SYMBOL_DAMAGED;
	ident = elf_getident(file->elf, NULL);
	if (!ident || !gelf_getehdr(file->elf, &header))
		return SYMBOL_DAMAGED;
	if (header.e_version != EV_CURRENT || header.e_machine == EM_NONE ||
	    elf_getshdrnum(file->elf, &n_sections) || n_sections > ELF_FILE_MAX_SECTIONS)
		return SYMBOL_DAMAGED;
	/* A file that was cut short has lost its section headers, which stand last. */
	if (header.e_shoff && header.e_shoff >= file->size)
		return SYMBOL_DAMAGED;
	file->machine = header.e_machine;
	file->type = header.e_type;
	file->is_64_bit = ident[EI_CLASS] == ELFCLASS64;
	file->big_endian = ident[EI_DATA] == ELFDATA2MSB;
	if (!segments_read(file))
		return SYMBOL_DAMAGED;
	build_id_read(file);
	return SYMBOL_OK;
}

static enum symbol_miss miss_from_errno(int os_errno)
{
	switch (os_errno) {
	case ENOENT:
	case ENOTDIR:
	case ENAMETOOLONG:
	case ELOOP:
	case ENXIO: return SYMBOL_FILE_MISSING;
	default: return SYMBOL_FILE_UNREADABLE;
	}
}

/* O_NONBLOCK: a path from a recording may name a FIFO, whose open would wait for ever. */
static enum symbol_miss file_map(struct elf_file *file, const char *path)
{
	const struct sys *sys = file->sys;
	int fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);
	enum symbol_miss miss = SYMBOL_OK;
	struct stat stat;

	if (fd < 0)
		return miss_from_errno(-fd);
	if (sys->fstat(sys->state, fd, &stat)) {
		miss = SYMBOL_FILE_UNREADABLE;
	} else if (!S_ISREG(stat.st_mode) || stat.st_size <= 0 ||
		   (uint64_t)stat.st_size > ELF_FILE_MAX_IMAGE) {
		miss = SYMBOL_NOT_ELF;
	} else {
		file->size = (size_t)stat.st_size;
		file->origin = (struct elf_origin){
			.device = stat.st_dev,
			.inode = stat.st_ino,
			.size = (uint64_t)stat.st_size,
			.mtime_ns = (uint64_t)stat.st_mtim.tv_sec * 1000000000u +
				    (uint64_t)stat.st_mtim.tv_nsec,
		};
		file->image =
			sys->mmap(sys->state, NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (file->image == MAP_FAILED) {
			file->image = NULL;
			miss = SYMBOL_FILE_UNREADABLE;
		}
	}
	sys->close(sys->state, fd);
	return miss;
}

enum symbol_miss elf_file_open(struct elf_file *file, const struct sys *sys, const char *path)
{
	enum symbol_miss miss;

	memset(file, 0, sizeof(*file));
	file->sys = sys;
	file->image_kind = ELF_IMAGE_MAPPED;
	miss = file_map(file, path);
	if (miss == SYMBOL_OK) {
		file->path = strdup(path);
		miss = file->path ? headers_read(file) : SYMBOL_FILE_UNREADABLE;
	}
	if (miss != SYMBOL_OK)
		elf_file_release(file);
	return miss;
}

enum symbol_miss elf_file_open_image(struct elf_file *file, void *image, size_t size, bool owned)
{
	enum symbol_miss miss;

	memset(file, 0, sizeof(*file));
	file->image = image;
	file->size = size;
	file->image_kind = owned ? ELF_IMAGE_ALLOCATED : ELF_IMAGE_BORROWED;
	miss = headers_read(file);
	if (miss != SYMBOL_OK)
		elf_file_release(file);
	return miss;
}

void elf_file_release(struct elf_file *file)
{
	if (file->elf)
		elf_end(file->elf);
	if (file->image && file->image_kind == ELF_IMAGE_MAPPED)
		file->sys->munmap(file->sys->state, file->image, file->size);
	else if (file->image_kind == ELF_IMAGE_ALLOCATED)
		free(file->image);
	free(file->segments);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

bool elf_file_section(const struct elf_file *file, const char *name, Elf_Scn **section,
		      GElf_Shdr *header)
{
	size_t names;

	if (elf_getshdrstrndx(file->elf, &names))
		return false;
	for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn; scn = elf_nextscn(file->elf, scn)) {
		const char *found;

		if (!gelf_getshdr(scn, header))
			continue;
		found = elf_strptr(file->elf, names, header->sh_name);
		if (found && !strcmp(found, name)) {
			*section = scn;
			return true;
		}
	}
	return false;
}

Elf_Data *elf_file_section_data(const struct elf_file *file, const char *name, GElf_Shdr *header)
{
	Elf_Data *data;
	Elf_Scn *section;

	if (!elf_file_section(file, name, &section, header) || header->sh_type == SHT_NOBITS)
		return NULL;
	if (header->sh_flags & SHF_COMPRESSED && elf_compress(section, 0, 0) < 0)
		return NULL;
	data = elf_getdata(section, NULL);
	return data && data->d_buf && data->d_size ? data : NULL;
}

const uint8_t *elf_file_at(const struct elf_file *file, uint64_t vaddr, uint64_t size)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if (vaddr >= segment->vaddr &&
		    checked_range(vaddr - segment->vaddr, size, segment->file_size))
			return (const uint8_t *)file->image + segment->offset +
			       (vaddr - segment->vaddr);
	}
	return NULL;
}

const struct elf_segment *elf_file_segment_at(const struct elf_file *file, uint64_t vaddr,
					      bool executable)
{
	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];

		if ((segment->executable || !executable) && vaddr >= segment->vaddr &&
		    vaddr - segment->vaddr < segment->memory_size)
			return segment;
	}
	return NULL;
}

struct build_id_text build_id_text(const uint8_t *build_id, size_t size)
{
	static const char digits[] = "0123456789abcdef";
	struct build_id_text text = { "" };

	for (size_t i = 0; i < size && size <= ELF_FILE_MAX_BUILD_ID; i++) {
		text.hex[2 * i] = digits[build_id[i] >> 4];
		text.hex[2 * i + 1] = digits[build_id[i] & 15];
	}
	return text;
}

bool elf_file_has_build_id(const struct elf_file *file, const uint8_t *build_id, size_t size)
{
	return size && file->build_id_size == size && !memcmp(file->build_id, build_id, size);
}
