/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The code of AArch64 stubs, looked at word by word on every host; what it does is shown in the emulated machine. */
#include "probe/stub.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#define REGION UINT64_C(0x400000)
#define STUB   (REGION + AGENT_CODE_OFFSET + 0x1000)
#define BYTES  1024u
#define SP     31u

struct written {
	uint8_t bytes[BYTES];
	struct code_buffer buffer;
};

static struct stub variant(unsigned int i)
{
	static const enum probe_mode modes[] = { PROBE_COUNT, PROBE_TIME, PROBE_STATE };

	return (struct stub){ .mode = modes[i % 3],
			      .capped = i / 3 % 2,
			      .sampled = i / 6 % 2,
			      .atomics = i / 12 % 2,
			      .function = i * 70000,
			      .function_bytes = 32,
			      .region = REGION,
			      .entries = {
				      .enter = 64, .leave = 128, .claim = 192, .sample = 256 } };
}

#define VARIANTS 24u

static void write_stub(struct written *written, const struct stub *stub, enum code_site_kind kind)
{
	written->buffer =
		(struct code_buffer){ .bytes = written->bytes, .capacity = BYTES, .address = STUB };
	assert_true(stub_append_kind(EM_AARCH64, stub, kind, &written->buffer));
	assert_true(code_buffer_good(&written->buffer));
}

static uint32_t word_at(const struct written *written, size_t at)
{
	uint32_t word;

	memcpy(&word, written->bytes + at, sizeof(word));
	return word;
}

/* adds, subs, cmp; ands, tst, bics; ccmp, ccmn; msr nzcv (ARM ARM C4.1) */
static bool writes_flags(uint32_t w)
{
	const bool arithmetic = (w & 0x1f000000) == 0x11000000 || (w & 0x1f000000) == 0x0b000000;
	const bool logical = (w & 0x1f800000) == 0x12000000 || (w & 0x1f000000) == 0x0a000000;

	return (arithmetic && (w >> 29 & 1)) || (logical && (w >> 29 & 3) == 3) ||
	       (w & 0x3fe00000) == 0x3a400000 || (w & 0xffffffe0) == 0xd51b4200;
}

typedef void (*word_look)(const struct written *written, size_t at, const struct code_insn *insn);

static void every_word(word_look look)
{
	for (unsigned int i = 0; i < 2 * VARIANTS; i++) {
		const struct stub stub = variant(i / 2);
		struct written written;

		write_stub(&written, &stub, i % 2 ? CODE_SITE_RETURN : CODE_SITE_ENTRY);
		for (size_t at = 0; at < written.buffer.size; at += 4) {
			struct code_insn insn;

			assert_true(code_insn_decode(EM_AARCH64, written.bytes + at, 4, STUB + at,
						     &insn));
			look(&written, at, &insn);
		}
	}
}

static void look_at_flags(const struct written *written, size_t at, const struct code_insn *insn)
{
	(void)insn;
	assert_false(writes_flags(word_at(written, at)));
}

static void no_instruction_of_a_stub_writes_a_flag(void **state)
{
	(void)state;
	assert_true(writes_flags(0xeb01001f)); /* cmp x0, x1 */
	every_word(look_at_flags);
}

static void look_at_jumps(const struct written *written, size_t at, const struct code_insn *insn)
{
	(void)at;
	if (insn->flow == CODE_NEXT)
		return;
	if (insn->flow == CODE_CALL) {
		assert_in_range(insn->target, REGION + AGENT_CODE_OFFSET, STUB - 1);
		return;
	}
	assert_true(insn->flow == CODE_JUMP || insn->flow == CODE_BRANCH);
	/* the end is where the moved instruction stands */
	assert_in_range(insn->target, STUB, STUB + written->buffer.size);
}

static void jumps_of_a_stub_stay_in_it_and_calls_lead_to_the_agent(void **state)
{
	(void)state;
	every_word(look_at_jumps);
}

/* Bytes that the word moves the stack pointer up by, as the stub does it: pairs and single registers. */
static int sp_moved(uint32_t w)
{
	const bool by_sp = (w >> 5 & 31) == SP;
	const int32_t pair = (int32_t)(w << 10) >> 25, single = (int32_t)(w << 11) >> 23;

	if (by_sp && ((w & 0xffc00000) == 0xa9800000 || (w & 0xffc00000) == 0xa8c00000))
		return pair * 8;
	if (by_sp && ((w & 0xffe00c00) == 0xf8000c00 || (w & 0xffe00c00) == 0xf8400400))
		return single;
	return 0;
}

/* Every way through the stub, with the stack pointer relative to its value at the start; jumps back are taken once. */
static void walk(const struct written *written, size_t at, int sp, uint8_t *seen)
{
	while (at < written->buffer.size) {
		struct code_insn insn;

		assert_true(code_insn_decode(EM_AARCH64, written->bytes + at, 4, STUB + at, &insn));
		if (seen[at / 4] == (uint8_t)(1 - sp / 16))
			return;
		assert_int_equal(seen[at / 4], 0); /* else it is come to with two depths */
		seen[at / 4] = (uint8_t)(1 - sp / 16);
		sp += sp_moved(word_at(written, at));
		assert_true(sp <= 0);
		if (insn.flow == CODE_BRANCH)
			walk(written, insn.target - STUB, sp, seen);
		at = insn.flow == CODE_JUMP ? insn.target - STUB : at + 4;
	}
	assert_int_equal(sp, 0);
}

static void on_every_way_the_stack_pointer_comes_back(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2 * VARIANTS; i++) {
		const struct stub stub = variant(i / 2);
		struct written written;
		uint8_t seen[BYTES / 4] = { 0 };

		write_stub(&written, &stub, i % 2 ? CODE_SITE_RETURN : CODE_SITE_ENTRY);
		walk(&written, 0, 0, seen);
	}
}

static void a_region_out_of_reach_is_said(void **state)
{
	struct stub stub = variant(1);
	struct written written = { 0 };

	(void)state;
	stub.region = STUB + (UINT64_C(1) << 28);
	written.buffer =
		(struct code_buffer){ .bytes = written.bytes, .capacity = BYTES, .address = STUB };
	assert_true(stub_append_kind(EM_AARCH64, &stub, CODE_SITE_ENTRY, &written.buffer));
	assert_true(written.buffer.unreachable);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_instruction_of_a_stub_writes_a_flag),
		cmocka_unit_test(jumps_of_a_stub_stay_in_it_and_calls_lead_to_the_agent),
		cmocka_unit_test(on_every_way_the_stack_pointer_comes_back),
		cmocka_unit_test(a_region_out_of_reach_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
