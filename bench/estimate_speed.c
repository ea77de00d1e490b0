/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * estimate_speed DIRECTORY: what the estimates cost within a report, in CPU time.
 *
 * Writes a recording of ten minutes below the directory (1000 functions, 60 epochs, two clocks, 500
 * samples per second), reports on it as `assay report` does, and prints the share of its CPU time that
 * estimation took: shares, ranks, forecast, unseen, stability. Then the ranks alone of 4000 functions in 60
 * epochs, of a few large functions (Zipf) and of a flat profile, which has the most contenders.
 *
 * The least of some rounds counts: whatever else runs on the machine only adds.
 */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "bundle/bundle.h"
#include "bundle/perfdata_writer.h"
#include "diagnose/diagnosis.h"
#include "estimate/rank.h"
#include "estimate/sequential.h"
#include "estimate/stability.h"
#include "estimate/unseen.h"
#include "profile/profile.h"
#include "profile/table.h"
#include "report/build.h"
#include "report/text.h"

#define FUNCTIONS      1000
#define MANY           4000
#define EPOCHS         60
#define CLOCKS         2
#define EPOCH_NS       UINT64_C(10000000000)
#define PER_EPOCH      5000
#define ROUNDS         5
#define CODE           0x100000u
#define FUNCTION_BYTES 256u
#define SAMPLES_FOLDED 32768

static double cpu_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void must(enum status status, const struct error *error)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "estimate_speed: %s\n", error->text);
	exit(1);
}

/* Function s with a chance of about 1/(s + 10), or all alike. */
static size_t draw(struct random *random, size_t n, bool flat)
{
	const double u = random_double(random);
	const double low = 10;
	double at;

	if (flat)
		return (size_t)(u * (double)n);
	/* the inverse of the integral of 1/(s + 10) */
	at = low * pow(((double)n + low) / low, u) - low;
	return (size_t)at < n ? (size_t)at : n - 1;
}

/* ---- a recording ---- */

struct sample {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint64_t period;
};

static struct perf_event_attr attr_make(void)
{
	return (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 4000000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
		.exclude_kernel = 1,
	};
}

/* One anonymous mapping, named by the perf map. */
static enum status mapping_write(struct perfdata_writer *data, struct error *error)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t start, size, offset;
		char path[8];
	} map = {
		{ PERF_RECORD_MMAP, PERF_RECORD_MISC_USER, sizeof(map) },
		7,
		7,
		CODE,
		(uint64_t)FUNCTIONS * FUNCTION_BYTES,
		0,
		"//anon",
	};

	return perfdata_writer_append(data, &map, sizeof(map), error);
}

static enum status epoch_write(struct perfdata_writer *data, struct random *random, unsigned int e,
			       struct error *error)
{
	enum status status = STATUS_OK;

	for (unsigned int i = 0; i < PER_EPOCH && status == STATUS_OK; i++) {
		const struct sample sample = {
			{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample) },
			1 + i % CLOCKS,
			CODE + FUNCTION_BYTES * draw(random, FUNCTIONS, false) + 16,
			7,
			7,
			EPOCH_NS * (e + 1) + i * (EPOCH_NS / PER_EPOCH),
			4000000,
		};

		status = perfdata_writer_append(data, &sample, sizeof(sample), error);
	}
	return status == STATUS_OK ? perfdata_writer_commit(data, error) : status;
}

static void map_write(const char *directory)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/out.assay/maps", directory);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/out.assay/maps/perf-7.map", directory);
	file = fopen(path, "w");
	if (!file)
		exit(1);
	for (unsigned int i = 0; i < FUNCTIONS; i++)
		fprintf(file, "%x %x function_%04u\n", CODE + i * FUNCTION_BYTES, FUNCTION_BYTES,
			i);
	fclose(file);
}

static void manifest_fill(struct manifest *manifest, struct manifest_clock clocks[CLOCKS],
			  struct manifest_event *event, uint64_t ids[CLOCKS])
{
	manifest_init(manifest);
	manifest->schedule = SCHEDULE_JITTER;
	manifest->redraw = REDRAW_BLOCK;
	manifest->scope = SCOPE_CGROUP;
	manifest->events = event;
	manifest->n_events = 1;
	manifest->clocks = clocks;
	manifest->n_clocks = CLOCKS;
	for (unsigned int c = 0; c < CLOCKS; c++)
		clocks[c] = (struct manifest_clock){ .kind = SCHEDULE_JITTER,
						     .redraw = REDRAW_BLOCK,
						     .block = 10,
						     .randomised = true,
						     .mean_period = 4000000,
						     .low = 0.5,
						     .high = 1.5,
						     .target_hz = 250,
						     .ids = &ids[c],
						     .n_ids = 1 };
}

