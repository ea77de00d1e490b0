/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/plt.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "symbolize/function_model.h"

struct slot {
	uint64_t address;
	const char *name; /* NULL: the slot gets the result of the resolver at `resolver` */
	uint64_t resolver;
};

struct slots {
	struct slot *items;
	size_t n, capacity;
};

static int slot_compare(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool relocation_is_slot(uint16_t machine, uint64_t type)
{
	if (machine == EM_X86_64)
		return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT ||
		       type == R_X86_64_IRELATIVE;
	return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT ||
	       type == R_AARCH64_IRELATIVE;
}

static const char *relocation_symbol(const struct elf_file *file, Elf_Data *symbols,
				     uint32_t strings, uint64_t index)
{
	GElf_Sym symbol;

	if (!symbols || !index || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &symbol))
		return NULL;
	return elf_strptr(file->elf, strings, symbol.st_name);
}

static bool section_slots(struct slots *slots, const struct elf_file *file, Elf_Scn *scn,
			  const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL), *symbols = NULL;
	Elf_Scn *symbols_scn = elf_getscn(file->elf, header->sh_link);
	const size_t entry_size = gelf_fsize(file->elf, ELF_T_RELA, 1, EV_CURRENT);
	uint32_t strings = 0;
	GElf_Shdr symbols_header;

	if (!data || !entry_size)
		return true;
	if (header->sh_link && symbols_scn && gelf_getshdr(symbols_scn, &symbols_header)) {
		symbols = elf_getdata(symbols_scn, NULL);
		strings = symbols_header.sh_link;
	}
	for (size_t i = 0; i < data->d_size / entry_size && slots->n < PLT_MAX_SLOTS; i++) {
		struct slot slot = { 0 };
		GElf_Rela relocation;

		if (!gelf_getrela(data, (int)i, &relocation) ||
		    !relocation_is_slot(file->machine, GELF_R_TYPE(relocation.r_info)))
			continue;
		slot.address = relocation.r_offset;
		slot.resolver = (uint64_t)relocation.r_addend;
		slot.name =
			relocation_symbol(file, symbols, strings, GELF_R_SYM(relocation.r_info));
		if (slot.name &&
		    (!slot.name[0] || strnlen(slot.name, SYMBOL_MAX_NAME) == SYMBOL_MAX_NAME))
			continue;
		if (!array_reserve(&slots->items, &slots->capacity, slots->n + 1))
			return false;
		slots->items[slots->n++] = slot;
	}
	return true;
}

static bool slots_read(struct slots *slots, const struct elf_file *file)
{
	for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn; scn = elf_nextscn(file->elf, scn)) {
		GElf_Shdr header;

		if (gelf_getshdr(scn, &header) && header.sh_type == SHT_RELA &&
		    !section_slots(slots, file, scn, &header))
			return false;
	}
	if (slots->n)
		qsort(slots->items, slots->n, sizeof(*slots->items), slot_compare);
	return true;
}

static uint32_t little_u32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* A stub that starts at `code`: its length and the slot it jumps through, or 0. */
static size_t stub_x86_64(const uint8_t *code, size_t left, uint64_t address, uint64_t *slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = 0;

	if (left >= sizeof(endbr64) && !memcmp(code, endbr64, sizeof(endbr64)))
		at += sizeof(endbr64);
	if (at < left && code[at] == 0xf2)
		at++;
	if (left - at < 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return 0;
	at += 6;
	*slot = address + at + (uint64_t)(int64_t)(int32_t)little_u32(code + at - 4);
	return at;
}

/* adrp (A64 C6.2.10): 1 immlo:2 10000 immhi:19 Rd:5. ldr (C6.2.166): 1111100101 imm12 Rn Rt. */
static size_t stub_aarch64(const uint8_t *code, size_t left, uint64_t address, uint64_t *slot)
{
	size_t at = 0;
	uint32_t adrp, ldr;
	uint64_t page;

	if (left >= 4 && little_u32(code) == 0xd503245f) /* bti c */
		at = 4;
	if (left - at < 16)
		return 0;
	adrp = little_u32(code + at);
	ldr = little_u32(code + at + 4);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211 ||
	    little_u32(code + at + 12) != 0xd61f0220)
		return 0;
	page = (uint64_t)(adrp >> 29 & 3) | (uint64_t)(adrp >> 5 & 0x7ffff) << 2;
	page = (uint64_t)((int64_t)(page << 43) >> 43) << 12;
	*slot = ((address + at) & ~UINT64_C(0xfff)) + page + ((uint64_t)(ldr >> 10 & 0xfff) << 3);
	return at + 16;
}

