/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/file_findings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"

/* Modules with missing names that are told one by one; the rest together. */
#define MODULES_TOLD 6
/* Unnamed samples below this share of all are not worth a line. */
#define UNNAMED_SHARE 0.005
/* Cut stacks likewise. */
#define CUT_SHARE 0.005

static double since_first_s(const struct profile *profile, uint64_t time_ns)
{
	return time_ns > profile->first_ns ? (double)(time_ns - profile->first_ns) / 1e9 : 0;
}

static void loss_find(struct report *report, const struct profile *profile)
{
	const struct losses *losses = &profile->losses;
	const double lost = (double)losses_total(losses);
	double samples = 0, fraction;
	char percent[32];
	struct finding *finding;
	const char *when = "";

	for (size_t i = 0; i < profile->n_events; i++)
		samples += (double)profile->events[i].samples;
	if (!(lost > 0))
		return;
	fraction = lost / (lost + samples);
	conduct_percent(fraction, percent, sizeof(percent));
	if (losses->lost_last_ns)
		when = report_text(report, ", between %.1f and %.1f s after the first sample",
				   since_first_s(profile, losses->lost_first_ns),
				   since_first_s(profile, losses->lost_last_ns));
	finding = findings_add(
		&report->findings, CODE_LOSS, conduct_missing_severity(fraction),
		"%.0f of %.0f events (%s) found no room in the ring buffer and are lost%s. "
		"The samples below are what is left, not all: each share may be off by up "
		"to %s.",
		lost, lost + samples, percent, when, percent);
	finding_next(&report->findings, finding,
		     "Record at a lower rate or with larger buffers (perf record -m).");
	finding_touches_all(finding, fraction);
	finding_number(&report->findings, finding, "lost", lost);
	finding_number(&report->findings, finding, "samples", samples);
	finding_number(&report->findings, finding, "share", fraction);
	finding_number(&report->findings, finding, "records", (double)losses->lost_records);
	finding_number(&report->findings, finding, "from_s",
		       losses->lost_last_ns ? since_first_s(profile, losses->lost_first_ns) : NAN);
	finding_number(&report->findings, finding, "to_s",
		       losses->lost_last_ns ? since_first_s(profile, losses->lost_last_ns) : NAN);
}

/* An event can be stopped on every CPU (or thread) that it has an id for; those that were never
 * stopped may not have run, so only the streams that were are counted: the larger fraction. */
static void throttle_find(struct report *report, const struct profile *profile)
{
	const struct losses *losses = &profile->losses;
	const double length = (double)(profile->last_ns - profile->first_ns);
	double fraction = NAN;
	char percent[32], time[32];
	struct finding *finding;

	if (!losses->throttles)
		return;
	if (length > 0 && losses->n_streams)
		fraction = fmin(1, (double)losses->throttled_ns /
					   (length * (double)losses->n_streams));
	finding = findings_add(
		&report->findings, CODE_THROTTLE,
		isnan(fraction) ? FINDING_WARNING : conduct_missing_severity(fraction),
		"The kernel stopped sampling %llu times, for %s in all (%s of the time), from %.1f "
		"to "
		"%.1f s after the first sample. It does so where most interrupts fall, so what was "
		"running then is missing from the shares.",
		(unsigned long long)losses->throttles,
		conduct_time((double)losses->throttled_ns, time, sizeof(time)),
		conduct_percent(isnan(fraction) ? 1 : fraction, percent, sizeof(percent)),
		since_first_s(profile, losses->throttled_first_ns),
		since_first_s(profile, losses->throttled_last_ns));
	finding_next(
		&report->findings, finding,
		"Record at a rate below kernel.perf_event_max_sample_rate, or raise that limit.");
	finding_touches_all(finding, fraction);
	finding_number(&report->findings, finding, "times", (double)losses->throttles);
	finding_number(&report->findings, finding, "throttled_ns", (double)losses->throttled_ns);
	finding_number(&report->findings, finding, "share", fraction);
}

/* A whole diagnosis may have said these already. */
void file_findings_records(struct report *report, const struct profile *profile)
{
	struct finding *finding;

	if (!report->contract.exact && !findings_find(&report->findings, CODE_ALIAS_UNCHECKED)) {
		finding = findings_add(
			&report->findings, CODE_ALIAS_UNCHECKED, FINDING_WARNING,
			"This recording has no randomised clock: intervals take for granted that "
			"its clock never ran in step with the program, which nothing in it can "
			"show.");
		finding_next(&report->findings, finding,
			     "Record with `assay record` to have it checked.");
		finding_number(&report->findings, finding, "randomised_clocks", 0);
	}
	if (!findings_find(&report->findings, CODE_LOSS))
		loss_find(report, profile);
	if (!findings_find(&report->findings, CODE_THROTTLE))
		throttle_find(report, profile);
}