static void recording_write(const char *directory)
{
	struct perf_event_attr attr = attr_make();
	uint64_t ids[CLOCKS] = { 1, 2 };
	const struct perfdata_writer_event event = { &attr, "cpu-clock", ids, CLOCKS };
	const struct perfdata_writer_features features = { .clock_id = -1 };
	const struct manifest_end end = { .present = true, .samples = EPOCHS * PER_EPOCH };
	struct manifest_event asked = { .asked = (char *)"cpu-clock",
					.granted = (char *)"cpu-clock",
					.unit = (char *)"ns" };
	struct manifest_clock clocks[CLOCKS];
	struct bundle_output *bundle;
	struct manifest manifest;
	struct manifest_writer *contract;
	struct perfdata_writer *data;
	struct random random;
	struct error error;
	char path[4096];

	snprintf(path, sizeof(path), "%s/out.assay", directory);
	random_init(&random, 1, 0, 0, 0);
	manifest_fill(&manifest, clocks, &asked, ids);
	must(bundle_create(&bundle, sys_real(), path, &error), &error);
	must(perfdata_writer_create(&data, sys_real(), bundle_output_dir_fd(bundle), "perf.data",
				    &event, 1, &error),
	     &error);
	must(manifest_writer_create(&contract, sys_real(), bundle_output_dir_fd(bundle),
				    "manifest.json", &manifest, &error),
	     &error);
	must(mapping_write(data, &error), &error);
	for (unsigned int e = 0; e < EPOCHS; e++) {
		struct manifest_epoch_clock cells[CLOCKS] = { { .mean_period = 4000000 },
							      { .mean_period = 4000000 } };
		struct manifest_epoch epoch = { .index = e,
						.start_ns = EPOCH_NS * (e + 1),
						.end_ns = EPOCH_NS * (e + 2),
						.clocks = cells };

		must(epoch_write(data, &random, e, &error), &error);
		epoch.data_bytes = perfdata_writer_data_bytes(data);
		must(manifest_writer_epoch(contract, &manifest, &epoch, NULL, 0, NULL, 0, &error),
		     &error);
	}
	must(perfdata_writer_finish(data, &features, &error), &error);
	must(manifest_writer_end(contract, &end, &error), &error);
	perfdata_writer_close(data);
	manifest_writer_close(contract);
	must(bundle_output_publish(bundle, &error), &error);
	bundle_output_close(bundle);
	map_write(directory);
}

/* ---- estimates ---- */

static double estimates_ms(const struct estimate_table *table)
{
	const struct estimate_rank_options rank_options = { .family = ESTIMATE_FAMILY_RECORDING };
	const struct estimate_until_options until_options = { .kind = ESTIMATE_UNTIL_ORDER };
	const double start = cpu_ms();
	struct estimate_shares shares;
	struct estimate_stability stability;
	struct estimate_unseen unseen;
	struct estimate_until until;
	struct estimate_ranks ranks;
	struct estimate_claim claim;
	struct error error;
	double end;

	must(estimate_shares(&shares, table, NULL, &error), &error);
	must(estimate_ranks(&ranks, table, &shares, &rank_options, &error), &error);
	must(estimate_until(&until, table, &until_options, &error), &error);
	must(estimate_unseen(&unseen, table, shares.serial, 0, &error), &error);
	claim = (struct estimate_claim){ ranks.order, ranks.top_k };
	must(estimate_stability(&stability, table, &shares, &claim, &error), &error);
	end = cpu_ms();
	estimate_ranks_release(&ranks);
	estimate_shares_release(&shares);
	return end - start;
}

