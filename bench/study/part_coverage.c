/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Coverage and width of the intervals for this recording and this workload, beside other methods; the
 * designs of clocks; and the fixed clock that must fail.
 */
#include <math.h>
#include <string.h>

#include "study/tally.h"

#define RECORDINGS 2000

struct cell {
	size_t epochs;
	double rate;
	const char *label;
};

static void cell_run(struct tally *tally, struct study *study, const struct workload *workload,
		     const struct design *design, size_t epochs, double spread, size_t recordings,
		     uint64_t seed, bool baselines)
{
	double lengths[200];

	(void)study;
	tally_init(tally, recordings);
	for (size_t r = 0; r < recordings; r++) {
		struct recording recording;

		epochs_uniform(lengths, epochs, 0.2, spread, seed + r);
		if (!recording_make(&recording, workload, design, lengths, epochs, seed + r))
			return;
		tally_add(tally, &recording, &recording.table, workload, baselines);
		recording_release(&recording);
	}
}

static void methods_print(struct study *study, const char *title,
			  struct tally_method methods[METHODS][WATCHED], bool with_support,
			  size_t recordings)
{
	fprintf(study->out, "    %-10s", title);
	for (size_t m = 0; m < METHODS; m++) {
		double low, high;

		tally_range(methods[m], &low, &high);
		fprintf(study->out, " %5.1f..%-5.1f", low, high);
	}
	if (with_support)
		fprintf(study->out, "  unsupported %4.1f %%",
			100 - 100 * (double)methods[METHOD_ASSAY][0].supported /
					(double)recordings);
	fputc('\n', study->out);
	fprintf(study->out, "    %-10s", "  width");
	for (size_t m = 0; m < METHODS; m++)
		fprintf(study->out, " %5.2f/%-5.2f", 100 * tally_width(&methods[m][0]),
			100 * tally_width(&methods[m][1]));
	fputc('\n', study->out);
}

#define WIDTH_MOST        1.10
#define WIDTH_MOST_UNEVEN 1.50

/* Width beside the narrowest method that covers. */
static void widths_claim(struct study *study, struct tally_method methods[METHODS][WATCHED],
			 double covers, double most, const char *name, const char *what)
{
	for (size_t w = 0; w < WATCHED; w++) {
		double narrowest = INFINITY;
		size_t which = METHOD_ASSAY;

		for (size_t m = 0; m < METHODS; m++) {
			const struct tally_method *method = &methods[m][w];
			const double width = tally_width(method);

			if (coverage(method, method->supported) < 100 * covers ||
			    width >= narrowest)
				continue;
			narrowest = width;
			which = m;
		}
		study_claim(study, tally_width(&methods[METHOD_ASSAY][w]) <= most * narrowest,
			    "%s, function %zu, %s: width %.3f points, %.2f of the narrowest that "
			    "covers (%s)",
			    name, watched_functions[w], what,
			    100 * tally_width(&methods[METHOD_ASSAY][w]),
			    tally_width(&methods[METHOD_ASSAY][w]) / narrowest,
			    method_names[which]);
	}
}

static void recording_claims(struct study *study, const struct tally *tally, const char *name)
{
	for (size_t w = 0; w < WATCHED; w++) {
		const struct tally_method *method = &tally->recording[METHOD_ASSAY][w];

		study_at_least(study, method->covered, method->supported, 0.93,
			       "%s, function %zu: this recording", name, watched_functions[w]);
		study_at_most(study, method->covered, method->supported, 0.997,
			      "%s, function %zu: this recording", name, watched_functions[w]);
	}
}

/* What intervals for the workload must cover; 0 where there is no share of the workload to find. */
static double workload_limit(const struct workload *workload)
{
	if (!workload->steady || !strcmp(workload->name, "hard bursts") ||
	    !strcmp(workload->name, "autocor"))
		return 0;
	if (!strcmp(workload->name, "random epochs"))
		return 0.91;
	return strcmp(workload->name, "bursts") ? 0.94 : 0.88;
}

static void workload_claims(struct study *study, const struct tally *tally,
			    const struct workload *workload)
{
	const double limit = workload_limit(workload);

	if (!strcmp(workload->name, "autocor"))
		study_at_least(study,
			       tally->recordings - tally->workload[METHOD_ASSAY][0].supported,
			       tally->recordings, 0.80, "autocor of 3 phases is flagged");
	for (size_t w = 0; w < WATCHED && limit > 0; w++) {
		const struct tally_method *method = &tally->workload[METHOD_ASSAY][w];

		study_at_least(study, method->covered, method->supported, limit,
			       "%s, function %zu: this workload", workload->name,
			       watched_functions[w]);
	}
}

/* All cells and functions together: far sharper than cell by cell in a brief study. Functions of one
 * recording are not independent, so a recording counts once. */
static void pooled_claim(struct study *study, size_t covered, size_t recordings)
{
	study_at_least(study, covered / WATCHED, recordings, 0.94,
		       "this recording, all workloads and functions together");
	study_at_most(study, covered / WATCHED, recordings, 0.985,
		      "this recording, all workloads and functions together");
}

