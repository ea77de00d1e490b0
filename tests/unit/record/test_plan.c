/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "support/test.h"

#include <math.h>
#include <string.h>

#include "record/plan.h"

static const struct cost cost = {
	.sample = 10000, .drain = 500, .redraw_target = 5000, .redraw_own = 9000, .wake = 20000
};

struct request {
	struct event_list events;
	struct event_pace paces[8];
	struct record_options options;
	struct plan plan;
	struct error error;
};

/* Events by their kind alone: what the grammar makes of words is tested elsewhere. */
static void request_make(struct request *request, const char *events)
{
	memset(request, 0, sizeof(*request));
	event_list_init(&request->events);
	if (event_parse(&request->events, sys_real(), NULL, events, &request->error) != STATUS_OK)
		fail_msg("%s", request->error.text);
	for (size_t i = 0; i < request->events.n; i++)
		if (request->events.events[i].kind == EVENT_CLOCK)
			request->paces[i] = (struct event_pace){ 1e9, 100000 };
	request->options = (struct record_options){
		.target = RECORD_COMMAND,
		.events = &request->events,
		.budget = 0.01,
		.schedule = SCHEDULE_JITTER,
		.redraw = REDRAW_BLOCK,
		.clocks = 2,
	};
}

static const struct plan *plan(struct request *request)
{
	if (plan_make(&request->plan, &request->options, &cost, request->paces, 0,
		      &request->error) != STATUS_OK)
		fail_msg("%s", request->error.text);
	return &request->plan;
}

static void near(double value, double wanted, double part)
{
	if (fabs(value - wanted) > wanted * part)
		fail_msg("%g is not %g", value, wanted);
}

static void two_clocks_share_the_rate_of_their_event(void **state)
{
	struct request request;
	const struct plan *p;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.rate_hz = 500;
	request.options.redraw = REDRAW_SAMPLE;
	p = plan(&request);
	assert_int_equal(p->n_clocks, 2);
	for (int c = 0; c < 2; c++) {
		assert_true(p->clocks[c].randomised && p->clocks[c].timed);
		near(p->clocks[c].mean, 4e6, 1e-9);
		near(p->clocks[c].hz, 250, 1e-9);
	}
	assert_false(p->follows_cost);
	event_list_release(&request.events);
}

/* A drawn period that stays for a block of 20 gives ln 3 - 1/40 ticks per mean. */
static void the_mean_allows_for_what_redraws_cost(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.rate_hz = 500;
	request.options.block = 20;
	near(plan(&request)->clocks[0].mean, 4e6 * (log(3) - 0.025), 1e-4);
	near(request.plan.clocks[0].hz, 250, 1e-9);
	event_list_release(&request.events);
}

static void a_budget_sets_the_rate_and_lets_it_follow(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.block = 10;
	/* 10.5 us + 14/10 + 20/20 = 12.9 us a sample: 775 fit, 630 are preferred */
	near(plan(&request)->rate_hz, 630, 1e-9);
	assert_true(request.plan.follows_cost);
	assert_non_null(strstr(request.plan.rate_why, "12.9 us"));
	event_list_release(&request.events);
}

/* "One in 100000": the clocks together, so that each has twice the period. */
static void a_period_is_the_mean_of_all_clocks_together(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.period = 4000000;
	near(plan(&request)->clocks[0].mean, 8e6, 1e-9);
	assert_string_equal(request.plan.rate_notice, "");
	event_list_release(&request.events);
}

static void below_the_safety_bound_chance_keeps_its_room(void **state)
{
	struct request request;
	const struct clock *clock;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.period = 1000;
	clock = &plan(&request)->clocks[0];
	near(clock->mean, 200000, 1e-9);
	near(clock->mean * clock->schedule.low, 100000, 1e-9);
	assert_true(clock->randomised);
	assert_non_null(strstr(request.plan.rate_notice, "safety bound"));
	event_list_release(&request.events);
}

static void a_fixed_schedule_has_one_clock_and_no_chance(void **state)
{
	const enum schedule_kind kinds[] = { SCHEDULE_FIXED, SCHEDULE_PRIME };
	const double means[] = { 2000000, 2000003 };

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct request request;

		request_make(&request, "cpu-clock");
		request.options.schedule = kinds[i];
		request.options.rate_hz = 500;
		assert_int_equal(plan(&request)->n_clocks, 1);
		assert_false(request.plan.clocks[0].randomised);
		near(request.plan.clocks[0].mean, means[i], 1e-12);
		assert_int_equal(request.plan.clocks[0].redraw, REDRAW_NONE);
		event_list_release(&request.events);
	}
}

static void a_frequency_of_a_timer_is_called_what_it_is(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.schedule = SCHEDULE_FREQ;
	request.options.rate_hz = 500;
	assert_int_equal(plan(&request)->clocks[0].schedule.kind, SCHEDULE_FIXED);
	assert_false(request.plan.clocks[0].steered);
	assert_non_null(strstr(request.plan.schedule_notice, "fixed period"));
	event_list_release(&request.events);
}

