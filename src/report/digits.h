/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How many digits a number deserves, and how the numbers of a report are written.
 *
 * A share is shown with the decimals that its uncertainty justifies, never more: by the rounding rule
 * of the Particle Data Group (Review of Particle Physics, introduction, section 5.3). With the three
 * highest digits of the half-width h
 *	100-354  two digits of h are kept     41.23 +- 1.15  ->  41.2 (40.1-42.4)
 *	355-949  one                          41.23 +- 4.1   ->  41   (37-45)
 *	950-999  rounded up to 1000, two kept
 */
#ifndef ASSAY_REPORT_DIGITS_H
#define ASSAY_REPORT_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/* More decimals of a percentage are never shown. */
#define DIGITS_MAX_DECIMALS 4

/* Decimals (0 .. DIGITS_MAX_DECIMALS) for a quantity whose interval is `half_width` to either side,
 * in the unit it is printed in. A half-width of 0, or none (NAN), gives 1. */
int digits_decimals(double half_width);

/* Half-width in points of a percentage that has no interval, for lack of better the binomial one:
 * 196 sqrt(p (1 - p) / n), at least 100 / n. */
double digits_fallback_half_width(double share, double samples);

/* "12.3 s", "45 ms", "3 min 20 s", "2 h 5 min" */
const char *digits_duration(double ns, char *text, size_t size);

/* The same for what is only an estimate: two digits. "12 s", "1.9 h", "3.2 days" */
const char *digits_about(double ns, char *text, size_t size);

/* A part (0..1) in points of a percentage, two digits and no exponent: "34", "2.5", "0.12". */
const char *digits_points(double part, char *text, size_t size);

/* A number with three significant digits and no exponent below 1e9: "497", "0.0123", "20.1". */
const char *digits_short(double number, char *text, size_t size);

#endif
