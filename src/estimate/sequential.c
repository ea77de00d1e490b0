/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A look must cost little, since it comes after every epoch: neighbours in order of share are tested
 * first, which nearly always says "not yet"; all pairs are tested only when every neighbour passed.
 */
#include "estimate/sequential.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/evidence.h"

#define TOP_K_STANDARD  5
#define ALPHA_STANDARD  0.05
#define EPOCHS_TUNED    60.0
#define SPREAD_USUAL    1.25 /* 1 + squared variation of an epoch's samples that is nothing special */
#define CORRELATION_MAX 0.9
#define ROUNDING        1e-12
/* functions behind the k-th that count as its neighbours */
#define NEIGHBOURS 8
/* at half of the true time the forecast's quantiles 10/50/90 % were 0.9 / 1.6 / 4-6 times the truth */
#define FORECAST_MEDIAN 1.6
#define FORECAST_MAX    1.1
#define FORECAST_BEST   5.0
#define EPOCHS_FORECAST 1e9

static const char why_epochs[] = "fewer than 12 epochs";
static const char why_uneven[] = "a few epochs hold most of the samples";
static const char why_samples[] = "fewer than 30 samples";

struct look {
	struct evidence evidence;
	struct estimate_until *until;
	double rho2, boundary;
	double scale;   /* epochs_per_row */
	double unit;    /* of weight per sample; 0: samples are counted */
	double *counts; /* by function; with weights in units, so that they still add up to N */
	double *squares; /* by function: sum of squared weights, the variance of counts that are Poisson */
	size_t *order; /* functions by count */
	size_t n;
	double *n_by_epoch, *a, *b; /* samples by epoch: all, of two functions */
	double epochs;              /* how many equal epochs these are worth */
};

double estimate_until_rho2(double alpha)
{
	return (-2 * log(alpha) + log(1 - 2 * log(alpha))) / EPOCHS_TUNED;
}

double estimate_until_evidence(double difference, double variance, double n_epochs, double rho2)
{
	const double stretch = n_epochs * rho2 + 1;

	if (!(variance > 0))
		return 0;
	return difference * difference * n_epochs * rho2 / (2 * variance * stretch) -
	       log(stretch) / 2;
}

static void look_release(struct look *look)
{
	free(look->counts);
	free(look->squares);
	free(look->order);
	free(look->n_by_epoch);
	free(look->a);
	free(look->b);
	evidence_release(&look->evidence);
}

static int count_compare(const void *left, const void *right, void *argument)
{
	const double *counts = argument;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;

	if (counts[a] > counts[b] || counts[a] < counts[b])
		return counts[a] > counts[b] ? -1 : 1;
	return (a > b) - (a < b);
}

static double cell_amount(const struct look *look, const struct estimate_count *count)
{
	return look->unit > 0 ? count->weight / look->unit : count->count;
}

/* The boundary takes epochs for about equal. Where a few of them hold most of the weight (the rate fell,
 * the program slept), no more than these are worth anything: (sum n_e)^2 / sum n_e^2, which is E for
 * equal ones. A spread as chance and drawn lengths give it is passed over. */
static double epochs_worth(const struct look *look)
{
	const double n = (double)look->evidence.n_epochs;
	double sum = 0, squares = 0;

	for (size_t e = 0; e < look->evidence.n_epochs; e++) {
		sum += look->n_by_epoch[e];
		squares += look->n_by_epoch[e] * look->n_by_epoch[e];
	}
	return squares > 0 ? fmin(n, SPREAD_USUAL * sum * sum / squares) : n;
}

/* What the functions have in all, and what each epoch has. */
static void look_fill(struct look *look, const struct estimate_table *table)
{
	for (size_t s = 0; s < look->n; s++) {
		look->order[s] = s;
		for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
			const double amount = cell_amount(look, &table->counts[i]);

			look->counts[s] += amount;
			if (table->counts[i].count)
				look->squares[s] += amount * amount / table->counts[i].count;
		}
	}
	for (size_t cell = 0; cell < table->n_epochs * table->n_clocks; cell++)
		if (table->cell_count[cell])
			look->n_by_epoch[look->evidence.place[cell] / look->evidence.n_clocks] +=
				look->unit > 0 ? table->cell_weight[cell] / look->unit
					       : table->cell_count[cell];
	look->epochs = epochs_worth(look);
	qsort_r(look->order, look->n, sizeof(*look->order), count_compare, look->counts);
}

