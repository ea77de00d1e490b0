/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A diagnosis as JSON: the document `diagnose` of the contract. See diagnosis.h. */
#include <math.h>

#include "report/diagnosis.h"
#include "report/json_writer.h"

static json_t *answers(struct json_writer *w, const struct diagnosis_answers *answers)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "intervals_drawn", json_text_of(w, answers->intervals_drawn));
	json_set(w, object, "intervals_realised", json_text_of(w, answers->intervals_realised));
	json_set(w, object, "retuned_or_throttled", json_text_of(w, answers->retuned_or_throttled));
	json_set(w, object, "phase", json_text_of(w, answers->phase));
	json_set(w, object, "independent_schedules",
		 json_text_of(w, answers->independent_schedules));
	return object;
}

static json_t *summary(struct json_writer *w, const struct intervals_summary *summary)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "n", json_real_of(w, summary->n));
	json_set(w, object, "mean", json_real_of(w, summary->mean));
	json_set(w, object, "cv", json_real_of(w, summary->cv));
	json_set(w, object, "p01", json_real_of(w, summary->p01));
	json_set(w, object, "p50", json_real_of(w, summary->p50));
	json_set(w, object, "p99", json_real_of(w, summary->p99));
	if (!(summary->n > 0))
		json_set(w, object, "why", json_text_of(w, "no interval that nothing cut short"));
	return object;
}

static json_t *bins(struct json_writer *w, const double *bins)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < INTERVALS_BINS; i++)
		json_append(w, array, json_real_of(w, bins[i]));
	return array;
}

static json_t *clock_object(struct json_writer *w, const struct diagnosis_clock *clock)
{
	json_t *object = json_object_of(w), *histogram = json_object_of(w);

	json_set(w, object, "kind", json_text_of(w, clock->kind));
	json_set(w, object, "canary", json_boolean_of(w, clock->canary));
	json_set(w, object, "unit", json_text_of(w, clock->unit));
	json_set(w, object, "realised_unit", json_text_of(w, clock->by_time ? "ns" : clock->unit));
	json_set(w, object, "intended", summary(w, &clock->intended));
	json_set(w, object, "realised", summary(w, &clock->realised));
	json_set(w, object, "faithful", json_real_of(w, clock->faithful));
	json_set(w, object, "samples", json_integer_of(w, clock->samples));
	json_set(w, object, "lost", json_integer_of(w, clock->lost));
	json_set(w, object, "throttled_ns", json_integer_of(w, clock->throttled_ns));
	json_set(w, object, "redrawn", json_integer_of(w, clock->redrawn));
	json_set(w, object, "retuned", json_integer_of(w, clock->retuned));
	json_set(w, object, "gaps", json_integer_of(w, clock->gaps));
	json_set(w, histogram, "bin", json_real_of(w, INTERVALS_RANGE / INTERVALS_BINS));
	json_set(w, histogram, "intended", bins(w, clock->intended_bins));
	json_set(w, histogram, "realised", bins(w, clock->realised_bins));
	json_set(w, object, "histogram", histogram);
	return object;
}

static json_t *epoch_object(struct json_writer *w, const struct diagnosis_epoch *epoch)
{
	json_t *object = json_object_of(w);

	json_set(w, object, "start_ns", json_integer_of(w, epoch->start_ns));
	json_set(w, object, "end_ns", json_integer_of(w, epoch->end_ns));
	json_set(w, object, "clock", json_integer_of(w, epoch->clock));
	json_set(w, object, "seed",
		 epoch->has_seed ? json_digits_of(w, epoch->seed) : json_real_of(w, NAN));
	json_set(w, object, "budget", json_real_of(w, epoch->budget));
	json_set(w, object, "mean_period", json_real_of(w, epoch->mean_period));
	json_set(w, object, "samples", json_integer_of(w, epoch->samples));
	json_set(w, object, "lost", json_integer_of(w, epoch->lost));
	json_set(w, object, "throttled_ns", json_integer_of(w, epoch->throttled_ns));
	json_set(w, object, "retuned", json_integer_of(w, epoch->retuned));
	json_set(w, object, "regime", json_integer_of(w, epoch->regime));
	return object;
}

static const char *verdict_name(enum estimate_lock_verdict verdict)
{
	switch (verdict) {
	case ESTIMATE_LOCK_NONE: return "none";
	case ESTIMATE_LOCK_POSSIBLE: return "possible";
	case ESTIMATE_LOCK_LOCKED: return "locked";
	}
	return "none";
}

static json_t *candidate_object(struct json_writer *w, const struct alias_candidate *candidate)
{
	json_t *object = json_object_of(w);
	const bool tested = !candidate->why;

	json_set(w, object, "source", json_text_of(w, candidate->source));
	json_set(w, object, "period_ns",
		 json_real_of(w, candidate->period_ns > 0 ? candidate->period_ns : NAN));
	json_set(w, object, "statistic", json_real_of(w, tested ? candidate->statistic : NAN));
	json_set(w, object, "statistic_name", json_text_of(w, candidate->statistic_name));
	json_set(w, object, "p_value", json_real_of(w, tested ? candidate->p_value : NAN));
	json_set(w, object, "concentration",
		 json_real_of(w, tested ? candidate->concentration : NAN));
	json_set(w, object, "share_error_hi",
		 json_real_of(w, tested ? candidate->share_error_hi : NAN));
	json_set(w, object, "missed_below", json_real_of(w, candidate->missed));
	json_set(w, object, "verdict", json_text_of(w, verdict_name(candidate->verdict)));
	if (candidate->why)
		json_set(w, object, "why", json_text_of(w, candidate->why));
	return object;
}

