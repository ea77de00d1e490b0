/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "estimate/quantile.h"
#include "unit/estimate/near.h"

static void quantiles_of_t_have_their_published_values(void **state)
{
	(void)state;
	assert_near(quantile_t(0.975, 28), 2.048407, 1e-6);
	assert_near(quantile_t(0.975, 19), 2.0930, 5e-5);
	assert_near(quantile_t(0.975, 2), 4.3027, 5e-5);
	/* the first of 40 comparisons by Holm */
	assert_near(quantile_t_upper(0.05 / 40 / 2, 28), 3.5889, 5e-5);
}

static void an_upper_quantile_of_t_inverts_its_tail_down_to_one_in_1e12(void **state)
{
	(void)state;
	for (double df = 2; df < 3000; df *= 1.7)
		for (double q = 0.5; q > 1e-12; q /= 7) {
			const double t = quantile_t_upper(q, df);

			assert_true(fabs(tail_t(t, df) / q - 1) < 1e-6);
		}
}

static void quantiles_of_chi2_and_f_invert_their_distributions_without_aborting(void **state)
{
	(void)state;
	for (double df = 0.01; df < 1e6; df *= 3.3)
		for (double p = 1e-4; p < 1; p += 0.0499) {
			const double x = quantile_chi2(p, df);

			/* Below 1e-299 the quantile itself is not a double; at df 6e5 GSL's distribution
			 * function jumps by 2e-6 where it changes its expansion. */
			if (x > 1e-290)
				assert_true(fabs(gsl_cdf_chisq_P(x, df) / p - 1) < 1e-5);
		}
	for (double df = 1; df < 1e5; df *= 4)
		for (double p = 1e-4; p < 1; p += 0.0499)
			assert_true(
				fabs(gsl_cdf_fdist_P(quantile_f(p, df, 2 * df), df, 2 * df) / p -
				     1) < 1e-8);
	assert_near(quantile_chi2(0.95, 2), 5.991465, 1e-6);
	assert_near(quantile_f(0.975, 19, 20), 2.4821, 1e-3);
}

static void values_out_of_range_give_numbers_not_aborts(void **state)
{
	(void)state;
	assert_true(isfinite(quantile_chi2(0, 5)));
	assert_true(isfinite(quantile_chi2(1, 5)));
	assert_true(isfinite(quantile_chi2(0.5, 0)));
	assert_true(isfinite(quantile_f(0.5, 0, 0)));
	assert_true(isfinite(quantile_t_upper(1e-200, 30)));
	assert_true(tail_chi2(-1, 3) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(quantiles_of_t_have_their_published_values),
		cmocka_unit_test(an_upper_quantile_of_t_inverts_its_tail_down_to_one_in_1e12),
		cmocka_unit_test(
			quantiles_of_chi2_and_f_invert_their_distributions_without_aborting),
		cmocka_unit_test(values_out_of_range_give_numbers_not_aborts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
