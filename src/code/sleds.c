/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The sections of sleds, read when the words of data are known (relocations make addresses of them), and each sled held
 * against the bytes that stand there.
 */
#include "code/sleds.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "code/module_state.h"

#define MAX_SLEDS        (1u << 22)
#define XRAY_ENTRY_BYTES 32u
#define XRAY_RELATIVE    2u /* the first version whose addresses are */
#define XRAY_X86_BYTES   11u
#define XRAY_ARM_BYTES   32u
#define XRAY_ARM_BRANCH  UINT32_C(0x14000008) /* b .+32 */

static const char *const sections[CODE_SLED_SECTIONS] = { "__patchable_function_entries",
							  "xray_instr_map", "xray_fn_idx" };

void code_sled_sections_find(struct code_module *module)
{
	for (size_t i = 0; i < CODE_SLED_SECTIONS; i++) {
		Elf_Scn *section;
		GElf_Shdr header;

		if (elf_file_section(&module->file, sections[i], &section, &header) &&
		    header.sh_addr && elf_file_at(&module->file, header.sh_addr, header.sh_size))
			module->sled_sections[i] =
				(struct code_range){ header.sh_addr,
						     header.sh_addr + header.sh_size };
	}
}

bool code_is_sled_word(const struct code_module *module, uint64_t place)
{
	for (size_t i = 0; i < CODE_SLED_SECTIONS; i++)
		if (place >= module->sled_sections[i].start && place < module->sled_sections[i].end)
			return true;
	return false;
}

static void sled_add(struct code_module *module, uint64_t address, uint32_t bytes,
		     enum code_sled_kind kind)
{
	if (!bytes || module->n_sleds >= MAX_SLEDS)
		return;
	if (module->no_memory ||
	    !array_reserve(&module->sleds, &module->sleds_capacity, module->n_sleds + 1))
		module->no_memory = true;
	else
		module->sleds[module->n_sleds++] =
			(struct code_sled){ address, bytes, (uint8_t)kind };
}

/* Bytes of nops from the address on. */
static uint32_t nops_at(const struct code_module *module, uint64_t address)
{
	const struct code_text *text = code_text_at(module, address);
	uint64_t at = address;

	while (text && at < text->end && at - address < CODE_SLED_MAX_BYTES) {
		struct code_insn insn;

		if (!code_insn_decode(module->file.machine, text->bytes + (at - text->start),
				      text->end - at, at, &insn) ||
		    !(insn.flags & CODE_NOP) || (insn.flags & CODE_LANDING))
			break;
		at += insn.length;
	}
	return (uint32_t)(at - address);
}

/* The nops of a function may be parted by a landing pad, which stands where the function starts. */
static void patchable_add(struct code_module *module, uint64_t address)
{
	const uint32_t bytes = nops_at(module, address);
	const struct code_text *text = code_text_at(module, address + bytes);
	struct code_insn insn;

	sled_add(module, address, bytes, CODE_SLED_PATCHABLE);
	if (!bytes || !text ||
	    !code_insn_decode(module->file.machine, text->bytes + (address + bytes - text->start),
			      text->end - (address + bytes), address + bytes, &insn) ||
	    !(insn.flags & CODE_LANDING))
		return;
	sled_add(module, code_insn_end(&insn), nops_at(module, code_insn_end(&insn)),
		 CODE_SLED_PATCHABLE);
}

static void patchable_read(struct code_module *module, const struct code_range *section)
{
	for (uint64_t at = section->start; section->end - at >= 8 && !module->no_memory; at += 8) {
		const uint64_t address = code_module_pointer(module, at);

		if (address)
			patchable_add(module, address);
	}
}

/* Bytes of the sled that stands there, 0: none does. */
static uint32_t xray_bytes(const struct code_module *module, uint64_t address, uint8_t kind)
{
	const bool x86 = module->file.machine == EM_X86_64;
	const uint32_t size = x86 ? XRAY_X86_BYTES : XRAY_ARM_BYTES;
	const uint8_t *bytes = code_module_bytes(module, address, size);
	uint32_t word;

	if (!bytes)
		return 0;
	if (!x86) {
		memcpy(&word, bytes, sizeof(word));
		return word == XRAY_ARM_BRANCH && nops_at(module, address + 4) >= size - 4 ? size
											   : 0;
	}
	if (kind == CODE_SLED_XRAY_EXIT)
		return bytes[0] == 0xc3 && nops_at(module, address + 1) >= size - 1 ? size : 0;
	return bytes[0] == 0xeb && bytes[1] == 0x09 && nops_at(module, address + 2) >= size - 2
		       ? size
		       : 0;
}

static void xray_read(struct code_module *module, const struct code_range *section)
{
	static const uint8_t kinds[] = { CODE_SLED_XRAY_ENTRY, CODE_SLED_XRAY_EXIT,
					 CODE_SLED_XRAY_TAIL, CODE_SLED_XRAY_ENTRY };

	for (uint64_t at = section->start;
	     section->end - at >= XRAY_ENTRY_BYTES && !module->no_memory; at += XRAY_ENTRY_BYTES) {
		const uint8_t *bytes = elf_file_at(&module->file, at, XRAY_ENTRY_BYTES);
		struct bytes cursor = bytes_of(bytes, bytes ? XRAY_ENTRY_BYTES : 0, false);
		uint64_t address = bytes_u64(&cursor);

		if (!bytes)
			return;
		if (bytes[16] >= sizeof(kinds)) /* events: calls inside a function */
			continue;
		address =
			bytes[18] >= XRAY_RELATIVE ? at + address : code_module_pointer(module, at);
		sled_add(module, address, xray_bytes(module, address, kinds[bytes[16]]),
			 (enum code_sled_kind)kinds[bytes[16]]);
	}
}

static int sled_compare(const void *a, const void *b)
{
	const struct code_sled *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

void code_sleds_read(struct code_module *module)
{
	patchable_read(module, &module->sled_sections[0]);
	xray_read(module, &module->sled_sections[1]);
	if (module->n_sleds)
		qsort(module->sleds, module->n_sleds, sizeof(*module->sleds), sled_compare);
}

const struct code_sled *code_module_sled_at(const struct code_module *module, uint64_t vaddr)
{
	size_t low = 0, high = module->n_sleds;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (module->sleds[middle].address + module->sleds[middle].bytes <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < module->n_sleds && module->sleds[low].address <= vaddr ? &module->sleds[low]
									    : NULL;
}

const struct code_sled *code_module_sleds(const struct code_module *module, size_t *n)
{
	*n = module->n_sleds;
	return module->sleds;
}
