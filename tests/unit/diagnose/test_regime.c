/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include "diagnose/finding_code.h"
#include "diagnose/regime.h"
#include "unit/diagnose/contract.h"
#include "unit/diagnose/scene.h"

struct fixture {
	struct scene scene;
	struct regimes regimes;
	struct epochs epochs;
	struct contract contract;
};

static void find(struct fixture *f, bool contract)
{
	f->epochs = (struct epochs){ .n = SCENE_EPOCHS };
	for (uint32_t e = 0; e < SCENE_EPOCHS; e++)
		f->epochs.start_ns[e] = 1000000000u + e * 200000000u;
	assert_int_equal(regimes_find(&f->regimes, &f->scene.matrix, &f->epochs,
				      contract ? &f->contract.manifest : NULL, 5000000000u, 1,
				      NULL),
			 STATUS_OK);
	regimes_findings(&f->scene.findings, &f->regimes, &f->scene.matrix, true);
}

static void release(struct fixture *f)
{
	regimes_release(&f->regimes);
	scene_release(&f->scene);
}

static void a_steady_program_is_one_regime(void **state)
{
	struct fixture f;

	(void)state;
	scene_make(&f.scene, 4, 500, 0, by_chance);
	find(&f, false);
	assert_int_equal(f.regimes.n, 1);
	assert_int_equal(f.scene.findings.n, 0);
	/* its shares scatter as sampling alone makes them: within a factor that 20 epochs allow */
	for (size_t i = 0; i < f.regimes.n_functions; i++)
		assert_true(f.regimes.functions[i].observed <
			    1.8 * f.regimes.functions[i].expected);
	release(&f);
}

/* red gives a third of the time to blue after 2.4 s, the twelfth of twenty epochs */
static uint32_t changing(double time_ns, struct random *random)
{
	const uint32_t function = by_chance(time_ns, random);

	return time_ns > 2.4e9 && function == 0 && random_double(random) < 0.66 ? 2 : function;
}

static void a_change_is_found_in_its_epoch_with_the_function_that_moved(void **state)
{
	const struct finding *finding;
	struct fixture f;

	(void)state;
	scene_make(&f.scene, 4, 500, 0, changing);
	find(&f, false);
	assert_int_equal(f.regimes.n, 2);
	assert_int_equal(f.regimes.epochs[11].regime, 0);
	assert_int_equal(f.regimes.epochs[12].regime, 1);
	finding = findings_find(&f.scene.findings, CODE_REGIME);
	assert_non_null(finding);
	assert_int_equal(finding->severity, FINDING_WARNING);
	assert_non_null(strstr(finding->text, "2.4 s"));
	assert_true(f.regimes.functions[0].function == 0 || f.regimes.functions[0].function == 2);
	assert_true(f.regimes.functions[0].observed > 3 * f.regimes.functions[0].expected);
	release(&f);
}

/* 45 -> 15 % in the epochs 4 to 7, in which the kernel throttled: no word on the workload. */
static uint32_t dented(double time_ns, struct random *random)
{
	const uint32_t function = by_chance(time_ns, random);

	return time_ns > 0.8e9 && time_ns < 1.6e9 && function == 0 && random_double(random) < 0.66
		       ? 2
		       : function;
}

static void a_change_where_samples_are_missing_is_the_measurements_not_the_workloads(void **state)
{
	const struct finding *finding;
	struct fixture f;

	(void)state;
	contract_init(&f.contract);
	for (int e = 4; e < 8; e++)
		f.contract.epochs[e].clocks[0].throttled_ns =
			f.contract.epochs[e].clocks[1].throttled_ns = 80000000;
	scene_make(&f.scene, 4, 500, 0, dented);
	find(&f, true);
	assert_int_equal(f.regimes.missing_epochs, 4);
	assert_int_equal(f.regimes.n, 1);
	assert_null(findings_find(&f.scene.findings, CODE_REGIME));
	finding = findings_find(&f.scene.findings, CODE_REGIME_MEASUREMENT);
	assert_non_null(finding);
	assert_non_null(strstr(finding->text, "4 of 20 epochs"));
	release(&f);
}

static void the_same_dent_without_missing_samples_is_the_workloads(void **state)
{
	struct fixture f;

	(void)state;
	contract_init(&f.contract);
	scene_make(&f.scene, 4, 500, 0, dented);
	find(&f, true);
	assert_int_equal(f.regimes.n, 3);
	assert_non_null(findings_find(&f.scene.findings, CODE_REGIME));
	assert_null(findings_find(&f.scene.findings, CODE_REGIME_MEASUREMENT));
	release(&f);
}

static void a_rate_that_changed_is_told_as_a_change_of_the_measurement(void **state)
{
	struct fixture f;

	(void)state;
	contract_init(&f.contract);
	for (int e = 0; e < 10; e++)
		f.contract.epochs[e].clocks[0].mean_period =
			f.contract.epochs[e].clocks[1].mean_period = 4e6;
	scene_make(&f.scene, 4, 500, 0, by_chance);
	find(&f, true);
	assert_int_equal(f.scene.findings.n, 1);
	assert_string_equal(f.scene.findings.items[0].code, CODE_REGIME_MEASUREMENT);
	assert_int_equal(f.scene.findings.items[0].severity, FINDING_INFO);
	release(&f);
}

static void with_a_fixed_clock_alone_a_change_is_not_blamed_on_the_workload(void **state)
{
	struct fixture f;

	(void)state;
	scene_make(&f.scene, 4, 500, 0, changing);
	find(&f, false);
	findings_release(&f.scene.findings);
	regimes_findings(&f.scene.findings, &f.regimes, &f.scene.matrix, false);
	assert_int_equal(f.scene.findings.items[0].severity, FINDING_INFO);
	assert_non_null(strstr(f.scene.findings.items[0].text, "cannot tell which"));
	release(&f);
}

static void no_samples_at_all_are_survived(void **state)
{
	struct fixture f = { 0 };

	(void)state;
	assert_int_equal(matrix_make(&f.scene.matrix, 1, SCENE_EPOCHS, 2, 0, NULL), STATUS_OK);
	findings_init(&f.scene.findings);
	find(&f, false);
	assert_int_equal(f.scene.findings.n, 0);
	release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_steady_program_is_one_regime),
		cmocka_unit_test(a_change_is_found_in_its_epoch_with_the_function_that_moved),
		cmocka_unit_test(
			a_change_where_samples_are_missing_is_the_measurements_not_the_workloads),
		cmocka_unit_test(the_same_dent_without_missing_samples_is_the_workloads),
		cmocka_unit_test(a_rate_that_changed_is_told_as_a_change_of_the_measurement),
		cmocka_unit_test(with_a_fixed_clock_alone_a_change_is_not_blamed_on_the_workload),
		cmocka_unit_test(no_samples_at_all_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
