/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "unit/profile/recording.h"

static const struct profile_options all = { 0 };

static void equal_stacks_are_counted_together_with_their_periods(void **state)
{
	struct recording r;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	for (uint64_t i = 0; i < 10; i++)
		CHAIN(&r, 100 + i, USER, A, B);
	CHAIN(&r, 200, USER, A, C);
	recording_profile(&r, &all);
	assert_int_equal(r.profile.samples, 11);
	assert_int_equal(r.profile.stacks.n, 2);
	assert_true(r.profile.weight == 11000);
	assert_true(r.profile.fixed_period && r.profile.has_chains && r.profile.timed);
	assert_true(r.profile.unit_is_ns);
	assert_int_equal(r.profile.first_ns, 100);
	assert_int_equal(r.profile.last_ns, 200);
	recording_end(&r);
}

static void a_changed_mapping_keeps_equal_addresses_apart(void **state)
{
	struct recording r;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A);
	image_clock_mmap2(&r.data, 7, 150, 0x1000, 0x1000, "/no/other");
	CHAIN(&r, 200, USER, A);
	recording_profile(&r, &all);
	assert_int_equal(r.profile.stacks.n, 2);
	recording_end(&r);
}

static void frames_are_the_chain_with_modes_and_return_addresses(void **state)
{
	struct profile_frames frames = { 0 };
	const struct place *places;
	struct recording r;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, KERNEL, KERNEL_AT, KERNEL_AT + 0x100, USER, B, C);
	recording_profile(&r, &all);
	assert_int_equal(profile_frames(&r.profile, &r.profile.stacks.items[0], &frames, NULL),
			 STATUS_OK);
	assert_int_equal(frames.n, 4);
	places = r.profile.places.items;
	assert_int_equal(places[frames.places[0]].mode, PLACE_KERNEL);
	assert_false(places[frames.places[0]].return_address);
	assert_true(places[frames.places[1]].return_address);
	assert_int_equal(places[frames.places[2]].mode, PLACE_USER);
	assert_false(places[frames.places[2]].return_address); /* where user space was left */
	assert_true(places[frames.places[3]].return_address);
	assert_int_equal(places[frames.places[2]].offset.value, 0x2100);
	assert_string_equal(module_path(places[frames.places[3]].module), "/no/c");
	profile_frames_release(&frames);
	recording_end(&r);
}

static void a_return_address_at_the_end_of_a_mapping_is_in_it(void **state)
{
	struct profile_frames frames = { 0 };
	struct recording r;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, 0x4000, 0x2000);
	recording_profile(&r, &all);
	assert_int_equal(profile_frames(&r.profile, &r.profile.stacks.items[0], &frames, NULL),
			 STATUS_OK);
	assert_string_equal(module_path(r.profile.places.items[frames.places[1]].module), "/no/b");
	assert_string_equal(module_path(r.profile.places.items[frames.places[2]].module), "/no/a");
	profile_frames_release(&frames);
	recording_end(&r);
}

static void a_chain_as_long_as_the_kernel_collects_is_marked_cut(void **state)
{
	uint64_t chain[128] = { USER };
	struct recording r;

	(void)state;
	for (size_t i = 1; i < 128; i++)
		chain[i] = A + i;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	recording_chain(&r, 100, 1, chain, 128);
	recording_chain(&r, 101, 1, chain, 127);
	recording_profile(&r, &all);
	assert_int_equal(r.profile.stacks.items[0].cut, STACK_CUT_DEPTH);
	assert_int_equal(r.profile.stacks.items[1].cut, 0);
	assert_int_equal(r.profile.cut_depth, 1);
	recording_end(&r);
}

static void the_events_own_limit_of_frames_counts(void **state)
{
	struct recording r;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	r.event.attr.sample_max_stack = 2;
	CHAIN(&r, 100, USER, A, B);
	CHAIN(&r, 100, USER, A);
	recording_profile(&r, &all);
	assert_int_equal(r.profile.stacks.items[0].cut, STACK_CUT_DEPTH);
	assert_int_equal(r.profile.stacks.items[1].cut, 0);
	recording_end(&r);
}

static void a_filter_leaves_out_and_counts_what_it_leaves_out(void **state)
{
	struct filter filter;
	const struct profile_options options = { .filter = &filter };
	struct recording r;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_time(&filter, "50%-100%", NULL), STATUS_OK);
	recording_begin(&r, 0);
	for (uint64_t i = 0; i <= 100; i++)
		image_clock_sample(&r.data, 7, 1000 + i, A);
	recording_profile(&r, &options);
	assert_int_equal(r.profile.samples, 51);
	assert_int_equal(r.profile.filtered, 50);
	recording_end(&r);
	filter_release(&filter);
}