static void heading(struct study *study)
{
	fprintf(study->out, "    %-10s", "");
	for (size_t m = 0; m < METHODS; m++)
		fprintf(study->out, " %-12s", method_names[m]);
	fputc('\n', study->out);
}

static void standard_cells(struct study *study, struct workload *workloads)
{
	const struct design design = design_standard();
	size_t covered = 0, recordings = 0;

	fprintf(study->out, "\n## Coverage %% (lowest..highest of four functions) and median width "
			    "in points (40 / 7 %%)\n"
			    "20 epochs of 0.2 s, 2 clocks, 500 samples/s\n");
	heading(study);
	for (size_t i = 0; i < WORKLOADS_STANDARD; i++) {
		const size_t n = study_recordings(study, i == 8 ? RECORDINGS / 4 : RECORDINGS);
		struct tally tally;

		fprintf(study->out, "%s\n", workloads[i].name);
		cell_run(&tally, study, &workloads[i], &design, 20, 0.4, n, 1000000 * (i + 1),
			 true);
		methods_print(study, "recording", tally.recording, false, n);
		methods_print(study, "workload", tally.workload, true, n);
		recording_claims(study, &tally, workloads[i].name);
		workload_claims(study, &tally, &workloads[i]);
		for (size_t w = 0; w < WATCHED; w++)
			covered += tally.recording[METHOD_ASSAY][w].covered;
		recordings += n;
		if (!study->brief)
			widths_claim(study, tally.recording, 0.93, WIDTH_MOST, workloads[i].name,
				     "this recording");
		/* Where epochs do differ (bursts), or seem to, since they cut slow cycles into pieces, binomial
		 * intervals cover some functions by luck; nobody could know which. */
		if (!study->brief && workload_limit(&workloads[i]) > 0)
			widths_claim(study, tally.workload, 0.93,
				     i == 0 || i == 1 || i == 8 ? WIDTH_MOST : WIDTH_MOST_UNEVEN,
				     workloads[i].name, "this workload");
		tally_release(&tally);
	}
	pooled_claim(study, covered, recordings);
}

/* Fewer and more epochs, and other rates: recording and workload coverage of assay alone. */
static void other_cells(struct study *study, struct workload *workloads)
{
	const struct cell cells[] = {
		{ 5, 500, "5 epochs" },       { 7, 500, "7 epochs" },
		{ 10, 500, "10 epochs" },     { 60, 500, "60 epochs" },
		{ 20, 100, "100 samples/s" }, { 20, 1000, "1000 samples/s" },
	};

	fprintf(study->out,
		"\n## Other numbers of epochs, other rates (recording; workload, unsupported)\n");
	for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
		fprintf(study->out, "%s\n", cells[c].label);
		for (size_t i = 0; i < WORKLOADS_STANDARD; i++) {
			/* equal work: fewer of the long ones */
			const size_t wanted =
				cells[c].epochs > 20 ? RECORDINGS / 5 : RECORDINGS / 2;
			const size_t n = study_recordings(study, i == 8 ? wanted / 4 : wanted);
			struct design design = design_standard();
			struct tally tally;
			double low, high, low_workload, high_workload;
			char name[96];

			design.rate = cells[c].rate;
			cell_run(&tally, study, &workloads[i], &design, cells[c].epochs, 0.4, n,
				 1000000 * (20 + 10 * c + i), false);
			tally_range(tally.recording[METHOD_ASSAY], &low, &high);
			tally_range(tally.workload[METHOD_ASSAY], &low_workload, &high_workload);
			fprintf(study->out, "    %-14s %5.1f..%-5.1f  %5.1f..%-5.1f %4.1f %%\n",
				workloads[i].name, low, high, low_workload, high_workload,
				100 - 100 * (double)tally.workload[METHOD_ASSAY][0].supported /
						(double)n);
			snprintf(name, sizeof(name), "%s, %s", cells[c].label, workloads[i].name);
			recording_claims(study, &tally, name);
			tally_release(&tally);
		}
	}
}

