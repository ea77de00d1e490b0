/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/build_id.h"

static const uint8_t gnu_note[] = { 4,   0,   0,   0, 5, 0, 0, 0, 3, 0, 0, 0,
				    'G', 'N', 'U', 0, 1, 2, 3, 4, 5, 0, 0, 0 };
static const uint8_t other_note[] = { 4, 0, 0,   0,   4,   0, 0, 0, 1, 0,
				      0, 0, 'G', 'N', 'U', 0, 9, 9, 9, 9 };

static void the_note_is_found_behind_others(void **state)
{
	uint8_t notes[sizeof(other_note) + sizeof(gnu_note)], id[BUILD_ID_MAX_BYTES];

	(void)state;
	memcpy(notes, other_note, sizeof(other_note));
	memcpy(notes + sizeof(other_note), gnu_note, sizeof(gnu_note));
	assert_int_equal(build_id_find(notes, sizeof(notes), 4, false, id), 5);
	assert_memory_equal(id, "\1\2\3\4\5", 5);
}

static void notes_of_the_other_byte_order_are_read(void **state)
{
	uint8_t note[sizeof(gnu_note)], id[BUILD_ID_MAX_BYTES];

	(void)state;
	memcpy(note, gnu_note, sizeof(note));
	for (int word = 0; word < 3; word++) {
		note[4 * word + 3] = note[4 * word];
		note[4 * word] = 0;
	}
	assert_int_equal(build_id_find(note, sizeof(note), 4, true, id), 5);
}

/* Every length cut, and every length field set to something huge: no answer, no read outside. */
static void damaged_notes_have_no_id(void **state)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	(void)state;
	for (size_t size = 0; size < sizeof(gnu_note) - 3; size++) {
		uint8_t *cut = malloc(size ? size : 1);

		memcpy(cut, gnu_note, size);
		assert_int_equal(build_id_find(cut, size, 4, false, id), 0);
		free(cut);
	}
	for (int field = 0; field < 8; field++) {
		uint8_t note[sizeof(gnu_note)];

		memcpy(note, gnu_note, sizeof(note));
		note[field] = 0xff;
		assert_int_equal(build_id_find(note, sizeof(note), 4, false, id), 0);
	}
}

static size_t id_of_bytes(const void *bytes, size_t size, uint8_t *id)
{
	char name[] = "/tmp/assay-test-XXXXXX";
	int fd = mkstemp(name);
	size_t found;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	found = build_id_read(sys_real(), fd, id);
	close(fd);
	unlink(name);
	return found;
}

struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	Elf64_Shdr section;
	uint8_t note[sizeof(gnu_note)];
};

static struct image image_make(bool as_segment)
{
	struct image image = {
		.header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64,
					 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB
										   : ELFDATA2MSB },
			    .e_phoff = offsetof(struct image, segment),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = as_segment,
			    .e_shoff = offsetof(struct image, section),
			    .e_shentsize = sizeof(Elf64_Shdr),
			    .e_shnum = !as_segment },
		.segment = { .p_type = PT_NOTE,
			     .p_offset = offsetof(struct image, note),
			     .p_filesz = sizeof(gnu_note),
			     .p_align = 4 },
		.section = { .sh_type = SHT_NOTE,
			     .sh_offset = offsetof(struct image, note),
			     .sh_size = sizeof(gnu_note),
			     .sh_addralign = 4 },
	};

	memcpy(image.note, gnu_note, sizeof(gnu_note));
	return image;
}

static void segments_and_sections_lead_to_the_note(void **state)
{
	uint8_t id[BUILD_ID_MAX_BYTES];

	(void)state;
	for (int as_segment = 0; as_segment < 2; as_segment++) {
		const struct image image = image_make(as_segment);

		assert_int_equal(id_of_bytes(&image, sizeof(image), id), 5);
		assert_memory_equal(id, "\1\2\3\4\5", 5);
	}
}

static void files_that_lie_about_their_tables_have_no_id(void **state)
{
	struct image image = image_make(true);
	uint8_t id[BUILD_ID_MAX_BYTES];

	(void)state;
	image.segment.p_offset = UINT64_MAX - 3;
	assert_int_equal(id_of_bytes(&image, sizeof(image), id), 0);
	image = image_make(true);
	image.segment.p_filesz = UINT64_MAX;
	assert_int_equal(id_of_bytes(&image, sizeof(image), id), 0);
	image = image_make(true);
	image.header.e_phoff = UINT64_MAX;
	assert_int_equal(id_of_bytes(&image, sizeof(image), id), 0);
	image = image_make(true);
	image.header.e_phentsize = 3;
	assert_int_equal(id_of_bytes(&image, sizeof(image), id), 0);
	assert_int_equal(id_of_bytes("\x7f"
				     "ELF",
				     4, id),
			 0);
	assert_int_equal(id_of_bytes("#!/bin/sh\n", 10, id), 0);
}

static void this_program_has_the_id_that_binutils_print(void **state)
{
	uint8_t id[BUILD_ID_MAX_BYTES];
	char text[2 * BUILD_ID_MAX_BYTES + 1];
	size_t size;
	int fd = open("/bin/true", O_RDONLY);

	(void)state;
	assert_true(fd >= 0);
	size = build_id_read(sys_real(), fd, id);
	close(fd);
	if (!size)
		SKIP("/bin/true has no build-id here");
	assert_int_equal(size, 20);
	build_id_format(id, size, text);
	assert_int_equal(strlen(text), 40);
	assert_int_equal(strspn(text, "0123456789abcdef"), 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_note_is_found_behind_others),
		cmocka_unit_test(notes_of_the_other_byte_order_are_read),
		cmocka_unit_test(damaged_notes_have_no_id),
		cmocka_unit_test(segments_and_sections_lead_to_the_note),
		cmocka_unit_test(files_that_lie_about_their_tables_have_no_id),
		cmocka_unit_test(this_program_has_the_id_that_binutils_print),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
