/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the recording is not the one that was asked for: other events, a weaker scope, a budget that
 * was not kept, tasks too short to be sampled, an end that never came, and incidents that the recorder
 * noted in its own words.
 */
#include "diagnose/conduct.h"

#include <math.h>
#include <string.h>

#include "diagnose/finding_code.h"

#define BUDGET_SLACK    1.25 /* an estimate from a calibrated cost is no better than this */
#define COST_PERTURBING 0.05 /* from here on a measurement changes what it measures */

/* Another schedule or rate than the one that was asked for, in the recorder's words. Events, which it notes
 * as well, have their own findings. */
static void contract_substitutions(struct findings *findings, const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_incidents; i++) {
		const struct manifest_incident *incident = &manifest->incidents[i];
		const bool schedule = incident->unit && !strcmp(incident->unit, "schedule");
		const bool rate = incident->unit && !strcmp(incident->unit, "rate");
		struct finding *finding;

		if (!incident->code || strcmp(incident->code, CODE_SUBSTITUTION) ||
		    !(schedule || rate) || !incident->text)
			continue;
		finding = findings_add(findings, CODE_SUBSTITUTION, FINDING_WARNING,
				       "Another %s than the one that was asked for: %s.",
				       incident->unit, incident->text);
		finding_next(findings, finding, "%s",
			     schedule ? "Record with --schedule jitter, which no program runs in "
					"step with."
				      : "Record for longer instead of faster.");
		finding_text(findings, finding, "what", incident->unit);
	}
}

void conduct_find_substitution(struct findings *findings, const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_events; i++) {
		const struct manifest_event *event = &manifest->events[i];
		struct finding *finding;

		if (!event->why)
			continue;
		finding = findings_add(findings, CODE_SUBSTITUTION, FINDING_WARNING,
				       "Asked for %s, measured %s: %s.", event->asked,
				       event->granted, event->why);
		finding_next(findings, finding,
			     "`assay doctor` says what this machine can count and which knob is in "
			     "the way.");
		finding_text(findings, finding, "asked", event->asked);
		finding_text(findings, finding, "granted", event->granted);
		finding_number(findings, finding, "precise_ip", event->precise_ip);
	}
	contract_substitutions(findings, manifest);
	if (manifest->scope_why) {
		const bool weak =
			manifest->scope == SCOPE_THREAD || manifest->scope == SCOPE_INHERIT;
		struct finding *finding = findings_add(
			findings, CODE_SUBSTITUTION_SCOPE, weak ? FINDING_WARNING : FINDING_INFO,
			"Clocks are attached %s: %s.",
			manifest->scope == SCOPE_THREAD    ? "to each thread instead of each CPU"
			: manifest->scope == SCOPE_INHERIT ? "to the first thread and inherited"
			: manifest->scope == SCOPE_CPU
				? "to each CPU and filtered by thread afterwards"
				: "to each CPU",
			manifest->scope_why);

		finding_next(findings, finding, "%s",
			     weak ? "Run as root, with CAP_PERFMON or at "
				    "kernel.perf_event_paranoid 0: clocks per CPU are right for "
				    "short tasks, clocks per thread are biased on them."
				  : "");
		finding_text(findings, finding, "scope", clock_scope_name(manifest->scope));
	}
}

/* What the cost was made of, in ns. */
struct cost_parts {
	double own;        /* CPU time of assay */
	double sampling;   /* of the target, by samples and redraws */
	double occurrence; /* the part of sampling that no rate lessens: every occurrence is taken */
};

static struct cost_parts cost_parts_of(const struct manifest *manifest)
{
	struct cost_parts parts = { 0, 0, 0 };

	for (size_t e = 0; e < manifest->n_epochs; e++) {
		const struct manifest_epoch *epoch = &manifest->epochs[e];

		parts.own += (double)epoch->collector_cpu_ns;
		for (size_t c = 0; c < manifest->n_clocks; c++) {
			const double cost =
				(double)epoch->clocks[c].samples * manifest->sample_cost_ns;

			parts.sampling += cost;
			if (manifest->clocks[c].mean_period == 1)
				parts.occurrence += cost;
		}
	}
	return parts;
}

