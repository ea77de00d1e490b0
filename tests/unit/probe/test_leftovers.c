/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A region and buffers as the guardian makes them, here in the test's own process.
 */
#include "probe/leftovers.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/layout.h"
#include "target/maps.h"

#define REGION_BYTES  0x10000u
#define BUFFERS_BYTES 0x8000u

struct left {
	uint8_t *region, *buffers;
	struct agent_control *control;
	struct agent_shared *shared;
};

static void left_make(struct left *left)
{
	const int fd = memfd_create(LEFTOVERS_MEMFD_NAME, MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, BUFFERS_BYTES), 0);
	left->region = mmap(NULL, REGION_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);
	left->buffers = mmap(NULL, BUFFERS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(left->region, MAP_FAILED);
	assert_ptr_not_equal(left->buffers, MAP_FAILED);
	assert_ptr_equal(mmap(left->region + AGENT_SHARED_OFFSET, AGENT_PAGE,
			      PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0),
			 left->region + AGENT_SHARED_OFFSET);
	close(fd);
	left->control = (struct agent_control *)(void *)left->region;
	left->shared = (struct agent_shared *)(void *)left->buffers;
	*left->control = (struct agent_control){ .magic = AGENT_MAGIC,
						 .version = AGENT_VERSION,
						 .region_bytes = REGION_BYTES };
	left->shared->magic = AGENT_MAGIC;
	left->shared->version = AGENT_VERSION;
}

static void left_release(const struct left *left)
{
	munmap(left->region, REGION_BYTES);
	munmap(left->buffers, BUFFERS_BYTES);
}

static void look(struct leftovers *leftovers)
{
	const struct sys *sys = sys_real();
	const int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	struct error error;
	char *maps;

	assert_true(fd >= 0);
	assert_int_equal(
		sys_read_file(sys, -1, "/proc/self/maps", MAPS_MAX_BYTES, &maps, NULL, &error),
		STATUS_OK);
	leftovers_find(leftovers, sys, fd, maps);
	free(maps);
	close(fd);
}

static void a_process_that_was_never_probed_has_none(void **state)
{
	struct leftovers leftovers;

	(void)state;
	look(&leftovers);
	assert_int_equal(leftovers.n_regions, 0);
	assert_int_equal(leftovers.n_buffers, 0);
}

static void a_region_is_known_by_its_marks_and_its_size_is_its_own(void **state)
{
	struct leftovers leftovers;
	struct left left;

	(void)state;
	left_make(&left);
	look(&leftovers);
	assert_int_equal(leftovers.n_regions, 1);
	assert_int_equal(leftovers.regions[0].address, (uintptr_t)left.region);
	assert_int_equal(leftovers.regions[0].size, REGION_BYTES);
	assert_false(leftovers.patched[0]);
	assert_int_equal(leftovers.n_buffers, 1);
	assert_int_equal(leftovers.buffers[0].address, (uintptr_t)left.buffers);
	assert_int_equal(leftovers.buffers[0].size, BUFFERS_BYTES);
	assert_int_equal(leftovers.owner, 0);
	left_release(&left);
}

static void the_owner_is_seen_while_it_lives(void **state)
{
	struct leftovers leftovers;
	struct left left;

	(void)state;
	left_make(&left);
	left.shared->owner = 4711;
	look(&leftovers);
	assert_int_equal(leftovers.owner, 4711);
	left.shared->owner |= 0x40000000; /* the kernel: FUTEX_OWNER_DIED */
	left.control->patched = 1;
	look(&leftovers);
	assert_int_equal(leftovers.owner, 0);
	assert_true(leftovers.patched[0]);
	left_release(&left);
}

static void another_version_and_zeroed_control_pages_are_left_alone(void **state)
{
	struct leftovers leftovers;
	struct left left;

	(void)state;
	left_make(&left);
	left.control->version = AGENT_VERSION + 1;
	look(&leftovers);
	assert_int_equal(leftovers.n_regions, 0);
	*left.control = (struct agent_control){ 0 };
	look(&leftovers);
	assert_int_equal(leftovers.n_regions, 0);
	left.shared->version = AGENT_VERSION + 1;
	look(&leftovers);
	assert_int_equal(leftovers.n_buffers, 0);
	left_release(&left);
}

static void one_that_is_busy_goes_with_all_that_shares_its_buffers(void **state)
{
	struct leftovers leftovers;
	struct left left, other;

	(void)state;
	left_make(&left);
	left_make(&other);
	look(&leftovers);
	assert_int_equal(leftovers.n_regions, 2);
	assert_int_equal(leftovers.n_buffers, 2);
	leftovers_leave(&leftovers, (uintptr_t)left.region);
	assert_int_equal(leftovers.n_regions, 1);
	assert_int_equal(leftovers.regions[0].address, (uintptr_t)other.region);
	assert_int_equal(leftovers.n_buffers, 1);
	assert_int_equal(leftovers.buffers[0].address, (uintptr_t)other.buffers);
	leftovers_leave(&leftovers, 1);
	assert_int_equal(leftovers.n_regions, 1);
	left_release(&left);
	left_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_that_was_never_probed_has_none),
		cmocka_unit_test(a_region_is_known_by_its_marks_and_its_size_is_its_own),
		cmocka_unit_test(the_owner_is_seen_while_it_lives),
		cmocka_unit_test(one_that_is_busy_goes_with_all_that_shares_its_buffers),
		cmocka_unit_test(another_version_and_zeroed_control_pages_are_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
