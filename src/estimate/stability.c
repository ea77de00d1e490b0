/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/stability.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/evidence.h"

#define PIECES            8 /* of all clocks together: more would be too small to agree */
#define SAMPLES_PER_PIECE 50
/* counts looked at when the expectation is summed up */
#define COUNT_MAX 16384
/* functions outside the top that can matter for the expectation: the largest ones */
#define RIVALS_MAX 200

static bool claim_valid(const struct estimate_claim *claim, size_t n_functions)
{
	if (!claim->k || claim->k > ESTIMATE_STABILITY_TOP_MAX)
		return false;
	for (size_t i = 0; i < claim->k; i++)
		if (claim->top[i] >= n_functions)
			return false;
	return true;
}

static void piece_score(struct estimate_agreement *agreement, const double *counts,
			const bool *in_top, size_t n_functions, const struct estimate_claim *claim)
{
	double rest = 0, least = INFINITY, others = 0;
	bool set, order;

	for (size_t s = 0; s < n_functions; s++)
		if (!in_top[s])
			rest = fmax(rest, counts[s]);
	for (size_t i = 0; i < claim->k; i++) {
		least = fmin(least, counts[claim->top[i]]);
		if (i)
			others = fmax(others, counts[claim->top[i]]);
	}
	set = order = least > rest;
	for (size_t i = 1; order && i < claim->k; i++)
		order = counts[claim->top[i - 1]] > counts[claim->top[i]];
	agreement->top1 += counts[claim->top[0]] > fmax(rest, others);
	agreement->set += set;
	agreement->order += order;
}

static size_t pieces_standard(const struct evidence *evidence)
{
	const size_t wanted = evidence->n_clocks < PIECES / 2 ? PIECES / evidence->n_clocks : 2;
	size_t n = (size_t)evidence->samples / (SAMPLES_PER_PIECE * evidence->n_clocks);

	n = n < wanted ? n : wanted;
	return n < evidence->n_epochs ? n : evidence->n_epochs;
}

/* counts: n_pieces x n_clocks x n_functions */
static void pieces_count(double *counts, const struct evidence *evidence, size_t n_pieces)
{
	const struct estimate_table *table = evidence->table;

	for (size_t s = 0; s < table->n_functions; s++)
		for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
			size_t place, piece;

			if (!table->counts[i].count)
				continue;
			place = evidence->place[table->counts[i].cell];
			piece = place / evidence->n_clocks * n_pieces / evidence->n_epochs;
			piece = piece * evidence->n_clocks + place % evidence->n_clocks;
			counts[piece * table->n_functions + s] += table->counts[i].count;
		}
}

static void pieces_score(struct estimate_agreement *agreement, const struct evidence *evidence,
			 const double *counts, const bool *in_top, size_t n_pieces,
			 const struct estimate_claim *claim)
{
	const size_t n_functions = evidence->table->n_functions;

	for (size_t piece = 0; piece < n_pieces * evidence->n_clocks; piece++) {
		const double *own = counts + piece * n_functions;
		double samples = 0;

		for (size_t s = 0; s < n_functions; s++)
			samples += own[s];
		if (!(samples > 0))
			continue;
		agreement->pieces++;
		agreement->samples += samples;
		piece_score(agreement, own, in_top, n_functions, claim);
	}
	agreement->samples /= (double)agreement->pieces;
	agreement->top1 /= (double)agreement->pieces;
	agreement->set /= (double)agreement->pieces;
	agreement->order /= (double)agreement->pieces;
}