/* With a budget in force, "use a budget" is no advice: what ate it decides. */
static void budget_next(struct findings *findings, struct finding *finding,
			const struct manifest *manifest)
{
	const struct cost_parts parts = cost_parts_of(manifest);
	const double all = parts.own + parts.sampling;
	char part[32];

	if (!(manifest->budget > 0))
		finding_next(findings, finding,
			     "Record at a lower rate, or with --budget instead of -F or -c.");
	else if (parts.occurrence > all / 2)
		finding_next(
			findings, finding,
			"Every occurrence of an event is taken, whatever the budget: -c N takes "
			"one in N.");
	else if (parts.own > all / 2)
		finding_next(
			findings, finding,
			"%s of that was assay's own work (%zu epochs, %llu tasks to follow), "
			"which no lower rate lessens and a longer recording pays off: record for "
			"longer, with longer epochs (--epoch 500), or allow a larger --budget.",
			conduct_percent(parts.own / all, part, sizeof(part)), manifest->n_epochs,
			(unsigned long long)manifest->end.tasks_seen);
	else
		finding_next(
			findings, finding,
			"Samples came faster, or the machine was busier, than when the rate was "
			"chosen: record for longer, so that the rate can follow, or allow a "
			"larger --budget.");
	finding_number(findings, finding, "own_cpu_ns", parts.own);
	finding_number(findings, finding, "sampling_ns", parts.sampling);
}

void conduct_find_budget(struct findings *findings, const struct manifest *manifest)
{
	const double achieved = manifest->end.present ? manifest->end.achieved : NAN;
	char had[32], wanted[32];
	struct finding *finding;
	size_t over = 0;

	if (isnan(achieved))
		return;
	if (manifest->budget > 0 ? achieved <= BUDGET_SLACK * manifest->budget
				 : achieved <= COST_PERTURBING)
		return;
	for (size_t e = 0; e < manifest->n_epochs; e++)
		over += manifest->epochs[e].achieved > BUDGET_SLACK * manifest->epochs[e].budget;
	conduct_percent(achieved, had, sizeof(had));
	if (manifest->budget > 0)
		finding = findings_add(
			findings, CODE_BUDGET, FINDING_WARNING,
			"Measuring cost %s of the program's CPU time, against a budget of %s.", had,
			conduct_percent(manifest->budget, wanted, sizeof(wanted)));
	else
		finding = findings_add(
			findings, CODE_BUDGET, FINDING_WARNING,
			"Measuring cost %s of the program's CPU time (the rate was given, not "
			"derived from a budget). So much changes what is measured.",
			had);
	budget_next(findings, finding, manifest);
	finding_number(findings, finding, "achieved", achieved);
	finding_number(findings, finding, "budget", manifest->budget);
	finding_number(findings, finding, "epochs_over", (double)over);
	finding_number(findings, finding, "sample_cost_ns", manifest->sample_cost_ns);
}

/* Clocks per CPU sample tasks in proportion to their time, however short they are: one without a
 * sample is chance. Clocks per thread start anew with each task. */
void conduct_find_short_tasks(struct findings *findings, const struct manifest *manifest)
{
	const struct manifest_end *end = &manifest->end;
	const bool per_task = manifest->scope == SCOPE_THREAD || manifest->scope == SCOPE_INHERIT;
	struct finding *finding;
	double fraction = NAN;
	char percent[32];

	if (!end->present || !end->tasks_unsampled)
		return;
	if (end->target_cpu_ns)
		fraction = fmin(1, (double)end->unsampled_cpu_ns / (double)end->target_cpu_ns);
	if (!per_task && !(fraction >= CONDUCT_MISSING_WARN))
		return;
	finding = findings_add(
		findings, CODE_SHORT_TASKS,
		!per_task         ? FINDING_INFO
		: isnan(fraction) ? FINDING_WARNING
				  : conduct_missing_severity(fraction),
		"%llu of %llu tasks ended before a sample fell on them%s%s%s%s.",
		(unsigned long long)end->tasks_unsampled, (unsigned long long)end->tasks_seen,
		isnan(fraction) ? "" : "; they used ",
		isnan(fraction) ? "" : conduct_percent(fraction, percent, sizeof(percent)),
		isnan(fraction) ? "" : " of the CPU time",
		per_task ? "" : ". Clocks are per CPU, so others of their kind stand for them");
	if (per_task) {
		finding_next(findings, finding,
			     "Run as root or with CAP_PERFMON, so that clocks can be per CPU: they "
			     "see short "
			     "tasks in proportion to their time.");
		finding_touches_all(finding, fraction);
	}
	finding_number(findings, finding, "tasks", (double)end->tasks_seen);
	finding_number(findings, finding, "unsampled", (double)end->tasks_unsampled);
	finding_number(findings, finding, "unsampled_cpu_ns", (double)end->unsampled_cpu_ns);
	finding_number(findings, finding, "share", fraction);
}

