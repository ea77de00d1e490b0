/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "base/random.h"
#include "estimate/change.h"

#include "unit/estimate/near.h"

static struct estimate_change_side side(uint64_t samples, uint64_t of)
{
	return (struct estimate_change_side){ .share = (double)samples / (double)of,
					      .samples = samples,
					      .effective_samples = samples ? (double)of : 0,
					      .changes = NAN };
}

/* One function in two recordings of n samples in many epochs. */
static struct estimate_change one(struct estimate_change_side a, struct estimate_change_side b,
				  uint64_t n, size_t epochs)
{
	const struct estimate_change_recording recordings[2] = {
		{ .samples = n, .n_epochs = epochs, .design_effect = 1 },
		{ .samples = n, .n_epochs = epochs, .design_effect = 1 },
	};
	struct estimate_change change;

	assert_int_equal(estimate_changes(&change, &a, &b, 1, recordings, NULL, NULL, NULL),
			 STATUS_OK);
	return change;
}

/* Newcombe 1998, table II, method 10, contrast (a): 56/70 against 48/80 is 0.2, 0.0524 to 0.3339. The t
 * quantile of a million epochs is the normal one, and 1.5/E of correlation is nothing. */
static void the_interval_is_newcombes(void **state)
{
	const struct estimate_change_recording recordings[2] = {
		{ .samples = 80, .n_epochs = 1000000, .design_effect = 1 },
		{ .samples = 70, .n_epochs = 1000000, .design_effect = 1 },
	};
	const struct estimate_change_side a = side(48, 80), b = side(56, 70);
	struct estimate_change change;

	(void)state;
	assert_int_equal(estimate_changes(&change, &a, &b, 1, recordings, NULL, NULL, NULL),
			 STATUS_OK);
	assert_near(change.difference, 0.2, 1e-12);
	assert_near(change.lo, 0.0524, 5e-5);
	assert_near(change.hi, 0.3339, 5e-5);
	assert_true(change.tested && change.differs);
}

static void exchanging_a_and_b_changes_the_sign_only(void **state)
{
	const struct estimate_change ab = one(side(300, 1000), side(360, 1000), 1000, 30);
	const struct estimate_change ba = one(side(360, 1000), side(300, 1000), 1000, 30);

	(void)state;
	assert_near(ab.difference, -ba.difference, 1e-15);
	assert_near(ab.lo, -ba.hi, 1e-15);
	assert_near(ab.hi, -ba.lo, 1e-15);
	assert_int_equal(ab.differs, ba.differs);
}

static void fewer_epochs_and_repeating_ones_are_weaker_evidence(void **state)
{
	struct estimate_change_side repeating = side(400, 1000);
	const struct estimate_change many = one(side(300, 1000), side(400, 1000), 1000, 100);
	const struct estimate_change few = one(side(300, 1000), side(400, 1000), 1000, 10);
	struct estimate_change serial;

	(void)state;
	repeating.changes = 4;
	serial = one(side(300, 1000), repeating, 1000, 100);
	assert_true(many.differs);
	assert_true(few.hi - few.lo > 1.2 * (many.hi - many.lo));
	assert_true(serial.hi - serial.lo > 1.2 * (many.hi - many.lo));
}

static void pooled_correlation_widens_functions_that_do_not_show_their_own(void **state)
{
	struct estimate_change_recording recordings[2] = {
		{ .samples = 1000, .n_epochs = 100, .design_effect = 1 },
		{ .samples = 1000, .n_epochs = 100, .design_effect = 1 },
	};
	const struct estimate_change_side a = side(300, 1000), b = side(400, 1000);
	struct estimate_change quiet, correlated;

	(void)state;
	assert_int_equal(estimate_changes(&quiet, &a, &b, 1, recordings, NULL, NULL, NULL),
			 STATUS_OK);
	recordings[0].correlation = recordings[1].correlation = 0.5;
	assert_int_equal(estimate_changes(&correlated, &a, &b, 1, recordings, NULL, NULL, NULL),
			 STATUS_OK);
	/* (1 + .515)/(1 - .515) = 3.12 against (1 + .015)/(1 - .015) = 1.03: 1.74 times as wide */
	assert_true(correlated.hi - correlated.lo > 1.6 * (quiet.hi - quiet.lo));
}

