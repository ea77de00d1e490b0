/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An ELF object built in memory for the tests of src/code: one text, one data section, symbols, frame
 * descriptions and relocations, at fixed places, so that tests can name addresses.
 *
 *	0x1000	.text		0x5000	.eh_frame	0x8000	.symtab		0xb000	section headers
 *	0x4000	.data		0x6000	.dynamic, .rela.dyn	0x9000	.strtab
 *
 * A program linked to a fixed address (ET_EXEC) has all of it 0x400000 higher. File offset and address differ
 * by the same, always.
 */
#ifndef ASSAY_TESTS_CODE_OBJECT_H
#define ASSAY_TESTS_CODE_OBJECT_H

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "code/plan.h"
#include "support/test.h"

#define TEXT         0x1000u
#define DATA         0x4000u
#define EH_FRAME     0x5000u
#define DYNAMIC      0x6000u
#define RELA         0x6100u
#define SYMTAB       0x8000u
#define STRTAB       0x9000u
#define SECTIONS     0xb000u
#define IMAGE_SIZE   0xc000u
#define OBJECT_NAMES 64u

struct object {
	uint8_t *image; /* IMAGE_SIZE bytes */
	uint64_t base;  /* 0, or 0x400000 */
	uint16_t machine;
	size_t n_text, n_data, n_eh_frame, n_rela, n_symbols, n_names;
	size_t cie; /* offset of the last CIE in .eh_frame */
};

static inline void object_init(struct object *object, uint16_t machine, uint16_t type)
{
	Elf64_Ehdr *header;

	memset(object, 0, sizeof(*object));
	object->image = calloc(1, IMAGE_SIZE);
	assert_non_null(object->image);
	object->machine = machine;
	object->base = type == ET_EXEC ? 0x400000 : 0;
	object->n_symbols = object->n_names = 1;
	header = (Elf64_Ehdr *)(void *)object->image;
	memcpy(header->e_ident, ELFMAG, SELFMAG);
	header->e_ident[EI_CLASS] = ELFCLASS64;
	header->e_ident[EI_DATA] = ELFDATA2LSB;
	header->e_ident[EI_VERSION] = EV_CURRENT;
	header->e_type = type;
	header->e_machine = machine;
	header->e_version = EV_CURRENT;
	header->e_phoff = sizeof(*header);
	header->e_ehsize = sizeof(*header);
	header->e_phentsize = sizeof(Elf64_Phdr);
	header->e_shentsize = sizeof(Elf64_Shdr);
}

static inline void object_release(struct object *object)
{
	free(object->image);
}

static inline uint64_t object_here(const struct object *object)
{
	return object->base + TEXT + object->n_text;
}

/* Appends code; returns its address. */
static inline uint64_t object_code(struct object *object, const void *bytes, size_t size)
{
	const uint64_t at = object_here(object);

	assert_true(object->n_text + size <= DATA - TEXT);
	memcpy(object->image + TEXT + object->n_text, bytes, size);
	object->n_text += size;
	return at;
}

static inline uint64_t object_data(struct object *object, const void *bytes, size_t size)
{
	const uint64_t at = object->base + DATA + object->n_data;

	memcpy(object->image + DATA + object->n_data, bytes, size);
	object->n_data += size;
	return at;
}

static inline void object_symbol(struct object *object, const char *name, uint64_t start,
				 uint64_t size, unsigned int binding)
{
	Elf64_Sym *symbol = (Elf64_Sym *)(void *)(object->image + SYMTAB) + object->n_symbols++;

	assert_true(object->n_symbols < OBJECT_NAMES);
	symbol->st_name = (Elf64_Word)object->n_names;
	symbol->st_info = (unsigned char)ELF64_ST_INFO(binding, STT_FUNC);
	symbol->st_shndx = 1;
	symbol->st_value = start;
	symbol->st_size = size;
	strcpy((char *)object->image + STRTAB + object->n_names, name);
	object->n_names += strlen(name) + 1;
}

/* Code with a symbol over it; returns its address. */
static inline uint64_t object_function(struct object *object, const char *name, const void *bytes,
				       size_t size)
{
	const uint64_t at = object_code(object, bytes, size);

	object_symbol(object, name, at, size, STB_GLOBAL);
	return at;
}

#define FUNCTION(object, name, bytes) object_function(object, name, bytes, sizeof(bytes))

static inline void eh_put(struct object *object, const void *bytes, size_t size)
{
	memcpy(object->image + EH_FRAME + object->n_eh_frame, bytes, size);
	object->n_eh_frame += size;
}

static inline void eh_u32(struct object *object, uint64_t value)
{
	const uint32_t word = (uint32_t)value;

	eh_put(object, &word, sizeof(word));
}

/* CIE "zLR" (LSDA and pointers relative, 4 bytes signed) with CFA = rsp + cfa_offset, or sp + 0. */
static inline void object_cie(struct object *object, uint8_t cfa_offset)
{
	const bool x86 = object->machine == EM_X86_64;
	const uint8_t head[] = { 1, 'z', 'L', 'R', 0, 1, 0x78, x86 ? 16 : 30, 2, 0x1b, 0x1b };
	const uint8_t cfa[] = { 0x0c, x86 ? 7 : 31, cfa_offset, 0, 0 };

	object->cie = object->n_eh_frame;
	eh_u32(object, 4 + sizeof(head) + sizeof(cfa));
	eh_u32(object, 0);
	eh_put(object, head, sizeof(head));
	eh_put(object, cfa, sizeof(cfa));
}

