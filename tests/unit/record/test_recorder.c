/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whole recordings on a scripted kernel (support/scripted_perf.h): what is in the bundle against what
 * the kernel really did.
 */
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "bundle/draws.h"
#include "record/record.h"
#include "support/scripted_perf.h"
#include "support/sys_fault.h"

#define SECOND UINT64_C(1000000000)

struct scene {
	struct scripted_perf perf;
	struct event_list events;
	struct record_options options;
	struct record_hooks hooks;
	struct record_result result;
	struct error error;
	struct cost cost;
	char dir[64], path[96];
	int cpus[1], signal_pipe[2];
	uint64_t first_id; /* of the first clock's event: after the trial and the sideband */
};

/* CPU 0 runs thread 101 and 102 in turn for 3 ms each, and is idle for 1 ms after each pair. */
static struct scripted_task two_threads(void *data, int cpu, uint64_t time_ns)
{
	const uint64_t at = time_ns % 7000000;

	(void)data;
	(void)cpu;
	if (at < 3000000)
		return (struct scripted_task){ 101, 101, 0x1000 };
	return at < 6000000 ? (struct scripted_task){ 101, 102, 0x2000 }
			    : (struct scripted_task){ 0, 0, 0 };
}

static void scene_make(struct scene *scene, const char *event)
{
	memset(scene, 0, sizeof(*scene));
	scripted_perf_init(&scene->perf);
	scene->perf.task = two_threads;
	scene->first_id = scene->perf.next_id + 2;
	strcpy(scene->dir, "/tmp/assay-test-XXXXXX");
	assert_non_null(mkdtemp(scene->dir));
	snprintf(scene->path, sizeof(scene->path), "%s/out.assay", scene->dir);
	assert_int_equal(pipe(scene->signal_pipe), 0);
	close(scene->signal_pipe[1]); /* reads end of file: no signal ever */
	event_list_init(&scene->events);
	assert_int_equal(event_parse(&scene->events, sys_real(), NULL, event, &scene->error),
			 STATUS_OK);
	scene->cost = (struct cost){ .sample = 10000,
				     .drain = 500,
				     .redraw_target = 5000,
				     .redraw_own = 9000,
				     .wake = 20000,
				     .epoch = 50000 };
	scene->options = (struct record_options){
		.target = RECORD_CPUS,
		.cpus = scene->cpus,
		.n_cpus = 1,
		.events = &scene->events,
		.budget = 0.01,
		.rate_hz = 1000,
		.schedule = SCHEDULE_JITTER,
		.redraw = REDRAW_BLOCK,
		.block = 10,
		.clocks = 2,
		.seed = 42,
		.seed_given = true,
		.duration_ns = 2 * SECOND,
		.output = scene->path,
		.version = "test",
		.signal_fd = scene->signal_pipe[0],
		.known_cost = &scene->cost,
	};
}

static void scene_record(struct scene *scene)
{
	if (record_run(&scene->options, &scene->perf.table, &scene->hooks, &scene->result,
		       &scene->error) != STATUS_OK)
		fail_msg("%s", scene->error.text);
}

static void scene_release(struct scene *scene)
{
	char command[160];

	close(scene->signal_pipe[0]);
	event_list_release(&scene->events);
	scripted_perf_release(&scene->perf);
	snprintf(command, sizeof(command), "rm -rf %s", scene->dir);
	assert_int_equal(system(command), 0);
}

/* Every draw of the bundle, in order. */
static size_t draws_read(const struct scene *scene, struct draw **draws)
{
	struct draws_reader *reader;
	struct bundle bundle;
	size_t n = 0, capacity = 4096;

	*draws = calloc(capacity, sizeof(**draws));
	assert_int_equal(bundle_open(&bundle, sys_real(), scene->path, NULL), STATUS_OK);
	assert_int_equal(draws_reader_open(&reader, sys_real(), bundle.dir_fd, "draws.data", NULL),
			 STATUS_OK);
	while (n < capacity && draws_reader_next(reader, &(*draws)[n], NULL) == STATUS_OK)
		n++;
	assert_true(n < capacity);
	draws_reader_close(reader);
	bundle_close(&bundle);
	return n;
}

