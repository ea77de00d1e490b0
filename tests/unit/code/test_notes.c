/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * USDT notes: those of this very program, which marks two places, and notes that are cut short.
 */
#include "code/notes.h"

#include <stdio.h>

#include "../../../include/assay/mark.h"
#include "base/sys.h"
#include "object.h"

#define NOTES 0x200u /* in the data of the object */

struct seen {
	unsigned int n;
	uint64_t address;
	char names[4][64];
};

static bool note_seen(void *data, const struct code_note *note)
{
	struct seen *seen = data;

	if (seen->n < 4)
		snprintf(seen->names[seen->n], sizeof(seen->names[0]), "%s:%s", note->provider,
			 note->name);
	seen->address = note->address;
	return ++seen->n < 4;
}

static void the_marks_of_a_program_are_found_at_their_nops(void **state)
{
	struct elf_file file;
	struct seen seen = { 0 };
	const uint8_t *nop;

	(void)state;
	ASSAY_MARK_ITERATION();
	ASSAY_MARK(cache_flush);
	assert_int_equal(elf_file_open(&file, sys_real(), "/proc/self/exe"), SYMBOL_OK);
	code_notes_read(&file, note_seen, &seen);
	assert_int_equal(seen.n, 2);
	assert_string_equal(seen.names[0], "assay:iteration");
	assert_string_equal(seen.names[1], "assay:cache_flush");
	nop = elf_file_at(&file, seen.address, 4);
	assert_non_null(nop);
#ifdef __x86_64__
	assert_int_equal(nop[0], 0x0f);
	assert_int_equal(nop[1], 0x1f);
#endif
	elf_file_release(&file);
}

/* One note with a descriptor of `size` bytes, of which the section holds all but `missing`. */
static unsigned int notes_of(uint32_t type, uint32_t size, size_t missing, uint64_t *address)
{
	struct object object;
	struct elf_file file;
	struct seen seen = { 0 };
	uint8_t note[128] = { 8, 0, 0, 0 };
	const uint64_t words[3] = { 0x1010, 0x3000, 0 };
	Elf64_Ehdr *header;

	object_init(&object, EM_X86_64, ET_DYN);
	memcpy(note + 4, &size, sizeof(size));
	memcpy(note + 8, &type, sizeof(type));
	memcpy(note + 12, "stapsdt", 8);
	memcpy(note + 20, words, sizeof(words));
	memcpy(note + 44, "p\0name\0", 8);
	memcpy(object.image + DATA + NOTES, note, sizeof(note));
	object_code(&object, "\xc3", 1);
	object_finish(&object);
	header = (Elf64_Ehdr *)(void *)object.image;
	object_section(&object, 5, ".note.stapsdt",
		       (Elf64_Shdr){ .sh_type = SHT_NOTE,
				     .sh_offset = DATA + NOTES,
				     .sh_size = 20 + size - missing });
	/* the base lies 0x100 above where the note says */
	object_section(&object, 6, ".stapsdt.base",
		       (Elf64_Shdr){ .sh_type = SHT_PROGBITS,
				     .sh_flags = SHF_ALLOC,
				     .sh_addr = 0x3100,
				     .sh_offset = DATA,
				     .sh_size = 1 });
	header->e_shnum = 7;
	assert_int_equal(elf_file_open_image(&file, object.image, IMAGE_SIZE, false), SYMBOL_OK);
	code_notes_read(&file, note_seen, &seen);
	if (seen.n)
		assert_string_equal(seen.names[0], "p:name");
	*address = seen.address;
	elf_file_release(&file);
	object_release(&object);
	return seen.n;
}

static void a_note_moves_with_its_base_and_what_is_cut_or_foreign_is_none(void **state)
{
	uint64_t address;

	(void)state;
	assert_int_equal(notes_of(3, 32, 0, &address), 1);
	assert_int_equal(address, 0x1110);
	assert_int_equal(notes_of(4, 32, 0, &address), 0);
	assert_int_equal(notes_of(3, 32, 4, &address), 0);
	/* no room for the name's end, or for the words */
	assert_int_equal(notes_of(3, 28, 0, &address), 0);
	assert_int_equal(notes_of(3, 16, 0, &address), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_marks_of_a_program_are_found_at_their_nops),
		cmocka_unit_test(a_note_moves_with_its_base_and_what_is_cut_or_foreign_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