static json_t *skid_object(struct json_writer *w, const struct diagnosis *diagnosis,
			   const struct skid_function *function)
{
	const struct matrix_function *named = &diagnosis->matrix.functions[function->function];
	json_t *object = json_object_of(w);

	json_set(w, object, "name", json_text_of(w, named->name));
	json_set(w, object, "module", json_text_of(w, named->module));
	json_set(w, object, "samples", json_integer_of(w, function->samples));
	json_set(w, object, "at_entry", json_integer_of(w, function->entry));
	json_set(w, object, "at_entry_expected", json_real_of(w, function->entry_expected));
	json_set(w, object, "after_call", json_integer_of(w, function->after_call));
	json_set(w, object, "after_call_expected", json_real_of(w, function->call_expected));
	json_set(w, object, "after_slow", json_integer_of(w, function->after_slow));
	json_set(w, object, "slow", json_text_of(w, function->slow));
	json_set(w, object, "instructions", json_integer_of(w, function->n_instructions));
	json_set(w, object, "loops", json_boolean_of(w, function->loops));
	json_set(w, object, "caller", json_text_of(w, function->caller));
	json_set(w, object, "callee", json_text_of(w, function->callee));
	return object;
}

static json_t *regime_function_object(struct json_writer *w, const struct diagnosis *diagnosis,
				      const struct regime_function *function)
{
	const struct matrix_function *named = &diagnosis->matrix.functions[function->function];
	json_t *object = json_object_of(w);

	json_set(w, object, "name", json_text_of(w, named->name));
	json_set(w, object, "module", json_text_of(w, named->module));
	json_set(w, object, "sd", json_real_of(w, function->observed));
	json_set(w, object, "sd_expected", json_real_of(w, function->expected));
	json_set(w, object, "low", json_real_of(w, function->low));
	json_set(w, object, "high", json_real_of(w, function->high));
	return object;
}

static json_t *stability(struct json_writer *w, const struct diagnosis *diagnosis)
{
	const struct regimes *regimes = &diagnosis->regimes;
	json_t *object = json_object_of(w), *functions = json_array_of(w);

	json_set(w, object, "regimes", json_integer_of(w, regimes->n));
	json_set(w, object, "p_value", json_real_of(w, regimes->p_value));
	json_set(w, object, "largest_move", json_real_of(w, regimes->largest));
	for (size_t i = 0; i < regimes->n_functions; i++)
		json_append(w, functions,
			    regime_function_object(w, diagnosis, &regimes->functions[i]));
	json_set(w, object, "functions", functions);
	json_set(w, object, "migrations", json_integer_of(w, diagnosis->migrations));
	json_set(w, object, "migrations_of", json_integer_of(w, diagnosis->moves));
	return object;
}

static json_t *command(struct json_writer *w, const char *const *words, size_t n)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < n; i++)
		json_append(w, array, json_text_of(w, words[i]));
	return array;
}

static json_t *document(struct json_writer *w, const struct diagnosis_view *view)
{
	const struct diagnosis *diagnosis = view->diagnosis;
	json_t *root = json_object_of(w), *clocks = json_array_of(w), *epochs = json_array_of(w);
	json_t *candidates = json_array_of(w), *skid = json_array_of(w);

	for (size_t i = 0; i < diagnosis->n_clocks; i++)
		json_append(w, clocks, clock_object(w, &diagnosis->clocks[i]));
	for (size_t i = 0; i < diagnosis->n_epochs; i++)
		json_append(w, epochs, epoch_object(w, &diagnosis->epochs[i]));
	for (size_t i = 0; i < diagnosis->alias.n; i++)
		json_append(w, candidates, candidate_object(w, &diagnosis->alias.candidates[i]));
	for (size_t i = 0; i < diagnosis->skid.n; i++)
		json_append(w, skid, skid_object(w, diagnosis, &diagnosis->skid.functions[i]));
	json_set(w, root, "schema", json_text_of(w, DIAGNOSIS_JSON_SCHEMA));
	json_set(w, root, "bundle", json_text_of(w, view->bundle));
	json_set(w, root, "command", command(w, view->command, view->n_command));
	json_set(w, root, "samples", json_integer_of(w, diagnosis->matrix.samples));
	json_set(w, root, "canary_samples", json_integer_of(w, diagnosis->matrix.canary_samples));
	json_set(w, root, "answers", answers(w, &diagnosis->answers));
	json_set(w, root, "findings", json_findings(w, view->findings));
	json_set(w, root, "clocks", clocks);
	json_set(w, root, "epochs", epochs);
	json_set(w, root, "candidates", candidates);
	json_set(w, root, "skid", skid);
	json_set(w, root, "stability", stability(w, diagnosis));
	return root;
}

enum status diagnosis_json(const struct diagnosis_view *view, struct output *output,
			   struct error *error)
{
	struct json_writer writer = { false };

	return json_finish(&writer, document(&writer, view), output, error);
}
