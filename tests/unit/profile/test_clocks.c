/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "profile/clocks.h"

static uint64_t ids[4][2] = { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 8 } };

/* Two randomised clocks of attribute 0, their canary with attribute 1, a clock of another event (2). */
static void manifest_make(struct manifest *manifest, struct manifest_clock clocks[4])
{
	static const struct {
		uint32_t event;
		bool randomised;
	} kinds[4] = { { 0, true }, { 0, true }, { 1, false }, { 2, true } };

	*manifest = (struct manifest){ .clocks = clocks, .n_clocks = 4 };
	for (size_t i = 0; i < 4; i++)
		clocks[i] = (struct manifest_clock){ .event = kinds[i].event,
						     .randomised = kinds[i].randomised,
						     .mean_period = 1e6,
						     .ids = ids[i],
						     .n_ids = 2 };
}

static void a_canary_with_an_attribute_of_its_own_belongs_to_the_event_before_it(void **state)
{
	struct manifest_clock of_manifest[4];
	struct manifest manifest;
	struct clocks clocks;

	(void)state;
	manifest_make(&manifest, of_manifest);
	assert_int_equal(clocks_init(&clocks, &manifest, 0, NULL), STATUS_OK);
	assert_int_equal(clocks.n_clocks, 2);
	assert_int_equal(clocks.n_canaries, 1);
	assert_int_equal(clocks_column(&clocks, 0, 2), 0);
	assert_int_equal(clocks_column(&clocks, 0, 3), 1);
	assert_int_equal(clocks_column(&clocks, 1, 6), 2);
	assert_int_equal(clocks_column(&clocks, 2, 7), CLOCKS_NO_COLUMN);
	clocks_release(&clocks);
}

static void another_event_has_its_own_clocks_and_not_that_canary(void **state)
{
	struct manifest_clock of_manifest[4];
	struct manifest manifest;
	struct clocks clocks;

	(void)state;
	manifest_make(&manifest, of_manifest);
	assert_int_equal(clocks_init(&clocks, &manifest, 2, NULL), STATUS_OK);
	assert_int_equal(clocks.n_clocks, 1);
	assert_int_equal(clocks.n_canaries, 0);
	assert_int_equal(clocks_column(&clocks, 2, 8), 0);
	assert_int_equal(clocks_column(&clocks, 0, 1), CLOCKS_NO_COLUMN);
	clocks_release(&clocks);
}

static void an_event_recorded_at_every_occurrence_is_no_canary(void **state)
{
	struct manifest_clock of_manifest[4];
	struct manifest manifest;
	struct clocks clocks;

	(void)state;
	manifest_make(&manifest, of_manifest);
	of_manifest[3].randomised = false;
	of_manifest[3].mean_period = 1;
	assert_int_equal(clocks_init(&clocks, &manifest, 0, NULL), STATUS_OK);
	assert_int_equal(clocks.n_clocks, 2);
	assert_int_equal(clocks.n_canaries, 1);
	assert_int_equal(clocks_column(&clocks, 2, 7), CLOCKS_NO_COLUMN);
	clocks_release(&clocks);
}

static void without_a_randomised_clock_fixed_ones_are_no_canaries(void **state)
{
	struct manifest_clock of_manifest[4];
	struct manifest manifest;
	struct clocks clocks;

	(void)state;
	manifest_make(&manifest, of_manifest);
	for (size_t i = 0; i < 4; i++)
		of_manifest[i].randomised = false;
	assert_int_equal(clocks_init(&clocks, &manifest, 0, NULL), STATUS_OK);
	assert_int_equal(clocks.n_clocks, 2);
	assert_int_equal(clocks.n_canaries, 0);
	assert_false(clocks.randomised);
	clocks_release(&clocks);
}

static void a_plain_file_has_one_clock_for_the_chosen_event_alone(void **state)
{
	struct clocks clocks;

	(void)state;
	assert_int_equal(clocks_init(&clocks, NULL, 3, NULL), STATUS_OK);
	assert_int_equal(clocks_column(&clocks, 3, 12345), 0);
	assert_int_equal(clocks_column(&clocks, 2, 12345), CLOCKS_NO_COLUMN);
	clocks_release(&clocks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_canary_with_an_attribute_of_its_own_belongs_to_the_event_before_it),
		cmocka_unit_test(another_event_has_its_own_clocks_and_not_that_canary),
		cmocka_unit_test(an_event_recorded_at_every_occurrence_is_no_canary),
		cmocka_unit_test(without_a_randomised_clock_fixed_ones_are_no_canaries),
		cmocka_unit_test(a_plain_file_has_one_clock_for_the_chosen_event_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