static enum status look_init(struct look *look, const struct estimate_table *table,
			     bool period_weights, struct error *error)
{
	const size_t n_epochs = table->n_epochs;
	const enum status status = evidence_init(&look->evidence, table, period_weights, error);

	if (status != STATUS_OK)
		return status;
	look->n = table->n_functions;
	if (period_weights && look->evidence.samples)
		look->unit = look->evidence.total / (double)look->evidence.samples;
	look->squares = calloc(look->n + 1, sizeof(*look->squares));
	look->counts = calloc(look->n + 1, sizeof(*look->counts));
	look->order = calloc(look->n + 1, sizeof(*look->order));
	look->n_by_epoch = calloc(n_epochs + 1, sizeof(*look->n_by_epoch));
	look->a = calloc(n_epochs + 1, sizeof(*look->a));
	look->b = calloc(n_epochs + 1, sizeof(*look->b));
	if (!look->counts || !look->squares || !look->order || !look->n_by_epoch || !look->a ||
	    !look->b) {
		look_release(look);
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				 look->n);
	}
	look_fill(look, table);
	return STATUS_OK;
}

static void epochs_of_function(const struct look *look, size_t s, double *epochs)
{
	const struct estimate_table *table = look->evidence.table;

	for (size_t e = 0; e < look->evidence.n_epochs; e++)
		epochs[e] = 0;
	for (size_t i = table->first[s]; i < table->first[s + 1]; i++)
		if (table->counts[i].count)
			epochs[look->evidence.place[table->counts[i].cell] /
			       look->evidence.n_clocks] += cell_amount(look, &table->counts[i]);
}

/* Variance of the sum of d_e around its share of n_e, at least `floor`, widened for serial
 * correlation. */
static double sum_variance(const struct look *look, const double *d, double total, double floor)
{
	const size_t n_epochs = look->evidence.n_epochs;
	const double n = look->epochs;
	const double part = total / (double)look->evidence.samples;
	double squares = 0, lagged = 0, before = 0, r;

	for (size_t e = 0; e < n_epochs; e++) {
		const double w = d[e] - part * look->n_by_epoch[e];

		squares += w * w;
		lagged += w * before;
		before = w;
	}
	/* what rounding leaves of equal epochs has no correlation */
	r = squares > ROUNDING * floor ? lagged / squares : 0;
	if (r < 1 / sqrt(n))
		r = fmax(0, r) * fmax(0, r) * sqrt(n);
	r = fmin(r, CORRELATION_MAX);
	return fmax(n / (n - 1) * squares, floor) * (1 + r) / (1 - r);
}

