/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recording made by hand for tests of what looks at samples: a program whose functions follow from the
 * time, sampled by given clocks; matrix and trace as the diagnosis has them.
 */
#ifndef ASSAY_TESTS_DIAGNOSE_SCENE_H
#define ASSAY_TESTS_DIAGNOSE_SCENE_H

#include <math.h>
#include <string.h>

#include "base/random.h"
#include "diagnose/alias.h"
#include "support/test.h"

#define SCENE_EPOCHS    20
#define SCENE_FUNCTIONS 4

struct scene {
	struct matrix matrix;
	struct trace trace;
	struct alias alias;
	struct findings findings;
	struct random random;
	double length_ns;
	/* which function runs at this time */
	uint32_t (*function_at)(double time_ns, struct random *random);
};

static inline void scene_sample(struct scene *scene, double time_ns, uint32_t column)
{
	const uint32_t epoch = (uint32_t)(time_ns / scene->length_ns * SCENE_EPOCHS);
	struct trace_sample sample = { .time_ns = 1000000000u + (uint64_t)time_ns,
				       .column = (uint16_t)column,
				       .stream = column,
				       .cpu = UINT16_MAX };

	sample.function = scene->function_at(time_ns, &scene->random);
	*matrix_cell(&scene->matrix, sample.function,
		     epoch < SCENE_EPOCHS ? epoch : SCENE_EPOCHS - 1, column) += 1;
	if (column < scene->matrix.n_clocks) {
		scene->matrix.samples++;
		scene->matrix.functions[sample.function].samples++;
	} else {
		scene->matrix.canary_samples++;
		scene->matrix.functions[sample.function].canary_samples++;
	}
	assert_int_equal(trace_add(&scene->trace, &sample, NULL), STATUS_OK);
}

/* Two randomised clocks of `rate_hz` together, and a canary of `canary_hz` (0: none), for `seconds`. */
static inline void scene_make(struct scene *scene, double seconds, double rate_hz, double canary_hz,
			      uint32_t (*function_at)(double, struct random *))
{
	static const char *const names[SCENE_FUNCTIONS + 1] = { "red", "green", "blue", "grey",
								"(others)" };
	const double mean = 2e9 / rate_hz;
	uint32_t thread;

	memset(scene, 0, sizeof(*scene));
	scene->length_ns = seconds * 1e9;
	scene->function_at = function_at;
	random_init(&scene->random, 1, 1, 2, 3);
	findings_init(&scene->findings);
	assert_int_equal(matrix_make(&scene->matrix, SCENE_FUNCTIONS + 1, SCENE_EPOCHS, 2,
				     canary_hz > 0, NULL),
			 STATUS_OK);
	for (size_t f = 0; f <= SCENE_FUNCTIONS; f++) {
		scene->matrix.functions[f].name = names[f];
		scene->matrix.functions[f].module = "prog";
	}
	trace_init(&scene->trace, TRACE_SAMPLES_MAX);
	assert_int_equal(trace_thread_at(&scene->trace, 9, 9, &thread, NULL), STATUS_OK);
	for (uint32_t k = 0; k < 2; k++)
		for (double at = mean * random_double(&scene->random); at < scene->length_ns;
		     at += mean * (0.5 + random_double(&scene->random)))
			scene_sample(scene, at, k);
	for (double at = 1e5; canary_hz > 0 && at < scene->length_ns; at += 1e9 / canary_hz)
		scene_sample(scene, at, 2);
	scene->trace.n_streams = 3;
	scene->alias = (struct alias){ .matrix = &scene->matrix,
				       .trace = &scene->trace,
				       .randomised = true,
				       .timed = true,
				       .design_effect = 1 };
	scene->alias.canary_period_ns[0] = canary_hz > 0 ? 1e9 / canary_hz : 0;
	scene->alias.n_periods = alias_conventional(scene->alias.periods_ns, 0);
}

static inline void scene_release(struct scene *scene)
{
	alias_release(&scene->alias);
	findings_release(&scene->findings);
	matrix_release(&scene->matrix);
	trace_release(&scene->trace);
}

/* ---- programs ---- */

/* 45 % red, 30 % green, 20 % blue, 5 % grey, by chance */
static inline uint32_t by_chance(double time_ns, struct random *random)
{
	const double u = random_double(random);

	(void)time_ns;
	return u < 0.45 ? 0 : u < 0.75 ? 1 : u < 0.95 ? 2 : 3;
}

/* the same shares in an exact cycle of 1 ms */
static inline uint32_t in_cycle_of_1ms(double time_ns, struct random *random)
{
	const double phase = fmod(time_ns, 1e6) / 1e6;

	(void)random;
	return phase < 0.45 ? 0 : phase < 0.75 ? 1 : phase < 0.95 ? 2 : 3;
}

#endif
