/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/table.h"
#include "unit/profile/recording.h"

static const struct profile_options all = { 0 };

static size_t row_of(const struct table *table, const char *module)
{
	for (size_t i = 0; i < table->n_rows; i++)
		if (!strcmp(table_subject(table, i)->module_name, module))
			return i;
	fail_msg("no row of module %s", module);
	return 0;
}

static double weight_of(const struct table_counts *counts, size_t row)
{
	double weight = 0;

	for (size_t i = counts->first[row]; i < counts->first[row + 1]; i++)
		weight += counts->counts[i].weight;
	return weight;
}

static void build(struct table *table, struct recording *recording, unsigned int by, bool totals)
{
	assert_int_equal(table_build(table, &recording->profile, by, totals, NULL), STATUS_OK);
}

static void self_is_the_innermost_frame_total_every_frame_once_also_in_recursion(void **state)
{
	struct recording r;
	struct table table;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, B, A, B, C);
	CHAIN(&r, 101, USER, C, C, C);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	assert_int_equal(table.n_rows, 3);
	assert_int_equal(table.self_samples[row_of(&table, "a")], 1);
	assert_int_equal(table.self_samples[row_of(&table, "b")], 0);
	assert_int_equal(table.self_samples[row_of(&table, "c")], 1);
	assert_int_equal(table.total_samples[row_of(&table, "a")], 1);
	assert_int_equal(table.total_samples[row_of(&table, "b")], 1);
	assert_int_equal(table.total_samples[row_of(&table, "c")], 2);
	table_release(&table);
	recording_end(&r);
}

static void whole_stacks_are_rows_of_their_own_named_from_the_leaf(void **state)
{
	struct recording r;
	struct table table;
	size_t deep = SIZE_MAX;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, B, C);
	CHAIN(&r, 101, USER, A, C);
	CHAIN(&r, 102, USER, A, B, C);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE | SUBJECT_STACK, true);
	assert_int_equal(table.n_rows, 2);
	assert_false(table.has_total);
	for (size_t i = 0; i < table.n_rows; i++)
		if (table_subject(&table, i)->n_stack == 3)
			deep = i;
	assert_int_not_equal(deep, SIZE_MAX);
	assert_int_equal(table.self_samples[deep], 2);
	assert_int_equal(table.self_samples[!deep], 1);
	assert_string_equal(table_subject(&table, deep)->module_name, "a");
	assert_non_null(strstr(table_subject(&table, deep)->name, " < "));
	table_release(&table);
	recording_end(&r);
}

static void self_counts_of_all_rows_add_up_to_the_samples_of_each_cell(void **state)
{
	struct recording r;
	struct table table;
	double sum = 0, cells = 0;
	uint64_t samples = 0;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	for (uint64_t i = 0; i < 2000; i++) {
		const uint64_t chain[] = { USER, i % 3 == 0 ? A : i % 3 == 1 ? B : C, C };

		recording_chain(&r, 1000 + 10 * i, 100 + i % 7, chain, 3);
	}
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	for (size_t i = 0; i < table.n_rows; i++) {
		sum += weight_of(&table.self, i);
		samples += table.self_samples[i];
		for (size_t k = table.self.first[i] + 1; k < table.self.first[i + 1]; k++)
			assert_true(table.self.counts[k].cell > table.self.counts[k - 1].cell);
	}
	for (uint32_t i = 0; i < table.n_epochs * table.n_clocks; i++)
		cells += table.cell_weight[i];
	assert_true(sum == r.profile.weight && cells == sum);
	assert_int_equal(samples, 2000);
	assert_int_equal(table.n_epochs, EPOCHS_CUT);
	assert_int_equal(table.total_samples[row_of(&table, "c")], 2000);
	table_release(&table);
	recording_end(&r);
}

static void without_totals_callers_are_neither_looked_up_nor_rows(void **state)
{
	struct recording r;
	struct table table;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, B, C);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, false);
	assert_int_equal(table.n_rows, 1);
	assert_false(table.has_total);
	table_release(&table);
	recording_end(&r);
}

static void cut_stacks_are_together_under_one_root(void **state)
{
	struct recording r;
	struct table table;
	size_t truncated = SIZE_MAX;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	r.event.attr.sample_max_stack = 2;
	CHAIN(&r, 100, USER, A, B);
	CHAIN(&r, 101, USER, C, B);
	CHAIN(&r, 102, USER, C);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	for (size_t i = 0; i < table.n_rows; i++)
		if (!strcmp(table_subject(&table, i)->name, "[truncated]"))
			truncated = i;
	assert_true(truncated != SIZE_MAX);
	assert_int_equal(table.total_samples[truncated], 2);
	assert_int_equal(table.self_samples[truncated], 0);
	assert_int_equal(table.cut_samples, 2);
	table_release(&table);
	recording_end(&r);
}

