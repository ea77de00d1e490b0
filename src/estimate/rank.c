/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ranks: choose the contenders, test them against every function, accept by Holm, arrange.
 *
 * Cost: contenders x functions x epochs multiplications. Only the contenders' vectors are kept; the
 * other function's is computed when its turn comes, so memory does not grow with functions x epochs.
 */
#include "estimate/rank.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "estimate/effect.h"
#include "estimate/quantile.h"
#include "estimate/rank_order.h"
#include "estimate/rank_pairs.h"

#define TOP_K_STANDARD 5
#define ALPHA_STANDARD 0.05
/* one-sided 1 %: whoever is not below the k-th by this much may belong to the top k */
#define CONTENDER_Z 2.33

static const char why_epochs[] = "fewer than 10 epochs say nothing about the order in other runs";
static const char why_serial[] = "the program changed too few times while watched to say anything "
				 "about the order in other runs";

struct ranking {
	struct evidence evidence;
	struct family family;
	struct member *members; /* by place */
	size_t *by_place;       /* place -> function */
	double *vectors;        /* of contenders */
	double *vector, *scratch;
	struct thresholds first, last, step; /* levels alpha/M, alpha, and between */
	struct pair *candidates;
	size_t n_candidates, candidates_capacity;
	size_t n_certain;
	double step_level;
};

static void ranking_release(struct ranking *ranking)
{
	free(ranking->members);
	free(ranking->by_place);
	free(ranking->vectors);
	free(ranking->vector);
	free(ranking->scratch);
	free(ranking->candidates);
	thresholds_release(&ranking->first);
	thresholds_release(&ranking->last);
	thresholds_release(&ranking->step);
	evidence_release(&ranking->evidence);
}

static bool ranking_allocate(struct ranking *ranking, struct estimate_ranks *ranks, size_t n)
{
	const size_t n_cells = ranking->evidence.n_epochs * ranking->evidence.n_clocks + 1;

	ranking->members = calloc(n + 1, sizeof(*ranking->members));
	ranking->by_place = calloc(n + 1, sizeof(*ranking->by_place));
	ranking->vector = calloc(n_cells, sizeof(*ranking->vector));
	ranking->scratch = calloc(n_cells, sizeof(*ranking->scratch));
	ranks->rows = calloc(n + 1, sizeof(*ranks->rows));
	ranks->order = calloc(n + 1, sizeof(*ranks->order));
	ranks->place = calloc(n + 1, sizeof(*ranks->place));
	return ranking->members && ranking->by_place && ranking->vector && ranking->scratch &&
	       ranks->rows && ranks->order && ranks->place;
}

struct share_order {
	const struct estimate_row *rows;
	const char *const *names;
};

static int share_compare(const void *left, const void *right, void *argument)
{
	const struct share_order *order = argument;
	const size_t a = *(const size_t *)left, b = *(const size_t *)right;
	const double share_a = order->rows[a].recording.share;
	const double share_b = order->rows[b].recording.share;
	int by_name;

	if (share_a > share_b || share_a < share_b)
		return share_a > share_b ? -1 : 1;
	by_name = order->names ? strcmp(order->names[a], order->names[b]) : 0;
	return by_name ? by_name : (a > b) - (a < b);
}

static void ranking_sort(struct ranking *ranking, struct estimate_ranks *ranks,
			 const struct estimate_shares *shares, const char *const *names)
{
	struct share_order order = { shares->rows, names };

	for (size_t s = 0; s < shares->n_rows; s++)
		ranking->by_place[s] = s;
	qsort_r(ranking->by_place, shares->n_rows, sizeof(*ranking->by_place), share_compare,
		&order);
	for (size_t place = 0; place < shares->n_rows; place++) {
		const struct estimate_row *row = &shares->rows[ranking->by_place[place]];

		ranks->place[ranking->by_place[place]] = place;
		ranking->members[place].share = row->recording.share;
		ranking->members[place].samples = row->samples;
	}
}

/* The contenders are the first n places, up to the last one that could belong to the top k: closed
 * downwards in share, so that nobody outside can be above one of them. */