/* The kernel's own account of a sample that is in the file. */
static const struct scripted_fired *fired_at(const struct scene *scene, uint64_t time_ns,
					     uint64_t kernel_id)
{
	for (size_t i = 0; i < scene->perf.n_fired; i++)
		if (scene->perf.fired[i].time_ns == time_ns && scene->perf.fired[i].id == kernel_id)
			return &scene->perf.fired[i];
	return NULL;
}

static void the_periods_that_were_set_are_the_draws_that_were_logged(void **state)
{
	struct scene scene;
	struct draw *draws;
	size_t n, set = 0;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene_record(&scene);
	n = draws_read(&scene, &draws);
	assert_true(scene.perf.n_ioctls > 50);
	/* The first draws are those that the events were opened with. */
	assert_int_equal(n, scene.perf.n_ioctls + 2);
	for (size_t i = 2; i < n; i++, set++) {
		assert_int_equal(draws[i].period, scene.perf.ioctls[set].period);
		assert_in_range(scene.perf.ioctls[set].time_ns, draws[i].before_ns,
				draws[i].after_ns);
	}
	free(draws);
	scene_release(&scene);
}

static void a_seed_gives_the_same_draws_bit_for_bit(void **state)
{
	struct draw *draws[2];
	size_t n[2];

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct scene scene;

		scene_make(&scene, "cpu-clock");
		scene_record(&scene);
		n[run] = draws_read(&scene, &draws[run]);
		scene_release(&scene);
	}
	assert_int_equal(n[0], n[1]);
	for (size_t i = 0; i < n[0]; i++) {
		assert_int_equal(draws[0][i].period, draws[1][i].period);
		assert_int_equal(draws[0][i].epoch, draws[1][i].epoch);
	}
	free(draws[0]);
	free(draws[1]);
}

/* By name (epoch, clock, slot, number), although other threads, other samples and other redraws made
 * the second recording a different one. */
static void a_draw_is_the_same_whatever_the_target_does(void **state)
{
	struct draw *draws[2];
	size_t n[2], compared = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct scene scene;

		scene_make(&scene, "cpu-clock");
		scene.options.epoch_ns = 150000000;
		scene.perf.step_ns = run ? 5000 : 100; /* everything takes longer */
		scene_record(&scene);
		n[run] = draws_read(&scene, &draws[run]);
		scene_release(&scene);
	}
	for (size_t i = 0, number; i < n[0]; i++) {
		number = 0;
		for (size_t k = 0; k < i; k++)
			number += draws[0][k].epoch == draws[0][i].epoch &&
				  draws[0][k].clock == draws[0][i].clock;
		for (size_t k = 0; k < n[1]; k++)
			if (draws[1][k].epoch == draws[0][i].epoch &&
			    draws[1][k].clock == draws[0][i].clock && number-- == 0) {
				assert_int_equal(draws[1][k].period, draws[0][i].period);
				compared++;
				break;
			}
	}
	assert_true(compared > n[0] / 2);
	free(draws[0]);
	free(draws[1]);
}

/* Samples that cost 30, 62 and 79 us: safety bounds of 315, 625 and 800 us. Every clock is opened with a
 * draw of its own, so that many seeds look at many starts. */
static void what_a_sample_costs_changes_no_draw_of_a_rate_that_was_asked_for(void **state)
{
	static const double costs[] = { 30000, 62000, 79000 };
	const enum schedule_kind kinds[] = { SCHEDULE_JITTER, SCHEDULE_EXP };

	(void)state;
	for (uint64_t seed = 0; seed < 40; seed++) {
		struct draw *draws[3];

		for (int run = 0; run < 3; run++) {
			struct scene scene;

			scene_make(&scene, "cpu-clock");
			scene.options.schedule = kinds[seed % 2];
			scene.options.seed = seed;
			scene.options.duration_ns = 1000000;
			scene.cost.sample = costs[run];
			scene_record(&scene);
			assert_in_range(draws_read(&scene, &draws[run]), 2, 8);
			for (int clock = 0; clock < 2; clock++) {
				assert_int_equal(draws[run][clock].period, draws[0][clock].period);
				assert_true((double)draws[run][clock].period >= 10 * costs[run]);
			}
			scene_release(&scene);
		}
		for (int run = 0; run < 3; run++)
			free(draws[run]);
	}
}

