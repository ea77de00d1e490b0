/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/encoded_pointer.h"

#include <dwarf.h>

#include "support/test.h"

static const uint8_t eight[] = { 0xf0, 0xff, 0xff, 0xff, 0x01, 0x02, 0x03, 0x04 };

static uint64_t value_of(uint8_t encoding, bool is_64_bit)
{
	struct encoded_pointer pointer = {
		.is_64_bit = is_64_bit,
		.vaddr = 0x1000,
		.data_base = 0x20000,
	};
	struct bytes bytes = bytes_of(eight, sizeof(eight), false);

	assert_true(encoded_pointer_read(&pointer, &bytes, encoding));
	return pointer.value;
}

static void each_format_is_read_with_its_size_and_sign(void **state)
{
	(void)state;
	assert_int_equal(value_of(DW_EH_PE_absptr, true), 0x04030201fffffff0);
	assert_int_equal(value_of(DW_EH_PE_absptr, false), 0xfffffff0);
	assert_int_equal(value_of(DW_EH_PE_udata2, true), 0xfff0);
	assert_int_equal(value_of(DW_EH_PE_sdata2, true), (uint64_t)-16);
	assert_int_equal(value_of(DW_EH_PE_udata4, true), 0xfffffff0);
	assert_int_equal(value_of(DW_EH_PE_sdata4, true), (uint64_t)-16);
	assert_int_equal(value_of(DW_EH_PE_udata8, true), 0x04030201fffffff0);
	assert_int_equal(value_of(DW_EH_PE_sdata8, true), 0x04030201fffffff0);
}

static void pointers_are_relative_to_what_their_encoding_says(void **state)
{
	(void)state;
	assert_int_equal(value_of(DW_EH_PE_pcrel | DW_EH_PE_sdata4, true), 0x0ff0);
	assert_int_equal(value_of(DW_EH_PE_datarel | DW_EH_PE_sdata4, true), 0x1fff0);
	assert_int_equal(value_of(DW_EH_PE_pcrel | DW_EH_PE_sdata2, false), 0x0ff0);
}

static void what_needs_a_live_process_or_is_unknown_is_refused(void **state)
{
	static const uint8_t refused[] = { DW_EH_PE_omit,
					   DW_EH_PE_indirect | DW_EH_PE_pcrel | DW_EH_PE_sdata4,
					   DW_EH_PE_aligned,
					   DW_EH_PE_textrel | DW_EH_PE_udata4,
					   DW_EH_PE_funcrel | DW_EH_PE_udata4,
					   0x05,
					   0x0f };

	(void)state;
	for (size_t i = 0; i < sizeof(refused); i++) {
		struct encoded_pointer pointer = { .is_64_bit = true };
		struct bytes bytes = bytes_of(eight, sizeof(eight), false);

		assert_false(encoded_pointer_read(&pointer, &bytes, refused[i]));
	}
}

static void a_pointer_that_the_bytes_do_not_hold_is_refused(void **state)
{
	struct encoded_pointer pointer = { .is_64_bit = true };
	struct bytes bytes = bytes_of(eight, 3, false);

	(void)state;
	assert_false(encoded_pointer_read(&pointer, &bytes, DW_EH_PE_udata4));
}

/* The examples of DWARF 5, tables 7.7 and 7.8. */
static void leb128_numbers_are_those_of_the_standard(void **state)
{
	static const struct {
		uint8_t bytes[3];
		uint64_t value;
		bool is_signed;
	} examples[] = {
		{ { 2 }, 2, false },
		{ { 127 }, 127, false },
		{ { 0 + 0x80, 1 }, 128, false },
		{ { 57 + 0x80, 100 }, 12857, false },
		{ { 0x7e }, (uint64_t)-2, true },
		{ { 127 + 0x80, 0 }, 127, true },
		{ { 1 + 0x80, 0x7f }, (uint64_t)-127, true },
		{ { 0 + 0x80, 0x7f }, (uint64_t)-128, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		struct bytes bytes = bytes_of(examples[i].bytes, 3, false);

		assert_int_equal(bytes_leb128(&bytes, examples[i].is_signed), examples[i].value);
	}
}

static void a_leb128_number_that_never_ends_stops_at_the_end_of_the_bytes(void **state)
{
	uint8_t endless[40];
	struct bytes bytes = bytes_of(endless, sizeof(endless), false);

	(void)state;
	memset(endless, 0xff, sizeof(endless));
	bytes_leb128(&bytes, true);
	assert_true(bytes.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format_is_read_with_its_size_and_sign),
		cmocka_unit_test(pointers_are_relative_to_what_their_encoding_says),
		cmocka_unit_test(what_needs_a_live_process_or_is_unknown_is_refused),
		cmocka_unit_test(a_pointer_that_the_bytes_do_not_hold_is_refused),
		cmocka_unit_test(leb128_numbers_are_those_of_the_standard),
		cmocka_unit_test(a_leb128_number_that_never_ends_stops_at_the_end_of_the_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
