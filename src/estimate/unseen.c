/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "estimate/unseen.h"

#include <math.h>
#include <stdlib.h>

#include "estimate/evidence.h"
#include "estimate/quantile.h"

static const char why_lock[] =
	"without a randomised clock a locked one would hide functions unnoticed";
static const char why_few[] = "too few samples or epochs";

struct confined {
	double *q; /* samples of confined functions, by epoch */
	double samples;
	uint64_t functions;
	double in_one, in_two; /* functions met in exactly one, two epochs */
};

/* Which epochs function `s` was met in: first, last and number of them. */
static void function_span(const struct evidence *evidence, size_t s, size_t *first, size_t *last,
			  size_t *met)
{
	const struct estimate_table *table = evidence->table;

	*met = 0;
	for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
		size_t epoch;

		if (!table->counts[i].count)
			continue;
		epoch = evidence->place[table->counts[i].cell] / evidence->n_clocks;
		if (!*met || epoch != *last)
			++*met;
		if (*met == 1)
			*first = epoch;
		*last = epoch;
	}
}

static void confined_collect(struct confined *confined, const struct evidence *evidence, bool two)
{
	const struct estimate_table *table = evidence->table;

	for (size_t s = 0; s < table->n_functions; s++) {
		size_t first = 0, last = 0, met;

		function_span(evidence, s, &first, &last, &met);
		confined->in_one += met == 1;
		confined->in_two += met == 2;
		if (!met || last - first > (two ? 1u : 0u))
			continue;
		confined->functions++;
		for (size_t i = table->first[s]; i < table->first[s + 1]; i++) {
			const struct estimate_count *count = &table->counts[i];

			if (!count->count)
				continue;
			confined->q[evidence->place[count->cell] / evidence->n_clocks] +=
				count->count;
			confined->samples += count->count;
		}
	}
}

static void unseen_fill(struct estimate_unseen *unseen, const struct confined *confined,
			const struct evidence *evidence, double confidence)
{
	const double n_epochs = (double)evidence->n_epochs, n = (double)evidence->samples;
	double squares = 0, d = 1;

	for (size_t e = 0; e < evidence->n_epochs; e++) {
		const double deviation = confined->q[e] - confined->samples / n_epochs;

		squares += n_epochs / (n_epochs - 1) * deviation * deviation;
	}
	if (confined->samples > 0)
		d = fmax(1, squares / confined->samples);
	unseen->share = confined->samples / n;
	unseen->hi = d * quantile_chi2(confidence, 2 * (confined->samples / d + 1)) / (2 * n);
	if (unseen->two_epochs)
		unseen->hi = fmax(unseen->hi, unseen->share + quantile_t(confidence, n_epochs - 1) *
								      sqrt(squares) / n);
	unseen->hi = fmin(1, unseen->hi);
	unseen->functions_once = confined->functions;
	unseen->functions_at_least = (n_epochs - 1) / n_epochs * confined->in_one *
				     (confined->in_one - 1) / (2 * (confined->in_two + 1));
}

enum status estimate_unseen(struct estimate_unseen *unseen, const struct estimate_table *table,
			    bool correlated, double confidence, struct error *error)
{
	struct confined confined = { 0 };
	struct evidence evidence;
	const enum status status = evidence_init(&evidence, table, false, error);

	*unseen = (struct estimate_unseen){ .hi = 1, .two_epochs = correlated };
	if (status != STATUS_OK)
		return status;
	if (!table->randomised)
		unseen->why = why_lock;
	else if (evidence.samples < ESTIMATE_SAMPLES_MIN || evidence.n_epochs < ESTIMATE_EPOCHS_MIN)
		unseen->why = why_few;
	confined.q = calloc(evidence.n_epochs + 1, sizeof(*confined.q));
	if (confined.q && !unseen->why) {
		confined_collect(&confined, &evidence, correlated);
		unseen_fill(unseen, &confined, &evidence, confidence > 0 ? confidence : 0.95);
	}
	evidence_release(&evidence);
	if (!confined.q)
		return error_set(error, STATUS_NO_MEMORY, "estimate: no memory for epochs");
	free(confined.q);
	return STATUS_OK;
}
