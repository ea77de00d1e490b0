/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <string.h>
#include <sys/mman.h>

#include "profile/timeline.h"
#include "support/test.h"

#define MISC_USER PERF_RECORD_MISC_USER

static void add(struct timeline *timeline, const struct perfdata_record *record)
{
	assert_int_equal(timeline_add(timeline, record, record->time, NULL), STATUS_OK);
}

static void add_mmap(struct timeline *timeline, uint64_t time, uint32_t pid, uint64_t address,
		     uint64_t length, const char *path)
{
	const struct perfdata_record record = {
		.type = PERF_RECORD_MMAP2,
		.misc = MISC_USER,
		.time = time,
		.mmap = { .pid = pid,
			  .tid = pid,
			  .address = address,
			  .length = length,
			  .page_offset = 0x400,
			  .inode = 17,
			  .protection = PROT_READ | PROT_EXEC,
			  .path = path },
	};

	add(timeline, &record);
}

static void add_fork(struct timeline *timeline, uint64_t time, uint32_t parent, uint32_t pid,
		     uint32_t parent_tid, uint32_t tid)
{
	const struct perfdata_record record = {
		.type = PERF_RECORD_FORK,
		.time = time,
		.task = { .pid = pid, .tid = tid, .parent_pid = parent, .parent_tid = parent_tid }
	};

	add(timeline, &record);
}

static void add_comm(struct timeline *timeline, uint64_t time, uint32_t pid, const char *comm,
		     bool exec)
{
	const struct perfdata_record record = {
		.type = PERF_RECORD_COMM,
		.time = time,
		.comm = { .pid = pid, .tid = pid, .exec = exec, .comm = comm },
	};

	add(timeline, &record);
}

static void finish(struct timeline *timeline)
{
	assert_int_equal(timeline_finish(timeline, NULL), STATUS_OK);
}

/* The path mapped at an address, "" when none is. */
static const char *path_at(const struct timeline *timeline, uint32_t pid, uint64_t time,
			   uint64_t address)
{
	const uint32_t generation = timeline_generation_at(timeline, pid, time, NULL, NULL);
	const struct timeline_mapping *mapping = timeline_mapping_at(timeline, generation, address);

	return mapping ? strings_get(&timeline->strings, timeline->files[mapping->file].path) : "";
}

static const char *comm_at(const struct timeline *timeline, uint32_t tid, uint64_t time)
{
	return strings_get(&timeline->strings, timeline_comm_at(timeline, tid, time, NULL, NULL));
}

static void records_out_of_order_are_played_in_order_of_time(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 300, 1, 0x1000, 0x1000, "late");
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "early");
	add_mmap(&timeline, 200, 1, 0x1000, 0x1000, "middle");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 150, 0x1800), "early");
	assert_string_equal(path_at(&timeline, 1, 250, 0x1800), "middle");
	assert_string_equal(path_at(&timeline, 1, 350, 0x1800), "late");
	timeline_release(&timeline);
}

static void records_of_one_time_keep_their_order_in_the_file(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "first");
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "second");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 100, 0x1000), "second");
	timeline_release(&timeline);
}

static void a_fork_takes_the_mappings_of_its_moment_and_no_later_ones(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "before");
	add_fork(&timeline, 200, 1, 2, 1, 2);
	add_mmap(&timeline, 300, 1, 0x5000, 0x1000, "parent's");
	add_mmap(&timeline, 300, 2, 0x1000, 0x1000, "child's");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 2, 250, 0x1000), "before");
	assert_string_equal(path_at(&timeline, 2, 350, 0x1000), "child's");
	assert_string_equal(path_at(&timeline, 2, 350, 0x5000), "");
	assert_string_equal(path_at(&timeline, 1, 350, 0x1000), "before");
	assert_string_equal(path_at(&timeline, 1, 350, 0x5000), "parent's");
	timeline_release(&timeline);
}

static void an_exec_starts_with_nothing_mapped(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "sh");
	add_comm(&timeline, 200, 1, "prog", true);
	add_mmap(&timeline, 300, 1, 0x8000, 0x1000, "prog");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 150, 0x1000), "sh");
	assert_string_equal(path_at(&timeline, 1, 250, 0x1000), "");
	assert_string_equal(path_at(&timeline, 1, 350, 0x8000), "prog");
	timeline_release(&timeline);
}

