/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Code addresses that data holds: what relocations write at load time (System V ABI, "Dynamic Linking"; RELR:
 * generic ABI proposal, as glibc 2.36 reads it), words of programs linked to a fixed address, and the restartable
 * sequences of __rseq_cs (include/uapi/linux/rseq.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "code/module_state.h"

#define MAX_RELOCATIONS (UINT64_C(1) << 26)
#define MAX_DYNAMIC     4096u
#define RSEQ_CS_BYTES   32u

struct dynamic {
	uint64_t rela, rela_size, relr, relr_size, jmprel, jmprel_size;
	uint64_t symtab, init, fini;
};

static bool word_at(const struct code_module *module, uint64_t vaddr, uint64_t *word)
{
	const uint8_t *bytes = elf_file_at(&module->file, vaddr, sizeof(*word));

	if (bytes)
		memcpy(word, bytes, sizeof(*word));
	return bytes;
}

static void dynamic_entry(struct dynamic *dynamic, uint64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_RELA: dynamic->rela = value; break;
	case DT_RELASZ: dynamic->rela_size = value; break;
	case DT_RELR: dynamic->relr = value; break;
	case DT_RELRSZ: dynamic->relr_size = value; break;
	case DT_JMPREL: dynamic->jmprel = value; break;
	case DT_PLTRELSZ: dynamic->jmprel_size = value; break;
	case DT_SYMTAB: dynamic->symtab = value; break;
	case DT_INIT: dynamic->init = value; break;
	case DT_FINI: dynamic->fini = value; break;
	default: break;
	}
}

static void dynamic_read(const struct code_module *module, struct dynamic *dynamic)
{
	GElf_Phdr program;
	size_t n;

	memset(dynamic, 0, sizeof(*dynamic));
	if (elf_getphdrnum(module->file.elf, &n))
		return;
	for (size_t i = 0; i < n && i < ELF_FILE_MAX_SEGMENTS; i++) {
		if (!gelf_getphdr(module->file.elf, (int)i, &program) ||
		    program.p_type != PT_DYNAMIC)
			continue;
		for (uint64_t j = 0; j < MAX_DYNAMIC; j++) {
			uint64_t tag, value;

			if (!word_at(module, program.p_vaddr + 16 * j, &tag) ||
			    !word_at(module, program.p_vaddr + 16 * j + 8, &value) ||
			    tag == DT_NULL)
				break;
			dynamic_entry(dynamic, tag, value);
		}
	}
}

/* The address that one Elf64_Rela writes, when it is known before the program runs: S + A with S in this
 * object, or B + A. */
static bool rela_value(const struct code_module *module, const struct dynamic *dynamic,
		       const uint8_t *bytes, uint64_t *place, uint64_t *value)
{
	const bool x86 = module->file.machine == EM_X86_64;
	struct bytes cursor = bytes_of(bytes, sizeof(Elf64_Rela), false);
	const uint8_t *symbol;
	uint64_t info;

	*place = bytes_u64(&cursor);
	info = bytes_u64(&cursor);
	*value = bytes_u64(&cursor);
	switch (ELF64_R_TYPE(info)) {
	case R_X86_64_RELATIVE:
	case R_X86_64_IRELATIVE: return x86;
	case R_AARCH64_RELATIVE:
	case R_AARCH64_IRELATIVE: return !x86;
	case R_X86_64_64:
	case R_X86_64_GLOB_DAT:
	case R_X86_64_JUMP_SLOT:
		if (!x86)
			return false;
		break;
	case R_AARCH64_ABS64:
	case R_AARCH64_GLOB_DAT:
	case R_AARCH64_JUMP_SLOT:
		if (x86)
			return false;
		break;
	default: return false;
	}
	symbol = elf_file_at(&module->file, dynamic->symtab + ELF64_R_SYM(info) * sizeof(Elf64_Sym),
			     sizeof(Elf64_Sym));
	if (!symbol)
		return false;
	cursor = bytes_of(symbol + 8, 8, false); /* st_value */
	*value += bytes_u64(&cursor);
	return true;
}

static void pointer_add(struct code_module *module, uint64_t place, uint64_t value)
{
	if (!code_text_at(module, value))
		return;
	if (!code_is_sled_word(module, place))
		code_module_take(module, value);
	if (module->no_memory ||
	    !array_reserve(&module->pointers, &module->pointers_capacity, module->n_pointers + 1))
		module->no_memory = true;
	else
		module->pointers[module->n_pointers++] = (struct code_pointer){ place, value };
}

static int pointer_compare(const void *a, const void *b)
{
	const struct code_pointer *x = a, *y = b;

	return x->place < y->place ? -1 : x->place > y->place;
}

uint64_t code_module_pointer(const struct code_module *module, uint64_t place)
{
	const struct code_pointer key = { .place = place }, *found = NULL;
	uint64_t word;

	if (module->n_pointers)
		found = bsearch(&key, module->pointers, module->n_pointers,
				sizeof(*module->pointers), pointer_compare);
	if (found)
		return found->value;
	if (module->fixed && word_at(module, place, &word) && code_text_at(module, word))
		return word;
	return 0;
}