/* Several notes of one kind are one finding. */
void file_findings_notes(struct report *report, const struct profile *profile)
{
	size_t n;
	const struct perfdata_note *notes = perfdata_reader_notes(profile->bundle->reader, &n);

	for (size_t i = 0; i < n; i++) {
		const struct perfdata_note *note = &notes[i];
		const bool grave = note->kind == PERFDATA_NOTE_UNFINISHED ||
				   note->kind == PERFDATA_NOTE_TRUNCATED ||
				   note->kind == PERFDATA_NOTE_DAMAGED ||
				   note->kind == PERFDATA_NOTE_ELSEWHERE;
		struct finding *finding;

		if (note->kind == PERFDATA_NOTE_UNFINISHED && profile->bundle->has_manifest)
			continue; /* the manifest says it better */
		finding = findings_add(&report->findings,
				       note->kind == PERFDATA_NOTE_UNFINISHED ? CODE_UNFINISHED
									      : CODE_FILE_DAMAGED,
				       grave ? FINDING_WARNING : FINDING_INFO,
				       "%s. What was read up to there is whole.", note->text);
		if (grave)
			finding_next(
				&report->findings, finding,
				"Copy the file anew or record again; what is said here holds for "
				"the part that was read.");
		else
			finding_text(&report->findings, finding, "note", note->text);
		finding_number(&report->findings, finding, "offset", (double)note->offset);
		finding_number(&report->findings, finding, "count", (double)note->count);
	}
}

static void foreign_find(struct report *report, const struct profile *profile)
{
	const struct bundle *bundle = profile->bundle;
	const struct perfdata_header *header = perfdata_reader_header(bundle->reader);
	const struct manifest_machine *machine =
		bundle->has_manifest ? &bundle->manifest.machine : NULL;
	const char *host = machine ? machine->hostname : header->hostname;
	const char *arch = machine ? machine->arch : header->arch;
	struct finding *finding;

	if (!profile->places.origin.foreign)
		return;
	finding = findings_add(
		&report->findings, CODE_FILE_FOREIGN, FINDING_INFO,
		"Recorded on another machine: only files whose build-id is the recorded one "
		"give names.");
	finding_next(&report->findings, finding,
		     "For more names copy that machine's binaries and give their folder "
		     "(--symfs DIR).");
	finding_text(&report->findings, finding, "host", host ? host : "");
	finding_text(&report->findings, finding, "arch", arch ? arch : "");
}

static int miss_compare(const void *left, const void *right)
{
	const struct table_miss *a = *(const struct table_miss *const *)left;
	const struct table_miss *b = *(const struct table_miss *const *)right;

	if (a->in_stacks != b->in_stacks)
		return a->in_stacks > b->in_stacks ? -1 : 1;
	return strcmp(a->module_name, b->module_name) ?: (int)a->miss - (int)b->miss;
}

static void miss_find(struct report *report, const struct table_miss *miss, double samples)
{
	const char *remedy = miss->module ? module_remedy(miss->module) : NULL;
	const double share = (double)miss->samples / samples;
	const double in_stacks = (double)miss->in_stacks / samples;
	char percent[32], stacks[32];
	const char *where = miss->module ? miss->module_name : "no known module";
	struct finding *finding;

	finding = findings_add(
		&report->findings, CODE_SYMBOLS_MISSING,
		share >= 0.05 ? FINDING_WARNING : FINDING_INFO,
		"%s: %s, %llu addresses without a name, in %s of the samples%s%s.", where,
		symbol_miss_text(miss->miss), (unsigned long long)miss->addresses,
		conduct_percent(share, percent, sizeof(percent)),
		miss->in_stacks > miss->samples ? " and in the stacks of " : "",
		miss->in_stacks > miss->samples ? conduct_percent(in_stacks, stacks, sizeof(stacks))
						: "");
	if (remedy)
		finding_next(&report->findings, finding, "To have names: %s.", remedy);
	finding_text(&report->findings, finding, "module",
		     miss->module ? module_path(miss->module) : "");
	finding_text(&report->findings, finding, "reason", symbol_miss_text(miss->miss));
	finding_number(&report->findings, finding, "samples", (double)miss->samples);
	finding_number(&report->findings, finding, "in_stacks", (double)miss->in_stacks);
	finding_number(&report->findings, finding, "addresses", (double)miss->addresses);
	finding_number(&report->findings, finding, "share", share);
}