static void designs(struct study *study, struct workload *workloads)
{
	const struct design all[] = {
		design_standard(),
		{ "block, after a sample", CLOCK_BLOCK, 2, 500, 5, 15, true, 0, false, false },
		{ "every sample", CLOCK_SAMPLE, 2, 500, 0, 0, false, 0, false, false },
		{ "exponential", CLOCK_EXPONENTIAL, 2, 500, 0, 0, false, 0, false, false },
		{ "fixed, phase redrawn", CLOCK_FIXED_PHASED, 2, 500, 0, 0, false, 0, false,
		  false },
		{ "fixed, free-running", CLOCK_FIXED, 2, 500, 0, 0, false, 0, false, false },
		{ "block, 1 clock", CLOCK_BLOCK, 1, 500, 5, 15, false, 0, false, false },
		{ "block, 4 clocks", CLOCK_BLOCK, 4, 500, 5, 15, false, 0, false, false },
	};
	const size_t n = study_recordings(study, RECORDINGS / 2);

	fprintf(study->out,
		"\n## Clocks: coverage %% for this recording, median width (40 %% function), "
		"period weights chosen, samples per nominal one\n");
	for (size_t d = 0; d < sizeof(all) / sizeof(all[0]); d++) {
		/* a brief study makes sure that the fixed clock fails */
		if (study->brief && all[d].kind != CLOCK_FIXED)
			continue;
		fprintf(study->out, "%s\n", all[d].name);
		for (size_t i = 0; i < 4; i++) {
			struct tally tally;
			double low, high;

			cell_run(&tally, study, &workloads[i], &all[d], 20, 0.4, n,
				 1000000 * (100 + 10 * d + i), false);
			tally_range(tally.recording[METHOD_ASSAY], &low, &high);
			fprintf(study->out, "    %-8s %5.1f..%-5.1f  %5.2f  %5.1f %%  %.2f\n",
				workloads[i].name, low, high,
				100 * tally_width(&tally.recording[METHOD_ASSAY][0]),
				100 * (double)tally.period_weights / (double)n,
				tally.samples / (double)n / 2000);
			if (all[d].kind == CLOCK_FIXED && i > 0 && i < 3)
				study_claim(
					study, low < 80,
					"a free-running fixed clock on %s fails: coverage %.1f %%",
					workloads[i].name, low);
			tally_release(&tally);
		}
	}
}

/* The worst cycle for a clock of blocks: equal to its mean interval, or a simple ratio to it. Blocks are as
 * long as the recorder makes them where a redraw is cheap and where it is dear. */
static void in_step(struct study *study)
{
	const struct {
		double cycle, redraw_min, redraw_max;
	} all[] = {
		{ 4e-3, 5, 15 },  { 4e-3, 10, 30 }, { 4e-3, 32, 96 },
		{ 2e-3, 10, 30 }, { 8e-3, 10, 30 },
	};
	const size_t n = study_recordings(study, RECORDINGS / 2);

	fprintf(study->out,
		"\n## Cycles in step with the clocks' mean interval of 4 ms: coverage %% for "
		"this recording, median width (40 %% function)\n");
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct workload workload = workload_new("in step", BEHAVIOUR_CYCLE, standard_shares,
							STANDARD_FUNCTIONS);
		struct design design = design_standard();
		struct tally tally;
		double low, high;
		char name[96];

		workload.cycle = all[i].cycle;
		design.redraw_min = all[i].redraw_min;
		design.redraw_max = all[i].redraw_max;
		cell_run(&tally, study, &workload, &design, 20, 0.4, n, 1000000 * (250 + i), false);
		tally_range(tally.recording[METHOD_ASSAY], &low, &high);
		snprintf(name, sizeof(name), "cycle %g ms, blocks of %g-%g intervals",
			 1e3 * all[i].cycle, all[i].redraw_min, all[i].redraw_max);
		fprintf(study->out, "    %-40s %5.1f..%-5.1f  %5.2f\n", name, low, high,
			100 * tally_width(&tally.recording[METHOD_ASSAY][0]));
		recording_claims(study, &tally, name);
		tally_release(&tally);
		workload_free(&workload);
	}
}

/* Short tasks: clocks per CPU, per task from their birth on, per task with a residual first interval. */
static void tasks(struct study *study)
{
	struct workload workload =
		workload_new("tasks", BEHAVIOUR_TASKS, standard_shares, STANDARD_FUNCTIONS);
	struct design all[3] = { design_standard(), design_standard(), design_standard() };
	const char *names[3] = { "per CPU", "per task, whole first interval",
				 "per task, residual first interval" };
	const size_t n = study_recordings(study, 400);

	workload.part = 0.5;
	workload.cycle = 2e-3;
	for (int d = 1; d < 3; d++) {
		all[d].kind = CLOCK_SAMPLE;
		all[d].per_task = true;
		all[d].residual = d == 2;
	}
	fprintf(study->out, "\n## Tasks that live 2 ms of CPU time on average, half of the time: "
			    "coverage %%\n");
	for (int d = 0; d < 3; d++) {
		struct tally tally;
		double low, high;

		cell_run(&tally, study, &workload, &all[d], 20, 0.4, n,
			 1000000 * (200 + (uint64_t)d), false);
		tally_range(tally.recording[METHOD_ASSAY], &low, &high);
		fprintf(study->out, "    %-36s %5.1f..%-5.1f  samples per nominal one %.2f\n",
			names[d], low, high, tally.samples / (double)n / 2000);
		if (d == 1)
			study_claim(study, low < 80,
				    "clocks that start with each task fail: %.1f %%", low);
		else
			recording_claims(study, &tally, names[d]);
		tally_release(&tally);
	}
	workload_free(&workload);
}

void part_coverage(struct study *study)
{
	struct workload workloads[WORKLOADS_STANDARD];

	workloads_standard(workloads);
	standard_cells(study, workloads);
	if (!study->brief)
		other_cells(study, workloads);
	designs(study, workloads);
	in_step(study);
	tasks(study);
	for (size_t i = 0; i < WORKLOADS_STANDARD; i++)
		workload_free(&workloads[i]);
}
