/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The watch is a thread, so these tests wait for what it says; how long that takes decides nothing.
 */
#include "unit/until/bundle.h"
#include "until/watch.h"

#define PATIENCE 6000 /* turns of 10 ms */

static const struct scenario apart = { .epochs = 30,
				       .samples_per_cell = 100,
				       .shares = { 0.4, 0.24, 0.18, 0.12, 0.06 } };
static const struct scenario tie = { .epochs = 30,
				     .samples_per_cell = 100,
				     .shares = { 0.25, 0.25, 0.25, 0.15, 0.1 } };

struct scene {
	struct made made;
	struct until_question question;
	struct until_watch *watch;
};

static void scene_make(struct scene *scene, const struct scenario *scenario, const char *word,
		       double cpu_share)
{
	const struct until_watch_options options = { .path = "out.assay",
						     .question = &scene->question,
						     .cpu_share = cpu_share };

	bundle_make(&scene->made, scenario);
	scene->question = question_of(word);
	assert_int_equal(until_watch_new(&scene->watch, sys_real(), &options, NULL), STATUS_OK);
}

static void scene_end(struct scene *scene)
{
	until_watch_free(scene->watch);
	bundle_remove(&scene->made);
}

/* Asks until there have been `looks`, or a decision. */
static bool ask_for(struct scene *scene, uint64_t epochs, uint64_t looks)
{
	uint64_t cpu_ns;

	for (int i = 0; i < PATIENCE; i++) {
		if (until_watch_ask(scene->watch, epochs))
			return true;
		if (until_watch_looks(scene->watch, &cpu_ns) >= looks)
			return false;
		usleep(10000);
	}
	fail_msg("no look came");
	return false;
}

static void looks_are_a_tenth_of_the_epochs_apart(void **state)
{
	(void)state;
	assert_int_equal(until_watch_next(12), 13);
	assert_int_equal(until_watch_next(29), 31);
	assert_int_equal(until_watch_next(1000), 1100);
}

static void nobody_looks_before_the_twelfth_epoch(void **state)
{
	struct until_answer answer;
	struct scene scene;
	uint64_t cpu_ns;

	(void)state;
	scene_make(&scene, &apart, "top=1", 1);
	for (int i = 0; i < 20; i++)
		assert_false(until_watch_ask(scene.watch, 11));
	assert_int_equal(until_watch_looks(scene.watch, &cpu_ns), 0);
	assert_int_equal(cpu_ns, 0);
	assert_false(until_watch_latest(scene.watch, &answer));
	scene_end(&scene);
}

static void a_settled_question_ends_the_recording_and_stays_settled(void **state)
{
	struct scene scene;
	uint64_t cpu_ns;

	(void)state;
	scene_make(&scene, &apart, "top=1", 1);
	assert_true(ask_for(&scene, 30, 100));
	assert_int_equal(until_watch_decision(scene.watch)->state, UNTIL_SETTLED);
	assert_string_equal(until_watch_decision(scene.watch)->text, "parse is first");
	assert_int_equal(until_watch_looks(scene.watch, &cpu_ns), 1);
	assert_true(cpu_ns > 0);
	assert_true(until_watch_ask(scene.watch, 1000));
	assert_int_equal(until_watch_looks(scene.watch, &cpu_ns), 1);
	scene_end(&scene);
}

static void
an_open_question_goes_on_and_is_looked_at_again_only_when_epochs_have_grown(void **state)
{
	struct until_answer answer;
	struct scene scene;
	uint64_t cpu_ns;

	(void)state;
	scene_make(&scene, &tie, "top=1", 1e6);
	assert_false(ask_for(&scene, 30, 1));
	assert_true(until_watch_latest(scene.watch, &answer));
	assert_int_equal(answer.state, UNTIL_OPEN);
	for (int i = 0; i < 20; i++)
		assert_false(until_watch_ask(scene.watch, 32));
	assert_int_equal(until_watch_looks(scene.watch, &cpu_ns), 1);
	assert_false(ask_for(&scene, 33, 2));
	scene_end(&scene);
}

static void looks_after_the_first_are_paid_for_by_waiting(void **state)
{
	struct until_watch_debt debt = { 0 };

	(void)state;
	until_watch_pay(&debt, 500000000); /* the symbols */
	assert_int_equal(until_watch_due(&debt, 0.002), 0);
	until_watch_pay(&debt, 10000000);
	until_watch_pay(&debt, 10000000);
	/* 20 ms are free */
	assert_int_equal(until_watch_due(&debt, 0.002), 0);
	until_watch_pay(&debt, 2000000);
	assert_int_equal(until_watch_due(&debt, 0.002), 1000000000);
	assert_int_equal(until_watch_due(&debt, 0.05), 40000000);
}

static void a_look_that_was_dear_for_once_does_not_block_the_next_for_ever(void **state)
{
	struct until_watch_debt debt = { 0 };

	(void)state;
	until_watch_pay(&debt, 500000000);
	until_watch_pay(&debt, 4000000);
	until_watch_pay(&debt, 900000000); /* counts like 12 ms */
	until_watch_pay(&debt, 5000000);
	assert_int_equal(until_watch_due(&debt, 0.001), 1000000000);
}

static void a_watch_that_never_looked_ends_at_once(void **state)
{
	(void)state;
	until_watch_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(looks_are_a_tenth_of_the_epochs_apart),
		cmocka_unit_test(nobody_looks_before_the_twelfth_epoch),
		cmocka_unit_test(a_settled_question_ends_the_recording_and_stays_settled),
		cmocka_unit_test(
			an_open_question_goes_on_and_is_looked_at_again_only_when_epochs_have_grown),
		cmocka_unit_test(looks_after_the_first_are_paid_for_by_waiting),
		cmocka_unit_test(a_look_that_was_dear_for_once_does_not_block_the_next_for_ever),
		cmocka_unit_test(a_watch_that_never_looked_ends_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
