/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/event/machine.h"

static const struct {
	const char *text, *granted;
	uint64_t address, length;
	uint32_t type; /* R = 1, W = 2, X = 4 */
	bool user_only;
} breakpoints[] = {
	{ "mem:0x1000", "mem:0x1000:rw", 0x1000, 4, 3, false },
	{ "mem:4096", "mem:0x1000:rw", 0x1000, 4, 3, false },
	{ "mem:0x1000:r", "mem:0x1000:r", 0x1000, 4, 1, false },
	{ "mem:0x1000:w", "mem:0x1000:w", 0x1000, 4, 2, false },
	{ "mem:0x1000:wr", "mem:0x1000:rw", 0x1000, 4, 3, false },
	{ "mem:0x1000:x", "mem:0x1000:x", 0x1000, sizeof(long), 4, false },
	{ "mem:0x1000/8", "mem:0x1000/8:rw", 0x1000, 8, 3, false },
	{ "mem:0x1000/1:w", "mem:0x1000/1:w", 0x1000, 1, 2, false },
	{ "mem:0x1000/4:x", "mem:0x1000/4:x", 0x1000, 4, 4, false },
	{ "mem:0x1000:u", "mem:0x1000:rw:u", 0x1000, 4, 3, true },
	{ "mem:0xffffffffffffffff:rwx:u", "mem:0xffffffffffffffff:rwx:u", ~0ull, 4, 7, true },
	{ "mem:0x1000/2:w:u", "mem:0x1000/2:w:u", 0x1000, 2, 2, true },
};

static void address_length_and_access_are_as_typed_or_as_perf_defaults(void **state)
{
	for (size_t i = 0; i < sizeof(breakpoints) / sizeof(breakpoints[0]); i++) {
		const struct event *e = machine_event(*state, breakpoints[i].text);

		assert_string_equal(e->granted, breakpoints[i].granted);
		assert_int_equal(e->attr.type, PERF_TYPE_BREAKPOINT);
		assert_int_equal(e->attr.config, 0);
		assert_int_equal(e->attr.bp_addr, breakpoints[i].address);
		assert_int_equal(e->attr.bp_len, breakpoints[i].length);
		assert_int_equal(e->attr.bp_type, breakpoints[i].type);
		assert_int_equal(e->attr.exclude_kernel, breakpoints[i].user_only);
	}
}

static void breakpoints_stand_in_lists_and_groups(void **state)
{
	const struct event *e = machine_events(*state, "cs,{mem:0x10/8:w,mem:0x20},cs", 4);

	assert_int_equal(e[1].attr.bp_len, 8);
	assert_int_equal(e[2].attr.bp_addr, 0x20);
}

static void malformed_breakpoints_are_refused_at_their_place(void **state)
{
	machine_refuses(*state, "mem:", STATUS_USAGE, 4, "is no address");
	machine_refuses(*state, "mem:main", STATUS_USAGE, 4, "'main' is no address");
	machine_refuses(*state, "mem:0x10000000000000000", STATUS_USAGE, 4, "is no address");
	machine_refuses(*state, "mem:0x10/:w", STATUS_USAGE, 9, "is no length");
	machine_refuses(*state, "mem:0x10/0", STATUS_USAGE, 9, "'0' is no length");
	machine_refuses(*state, "mem:0x10/9:w", STATUS_USAGE, 9, "'9' is no length");
	machine_refuses(*state, "mem:0x10:rr", STATUS_USAGE, 10, "'r' is given twice");
	machine_refuses(*state, "mem:0x10:rq", STATUS_USAGE, 9, "unknown modifier 'r'");
	machine_refuses(*state, "mem:0x10:w:z", STATUS_USAGE, 11, "unknown modifier 'z'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		ON(skylake, address_length_and_access_are_as_typed_or_as_perf_defaults),
		ON(skylake, breakpoints_stand_in_lists_and_groups),
		ON(skylake, malformed_breakpoints_are_refused_at_their_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
