/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "code/notes.h"

#include <string.h>

#include "base/bytes.h"

#define NOTE_TYPE  3u
#define NOTE_OWNER "stapsdt"

/* u64 address, u64 base, u64 semaphore, provider, name and arguments as strings; the address is wrong by as
 * much as the base is. */
static bool note_parse(struct bytes bytes, uint64_t section_base, struct code_note *note)
{
	struct bytes strings;
	uint64_t base;

	note->address = bytes_u64(&bytes);
	base = bytes_u64(&bytes);
	bytes_u64(&bytes);
	if (bytes.failed)
		return false;
	strings = bytes;
	if (section_base && base)
		note->address += section_base - base;
	note->provider = bytes_string(&strings, bytes_left(&strings));
	if (!note->provider)
		return false;
	bytes_take(&bytes, strlen(note->provider) + 1);
	note->name = bytes_string(&bytes, bytes_left(&bytes));
	return note->name;
}

void code_notes_read(const struct elf_file *file,
		     bool (*each)(void *data, const struct code_note *note), void *data)
{
	GElf_Shdr header;
	Elf_Scn *section;
	Elf_Data *notes = elf_file_section_data(file, ".note.stapsdt", &header);
	uint64_t section_base = 0;
	struct bytes bytes;

	if (!notes || !notes->d_buf)
		return;
	if (elf_file_section(file, ".stapsdt.base", &section, &header))
		section_base = header.sh_addr;
	bytes = bytes_of(notes->d_buf, notes->d_size, false);
	for (unsigned int i = 0; i < CODE_NOTES_MAX && bytes_left(&bytes) >= 12; i++) {
		const uint32_t owner_bytes = bytes_u32(&bytes), size = bytes_u32(&bytes);
		const uint32_t type = bytes_u32(&bytes);
		const uint8_t *owner = bytes_take(&bytes, ((uint64_t)owner_bytes + 3) & ~3u);
		const uint8_t *body = bytes_take(&bytes, ((uint64_t)size + 3) & ~3u);
		struct code_note note;

		if (!owner || !body)
			return;
		if (type != NOTE_TYPE || owner_bytes != sizeof(NOTE_OWNER) ||
		    memcmp(owner, NOTE_OWNER, sizeof(NOTE_OWNER)) != 0 ||
		    !note_parse(bytes_of(body, size, false), section_base, &note))
			continue;
		if (!each(data, &note))
			return;
	}
}
