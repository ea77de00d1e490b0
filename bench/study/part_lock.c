/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Would a fixed clock of 1 kHz be locked? Virtual canary, a real canary, markers and the flip test, on
 * programs that are harmless and on programs that are not. N fixed and 2N randomised samples.
 */
#include <math.h>
#include <stdlib.h>

#include "estimate/flip.h"
#include "estimate/lock.h"
#include "estimate/marker.h"
#include "study/sampler.h"
#include "study/study.h"

#define T0         1e-3
#define RECORDINGS 600
#define EPOCHS     20
#define PROFILE    9

static const double profile[PROFILE] = { 24, 20, 16, 12, 9, 7, 5, 4, 3 };

struct program {
	const char *name;
	enum behaviour behaviour;
	double cycle, part, stretch_min, stretch_max, concentration;
	bool harmless;
	bool claimed; /* full lock and simple ratios: must be found */
};

static const struct program programs[] = {
	{ "iid", BEHAVIOUR_IID, T0, 0, 0, 0, 0, true, false },
	{ "phases of 1-2 s", BEHAVIOUR_PHASES, T0, 0, 1, 2, 14, true, false },
	{ "random stretches of 0.2 s", BEHAVIOUR_PHASES, T0, 0, 0.2, 0.2, 49, true, false },
	{ "phases of 20-40 ms", BEHAVIOUR_PHASES, T0, 0, 0.02, 0.04, 14, true, false },
	{ "golden ratio", BEHAVIOUR_CYCLE, T0 * 0.6180339887, 0, 0, 0, 0, true, false },
	{ "wobbling cycle of 5 ms", BEHAVIOUR_WOBBLE, 5e-3, 0, 0, 0, 0, true, false },
	{ "full lock", BEHAVIOUR_CYCLE, T0, 0, 0, 0, 0, false, true },
	{ "ratio 3/2", BEHAVIOUR_CYCLE, T0 * 2 / 3, 0, 0, 0, 0, false, true },
	{ "ratio 4/3", BEHAVIOUR_CYCLE, T0 * 3 / 4, 0, 0, 0, 0, false, true },
	{ "ratio 6/5", BEHAVIOUR_CYCLE, T0 * 5 / 6, 0, 0, 0, 0, false, true },
	{ "locked half of the time", BEHAVIOUR_PARTLY, T0, 0.5, 0, 0, 0, false, false },
	{ "periodic 20 % of the time", BEHAVIOUR_PARTLY, T0, 0.2, 0, 0, 0, false, false },
	{ "periodic 10 % of the time", BEHAVIOUR_PARTLY, T0, 0.1, 0, 0, 0, false, false },
};

#define PROGRAMS (sizeof(programs) / sizeof(programs[0]))

struct found {
	size_t n, virtual_canary, canary, marker, step;
	size_t bounded, any_value, detected; /* true error below the bound, of those detected */
	size_t flips, flips_right, wrong_first;
	double error; /* of the fixed clock's worst function, summed */
};

struct views {
	double *times, *fixed;
	uint32_t *functions;
	uint64_t *by_fixed, *by_random;
	size_t n_random, n_fixed;
};

static void views_split(struct views *views, const struct recording *recording)
{
	*views = (struct views){
		.times = calloc(recording->n_samples + 1, sizeof(double)),
		.fixed = calloc(recording->n_samples + 1, sizeof(double)),
		.functions = calloc(recording->n_samples + 1, sizeof(uint32_t)),
		.by_fixed = calloc(recording->n_functions, sizeof(uint64_t)),
		.by_random = calloc(recording->n_functions, sizeof(uint64_t)),
	};
	for (size_t i = 0; i < recording->n_samples; i++) {
		const struct sample *sample = &recording->samples[i];

		if (sample->clock == recording->n_clocks) {
			views->fixed[views->n_fixed++] = sample->time;
			views->by_fixed[sample->function]++;
		} else {
			views->times[views->n_random] = sample->time;
			views->functions[views->n_random++] = sample->function;
			views->by_random[sample->function]++;
		}
	}
}

static void views_release(struct views *views)
{
	free(views->times);
	free(views->fixed);
	free(views->functions);
	free(views->by_fixed);
	free(views->by_random);
}

static void lock_add(struct found *found, const struct views *views,
		     const struct recording *recording)
{
	const double period = T0;
	struct estimate_lock lock;
	double worst = 0;

	if (estimate_virtual_canary(&lock, views->times, views->functions, views->n_random,
				    recording->n_functions, &period, 1, 1e9, NULL) != STATUS_OK)
		abort();
	for (size_t s = 0; s < recording->n_functions; s++)
		worst = fmax(worst, fabs((double)views->by_fixed[s] / (double)views->n_fixed -
					 recording->truth[s]));
	found->error += worst;
	found->virtual_canary += lock.p_value < 0.01;
	if (lock.p_value >= 0.01)
		return;
	found->detected++;
	found->any_value += lock.functions[lock.worst].any_value;
	found->bounded += worst <= lock.error_hi;
}

static void canary_add(struct found *found, const struct recording *recording)
{
	struct estimate_canary canary;

	if (estimate_canary(&canary, &recording->canary, &recording->table, NULL) != STATUS_OK)
		abort();
	found->canary += canary.worst.p_value < 0.01;
	estimate_canary_release(&canary);
}

