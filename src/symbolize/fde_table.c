/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/fde_table.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/checked.h"
#include "symbolize/encoded_pointer.h"

struct reading {
	struct fde_table *table;
	const struct elf_file *file;
	uint32_t section;
	/* The CIE that was decoded last: neighbours share theirs. */
	uint64_t cie_offset;
	int encoding;
};

static bool must_swap(const struct elf_file *file)
{
	return file->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
}

/* Augmentation string and data of a CIE (LSB 10.6.1.1.1): 'z' starts, then one letter per item. */
static void augmentation_read(const struct elf_file *file, struct fde_cie *cie)
{
	struct bytes data = bytes_of(cie->cie.augmentation_data, cie->cie.augmentation_data_size,
				     must_swap(file));
	const char *letter = cie->cie.augmentation;

	cie->encoding = DW_EH_PE_absptr;
	if (!letter || !*letter)
		return;
	cie->has_data = *letter == 'z';
	if (!cie->has_data)
		cie->encoding = -1;
	while (cie->has_data && *++letter) {
		struct encoded_pointer ignored = { .is_64_bit = file->is_64_bit };
		const uint8_t *byte;

		if (*letter == 'S')
			cie->is_signal = true;
		if (*letter == 'S' || *letter == 'B' || *letter == 'G')
			continue;
		if (*letter != 'R' && *letter != 'L' && *letter != 'P')
			return; /* what follows cannot be located */
		byte = bytes_take(&data, 1);
		if (byte && *letter == 'R')
			cie->encoding = *byte;
		else if (byte && *letter == 'P')
			encoded_pointer_read(&ignored, &data, *byte);
		if (data.failed)
			cie->encoding = -1;
	}
}

bool fde_cie_read(const struct elf_file *file, const struct fde_table *table, uint32_t section,
		  uint64_t offset, struct fde_cie *cie)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(file->elf, NULL);
	const struct fde_bytes *bytes = &table->sections[section];
	Elf_Data data = bytes->data;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	memset(cie, 0, sizeof(*cie));
	cie->encoding = -1;
	if (!ident || !data.d_buf || offset >= data.d_size ||
	    dwarf_next_cfi(ident, &data, section == FDE_EH_FRAME, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	cie->cie = entry.cie;
	augmentation_read(file, cie);
	return true;
}

static int encoding_at(struct reading *reading, uint64_t cie_offset)
{
	struct fde_cie cie;

	if (reading->cie_offset != cie_offset) {
		reading->cie_offset = cie_offset;
		fde_cie_read(reading->file, reading->table, reading->section, cie_offset, &cie);
		reading->encoding = cie.encoding;
	}
	return reading->encoding;
}

static bool range_add(struct reading *reading, uint64_t start, uint64_t size, uint64_t offset)
{
	struct fde_table *table = reading->table;
	const struct elf_segment *segment = elf_file_segment_at(reading->file, start, true);

	/* The linker zeroes the start of entries whose function it threw away. */
	if (!size || !segment || offset > UINT32_MAX)
		return true;
	if (size > segment->memory_size - (start - segment->vaddr))
		size = segment->memory_size - (start - segment->vaddr);
	if (table->n >= FDE_TABLE_MAX_ENTRIES ||
	    !array_reserve(&table->ranges, &table->capacity, table->n + 1))
		return false;
	table->ranges[table->n++] =
		(struct fde_range){ start, start + size, (uint32_t)offset, reading->section };
	return true;
}

static bool fde_read(struct reading *reading, const Dwarf_FDE *fde, uint64_t offset, int encoding)
{
	const struct fde_bytes *section = &reading->table->sections[reading->section];
	struct bytes bytes =
		bytes_of(fde->start, (size_t)(fde->end - fde->start), must_swap(reading->file));
	struct encoded_pointer start = {
		.is_64_bit = reading->file->is_64_bit,
		.vaddr = section->vaddr +
			 (uint64_t)(fde->start - (const uint8_t *)section->data.d_buf),
	};
	struct encoded_pointer size = { .is_64_bit = reading->file->is_64_bit };

	if (!encoded_pointer_read(&start, &bytes, (uint8_t)encoding) ||
	    !encoded_pointer_read(&size, &bytes, (uint8_t)(encoding & 0x0f))) {
		reading->table->damaged = true;
		return true;
	}
	return range_add(reading, start.value, size.value, offset);
}

static bool entries_read(struct reading *reading)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(reading->file->elf, NULL);
	Elf_Data *data = &reading->table->sections[reading->section].data;
	const bool eh_frame = reading->section == FDE_EH_FRAME;
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;

	reading->cie_offset = UINT64_MAX;
	for (; offset != (Dwarf_Off)-1; offset = next) {
		int result = dwarf_next_cfi(ident, data, eh_frame, offset, &next, &entry);
		int encoding;

		if (result > 0)
			break;
		if (result < 0 || next <= offset) {
			reading->table->damaged = true;
			/* libdw steps over an entry whose body it cannot parse. */
			if (next <= offset)
				break;
			continue;
		}
		if (dwarf_cfi_cie_p(&entry))
			continue;
		encoding = encoding_at(reading, entry.fde.CIE_pointer);
		if (encoding < 0)
			reading->table->damaged = true;
		else if (!fde_read(reading, &entry.fde, offset, encoding))
			return false;
	}
	return true;
}

