/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/finding.h"
#include "diagnose/finding_code.h"

static void worse_findings_come_first_and_equal_ones_in_the_order_of_the_codes(void **state)
{
	const char *const expected[] = { CODE_LOSS, CODE_ALIAS_POSSIBLE, CODE_STARVED,
					 CODE_MIGRATION, "news-of-2040" };
	struct findings findings;

	(void)state;
	findings_init(&findings);
	findings_add(&findings, "news-of-2040", FINDING_INFO, "unknown to this version");
	findings_add(&findings, CODE_STARVED, FINDING_WARNING, "late");
	findings_add(&findings, CODE_MIGRATION, FINDING_INFO, "moved");
	findings_add(&findings, CODE_ALIAS_POSSIBLE, FINDING_WARNING, "maybe");
	findings_add(&findings, CODE_LOSS, FINDING_BIAS, "lost %d", 3);
	findings_sort(&findings);
	assert_int_equal(findings.n, 5);
	for (size_t i = 0; i < 5; i++)
		assert_string_equal(findings.items[i].code, expected[i]);
	assert_string_equal(findings.items[0].text, "lost 3");
	assert_int_equal(findings_worst(&findings), FINDING_BIAS);
	findings_release(&findings);
}

static void the_error_of_a_finding_is_that_of_its_worst_function(void **state)
{
	struct findings findings;
	struct finding *finding;

	(void)state;
	findings_init(&findings);
	finding = findings_add(&findings, CODE_ALIAS_LOCKED, FINDING_BIAS, "locked");
	assert_true(isnan(finding->error_hi));
	finding_touches(&findings, finding, "a", "x", 0.02);
	finding_touches(&findings, finding, "b", "x", NAN);
	finding_touches(&findings, finding, "c", "x", 0.07);
	finding_touches(&findings, finding, "d", "x", 0.03);
	assert_true(finding->error_hi == 0.07);
	assert_int_equal(finding->n_functions, 4);
	findings_release(&findings);
}

static void functions_beyond_the_maximum_are_counted_not_kept(void **state)
{
	struct findings findings;
	struct finding *finding;

	(void)state;
	findings_init(&findings);
	finding = findings_add(&findings, CODE_SHORT, FINDING_WARNING, "many");
	for (int i = 0; i < FINDING_FUNCTIONS_MAX + 5; i++)
		finding_touches(&findings, finding, "f", "m", 0.001);
	assert_int_equal(finding->n_functions, FINDING_FUNCTIONS_MAX);
	assert_int_equal(finding->functions_left_out, 5);
	findings_release(&findings);
}

static void findings_beyond_the_maximum_are_counted_and_take_no_facts(void **state)
{
	struct findings findings;
	struct finding *finding = NULL;

	(void)state;
	findings_init(&findings);
	for (int i = 0; i < FINDINGS_MAX + 3; i++)
		finding = findings_add(&findings, CODE_LOSS, FINDING_INFO, "%d", i);
	assert_null(finding);
	finding_number(&findings, finding, "key", 1);
	finding_text(&findings, finding, "key", "text");
	finding_next(&findings, finding, "do");
	finding_touches(&findings, finding, "a", "b", 1);
	finding_touches_all(finding, 1);
	assert_int_equal(findings.n, FINDINGS_MAX);
	assert_int_equal(findings.left_out, 3);
	assert_int_equal(findings_check(&findings, NULL), STATUS_OK);
	findings_release(&findings);
}

static void a_family_is_found_by_its_prefix_and_a_code_only_whole(void **state)
{
	struct findings findings;

	(void)state;
	findings_init(&findings);
	findings_add(&findings, CODE_SHORT_TASKS, FINDING_INFO, "tasks");
	findings_add(&findings, CODE_ALIAS_FLIP, FINDING_INFO, "flip");
	assert_null(findings_find(&findings, CODE_SHORT));
	assert_ptr_equal(findings_find(&findings, "alias-"), &findings.items[1]);
	assert_ptr_equal(findings_find(&findings, CODE_SHORT_TASKS), &findings.items[0]);
	findings_release(&findings);
}

static void every_code_is_unique(void **state)
{
	const struct finding_code *codes;
	size_t n;

	(void)state;
	codes = finding_codes(&n);
	assert_true(n > 30);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(finding_code_place(codes[i].code), i);
	assert_true(finding_code_place("no such code") > n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			worse_findings_come_first_and_equal_ones_in_the_order_of_the_codes),
		cmocka_unit_test(the_error_of_a_finding_is_that_of_its_worst_function),
		cmocka_unit_test(functions_beyond_the_maximum_are_counted_not_kept),
		cmocka_unit_test(findings_beyond_the_maximum_are_counted_and_take_no_facts),
		cmocka_unit_test(a_family_is_found_by_its_prefix_and_a_code_only_whole),
		cmocka_unit_test(every_code_is_unique),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
