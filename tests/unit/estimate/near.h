/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Comparison of doubles within a stated tolerance: cmocka 1.1.5 compares floats only.
 */
#ifndef ASSAY_TESTS_ESTIMATE_NEAR_H
#define ASSAY_TESTS_ESTIMATE_NEAR_H

#include <math.h>

#define assert_near(value, expected, tolerance)                                                \
	do {                                                                                   \
		const double near_value = (value), near_expected = (expected);                 \
                                                                                               \
		if (!(fabs(near_value - near_expected) <= (tolerance)))                        \
			fail_msg("%s is %.12g, not %.12g", #value, near_value, near_expected); \
	} while (0)

#endif
