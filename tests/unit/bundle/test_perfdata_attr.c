/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>

#include "bundle/perfdata_layout.h"
#include "support/perfdata_image.h"
#include "support/test.h"

static struct perf_event_attr full_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT,
		.size = 128,
		.config = 0x1122334455667788,
		.sample_period = 4000,
		.sample_type = 0x10307,
		.read_format = 5,
		.wakeup_events = 3,
		.bp_type = 2,
		.config1 = 0x404018,
		.config2 = 8,
		.branch_sample_type = 9,
		.sample_regs_user = 0xff0fff,
		.sample_stack_user = 8192,
		.clockid = 1,
		.sample_regs_intr = 0x1f,
		.aux_watermark = 77,
		.sample_max_stack = 127,
		.aux_sample_size = 4096,
	};

	attr.inherit = attr.mmap = attr.comm = attr.task = attr.sample_id_all = attr.mmap2 = 1;
	attr.use_clockid = attr.build_id = attr.exclude_kernel = 1;
	return attr;
}

static void an_attribute_survives_both_byte_orders(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++)
		for (unsigned int precise = 0; precise < 4; precise++) {
			struct image bytes = { .swap = swap };
			struct perf_event_attr attr = full_attr(), decoded;

			attr.precise_ip = precise & 3;
			image_attr(&bytes, &attr, 128);
			perfdata_attr_decode(&decoded, bytes.bytes, 128, swap);
			assert_memory_equal(&decoded, &attr, 128);
			image_release(&bytes);
		}
}

static void each_flag_keeps_its_place_in_the_other_byte_order(void **state)
{
	(void)state;
	for (int bit = 0; bit < 38; bit++) {
		struct image bytes = { .swap = true };
		struct perf_event_attr attr = { .size = 64 }, decoded;
		const uint64_t flags = UINT64_C(1) << bit;
		uint64_t got;

		memcpy((char *)&attr + 40, &flags, sizeof(flags));
		image_attr(&bytes, &attr, 64);
		perfdata_attr_decode(&decoded, bytes.bytes, 64, true);
		memcpy(&got, (char *)&decoded + 40, sizeof(got));
		assert_true(got == flags);
		image_release(&bytes);
	}
}

static void what_an_old_attribute_lacks_is_zero_and_what_a_new_one_adds_is_ignored(void **state)
{
	struct perf_event_attr attr = full_attr(), decoded;
	struct image bytes = { 0 };

	(void)state;
	image_attr(&bytes, &attr, 64);
	perfdata_attr_decode(&decoded, bytes.bytes, 64, false);
	assert_int_equal(decoded.config1, attr.config1); /* bytes 56 to 63 */
	assert_int_equal(decoded.config2, 0);
	assert_int_equal(decoded.sample_max_stack, 0);
	image_release(&bytes);
	image_attr(&bytes, &attr, 4096);
	memset(bytes.bytes + sizeof(attr), 0xff, 4096 - sizeof(attr));
	perfdata_attr_decode(&decoded, bytes.bytes, 4096, false);
	assert_int_equal(decoded.sample_max_stack, 127);
	image_release(&bytes);
}

static void check_name(struct perf_event_attr attr, const char *expected)
{
	char name[128];

	perfdata_attr_name(&attr, name, sizeof(name));
	assert_string_equal(name, expected);
}

static void an_event_without_a_name_gets_the_one_perf_would_give(void **state)
{
	struct perf_event_attr cycles = { .type = PERF_TYPE_HARDWARE };

	(void)state;
	check_name(cycles, "cycles");
	cycles.exclude_kernel = cycles.exclude_hv = 1;
	check_name(cycles, "cycles:u");
	cycles.precise_ip = 2;
	check_name(cycles, "cycles:upp");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .config = 9 }, "dummy");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_BREAKPOINT, .bp_addr = 0x404018 },
		   "mem:0x404018");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_RAW, .config = 0x1c2 }, "raw 0x1c2");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_HW_CACHE, .config = 0x10000 },
		   "L1-dcache-load-misses");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_HW_CACHE, .config = 0xffff },
		   "cache 0xffff");
	check_name((struct perf_event_attr){ .type = PERF_TYPE_HARDWARE,
					     .config = UINT64_C(0x400000001) },
		   "instructions");
	check_name((struct perf_event_attr){ .type = 99, .config = 5 }, "type 99 config 0x5");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_attribute_survives_both_byte_orders),
		cmocka_unit_test(each_flag_keeps_its_place_in_the_other_byte_order),
		cmocka_unit_test(
			what_an_old_attribute_lacks_is_zero_and_what_a_new_one_adds_is_ignored),
		cmocka_unit_test(an_event_without_a_name_gets_the_one_perf_would_give),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