static void rows_by_tag_alone_need_no_names(void **state)
{
	const struct profile_options options = { .tags = TAG_TID };
	struct recording r;
	struct table table;

	(void)state;
	recording_begin(&r, 0);
	for (uint32_t i = 0; i < 30; i++)
		image_clock_sample(&r.data, i % 3, 100 + i, A + i);
	recording_profile(&r, &options);
	build(&table, &r, 0, true);
	assert_int_equal(table.n_rows, 3);
	assert_null(table_subject(&table, 0));
	assert_int_equal(table.self_samples[1], 10);
	assert_int_equal(r.profile.places.n, 0);
	table_release(&table);
	recording_end(&r);
}

static void addresses_without_a_name_are_counted_by_module_and_reason(void **state)
{
	struct recording r;
	struct table table;
	uint64_t samples = 0, in_stacks = 0, addresses = 0;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, B);
	CHAIN(&r, 101, USER, A + 1, A, B);
	CHAIN(&r, 102, USER, B);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	for (size_t i = 0; i < table.n_misses; i++)
		if (!strcmp(table.misses[i].module_name, "a")) {
			assert_int_equal(table.misses[i].miss, SYMBOL_FILE_MISSING);
			samples += table.misses[i].samples;
			in_stacks += table.misses[i].in_stacks;
			addresses += table.misses[i].addresses;
		}
	assert_int_equal(samples, 2);
	assert_int_equal(in_stacks, 2);
	/* A as sampled, A + 1 as sampled, A as a return address */
	assert_int_equal(addresses, 3);
	table_release(&table);
	recording_end(&r);
}

static void an_address_that_nothing_maps_is_no_modules(void **state)
{
	struct recording r;
	struct table table;

	(void)state;
	recording_begin(&r, 0);
	image_clock_sample(&r.data, 7, 100, 0x7777777);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	assert_int_equal(table.n_rows, 1);
	assert_string_equal(table_subject(&table, 0)->name, "[unknown]");
	assert_string_equal(table_subject(&table, 0)->module_name, "[unknown]");
	assert_null(table_subject(&table, 0)->module);
	assert_int_equal(table.misses[0].miss, SYMBOL_NO_MAPPING);
	table_release(&table);
	recording_end(&r);
}

static void a_profile_can_be_made_into_several_tables(void **state)
{
	struct recording r;
	struct table functions, modules;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	CHAIN(&r, 100, USER, A, B, C);
	recording_profile(&r, &all);
	build(&functions, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	build(&modules, &r, SUBJECT_MODULE, true);
	assert_int_equal(modules.n_rows, 3);
	assert_null(table_subject(&modules, 0)->name);
	assert_int_equal(functions.total_samples[2], 1);
	table_release(&modules);
	table_release(&functions);
	recording_end(&r);
}

static void an_empty_profile_is_a_table_without_rows(void **state)
{
	struct recording r;
	struct table table;

	(void)state;
	recording_begin(&r, PERF_SAMPLE_CALLCHAIN);
	recording_profile(&r, &all);
	build(&table, &r, SUBJECT_FUNCTION | SUBJECT_MODULE, true);
	assert_int_equal(table.n_rows, 0);
	assert_int_equal(table.n_epochs, 0);
	table_release(&table);
	recording_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_stacks_are_rows_of_their_own_named_from_the_leaf),
		cmocka_unit_test(
			self_is_the_innermost_frame_total_every_frame_once_also_in_recursion),
		cmocka_unit_test(self_counts_of_all_rows_add_up_to_the_samples_of_each_cell),
		cmocka_unit_test(without_totals_callers_are_neither_looked_up_nor_rows),
		cmocka_unit_test(cut_stacks_are_together_under_one_root),
		cmocka_unit_test(rows_by_tag_alone_need_no_names),
		cmocka_unit_test(addresses_without_a_name_are_counted_by_module_and_reason),
		cmocka_unit_test(an_address_that_nothing_maps_is_no_modules),
		cmocka_unit_test(a_profile_can_be_made_into_several_tables),
		cmocka_unit_test(an_empty_profile_is_a_table_without_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
