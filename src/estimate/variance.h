/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The variance of a share, split into what measuring added and what the workload did.
 *
 * Method of moments: clocks within an epoch give V_rec, epochs give V_ep, whose expectation is V_rec's
 * plus the workload part. F = V_ep/V_rec times the true ratio has an F distribution when epochs are
 * independent and roughly normal, which gives a (rough) range for the workload's share of the variance.
 */
#ifndef ASSAY_ESTIMATE_VARIANCE_H
#define ASSAY_ESTIMATE_VARIANCE_H

struct variance_quantiles {
	double low, high; /* of F(E - 1, E(K - 1)) */
};

/* The quantiles that variance_split needs, once for all functions. */
struct variance_quantiles variance_quantiles(double n_epochs, double contrast_df,
					     double confidence);

struct variance_split {
	double measurement, workload; /* workload is signed */
	double lo, hi;                /* the workload's share of V_ep, within 0..1 */
};

/* How much of the variance between epochs is measurement, how much workload. */
struct variance_split variance_split(double v_recording, double v_epochs,
				     const struct variance_quantiles *quantiles);

#endif
