/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How often the findings on aliasing are right: simulated recordings with known truth, judged by
 * src/diagnose/alias*.c exactly as `assay diagnose` does.
 *
 * Each recording draws its own program (behaviour, number of functions, shares, length of the cycle), its
 * own fixed clock (100 to 5000 Hz), its size and its seed; none of them was used in tuning. A fixed clock
 * always runs along: it gives the truth of what a conventional profile would have shown. In half of the
 * recordings the diagnosis gets it as a canary, in the other half it has the randomised samples alone; in
 * a third there are marks of the program's cycle, too.
 *
 *	false alarms	any alias-locked, alias-possible or alias-flip on a program that no clock can be in
 *			step with
 *	recall		of recordings of programs with a cycle in which the fixed clock's worst share is off
 *			by more than 5 points: those with alias-locked or alias-possible
 *	flip		of all alias-flip: those whose two functions truly are in the order that it claims
 *
 * alias_rates [--short] [--verbose] [--only NAME] [SEED]; ends with 1 when a figure is missed. The limits of the short
 * run (a test) give way by four standard errors.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/alias.h"
#include "diagnose/finding_code.h"
#include "estimate/estimate.h"
#include "study/draw.h"
#include "study/sampler.h"

#define EPOCHS           20
#define FUNCTIONS_MAX    20
#define ERROR_COUNTED    0.05 /* of the fixed clock's worst share */
#define FULL_HARMLESS    720
#define FULL_LOCKING     1440
#define SHORT_DIVISOR    12
#define FALSE_ALARMS_MAX 0.03
#define FLIP_PRECISION   0.95

/* estimates.md, section 8: recall of an error above 5 points by the virtual canary (83/96/99.6 %), which
 * every recording has. */
static const struct {
	size_t fixed_samples;
	double recall;
} sizes[] = { { 300, 0.83 }, { 1000, 0.96 }, { 3000, 0.99 } };
#define SIZES 3

struct kind {
	const char *name;
	enum behaviour behaviour;
	bool harmless;
	double ratio; /* cycle over the clock's period; 0: the kind draws it */
	double part;  /* PARTLY */
	double stretch_min, stretch_max, concentration;
};

