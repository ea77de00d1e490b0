/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Landing pads: where an exception makes control come to. Every FDE may point at a table of its call sites
 * (the "LSDA" of the Itanium C++ ABI, Exception Handling; layout as in gcc's unwind-pe and libstdc++'s
 * eh_personality.cc):
 *
 *	u8 encoding of LPStart (0xff: the function's start), LPStart
 *	u8 encoding of the type table (0xff: none), uleb128 its offset
 *	u8 encoding of call sites, uleb128 their length in bytes
 *	call sites: start, length, landing pad (0: none), uleb128 action
 */
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "code/module_state.h"
#include "symbolize/encoded_pointer.h"

#define MAX_TABLE_BYTES (UINT64_C(16) << 20)

struct landings {
	struct code_module *module;
	/* The CIE that was read last: neighbours share theirs. */
	uint32_t cie_section;
	uint64_t cie_offset;
	struct fde_cie cie;
	int lsda_encoding; /* -1: its FDEs have none */
};

/* Augmentation letters in order: 'z', then one item each; 'L' holds the encoding. */
static int lsda_encoding_of(const struct fde_cie *cie)
{
	struct bytes data =
		bytes_of(cie->cie.augmentation_data, cie->cie.augmentation_data_size, false);
	const char *letter = cie->cie.augmentation;
	int encoding = -1;

	if (!letter || *letter != 'z')
		return -1;
	while (*++letter) {
		struct encoded_pointer ignored = { .is_64_bit = true };
		const uint8_t *byte;

		if (*letter != 'R' && *letter != 'L' && *letter != 'P')
			continue;
		byte = bytes_take(&data, 1);
		if (!byte)
			return -1;
		if (*letter == 'L')
			encoding = *byte == DW_EH_PE_omit ? -1 : *byte;
		else if (*letter == 'P' && !encoded_pointer_read(&ignored, &data, *byte & 0x7f))
			return -1;
	}
	return encoding;
}

static bool cie_of(struct landings *landings, uint32_t section, uint64_t offset)
{
	if (landings->cie_offset == offset && landings->cie_section == section)
		return true;
	landings->cie_offset = UINT64_MAX;
	if (!fde_cie_read(&landings->module->file, &landings->module->fdes, section, offset,
			  &landings->cie))
		return false;
	landings->cie_offset = offset;
	landings->cie_section = section;
	landings->lsda_encoding = lsda_encoding_of(&landings->cie);
	return true;
}

/* The address of the FDE's table: 0 when it has none. False when the entry cannot be read. */
static bool lsda_find(struct landings *landings, const struct fde_range *range, uint64_t *lsda)
{
	const struct fde_bytes *section = &landings->module->fdes.sections[range->section];
	const unsigned char *ident =
		(const unsigned char *)elf_getident(landings->module->file.elf, NULL);
	struct encoded_pointer pointer = { .is_64_bit = true };
	Elf_Data data = section->data;
	Dwarf_CFI_Entry entry;
	struct bytes bytes;
	Dwarf_Off next;
	uint8_t encoding;

	*lsda = 0;
	if (!ident || dwarf_next_cfi(ident, &data, range->section == FDE_EH_FRAME, range->offset,
				     &next, &entry))
		return false;
	if (!cie_of(landings, range->section, entry.fde.CIE_pointer))
		return false;
	if (landings->lsda_encoding < 0)
		return true;
	bytes = bytes_of(entry.fde.start, (size_t)(entry.fde.end - entry.fde.start), false);
	encoding = (uint8_t)landings->cie.encoding;
	if (landings->cie.encoding < 0 || !encoded_pointer_read(&pointer, &bytes, encoding) ||
	    !encoded_pointer_read(&pointer, &bytes, encoding & 0x0f))
		return false;
	if (!bytes_leb128(&bytes, false)) /* length of the augmentation data */
		return !bytes.failed;
	pointer.vaddr =
		section->vaddr + (uint64_t)(bytes.at - (const uint8_t *)section->data.d_buf);
	encoding = (uint8_t)landings->lsda_encoding;
	if (!encoded_pointer_read(&pointer, &bytes, encoding))
		return false;
	/* a null pointer is null before it is made relative */
	*lsda = pointer.value == pointer.vaddr && (encoding & 0x70) == DW_EH_PE_pcrel
			? 0
			: pointer.value;
	return true;
}

/* The bytes of the table: at most up to the end of its segment. */
static bool table_open(const struct code_module *module, uint64_t vaddr, struct bytes *bytes)
{
	const struct elf_segment *segment = elf_file_segment_at(&module->file, vaddr, false);
	uint64_t size;
	const uint8_t *start;

	if (!segment || vaddr - segment->vaddr >= segment->file_size)
		return false;
	size = segment->file_size - (vaddr - segment->vaddr);
	if (size > MAX_TABLE_BYTES)
		size = MAX_TABLE_BYTES;
	start = elf_file_at(&module->file, vaddr, size);
	if (!start)
		return false;
	*bytes = bytes_of(start, size, false);
	return true;
}

static uint8_t byte_take(struct bytes *bytes)
{
	const uint8_t *byte = bytes_take(bytes, 1);

	return byte ? *byte : DW_EH_PE_omit;
}

static bool call_sites_read(struct landings *landings, const struct fde_range *range,
			    struct bytes *sites, uint8_t encoding, uint64_t landing_base)
{
	struct code_module *module = landings->module;
	const uint32_t function = code_module_function_at(module, range->start);

	while (bytes_left(sites)) {
		struct encoded_pointer start = { .is_64_bit = true }, size = start, pad = start;

		if (!encoded_pointer_read(&start, sites, encoding) ||
		    !encoded_pointer_read(&size, sites, encoding) ||
		    !encoded_pointer_read(&pad, sites, encoding))
			return false;
		bytes_leb128(sites, false);
		if (sites->failed)
			return false;
		if (!pad.value)
			continue;
		if (!code_text_at(module, landing_base + pad.value))
			return false;
		code_module_lead(module, range->start, function, landing_base + pad.value);
	}
	return true;
}

static bool table_read(struct landings *landings, const struct fde_range *range, uint64_t vaddr)
{
	struct encoded_pointer base = { .is_64_bit = true, .value = range->start };
	struct bytes bytes, sites;
	uint8_t encoding;
	uint64_t length;

	if (!table_open(landings->module, vaddr, &bytes))
		return false;
	encoding = byte_take(&bytes);
	base.vaddr = vaddr + 1;
	if (encoding != DW_EH_PE_omit && !encoded_pointer_read(&base, &bytes, encoding))
		return false;
	encoding = byte_take(&bytes);
	if (encoding != DW_EH_PE_omit)
		bytes_leb128(&bytes, false);
	encoding = byte_take(&bytes);
	length = bytes_leb128(&bytes, false);
	if (bytes.failed || length > bytes_left(&bytes))
		return false;
	/* relative encodings do not occur here, and could not be told what they are relative to */
	if (encoding == DW_EH_PE_omit || (encoding & 0x70) != 0)
		return false;
	sites = bytes_of(bytes.at, length, false);
	return call_sites_read(landings, range, &sites, encoding, base.value);
}

void code_landings_read(struct code_module *module)
{
	struct landings landings = { .module = module, .cie_offset = UINT64_MAX };

	for (size_t i = 0; i < module->fdes.n && !module->no_memory; i++) {
		const struct fde_range *range = &module->fdes.ranges[i];
		uint32_t function = code_module_function_at(module, range->start);
		uint64_t lsda;

		if (range->section != FDE_EH_FRAME)
			continue;
		if (lsda_find(&landings, range, &lsda) &&
		    (!lsda || table_read(&landings, range, lsda)))
			continue;
		if (function != CODE_NO_FUNCTION && !module->functions[function].refusal)
			module->functions[function].refusal = CODE_DAMAGED_LANDINGS;
	}
}
