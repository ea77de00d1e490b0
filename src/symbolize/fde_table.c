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
	const uint8_t *data; /* the section */
	uint64_t vaddr;      /* of its first byte */
	bool eh_frame;
	/* The CIE that was decoded last: neighbours share theirs. */
	uint64_t cie_offset;
	int encoding; /* DW_EH_PE_* of its FDEs' pointers, -1: not understood */
};

/* Augmentation string and data of a CIE (LSB 10.6.1.1.1): 'z' starts, then one letter per item. */
static int cie_encoding(const struct reading *reading, const Dwarf_CIE *cie)
{
	struct bytes data =
		bytes_of(cie->augmentation_data, cie->augmentation_data_size,
			 reading->file->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
	const char *letter = cie->augmentation;
	int encoding = DW_EH_PE_absptr;

	if (!letter || *letter != 'z')
		return letter && *letter ? -1 : encoding;
	while (*++letter) {
		struct encoded_pointer ignored = { .is_64_bit = reading->file->is_64_bit };
		const uint8_t *byte;

		switch (*letter) {
		case 'S':
		case 'B':
		case 'G': continue;
		case 'R':
		case 'L':
			byte = bytes_take(&data, 1);
			if (byte && *letter == 'R')
				encoding = *byte;
			break;
		case 'P':
			byte = bytes_take(&data, 1);
			if (byte)
				encoded_pointer_read(&ignored, &data, *byte);
			break;
		default: return encoding; /* what follows cannot be located */
		}
		if (data.failed)
			return -1;
	}
	return encoding;
}

static int encoding_at(struct reading *reading, const unsigned char *ident, Elf_Data *section,
		       uint64_t cie_offset)
{
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (reading->cie_offset == cie_offset)
		return reading->encoding;
	reading->cie_offset = cie_offset;
	reading->encoding = -1;
	if (!dwarf_next_cfi(ident, section, reading->eh_frame, cie_offset, &next, &entry) &&
	    dwarf_cfi_cie_p(&entry))
		reading->encoding = cie_encoding(reading, &entry.cie);
	return reading->encoding;
}

static bool range_add(struct reading *reading, uint64_t start, uint64_t size)
{
	struct fde_table *table = reading->table;
	const struct elf_segment *segment = elf_file_segment_at(reading->file, start, true);

	/* The linker zeroes the start of entries whose function it threw away. */
	if (!size || !segment)
		return true;
	if (size > segment->memory_size - (start - segment->vaddr))
		size = segment->memory_size - (start - segment->vaddr);
	if (table->n >= FDE_TABLE_MAX_ENTRIES ||
	    !array_reserve(&table->ranges, &table->capacity, table->n + 1))
		return false;
	table->ranges[table->n++] = (struct fde_range){ start, start + size };
	return true;
}

static bool fde_read(struct reading *reading, const Dwarf_FDE *fde, int encoding)
{
	const bool swap = reading->file->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	struct bytes bytes = bytes_of(fde->start, (size_t)(fde->end - fde->start), swap);
	struct encoded_pointer start = {
		.is_64_bit = reading->file->is_64_bit,
		.vaddr = reading->vaddr + (uint64_t)(fde->start - reading->data),
	};
	struct encoded_pointer size = { .is_64_bit = reading->file->is_64_bit };

	if (!encoded_pointer_read(&start, &bytes, (uint8_t)encoding) ||
	    !encoded_pointer_read(&size, &bytes, (uint8_t)(encoding & 0x0f))) {
		reading->table->damaged = true;
		return true;
	}
	return range_add(reading, start.value, size.value);
}

static bool entries_read(struct reading *reading, Elf_Data *section)
{
	const unsigned char *ident = (const unsigned char *)elf_getident(reading->file->elf, NULL);
	Dwarf_Off offset = 0, next = 0;
	Dwarf_CFI_Entry entry;

	reading->data = section->d_buf;
	reading->cie_offset = UINT64_MAX;
	for (; offset != (Dwarf_Off)-1; offset = next) {
		int result =
			dwarf_next_cfi(ident, section, reading->eh_frame, offset, &next, &entry);

		if (result > 0)
			break;
		if (result < 0 || next <= offset) {
			reading->table->damaged = true;
			/* libdw steps over an entry whose body it cannot parse. */
			if (next <= offset)
				break;
			continue;
		}
		if (!dwarf_cfi_cie_p(&entry)) {
			int encoding = encoding_at(reading, ident, section, entry.fde.CIE_pointer);

			if (encoding < 0)
				reading->table->damaged = true;
			else if (!fde_read(reading, &entry.fde, encoding))
				return false;
		}
	}
	return true;
}

/* PT_GNU_EH_FRAME leads to .eh_frame_hdr, whose second field points at .eh_frame:
 *	u8 version = 1, u8 eh_frame_ptr encoding, u8 count encoding, u8 table encoding, eh_frame_ptr
 * Its end is not told; the zero terminator or the end of the segment is. */
static bool eh_frame_by_header(const struct elf_file *file, Elf_Data *section, uint64_t *vaddr)
{
	const bool swap = file->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
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
		bytes = bytes_of(header + 4, 8, swap);
		pointer.vaddr = program.p_vaddr + 4;
		pointer.data_base = program.p_vaddr;
		if (!encoded_pointer_read(&pointer, &bytes, header[1]))
			continue;
		segment = elf_file_segment_at(file, pointer.value, false);
		if (!segment || pointer.value - segment->vaddr >= segment->file_size)
			continue;
		memset(section, 0, sizeof(*section));
		section->d_type = ELF_T_BYTE;
		section->d_version = EV_CURRENT;
		section->d_size = segment->file_size - (pointer.value - segment->vaddr);
		section->d_buf =
			(uint8_t *)file->image + segment->offset + (pointer.value - segment->vaddr);
		*vaddr = pointer.value;
		return true;
	}
	return false;
}

static int range_compare(const void *a, const void *b)
{
	const struct fde_range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

/* Of entries with one start the longest is kept; an entry ends where the next one starts. */
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

static bool debug_frame_read(struct reading *reading, const struct elf_file *in)
{
	GElf_Shdr header;
	Elf_Data *section = elf_file_section_data(in, ".debug_frame", &header);

	reading->eh_frame = false;
	reading->vaddr = 0;
	return !section || entries_read(reading, section);
}

bool fde_table_read(struct fde_table *table, const struct elf_file *file,
		    const struct elf_file *debug)
{
	struct reading reading = { .table = table, .file = file, .eh_frame = true };
	Elf_Data *section, by_header;
	bool good = true;
	GElf_Shdr header;

	memset(table, 0, sizeof(*table));
	section = elf_file_section_data(file, ".eh_frame", &header);
	if (section)
		reading.vaddr = header.sh_addr;
	else if (eh_frame_by_header(file, &by_header, &reading.vaddr))
		section = &by_header;
	if (section)
		good = entries_read(&reading, section);
	good = good && debug_frame_read(&reading, file);
	if (debug)
		good = good && debug_frame_read(&reading, debug);
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
	const struct fde_range *range = after ? after : table->ranges + table->n;

	if (range == table->ranges)
		return NULL;
	range--;
	return vaddr < range->end ? range : NULL;
}