static const struct kind kinds[] = {
	{ "iid", BEHAVIOUR_IID, true, 0, 0, 0, 0, 0 },
	{ "bursts", BEHAVIOUR_BURSTS, true, 0, 0, 0, 0, 0 },
	{ "change in the middle", BEHAVIOUR_REGIME, true, 0, 0, 0, 0, 0 },
	{ "drift", BEHAVIOUR_DRIFT, true, 0, 0, 0, 0, 0 },
	{ "phases of 0.5-2 s", BEHAVIOUR_PHASES, true, 0, 0, 0.5, 2, 20 },
	{ "phases of 15-60 ms", BEHAVIOUR_PHASES, true, 0, 0, 0.015, 0.06, 20 },
	{ "wobbling cycle", BEHAVIOUR_WOBBLE, true, 5.3, 0, 0, 0, 0 },
	{ "cycle, golden ratio", BEHAVIOUR_CYCLE, true, 0.6180339887, 0, 0, 0, 0 },
	{ "cycle of one interval", BEHAVIOUR_CYCLE, false, 1, 0, 0, 0, 0 },
	{ "1/2 to 1/10 of one", BEHAVIOUR_CYCLE, false, 0, 0, 0, 0, 0 },
	{ "ratio 2/3", BEHAVIOUR_CYCLE, false, 2.0 / 3, 0, 0, 0, 0 },
	{ "ratio 3/2", BEHAVIOUR_CYCLE, false, 1.5, 0, 0, 0, 0 },
	{ "ratio 5/4", BEHAVIOUR_CYCLE, false, 1.25, 0, 0, 0, 0 },
	{ "ratio 6/5", BEHAVIOUR_CYCLE, false, 1.2, 0, 0, 0, 0 },
	{ "slow sweep", BEHAVIOUR_CYCLE, false, -1, 0, 0, 0, 0 },
	{ "cyclic half of the time", BEHAVIOUR_PARTLY, false, 1, 0.5, 0, 0, 0 },
	{ "cyclic a fifth of the time", BEHAVIOUR_PARTLY, false, 1, 0.2, 0, 0, 0 },
	{ "cyclic a tenth of the time", BEHAVIOUR_PARTLY, false, 1, 0.1, 0, 0, 0 },
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct rates {
	size_t n, alarms, locked, possible, flips, flips_right;
	size_t wrong[SIZES], found[SIZES]; /* error above 5 points; of them warned of */
	size_t wrong_first, wrong_first_flip;
	double error;
};

/* ---- one recording ---- */

struct trial {
	const struct kind *kind;
	struct random random;
	size_t size; /* into sizes */
	double rate; /* of the fixed clock */
	bool canary, marks;
	uint64_t seed;
	struct workload workload;
	struct recording recording;
	struct trace trace;
	struct matrix matrix;
	char names[FUNCTIONS_MAX + 1][24];
};

static double cycle_draw(struct trial *trial)
{
	const double period = 1 / trial->rate;

	if (trial->kind->ratio > 0)
		return period * trial->kind->ratio;
	/* a sweep that gets through a part of the phase only while it is watched */
	if (trial->kind->ratio < 0)
		return period * (1 + draw_uniform(&trial->random, 0.1, 0.6) /
					     (double)sizes[trial->size].fixed_samples);
	return period / (double)random_between(&trial->random, 2, 10);
}

static struct workload workload_draw(struct trial *trial)
{
	/* bursts are defined over the study's standard functions */
	const bool standard = trial->kind->behaviour == BEHAVIOUR_BURSTS;
	const size_t n = standard ? STANDARD_FUNCTIONS : random_between(&trial->random, 4, 14);
	double shares[FUNCTIONS_MAX];
	struct workload workload;

	for (size_t s = 0; s < n; s++)
		shares[s] =
			standard ? standard_shares[s] : 0.02 + draw_exponential(&trial->random, 1);
	workload = workload_new(trial->kind->name, trial->kind->behaviour, shares, n);
	workload.cycle = cycle_draw(trial);
	workload.part = trial->kind->part;
	workload.stretch_min = trial->kind->stretch_min;
	workload.stretch_max = trial->kind->stretch_max;
	workload.concentration = trial->kind->concentration;
	workload.piece = draw_uniform(&trial->random, 40e-6, 150e-6);
	return workload;
}

static uint64_t time_ns(double seconds)
{
	return 1000000000u + (uint64_t)(seconds * 1e9);
}

static void check(enum status status, const struct error *error)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "alias_rates: %s\n", error->text);
	exit(1);
}

/* Each time that the cycle's first function (for other programs: function 0) begins is a mark. */
static void marks_add(struct trial *trial)
{
	struct execution execution;
	struct error error;
	struct piece piece;
	uint32_t first = UINT32_MAX, last = UINT32_MAX;
	double at = 0;

	if (!execution_init(&execution, &trial->workload, trial->recording.duration, trial->seed))
		abort();
	if (trial->kind->behaviour == BEHAVIOUR_CYCLE)
		first = (uint32_t)execution.order[0];
	while (execution_next(&execution, &piece)) {
		if (first == UINT32_MAX)
			first = 0;
		if (piece.function == first && last != first)
			check(trace_mark(&trial->trace, "iteration", 1, time_ns(at), &error),
			      &error);
		last = piece.function;
		at = execution.at;
	}
	execution_release(&execution);
}