/* CPU time of the whole report; that of its estimates is made once more, so that it can be told apart. */
static double report_ms(const char *directory, double *estimates)
{
	const struct profile_options profile_options = { .event = NULL };
	const struct diagnosis_options diagnosis_options = { .samples = SAMPLES_FOLDED };
	const struct text_options text = { .percent_limit = TEXT_DEFAULT_PERCENT,
					   .max_rows = TEXT_DEFAULT_ROWS };
	struct report_options report_options = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE };
	const double start = cpu_ms();
	struct symbolizer_options symbols = { .demangle = true };
	struct symbolizer *symbolizer;
	struct diagnosis diagnosis;
	struct estimate_table table_of;
	struct profile profile;
	struct output output;
	struct report report;
	struct bundle bundle;
	struct table table;
	struct error error;
	char path[4096], maps[4200];
	double end;

	snprintf(path, sizeof(path), "%s/out.assay", directory);
	snprintf(maps, sizeof(maps), "%s/maps", path);
	symbols.map_dir = maps;
	must(bundle_open(&bundle, sys_real(), path, &error), &error);
	must(symbolizer_new(&symbolizer, sys_real(), &symbols, &error), &error);
	must(profile_build(&profile, &bundle, symbolizer, sys_real(), &profile_options, &error),
	     &error);
	must(table_build(&table, &profile, SUBJECT_FUNCTION, false, &error), &error);
	must(diagnosis_make(&diagnosis, &profile, &table, &diagnosis_options, &error), &error);
	report_options.findings = &diagnosis.findings;
	must(report_build(&report, &profile, &table, &report_options, &error), &error);
	output_init(&output);
	report_text_render(&report, &text, &output);
	must(output_check(&output, &error), &error);
	end = cpu_ms();
	table_of = table_estimate_self(&table, true);
	*estimates = estimates_ms(&table_of);
	output_release(&output);
	report_release(&report);
	diagnosis_release(&diagnosis);
	table_release(&table);
	profile_release(&profile);
	symbolizer_free(symbolizer);
	bundle_close(&bundle);
	return end - start;
}

/* ---- ranks of many functions ---- */

struct many {
	struct estimate_table table;
	size_t first[MANY + 1];
	struct estimate_count counts[MANY * EPOCHS * CLOCKS];
	double cell_weight[EPOCHS * CLOCKS];
	uint32_t cell_count[EPOCHS * CLOCKS];
};

static void many_fill(struct many *many, bool flat)
{
	static uint32_t dense[MANY][EPOCHS * CLOCKS];
	struct random random;
	size_t n = 0;

	memset(dense, 0, sizeof(dense));
	memset(many, 0, sizeof(*many));
	random_init(&random, 2, flat, 0, 0);
	for (unsigned int cell = 0; cell < EPOCHS * CLOCKS; cell++) {
		for (unsigned int i = 0; i < PER_EPOCH / CLOCKS; i++)
			dense[draw(&random, MANY, flat)][cell]++;
		many->cell_count[cell] = PER_EPOCH / CLOCKS;
		many->cell_weight[cell] = PER_EPOCH / CLOCKS;
	}
	for (size_t s = 0; s < MANY; s++) {
		for (uint32_t cell = 0; cell < EPOCHS * CLOCKS; cell++)
			if (dense[s][cell])
				many->counts[n++] = (struct estimate_count){ cell, dense[s][cell],
									     dense[s][cell] };
		many->first[s + 1] = n;
	}
	many->table = (struct estimate_table){ .n_functions = MANY,
					       .n_epochs = EPOCHS,
					       .n_clocks = CLOCKS,
					       .first = many->first,
					       .counts = many->counts,
					       .cell_weight = many->cell_weight,
					       .cell_count = many->cell_count,
					       .randomised = true };
}

static double ranks_ms(const struct many *many)
{
	const struct estimate_rank_options options = { .family = ESTIMATE_FAMILY_RECORDING };
	struct estimate_shares shares;
	struct estimate_ranks ranks;
	struct error error;
	double start, end;

	must(estimate_shares(&shares, &many->table, NULL, &error), &error);
	start = cpu_ms();
	must(estimate_ranks(&ranks, &many->table, &shares, &options, &error), &error);
	end = cpu_ms();
	estimate_ranks_release(&ranks);
	estimate_shares_release(&shares);
	return end - start;
}

int main(int argc, char **argv)
{
	struct many *many = malloc(sizeof(*many));
	double report = 1e9, estimates = 1e9;

	if (argc != 2 || !many) {
		fprintf(stderr, "usage: estimate_speed DIRECTORY\n");
		return 2;
	}
	recording_write(argv[1]);
	for (int i = 0; i < ROUNDS; i++) {
		double estimate;
		const double ms = report_ms(argv[1], &estimate);

		report = ms < report ? ms : report;
		estimates = estimate < estimates ? estimate : estimates;
	}
	printf("report_ms %.3f\nestimates_ms %.3f\n", report, estimates);
	for (int flat = 0; flat < 2; flat++) {
		double least = 1e9;

		many_fill(many, flat);
		for (int i = 0; i < ROUNDS; i++) {
			const double ms = ranks_ms(many);

			least = ms < least ? ms : least;
		}
		printf("ranks_%s_ms %.3f\n", flat ? "flat" : "zipf", least);
	}
	free(many);
	return 0;
}
