/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Bundles of known content, written with assay's own writers and reported on as cmd_report does.
 *
 * One process (pid 7) runs generated code at 0x10000, named by the bundle's own perf map: functions
 * parse, lex, emit, gc, tail of 0x1000 bytes each, called from main at 0x20000. Two randomised clocks
 * (ids 1 and 2) sample it in epochs of 200 ms; who is sampled is drawn from a fixed seed.
 */
#ifndef ASSAY_TESTS_UNIT_REPORT_SCENARIO_H
#define ASSAY_TESTS_UNIT_REPORT_SCENARIO_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/random.h"
#include "bundle/bundle.h"
#include "bundle/perfdata_writer.h"
#include "profile/profile.h"
#include "profile/table.h"
#include "report/build.h"
#include "support/perfdata_image.h"
#include "support/test.h"
#include "support/tree.h"

/* this machine: a recording of another one would be reported with a reserve */
#if defined(__aarch64__)
#define SCENARIO_ARCH "aarch64"
#else
#define SCENARIO_ARCH "x86_64"
#endif

#define SCENARIO_FUNCTIONS 5
#define SCENARIO_EPOCH_NS  200000000ull
#define SCENARIO_START_NS  1000000000ull

struct scenario {
	unsigned int epochs, samples_per_cell;
	double shares[SCENARIO_FUNCTIONS]; /* add up to 1 */
	uint64_t lost_in_epoch_3;
	bool unfinished, stacks, fixed;
	bool mixed; /* the second clock draws from another distribution */
	const char *names[SCENARIO_FUNCTIONS]; /* NULL: the usual ones */
	const char *comm;                      /* NULL: "demo" */
	uint64_t seed;                         /* another one: another recording of the same */
	const char *program;                   /* NULL: "./demo" */
	const char *processor;                 /* NULL: the manifest does not say */
	bool kernel;                           /* kernel code was to be sampled */
	size_t top_k;                          /* of the report; 0: the standard */
	struct findings *findings;             /* of a diagnosis, taken over; NULL: none was made */
	const char *until, *answer;            /* --until, and what ended the recording */
};

struct made {
	struct tree tree;
	struct bundle bundle;
	struct symbolizer *symbolizer;
	struct profile profile;
	struct table table;
	struct report report;
};

static const char *const scenario_names[SCENARIO_FUNCTIONS] = { "parse", "lex", "emit", "gc",
								"tail" };

static inline void scenario_sample(struct image *data, uint64_t id, uint64_t time, uint64_t ip,
				   bool stacks)
{
	const size_t record = image_record(data, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);

	image_u64(data, id);
	image_u64(data, ip);
	image_u32(data, 7);
	image_u32(data, 7);
	image_u64(data, time);
	image_u32(data, 0);
	image_u32(data, 0);
	image_u64(data, 1000000);
	if (stacks) {
		image_u64(data, 3);
		image_u64(data, (uint64_t)PERF_CONTEXT_USER);
		image_u64(data, ip);
		image_u64(data, 0x20010);
	}
	image_record_end(data, record);
}

static inline void scenario_trailer(struct image *data)
{
	image_u32(data, 7);
	image_u32(data, 7);
	image_u64(data, 0);
	image_u32(data, 0);
	image_u32(data, 0);
	image_u64(data, 1);
}

static inline void scenario_side(struct image *data, const char *comm)
{
	size_t record = image_record(data, PERF_RECORD_COMM, 0);

	image_u32(data, 7);
	image_u32(data, 7);
	image_text(data, comm);
	scenario_trailer(data);
	image_record_end(data, record);
	record = image_record(data, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER);
	image_u32(data, 7);
	image_u32(data, 7);
	image_u64(data, 0x10000);
	image_u64(data, 0x20000);
	image_u64(data, 0);
	image_zeros(data, 24); /* device, inode, generation */
	image_u32(data, 4);    /* PROT_EXEC */
	image_u32(data, 2);
	image_text(data, "//anon");
	scenario_trailer(data);
	image_record_end(data, record);
}

static inline size_t scenario_draw(const struct scenario *scenario, struct random *random)
{
	double at = random_double(random);

	for (size_t i = 0; i + 1 < SCENARIO_FUNCTIONS; i++) {
		if (at < scenario->shares[i])
			return i;
		at -= scenario->shares[i];
	}
	return SCENARIO_FUNCTIONS - 1;
}

