/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/settle.h"

#include <math.h>

#include "estimate/sequential.h"
#include "profile/weighting.h"

#define LATEST \
	2 /* the weakest pair is weakest partly by chance: at most so many times its forecast */

struct settle {
	struct report *report;
	const struct table *table;
	const struct measure *ranked;
	const struct estimate_ranks *ranks;
	struct estimate_until_options options;
	double epoch_s;
};

/* The rows from the first open rank to the end of those that contend for it, at most top_k of them. */
static size_t next_rows(const struct report *report)
{
	const size_t settled = report_settled(report);
	const size_t k = settled + report_contending(report, settled);

	if (report->no_ranks || settled >= report->n_rows || settled >= report->top_k)
		return 0;
	return k < report->top_k ? k : report->top_k;
}

/* Ranked rows are printed in the order of ranks. */
static const struct report_row *row_of(const struct settle *settle, size_t number)
{
	for (size_t place = 0; place < settle->ranks->n_rows; place++)
		if (settle->ranks->order[place] == number)
			return &settle->report->rows[place];
	return NULL;
}

static struct report_pair pair_of(const struct settle *settle, size_t a, size_t b)
{
	struct report_pair pair = { NULL, NULL };

	if (a != ESTIMATE_UNTIL_NONE && b != ESTIMATE_UNTIL_NONE)
		pair = (struct report_pair){ row_of(settle, a), row_of(settle, b) };
	if (pair.a && pair.b && pair.b->place < pair.a->place)
		pair = (struct report_pair){ pair.b, pair.a };
	return pair;
}

/* By the table's own test: the pair among the first k rows that needs most samples. */
static void forecast_by_ranks(const struct settle *settle, size_t k, struct report_next *next)
{
	const double duration_s = (double)settle->report->totals.duration_ns / 1e9;
	const double samples = (double)settle->ranked->shares.samples;
	double most = 0;

	for (size_t i = 0; i < k && i < settle->ranks->n_rows; i++) {
		const size_t number = settle->ranks->order[i];
		const struct estimate_rank *rank = &settle->ranks->rows[number];

		if (rank->resolved || rank->rival == ESTIMATE_RANK_NO_RIVAL ||
		    !(rank->samples_here > most))
			continue;
		most = rank->samples_here;
		next->pair = pair_of(settle, number, rank->rival);
	}
	next->seconds = fmax(settle->epoch_s, duration_s * (most / samples - 1));
	next->max_seconds = LATEST * next->seconds;
}

/* For the first k rows and their order. *why: it cannot be judged. */
static enum status forecast(struct settle *settle, size_t k, struct report_next *next,
			    const char **why, struct error *error)
{
	struct estimate_until until;
	enum status status;

	settle->options.top_k = k;
	status = estimate_until(&until, &settle->ranked->estimates, &settle->options, error);
	if (status != STATUS_OK)
		return status;
	*why = until.why;
	*next = (struct report_next){ .seconds = NAN, .max_seconds = NAN };
	if (until.why)
		return STATUS_OK;
	next->k = k;
	next->seconds = until.epochs_more * settle->epoch_s;
	next->max_seconds = until.epochs_more_max * settle->epoch_s;
	if (!until.settled)
		next->pair = pair_of(settle, until.a, until.b);
	else if (next_rows(settle->report) && report_settled(settle->report) < k)
		forecast_by_ranks(settle, k, next);
	return STATUS_OK;
}

enum status settle_make(struct report *report, const struct profile *profile,
			const struct table *table, const struct measure *ranked,
			const struct estimate_ranks *ranks, struct error *error)
{
	struct settle settle = {
		.report = report,
		.table = table,
		.ranked = ranked,
		.ranks = ranks,
		.options = {
			.kind = ESTIMATE_UNTIL_ORDER,
			.epochs_per_row = table->n_epochs ? (double)report->contract.epochs /
								    table->n_epochs
							  : 1,
			.period_weights = profile_weighting(profile) == ESTIMATE_WEIGHT_PERIOD,
		},
		.epoch_s = table->n_epochs ? (double)report->totals.duration_ns / 1e9 /
						     table->n_epochs
					   : NAN,
	};
	struct report_next whole;
	const char *why = NULL;
	enum status status;

	report->settle = (struct report_settle){ .seconds = NAN, .max_seconds = NAN };
	report->settle.blocked_by_bias = report->state == ESTIMATE_BIASED;
	if (!profile->clocks.randomised)
		report->settle.why = "no randomised clock";
	else if (!ranked->n)
		report->settle.why = "no samples";
	if (report->settle.why)
		return STATUS_OK;
	status = forecast(&settle, report->top_k, &whole, &report->settle.why, error);
	if (status != STATUS_OK)
		return status;
	report->settle.seconds = whole.seconds;
	report->settle.max_seconds = whole.max_seconds;
	report->settle.pair = whole.pair;
	if (!next_rows(report))
		return STATUS_OK;
	return forecast(&settle, next_rows(report), &report->next, &why, error);
}
