/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Every bit of sample_type, alone and with all others, in both byte orders: the encoder here follows
 * perf_output_sample of kernel/events/core.c, field by field, and knows nothing of the decoder.
 */
#include <string.h>

#include "bundle/perfdata_reader.h"
#include "support/perfdata_image.h"
#include "support/test.h"

#define ALL_BITS ((UINT64_C(1) << 25) - 1)
/* both are in ALL_BITS, and the kernel refuses the pair */
#define BOTH_WEIGHTS (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT)

/* The bits of this ABI's version; a header that knows more makes this fail until they are tested. */
_Static_assert(PERF_SAMPLE_MAX == 1U << 25, "a new sample bit: decode it and test it");

#define REGISTERS_USER      UINT64_C(0x80000000000000f1)
#define REGISTERS_INTERRUPT UINT64_C(0x7)
#define ID                  UINT64_C(77)

struct layout_case {
	uint64_t type, read_format, branch_type;
	bool swap;
};

static struct perf_event_attr attr_of(const struct layout_case *c)
{
	struct perf_event_attr attr = image_clock_attr();

	attr.sample_type = c->type;
	attr.read_format = c->read_format;
	attr.branch_sample_type = c->branch_type;
	attr.sample_regs_user = REGISTERS_USER;
	attr.sample_regs_intr = REGISTERS_INTERRUPT;
	attr.sample_stack_user = 16;
	return attr;
}

static void put_read(struct image *data, uint64_t format)
{
	const uint64_t n = format & PERF_FORMAT_GROUP ? 2 : 1;

	image_u64(data, format & PERF_FORMAT_GROUP ? n : 1000);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		image_u64(data, 501);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		image_u64(data, 502);
	for (uint64_t i = 0; i < n; i++) {
		if (format & PERF_FORMAT_GROUP)
			image_u64(data, 1000 + i);
		if (format & PERF_FORMAT_ID)
			image_u64(data, ID + i);
		if (format & PERF_FORMAT_LOST)
			image_u64(data, 30 + i);
	}
}

static void put_branches(struct image *data, uint64_t branch_type)
{
	image_u64(data, 2);
	if (branch_type & UINT64_C(1) << 17)
		image_u64(data, 99);
	for (uint64_t i = 0; i < 6; i++)
		image_u64(data, 600 + i);
	if (branch_type & UINT64_C(1) << 19) {
		image_u64(data, 1);
		image_u64(data, 2);
	}
}

static void put_registers(struct image *data, uint64_t mask, uint64_t first)
{
	image_u64(data, PERF_SAMPLE_REGS_ABI_64);
	for (int i = 0; i < __builtin_popcountll(mask); i++)
		image_u64(data, first + (uint64_t)i);
}