static void another_seed_gives_other_draws(void **state)
{
	struct draw *draws[2];
	size_t n[2], same = 0;

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct scene scene;

		scene_make(&scene, "cpu-clock");
		scene.options.seed += (uint64_t)run;
		scene_record(&scene);
		n[run] = draws_read(&scene, &draws[run]);
		scene_release(&scene);
	}
	for (size_t i = 0; i < n[0] && i < n[1]; i++)
		same += draws[0][i].period == draws[1][i].period;
	assert_true(same <= 2);
	free(draws[0]);
	free(draws[1]);
}

/* Was a period set on this clock between the two moments? The bundle's draws say so. */
static bool redrawn_between(const struct draw *draws, size_t n, uint64_t clock, uint64_t from_ns,
			    uint64_t to_ns)
{
	for (size_t i = 0; i < n; i++)
		if (draws[i].clock == clock && draws[i].before_ns > from_ns &&
		    draws[i].before_ns < to_ns)
			return true;
	return false;
}

/* Intended interval (PERIOD), realised interval (difference of READ on one id), trigger (id), CPU and
 * time of every sample, from the bundle alone, against the kernel's account of it. */
static void every_sample_tells_its_interval_trigger_cpu_and_time(void **state)
{
	uint64_t last[3] = { 0 }, last_ns[3] = { 0 }, checked = 0, thinned = 0, unknown = 0;
	struct perfdata_record record;
	struct bundle bundle;
	struct scene scene;
	struct draw *draws;
	size_t n_draws;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene_record(&scene);
	n_draws = draws_read(&scene, &draws);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	while (perfdata_reader_next(bundle.reader, &record, NULL) == STATUS_OK) {
		const struct perfdata_sample *s = &record.sample;
		const struct scripted_fired *fired;
		uint64_t realised;

		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		checked++;
		assert_in_range(s->id, 1, 2);
		fired = fired_at(&scene, s->time, scene.first_id + (s->id - 1));
		assert_non_null(fired); /* trigger and time */
		assert_int_equal(s->cpu, 0);
		realised = s->read[0].value - last[s->id];
		/* A clock that has just started repeats its residual interval: some ticks of each. */
		if (s->period != fired->armed)
			thinned++;
		else if (!redrawn_between(draws, n_draws, s->id - 1, last_ns[s->id], s->time))
			assert_int_equal(realised, fired->interval);
		else if (realised != fired->interval)
			unknown++; /* idle ticks besides */
		last[s->id] = s->read[0].value;
		last_ns[s->id] = s->time;
	}
	assert_int_equal(checked, scene.result.samples);
	assert_true(checked > 1500);
	assert_true(thinned <= 40);
	assert_true(unknown < checked / 20);
	bundle_close(&bundle);
	free(draws);
	scene_release(&scene);
}

/* 3 of 7 ms each and 1 ms idle: clocks that ignore idle share their ticks equally. */
static void samples_fall_on_threads_by_their_time(void **state)
{
	struct perfdata_record record;
	struct bundle bundle;
	struct scene scene;
	double of[2] = { 0 };

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.duration_ns = 8 * SECOND;
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	while (perfdata_reader_next(bundle.reader, &record, NULL) == STATUS_OK)
		if (record.type == PERF_RECORD_SAMPLE)
			of[record.sample.tid - 101]++;
	/* 8 s at 1000 Hz, 6/7 busy: about 6800 samples; 5 standard errors of a share of a half. */
	assert_true(of[0] + of[1] > 6000);
	assert_true(of[0] / (of[0] + of[1]) > 0.47 && of[0] / (of[0] + of[1]) < 0.53);
	bundle_close(&bundle);
	scene_release(&scene);
}

