/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/instability.h"

#include <math.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"

#define MIGRATION_TOLD 0.02 /* of consecutive samples of a thread on another CPU */
#define MOVES_MIN      50

static void migration_find(struct findings *findings, const struct trace *trace)
{
	const struct trace_thread *most = NULL;
	double migrations = 0, moves = 0;
	struct finding *finding;
	char percent[32];

	for (size_t t = 0; t < trace->n_threads; t++) {
		migrations += (double)trace->threads[t].migrations;
		moves += (double)trace->threads[t].moves;
		if (!most || trace->threads[t].migrations > most->migrations)
			most = &trace->threads[t];
	}
	if (moves < MOVES_MIN || migrations < MIGRATION_TOLD * moves)
		return;
	finding = findings_add(
		findings, CODE_MIGRATION, FINDING_INFO,
		"Threads moved between CPUs: %s of the samples are on another CPU than the sample "
		"before of the same thread (thread %u most). Caches are cold after each move.",
		conduct_percent(migrations / moves, percent, sizeof(percent)), most->tid);
	finding_next(findings, finding, "To rule it out, pin the program: taskset -c N ...");
	finding_number(findings, finding, "migrations", migrations);
	finding_number(findings, finding, "samples", moves);
	finding_number(findings, finding, "share", migrations / moves);
	finding_number(findings, finding, "tid", most->tid);
}

void instability_find(struct findings *findings, const struct trace *trace,
		      const struct manifest *manifest)
{
	(void)manifest;
	migration_find(findings, trace);
}
