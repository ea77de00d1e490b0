/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A fixed clock that did run, against the randomised ones: max-t over functions of
 *	d = P_can - P_rand,  z[e] = (x_can - P_can n_can)/N_can - (x_rand - P_rand n_rand)/N_rand,
 *	v = max(E/(E-1) sum z^2, p(1-p)(1/N_can + 1/N_rand)/2, p(1-p)/N_rand)
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/evidence.h"
#include "estimate/lock.h"
#include "estimate/quantile.h"

#define P_LOCKED     0.01
#define P_POSSIBLE   0.05
#define ERROR_LOCKED 0.02

static const char why_few[] = "one of the clocks has fewer than 30 samples or 5 epochs";

struct side {
	const struct estimate_table *table;
	double total;
	double *n, *x; /* by epoch: all, one function */
};

static bool side_init(struct side *side, const struct estimate_table *table)
{
	*side = (struct side){ .table = table };
	side->n = calloc(table->n_epochs + 1, sizeof(*side->n));
	side->x = calloc(table->n_epochs + 1, sizeof(*side->x));
	for (size_t cell = 0; side->n && cell < table->n_epochs * table->n_clocks; cell++) {
		side->n[cell / table->n_clocks] += table->cell_count[cell];
		side->total += table->cell_count[cell];
	}
	return side->n && side->x;
}

static void side_release(struct side *side)
{
	free(side->n);
	free(side->x);
}

/* Fills x, returns the samples of function s. */
static double side_load(struct side *side, size_t s)
{
	const struct estimate_table *table = side->table;
	double count = 0;

	for (size_t e = 0; e < table->n_epochs; e++)
		side->x[e] = 0;
	for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
		side->x[table->counts[i].cell / table->n_clocks] += table->counts[i].count;
		count += table->counts[i].count;
	}
	return count;
}

static struct estimate_canary_function canary_function(struct side *can, struct side *rnd, size_t s,
						       double n_epochs)
{
	const double c_can = side_load(can, s), c_rnd = side_load(rnd, s);
	const double p_can = c_can / can->total, p_rnd = c_rnd / rnd->total;
	const double p = (c_can + c_rnd) / (can->total + rnd->total);
	struct estimate_canary_function result = { .function = s, .difference = p_can - p_rnd };
	double v = 0;

	for (size_t e = 0; e < can->table->n_epochs; e++) {
		const double z = (can->x[e] - p_can * can->n[e]) / can->total -
				 (rnd->x[e] - p_rnd * rnd->n[e]) / rnd->total;

		v += n_epochs / (n_epochs - 1) * z * z;
	}
	v = fmax(v, p * (1 - p) * (1 / can->total + 1 / rnd->total) / 2);
	v = fmax(v, p * (1 - p) / rnd->total);
	result.t = v > 0 ? fabs(result.difference) / sqrt(v) : 0;
	result.error_hi = fabs(result.difference) + 2.1 * sqrt(v);
	return result;
}

static int function_compare(const void *left, const void *right)
{
	const struct estimate_canary_function *a = left, *b = right;

	if (a->t > b->t || a->t < b->t)
		return a->t > b->t ? -1 : 1;
	return (a->function > b->function) - (a->function < b->function);
}

static void canary_fill(struct estimate_canary *canary, struct side *can, struct side *rnd)
{
	double n_epochs = 0;

	for (size_t e = 0; e < can->table->n_epochs; e++)
		n_epochs += can->n[e] > 0 || rnd->n[e] > 0;
	if (can->total < ESTIMATE_SAMPLES_MIN || rnd->total < ESTIMATE_SAMPLES_MIN ||
	    n_epochs < ESTIMATE_EPOCHS_MIN) {
		canary->why = why_few;
		return;
	}
	for (size_t s = 0; s < can->table->n_functions; s++) {
		const struct estimate_canary_function function =
			canary_function(can, rnd, s, n_epochs);

		if (function.error_hi > 0)
			canary->functions[canary->n_functions++] = function;
	}
	qsort(canary->functions, canary->n_functions, sizeof(*canary->functions), function_compare);
	for (size_t f = 0; f < canary->n_functions; f++) {
		struct estimate_canary_function *function = &canary->functions[f];

		function->p_value = fmin(1, 2 * tail_t(function->t, n_epochs - 1) *
						    (double)canary->n_functions);
		if (function->p_value < P_LOCKED && function->error_hi >= ERROR_LOCKED)
			canary->verdict = ESTIMATE_LOCK_LOCKED;
		else if (function->p_value < P_POSSIBLE && !canary->verdict)
			canary->verdict = ESTIMATE_LOCK_POSSIBLE;
	}
	if (canary->n_functions)
		canary->worst = canary->functions[0];
}

enum status estimate_canary(struct estimate_canary *canary, const struct estimate_table *fixed,
			    const struct estimate_table *randomised, struct error *error)
{
	struct evidence check;
	struct side can = { 0 }, rnd = { 0 };
	enum status status;

	*canary = (struct estimate_canary){ .worst.p_value = 1 };
	if (fixed->n_functions != randomised->n_functions ||
	    fixed->n_epochs != randomised->n_epochs)
		return error_set(error, STATUS_USAGE,
				 "estimate: canary and randomised clocks are laid out differently");
	status = evidence_init(&check, fixed, false, error);
	if (status != STATUS_OK)
		return status;
	evidence_release(&check);
	status = evidence_init(&check, randomised, false, error);
	if (status != STATUS_OK)
		return status;
	evidence_release(&check);
	canary->functions = calloc(fixed->n_functions + 1, sizeof(*canary->functions));
	if (canary->functions && side_init(&can, fixed) && side_init(&rnd, randomised))
		canary_fill(canary, &can, &rnd);
	else
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				   fixed->n_functions);
	side_release(&can);
	side_release(&rnd);
	if (status != STATUS_OK)
		estimate_canary_release(canary);
	return status;
}

void estimate_canary_release(struct estimate_canary *canary)
{
	free(canary->functions);
	*canary = (struct estimate_canary){ 0 };
}
