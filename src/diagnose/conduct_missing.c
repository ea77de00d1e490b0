/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is missing from the recording, and where in time: loss, throttling, a late collector, and time
 * that no epoch covers.
 */
#include "diagnose/conduct.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/finding_code.h"

/* A collector that comes later than this part of an epoch left the old periods in force for as long. */
#define STARVED_EPOCH_PART 0.25

static double since_start_s(const struct manifest *manifest, uint64_t ns)
{
	const uint64_t start =
		manifest->n_epochs ? manifest->epochs[0].start_ns : manifest->start_ns;

	return ((double)ns - (double)start) / 1e9;
}

/* How much of something each epoch has, and in which stretch of them most of it lies. */
struct spread {
	double total, worst;
	size_t epochs, worst_epoch;
	size_t from, to; /* the shortest stretch of epochs that holds 80 % of it */
};

typedef double (*epoch_amount)(const struct manifest *manifest, const struct manifest_epoch *epoch);

static struct spread spread_of(const struct manifest *manifest, epoch_amount amount)
{
	struct spread spread = { 0 };
	size_t shortest = manifest->n_epochs + 1, from = 0;
	double inside = 0;

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const double here = amount(manifest, &manifest->epochs[e]);

		spread.total += here;
		spread.epochs += here > 0;
		if (here > spread.worst) {
			spread.worst = here;
			spread.worst_epoch = e;
		}
	}
	for (size_t e = 0; e < manifest->n_epochs && spread.total > 0; e++) {
		inside += amount(manifest, &manifest->epochs[e]);
		while (inside - amount(manifest, &manifest->epochs[from]) >= 0.8 * spread.total)
			inside -= amount(manifest, &manifest->epochs[from++]);
		if (inside >= 0.8 * spread.total && e + 1 - from < shortest) {
			shortest = e + 1 - from;
			spread.from = from;
			spread.to = e;
		}
	}
	return spread;
}

/* " between 1.2 and 3.4 s", or "" when it is spread over most of the recording. */
static void spread_place(const struct manifest *manifest, const struct spread *spread, char *text,
			 size_t size)
{
	text[0] = '\0';
	if (!spread->epochs || 2 * (spread->to + 1 - spread->from) > manifest->n_epochs)
		return;
	snprintf(text, size, ", most of it between %.1f and %.1f s",
		 since_start_s(manifest, manifest->epochs[spread->from].start_ns),
		 since_start_s(manifest, manifest->epochs[spread->to].end_ns));
}

static void spread_evidence(struct findings *findings, struct finding *finding,
			    const struct manifest *manifest, const struct spread *spread)
{
	if (!spread->epochs)
		return;
	finding_number(findings, finding, "epochs", (double)spread->epochs);
	finding_number(findings, finding, "epochs_total", (double)manifest->n_epochs);
	finding_number(findings, finding, "worst_epoch", (double)spread->worst_epoch);
	finding_number(findings, finding, "from_s",
		       since_start_s(manifest, manifest->epochs[spread->from].start_ns));
	finding_number(findings, finding, "to_s",
		       since_start_s(manifest, manifest->epochs[spread->to].end_ns));
}

static double epoch_lost(const struct manifest *manifest, const struct manifest_epoch *epoch)
{
	double lost = 0;

	for (size_t k = 0; k < manifest->n_clocks; k++)
		if (conduct_clock_counts(manifest, k))
			lost += (double)epoch->clocks[k].lost;
	return lost;
}

static double epoch_samples(const struct manifest *manifest, const struct manifest_epoch *epoch)
{
	double samples = 0;

	for (size_t k = 0; k < manifest->n_clocks; k++)
		if (conduct_clock_counts(manifest, k))
			samples += (double)epoch->clocks[k].samples;
	return samples;
}

void conduct_find_loss(struct findings *findings, const struct manifest *manifest)
{
	struct spread spread = spread_of(manifest, epoch_lost);
	double samples = 0, lost = spread.total, fraction;
	char place[80], percent[32];
	struct finding *finding;

	for (size_t e = 0; e < manifest->n_epochs; e++)
		samples += epoch_samples(manifest, &manifest->epochs[e]);
	if (manifest->end.present && (double)manifest->end.lost > lost && !spread.epochs)
		lost = (double)manifest->end.lost;
	if (!(lost > 0))
		return;
	fraction = lost / (lost + samples);
	spread_place(manifest, &spread, place, sizeof(place));
	finding = findings_add(
		findings, CODE_LOSS, conduct_missing_severity(fraction),
		"%.0f of %.0f samples (%s) were taken and lost%s. What they would have "
		"shown is unknown, so each share may be off by up to %s.",
		lost, lost + samples, conduct_percent(fraction, percent, sizeof(percent)), place,
		percent);
	finding_next(
		findings, finding,
		"Lower the rate (-F, or a smaller --budget), keep a CPU free for the collector, or "
		"raise kernel.perf_event_mlock_kb so that rings can be larger.");
	finding_touches_all(finding, fraction);
	finding_number(findings, finding, "lost", lost);
	finding_number(findings, finding, "samples", samples);
	finding_number(findings, finding, "share", fraction);
	spread_evidence(findings, finding, manifest, &spread);
}