static void epochs_cover_the_recording_and_count_its_samples(void **state)
{
	uint64_t samples = 0;
	struct bundle bundle;
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	assert_true(bundle.manifest.end.present);
	assert_string_equal(bundle.manifest.end.reason, "duration");
	assert_true(bundle.manifest.n_epochs >= 12);
	for (size_t e = 0; e < bundle.manifest.n_epochs; e++) {
		const struct manifest_epoch *epoch = &bundle.manifest.epochs[e];

		assert_int_equal(epoch->index, e);
		assert_true(epoch->end_ns > epoch->start_ns);
		if (e)
			assert_int_equal(epoch->start_ns, epoch[-1].end_ns);
		for (size_t c = 0; c < bundle.manifest.n_clocks; c++)
			samples += epoch->clocks[c].samples;
	}
	assert_int_equal(samples, scene.result.samples);
	bundle_close(&bundle);
	scene_release(&scene);
}

/* The kernel's timer is exact here, so the intervals that no redraw cut are the drawn ones. */
static void whole_intervals_are_realised_as_intended(void **state)
{
	uint64_t whole = 0;
	struct bundle bundle;
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	for (size_t e = 0; e < bundle.manifest.n_epochs; e++)
		for (size_t c = 0; c < bundle.manifest.n_clocks; c++) {
			const struct manifest_epoch_clock *clock =
				&bundle.manifest.epochs[e].clocks[c];

			whole += clock->intervals;
			assert_float_equal((float)clock->realised_mean, (float)clock->intended_mean,
					   1);
			assert_float_equal((float)clock->realised_sd, (float)clock->intended_sd, 1);
		}
	assert_true(whole > scene.result.samples / 2);
	bundle_close(&bundle);
	scene_release(&scene);
}

static size_t samples_of_clock(const struct bundle *bundle, size_t clock)
{
	size_t samples = 0;

	for (size_t e = 0; e < bundle->manifest.n_epochs; e++)
		samples += bundle->manifest.epochs[e].clocks[clock].samples;
	return samples;
}

static void a_canary_is_a_second_attribute_with_a_quarter_of_the_samples(void **state)
{
	const struct perfdata_event *events;
	struct bundle bundle;
	struct scene scene;
	double share;
	size_t n;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.canary = true;
	scene.options.duration_ns = 4 * SECOND;
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	assert_int_equal(bundle.manifest.n_clocks, 3);
	assert_false(bundle.manifest.clocks[2].randomised);
	assert_int_equal(bundle.manifest.clocks[2].kind, SCHEDULE_FIXED);
	assert_int_equal(bundle.manifest.clocks[0].event, bundle.manifest.clocks[1].event);
	assert_true(bundle.manifest.clocks[2].event != bundle.manifest.clocks[0].event);
	events = perfdata_reader_events(bundle.reader, &n);
	assert_int_equal(n, 3); /* the clocks, the canary, the sideband */
	assert_int_equal(events[0].n_ids, 2);
	share = (double)samples_of_clock(&bundle, 2) / (double)scene.result.samples;
	/* Redraws cost the randomised clocks some of theirs. */
	assert_true(share > 0.24 && share < 0.31);
	bundle_close(&bundle);
	scene_release(&scene);
}

static void mixed_clocks_are_of_different_kinds(void **state)
{
	const enum schedule_kind kinds[] = { SCHEDULE_JITTER, SCHEDULE_EXP, SCHEDULE_FIXED,
					     SCHEDULE_PRIME };
	struct bundle bundle;
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.schedule = SCHEDULE_MIXED;
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	assert_int_equal(bundle.manifest.n_clocks, 4);
	for (size_t c = 0; c < 4; c++) {
		assert_int_equal(bundle.manifest.clocks[c].kind, kinds[c]);
		assert_int_equal(bundle.manifest.clocks[c].randomised, c < 2);
		assert_true(samples_of_clock(&bundle, c) > 0);
	}
	bundle_close(&bundle);
	scene_release(&scene);
}