static void trial_fill(struct trial *trial)
{
	const struct recording *recording = &trial->recording;
	const uint32_t n_clocks = (uint32_t)recording->n_clocks;
	struct matrix *matrix = &trial->matrix;
	double end = recording->lengths[0];
	uint32_t epoch = 0, thread;
	struct error error;

	check(matrix_make(matrix, recording->n_functions + 1, EPOCHS, n_clocks, trial->canary,
			  &error),
	      &error);
	trace_init(&trial->trace, TRACE_SAMPLES_MAX);
	check(trace_thread_at(&trial->trace, 1, 1, &thread, &error), &error);
	for (size_t f = 0; f <= recording->n_functions; f++) {
		snprintf(trial->names[f], sizeof(trial->names[f]), "f%zu", f);
		matrix->functions[f].name = trial->names[f];
		matrix->functions[f].module = "";
	}
	for (size_t i = 0; i < recording->n_samples; i++) {
		const struct sample *sample = &recording->samples[i];
		const struct trace_sample item = { .time_ns = time_ns(sample->time),
						   .function = sample->function,
						   .thread = thread,
						   .stream = sample->clock,
						   .column = sample->clock,
						   .cpu = UINT16_MAX };

		while (epoch + 1 < EPOCHS && sample->time >= end)
			end += recording->lengths[++epoch];
		if (sample->clock == n_clocks && !trial->canary)
			continue;
		*matrix_cell(matrix, sample->function, epoch, sample->clock) += 1;
		if (sample->clock < n_clocks) {
			matrix->functions[sample->function].samples++;
			matrix->samples++;
		} else {
			matrix->functions[sample->function].canary_samples++;
			matrix->canary_samples++;
		}
		check(trace_add(&trial->trace, &item, &error), &error);
	}
	trial->trace.n_streams = n_clocks + 1;
	if (trial->marks)
		marks_add(trial);
	trace_finish(&trial->trace);
}

static double design_effect(const struct trial *trial)
{
	struct estimate_shares shares;
	double effect = 1;
	struct error error;

	check(estimate_shares(&shares, &trial->recording.table, NULL, &error), &error);
	if (shares.design_effect > 0)
		effect = shares.design_effect;
	estimate_shares_release(&shares);
	return effect;
}

static void trial_examine(struct trial *trial, struct findings *findings)
{
	struct alias alias = { .matrix = &trial->matrix,
			       .trace = &trial->trace,
			       .randomised = true,
			       .timed = true,
			       .design_effect = design_effect(trial) };
	struct error error;

	alias.n_periods = alias_conventional(alias.periods_ns, floor(1e9 / trial->rate));
	alias.canary_period_ns[0] = 1e9 / trial->rate;
	findings_init(findings);
	check(alias_examine(&alias, findings, &error), &error);
	alias_release(&alias);
}

/* What the fixed clock of this recording shows, against the truth. */
struct truth {
	double error;     /* of its worst share */
	bool wrong_first; /* it puts another function first */
};

static struct truth truth_of(const struct trial *trial)
{
	const struct recording *recording = &trial->recording;
	double counts[FUNCTIONS_MAX] = { 0 }, n = 0;
	struct truth truth = { 0, false };
	size_t shown = 0, truly = 0;

	for (size_t i = 0; i < recording->n_samples; i++)
		if (recording->samples[i].clock == recording->n_clocks) {
			counts[recording->samples[i].function]++;
			n++;
		}
	for (size_t s = 0; s < recording->n_functions; s++) {
		truth.error = fmax(truth.error, fabs(counts[s] / n - recording->truth[s]));
		shown = counts[s] > counts[shown] ? s : shown;
		truly = recording->truth[s] > recording->truth[truly] ? s : truly;
	}
	truth.wrong_first = shown != truly;
	return truth;
}

static double number(const struct finding *finding, const char *key)
{
	for (size_t i = 0; i < finding->n_evidence; i++)
		if (!strcmp(finding->evidence[i].key, key))
			return finding->evidence[i].number;
	return NAN;
}

/* An exact cycle that is "harmless" for the clock under test may still be in step with one of the
 * conventional rates, all of which are tested: then the alarm is right. What the clock that the finding
 * names would show of the cycle, from its worst starting phase. */
static bool alarm_is_right(const struct trial *trial, const struct finding *finding)
{
	const struct recording *recording = &trial->recording;
	double period = number(finding, "clock_period_ns"), worst = 0;
	struct execution execution;

	if (trial->kind->behaviour != BEHAVIOUR_CYCLE)
		return false;
	if (isnan(period))
		period = number(finding, "period_ns");
	if (!execution_init(&execution, &trial->workload, recording->duration, trial->seed))
		abort();
	for (int offset = 0; offset < 50; offset++) {
		double counts[FUNCTIONS_MAX] = { 0 }, n = 0;

		for (double at = offset * period / 50e9; at < recording->duration;
		     at += period / 1e9) {
			double phase = fmod(at, trial->workload.cycle) / trial->workload.cycle;
			size_t s = 0;

			while (s + 1 < recording->n_functions &&
			       phase >= trial->workload.share[execution.order[s]])
				phase -= trial->workload.share[execution.order[s++]];
			counts[execution.order[s]]++;
			n++;
		}
		for (size_t s = 0; s < recording->n_functions; s++)
			worst = fmax(worst, fabs(counts[s] / n - trial->workload.share[s]));
	}
	execution_release(&execution);
	return worst >= 0.02;
}