static void a_function_that_is_not_there_is_bounded_and_can_have_gone(void **state)
{
	const struct estimate_change gone = one(side(300, 1000), side(0, 1000), 1000, 40);
	const struct estimate_change rare = one(side(3, 1000), side(0, 1000), 1000, 40);

	(void)state;
	assert_true(gone.differs);
	assert_near(gone.difference, -0.3, 1e-12);
	/* at most -ln(0.025)/1000 of B: the upper end cannot come nearer to 0 than A's lower end */
	assert_true(gone.hi < -0.2);
	assert_false(rare.tested);
	assert_false(rare.differs);
}

static void functions_that_cannot_differ_do_not_weaken_those_that_can(void **state)
{
	const struct estimate_change_recording recordings[2] = {
		{ .samples = 1000, .n_epochs = 40, .design_effect = 1 },
		{ .samples = 1000, .n_epochs = 40, .design_effect = 1 },
	};
	struct estimate_change_side a[101], b[101];
	struct estimate_change alone, among[101];
	size_t tested;

	(void)state;
	a[0] = side(300, 1000);
	b[0] = side(380, 1000);
	for (size_t i = 1; i < 101; i++) {
		a[i] = side(1, 1000);
		b[i] = side(1, 1000);
	}
	assert_int_equal(estimate_changes(&alone, a, b, 1, recordings, NULL, NULL, NULL),
			 STATUS_OK);
	assert_int_equal(estimate_changes(among, a, b, 101, recordings, NULL, &tested, NULL),
			 STATUS_OK);
	assert_int_equal(tested, 1);
	assert_near(among[0].lo, alone.lo, 1e-15);
}

/* 40 functions, none of which changes: any of them "differs" in at most 5 % of pairs. 400 pairs of
 * multinomial counts; 36 is where a rate of 5 % is exceeded with a chance of 1e-3 (binomial). */
static void unchanged_functions_differ_in_few_pairs_whatever_their_number(void **state)
{
	enum { S = 40, N = 2000, PAIRS = 400 };
	const struct estimate_change_recording recordings[2] = {
		{ .samples = N, .n_epochs = 100000, .design_effect = 1 },
		{ .samples = N, .n_epochs = 100000, .design_effect = 1 },
	};
	struct random random;
	unsigned int alarms = 0;

	(void)state;
	random_init(&random, 5, 0, 0, 0);
	for (unsigned int pair = 0; pair < PAIRS; pair++) {
		uint64_t counts[2][S] = { 0 };
		struct estimate_change_side sides[2][S];
		struct estimate_change changes[S];
		bool alarm = false;

		for (int which = 0; which < 2; which++) {
			for (int i = 0; i < N; i++) {
				const double u = random_double(&random);

				counts[which][(size_t)(u * u * S)]++;
			}
			for (size_t s = 0; s < S; s++)
				sides[which][s] = side(counts[which][s], N);
		}
		assert_int_equal(estimate_changes(changes, sides[0], sides[1], S, recordings, NULL,
						  NULL, NULL),
				 STATUS_OK);
		for (size_t s = 0; s < S; s++)
			alarm |= changes[s].differs;
		alarms += alarm;
	}
	assert_in_range(alarms, 1, 36);
}

static void an_empty_recording_is_refused(void **state)
{
	const struct estimate_change_recording recordings[2] = { { .samples = 0, .n_epochs = 1 },
								 { .samples = 5, .n_epochs = 1 } };
	const struct estimate_change_side a = side(0, 1), b = side(5, 5);
	struct estimate_change change;

	(void)state;
	assert_int_equal(estimate_changes(&change, &a, &b, 1, recordings, NULL, NULL, NULL),
			 STATUS_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_interval_is_newcombes),
		cmocka_unit_test(exchanging_a_and_b_changes_the_sign_only),
		cmocka_unit_test(fewer_epochs_and_repeating_ones_are_weaker_evidence),
		cmocka_unit_test(pooled_correlation_widens_functions_that_do_not_show_their_own),
		cmocka_unit_test(a_function_that_is_not_there_is_bounded_and_can_have_gone),
		cmocka_unit_test(functions_that_cannot_differ_do_not_weaken_those_that_can),
		cmocka_unit_test(unchanged_functions_differ_in_few_pairs_whatever_their_number),
		cmocka_unit_test(an_empty_recording_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