/* The program marks every start of its cycle. */
static void marker_add(struct found *found, const struct views *views,
		       const struct recording *recording, double cycle)
{
	double *phases = calloc(views->n_random + views->n_fixed + 1, sizeof(*phases));
	double *of_fixed = phases + views->n_random;
	struct estimate_marker marker;

	for (size_t i = 0; i < views->n_random; i++)
		phases[i] = fmod(views->times[i] / cycle, 1);
	for (size_t i = 0; i < views->n_fixed; i++)
		of_fixed[i] = fmod(views->fixed[i] / cycle, 1);
	if (estimate_marker(&marker, of_fixed, views->n_fixed, phases, views->functions,
			    views->n_random, recording->n_functions, 1, NULL) != STATUS_OK)
		abort();
	found->step += marker.fixed.p_value < 0.01;
	found->marker += marker.fixed.p_value < 0.01 && marker.dependence_p < 0.01;
	estimate_marker_release(&marker);
	free(phases);
}

static void flip_add(struct found *found, const struct views *views,
		     const struct recording *recording)
{
	struct estimate_shares shares;
	struct estimate_flip flip;
	size_t first = 0, shown = 0;

	if (estimate_shares(&shares, &recording->table, NULL, NULL) != STATUS_OK)
		abort();
	flip = estimate_flip(views->by_fixed, views->by_random, recording->n_functions,
			     shares.design_effect, 0);
	for (size_t s = 1; s < recording->n_functions; s++) {
		if (recording->truth[s] > recording->truth[first])
			first = s;
		if (views->by_fixed[s] > views->by_fixed[shown])
			shown = s;
	}
	found->wrong_first += first != shown;
	if (flip.p_value < 0.01) {
		found->flips++;
		found->flips_right += first != shown;
	}
	estimate_shares_release(&shares);
}

static void program_run(struct found *found, const struct program *program, size_t n,
			size_t recordings, uint64_t seed)
{
	struct workload workload =
		workload_new(program->name, program->behaviour, profile, PROFILE);
	struct design design = design_standard();
	double lengths[EPOCHS];

	workload.cycle = program->cycle;
	workload.part = program->part;
	workload.stretch_min = program->stretch_min;
	workload.stretch_max = program->stretch_max;
	workload.concentration = program->concentration;
	design.rate = 2 / T0;
	design.redraw_keeps = true;
	design.canary_rate = 1 / T0;
	*found = (struct found){ .n = recordings };
	for (size_t r = 0; r < recordings; r++) {
		struct recording recording;
		struct views views;

		epochs_uniform(lengths, EPOCHS, (double)n * T0 / EPOCHS, 0.4, seed + r);
		if (!recording_make(&recording, &workload, &design, lengths, EPOCHS, seed + r))
			abort();
		views_split(&views, &recording);
		lock_add(found, &views, &recording);
		canary_add(found, &recording);
		marker_add(found, &views, &recording, program->cycle);
		flip_add(found, &views, &recording);
		views_release(&views);
		recording_release(&recording);
	}
	workload_free(&workload);
}

void part_lock(struct study *study)
{
	const size_t sizes[] = { 300, 1000, 3000 };
	struct found flips = { 0 };

	fprintf(study->out,
		"\n## Locked clocks: found at p < 0.01, %% (N fixed + 2N randomised samples; T0 = "
		"1 ms)\n"
		"    %-26s %5s  virtual  canary  in step  markers  error (points)  below bound "
		"(any value)\n",
		"", "N");
	for (size_t i = 0; i < PROGRAMS; i++)
		for (size_t j = 0; j < 3; j++) {
			const size_t n = study_recordings(study, sizes[j] > 1000 ? RECORDINGS / 4
										 : RECORDINGS);
			struct found found;

			if (study->brief && j != 1)
				continue;
			program_run(&found, &programs[i], sizes[j], n,
				    1000000 * (700 + 10 * i + j));
			fprintf(study->out,
				"    %-26s %5zu  %6.1f  %6.1f  %6.1f  %6.1f  %10.1f  %14.0f "
				"(%.0f)\n",
				programs[i].name, sizes[j],
				100 * (double)found.virtual_canary / (double)n,
				100 * (double)found.canary / (double)n,
				100 * (double)found.step / (double)n,
				100 * (double)found.marker / (double)n,
				100 * found.error / (double)n,
				100 * (double)found.bounded / fmax(1, (double)found.detected),
				100 * (double)found.any_value / fmax(1, (double)found.detected));
			if (programs[i].harmless) {
				study_at_most(study, found.virtual_canary, n, 0.03,
					      "%s, N = %zu: virtual canary accuses",
					      programs[i].name, sizes[j]);
				study_at_most(study, found.canary, n, 0.03,
					      "%s, N = %zu: canary accuses", programs[i].name,
					      sizes[j]);
				if (programs[i].behaviour !=
				    BEHAVIOUR_WOBBLE) /* nobody marks its turns */
					study_at_most(study, found.marker, n, 0.05,
						      "%s, N = %zu: markers accuse",
						      programs[i].name, sizes[j]);
			}
			if (programs[i].claimed && sizes[j] >= 1000)
				study_at_least(study, found.virtual_canary, n, 0.95,
					       "%s, N = %zu: virtual canary finds it",
					       programs[i].name, sizes[j]);
			flips.flips += found.flips;
			flips.flips_right += found.flips_right;
			flips.wrong_first += found.wrong_first;
		}
	fprintf(study->out,
		"    flip test: of %zu wrong first functions %zu warned of; of %zu warnings %zu "
		"right\n",
		flips.wrong_first, flips.flips_right, flips.flips, flips.flips_right);
	study_at_least(study, flips.flips_right, flips.flips, 0.99,
		       "flip test: warnings that are right");
}