/* An FDE of the CIE that was made last; `lsda` 0: none. */
static inline void object_fde(struct object *object, uint64_t start, uint64_t size, uint64_t lsda)
{
	const uint64_t vaddr = object->base + EH_FRAME;
	const uint8_t augmentation = 4, end[3] = { 0 };

	eh_u32(object, 4 + 8 + 1 + 4 + sizeof(end));
	eh_u32(object, object->n_eh_frame - object->cie);
	eh_u32(object, start - (vaddr + object->n_eh_frame));
	eh_u32(object, size);
	eh_put(object, &augmentation, 1);
	eh_u32(object, lsda ? lsda - (vaddr + object->n_eh_frame) : 0);
	eh_put(object, end, sizeof(end));
}

static inline void object_relative(struct object *object, uint64_t place, uint64_t value)
{
	Elf64_Rela *rela = (Elf64_Rela *)(void *)(object->image + RELA) + object->n_rela++;

	rela->r_offset = place;
	rela->r_info = ELF64_R_INFO(0, object->machine == EM_X86_64 ? R_X86_64_RELATIVE
								    : R_AARCH64_RELATIVE);
	rela->r_addend = (Elf64_Sxword)value;
}

static inline void object_section(struct object *object, unsigned int i, const char *name,
				  Elf64_Shdr section)
{
	Elf64_Shdr *to = (Elf64_Shdr *)(void *)(object->image + SECTIONS) + i;

	section.sh_name = (Elf64_Word)object->n_names;
	section.sh_addralign = 1;
	strcpy((char *)object->image + STRTAB + object->n_names, name);
	object->n_names += strlen(name) + 1;
	*to = section;
}

static inline void object_segment(struct object *object, uint32_t type, uint32_t flags,
				  uint64_t offset, uint64_t size)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)object->image;
	Elf64_Phdr *program =
		(Elf64_Phdr *)(void *)(object->image + header->e_phoff) + header->e_phnum++;

	*program = (Elf64_Phdr){ .p_type = type,
				 .p_flags = flags,
				 .p_offset = offset,
				 .p_vaddr = object->base + offset,
				 .p_paddr = object->base + offset,
				 .p_filesz = size,
				 .p_memsz = size,
				 .p_align = 0x1000 };
}

/* Writes the headers; the image is complete then. */
static inline void object_finish(struct object *object)
{
	Elf64_Ehdr *header = (Elf64_Ehdr *)(void *)object->image;
	Elf64_Dyn *dynamic = (Elf64_Dyn *)(void *)(object->image + DYNAMIC);
	const uint64_t base = object->base;

	dynamic[0] = (Elf64_Dyn){ .d_tag = DT_RELA, .d_un.d_val = base + RELA };
	dynamic[1] = (Elf64_Dyn){ .d_tag = DT_RELASZ,
				  .d_un.d_val = object->n_rela * sizeof(Elf64_Rela) };
	object_segment(object, PT_LOAD, PF_R | PF_X, TEXT, object->n_text);
	object_segment(object, PT_LOAD, PF_R | PF_W, DATA, SYMTAB - DATA);
	object_segment(object, PT_DYNAMIC, PF_R, DYNAMIC, 3 * sizeof(Elf64_Dyn));
	object_section(object, 1, ".text",
		       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				     .sh_addr = base + TEXT,
				     .sh_offset = TEXT,
				     .sh_size = object->n_text });
	object_section(object, 2, ".eh_frame",
		       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC,
				     .sh_addr = base + EH_FRAME,
				     .sh_offset = EH_FRAME,
				     .sh_size = object->n_eh_frame + 4 });
	object_section(object, 3, ".symtab",
		       (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
				     .sh_offset = SYMTAB,
				     .sh_size = object->n_symbols * sizeof(Elf64_Sym),
				     .sh_link = 4,
				     .sh_info = 1,
				     .sh_entsize = sizeof(Elf64_Sym) });
	object_section(object, 4, ".strtab",
		       (Elf64_Shdr){ .sh_type = SHT_STRTAB,
				     .sh_offset = STRTAB,
				     .sh_size = SECTIONS - STRTAB });
	header->e_shoff = SECTIONS;
	header->e_shnum = 5;
	header->e_shstrndx = 4;
}

/* Finishes and analyses the object. */
static inline struct code_module *object_open(struct object *object)
{
	struct code_module *module;
	struct error error;

	object_finish(object);
	if (code_module_open_image(&module, object->image, IMAGE_SIZE, NULL, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return module;
}

/* Plans the function at the address with default options. */
static inline enum code_refusal object_plan(struct code_plan *plan, struct code_module *module,
					    uint64_t address)
{
	return code_plan_make(plan, module, code_module_function_at(module, address), NULL);
}

/* The patch that holds a site at the address; fails when there is none. */
static inline const struct code_patch *patch_of(const struct code_plan *plan, uint64_t address)
{
	for (uint32_t i = 0; i < plan->n_patches; i++)
		for (uint32_t j = 0; j < plan->patches[i].n_sites; j++)
			if (plan->sites[plan->patches[i].first_site + j].address == address)
				return &plan->patches[i];
	fail_msg("no patch has a site at %#lx", (unsigned long)address);
	return NULL;
}

#endif