static void a_comm_without_exec_keeps_the_mappings(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "sh");
	add_comm(&timeline, 200, 1, "renamed", false);
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 250, 0x1000), "sh");
	assert_string_equal(comm_at(&timeline, 1, 250), "renamed");
	timeline_release(&timeline);
}

static void what_a_process_was_before_its_fork_is_unknown(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "before");
	add_fork(&timeline, 200, 1, 2, 1, 2);
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 2, 150, 0x1000), "");
	timeline_release(&timeline);
}

static void a_reused_pid_is_the_newer_process(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "shell");
	add_fork(&timeline, 200, 1, 2, 1, 2);
	add_comm(&timeline, 210, 2, "first", true);
	add_mmap(&timeline, 220, 2, 0x1000, 0x1000, "first");
	add_fork(&timeline, 500, 1, 2, 1, 2);
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 2, 300, 0x1000), "first");
	assert_string_equal(path_at(&timeline, 2, 600, 0x1000), "shell");
	timeline_release(&timeline);
}

/* Stacks are told apart by generation: more than needed would only cost, fewer would be wrong. */
static void only_a_change_of_meaning_begins_a_generation(void **state)
{
	struct timeline timeline;
	uint32_t one, two, three;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "a");
	add_mmap(&timeline, 200, 1, 0x3000, 0x1000, "b");
	add_mmap(&timeline, 300, 1, 0x1000, 0x1000, "a");
	add_mmap(&timeline, 400, 1, 0x1000, 0x1000, "c");
	finish(&timeline);
	one = timeline_generation_at(&timeline, 1, 150, NULL, NULL);
	two = timeline_generation_at(&timeline, 1, 350, NULL, NULL);
	three = timeline_generation_at(&timeline, 1, 450, NULL, NULL);
	assert_int_equal(one, two);
	assert_int_not_equal(two, three);
	assert_string_equal(path_at(&timeline, 1, 150, 0x3000), "b");
	timeline_release(&timeline);
}

static void an_answer_says_for_which_time_it_holds(void **state)
{
	struct timeline timeline;
	uint64_t from, until;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x1000, "a");
	add_mmap(&timeline, 400, 1, 0x1000, 0x1000, "b");
	finish(&timeline);
	timeline_generation_at(&timeline, 1, 500, &from, &until);
	assert_int_equal(from, 400);
	assert_true(until == UINT64_MAX);
	timeline_generation_at(&timeline, 1, 399, &from, &until);
	assert_int_equal(from, 0);
	assert_int_equal(until, 400);
	timeline_generation_at(&timeline, 99, 5, &from, &until);
	assert_true(from == 0 && until == UINT64_MAX);
	timeline_release(&timeline);
}

static void a_data_mapping_over_code_takes_it_away(void **state)
{
	struct timeline timeline;
	struct perfdata_record record = { .type = PERF_RECORD_MMAP2,
					  .misc = MISC_USER,
					  .time = 200,
					  .mmap = { .pid = 1,
						    .address = 0x1000,
						    .length = 0x1000,
						    .protection = PROT_READ,
						    .data = true,
						    .path = "data" } };

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x2000, "code");
	add(&timeline, &record);
	record.mmap.address = 0x9000;
	add(&timeline, &record);
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 300, 0x1000), "data");
	assert_string_equal(path_at(&timeline, 1, 300, 0x2000), "code");
	assert_string_equal(path_at(&timeline, 1, 300, 0x9000), "data");
	timeline_release(&timeline);
}

/* Else a program that maps and unmaps buffers under `perf record -d` would have a generation, and all its
 * stacks anew, for each of them. */
static void data_over_data_begins_no_generation(void **state)
{
	struct perfdata_record record = { .type = PERF_RECORD_MMAP2,
					  .misc = MISC_USER,
					  .mmap = { .pid = 1,
						    .address = 0x9000,
						    .length = 0x1000,
						    .data = true,
						    .path = "//anon" } };
	struct timeline timeline;
	uint32_t before;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 100, 1, 0x1000, 0x2000, "code");
	for (uint64_t i = 0; i < 50; i++) {
		record.time = 200 + i;
		record.mmap.length = 0x1000 + 0x100 * i;
		add(&timeline, &record);
	}
	finish(&timeline);
	before = timeline_generation_at(&timeline, 1, 150, NULL, NULL);
	assert_int_equal(timeline_generation_at(&timeline, 1, 300, NULL, NULL), before);
	timeline_release(&timeline);
}