static const struct slot *slot_at(const struct slots *slots, uint64_t address)
{
	const struct slot key = { .address = address };

	return slots->n ? bsearch(&key, slots->items, slots->n, sizeof(key), slot_compare) : NULL;
}

/* The name that a stub's resolver goes by: the symbol of the indirect function there. Each search walks
 * all symbols; a real object has a few dozen such stubs. */
static const char *resolver_name(const struct symbol_table *table, size_t n, uint64_t resolver)
{
	const struct raw_symbol *best = NULL;

	if (table->n - n > PLT_MAX_RESOLVED)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		const struct raw_symbol *symbol = &table->symbols[i];

		if (symbol->start == resolver && symbol->type == STT_GNU_IFUNC &&
		    (!best || raw_symbol_compare(symbol, best) < 0))
			best = symbol;
	}
	return best ? best->name : NULL;
}

static bool stub_add(struct symbol_table *table, size_t n_symbols, const struct slot *slot,
		     uint64_t start, uint64_t size, uint64_t limit)
{
	const struct raw_symbol symbol = {
		.start = start,
		.size = size,
		.limit = limit,
		.type = STT_FUNC,
		.binding = STB_LOCAL,
		.stub = true,
	};
	const char *name =
		slot->name ? slot->name : resolver_name(table, n_symbols, slot->resolver);
	char *text;
	bool good;

	if ((name ? asprintf(&text, "%s@plt", name)
		  : asprintf(&text, "*%#" PRIx64 "@plt", slot->resolver)) < 0)
		return false;
	good = symbol_table_add_named(table, symbol, text);
	free(text);
	return good;
}

static bool section_stubs(struct symbol_table *table, size_t n_symbols, const struct slots *slots,
			  const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(scn, NULL);
	const size_t step = file->machine == EM_X86_64 ? 8 : 4;
	/* Stubs are padded to this size: .plt.got's have 8 bytes, all others 16. */
	const uint64_t align = header->sh_entsize == 8 ? 8 : 16;

	if (!data || !data->d_buf)
		return true;
	for (size_t at = 0; at < data->d_size;) {
		const uint8_t *code = (const uint8_t *)data->d_buf + at;
		const uint64_t start = header->sh_addr + at, limit = header->sh_addr + data->d_size;
		const struct slot *slot;
		uint64_t slot_address, size;
		size_t length =
			file->machine == EM_X86_64
				? stub_x86_64(code, data->d_size - at, start, &slot_address)
				: stub_aarch64(code, data->d_size - at, start, &slot_address);

		slot = length ? slot_at(slots, slot_address) : NULL;
		if (!slot) {
			at += step;
			continue;
		}
		size = checked_align_up(length, align);
		if (size > limit - start)
			size = limit - start;
		if (!stub_add(table, n_symbols, slot, start, size, limit))
			return false;
		at += size;
	}
	return true;
}

bool plt_read(struct symbol_table *table, const struct elf_file *file)
{
	const size_t n_symbols = table->n;
	struct slots slots = { 0 };
	bool good;
	size_t names;

	if ((file->machine != EM_X86_64 && file->machine != EM_AARCH64) || file->big_endian ||
	    !file->is_64_bit || elf_getshdrstrndx(file->elf, &names))
		return true;
	good = slots_read(&slots, file);
	for (Elf_Scn *scn = elf_nextscn(file->elf, NULL); scn && good && slots.n;
	     scn = elf_nextscn(file->elf, scn)) {
		const char *name;
		GElf_Shdr header;

		if (!gelf_getshdr(scn, &header) || header.sh_type != SHT_PROGBITS ||
		    !(header.sh_flags & SHF_EXECINSTR))
			continue;
		name = elf_strptr(file->elf, names, header.sh_name);
		if (name && (!strncmp(name, ".plt", 4) || !strcmp(name, ".iplt")))
			good = section_stubs(table, n_symbols, &slots, file, scn, &header);
	}
	free(slots.items);
	return good;
}