static const char *evidence(const struct finding *finding, const char *key)
{
	for (size_t i = 0; i < finding->n_evidence; i++)
		if (!strcmp(finding->evidence[i].key, key))
			return finding->evidence[i].text;
	return NULL;
}

static void judge(const struct trial *trial, const struct findings *findings, struct rates *rates)
{
	const struct truth truth = truth_of(trial);
	bool locked = false, possible = false, flip = false;

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->items[i];
		const char *shown, *truly;

		if (strcmp(finding->code, CODE_ALIAS_FLIP)) {
			const bool wrong =
				!trial->kind->harmless || !alarm_is_right(trial, finding);

			locked |= wrong && !strcmp(finding->code, CODE_ALIAS_LOCKED);
			possible |= wrong && !strcmp(finding->code, CODE_ALIAS_POSSIBLE);
			continue;
		}
		flip = true;
		shown = evidence(finding, "shown_first");
		truly = evidence(finding, "truly_first");
		rates->flips++;
		rates->flips_right += trial->recording.truth[atoi(truly + 1)] >
				      trial->recording.truth[atoi(shown + 1)];
	}
	rates->n++;
	rates->error += truth.error;
	rates->locked += locked;
	rates->possible += possible;
	rates->alarms += locked || possible || flip;
	if (trial->canary && truth.wrong_first) {
		rates->wrong_first++;
		rates->wrong_first_flip += flip;
	}
	if (!trial->kind->harmless && truth.error > ERROR_COUNTED) {
		rates->wrong[trial->size]++;
		rates->found[trial->size] += locked || possible;
	}
}

static void alarms_print(const struct trial *trial, const struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		printf("  seed %llu, %.0f Hz, %zu fixed samples%s%s: %s: %s\n",
		       (unsigned long long)trial->seed, trial->rate,
		       sizes[trial->size].fixed_samples, trial->canary ? ", canary" : "",
		       trial->marks ? ", marks" : "", findings->items[i].code,
		       findings->items[i].text);
}

static void trial_run(const struct kind *kind, uint64_t seed, size_t number, bool verbose,
		      struct rates *rates)
{
	static const double clocks_hz[] = { 100,  131,  250,  487,  700, 997,
					    1000, 1250, 2000, 4000, 5000 };
	struct trial trial = { .kind = kind, .seed = seed };
	struct design design = design_standard();
	double lengths[EPOCHS];
	struct findings findings;

	random_init(&trial.random, seed, 11, 0, 0);
	trial.size = number % SIZES;
	trial.canary = number / SIZES % 2;
	trial.marks = number / (2 * SIZES) % 3 == 0;
	trial.rate =
		clocks_hz[random_below(&trial.random, sizeof(clocks_hz) / sizeof(clocks_hz[0]))];
	trial.workload = workload_draw(&trial);
	design.rate = 2 * trial.rate;
	design.canary_rate = trial.rate;
	design.redraw_keeps = true;
	epochs_uniform(lengths, EPOCHS,
		       (double)sizes[trial.size].fixed_samples / trial.rate / EPOCHS, 0.4, seed);
	if (!recording_make(&trial.recording, &trial.workload, &design, lengths, EPOCHS, seed))
		abort();
	trial_fill(&trial);
	trial_examine(&trial, &findings);
	judge(&trial, &findings, rates);
	if (verbose && kind->harmless)
		alarms_print(&trial, &findings);
	findings_release(&findings);
	trace_release(&trial.trace);
	matrix_release(&trial.matrix);
	recording_release(&trial.recording);
	workload_free(&trial.workload);
}

/* ---- the tables ---- */

static double percent(size_t hits, size_t n)
{
	return n ? 100.0 * (double)hits / (double)n : NAN;
}