static inline void scenario_epoch(const struct scenario *scenario, struct image *data,
				  unsigned int epoch)
{
	struct random random;

	random_init(&random, 99 + scenario->seed, epoch, 0, 0);
	for (unsigned int i = 0; i < 2 * scenario->samples_per_cell; i++)
		scenario_sample(
			data, 1 + i % 2,
			SCENARIO_START_NS + epoch * SCENARIO_EPOCH_NS +
				i * (SCENARIO_EPOCH_NS / (2ull * scenario->samples_per_cell)),
			0x10000 + 0x1000 * scenario_draw(scenario, &random), scenario->stacks);
}

static inline void scenario_contract(struct manifest *manifest, const struct scenario *scenario,
				     struct manifest_clock *clocks, struct manifest_event *event,
				     uint64_t ids[2], char **command)
{
	manifest_init(manifest);
	manifest->assay_version = (char *)"0.0-test";
	manifest->command = command;
	manifest->n_command = 2;
	manifest->start_ns = SCENARIO_START_NS;
	manifest->seed = 42 + scenario->seed;
	manifest->kernel = scenario->kernel;
	manifest->schedule = scenario->fixed ? SCHEDULE_FIXED : SCHEDULE_JITTER;
	manifest->redraw = scenario->fixed ? REDRAW_NONE : REDRAW_BLOCK;
	manifest->scope = SCOPE_CGROUP;
	manifest->budget = 0.01;
	manifest->until = (char *)(uintptr_t)scenario->until;
	manifest->sample_cost_ns = 20000;
	manifest->rate_hz = 500;
	manifest->rate_why = (char *)"all that the budget of 1 % allows at 20 us a sample";
	manifest->callchains = scenario->stacks;
	manifest->call_graph = scenario->stacks ? (char *)"fp" : NULL;
	manifest->epoch_nominal_ns = SCENARIO_EPOCH_NS;
	manifest->machine =
		(struct manifest_machine){ .arch = (char *)SCENARIO_ARCH,
					   .temperature_millidegree = INT64_MIN,
					   .max_sample_rate = 100000,
					   .cpu_model = (char *)(uintptr_t)scenario->processor };
	*event = (struct manifest_event){ .asked = (char *)"cpu-clock",
					  .granted = (char *)"cpu-clock",
					  .unit = (char *)"ns" };
	manifest->events = event;
	manifest->n_events = 1;
	for (size_t i = 0; i < 2; i++) {
		ids[i] = i + 1;
		clocks[i] = (struct manifest_clock){
			.kind = manifest->schedule,
			.redraw = manifest->redraw,
			.block = 5,
			.randomised = !scenario->fixed,
			.mean_period = 4000000,
			.low = scenario->fixed ? 1 : 0.5,
			.high = scenario->fixed ? 1 : 1.5,
			.target_hz = 250,
			.ids = &ids[i],
			.n_ids = 1,
		};
	}
	if (scenario->mixed) {
		manifest->schedule = SCHEDULE_MIXED;
		clocks[0].kind = SCHEDULE_JITTER;
		clocks[1].kind = SCHEDULE_EXP;
	}
	manifest->clocks = clocks;
	manifest->n_clocks = 2;
}

static inline void scenario_map(const struct made *made, const struct scenario *scenario)
{
	char text[4096];
	size_t used = 0;

	for (size_t i = 0; i < SCENARIO_FUNCTIONS; i++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%zx 1000 %s\n", 0x10000 + 0x1000 * i,
			scenario->names[i] ? scenario->names[i] : scenario_names[i]);
	snprintf(text + used, sizeof(text) - used, "20000 1000 main\n");
	tree_write(&made->tree, "out.assay/maps/perf-7.map", text);
}