static double epoch_throttled_ns(const struct manifest *manifest,
				 const struct manifest_epoch *epoch)
{
	double ns = 0;

	for (size_t k = 0; k < manifest->n_clocks; k++)
		if (conduct_clock_counts(manifest, k))
			ns += (double)epoch->clocks[k].throttled_ns;
	return ns;
}

/* Time over which clocks can be throttled: that of the recording, times its clocks' slots. A slot is a
 * CPU or a thread; one that did not run cannot be throttled, so this is a lower bound of the fraction,
 * and the number of clocks alone an upper one. The upper one is used: it errs on the safe side. */
static double throttle_room_ns(const struct manifest *manifest)
{
	double clocks = 0;

	for (size_t k = 0; k < manifest->n_clocks; k++)
		clocks += conduct_clock_counts(manifest, k);
	return clocks * (double)conduct_duration_ns(manifest);
}

void conduct_find_throttle(struct findings *findings, const struct manifest *manifest)
{
	const struct spread spread = spread_of(manifest, epoch_throttled_ns);
	const double room = throttle_room_ns(manifest);
	double times = 0, fraction;
	char place[80], percent[32], time[32];
	struct finding *finding;

	for (size_t e = 0; e < manifest->n_epochs; e++)
		for (size_t k = 0; k < manifest->n_clocks; k++)
			if (conduct_clock_counts(manifest, k))
				times += (double)manifest->epochs[e].clocks[k].throttled;
	if (!(times > 0))
		return;
	fraction = room > 0 ? fmin(1, spread.total / room) : NAN;
	spread_place(manifest, &spread, place, sizeof(place));
	finding = findings_add(
		findings, CODE_THROTTLE,
		isnan(fraction) ? FINDING_WARNING : conduct_missing_severity(fraction),
		"The kernel stopped sampling %.0f times, for %s in all (%s of the time)%s. It does "
		"so where "
		"most interrupts fall, so what was running then is missing from the shares.",
		times, conduct_time(spread.total, time, sizeof(time)),
		conduct_percent(isnan(fraction) ? 1 : fraction, percent, sizeof(percent)), place);
	finding_next(
		findings, finding,
		"Lower the rate below kernel.perf_event_max_sample_rate (%lld here), or raise that "
		"limit and kernel.perf_cpu_time_max_percent.",
		(long long)manifest->machine.max_sample_rate);
	finding_touches_all(finding, fraction);
	finding_number(findings, finding, "times", times);
	finding_number(findings, finding, "throttled_ns", spread.total);
	finding_number(findings, finding, "share", fraction);
	finding_number(findings, finding, "max_sample_rate",
		       (double)manifest->machine.max_sample_rate);
	spread_evidence(findings, finding, manifest, &spread);
}

static double epoch_late(const struct manifest *manifest, const struct manifest_epoch *epoch)
{
	const double length = (double)(epoch->end_ns - epoch->start_ns);

	(void)manifest;
	return (double)epoch->late_ns > STARVED_EPOCH_PART * length ? (double)epoch->late_ns : 0;
}

void conduct_find_starved(struct findings *findings, const struct manifest *manifest)
{
	const struct spread spread = spread_of(manifest, epoch_late);
	char longest[32], place[80];
	struct finding *finding;

	if (!spread.epochs)
		return;
	spread_place(manifest, &spread, place, sizeof(place));
	finding = findings_add(
		findings, CODE_STARVED, FINDING_WARNING,
		"The collector came late in %zu of %zu epochs, by up to %s%s: periods stayed in "
		"force longer than planned and rings came closer to overflowing.",
		spread.epochs, manifest->n_epochs,
		conduct_time(spread.worst, longest, sizeof(longest)), place);
	finding_next(findings, finding,
		     "Keep some CPU time free for the collector, or run it with a higher priority "
		     "(nice, "
		     "chrt).");
	finding_number(findings, finding, "longest_ns", spread.worst);
	spread_evidence(findings, finding, manifest, &spread);
}

void conduct_find_uncovered(struct findings *findings, const struct manifest *manifest)
{
	const double duration = (double)conduct_duration_ns(manifest);
	double gaps = 0, longest = 0, fraction, longest_s = 0;
	char percent[32], time[32];
	struct finding *finding;

	for (size_t e = 1; e < manifest->n_epochs; e++) {
		const double gap = (double)manifest->epochs[e].start_ns -
				   (double)manifest->epochs[e - 1].end_ns;

		if (gap <= 0)
			continue;
		gaps += gap;
		if (gap > longest) {
			longest = gap;
			longest_s = since_start_s(manifest, manifest->epochs[e - 1].end_ns);
		}
	}
	fraction = duration > 0 ? gaps / duration : 0;
	if (fraction < CONDUCT_MISSING_WARN)
		return;
	finding = findings_add(
		findings, CODE_UNCOVERED, conduct_missing_severity(fraction),
		"%s of the time (%s) lies between epochs and was not sampled; the longest gap "
		"begins %.1f s after the start.",
		conduct_percent(fraction, percent, sizeof(percent)),
		conduct_time(gaps, time, sizeof(time)), longest_s);
	finding_next(findings, finding,
		     "Record with longer epochs (--epoch), on a machine with a CPU to spare.");
	finding_touches_all(finding, fraction);
	finding_number(findings, finding, "share", fraction);
	finding_number(findings, finding, "uncovered_ns", gaps);
	finding_number(findings, finding, "longest_ns", longest);
	finding_number(findings, finding, "longest_at_s", longest_s);
}