static void canaries_take_a_quarter(void **state)
{
	struct request request;
	double sum = 0;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.schedule = SCHEDULE_MIXED;
	request.options.rate_hz = 800;
	assert_int_equal(plan(&request)->n_clocks, 4);
	for (int c = 0; c < 4; c++) {
		assert_int_equal(request.plan.clocks[c].canary, c >= 2);
		sum += request.plan.clocks[c].share;
	}
	near(sum, 1, 1e-12);
	near(request.plan.clocks[2].share + request.plan.clocks[3].share, 0.25, 1e-12);
	event_list_release(&request.events);
}

static void mixed_clocks_are_two_at_least(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.schedule = SCHEDULE_MIXED;
	request.options.clocks = 1;
	request.options.rate_hz = 800;
	plan(&request);
	assert_int_equal(request.plan.clocks[0].schedule.kind, SCHEDULE_JITTER);
	assert_int_equal(request.plan.clocks[1].schedule.kind, SCHEDULE_EXP);
	event_list_release(&request.events);
}

/* 2.4e9 cycles a second, samples that cost 10 us: 240000 cycles at least. */
static void counters_get_their_period_from_their_pace(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cycles");
	request.paces[0] = (struct event_pace){ 2.4e9, 240000 };
	request.options.rate_hz = 1000;
	request.options.redraw = REDRAW_SAMPLE;
	near(plan(&request)->clocks[0].mean, 4.8e6, 1e-9);
	assert_false(request.plan.clocks[0].timed);
	request.paces[0].per_second = 1.2e9;
	plan_set_rate(&request.plan, 1000, request.paces);
	near(request.plan.clocks[0].mean, 2.4e6, 1e-9);
	event_list_release(&request.events);
}

static void frequency_of_a_counter_is_the_kernels_business(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cycles");
	request.paces[0] = (struct event_pace){ 2.4e9, 240000 };
	request.options.schedule = SCHEDULE_FREQ;
	request.options.rate_hz = 1000;
	assert_true(plan(&request)->clocks[0].steered);
	near(request.plan.clocks[0].hz, 1000, 1e-9);
	event_list_release(&request.events);
}

static void occurrences_are_steered_like_perfs_or_counted_one_in_n(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "page-faults");
	assert_true(plan(&request)->clocks[0].steered);
	assert_int_equal(request.plan.n_clocks, 1);
	request.options.period = 1;
	assert_false(plan(&request)->clocks[0].steered);
	near(request.plan.clocks[0].mean, 1, 1e-12);
	assert_false(request.plan.clocks[0].randomised);
	/* One in 1000 can be drawn. */
	request.options.period = 1000;
	assert_int_equal(plan(&request)->n_clocks, 2);
	assert_true(request.plan.clocks[0].randomised);
	near(request.plan.clocks[0].mean, 2000, 1e-12);
	event_list_release(&request.events);
}

static void members_of_a_read_group_have_no_clock(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "{cpu-clock,page-faults,cs}:S");
	request.options.rate_hz = 500;
	assert_int_equal(plan(&request)->n_clocks, 2);
	assert_int_equal(request.plan.clocks[1].event, 0);
	assert_true(event_is_read_only(&request.events, 1));
	assert_false(event_is_read_only(&request.events, 0));
	event_list_release(&request.events);
}

static void several_events_share_the_budget(void **state)
{
	struct request request;
	double alone;

	(void)state;
	request_make(&request, "cpu-clock");
	alone = plan(&request)->rate_hz;
	event_list_release(&request.events);
	request_make(&request, "cpu-clock,task-clock");
	near(plan(&request)->rate_hz, alone / 2, 0.01);
	assert_int_equal(request.plan.n_clocks, 4);
	event_list_release(&request.events);
	request_make(&request, "cpu-clock,page-faults,cs");
	near(plan(&request)->rate_hz, alone / 3, 0.01);
	near(request.plan.clocks[2].hz, alone / 3, 0.01); /* steered by the kernel */
	event_list_release(&request.events);
}

static void more_clocks_than_a_manifest_holds_are_refused(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock,task-clock,cpu-clock:u,cpu-clock:k");
	request.options.clocks = 5;
	assert_int_equal(
		plan_make(&request.plan, &request.options, &cost, request.paces, 0, &request.error),
		STATUS_LIMIT);
	assert_non_null(strstr(request.error.text, "4 events need more clocks"));
	assert_non_null(strstr(request.error.text, "(16, "));
	assert_non_null(strstr(request.error.text, "--clocks 1"));
	event_list_release(&request.events);
	/* That advice helps nobody who has more events than that. */
	request_make(&request, "cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs,cs");
	assert_int_equal(plan_make(&request.plan, &request.options, &cost,
				   (struct event_pace[17]){ 0 }, 0, &request.error),
			 STATUS_LIMIT);
	assert_non_null(strstr(request.error.text, "17 events"));
	assert_null(strstr(request.error.text, "--clocks 1"));
	event_list_release(&request.events);
}