enum status estimate_agree(struct estimate_agreement *agreement, const struct estimate_table *table,
			   const struct estimate_claim *claim, size_t n_pieces, struct error *error)
{
	struct evidence evidence;
	double *counts = NULL;
	bool *in_top = NULL;
	enum status status = evidence_init(&evidence, table, false, error);

	*agreement = (struct estimate_agreement){ 0 };
	if (status != STATUS_OK)
		return status;
	if (!claim_valid(claim, table->n_functions)) {
		evidence_release(&evidence);
		return error_set(error, STATUS_USAGE, "stability of the top %zu cannot be judged",
				 claim->k);
	}
	if (evidence.n_clocks)
		n_pieces = n_pieces ? n_pieces : pieces_standard(&evidence);
	n_pieces = n_pieces < evidence.n_epochs ? n_pieces : evidence.n_epochs;
	counts = calloc(n_pieces * evidence.n_clocks * table->n_functions + 1, sizeof(*counts));
	in_top = calloc(table->n_functions + 1, sizeof(*in_top));
	if (!counts || !in_top) {
		status = error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu pieces",
				   n_pieces);
	} else {
		for (size_t i = 0; i < claim->k; i++)
			in_top[claim->top[i]] = true;
		if (n_pieces)
			pieces_count(counts, &evidence, n_pieces);
		pieces_score(agreement, &evidence, counts, in_top, n_pieces, claim);
	}
	free(counts);
	free(in_top);
	evidence_release(&evidence);
	return status;
}

/* Poisson probabilities of 0..n-1, and their cumulative sums; by recurrence from the mode, since e^-mean
 * underflows. */
static void poisson(double mean, size_t n, double *p, double *cumulative)
{
	const size_t mode = (size_t)mean < n ? (size_t)mean : n - 1;
	double sum = 0;

	p[mode] = exp((double)mode * log(fmax(mean, 1e-300)) - mean - lgamma((double)mode + 1));
	for (size_t x = mode; x-- > 0;)
		p[x] = p[x + 1] * (double)(x + 1) / mean;
	for (size_t x = mode + 1; x < n; x++)
		p[x] = p[x - 1] * mean / (double)x;
	for (size_t x = 0; x < n; x++) {
		sum += p[x];
		cumulative[x] = fmin(1, sum);
	}
}

struct expectation {
	size_t n;        /* counts 0..n-1 */
	double *p, *cdf; /* scratch of one function */
	double *rest;    /* P(max of the functions outside <= x) */
	double *others;  /* the same, with the top's 2..k */
	double *least;   /* P(all of the top > x) */
	double *chain;   /* P(X_i = x and X_i > X_{i+1} > ... > rest) */
};

static bool expectation_init(struct expectation *expectation, size_t n)
{
	double *memory = calloc(6 * n, sizeof(*memory));

	*expectation = (struct expectation){ .n = n, .p = memory };
	if (!memory)
		return false;
	expectation->cdf = memory + n;
	expectation->rest = memory + 2 * n;
	expectation->others = memory + 3 * n;
	expectation->least = memory + 4 * n;
	expectation->chain = memory + 5 * n;
	for (size_t x = 0; x < n; x++)
		expectation->rest[x] = expectation->least[x] = 1;
	return true;
}

/* P(X > Y) when X has probabilities p and Y the cumulative ones. */
static double beats(const double *p, const double *cdf, size_t n)
{
	double sum = 0;

	for (size_t x = 1; x < n; x++)
		sum += p[x] * cdf[x - 1];
	return sum;
}

/* Multiplies in the functions outside the top, largest first. */
static void expectation_rest(struct expectation *expectation, const struct estimate_shares *shares,
			     const bool *in_top, const size_t *order, double scale)
{
	size_t taken = 0;

	for (size_t i = 0; i < shares->n_rows && taken < RIVALS_MAX; i++) {
		if (in_top[order[i]] || !(shares->rows[order[i]].recording.share > 0))
			continue;
		taken++;
		poisson(shares->rows[order[i]].recording.share * scale, expectation->n,
			expectation->p, expectation->cdf);
		for (size_t x = 0; x < expectation->n; x++)
			expectation->rest[x] *= expectation->cdf[x];
	}
	memcpy(expectation->others, expectation->rest, expectation->n * sizeof(double));
}

