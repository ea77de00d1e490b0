/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/epochs.h"
#include "support/test.h"

static void a_range_is_cut_into_uneven_epochs_that_cover_it(void **state)
{
	struct epochs epochs;
	uint64_t shortest = UINT64_MAX, longest = 0;

	(void)state;
	epochs_of_range(&epochs, 1000, 401000);
	assert_int_equal(epochs.n, EPOCHS_CUT);
	assert_int_equal(epochs.start_ns[0], 1000);
	for (uint32_t i = 0; i < epochs.n; i++) {
		const uint64_t end = i + 1 < epochs.n ? epochs.start_ns[i + 1] : 401000;
		const uint64_t length = end - epochs.start_ns[i];

		shortest = length < shortest ? length : shortest;
		longest = length > longest ? length : longest;
	}
	/* drawn from 0.6 to 1.4 of the mean, then scaled to fill the range: 10000 each */
	assert_true(shortest >= 5000 && shortest < 8000);
	assert_true(longest > 12000 && longest <= 15000);
}

static void two_reports_cut_alike(void **state)
{
	struct epochs a, b;

	(void)state;
	epochs_of_range(&a, 5, 1000000);
	epochs_of_range(&b, 5, 1000000);
	assert_memory_equal(a.start_ns, b.start_ns, sizeof(a.start_ns));
}

static void a_time_belongs_to_the_epoch_that_holds_it_in_any_order(void **state)
{
	struct epochs epochs;

	(void)state;
	epochs_of_range(&epochs, 0, 1000000);
	for (uint32_t i = epochs.n; i-- > 0;) {
		assert_int_equal(epochs_at(&epochs, epochs.start_ns[i]), i);
		if (i)
			assert_int_equal(epochs_at(&epochs, epochs.start_ns[i] - 1), i - 1);
	}
	assert_int_equal(epochs_at(&epochs, UINT64_MAX), epochs.n - 1);
}

static void times_before_the_first_epoch_belong_to_it(void **state)
{
	struct epochs epochs;

	(void)state;
	epochs_of_range(&epochs, 1000, 2000);
	assert_int_equal(epochs_at(&epochs, 1), 0);
}

static void a_range_without_length_is_one_epoch(void **state)
{
	struct epochs epochs;

	(void)state;
	epochs_of_range(&epochs, 77, 77);
	assert_int_equal(epochs.n, 1);
	assert_int_equal(epochs_at(&epochs, 77), 0);
}

static void few_samples_keep_few_cut_epochs(void **state)
{
	(void)state;
	assert_int_equal(epochs_kept(40, 0), 1);
	assert_int_equal(epochs_kept(40, 100), 5);
	assert_int_equal(epochs_kept(40, 800), 40);
	assert_int_equal(epochs_kept(40, 1000000), 40);
}

static void a_manifest_with_hundreds_of_epochs_is_merged_to_the_maximum(void **state)
{
	static struct manifest_epoch recorded[1000];
	struct manifest manifest = { .epochs = recorded, .n_epochs = 1000 };
	struct epochs epochs;

	(void)state;
	for (uint64_t i = 0; i < 1000; i++) {
		recorded[i].start_ns = 1000 + 200 * i;
		recorded[i].end_ns = 1200 + 200 * i;
	}
	assert_int_equal(epochs_of_manifest(&epochs, &manifest, NULL), STATUS_OK);
	assert_true(epochs.n <= EPOCHS_MAX && epochs.n > EPOCHS_MAX / 2);
	assert_int_equal(epochs.recorded, 1000);
	assert_int_equal(epochs.start_ns[0], 1000);
	for (uint32_t i = 1; i < epochs.n; i++)
		assert_true(epochs.start_ns[i] > epochs.start_ns[i - 1]);
}

static void a_manifest_without_epochs_is_one(void **state)
{
	struct manifest manifest = { 0 };
	struct epochs epochs;

	(void)state;
	assert_int_equal(epochs_of_manifest(&epochs, &manifest, NULL), STATUS_OK);
	assert_int_equal(epochs.n, 1);
	assert_int_equal(epochs_at(&epochs, 12345), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_range_is_cut_into_uneven_epochs_that_cover_it),
		cmocka_unit_test(two_reports_cut_alike),
		cmocka_unit_test(a_time_belongs_to_the_epoch_that_holds_it_in_any_order),
		cmocka_unit_test(times_before_the_first_epoch_belong_to_it),
		cmocka_unit_test(a_range_without_length_is_one_epoch),
		cmocka_unit_test(few_samples_keep_few_cut_epochs),
		cmocka_unit_test(a_manifest_with_hundreds_of_epochs_is_merged_to_the_maximum),
		cmocka_unit_test(a_manifest_without_epochs_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
