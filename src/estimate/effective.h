/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much a time-ordered sequence of samples repeats itself (section 10 of docs/estimates.md).
 */
#ifndef ASSAY_ESTIMATE_EFFECTIVE_H
#define ASSAY_ESTIMATE_EFFECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The integrated autocorrelation time of an indicator: n/tau of its n values are as good as independent
 * ones. Sum of autocorrelations in pairs until a pair is not positive (Geyer 1992) or the lag passes
 * n/3; at least 1. `hits` is in order of time over all clocks. Unsafe when n/tau < 10: say "fewer than 10
 * independent samples". Cost n times the correlation time. 1 when hits do not vary.
 */
double estimate_correlation_time(const bool *hits, size_t n);

/* n_work of section 10: the smaller of what epochs say and n/tau; never above n. */
double estimate_effective(double by_epochs, double n, double tau);

/* z of the number of neighbours (in time, of one clock) with equal symbols against what independent
 * samples with the same shares would give. Above 2.33 (1 %) there are runs. 0 when n < 2. `counts` holds
 * the count of every symbol, symbols are below n_symbols. */
double estimate_runs(const uint32_t *symbols, size_t n, const uint64_t *counts, size_t n_symbols);

#endif