static void a_fixed_clock_is_never_redrawn(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.schedule = SCHEDULE_FIXED;
	scene_record(&scene);
	assert_int_equal(scene.perf.n_ioctls, 0);
	assert_true(scene.result.samples > 1500);
	scene_release(&scene);
}

/* -F 100000 with samples that cost 10 us: two clocks at twice 100 us. */
static void no_request_arms_a_timer_below_the_safety_bound(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.rate_hz = 100000;
	scene.options.duration_ns = SECOND / 2;
	scene_record(&scene);
	for (size_t i = 0; i < scene.perf.n_fired; i++)
		assert_true(scene.perf.fired[i].armed >= 100000);
	for (size_t i = 0; i < scene.perf.n_ioctls; i++)
		assert_true(scene.perf.ioctls[i].period >= 100000);
	assert_true(scene.result.samples < 6000);
	scene_release(&scene);
}

/* 1 % at 10.5 us a sample, a redraw of 14 us and half a wake-up per ten: some 800 a second. */
static void the_rate_follows_from_the_budget_and_the_cost(void **state)
{
	struct bundle bundle;
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.rate_hz = 0;
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	assert_float_equal((float)bundle.manifest.rate_hz, 630, 0.1f);
	assert_true(bundle.manifest.budget > 0.0099 && bundle.manifest.budget < 0.0101);
	bundle_close(&bundle);
	scene_release(&scene);
}

static void losses_are_told_with_their_place_in_time(void **state)
{
	struct bundle bundle;
	struct scene scene;
	uint64_t lost = 0;
	bool told = false;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.schedule = SCHEDULE_FIXED; /* drained every 250 ms at most */
	scene.options.ring_pages = 1;
	scene.options.rate_hz = 4000;
	scene.options.epoch_ns = 500000000;
	scene_record(&scene);
	for (size_t i = 0; i < scene.perf.n_fired; i++)
		lost += scene.perf.fired[i].lost;
	assert_true(lost > 100);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	/* What was lost after the last record that fitted is told by nobody. */
	assert_true(scene.result.lost <= lost && scene.result.lost >= lost * 9 / 10);
	for (size_t i = 0; i < bundle.manifest.n_incidents; i++)
		told |= !strcmp(bundle.manifest.incidents[i].code, "loss");
	assert_true(told);
	bundle_close(&bundle);
	scene_release(&scene);
}

struct watcher {
	uint64_t asked, until; /* epochs at which it says stop */
	const char *reason;
};

static void watcher_ask(void *data, uint64_t epochs, struct record_stop *stop)
{
	struct watcher *watcher = data;

	watcher->asked++;
	stop->looks = epochs / 2;
	if (epochs < watcher->until)
		return;
	stop->reason = watcher->reason;
	stop->text = "the first 3 and their order";
}

static void whoever_watches_the_data_can_end_the_recording_and_the_manifest_says_so(void **state)
{
	struct watcher watcher = { .until = 7, .reason = "settled" };
	struct scene scene;
	struct bundle bundle;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.until = "top=3";
	scene.hooks.data = &watcher;
	scene.hooks.stop = watcher_ask;
	scene_record(&scene);
	assert_true(watcher.asked > 7);
	assert_string_equal(scene.result.reason, "settled");
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	/* the epoch that had begun is kept */
	assert_in_range(bundle.manifest.n_epochs, 7, 8);
	assert_string_equal(bundle.manifest.until, "top=3");
	assert_string_equal(bundle.manifest.end.reason, "settled");
	assert_string_equal(bundle.manifest.end.settled, "the first 3 and their order");
	assert_int_equal(bundle.manifest.end.looks, 3);
	bundle_close(&bundle);
	scene_release(&scene);
}

static void whoever_watches_the_data_and_never_decides_changes_nothing(void **state)
{
	struct watcher watcher = { .until = UINT64_MAX };
	struct scene scene;
	struct bundle bundle;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.options.until = "top=3";
	scene.hooks.data = &watcher;
	scene.hooks.stop = watcher_ask;
	scene_record(&scene);
	assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, NULL), STATUS_OK);
	assert_string_equal(bundle.manifest.end.reason, "duration");
	assert_null(bundle.manifest.end.settled);
	assert_true(bundle.manifest.end.looks > 0);
	bundle_close(&bundle);
	scene_release(&scene);
}