static void misses_find(struct report *report, const struct table *table, double samples)
{
	const struct table_miss **order = calloc(table->n_misses + 1, sizeof(struct table_miss *));
	double rest = 0;
	size_t told = 0;
	char percent[32];

	if (!order) {
		report->findings.no_memory = true;
		return;
	}
	for (size_t i = 0; i < table->n_misses; i++)
		order[i] = &table->misses[i];
	qsort(order, table->n_misses, sizeof(struct table_miss *), miss_compare);
	for (size_t i = 0; i < table->n_misses; i++) {
		if (told < MODULES_TOLD && (double)order[i]->in_stacks >= UNNAMED_SHARE * samples) {
			miss_find(report, order[i], samples);
			told++;
		} else {
			rest += (double)order[i]->samples;
		}
	}
	if (rest >= UNNAMED_SHARE * samples)
		findings_add(&report->findings, CODE_SYMBOLS_MISSING, FINDING_INFO,
			     "Other modules: %s of the samples have no name.",
			     conduct_percent(rest / samples, percent, sizeof(percent)));
	free(order);
}

/* Names from files of which the recording kept nothing that could prove them to be the right ones. */
static void unverified_find(struct report *report, const struct table *table, double samples)
{
	double share = 0, largest = -1;
	const char *example = NULL;
	char percent[32];
	struct finding *finding;

	for (size_t row = 0; row < table->n_rows; row++) {
		const struct subject *subject = table_subject(table, row);

		if (!subject || !subject->module || !subject->named ||
		    !module_unverified(subject->module))
			continue;
		share += (double)table->self_samples[row] / samples;
		if ((double)table->self_samples[row] > largest) {
			largest = (double)table->self_samples[row];
			example = subject->module_name;
		}
	}
	if (share < UNNAMED_SHARE)
		return;
	finding = findings_add(
		&report->findings, CODE_SYMBOLS_UNVERIFIED, FINDING_WARNING,
		"The names of %s of the samples (%s, ...) come from files at the recorded paths; "
		"the "
		"recording kept no build-id or inode that would prove them to be the same files.",
		conduct_percent(share, percent, sizeof(percent)), example);
	finding_next(&report->findings, finding,
		     "Record with build-ids (perf record does unless told -B; assay record "
		     "always).");
	finding_number(&report->findings, finding, "share", share);
}

void file_findings_symbols(struct report *report, const struct profile *profile,
			   const struct table *table)
{
	if (!profile->samples)
		return;
	misses_find(report, table, (double)profile->samples);
	unverified_find(report, table, (double)profile->samples);
}

void file_findings_stacks(struct report *report, const struct profile *profile,
			  const struct table *table)
{
	const uint64_t cut = table->cut_samples;
	const double share = profile->samples ? (double)cut / (double)profile->samples : 0;
	char percent[32];
	struct finding *finding;

	if (!table->has_total || share < CUT_SHARE)
		return;
	finding = findings_add(&report->findings, CODE_SYMBOLS_STACKS, FINDING_WARNING,
			       "The stacks of %s of the samples are cut (%llu at the depth limit, "
			       "%llu at the end of the "
			       "copied stack, %llu where unwinding had no information): they are "
			       "under [truncated], and "
			       "totals of functions near the root are too low by up to as much.",
			       conduct_percent(share, percent, sizeof(percent)),
			       (unsigned long long)profile->cut_depth,
			       (unsigned long long)profile->cut_dump,
			       (unsigned long long)profile->cut_unwind);
	finding_next(&report->findings, finding, "%s",
		     profile->cut_dump > profile->cut_depth
			     ? "Record with a larger copy (--call-graph dwarf,65528)."
		     : profile->cut_depth ? "Raise kernel.perf_event_max_stack before recording."
					  : "");
	finding_number(&report->findings, finding, "samples", (double)cut);
	finding_number(&report->findings, finding, "share", share);
	finding_number(&report->findings, finding, "depth", (double)profile->cut_depth);
	finding_number(&report->findings, finding, "dump", (double)profile->cut_dump);
	finding_number(&report->findings, finding, "unwind", (double)profile->cut_unwind);
}

void file_findings(struct report *report, const struct profile *profile, const struct table *table)
{
	if (!profile->bundle->has_manifest)
		file_findings_records(report, profile);
	file_findings_notes(report, profile);
	foreign_find(report, profile);
	file_findings_symbols(report, profile, table);
	file_findings_stacks(report, profile, table);
}