static void put_sample(struct image *data, const struct layout_case *c)
{
	const size_t record = image_record(data, PERF_RECORD_SAMPLE,
					   PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP);

#define IF(bit) if (c->type & (bit))
	IF(PERF_SAMPLE_IDENTIFIER) image_u64(data, ID);
	IF(PERF_SAMPLE_IP) image_u64(data, 101);
	IF(PERF_SAMPLE_TID)
	{
		image_u32(data, 102);
		image_u32(data, 103);
	}
	IF(PERF_SAMPLE_TIME) image_u64(data, 104);
	IF(PERF_SAMPLE_ADDR) image_u64(data, 105);
	IF(PERF_SAMPLE_ID) image_u64(data, ID);
	IF(PERF_SAMPLE_STREAM_ID) image_u64(data, 106);
	IF(PERF_SAMPLE_CPU)
	{
		image_u32(data, 107);
		image_u32(data, 0);
	}
	IF(PERF_SAMPLE_PERIOD) image_u64(data, 108);
	IF(PERF_SAMPLE_READ) put_read(data, c->read_format);
	IF(PERF_SAMPLE_CALLCHAIN)
	{
		image_u64(data, 3);
		image_u64(data, PERF_CONTEXT_USER);
		image_u64(data, 101);
		image_u64(data, 109);
	}
	IF(PERF_SAMPLE_RAW)
	{
		image_u32(data, 12);
		image_put(data, "raw bytes...", 12);
	}
	IF(PERF_SAMPLE_BRANCH_STACK) put_branches(data, c->branch_type);
	IF(PERF_SAMPLE_REGS_USER) put_registers(data, REGISTERS_USER, 700);
	IF(PERF_SAMPLE_STACK_USER)
	{
		image_u64(data, 16);
		image_put(data, "0123456789abcdef", 16);
		image_u64(data, 10);
	}
	IF(PERF_SAMPLE_WEIGHT_TYPE)
	image_u64(data, c->type & PERF_SAMPLE_WEIGHT_STRUCT ? UINT64_C(0x0003000200000110) : 110);
	IF(PERF_SAMPLE_DATA_SRC) image_u64(data, 111);
	IF(PERF_SAMPLE_TRANSACTION) image_u64(data, 112);
	IF(PERF_SAMPLE_REGS_INTR) put_registers(data, REGISTERS_INTERRUPT, 800);
	IF(PERF_SAMPLE_PHYS_ADDR) image_u64(data, 113);
	IF(PERF_SAMPLE_CGROUP) image_u64(data, 114);
	IF(PERF_SAMPLE_DATA_PAGE_SIZE) image_u64(data, 115);
	IF(PERF_SAMPLE_CODE_PAGE_SIZE) image_u64(data, 116);
	IF(PERF_SAMPLE_AUX)
	{
		image_u64(data, 8);
		image_put(data, "auxbytes", 8);
	}
#undef IF
	image_record_end(data, record);
}

static void check_fixed(const struct layout_case *c, const struct perfdata_sample *s)
{
	const uint64_t type = c->type;

#define WANT(bit, value) (type & (bit) ? (value) : 0)
	assert_int_equal(s->event, 0);
	assert_int_equal(s->cpumode, PERF_RECORD_MISC_USER);
	assert_true(s->exact_ip);
	assert_int_equal(s->ip, WANT(PERF_SAMPLE_IP, 101));
	assert_int_equal(s->pid, type & PERF_SAMPLE_TID ? 102 : UINT32_MAX);
	assert_int_equal(s->tid, type & PERF_SAMPLE_TID ? 103 : UINT32_MAX);
	assert_int_equal(s->has_time, !!(type & PERF_SAMPLE_TIME));
	assert_int_equal(s->time, WANT(PERF_SAMPLE_TIME, 104));
	assert_int_equal(s->addr, WANT(PERF_SAMPLE_ADDR, 105));
	assert_int_equal(s->has_id, !!(type & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)));
	assert_int_equal(s->id, WANT(PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER, ID));
	assert_int_equal(s->has_cpu, !!(type & PERF_SAMPLE_CPU));
	assert_int_equal(s->cpu, type & PERF_SAMPLE_CPU ? 107 : UINT32_MAX);
	assert_int_equal(s->has_period, !!(type & PERF_SAMPLE_PERIOD));
	assert_int_equal(s->period, WANT(PERF_SAMPLE_PERIOD, 108));
}

static void check_read(const struct layout_case *c, const struct perfdata_sample *s)
{
	const bool group = c->read_format & PERF_FORMAT_GROUP;
	const uint32_t n = c->type & PERF_SAMPLE_READ ? (group ? 2 : 1) : 0;

	assert_int_equal(s->has_read, n > 0);
	assert_int_equal(s->n_read, n);
	if (!n)
		return;
	assert_int_equal(s->read_time_enabled,
			 c->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED ? 501 : 0);
	assert_int_equal(s->read_time_running,
			 c->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING ? 502 : 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_int_equal(s->read[i].value, 1000 + i);
		if (c->read_format & PERF_FORMAT_ID)
			assert_int_equal(s->read[i].id, ID + i);
		assert_int_equal(s->read[i].lost, c->read_format & PERF_FORMAT_LOST ? 30 + i : 0);
	}
}