/* The smallest number of epochs at which the same difference and variance per epoch would settle. */
static double forecast_epochs(double difference, double variance, double n_epochs, double scale,
			      double rho2, double boundary)
{
	double low = n_epochs, high = n_epochs;

	do {
		high *= 2;
		if (high > EPOCHS_FORECAST)
			return INFINITY;
	} while (estimate_until_evidence(difference * high / n_epochs, variance * high / n_epochs,
					 high * scale, rho2) < boundary);
	while (high - low > 0.5) {
		const double middle = (low + high) / 2;

		if (estimate_until_evidence(difference * middle / n_epochs,
					    variance * middle / n_epochs, middle * scale,
					    rho2) < boundary)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static void forecast_set(struct look *look, double difference, double variance)
{
	const double n = (double)look->evidence.n_epochs;
	const double needed = n / look->epochs *
			      forecast_epochs(difference, variance, look->epochs, look->scale,
					      look->rho2, look->boundary);

	look->until->epochs_more = fmax(1, needed / FORECAST_MEDIAN - n);
	look->until->epochs_more_max = fmax(1, needed * FORECAST_MAX - n);
	look->until->epochs_at_best = fmax(1, needed / FORECAST_BEST - n);
}

/* Notes the pair when it is the weakest so far. look->a holds the epochs of function a. */
static void pair_look(struct look *look, size_t a, size_t b)
{
	const double difference = look->counts[a] - look->counts[b];
	const double floor = look->squares[a] + look->squares[b];
	double variance, g;

	epochs_of_function(look, b, look->b);
	for (size_t e = 0; e < look->evidence.n_epochs; e++)
		look->b[e] = look->a[e] - look->b[e];
	variance = sum_variance(look, look->b, difference, floor);
	g = estimate_until_evidence(difference, variance, look->epochs * look->scale, look->rho2);
	if (look->until->a != ESTIMATE_UNTIL_NONE && g >= look->until->evidence)
		return;
	look->until->a = a;
	look->until->b = b;
	look->until->evidence = g;
	if (g < look->boundary)
		forecast_set(look, difference, variance);
}

/* Pairs of the i-th function with those in places from..to. */
static void place_look(struct look *look, size_t i, size_t from, size_t to)
{
	epochs_of_function(look, look->order[i], look->a);
	for (size_t j = from; j < to && j < look->n; j++)
		pair_look(look, look->order[i], look->order[j]);
}

static bool top_settled(const struct look *look)
{
	return look->until->a == ESTIMATE_UNTIL_NONE || look->until->evidence >= look->boundary;
}

static void top_look(struct look *look, size_t top_k, bool set_only)
{
	for (size_t i = 0; i < top_k; i++) {
		const size_t from = set_only ? top_k : i + 1;

		place_look(look, i, from, from + (i + 1 == top_k || set_only ? NEIGHBOURS : 1));
	}
	for (size_t i = 0; i < top_k && top_settled(look); i++)
		place_look(look, i, set_only ? top_k : i + 1, look->n);
	look->until->settled = top_settled(look);
}

/* A share is known to +-h when h passes as a difference: g(h N, V, E) >= ln(1/alpha). */
static void share_look(struct look *look, double half_width)
{
	const double n = (double)look->evidence.samples;

	for (size_t s = 0; s < look->n; s++) {
		const double share = look->counts[s] / n;
		double variance, g;

		epochs_of_function(look, s, look->a);
		variance = sum_variance(look, look->a, look->counts[s],
					look->squares[s] * (1 - share));
		if (!(variance > 0))
			continue;
		g = estimate_until_evidence(half_width * n, variance, look->epochs * look->scale,
					    look->rho2);
		if (look->until->a != ESTIMATE_UNTIL_NONE && g >= look->until->evidence)
			continue;
		look->until->a = s;
		look->until->evidence = g;
		if (g < look->boundary)
			forecast_set(look, half_width * n, variance);
	}
	look->until->settled = top_settled(look);
}

enum status estimate_until(struct estimate_until *until, const struct estimate_table *table,
			   const struct estimate_until_options *options, struct error *error)
{
	const double alpha = options->alpha > 0 ? options->alpha : ALPHA_STANDARD;
	size_t top_k = options->top_k ? options->top_k : TOP_K_STANDARD;
	struct look look = { .until = until };
	enum status status;

	*until = (struct estimate_until){ .a = ESTIMATE_UNTIL_NONE, .b = ESTIMATE_UNTIL_NONE };
	if (options->kind == ESTIMATE_UNTIL_SHARE && !(options->half_width > 0))
		return error_set(error, STATUS_USAGE, "a share cannot be known to within +-%g",
				 options->half_width);
	status = look_init(&look, table, options->period_weights, error);
	if (status != STATUS_OK)
		return status;
	look.scale = options->epochs_per_row > 0 ? options->epochs_per_row : 1;
	look.rho2 = estimate_until_rho2(alpha);
	look.boundary = until->boundary = log(1 / alpha);
	top_k = top_k < look.n ? top_k : look.n;
	if (look.evidence.samples < ESTIMATE_SAMPLES_MIN)
		until->why = why_samples;
	else if ((double)look.evidence.n_epochs * look.scale < ESTIMATE_UNTIL_EPOCHS_MIN ||
		 look.evidence.n_epochs < ESTIMATE_EPOCHS_MIN)
		until->why = why_epochs;
	else if (look.epochs * look.scale < ESTIMATE_UNTIL_EPOCHS_MIN ||
		 look.epochs < ESTIMATE_EPOCHS_MIN)
		until->why = why_uneven;
	if (until->why)
		until->epochs_more = until->epochs_more_max = until->epochs_at_best =
			fmax(1, ESTIMATE_UNTIL_EPOCHS_MIN - (double)look.evidence.n_epochs);
	else if (options->kind == ESTIMATE_UNTIL_SHARE)
		share_look(&look, options->half_width);
	else
		top_look(&look, top_k, options->kind == ESTIMATE_UNTIL_SET);
	if (until->settled)
		until->epochs_more = until->epochs_more_max = until->epochs_at_best = 0;
	look_release(&look);
	return STATUS_OK;
}