static void without_the_right_to_whole_cpus_the_knob_is_named(void **state)
{
	struct scene scene;

	(void)state;
	scene_make(&scene, "cpu-clock");
	scene.perf.refuse_per_cpu = 13; /* EACCES */
	assert_int_equal(record_run(&scene.options, &scene.perf.table, &scene.hooks, &scene.result,
				    &scene.error),
			 STATUS_PERMISSION);
	assert_non_null(strstr(scene.error.text, "perf_event_paranoid"));
	assert_false(scene.result.published);
	assert_int_equal(access(scene.path, F_OK), -1);
	scene_release(&scene);
}

/* Whatever call fails, nothing stays open, and what is published can be read. */
static void whichever_call_fails_nothing_is_left_open(void **state)
{
	unsigned int failed = 0, passed = 0;

	(void)state;
	for (unsigned int at = 1; at < 400; at++) {
		struct sys_fault fault;
		struct bundle bundle;
		struct scene scene;
		enum status status;

		scene_make(&scene, "cpu-clock");
		scene.options.duration_ns = SECOND / 10;
		sys_fault_init(&fault, &scene.perf.table);
		sys_fault_plan(&fault,
			       SYS_FAULT_OPEN | SYS_FAULT_WRITE | SYS_FAULT_MMAP | SYS_FAULT_MKDIR |
				       SYS_FAULT_RENAME | SYS_FAULT_PERF_OPEN | SYS_FAULT_IOCTL,
			       at, 28 /* ENOSPC */, SYS_FAULT_STAYS);
		status = record_run(&scene.options, sys_fault_table(&fault), &scene.hooks,
				    &scene.result, &scene.error);
		assert_int_equal(fault.open_fds, 0);
		if (scene.result.published) {
			assert_int_equal(bundle_open(&bundle, sys_real(), scene.path, &scene.error),
					 STATUS_OK);
			bundle_close(&bundle);
		} else {
			assert_int_equal(access(scene.path, F_OK), -1);
		}
		failed += status != STATUS_OK;
		passed += status == STATUS_OK;
		scene_release(&scene);
		if (!fault.fired)
			break;
	}
	assert_true(failed > 20 && passed > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_periods_that_were_set_are_the_draws_that_were_logged),
		cmocka_unit_test(a_seed_gives_the_same_draws_bit_for_bit),
		cmocka_unit_test(a_draw_is_the_same_whatever_the_target_does),
		cmocka_unit_test(what_a_sample_costs_changes_no_draw_of_a_rate_that_was_asked_for),
		cmocka_unit_test(another_seed_gives_other_draws),
		cmocka_unit_test(every_sample_tells_its_interval_trigger_cpu_and_time),
		cmocka_unit_test(samples_fall_on_threads_by_their_time),
		cmocka_unit_test(epochs_cover_the_recording_and_count_its_samples),
		cmocka_unit_test(whole_intervals_are_realised_as_intended),
		cmocka_unit_test(a_canary_is_a_second_attribute_with_a_quarter_of_the_samples),
		cmocka_unit_test(mixed_clocks_are_of_different_kinds),
		cmocka_unit_test(a_fixed_clock_is_never_redrawn),
		cmocka_unit_test(no_request_arms_a_timer_below_the_safety_bound),
		cmocka_unit_test(the_rate_follows_from_the_budget_and_the_cost),
		cmocka_unit_test(losses_are_told_with_their_place_in_time),
		cmocka_unit_test(
			whoever_watches_the_data_can_end_the_recording_and_the_manifest_says_so),
		cmocka_unit_test(whoever_watches_the_data_and_never_decides_changes_nothing),
		cmocka_unit_test(without_the_right_to_whole_cpus_the_knob_is_named),
		cmocka_unit_test(whichever_call_fails_nothing_is_left_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