/* PT_GNU_EH_FRAME leads to .eh_frame_hdr, whose second field points at .eh_frame:
 *	u8 version = 1, u8 eh_frame_ptr encoding, u8 count encoding, u8 table encoding, eh_frame_ptr
 * Its end is not told; the zero terminator or the end of the segment is. */
static bool eh_frame_by_header(const struct elf_file *file, struct fde_bytes *section)
{
	const struct elf_segment *segment;
	const uint8_t *header;
	GElf_Phdr program;
	size_t n;

	if (elf_getphdrnum(file->elf, &n))
		return false;
	for (size_t i = 0; i < n && i < ELF_FILE_MAX_SEGMENTS; i++) {
		struct encoded_pointer pointer = { .is_64_bit = file->is_64_bit };
		struct bytes bytes;

		if (!gelf_getphdr(file->elf, (int)i, &program) || program.p_type != PT_GNU_EH_FRAME)
			continue;
		header = elf_file_at(file, program.p_vaddr, 12);
		if (!header || header[0] != 1)
			continue;
		bytes = bytes_of(header + 4, 8, must_swap(file));
		pointer.vaddr = program.p_vaddr + 4;
		pointer.data_base = program.p_vaddr;
		if (!encoded_pointer_read(&pointer, &bytes, header[1]))
			continue;
		segment = elf_file_segment_at(file, pointer.value, false);
		if (!segment || pointer.value - segment->vaddr >= segment->file_size)
			continue;
		memset(section, 0, sizeof(*section));
		section->vaddr = pointer.value;
		section->data.d_type = ELF_T_BYTE;
		section->data.d_version = EV_CURRENT;
		section->data.d_size = segment->file_size - (pointer.value - segment->vaddr);
		section->data.d_buf =
			(uint8_t *)file->image + segment->offset + (pointer.value - segment->vaddr);
		return true;
	}
	return false;
}

static int range_compare(const void *a, const void *b)
{
	const struct fde_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	if (x->section != y->section)
		return x->section > y->section ? -1 : 1;
	return x->offset > y->offset ? -1 : x->offset < y->offset;
}

/* Of entries with one start the longest is kept, of equal ones that of .eh_frame; an entry ends where the next one starts. */
static void ranges_tidy(struct fde_table *table)
{
	size_t n = 0;

	if (table->n)
		qsort(table->ranges, table->n, sizeof(*table->ranges), range_compare);
	for (size_t i = 0; i < table->n; i++) {
		if (i + 1 < table->n && table->ranges[i + 1].start == table->ranges[i].start)
			continue;
		if (n && table->ranges[n - 1].end > table->ranges[i].start)
			table->ranges[n - 1].end = table->ranges[i].start;
		table->ranges[n++] = table->ranges[i];
	}
	table->n = n;
}

static bool section_read(struct fde_table *table, const struct elf_file *file,
			 const struct elf_file *in, const char *name, uint32_t section)
{
	struct reading reading = { .table = table, .file = file, .section = section };
	struct fde_bytes *bytes = &table->sections[section];
	GElf_Shdr header;
	Elf_Data *data = elf_file_section_data(in, name, &header);

	if (data) {
		bytes->data = *data;
		bytes->vaddr = header.sh_addr;
	} else if (section != FDE_EH_FRAME || !eh_frame_by_header(file, bytes)) {
		return true;
	}
	return entries_read(&reading);
}

bool fde_table_read(struct fde_table *table, const struct elf_file *file,
		    const struct elf_file *debug)
{
	bool good;

	memset(table, 0, sizeof(*table));
	good = section_read(table, file, file, ".eh_frame", FDE_EH_FRAME) &&
	       section_read(table, file, file, ".debug_frame", FDE_DEBUG_FRAME);
	if (debug)
		good = good && section_read(table, file, debug, ".debug_frame", FDE_SEPARATE_FRAME);
	if (good)
		ranges_tidy(table);
	else
		fde_table_release(table);
	return good;
}

void fde_table_release(struct fde_table *table)
{
	free(table->ranges);
	memset(table, 0, sizeof(*table));
}

const struct fde_range *fde_table_after(const struct fde_table *table, uint64_t vaddr)
{
	size_t low = 0, high = table->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (table->ranges[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->n ? &table->ranges[low] : NULL;
}

const struct fde_range *fde_table_at(const struct fde_table *table, uint64_t vaddr)
{
	const struct fde_range *after = fde_table_after(table, vaddr);
	const size_t above = after ? (size_t)(after - table->ranges) : table->n;

	return above && vaddr < table->ranges[above - 1].end ? &table->ranges[above - 1] : NULL;
}
