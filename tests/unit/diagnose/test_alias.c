/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Single scenes with fixed seeds; how often the findings are right over many programs is
 * bench/alias_rates.c, whose short form is a test, too.
 */
#include "support/test.h"

#include <stdio.h>

#include "diagnose/finding_code.h"
#include "unit/diagnose/scene.h"

static void examine(struct scene *scene)
{
	assert_int_equal(alias_examine(&scene->alias, &scene->findings, NULL), STATUS_OK);
}

static const struct alias_candidate *candidate(const struct scene *scene, const char *part)
{
	for (size_t i = 0; i < scene->alias.n; i++)
		if (strstr(scene->alias.candidates[i].source, part))
			return &scene->alias.candidates[i];
	fail_msg("no candidate like %s", part);
	return NULL;
}

static const struct finding_function *touched(const struct finding *finding, const char *name)
{
	for (size_t i = 0; i < finding->n_functions; i++)
		if (!strcmp(finding->functions[i].name, name))
			return &finding->functions[i];
	return NULL;
}

static void a_cycle_of_1_ms_locks_clocks_of_1000_hz_and_its_divisors_only(void **state)
{
	struct scene scene;
	const struct finding *finding;

	(void)state;
	scene_make(&scene, 4, 400, 0, in_cycle_of_1ms);
	examine(&scene);
	finding = findings_find(&scene.findings, CODE_ALIAS_LOCKED);
	assert_non_null(finding);
	assert_int_equal(candidate(&scene, "of 1000 Hz")->verdict, ESTIMATE_LOCK_LOCKED);
	assert_int_equal(candidate(&scene, "of 100 Hz")->verdict, ESTIMATE_LOCK_LOCKED);
	assert_int_equal(candidate(&scene, "of 250 Hz")->verdict, ESTIMATE_LOCK_LOCKED);
	assert_int_equal(candidate(&scene, "of 997 Hz")->verdict, ESTIMATE_LOCK_NONE);
	assert_int_equal(candidate(&scene, "of 999 Hz")->verdict, ESTIMATE_LOCK_NONE);
	assert_int_equal(candidate(&scene, "of 99 Hz")->verdict, ESTIMATE_LOCK_NONE);
	/* the recording itself was randomised: no bias of its own */
	assert_int_equal(finding->severity, FINDING_WARNING);
	assert_true(finding->elsewhere);
	/* red runs 45 % of each cycle: a locked clock shows 0 or 100 % of it */
	assert_non_null(touched(finding, "red"));
	assert_true(touched(finding, "red")->error_hi >= 0.5);
	assert_null(touched(finding, "(others)"));
	scene_release(&scene);
}

static void a_program_without_a_cycle_raises_no_alarm(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, 4, 400, 250, by_chance);
	examine(&scene);
	if (scene.findings.n)
		fail_msg("%s", scene.findings.items[0].text);
	/* and says below what size an error would have gone unnoticed */
	assert_true(candidate(&scene, "of 1000 Hz")->missed > 0.01);
	assert_true(candidate(&scene, "of 1000 Hz")->missed < 0.2);
	scene_release(&scene);
}

/* The canary starts at 0.1 ms and comes back there: always in red; by chance of its phase, red 100 %. */
static void a_canary_that_locks_is_told_with_the_functions_it_gets_wrong(void **state)
{
	struct scene scene;
	const struct finding *finding;

	(void)state;
	scene_make(&scene, 4, 400, 200, in_cycle_of_1ms);
	examine(&scene);
	assert_int_equal(candidate(&scene, "canary of 200 Hz")->verdict, ESTIMATE_LOCK_LOCKED);
	for (size_t i = 0; i < scene.findings.n; i++) {
		finding = &scene.findings.items[i];
		if (strstr(finding->text, "canary of 200 Hz") &&
		    !strcmp(finding->code, CODE_ALIAS_LOCKED))
			break;
		finding = NULL;
	}
	assert_non_null(finding);
	assert_true(fabs(touched(finding, "red")->error_hi - 0.55) < 0.1);
	/* red is first for both: no flip */
	assert_null(findings_find(&scene.findings, CODE_ALIAS_FLIP));
	scene_release(&scene);
}

/* The cycle turned by half: at 0.1 ms green runs, though red takes most. */
static uint32_t turned_cycle(double time_ns, struct random *random)
{
	return in_cycle_of_1ms(time_ns + 0.5e6, random);
}

static void a_canary_that_puts_the_wrong_function_first_is_a_flip(void **state)
{
	struct scene scene;
	const struct finding *finding;

	(void)state;
	scene_make(&scene, 4, 400, 200, turned_cycle);
	examine(&scene);
	finding = findings_find(&scene.findings, CODE_ALIAS_FLIP);
	assert_non_null(finding);
	assert_string_equal(finding->evidence[1].text, "green"); /* shown_first */
	assert_string_equal(finding->evidence[2].text, "red");   /* truly_first */
	scene_release(&scene);
}

/* Two functions of 40 % each: by chance a canary has the one before the other, which is no lock. */
static uint32_t near_tie(double time_ns, struct random *random)
{
	const double u = random_double(random);

	(void)time_ns;
	return u < 0.42 ? 0 : u < 0.80 ? 1 : u < 0.95 ? 2 : 3;
}