static void a_synthesised_fork_does_not_inherit(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 0, 1, 0x1000, 0x1000, "parent");
	add_fork(&timeline, 0, 1, 2, 1, 2);
	add_mmap(&timeline, 0, 2, 0x8000, 0x1000, "own");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 2, 10, 0x1000), "");
	assert_string_equal(path_at(&timeline, 2, 10, 0x8000), "own");
	timeline_release(&timeline);
}

static void a_thread_shares_its_process_and_inherits_the_name(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_comm(&timeline, 0, 1, "main", false);
	add_mmap(&timeline, 10, 1, 0x1000, 0x1000, "a");
	add_fork(&timeline, 100, 1, 1, 1, 7);
	add_comm(&timeline, 200, 7, "worker", false);
	add_fork(&timeline, 300, 1, 1, 7, 8);
	finish(&timeline);
	assert_string_equal(comm_at(&timeline, 7, 150), "main");
	assert_string_equal(comm_at(&timeline, 7, 250), "worker");
	assert_string_equal(comm_at(&timeline, 8, 350), "worker");
	assert_string_equal(path_at(&timeline, 1, 350, 0x1000), "a");
	assert_true(timeline_comm_at(&timeline, 4711, 0, NULL, NULL) == STRINGS_NONE);
	timeline_release(&timeline);
}

static void a_range_that_wraps_or_is_empty_maps_nothing(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	add_mmap(&timeline, 1, 1, 0x1000, 0, "empty");
	add_mmap(&timeline, 1, 1, UINT64_MAX - 10, 100, "wraps");
	finish(&timeline);
	assert_string_equal(path_at(&timeline, 1, 5, 0x1000), "");
	assert_string_equal(path_at(&timeline, 1, 5, UINT64_MAX), "");
	assert_int_equal(timeline.n_mappings, 0);
	timeline_release(&timeline);
}

static void the_kernel_is_no_process(void **state)
{
	struct timeline timeline;
	const struct perfdata_record record = {
		.type = PERF_RECORD_MMAP,
		.misc = PERF_RECORD_MISC_KERNEL,
		.mmap = { .pid = UINT32_MAX,
			  .address = 0xffffffff81000000u,
			  .length = 0x1000,
			  .page_offset = 0xffffffff81000000u,
			  .protection = PROT_EXEC,
			  .path = "[kernel.kallsyms]_text" },
	};

	(void)state;
	timeline_init(&timeline);
	add(&timeline, &record);
	finish(&timeline);
	assert_int_equal(timeline.n_mappings, 0);
	assert_true(timeline.kernel_start == 0xffffffff81000000u);
	timeline_release(&timeline);
}

static void equal_files_are_kept_once(void **state)
{
	struct timeline timeline;

	(void)state;
	timeline_init(&timeline);
	for (uint32_t pid = 1; pid <= 500; pid++)
		add_mmap(&timeline, pid, pid, 0x1000, 0x1000, pid % 2 ? "a" : "b");
	assert_int_equal(timeline.n_files, 2);
	assert_int_equal(timeline.n_mappings, 500);
	finish(&timeline);
	timeline_release(&timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_out_of_order_are_played_in_order_of_time),
		cmocka_unit_test(records_of_one_time_keep_their_order_in_the_file),
		cmocka_unit_test(a_fork_takes_the_mappings_of_its_moment_and_no_later_ones),
		cmocka_unit_test(an_exec_starts_with_nothing_mapped),
		cmocka_unit_test(a_comm_without_exec_keeps_the_mappings),
		cmocka_unit_test(what_a_process_was_before_its_fork_is_unknown),
		cmocka_unit_test(a_reused_pid_is_the_newer_process),
		cmocka_unit_test(only_a_change_of_meaning_begins_a_generation),
		cmocka_unit_test(an_answer_says_for_which_time_it_holds),
		cmocka_unit_test(a_data_mapping_over_code_takes_it_away),
		cmocka_unit_test(data_over_data_begins_no_generation),
		cmocka_unit_test(a_synthesised_fork_does_not_inherit),
		cmocka_unit_test(a_thread_shares_its_process_and_inherits_the_name),
		cmocka_unit_test(a_range_that_wraps_or_is_empty_maps_nothing),
		cmocka_unit_test(the_kernel_is_no_process),
		cmocka_unit_test(equal_files_are_kept_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