static void check_arrays(const struct layout_case *c, const struct perfdata_sample *s)
{
	const uint64_t type = c->type;

	assert_int_equal(s->n_callchain, WANT(PERF_SAMPLE_CALLCHAIN, 3));
	if (s->n_callchain) {
		assert_true(s->callchain[0] == PERF_CONTEXT_USER);
		assert_int_equal(s->callchain[2], 109);
	}
	assert_int_equal(s->raw_size, WANT(PERF_SAMPLE_RAW, 12));
	if (s->raw_size)
		assert_memory_equal(s->raw, "raw bytes...", 12);
	assert_int_equal(s->n_branches, WANT(PERF_SAMPLE_BRANCH_STACK, 2));
	for (uint32_t i = 0; i < 3 * s->n_branches; i++)
		assert_int_equal(s->branches[i], 600 + i);
	assert_true(s->user_regs_mask == WANT(PERF_SAMPLE_REGS_USER, REGISTERS_USER));
	assert_int_equal(s->user_regs_abi, WANT(PERF_SAMPLE_REGS_USER, PERF_SAMPLE_REGS_ABI_64));
	for (int i = 0; i < __builtin_popcountll(s->user_regs_mask); i++)
		assert_int_equal(s->user_regs[i], 700 + i);
	assert_int_equal(s->user_stack_size, WANT(PERF_SAMPLE_STACK_USER, 16));
	assert_int_equal(s->user_stack_dumped, WANT(PERF_SAMPLE_STACK_USER, 10));
	if (s->user_stack_size)
		assert_memory_equal(s->user_stack, "0123456789abcdef", 16);
}

static void check_rest(const struct layout_case *c, const struct perfdata_sample *s)
{
	const uint64_t type = c->type;

	assert_int_equal(s->weight,
			 type & PERF_SAMPLE_WEIGHT_STRUCT ? 0x110 : WANT(PERF_SAMPLE_WEIGHT, 110));
	assert_int_equal(s->data_source, WANT(PERF_SAMPLE_DATA_SRC, 111));
	assert_int_equal(s->transaction, WANT(PERF_SAMPLE_TRANSACTION, 112));
	assert_int_equal(s->phys_addr, WANT(PERF_SAMPLE_PHYS_ADDR, 113));
	assert_int_equal(s->cgroup, WANT(PERF_SAMPLE_CGROUP, 114));
	assert_int_equal(s->data_page_size, WANT(PERF_SAMPLE_DATA_PAGE_SIZE, 115));
	assert_int_equal(s->code_page_size, WANT(PERF_SAMPLE_CODE_PAGE_SIZE, 116));
#undef WANT
}

static struct perfdata_reader *open_image(const struct image *file)
{
	struct perfdata_reader *reader;
	struct error error;

	if (perfdata_reader_open_memory(&reader, file->bytes, file->size, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return reader;
}

static void check_layout(const struct layout_case *c)
{
	const uint64_t ids[] = { ID };
	struct image_event event = { attr_of(c), 136, ids, 1 };
	struct image data = { .swap = c->swap }, file = { .swap = c->swap };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;
	size_t n;

	put_sample(&data, c);
	image_file(&file, &event, 1, &data, data.size);
	reader = open_image(&file);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	check_fixed(c, &record.sample);
	check_read(c, &record.sample);
	check_arrays(c, &record.sample);
	check_rest(c, &record.sample);
	assert_int_equal(record.time, record.sample.time);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_END);
	perfdata_reader_notes(reader, &n);
	assert_int_equal(n, 0);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

static void every_sample_bit_decodes_alone_and_in_company(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		for (int bit = 0; bit < 25; bit++) {
			struct layout_case c = { .type = UINT64_C(1) << bit, .swap = swap };

			check_layout(&c);
			c.type = ALL_BITS & ~c.type & ~(uint64_t)PERF_SAMPLE_WEIGHT;
			check_layout(&c);
		}
		check_layout(&(struct layout_case){
			.type = ALL_BITS & ~(uint64_t)PERF_SAMPLE_WEIGHT_STRUCT, .swap = swap });
	}
}

static void every_read_format_decodes(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++)
		for (uint64_t format = 0; format < PERF_FORMAT_MAX; format++)
			check_layout(
				&(struct layout_case){ .type = ALL_BITS & ~(uint64_t)BOTH_WEIGHTS,
						       .read_format = format,
						       .swap = swap });
}