/* From the k-th up to the first: the chain below each value. */
static void expectation_top(struct expectation *expectation, struct estimate_stability *stability,
			    const struct estimate_shares *shares,
			    const struct estimate_claim *claim, double scale)
{
	const size_t n = expectation->n;

	for (size_t i = claim->k; i-- > 0;) {
		double below = 0, total = 0;

		poisson(shares->rows[claim->top[i]].recording.share * scale, n, expectation->p,
			expectation->cdf);
		for (size_t x = 0; x < n; x++) {
			const double mine = expectation->p[x];
			double allowed;

			if (i + 1 == claim->k) {
				allowed = x ? expectation->rest[x - 1] : 0;
			} else {
				allowed = below;
				below += expectation->chain[x];
			}
			expectation->chain[x] = mine * allowed;
			total += expectation->chain[x];
			expectation->least[x] *= 1 - expectation->cdf[x];
			if (i)
				expectation->others[x] *= expectation->cdf[x];
		}
		if (!i) {
			stability->expected_order = fmin(1, total);
			stability->expected_top1 =
				fmin(1, beats(expectation->p, expectation->others, n));
		}
	}
}

/* P(least of the top > max of the rest) = sum over x of P(rest = x) P(least > x) */
static double expectation_set(const struct expectation *expectation)
{
	double sum = 0;

	for (size_t x = 0; x < expectation->n; x++)
		sum += (expectation->rest[x] - (x ? expectation->rest[x - 1] : 0)) *
		       expectation->least[x];
	return fmin(1, sum);
}

static int share_compare(const void *left, const void *right, void *argument)
{
	const struct estimate_row *rows = argument;
	const double a = rows[*(const size_t *)left].recording.share;
	const double b = rows[*(const size_t *)right].recording.share;

	return (a < b) - (a > b);
}

static bool stability_expect(struct estimate_stability *stability,
			     const struct estimate_shares *shares,
			     const struct estimate_claim *claim)
{
	double scale = stability->observed.samples / fmax(1, shares->design_effect);
	struct expectation expectation = { 0 };
	size_t *order = calloc(shares->n_rows + 1, sizeof(*order));
	bool *in_top = calloc(shares->n_rows + 1, sizeof(*in_top));
	double largest = 0;
	bool done = false;
	size_t n;

	/* Above COUNT_MAX counts per function order is a matter of relative differences alone; scaling
	 * down there only widens the noise. */
	for (size_t s = 0; s < shares->n_rows; s++)
		largest = fmax(largest, shares->rows[s].recording.share);
	if (largest * scale > COUNT_MAX / 2)
		scale = COUNT_MAX / 2 / largest;
	n = (size_t)(largest * scale + 12 * sqrt(largest * scale) + 20);
	if (order && in_top && expectation_init(&expectation, n)) {
		for (size_t s = 0; s < shares->n_rows; s++)
			order[s] = s;
		qsort_r(order, shares->n_rows, sizeof(*order), share_compare, shares->rows);
		for (size_t i = 0; i < claim->k; i++)
			in_top[claim->top[i]] = true;
		expectation_rest(&expectation, shares, in_top, order, scale);
		expectation_top(&expectation, stability, shares, claim, scale);
		stability->expected_set = expectation_set(&expectation);
		done = true;
	}
	free(expectation.p);
	free(order);
	free(in_top);
	return done;
}

enum status estimate_stability(struct estimate_stability *stability,
			       const struct estimate_table *table,
			       const struct estimate_shares *shares,
			       const struct estimate_claim *claim, struct error *error)
{
	enum status status;

	*stability = (struct estimate_stability){
		.k = claim->k, .expected_top1 = NAN, .expected_set = NAN, .expected_order = NAN
	};
	status = estimate_agree(&stability->observed, table, claim, 0, error);
	if (status != STATUS_OK || !stability->observed.pieces)
		return status;
	if (!stability_expect(stability, shares, claim))
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory for %zu functions",
				 shares->n_rows);
	return STATUS_OK;
}