static void a_near_tie_that_a_small_canary_has_the_other_way_round_is_no_flip(void **state)
{
	size_t swapped = 0;

	(void)state;
	for (int length = 1; length <= 12; length++) {
		struct scene scene;

		scene_make(&scene, 3 + length, 2000, 40, near_tie);
		swapped += scene.matrix.functions[1].canary_samples >
			   scene.matrix.functions[0].canary_samples;
		examine(&scene);
		assert_null(findings_find(&scene.findings, CODE_ALIAS_FLIP));
		scene_release(&scene);
	}
	assert_true(swapped > 0); /* else nothing was tested */
}

static void marks_of_a_cycle_lock_a_clock_that_divides_it(void **state)
{
	struct scene scene;
	const struct alias_candidate *in_step, *free_running;

	(void)state;
	scene_make(&scene, 4, 400, 0, in_cycle_of_1ms);
	for (uint64_t i = 0; i < 4000; i++)
		assert_int_equal(
			trace_mark(&scene.trace, "iteration", 9, 1000000000u + i * 1000000u, NULL),
			STATUS_OK);
	trace_finish(&scene.trace);
	examine(&scene);
	in_step = candidate(&scene, "iteration of thread 9 against 1000 Hz");
	free_running = candidate(&scene, "iteration of thread 9 against 997 Hz");
	assert_int_equal(in_step->verdict, ESTIMATE_LOCK_LOCKED);
	assert_true(in_step->period_ns == 1e6);
	assert_true(in_step->concentration > 0.99);
	assert_int_equal(free_running->verdict, ESTIMATE_LOCK_NONE);
	assert_true(free_running->concentration < 0.05);
	scene_release(&scene);
}

/* In step with its marks, but what runs does not depend on them: harmless, and not called locked. */
static void marks_in_step_do_no_harm_when_functions_do_not_care(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, 4, 400, 0, by_chance);
	for (uint64_t i = 0; i < 4000; i++)
		assert_int_equal(
			trace_mark(&scene.trace, "iteration", 9, 1000000000u + i * 1000000u, NULL),
			STATUS_OK);
	trace_finish(&scene.trace);
	examine(&scene);
	assert_true(candidate(&scene, "iteration of thread 9 against 1000 Hz")->p_value < 1e-6);
	assert_int_equal(scene.findings.n, 0);
	scene_release(&scene);
}

/* A recording with a fixed clock alone: its own clock against the marks is all there is. */
static void without_randomised_clocks_marks_tell_that_the_own_clock_is_in_step(void **state)
{
	struct scene scene;
	const struct finding *finding;

	(void)state;
	scene_make(&scene, 4, 400, 0, in_cycle_of_1ms);
	trace_release(&scene.trace);
	trace_init(&scene.trace, TRACE_SAMPLES_MAX);
	scene.alias.randomised = false;
	scene.alias.own_period_ns = 1e6;
	for (uint64_t i = 0; i < 4000; i++) {
		scene_sample(&scene, (double)i * 1e6 + 3e5, 0);
		assert_int_equal(
			trace_mark(&scene.trace, "iteration", 9, 1000000000u + i * 1000000u, NULL),
			STATUS_OK);
	}
	trace_finish(&scene.trace);
	examine(&scene);
	finding = findings_find(&scene.findings, CODE_ALIAS_POSSIBLE);
	assert_non_null(finding);
	assert_false(finding->elsewhere);
	findings_release(&scene.findings);
	alias_release(&scene.alias);
	scene.alias.own_period_ns = 1e9 / 997; /* another rate: ticks everywhere */
	examine(&scene);
	assert_int_equal(scene.findings.n, 0);
	scene_release(&scene);
}

static void few_samples_say_why_they_cannot_be_tested(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, 0.05, 400, 0, in_cycle_of_1ms);
	examine(&scene);
	assert_int_equal(scene.findings.n, 0);
	assert_non_null(candidate(&scene, "of 1000 Hz")->why);
	scene_release(&scene);
}

static void rates_are_named_as_users_type_them(void **state)
{
	double periods[ALIAS_PERIODS_MAX];
	char text[48];

	(void)state;
	assert_int_equal(alias_conventional(periods, 0), 7);
	assert_int_equal(alias_conventional(periods, 1e6), 7);    /* 1000 Hz is among them */
	assert_int_equal(alias_conventional(periods, 123456), 8); /* the user's own comes first */
	assert_true(periods[0] == 123456);
	assert_string_equal(alias_rate_name(1e6, text, sizeof(text)), "1000 Hz");
	assert_string_equal(alias_rate_name(1003009, text, sizeof(text)), "997 Hz");
	assert_string_equal(alias_rate_name(2345678, text, sizeof(text)), "a period of 2.34568 ms");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cycle_of_1_ms_locks_clocks_of_1000_hz_and_its_divisors_only),
		cmocka_unit_test(a_program_without_a_cycle_raises_no_alarm),
		cmocka_unit_test(a_canary_that_locks_is_told_with_the_functions_it_gets_wrong),
		cmocka_unit_test(a_canary_that_puts_the_wrong_function_first_is_a_flip),
		cmocka_unit_test(a_near_tie_that_a_small_canary_has_the_other_way_round_is_no_flip),
		cmocka_unit_test(marks_of_a_cycle_lock_a_clock_that_divides_it),
		cmocka_unit_test(marks_in_step_do_no_harm_when_functions_do_not_care),
		cmocka_unit_test(
			without_randomised_clocks_marks_tell_that_the_own_clock_is_in_step),
		cmocka_unit_test(few_samples_say_why_they_cannot_be_tested),
		cmocka_unit_test(rates_are_named_as_users_type_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
