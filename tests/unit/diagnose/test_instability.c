/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>

#include "diagnose/finding_code.h"
#include "diagnose/instability.h"
#include "unit/diagnose/contract.h"

struct fixture {
	struct contract contract;
	struct findings findings;
};

static int setup(void **state)
{
	static struct fixture fixture;

	contract_init(&fixture.contract);
	findings_init(&fixture.findings);
	fixture.contract.manifest.machine.cpus_online = 2;
	/* the target used a CPU, assay a little, the rest is idle */
	for (int e = 0; e < CONTRACT_EPOCHS; e++) {
		fixture.contract.epochs[e].target_cpu_ns = 195000000;
		fixture.contract.epochs[e].collector_cpu_ns = 1000000;
		fixture.contract.epochs[e].busy_ns = 200000000;
	}
	*state = &fixture;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	findings_release(&f->findings);
	return 0;
}

static const struct finding *only(struct fixture *f, const char *code)
{
	instability_find(&f->findings, NULL, &f->contract.manifest);
	assert_int_equal(f->findings.n, 1);
	assert_string_equal(f->findings.items[0].code, code);
	return &f->findings.items[0];
}

static void a_quiet_machine_has_no_finding(void **state)
{
	struct fixture *f = *state;

	instability_find(&f->findings, NULL, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void load_is_what_neither_the_target_nor_assay_used(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	for (int e = 0; e < 10; e++)
		f->contract.epochs[e].busy_ns = 396000000; /* a second CPU busy half of the time */
	finding = only(f, CODE_LOAD);
	assert_int_equal(finding->severity, FINDING_WARNING);
	/* (10 x 200 ms + 10 x 4 ms) of 20 x 400 ms */
	assert_string_equal(finding->evidence[0].key, "share");
	assert_true(fabs(finding->evidence[0].number - 2040.0 / 8000) < 1e-12);
	assert_true(fabs(finding->evidence[1].number - 0.5) < 1e-12);
}

static void steal_is_told_with_its_worst_epoch(void **state)
{
	struct fixture *f = *state;
	const struct finding *finding;

	f->contract.epochs[13].steal_ns = 100000000;
	finding = only(f, CODE_STEAL);
	assert_int_equal(finding->severity, FINDING_WARNING); /* 1.25 % */
	assert_true(finding->evidence[2].number == 13);
}

static void a_tick_of_steal_is_not_worth_a_word(void **state)
{
	struct fixture *f = *state;

	f->contract.epochs[3].steal_ns = 10000000;
	instability_find(&f->findings, NULL, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
}

static void a_cpu_that_changed_its_speed_is_told_with_its_governor(void **state)
{
	struct fixture *f = *state;

	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].frequency_khz = e < 5 ? 2000000 : 3200000;
	f->contract.manifest.machine.governor = (char *)"schedutil";
	assert_non_null(strstr(only(f, CODE_FREQUENCY)->text, "2.00 to 3.20 GHz"));
	assert_non_null(strstr(f->findings.items[0].text, "schedutil"));
}

static void a_constant_speed_is_no_finding_but_heat_is_worth_a_word(void **state)
{
	struct fixture *f = *state;

	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].frequency_khz = 3000000u + (unsigned int)e * 1000u;
	instability_find(&f->findings, NULL, &f->contract.manifest);
	assert_int_equal(f->findings.n, 0);
	for (int e = 0; e < CONTRACT_EPOCHS; e++)
		f->contract.epochs[e].temperature_millidegree = 50000 + 1000 * e;
	assert_int_equal(only(f, CODE_FREQUENCY)->severity, FINDING_INFO);
}

static void threads_that_move_are_told_with_the_one_that_moves_most(void **state)
{
	struct fixture *f = *state;
	struct trace trace;
	uint32_t thread[2];

	trace_init(&trace, 1000);
	for (uint32_t t = 0; t < 2; t++)
		assert_int_equal(trace_thread_at(&trace, 7, 70 + t, &thread[t], NULL), STATUS_OK);
	for (uint64_t i = 0; i < 100; i++)
		for (uint32_t t = 0; t < 2; t++) {
			const struct trace_sample sample = {
				.time_ns = 1000 * i + t,
				.thread = thread[t],
				.stream = t,
				.cpu = (uint16_t)(t ? i % 2 : 0),
			};

			assert_int_equal(trace_add(&trace, &sample, NULL), STATUS_OK);
		}
	trace_finish(&trace);
	instability_find(&f->findings, &trace, &f->contract.manifest);
	assert_int_equal(f->findings.n, 1);
	assert_string_equal(f->findings.items[0].code, CODE_MIGRATION);
	assert_non_null(strstr(f->findings.items[0].text, "thread 71"));
	trace_release(&trace);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_quiet_machine_has_no_finding),
		TEST(load_is_what_neither_the_target_nor_assay_used),
		TEST(steal_is_told_with_its_worst_epoch),
		TEST(a_tick_of_steal_is_not_worth_a_word),
		TEST(a_cpu_that_changed_its_speed_is_told_with_its_governor),
		TEST(a_constant_speed_is_no_finding_but_heat_is_worth_a_word),
		TEST(threads_that_move_are_told_with_the_one_that_moves_most),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
