/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/placement.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define REACH ((UINT64_C(1) << 31) - 0x10000)

static const char pie[] = "555555554000-555555600000 r-xp 00000000 fe:00 7 /bin/x\n"
			  "555555600000-555555700000 rw-p 00000000 00:00 0 [heap]\n"
			  "7ffff7a00000-7ffff7c00000 r-xp 00000000 fe:00 8 /lib/libc.so.6\n"
			  "7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0 [stack]\n";

static void room_is_taken_right_below_the_code(void **state)
{
	(void)state;
	assert_int_equal(
		placement_find(pie, NULL, 0, 0x555555554000, 0x555555600000, 0x20000, REACH),
		0x555555554000 - 0x20000);
}

static void what_is_taken_already_is_kept_clear_of(void **state)
{
	const struct placement_range taken[] = { { 0x555555554000 - 0x20000, 0x20000 },
						 { 0x555555554000 - 0x30000, 0x10000 } };

	(void)state;
	assert_int_equal(
		placement_find(pie, taken, 2, 0x555555554000, 0x555555600000, 0x20000, REACH),
		0x555555554000 - 0x50000);
}

/* A program at a fixed address has 4 MB below it; above it the heap grows. */
static void a_fixed_program_gets_room_high_above_its_heap(void **state)
{
	static const char fixed[] =
		"00400000-00900000 r-xp 00000000 fe:00 7 /bin/x\n"
		"00900000-00a00000 rw-p 00000000 00:00 0 [heap]\n"
		"7ffff7a00000-7ffff7c00000 r-xp 00000000 fe:00 8 /lib/libc.so.6\n";
	const uint64_t size = 0x800000;
	uint64_t at;

	(void)state;
	at = placement_find(fixed, NULL, 0, 0x400000, 0x900000, size, REACH);
	assert_true(at > 0xa00000 + (UINT64_C(1) << 30));
	assert_true(placement_reaches(at, size, 0x400000, 0x900000, REACH));
	assert_int_equal(at & 0xfff, 0);
}

static void a_full_address_space_has_no_room(void **state)
{
	static const char full[] = "00010000-100000000 r-xp 00000000 fe:00 7 /bin/x\n";

	(void)state;
	assert_int_equal(placement_find(full, NULL, 0, 0x400000, 0x900000, 0x10000, REACH), 0);
}

static void reach_is_to_the_farthest_byte_on_both_sides(void **state)
{
	(void)state;
	assert_true(placement_reaches(0x10000, 0x1000, 0x20000, 0x10000 + REACH - 1, REACH));
	assert_false(placement_reaches(0x10000, 0x1000, 0x20000, 0x10000 + REACH, REACH));
	assert_true(placement_reaches(REACH, 0x1000, 0x1001, 0x2000, REACH));
	assert_false(placement_reaches(REACH, 0x1000, 0x1000, 0x2000, REACH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(room_is_taken_right_below_the_code),
		cmocka_unit_test(what_is_taken_already_is_kept_clear_of),
		cmocka_unit_test(a_fixed_program_gets_room_high_above_its_heap),
		cmocka_unit_test(a_full_address_space_has_no_room),
		cmocka_unit_test(reach_is_to_the_farthest_byte_on_both_sides),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