size_t code_module_places_of(const struct code_module *module, uint64_t vaddr, uint64_t *places,
			     size_t capacity)
{
	size_t n = 0;

	for (size_t i = 0; i < module->n_pointers && n < capacity; i++)
		if (module->pointers[i].value == vaddr)
			places[n++] = module->pointers[i].place;
	return n;
}

static void rela_read(struct code_module *module, const struct dynamic *dynamic, uint64_t start,
		      uint64_t size)
{
	const uint64_t n = size / sizeof(Elf64_Rela);
	const uint8_t *bytes = n && n <= MAX_RELOCATIONS
				       ? elf_file_at(&module->file, start, n * sizeof(Elf64_Rela))
				       : NULL;
	uint64_t place, value;

	for (uint64_t i = 0; bytes && i < n; i++)
		if (rela_value(module, dynamic, bytes + i * sizeof(Elf64_Rela), &place, &value))
			pointer_add(module, place, value);
}

/* Programs without a dynamic section relocate what indirect functions picked: their relocations are found by section. */
static void static_rela_read(struct code_module *module, const struct dynamic *dynamic)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(module->file.elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_RELA &&
		    (header.sh_flags & SHF_ALLOC))
			rela_read(module, dynamic, header.sh_addr, header.sh_size);
}

/* RELR: an even word is an address, whose word is relocated; an odd one a bitmap of the 63 words that follow
 * what came last. The words hold the addends. */
static void relr_read(struct code_module *module, const struct dynamic *dynamic)
{
	const uint64_t n = dynamic->relr_size / 8;
	uint64_t entry, value, base = 0;

	for (uint64_t i = 0; i < n && i < MAX_RELOCATIONS; i++) {
		if (!word_at(module, dynamic->relr + 8 * i, &entry))
			return;
		if (!(entry & 1)) {
			if (word_at(module, entry, &value))
				pointer_add(module, entry, value);
			base = entry + 8;
			continue;
		}
		for (unsigned int bit = 1; bit < 64; bit++)
			if ((entry >> bit & 1) && word_at(module, base + 8 * (bit - 1), &value))
				pointer_add(module, base + 8 * (bit - 1), value);
		base += UINT64_C(8) * 63;
	}
}

/* Without relocations any aligned word may be an address. */
static void words_read(struct code_module *module)
{
	const struct elf_file *file = &module->file;

	for (size_t i = 0; i < file->n_segments; i++) {
		const struct elf_segment *segment = &file->segments[i];
		const uint8_t *bytes = elf_file_at(file, segment->vaddr, segment->file_size);
		const uint64_t first = -segment->vaddr & 7;
		uint64_t word;

		for (uint64_t at = first;
		     bytes && !segment->executable && checked_range(at, 8, segment->file_size);
		     at += 8) {
			memcpy(&word, bytes + at, sizeof(word));
			if (!code_is_sled_word(module, segment->vaddr + at))
				code_module_take(module, word);
		}
	}
}

static void range_refuse(struct code_module *module, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < module->n_functions; i++) {
		struct code_function *function = &module->functions[i];

		if (function->range.start < end && start < function->range.end)
			function->refusal = CODE_RESTARTABLE;
	}
}

/* struct rseq_cs: u32 version, u32 flags, u64 start_ip, u64 post_commit_offset, u64 abort_ip */
static void restartable_read(struct code_module *module)
{
	Elf_Scn *section;
	GElf_Shdr header;

	if (!elf_file_section(&module->file, "__rseq_cs", &section, &header))
		return;
	for (uint64_t at = 0; at + RSEQ_CS_BYTES <= header.sh_size && at < 4096 * RSEQ_CS_BYTES;
	     at += RSEQ_CS_BYTES) {
		const uint64_t entry = header.sh_addr + at;
		uint64_t start, size = 0, abort;

		start = code_module_pointer(module, entry + 8);
		abort = code_module_pointer(module, entry + 24);
		if (!word_at(module, entry + 16, &size))
			continue;
		if (start < start + size)
			range_refuse(module, start, start + size);
		if (abort)
			range_refuse(module, abort, abort + 1);
	}
}

void code_data_read(struct code_module *module)
{
	struct dynamic dynamic;
	GElf_Ehdr header;

	dynamic_read(module, &dynamic);
	rela_read(module, &dynamic, dynamic.rela, dynamic.rela_size);
	rela_read(module, &dynamic, dynamic.jmprel, dynamic.jmprel_size);
	relr_read(module, &dynamic);
	if (!dynamic.rela && !dynamic.jmprel)
		static_rela_read(module, &dynamic);
	if (module->n_pointers)
		qsort(module->pointers, module->n_pointers, sizeof(*module->pointers),
		      pointer_compare);
	if (module->fixed)
		words_read(module);
	if (dynamic.init)
		code_module_take(module, dynamic.init);
	if (dynamic.fini)
		code_module_take(module, dynamic.fini);
	if (gelf_getehdr(module->file.elf, &header))
		code_module_take(module, header.e_entry);
	restartable_read(module);
}
