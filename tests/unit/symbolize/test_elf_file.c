/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ELF headers that contradict themselves, made from a good file by changing one field. */
#include "symbolize/elf_file.h"

#include "fixture.h"

struct image {
	uint8_t *bytes;
	size_t size;
};

static void image_load(struct image *image, const struct fixture *fixture, const char *name)
{
	FILE *file = fopen(fixture_path(fixture, name), "r");

	assert_non_null(file);
	image->bytes = calloc(1, 1u << 20);
	image->size = fread(image->bytes, 1, 1u << 20, file);
	fclose(file);
}

static Elf64_Ehdr *header(const struct image *image)
{
	return (Elf64_Ehdr *)(void *)image->bytes;
}

static Elf64_Phdr *program(const struct image *image, unsigned int i)
{
	return (Elf64_Phdr *)(void *)(image->bytes + header(image)->e_phoff) + i;
}

static enum symbol_miss opened(const struct image *image, size_t size, size_t *n_segments)
{
	struct elf_file file;
	/* a copy of exactly this size, so that a sanitizer sees a read beyond it */
	uint8_t *copy = malloc(size ? size : 1);
	enum symbol_miss miss;

	memcpy(copy, image->bytes, size);
	miss = elf_file_open_image(&file, copy, size, true);
	if (miss == SYMBOL_OK) {
		*n_segments = file.n_segments;
		for (size_t i = 0; i < file.n_segments; i++) {
			const struct elf_segment *segment = &file.segments[i];

			assert_true(segment->offset + segment->file_size <= size ||
				    !segment->file_size);
			assert_true(segment->vaddr + segment->memory_size >= segment->vaddr);
			assert_true(segment->file_size <= segment->memory_size);
		}
		elf_file_release(&file);
	}
	return miss;
}

static void headers_that_are_cut_or_of_no_kind_are_refused(void **state)
{
	struct fixture fixture;
	struct image image;
	size_t n;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	image_load(&image, &fixture, "shapes");
	assert_int_equal(opened(&image, image.size, &n), SYMBOL_OK);
	for (size_t size = 0; size < 4; size++)
		assert_int_equal(opened(&image, size, &n), SYMBOL_NOT_ELF);
	for (size_t size = 4; size < 64; size++)
		assert_int_equal(opened(&image, size, &n), SYMBOL_DAMAGED);
	header(&image)->e_machine = EM_NONE;
	assert_int_equal(opened(&image, image.size, &n), SYMBOL_DAMAGED);
	free(image.bytes);
	fixture_release(&fixture);
}

static void a_file_cut_anywhere_stays_inside_what_is_left(void **state)
{
	struct fixture fixture;
	struct image image;
	size_t n;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	image_load(&image, &fixture, "shapes");
	for (size_t size = 64; size < image.size; size += 97)
		opened(&image, size, &n);
	free(image.bytes);
	fixture_release(&fixture);
}

static void segments_that_wrap_or_contradict_themselves_are_dropped(void **state)
{
	struct fixture fixture;
	struct image image;
	size_t good, n;
	Elf64_Phdr *load, kept;
	unsigned int i = 0;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	image_load(&image, &fixture, "shapes");
	assert_int_equal(opened(&image, image.size, &good), SYMBOL_OK);
	assert_true(good >= 3);
	while (program(&image, i)->p_type != PT_LOAD)
		i++;
	load = program(&image, i);
	kept = *load;
	load->p_vaddr = UINT64_MAX - 10;
	assert_int_equal(opened(&image, image.size, &n), SYMBOL_OK);
	assert_int_equal(n, good - 1);
	*load = kept;
	load->p_filesz = load->p_memsz + 1;
	assert_int_equal(opened(&image, image.size, &n), SYMBOL_OK);
	assert_int_equal(n, good - 1);
	*load = kept;
	load->p_offset = UINT64_MAX - 10;
	assert_int_equal(opened(&image, image.size, &n), SYMBOL_OK);
	assert_int_equal(n, good);
	free(image.bytes);
	fixture_release(&fixture);
}

static void bytes_are_given_only_where_the_file_has_them(void **state)
{
	struct fixture fixture;
	struct elf_file file;
	const struct elf_segment *text = NULL;

	(void)state;
	fixture_init(&fixture);
	fixture_build(&fixture, "shapes");
	assert_int_equal(elf_file_open(&file, sys_real(), fixture_path(&fixture, "shapes")),
			 SYMBOL_OK);
	for (size_t i = 0; i < file.n_segments; i++)
		if (file.segments[i].executable)
			text = &file.segments[i];
	assert_non_null(text);
	assert_non_null(elf_file_at(&file, text->vaddr, text->file_size));
	assert_null(elf_file_at(&file, text->vaddr, text->file_size + 1));
	assert_null(elf_file_at(&file, text->vaddr + 1, UINT64_MAX));
	assert_ptr_equal(elf_file_segment_at(&file, text->vaddr, true), text);
	assert_null(elf_file_segment_at(&file, UINT64_MAX, false));
	assert_true(elf_file_has_build_id(&file, file.build_id, file.build_id_size));
	assert_false(elf_file_has_build_id(&file, file.build_id, 0));
	assert_false(elf_file_has_build_id(&file, file.build_id, file.build_id_size - 1));
	elf_file_release(&file);
	fixture_release(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_that_are_cut_or_of_no_kind_are_refused),
		cmocka_unit_test(a_file_cut_anywhere_stays_inside_what_is_left),
		cmocka_unit_test(segments_that_wrap_or_contradict_themselves_are_dropped),
		cmocka_unit_test(bytes_are_given_only_where_the_file_has_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