static void branch_stacks_decode_with_and_without_index_and_counters(void **state)
{
	(void)state;
	for (int swap = 0; swap < 2; swap++)
		for (unsigned int i = 0; i < 4; i++)
			check_layout(&(struct layout_case){
				.type = ALL_BITS & ~(uint64_t)BOTH_WEIGHTS,
				.branch_type = (i & 1 ? UINT64_C(1) << 17 : 0) |
					       (i & 2 ? UINT64_C(1) << 19 : 0),
				.swap = swap });
}

/* A record cut at any word must be refused or decode within itself; ASan watches the bounds. */
static void a_sample_cut_anywhere_is_left_out_or_stays_inside_its_record(void **state)
{
	const struct layout_case c = { .type = ALL_BITS & ~(uint64_t)PERF_SAMPLE_WEIGHT &
					       ~(uint64_t)PERF_SAMPLE_AUX,
				       .read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID };
	const uint64_t ids[] = { ID };
	struct image_event event = { attr_of(&c), 136, ids, 1 };
	struct image whole = { 0 };

	(void)state;
	put_sample(&whole, &c);
	for (size_t size = 8; size < whole.size; size += 8) {
		struct image data = { 0 }, file = { 0 };
		struct perfdata_reader *reader;
		struct perfdata_record record;
		struct error error;
		size_t n;
		const struct perfdata_note *notes;
		const uint16_t stored = (uint16_t)size;

		image_put(&data, whole.bytes, size);
		memcpy(data.bytes + 6, &stored, sizeof(stored));
		image_file(&file, &event, 1, &data, data.size);
		reader = open_image(&file);
		assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_END);
		notes = perfdata_reader_notes(reader, &n);
		assert_int_equal(n, 1);
		/* without its id nobody knows what it is: one event, so that it is that one's */
		assert_int_equal(notes[0].kind, PERFDATA_NOTE_SKIPPED);
		perfdata_reader_close(reader);
		image_release(&data);
		image_release(&file);
	}
	image_release(&whole);
}

static void brief_samples_carry_their_identity_and_no_arrays(void **state)
{
	const struct layout_case c = { .type = ALL_BITS & ~(uint64_t)BOTH_WEIGHTS };
	const uint64_t ids[] = { ID };
	struct image_event event = { attr_of(&c), 136, ids, 1 };
	struct image data = { 0 }, file = { 0 };
	struct perfdata_reader *reader;
	struct perfdata_record record;
	struct error error;

	(void)state;
	put_sample(&data, &c);
	image_file(&file, &event, 1, &data, data.size);
	reader = open_image(&file);
	perfdata_reader_want(reader, PERFDATA_WANT_SAMPLES | PERFDATA_WANT_BRIEF);
	assert_int_equal(perfdata_reader_next(reader, &record, &error), STATUS_OK);
	check_fixed(&c, &record.sample);
	assert_int_equal(record.sample.n_callchain, 0);
	assert_null(record.sample.user_stack);
	assert_false(record.sample.has_read);
	perfdata_reader_close(reader);
	image_release(&data);
	image_release(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sample_bit_decodes_alone_and_in_company),
		cmocka_unit_test(every_read_format_decodes),
		cmocka_unit_test(branch_stacks_decode_with_and_without_index_and_counters),
		cmocka_unit_test(a_sample_cut_anywhere_is_left_out_or_stays_inside_its_record),
		cmocka_unit_test(brief_samples_carry_their_identity_and_no_arrays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
