/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a bundle that have samples of their own, as the sequential test takes them.
 *
 * Functions that only a canary met are left out, as in the report: they are no rivals.
 */
#ifndef ASSAY_UNTIL_TABLE_H
#define ASSAY_UNTIL_TABLE_H

#include "diagnose/finding.h"
#include "estimate/estimate.h"
#include "profile/profile.h"
#include "profile/table.h"

struct until_table {
	struct estimate_table estimates; /* borrows `table` */
	size_t *first;                   /* compressed */
	size_t *row_of;                  /* of `table`, by function here */
	size_t *order;                   /* functions, most samples first */
	const struct table *table;
	double epoch_s;        /* mean length of its epochs */
	double epochs_per_row; /* recorded ones in one of its epochs */
};

/* Borrows both. On failure *self needs no release. */
MUST_CHECK enum status until_table_make(struct until_table *self, const struct profile *profile,
					const struct table *table, struct error *error);
void until_table_release(struct until_table *self);

/* "name", or "name (module)" where the name says nothing. `room` as of snprintf. */
void until_table_name(const struct until_table *self, size_t function, char *text, size_t room);

/* The share of all samples. */
double until_table_share(const struct until_table *self, size_t function);

/* The place of the kernel's unnamed code in `order`; the number of functions when there is none. */
size_t until_table_kernel(const struct until_table *self, const struct profile *profile);

/* The first finding of bias that touches one of the first `top_k` functions (0: any); NULL: none. */
const struct finding *until_table_bias(const struct until_table *self,
				       const struct findings *findings, size_t top_k);

#endif
