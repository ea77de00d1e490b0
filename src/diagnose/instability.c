/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/instability.h"

#include <math.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"

#define MIGRATION_TOLD    0.02 /* of consecutive samples of a thread on another CPU */
#define MOVES_MIN         50
#define LOAD_TOLD         0.05
#define LOAD_WARN         0.15
#define STEAL_TOLD        0.002
#define STEAL_WARN        0.01
#define EPOCH_TOLD_NS     100e6 /* ticks are 10 ms */
#define FREQUENCY_RANGE   1.05
#define TEMPERATURE_RANGE 10.0

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

/* ---- what the recorder read of the machine, epoch by epoch ---- */

struct weather {
	double length, capacity;          /* ns; ns times CPUs */
	double busy, steal, others;       /* ns */
	double worst_others, worst_steal; /* fraction of one epoch's capacity */
	size_t worst_others_epoch, worst_steal_epoch;
	double slowest_khz, fastest_khz, coldest, hottest; /* NAN: unknown */
	bool known;
};

static struct weather weather_of(const struct manifest *manifest)
{
	const double cpus = manifest->machine.cpus_online ? manifest->machine.cpus_online : 1;
	struct weather w = {
		.slowest_khz = NAN, .fastest_khz = NAN, .coldest = NAN, .hottest = NAN
	};

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const struct manifest_epoch *epoch = &manifest->epochs[e];
		const double length = (double)(epoch->end_ns - epoch->start_ns);
		const double own = (double)epoch->target_cpu_ns + (double)epoch->collector_cpu_ns;
		const double others = fmax(0, (double)epoch->busy_ns - own);

		w.known |= epoch->busy_ns > 0;
		w.length += length;
		w.capacity += length * cpus;
		w.busy += (double)epoch->busy_ns;
		w.steal += (double)epoch->steal_ns;
		w.others += others;
		/* the kernel counts in ticks: shorter epochs say little */
		if (length >= EPOCH_TOLD_NS && others / (length * cpus) > w.worst_others) {
			w.worst_others = others / (length * cpus);
			w.worst_others_epoch = e;
		}
		if (length >= EPOCH_TOLD_NS &&
		    (double)epoch->steal_ns / (length * cpus) > w.worst_steal) {
			w.worst_steal = (double)epoch->steal_ns / (length * cpus);
			w.worst_steal_epoch = e;
		}
		if (epoch->frequency_khz) {
			w.slowest_khz = fmin(w.slowest_khz, (double)epoch->frequency_khz);
			w.fastest_khz = fmax(w.fastest_khz, (double)epoch->frequency_khz);
		}
		if (epoch->temperature_millidegree) {
			w.coldest = fmin(w.coldest, (double)epoch->temperature_millidegree / 1000);
			w.hottest = fmax(w.hottest, (double)epoch->temperature_millidegree / 1000);
		}
	}
	return w;
}

static void load_find(struct findings *findings, const struct weather *w)
{
	const double part = w->capacity > 0 ? w->others / w->capacity : 0;
	char percent[32], worst[32];
	struct finding *finding;

	if (!w->known || part < LOAD_TOLD)
		return;
	finding = findings_add(
		findings, CODE_LOAD, part >= LOAD_WARN ? FINDING_WARNING : FINDING_INFO,
		"Other programs used %s of the machine's CPU time meanwhile (up to %s in one "
		"epoch): the program was interrupted, its caches were shared, and the collector "
		"had to wait its turn.",
		conduct_percent(part, percent, sizeof(percent)),
		conduct_percent(fmin(1, fmax(part, w->worst_others)), worst, sizeof(worst)));
	finding_next(findings, finding,
		     "Measure on a quiet machine, or give the program CPUs of its own.");
	finding_number(findings, finding, "share", part);
	finding_number(findings, finding, "worst_share", w->worst_others);
	finding_number(findings, finding, "worst_epoch", (double)w->worst_others_epoch);
	finding_number(findings, finding, "other_cpu_ns", w->others);
}

static void steal_find(struct findings *findings, const struct weather *w)
{
	const double part = w->capacity > 0 ? w->steal / w->capacity : 0;
	char percent[32], worst[32];
	struct finding *finding;

	if (part < STEAL_TOLD)
		return;
	finding = findings_add(
		findings, CODE_STEAL, part >= STEAL_WARN ? FINDING_WARNING : FINDING_INFO,
		"The hypervisor gave %s of this machine's CPU time to others (up to %s in one "
		"epoch): timers fire late, and time seems to pass in whatever was running.",
		conduct_percent(part, percent, sizeof(percent)),
		conduct_percent(fmax(part, w->worst_steal), worst, sizeof(worst)));
	finding_next(findings, finding, "Ask for dedicated CPUs, or measure at a quieter time.");
	finding_number(findings, finding, "share", part);
	finding_number(findings, finding, "worst_share", w->worst_steal);
	finding_number(findings, finding, "worst_epoch", (double)w->worst_steal_epoch);
	finding_number(findings, finding, "steal_ns", w->steal);
}

static void frequency_find(struct findings *findings, const struct manifest *manifest,
			   const struct weather *w)
{
	const bool moved = w->fastest_khz > FREQUENCY_RANGE * w->slowest_khz;
	const bool heated = w->hottest - w->coldest > TEMPERATURE_RANGE;
	struct finding *finding;

	if (!moved && !heated)
		return;
	if (moved)
		finding = findings_add(
			findings, CODE_FREQUENCY, FINDING_WARNING,
			"The CPUs ran at %.2f to %.2f GHz meanwhile%s%s: the same work took "
			"different times, and shares of time are not shares of work.",
			w->slowest_khz / 1e6, w->fastest_khz / 1e6,
			manifest->machine.governor ? ", under governor " : "",
			manifest->machine.governor ? manifest->machine.governor : "");
	else
		finding = findings_add(
			findings, CODE_FREQUENCY, FINDING_INFO,
			"The machine grew warmer by %.0f degrees meanwhile (to %.0f): it may have "
			"slowed down.",
			w->hottest - w->coldest, w->hottest);
	finding_next(findings, finding,
		     "cpupower frequency-set -g performance; turn turbo off to compare runs.");
	finding_number(findings, finding, "slowest_khz", w->slowest_khz);
	finding_number(findings, finding, "fastest_khz", w->fastest_khz);
	finding_number(findings, finding, "coldest_degree", w->coldest);
	finding_number(findings, finding, "hottest_degree", w->hottest);
}

void instability_find(struct findings *findings, const struct trace *trace,
		      const struct manifest *manifest)
{
	struct weather weather;

	if (trace)
		migration_find(findings, trace);
	if (!manifest)
		return;
	weather = weather_of(manifest);
	load_find(findings, &weather);
	steal_find(findings, &weather);
	frequency_find(findings, manifest, &weather);
}