static inline void scenario_write(struct made *made, const struct scenario *scenario)
{
	struct perf_event_attr attr = image_clock_attr();
	uint64_t ids[2];
	const struct perfdata_writer_event event = { &attr, "cpu-clock", ids, 2 };
	const struct perfdata_writer_features features = { .clock_id = -1 };
	char *command[] = { (char *)(uintptr_t)(scenario->program ? scenario->program : "./demo"),
			    (char *)"--fast", NULL };
	struct manifest_end end = { .present = true,
				    .reason = (char *)(uintptr_t)(scenario->answer ? "settled"
										   : "exit"),
				    .settled = (char *)(uintptr_t)scenario->answer,
				    .looks = scenario->until ? 14 : 0,
				    .target_exited = true,
				    .target_cpu_ns = scenario->epochs * SCENARIO_EPOCH_NS,
				    .achieved = 0.0094,
				    .period_weights = 0 };
	struct manifest_clock clocks[2];
	struct manifest_event asked;
	struct manifest manifest;
	struct manifest_writer *contract;
	struct perfdata_writer *data;
	struct image records = { 0 };
	char path[300];
	int dir_fd;

	attr.sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_CPU |
			    (scenario->stacks ? PERF_SAMPLE_CALLCHAIN : 0);
	scenario_contract(&manifest, scenario, clocks, &asked, ids, command);
	snprintf(path, sizeof(path), "%s/out.assay", made->tree.root);
	dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(
		perfdata_writer_create(&data, sys_real(), dir_fd, "perf.data", &event, 1, NULL),
		STATUS_OK);
	assert_int_equal(manifest_writer_create(&contract, sys_real(), dir_fd, "manifest.json",
						&manifest, NULL),
			 STATUS_OK);
	scenario_side(&records, scenario->comm ? scenario->comm : "demo");
	for (unsigned int e = 0; e < scenario->epochs; e++) {
		struct manifest_epoch_clock cells[2] = { 0 };
		struct manifest_epoch epoch = {
			.index = e,
			.seed = e,
			.start_ns = SCENARIO_START_NS + e * SCENARIO_EPOCH_NS,
			.end_ns = SCENARIO_START_NS + (e + 1) * SCENARIO_EPOCH_NS,
			.budget = 0.01,
			.achieved = 0.0094,
			.clocks = cells,
		};

		scenario_epoch(scenario, &records, e);
		if (records.size)
			assert_int_equal(
				perfdata_writer_append(data, records.bytes, records.size, NULL),
				STATUS_OK);
		records.size = 0;
		assert_int_equal(perfdata_writer_commit(data, NULL), STATUS_OK);
		epoch.data_bytes = perfdata_writer_data_bytes(data);
		for (size_t k = 0; k < 2; k++) {
			cells[k].mean_period = 4000000;
			cells[k].samples = scenario->samples_per_cell;
			cells[k].redraws = 10;
		}
		cells[0].lost = e == 3 ? scenario->lost_in_epoch_3 : 0;
		end.lost += cells[0].lost;
		end.samples += 2 * scenario->samples_per_cell;
		assert_int_equal(
			manifest_writer_epoch(contract, &manifest, &epoch, NULL, 0, NULL, 0, NULL),
			STATUS_OK);
	}
	if (!scenario->unfinished) {
		assert_int_equal(perfdata_writer_finish(data, &features, NULL), STATUS_OK);
		assert_int_equal(manifest_writer_end(contract, &end, NULL), STATUS_OK);
	}
	perfdata_writer_close(data);
	manifest_writer_close(contract);
	image_release(&records);
	close(dir_fd);
}

static inline void scenario_profile(struct made *made, const struct scenario *scenario,
				    unsigned int by)
{
	const struct symbolizer_options symbols = { .demangle = true, .map_dir = "out.assay/maps" };
	const struct profile_options options = { .tags = by & REPORT_BY_COMM ? TAG_COMM : 0 };
	const struct report_options report = { .by = by,
					       .top_k = scenario->top_k,
					       .findings = scenario->findings };
	struct error error = { 0 };

	if (bundle_open(&made->bundle, sys_real(), "out.assay", &error) != STATUS_OK ||
	    symbolizer_new(&made->symbolizer, sys_real(), &symbols, &error) != STATUS_OK ||
	    profile_build(&made->profile, &made->bundle, made->symbolizer, sys_real(), &options,
			  &error) != STATUS_OK ||
	    table_build(&made->table, &made->profile, SUBJECT_FUNCTION | SUBJECT_MODULE, true,
			&error) != STATUS_OK ||
	    report_build(&made->report, &made->profile, &made->table, &report, &error) != STATUS_OK)
		fail_msg("%s", error.text);
}

/* Writes the bundle below a directory that becomes the current one, and reports on it. */
static inline void scenario_make(struct made *made, const struct scenario *scenario,
				 unsigned int by)
{
	memset(made, 0, sizeof(*made));
	tree_make(&made->tree, NULL, 0);
	scenario_map(made, scenario);
	scenario_write(made, scenario);
	assert_int_equal(chdir(made->tree.root), 0);
	scenario_profile(made, scenario, by);
}

static inline void scenario_end(struct made *made)
{
	report_release(&made->report);
	table_release(&made->table);
	profile_release(&made->profile);
	symbolizer_free(made->symbolizer);
	bundle_close(&made->bundle);
	assert_int_equal(chdir("/"), 0);
	tree_remove(&made->tree);
}

#define SCENARIO_BY (REPORT_BY_FUNCTION | REPORT_BY_MODULE)

#endif