void conduct_find_unfinished(struct findings *findings, const struct manifest *manifest)
{
	const char *reason = manifest->end.present ? manifest->end.reason : NULL;
	const bool full = reason && !strcmp(reason, "disk-full");
	const bool limit = reason && !strcmp(reason, "file-limit");
	struct finding *finding;

	if (manifest->end.present && !full && !limit)
		return;
	if (full || limit)
		finding = findings_add(
			findings, CODE_UNFINISHED, FINDING_WARNING,
			"%s: the recording ends early, after %zu epochs. What came later is "
			"missing, what is here is whole.",
			full ? "The disk was full"
			     : "perf.data had reached the size that was allowed (ulimit -f)",
			manifest->n_epochs);
	else
		finding = findings_add(
			findings, CODE_UNFINISHED, FINDING_WARNING,
			"The recording was not closed (assay was killed?): read up to its last "
			"finished epoch, %zu in all. What came later is missing, what is here is "
			"whole.",
			manifest->n_epochs);
	finding_next(findings, finding, "%s",
		     full    ? "Record again to another file system (-o) or less (--max-size, a "
			       "lower rate) if the end of the program matters."
		     : limit ? "Record again with a higher ulimit -f or less (--max-size, a lower "
			       "rate) if the end of the program matters."
			     : "Record again if the end of the program matters.");
	finding_number(findings, finding, "epochs", (double)manifest->n_epochs);
	finding_number(findings, finding, "covered_ns", (double)conduct_duration_ns(manifest));
}

/* Those whose codes have a finding of their own, made from the epochs' sums. */
static bool incident_is_summed(const char *code)
{
	static const char *const summed[] = { CODE_LOSS,        CODE_THROTTLE,    CODE_STARVED,
					      CODE_RETUNE,      CODE_SHORT_TASKS, CODE_UNFINISHED,
					      CODE_BUDGET,      CODE_STEAL,       CODE_LOAD,
					      CODE_SUBSTITUTION };

	for (size_t i = 0; i < sizeof(summed) / sizeof(summed[0]); i++)
		if (!strcmp(code, summed[i]))
			return true;
	return false;
}

void conduct_find_incidents(struct findings *findings, const struct manifest *manifest)
{
	for (size_t i = 0; i < manifest->n_incidents; i++) {
		const struct manifest_incident *incident = &manifest->incidents[i];
		struct finding *finding;
		size_t same = 0;
		bool first = true;

		if (!incident->code || incident_is_summed(incident->code))
			continue;
		for (size_t j = 0; j < manifest->n_incidents; j++) {
			const char *code = manifest->incidents[j].code;

			if (!code || strcmp(code, incident->code))
				continue;
			first &= j >= i;
			same++;
		}
		if (!first)
			continue;
		finding =
			findings_add(findings, incident->code, FINDING_WARNING, "%s%s",
				     incident->text ? incident->text : "An incident without words.",
				     same > 1 ? " (and further ones of the kind)" : "");
		finding_number(findings, finding, "incidents", (double)same);
		finding_number(findings, finding, "amount", incident->amount);
		if (incident->unit)
			finding_text(findings, finding, "unit", incident->unit);
		finding_number(findings, finding, "start_ns", (double)incident->start_ns);
	}
}
