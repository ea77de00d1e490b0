/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "record/ring.h"

/* The kernel's side of a ring of one page, in ordinary memory. */
struct kernel {
	struct sys table;
	struct ring ring;
	uint8_t *memory;
	size_t page;
	int refusals; /* of mmap, with EPERM */
};

static void *fake_mmap(void *state, void *address, size_t size, int prot, int flags, int fd,
		       off_t offset)
{
	struct kernel *kernel = state;

	(void)address;
	(void)flags;
	(void)fd;
	(void)offset;
	if (kernel->refusals) {
		kernel->refusals--;
		errno = EPERM;
		return MAP_FAILED;
	}
	kernel->memory = mmap(NULL, size, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return kernel->memory;
}

static int fake_munmap(void *state, void *address, size_t size)
{
	(void)state;
	return munmap(address, size);
}

static size_t fake_page_size(void *state)
{
	return ((struct kernel *)state)->page;
}

static void kernel_make(struct kernel *kernel)
{
	*kernel = (struct kernel){ .page = 4096 };
	kernel->table.state = kernel;
	kernel->table.mmap = fake_mmap;
	kernel->table.munmap = fake_munmap;
	kernel->table.page_size = fake_page_size;
}

static void open_ring(struct kernel *kernel)
{
	kernel_make(kernel);
	assert_int_equal(ring_map(&kernel->ring, &kernel->table, 3, 1, NULL), STATUS_OK);
}

/* Writes a record of `size` bytes whose payload is `mark`. */
static void put(struct kernel *kernel, uint16_t size, uint8_t mark)
{
	struct perf_event_mmap_page *page = kernel->ring.page;
	const struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, size };
	uint8_t *data = kernel->memory + kernel->page;
	uint8_t bytes[4096];

	memset(bytes, mark, sizeof(bytes));
	memcpy(bytes, &header, sizeof(header));
	for (uint16_t i = 0; i < (size < 8 ? 8 : size); i++)
		data[(page->data_head + i) % 4096] = bytes[i];
	page->data_head += size < 8 ? 8 : size;
}

static void records_come_out_as_they_went_in(void **state)
{
	struct kernel kernel;
	const struct perf_event_header *record;
	bool damaged;

	(void)state;
	open_ring(&kernel);
	put(&kernel, 40, 1);
	put(&kernel, 64, 2);
	record = ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged);
	assert_int_equal(record->size, 40);
	assert_int_equal(((const uint8_t *)record)[39], 1);
	record = ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged);
	assert_int_equal(record->size, 64);
	assert_null(ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged));
	assert_false(damaged);
	ring_unmap(&kernel.ring, &kernel.table);
}

static void a_record_that_wraps_is_put_together(void **state)
{
	struct kernel kernel;
	const struct perf_event_header *record;
	bool damaged;

	(void)state;
	open_ring(&kernel);
	for (int round = 0; round < 300; round++) {
		put(&kernel, 200, (uint8_t)round);
		record = ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged);
		assert_non_null(record);
		for (int i = 8; i < 200; i++)
			assert_int_equal(((const uint8_t *)record)[i], (uint8_t)round);
		ring_release(&kernel.ring);
	}
	ring_unmap(&kernel.ring, &kernel.table);
}

static void room_is_given_back_only_by_release(void **state)
{
	struct kernel kernel;
	bool damaged;

	(void)state;
	open_ring(&kernel);
	put(&kernel, 40, 1);
	ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged);
	assert_int_equal(kernel.ring.page->data_tail, 0);
	ring_release(&kernel.ring);
	assert_int_equal(kernel.ring.page->data_tail, 40);
	ring_unmap(&kernel.ring, &kernel.table);
}

static void records_behind_the_limit_wait(void **state)
{
	struct kernel kernel;
	uint64_t limit;
	bool damaged;

	(void)state;
	open_ring(&kernel);
	put(&kernel, 40, 1);
	limit = ring_head(&kernel.ring);
	put(&kernel, 40, 2);
	assert_non_null(ring_next(&kernel.ring, limit, &damaged));
	assert_null(ring_next(&kernel.ring, limit, &damaged));
	assert_non_null(ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged));
	ring_unmap(&kernel.ring, &kernel.table);
}

static void what_is_handed_out_may_be_changed(void **state)
{
	struct kernel kernel;
	struct perf_event_header *record;
	bool damaged;

	(void)state;
	open_ring(&kernel);
	put(&kernel, 40, 1);
	/* the kernel maps records read-only */
	mprotect(kernel.memory + 4096, 4096, PROT_READ);
	record = ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged);
	memset((uint8_t *)record + 8, 9, 32);
	assert_int_equal(kernel.memory[4096 + 20], 1);
	ring_unmap(&kernel.ring, &kernel.table);
}

static void an_impossible_size_empties_the_ring(void **state)
{
	const uint16_t sizes[] = { 0, 4, 12, 4000 };

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct kernel kernel;
		bool damaged;

		open_ring(&kernel);
		put(&kernel, sizes[i], 1);
		/* claims more than is there */
		if (sizes[i] == 4000)
			kernel.ring.page->data_head = 64;
		assert_null(ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged));
		assert_true(damaged);
		put(&kernel, 40, 2);
		assert_non_null(ring_next(&kernel.ring, ring_head(&kernel.ring), &damaged));
		ring_unmap(&kernel.ring, &kernel.table);
	}
}

static void too_much_locked_memory_names_its_knobs(void **state)
{
	struct kernel kernel;
	struct error error;

	(void)state;
	kernel_make(&kernel);
	kernel.refusals = 1;
	assert_int_equal(ring_map(&kernel.ring, &kernel.table, 3, 64, &error), STATUS_PERMISSION);
	assert_non_null(strstr(error.text, "perf_event_mlock_kb"));
	assert_non_null(strstr(error.text, "260 KiB"));
	assert_null(kernel.ring.page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_come_out_as_they_went_in),
		cmocka_unit_test(a_record_that_wraps_is_put_together),
		cmocka_unit_test(room_is_given_back_only_by_release),
		cmocka_unit_test(records_behind_the_limit_wait),
		cmocka_unit_test(what_is_handed_out_may_be_changed),
		cmocka_unit_test(an_impossible_size_empties_the_ring),
		cmocka_unit_test(too_much_locked_memory_names_its_knobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