static void typed_periods_belong_to_their_own_event(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "software/config=0,period=7000000/");
	request.paces[0] = (struct event_pace){ 1e9, 100000 };
	assert_true(request.events.events[0].period_typed);
	near(plan(&request)->clocks[0].mean, 14e6, 1e-9);
	assert_non_null(strstr(request.plan.rate_why, "period=7000000"));
	assert_null(strstr(request.plan.rate_why, "costs"));
	assert_false(request.plan.follows_cost);
	plan_set_rate(&request.plan, 10, request.paces);
	near(request.plan.clocks[0].mean, 14e6, 1e-9);
	event_list_release(&request.events);
}

static void the_reason_of_a_rate_tells_what_became_of_it(void **state)
{
	static const struct {
		enum schedule_kind schedule;
		double rate_hz;
		bool canary;
		const char *has, *lacks;
	} cases[] = {
		{ SCHEDULE_JITTER, 500, false, "-F 500 asked for it", "quarter" },
		{ SCHEDULE_JITTER, 800, true, "a quarter of the samples is the canary's", "bound" },
		{ SCHEDULE_MIXED, 500, false, "the fixed and the prime clock's", "bound" },
		{ SCHEDULE_JITTER, 90000, false, "-F 90000 asked for more than the safety bound",
		  " it" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct request request;

		request_make(&request, "cpu-clock");
		request.options.schedule = cases[i].schedule;
		request.options.rate_hz = cases[i].rate_hz;
		request.options.canary = cases[i].canary;
		if (!strstr(plan(&request)->rate_why, cases[i].has) ||
		    strstr(request.plan.rate_why, cases[i].lacks))
			fail_msg("%zu: %s", i, request.plan.rate_why);
		event_list_release(&request.events);
	}
}

static void a_rate_of_thousands_is_told_in_digits(void **state)
{
	struct request request;

	(void)state;
	request_make(&request, "cpu-clock");
	request.options.budget = 0.05;
	plan(&request);
	assert_true(request.plan.rate_hz >= 1000);
	assert_null(strstr(request.plan.rate_why, "e+"));
	event_list_release(&request.events);
}

/* At 1000 Hz an exponential of lowest factor 0.1 would be drawn below 1 ms: higher up, fewer ticks fit into
 * a mean, which must be the shorter for it. The bound that was measured changes nothing. */
static void a_rate_is_kept_where_the_bound_cuts_the_distribution(void **state)
{
	static const double bounds[] = { 100000, 400000, 800000 };

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct request request;
		const struct clock *clock;

		request_make(&request, "cpu-clock");
		request.paces[0].least_period = bounds[i];
		request.options.schedule = SCHEDULE_EXP;
		request.options.rate_hz = 1000;
		clock = &plan(&request)->clocks[0];
		near(clock->schedule.low, 0.5, 1e-12);
		near(1e9 / clock->mean *
			     rate_ticks(REDRAW_BLOCK, request.plan.block,
					schedule_inverse_mean(&clock->schedule)),
		     500, 1e-6);
		event_list_release(&request.events);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_clocks_share_the_rate_of_their_event),
		cmocka_unit_test(the_mean_allows_for_what_redraws_cost),
		cmocka_unit_test(a_budget_sets_the_rate_and_lets_it_follow),
		cmocka_unit_test(a_period_is_the_mean_of_all_clocks_together),
		cmocka_unit_test(below_the_safety_bound_chance_keeps_its_room),
		cmocka_unit_test(a_fixed_schedule_has_one_clock_and_no_chance),
		cmocka_unit_test(a_frequency_of_a_timer_is_called_what_it_is),
		cmocka_unit_test(canaries_take_a_quarter),
		cmocka_unit_test(mixed_clocks_are_two_at_least),
		cmocka_unit_test(counters_get_their_period_from_their_pace),
		cmocka_unit_test(frequency_of_a_counter_is_the_kernels_business),
		cmocka_unit_test(occurrences_are_steered_like_perfs_or_counted_one_in_n),
		cmocka_unit_test(members_of_a_read_group_have_no_clock),
		cmocka_unit_test(several_events_share_the_budget),
		cmocka_unit_test(more_clocks_than_a_manifest_holds_are_refused),
		cmocka_unit_test(typed_periods_belong_to_their_own_event),
		cmocka_unit_test(the_reason_of_a_rate_tells_what_became_of_it),
		cmocka_unit_test(a_rate_of_thousands_is_told_in_digits),
		cmocka_unit_test(a_rate_is_kept_where_the_bound_cuts_the_distribution),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