static size_t contenders_count(struct ranking *ranking, size_t n, size_t top_k)
{
	const struct family *family = &ranking->family;
	const size_t limit = n < ESTIMATE_CONTENDERS_MAX ? n : ESTIMATE_CONTENDERS_MAX;
	size_t count = top_k;

	for (size_t place = top_k; place < limit; place++) {
		const struct member *kth = &ranking->members[top_k - 1];
		const struct member *member = &ranking->members[place];
		const double distance = kth->share - member->share;
		double effect;

		family_vector(family, ranking->by_place[place], ranking->vector, ranking->scratch);
		effect = family_effect(family, member->share, ranking->vector);
		effect = fmax(fmax(1, family->pooled), effect);
		if (distance <=
		    CONTENDER_Z * sqrt((kth->share + member->share) / family->n * effect))
			count = place + 1;
	}
	return count;
}

static bool contenders_load(struct ranking *ranking, size_t n_contenders)
{
	const size_t length = ranking->family.length;

	ranking->vectors = calloc(n_contenders * length + 1, sizeof(*ranking->vectors));
	if (!ranking->vectors)
		return false;
	for (size_t c = 0; c < n_contenders; c++) {
		double *vector = ranking->vectors + c * length;

		family_vector(&ranking->family, ranking->by_place[c], ranking->vector,
			      ranking->scratch);
		memcpy(vector, ranking->vector, length * sizeof(*vector));
		ranking->members[c].vector = vector;
	}
	return true;
}

/* Tests one pair: certain, out of the question, or a candidate for Holm. `floor_t` is the smallest t at
 * which anything can pass. */
static bool pair_test(struct ranking *ranking, uint64_t *below, size_t i, size_t j, double floor_t)
{
	const struct family *family = &ranking->family;
	const struct member *high = &ranking->members[i], *low = &ranking->members[j];
	const double distance = high->share - low->share;
	const double f = (high->share + low->share) / family->n;
	struct pair pair = { .high = (uint16_t)i, .low = (uint32_t)j };
	double df;

	/* d >= 1, so t cannot exceed this */
	if (!(distance > 0) || distance * distance < floor_t * floor_t * f)
		return true;
	pair.t = distance / sqrt(f * pair_effect(family, high, low, &df));
	pair.df = df_class(df);
	if (pair.t < thresholds_at(&ranking->last, pair.df))
		return true;
	if (pair.t >= thresholds_at(&ranking->first, pair.df)) {
		bits_set(below, j);
		ranking->n_certain++;
		return true;
	}
	if (!array_reserve(&ranking->candidates, &ranking->candidates_capacity,
			   ranking->n_candidates + 1))
		return false;
	ranking->candidates[ranking->n_candidates++] = pair;
	return true;
}

static bool pairs_test(struct ranking *ranking, struct estimate_ranks *ranks, double alpha)
{
	const size_t words = BITS_WORDS(ranks->n_rows);
	const double floor_t = quantile_t_upper(alpha / 2, DF_MAX);
	size_t accepted;

	if (!thresholds_init(&ranking->first, alpha / (double)ranks->n_pairs) ||
	    !thresholds_init(&ranking->last, alpha) || !thresholds_init(&ranking->step, alpha))
		return false;
	for (size_t j = 1; j < ranks->n_rows; j++) {
		struct member *low = &ranking->members[j];

		if (j >= ranks->n_examined) {
			family_vector(&ranking->family, ranking->by_place[j], ranking->vector,
				      ranking->scratch);
			low->vector = ranking->vector;
		}
		for (size_t i = 0; i < j && i < ranks->n_examined; i++)
			if (!pair_test(ranking, ranks->below + i * words, i, j, floor_t))
				return false;
	}
	accepted = pairs_holm(ranking->candidates, ranking->n_candidates, ranking->n_certain,
			      ranks->n_pairs, alpha, &ranking->step, &ranking->step_level);
	for (size_t p = 0; p < accepted; p++)
		bits_set(ranks->below + ranking->candidates[p].high * words,
			 ranking->candidates[p].low);
	return true;
}

