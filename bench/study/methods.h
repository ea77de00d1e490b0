/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Other ways to an interval, to compare with: side by side on the same recordings.
 */
#ifndef ASSAY_STUDY_METHODS_H
#define ASSAY_STUDY_METHODS_H

#include "estimate/evidence.h"
#include "estimate/interval.h"

enum method {
	METHOD_WALD,     /* P +- 1.96 sqrt(P(1-P)/N): the naive one */
	METHOD_BINOMIAL, /* Wilson with plain N */
	METHOD_LINEAR,   /* P +- t sqrt(V): clock differences, or ratio linearisation over epochs */
	METHOD_OWN,      /* Wilson with the function's own effective sample size */
	METHOD_EXACT,    /* Clopper-Pearson with it (Korn, Graubard 1998) */
	METHOD_ASSAY,    /* src/estimate */
	METHODS
};

extern const char *const method_names[METHODS];

/* All but METHOD_ASSAY, from the variance of the share and its degrees of freedom. */
struct bounds method_bounds(enum method method, const struct moments *moments, double n,
			    double variance, double df);

#endif
