/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <stdio.h>
#include <string.h>

#include "record/incidents.h"

static void a_storm_of_one_kind_is_one_incident_that_grows(void **state)
{
	struct incidents incidents = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 1000; i++)
		incidents_note(&incidents, "loss", 500 + i, 600 + i, 2, "samples", "full");
	incidents_note(&incidents, "loss", 100, 110, 2, "samples", "another text");
	assert_int_equal(incidents.n, 1);
	assert_int_equal(incidents.items[0].start_ns, 100);
	assert_int_equal(incidents.items[0].end_ns, 1599);
	assert_true(incidents.items[0].amount == 2002);
	assert_string_equal(incidents.items[0].text, "full");
	incidents_clear(&incidents);
	assert_int_equal(incidents.n, 0);
}

static void kinds_and_units_stay_apart(void **state)
{
	struct incidents incidents = { 0 };

	(void)state;
	incidents_note(&incidents, "loss", 1, 2, 1, "samples", "a");
	incidents_note(&incidents, "loss", 1, 2, 1, "records", "b");
	incidents_note(&incidents, "starved", 1, 2, 1, "ns", "c");
	assert_int_equal(incidents.n, 3);
	incidents_clear(&incidents);
}

static void there_is_a_last_kind(void **state)
{
	struct incidents incidents = { 0 };

	(void)state;
	for (int i = 0; i < 2 * INCIDENTS_MAX; i++) {
		char unit[16];

		snprintf(unit, sizeof(unit), "u%d", i);
		incidents_note(&incidents, "loss", 1, 2, 1, unit, "t");
	}
	assert_int_equal(incidents.n, INCIDENTS_MAX);
	incidents_clear(&incidents);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_storm_of_one_kind_is_one_incident_that_grows),
		cmocka_unit_test(kinds_and_units_stay_apart),
		cmocka_unit_test(there_is_a_last_kind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