/* For each contender the nearest function that it is not resolved from. */
static void rivals_set(struct ranking *ranking, struct estimate_ranks *ranks)
{
	const struct family *family = &ranking->family;
	const size_t words = BITS_WORDS(ranks->n_rows);

	for (size_t i = 0; i < ranks->n_examined; i++) {
		struct estimate_rank *row = &ranks->rows[ranking->by_place[i]];
		const struct member *own = &ranking->members[i];
		size_t up = i, down = i + 1, rival = ESTIMATE_RANK_NO_RIVAL;
		double df, f, distance, effect, here;

		while (up-- > 0 && bits_get(ranks->below + up * words, i))
			;
		while (down < ranks->n_rows && bits_get(ranks->below + i * words, down))
			down++;
		if (up != SIZE_MAX)
			rival = up;
		if (down < ranks->n_rows && (rival == ESTIMATE_RANK_NO_RIVAL ||
					     own->share - ranking->members[down].share <
						     ranking->members[up].share - own->share))
			rival = down;
		row->rival = rival;
		row->samples_alone = row->samples_here = NAN;
		if (rival == ESTIMATE_RANK_NO_RIVAL)
			continue;
		if (rival >= ranks->n_examined) {
			family_vector(family, ranking->by_place[rival], ranking->vector,
				      ranking->scratch);
			ranking->members[rival].vector = ranking->vector;
		}
		row->rival = ranking->by_place[rival];
		effect = pair_effect(family, own, &ranking->members[rival], &df);
		f = own->share + ranking->members[rival].share;
		distance = own->share - ranking->members[rival].share;
		here = thresholds_at(&ranking->step, df_class(df));
		row->samples_alone = 1.959964 * 1.959964 * effect * f / (distance * distance);
		row->samples_here = here * here * effect * f / (distance * distance);
	}
}

static const char *ranks_why(const struct estimate_shares *shares, enum estimate_family kind)
{
	if (shares->too_few || kind == ESTIMATE_FAMILY_RECORDING)
		return shares->too_few;
	if (shares->n_epochs < ESTIMATE_EPOCHS_MIN_WORKLOAD)
		return why_epochs;
	return shares->workload_unsupported ? why_serial : NULL;
}

static bool ranks_fill(struct estimate_ranks *ranks, struct ranking *ranking,
		       const struct estimate_rank_options *options)
{
	const size_t n = ranks->n_rows;
	const double alpha = options->alpha > 0 ? options->alpha : ALPHA_STANDARD;
	size_t c;

	ranks->n_examined = c = ranks->top_k;
	if (!ranks->why && n)
		ranks->n_examined = c = contenders_count(ranking, n, ranks->top_k);
	ranks->n_pairs = c * (n - c) + (c ? c * (c - 1) / 2 : 0);
	ranks->below = calloc(c * BITS_WORDS(n) + 1, sizeof(*ranks->below));
	if (!ranks->below)
		return false;
	if (!ranks->why && ranks->n_pairs &&
	    (!contenders_load(ranking, c) || !pairs_test(ranking, ranks, alpha)))
		return false;
	ranks_arrange(ranks, ranking->by_place, options->names);
	for (size_t s = 0; s < n; s++) {
		ranks->rows[s].rival = ESTIMATE_RANK_NO_RIVAL;
		ranks->rows[s].samples_alone = ranks->rows[s].samples_here = NAN;
	}
	if (!ranks->why && ranks->n_pairs)
		rivals_set(ranking, ranks);
	return true;
}

enum status estimate_ranks(struct estimate_ranks *ranks, const struct estimate_table *table,
			   const struct estimate_shares *shares,
			   const struct estimate_rank_options *options, struct error *error)
{
	const size_t n = table->n_functions;
	const size_t top_k = options->top_k ? options->top_k : TOP_K_STANDARD;
	struct ranking ranking = { 0 };
	enum status status;

	*ranks = (struct estimate_ranks){ .n_rows = n, .why = ranks_why(shares, options->family) };
	ranks->top_k = top_k < n ? top_k : n;
	if (ranks->top_k > ESTIMATE_CONTENDERS_MAX)
		return error_set(error, STATUS_USAGE,
				 "top %zu is more than the %d whose order can be examined",
				 ranks->top_k, ESTIMATE_CONTENDERS_MAX);
	status = evidence_init(&ranking.evidence, table, shares->period_weights, error);
	if (status != STATUS_OK)
		return status;
	ranking.family = family_of(options->family, &ranking.evidence, shares);
	if (ranking_allocate(&ranking, ranks, n)) {
		ranking_sort(&ranking, ranks, shares, options->names);
		if (!ranks_fill(ranks, &ranking, options))
			status = STATUS_NO_MEMORY;
	} else {
		status = STATUS_NO_MEMORY;
	}
	ranking_release(&ranking);
	if (status == STATUS_OK)
		return status;
	estimate_ranks_release(ranks);
	return error_set(error, status, "estimate: no memory to rank %zu functions", n);
}

void estimate_ranks_release(struct estimate_ranks *ranks)
{
	free(ranks->rows);
	free(ranks->order);
	free(ranks->below);
	free(ranks->place);
	*ranks = (struct estimate_ranks){ 0 };
}