static void a_filter_on_something_that_samples_lack_is_refused(void **state)
{
	struct error error = { 0 };
	struct filter filter;
	const struct profile_options options = { .filter = &filter };
	struct recording r;

	(void)state;
	filter_init(&filter);
	assert_int_equal(filter_cpus(&filter, "0", NULL), STATUS_OK);
	recording_begin(&r, 0);
	image_clock_sample(&r.data, 7, 1000, A);
	assert_int_equal(recording_try(&r, &options, &error), STATUS_USAGE);
	assert_non_null(strstr(error.text, "--cpu"));
	symbolizer_free(r.symbolizer);
	perfdata_reader_close(r.bundle.reader);
	image_release(&r.file);
	image_release(&r.data);
	filter_release(&filter);
}

static void an_event_that_is_not_there_is_named_with_what_is(void **state)
{
	struct error error = { 0 };
	const struct profile_options options = { .event = "cycles" };
	struct recording r;

	(void)state;
	recording_begin(&r, 0);
	image_clock_sample(&r.data, 7, 1000, A);
	assert_int_equal(recording_try(&r, &options, &error), STATUS_USAGE);
	assert_non_null(strstr(error.text, "cycles"));
	assert_non_null(strstr(error.text, "cpu-clock"));
	symbolizer_free(r.symbolizer);
	perfdata_reader_close(r.bundle.reader);
	image_release(&r.file);
	image_release(&r.data);
}

static void tags_keep_apart_only_what_was_asked_for(void **state)
{
	const struct profile_options options = { .tags = TAG_COMM };
	struct recording r;

	(void)state;
	recording_begin(&r, 0);
	image_clock_comm(&r.data, 8, 0, "eight");
	image_clock_sample(&r.data, 7, 100, A);
	image_clock_sample(&r.data, 8, 101, A);
	image_clock_sample(&r.data, 7, 102, A);
	image_clock_sample(&r.data, 9, 103, A);
	recording_profile(&r, &options);
	assert_int_equal(r.profile.tags.n, 3);
	assert_string_equal(strings_get(&r.profile.timeline.strings, r.profile.tags.items[0].comm),
			    "seven");
	assert_string_equal(strings_get(&r.profile.timeline.strings, r.profile.tags.items[2].comm),
			    ":9");
	assert_int_equal(r.profile.tags.items[1].tid, 0);
	recording_end(&r);
}

static void what_samples_lack_the_file_and_the_event_stand_for(void **state)
{
	struct recording r;

	(void)state;
	memset(&r, 0, sizeof(r));
	r.event.attr = image_clock_attr();
	r.event.attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	r.event.attr.sample_id_all = 0;
	r.event.attr_size = 128;
	memcpy(r.path, "made.data", 10);
	for (uint32_t i = 0; i < 1000; i++) {
		const size_t record =
			image_record(&r.data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

		image_u64(&r.data, A);
		image_u32(&r.data, 7);
		image_u32(&r.data, 7);
		image_record_end(&r.data, record);
	}
	recording_profile(&r, &all);
	assert_false(r.profile.timed);
	assert_int_equal(r.profile.samples, 1000);
	assert_int_equal(r.profile.stacks.n, 1);
	/* one stack in all 40 epochs: places in the file were cut as times would have been */
	assert_int_equal(r.profile.stacks.n_counts, 40);
	/* and without PERIOD each stands for the period that the event was opened with */
	assert_true(r.profile.unit_is_ns);
	assert_true(r.profile.weight >= 1000 * 1e6 && r.profile.weight <= 1000 * 1e6);
	recording_end(&r);
}

static void an_empty_recording_is_a_profile_without_samples(void **state)
{
	struct recording r;

	(void)state;
	recording_begin(&r, 0);
	recording_profile(&r, &all);
	assert_int_equal(r.profile.samples, 0);
	assert_int_equal(r.profile.stacks.n, 0);
	assert_int_equal(r.profile.n_events, 1);
	recording_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_stacks_are_counted_together_with_their_periods),
		cmocka_unit_test(a_changed_mapping_keeps_equal_addresses_apart),
		cmocka_unit_test(frames_are_the_chain_with_modes_and_return_addresses),
		cmocka_unit_test(a_return_address_at_the_end_of_a_mapping_is_in_it),
		cmocka_unit_test(a_chain_as_long_as_the_kernel_collects_is_marked_cut),
		cmocka_unit_test(the_events_own_limit_of_frames_counts),
		cmocka_unit_test(a_filter_leaves_out_and_counts_what_it_leaves_out),
		cmocka_unit_test(a_filter_on_something_that_samples_lack_is_refused),
		cmocka_unit_test(an_event_that_is_not_there_is_named_with_what_is),
		cmocka_unit_test(tags_keep_apart_only_what_was_asked_for),
		cmocka_unit_test(what_samples_lack_the_file_and_the_event_stand_for),
		cmocka_unit_test(an_empty_recording_is_a_profile_without_samples),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
