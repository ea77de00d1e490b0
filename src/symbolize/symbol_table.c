/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/symbol_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"

struct code_section {
	uint64_t start, end;
	bool executable;
};

struct reading {
	const struct elf_file *file;
	struct code_section *sections; /* by section index */
	size_t n_sections;
	Elf_Data *symbols, *extended; /* extended: SHT_SYMTAB_SHNDX, NULL when there is none */
	uint32_t first_global;        /* sh_info */
};

void symbol_table_release(struct symbol_table *table)
{
	for (size_t i = 0; i < table->n_names; i++)
		free(table->names[i]);
	free(table->names);
	free(table->symbols);
	memset(table, 0, sizeof(*table));
}

static bool sections_read(struct reading *reading)
{
	const struct elf_file *file = reading->file;
	size_t n;

	if (elf_getshdrnum(file->elf, &n) || n > ELF_FILE_MAX_SECTIONS)
		return false;
	reading->sections = calloc(n ? n : 1, sizeof(*reading->sections));
	if (!reading->sections)
		return false;
	reading->n_sections = n;
	for (size_t i = 0; i < n; i++) {
		struct code_section *section = &reading->sections[i];
		Elf_Scn *scn = elf_getscn(file->elf, i);
		GElf_Shdr header;

		if (!scn || !gelf_getshdr(scn, &header))
			continue;
		section->start = header.sh_addr;
		section->executable =
			(header.sh_flags & SHF_EXECINSTR) && (header.sh_flags & SHF_ALLOC) &&
			checked_add_u64(header.sh_addr, header.sh_size, &section->end);
	}
	return true;
}

/* AAELF64 and AAELF32: "$x", "$d", "$a", "$t", alone or followed by ".anything". */
static bool is_mapping_symbol(uint16_t machine, const char *name)
{
	return (machine == EM_AARCH64 || machine == EM_ARM || machine == EM_RISCV) &&
	       name[0] == '$' && name[1] && strchr("xdat", name[1]);
}

static bool is_local_label(const char *name)
{
	return (name[0] == '.' && name[1] == 'L') || (name[0] == 'L' && strchr(name, '\001'));
}

static bool name_is_useful(const struct reading *reading, const GElf_Sym *symbol, const char *name)
{
	if (!name || !name[0])
		return false;
	if (GELF_ST_TYPE(symbol->st_info) != STT_NOTYPE)
		return true;
	return !is_mapping_symbol(reading->file->machine, name) && !is_local_label(name);
}

/* The section of a symbol, or NULL when it names no code. */
static const struct code_section *code_section_of(const struct reading *reading,
						  const GElf_Sym *symbol, Elf32_Word extended_index)
{
	const uint8_t type = GELF_ST_TYPE(symbol->st_info);
	size_t index = symbol->st_shndx;
	const struct code_section *section;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return NULL;
	if (index == SHN_XINDEX)
		index = extended_index;
	else if (index >= SHN_LORESERVE)
		return NULL;
	if (index == SHN_UNDEF || index >= reading->n_sections)
		return NULL;
	section = &reading->sections[index];
	if (!section->executable || symbol->st_value < section->start ||
	    symbol->st_value >= section->end)
		return NULL;
	return section;
}

static bool symbol_append(struct symbol_table *table, const struct reading *reading,
			  const GElf_Sym *symbol, const struct code_section *section,
			  const char *name, uint32_t group)
{
	uint64_t start = symbol->st_value, size = symbol->st_size;

	/* AAELF32: bit 0 of a function's address says that it is Thumb code. */
	if (reading->file->machine == EM_ARM)
		start &= ~UINT64_C(1);
	if (size > section->end - start)
		size = section->end - start;
	if (table->n >= SYMBOL_TABLE_MAX_SYMBOLS ||
	    !array_reserve(&table->symbols, &table->capacity, table->n + 1))
		return false;
	table->symbols[table->n++] = (struct raw_symbol){
		.start = start,
		.size = size,
		.limit = section->end,
		.name = name,
		.file_group = GELF_ST_BIND(symbol->st_info) == STB_LOCAL ? group : 0,
		.type = GELF_ST_TYPE(symbol->st_info),
		.binding = GELF_ST_BIND(symbol->st_info),
	};
	return true;
}

/* Tables of one object may be read twice over (symtab, dynsym): groups keep counting up. */
static bool section_read(struct symbol_table *table, struct reading *reading,
			 const GElf_Shdr *header)
{
	const struct elf_file *file = reading->file;
	const size_t entry_size = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);
	const size_t n = entry_size ? reading->symbols->d_size / entry_size : 0;
	uint32_t group = 0;

	for (size_t i = 0; i < n; i++) {
		Elf32_Word extended_index = 0;
		const struct code_section *section;
		const char *name;
		GElf_Sym symbol;

		if (!gelf_getsymshndx(reading->symbols, reading->extended, (int)i, &symbol,
				      &extended_index))
			continue;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE) {
			group = ++table->n_file_groups;
			continue;
		}
		section = code_section_of(reading, &symbol, extended_index);
		if (!section)
			continue;
		name = elf_strptr(file->elf, header->sh_link, symbol.st_name);
		if (!name)
			table->damaged = true;
		if (!name_is_useful(reading, &symbol, name))
			continue;
		if (!symbol_append(table, reading, &symbol, section, name, group))
			return false;
	}
	return true;
}

static Elf_Data *extended_indices(const struct elf_file *file, size_t symbols_section)
{
	for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn; scn = elf_nextscn(file->elf, scn)) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_SYMTAB_SHNDX &&
		    header.sh_link == symbols_section)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

bool symbol_table_read(struct symbol_table *table, const struct elf_file *file,
		       uint32_t section_type, size_t *n_added)
{
	struct reading reading = { .file = file };
	const size_t before = table->n;
	bool good = sections_read(&reading);

	for (Elf_Scn *scn = good ? elf_nextscn(file->elf, NULL) : NULL; scn && good;
	     scn = elf_nextscn(file->elf, scn)) {
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || header.sh_type != section_type)
			continue;
		reading.symbols = elf_getdata(scn, NULL);
		if (!reading.symbols || !reading.symbols->d_buf) {
			table->damaged = true;
			continue;
		}
		reading.extended = extended_indices(file, elf_ndxscn(scn));
		good = section_read(table, &reading, &header);
	}
	free(reading.sections);
	*n_added = table->n - before;
	return good;
}

bool symbol_table_add_named(struct symbol_table *table, struct raw_symbol symbol, const char *name)
{
	char *copy;

	if (table->n >= SYMBOL_TABLE_MAX_SYMBOLS ||
	    !array_reserve(&table->names, &table->names_capacity, table->n_names + 1) ||
	    !array_reserve(&table->symbols, &table->capacity, table->n + 1))
		return false;
	copy = strdup(name);
	if (!copy)
		return false;
	table->names[table->n_names++] = copy;
	symbol.name = copy;
	table->symbols[table->n++] = symbol;
	return true;
}