static void row_print(const struct kind *kind, const struct rates *rates)
{
	printf("%-28s %5zu %8.1f %8.1f %8.1f   ", kind->name, rates->n,
	       percent(rates->locked, rates->n), percent(rates->possible, rates->n),
	       100 * rates->error / (double)rates->n);
	for (size_t i = 0; i < SIZES; i++)
		if (rates->wrong[i])
			printf("%5.0f/%-4zu", percent(rates->found[i], rates->wrong[i]),
			       rates->wrong[i]);
		else
			printf("%9s ", "-");
	printf(" %3zu/%zu\n", rates->flips_right, rates->flips);
}

static void rates_add(struct rates *sum, const struct rates *rates)
{
	sum->n += rates->n;
	sum->alarms += rates->alarms;
	sum->flips += rates->flips;
	sum->flips_right += rates->flips_right;
	sum->wrong_first += rates->wrong_first;
	sum->wrong_first_flip += rates->wrong_first_flip;
	for (size_t i = 0; i < SIZES; i++) {
		sum->wrong[i] += rates->wrong[i];
		sum->found[i] += rates->found[i];
	}
}

/* `slack` standard errors of a rate that just meets its limit are forgiven. */
static bool claim(const char *what, size_t hits, size_t n, double limit, bool at_most, double slack)
{
	const double rate = n ? (double)hits / (double)n : 0;
	const double error = n ? slack * sqrt(limit * (1 - limit) / (double)n) : 1;
	const bool held = at_most ? rate <= limit + error : rate >= limit - error;

	printf("%s %s: %zu of %zu (%.1f %%), limit %.0f %%\n", held ? "held  " : "MISSED", what,
	       hits, n, 100 * rate, 100 * limit);
	return held;
}

int main(int argc, char **argv)
{
	struct rates harmless = { 0 }, locking = { 0 };
	size_t divisor = 1, n_harmless = 0, n_locking = 0;
	uint64_t seed = 20261130;
	const char *only = NULL;
	bool held = true, verbose = false;
	char text[96];
	double slack = 0;

	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], "--short")) {
			divisor = SHORT_DIVISOR;
			slack = 4;
		} else if (!strcmp(argv[i], "--verbose")) {
			verbose = true;
		} else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
			only = argv[++i];
		} else {
			seed = strtoull(argv[i], NULL, 10);
		}
	for (size_t k = 0; k < KINDS; k++)
		*(kinds[k].harmless ? &n_harmless : &n_locking) += 1;
	printf("%-28s %5s %8s %8s %8s   %s\n", "program", "n", "locked%", "possib.%", "error",
	       "recall%/n at 300, 1000, 3000   flips right");
	for (size_t k = 0; k < KINDS; k++) {
		const size_t n = (kinds[k].harmless ? FULL_HARMLESS / n_harmless
						    : FULL_LOCKING / n_locking) /
				 divisor;
		struct rates rates = { 0 };

		if (only && strcmp(only, kinds[k].harmless ? "harmless" : kinds[k].name))
			continue;
		for (size_t i = 0; i < n; i++)
			trial_run(&kinds[k], seed * 1000003 + k * 10007 + i, i, verbose, &rates);
		row_print(&kinds[k], &rates);
		fflush(stdout);
		rates_add(kinds[k].harmless ? &harmless : &locking, &rates);
	}
	printf("\n");
	held &= claim("false alarms", harmless.alarms, harmless.n, FALSE_ALARMS_MAX, true, slack);
	for (size_t i = 0; i < SIZES; i++) {
		snprintf(text, sizeof(text), "recall of errors above 5 points, %zu fixed samples",
			 sizes[i].fixed_samples);
		held &= claim(text, locking.found[i], locking.wrong[i], sizes[i].recall, false,
			      slack);
	}
	held &= claim("alias-flip is right", harmless.flips_right + locking.flips_right,
		      harmless.flips + locking.flips, FLIP_PRECISION, false, slack);
	printf("       a wrong first place was told by alias-flip in %zu of %zu recordings with a "
	       "canary\n",
	       locking.wrong_first_flip, locking.wrong_first);
	return !held;
}
