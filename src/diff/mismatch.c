/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/mismatch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diff/mismatch_build.h"

/* A conventional clock of another recording is the same one when their periods differ by less. */
#define PERIOD_SAME 0.02

static bool texts_differ(const char *a, const char *b)
{
	return a && b && strcmp(a, b) != 0;
}

/* Without its modifiers: "page-faults:u" counts page-faults. Which modes are in it is the scope's matter. */
static size_t event_length(const char *event)
{
	const char *colon = strrchr(event, ':');

	return colon && colon[1] && !colon[1 + strspn(colon + 1, "ukhHGpPSDIeWb")]
		       ? (size_t)(colon - event)
		       : strlen(event);
}

static bool events_differ(const struct report_contract *a, const struct report_contract *b)
{
	const size_t n = event_length(a->event);

	/* cpu-clock and task-clock are both CPU time */
	return texts_differ(a->unit, b->unit) &&
	       (event_length(b->event) != n || strncmp(a->event, b->event, n) != 0);
}

static void event_compare(struct diff *diff)
{
	const struct report *a = diff->sides[0].report, *b = diff->sides[1].report;
	struct finding *finding;

	if (!a->contract.event || !b->contract.event || !events_differ(&a->contract, &b->contract))
		return;
	finding = findings_add(&diff->mismatches, CODE_MISMATCH_EVENT, FINDING_BIAS,
			       "A samples %s, B samples %s: their shares are of different things.",
			       a->contract.event, b->contract.event);
	finding_next(&diff->mismatches, finding, "Choose the same event with -e, or record again.");
	finding_touches_all(finding, NAN);
}

static void scope_compare(struct diff *diff)
{
	const struct report *a = diff->sides[0].report, *b = diff->sides[1].report;
	struct finding *finding;

	if (a->contract.kernel == b->contract.kernel)
		return;
	finding = findings_add(&diff->mismatches, CODE_MISMATCH_SCOPE, FINDING_BIAS,
			       "%s has samples of kernel code, %s has none by design: their shares "
			       "are of different wholes.",
			       a->contract.kernel ? "A" : "B", a->contract.kernel ? "B" : "A");
	finding_next(&diff->mismatches, finding,
		     "Record both with the same privilege and the same event (-e cpu-clock:u).");
	finding_touches_all(finding, NAN);
}

struct machine {
	const char *arch, *processor, *kernel, *host;
};

static struct machine machine_of(const struct bundle *bundle)
{
	const struct perfdata_header *header = perfdata_reader_header(bundle->reader);
	const struct manifest_machine *machine = &bundle->manifest.machine;

	if (bundle->has_manifest)
		return (struct machine){ machine->arch, machine->cpu_model, machine->kernel,
					 machine->hostname };
	return (struct machine){ header->arch, header->cpu_description, header->os_release,
				 header->hostname };
}

static void machine_compare(struct diff *diff)
{
	const struct machine a = machine_of(diff->sides[0].bundle),
			     b = machine_of(diff->sides[1].bundle);
	struct finding *finding;

	if (texts_differ(a.arch, b.arch) || texts_differ(a.processor, b.processor)) {
		finding = findings_add(
			&diff->mismatches, CODE_MISMATCH_MACHINE, FINDING_BIAS,
			"A ran on %s (%s), B on %s (%s): another processor spends its time "
			"elsewhere.",
			a.processor ? a.processor : "?", a.arch ? a.arch : "?",
			b.processor ? b.processor : "?", b.arch ? b.arch : "?");
		finding_next(&diff->mismatches, finding, "Record both on one machine.");
		finding_touches_all(finding, NAN);
	} else if (texts_differ(a.kernel, b.kernel)) {
		findings_add(&diff->mismatches, CODE_MISMATCH_MACHINE, FINDING_WARNING,
			     "A ran on Linux %s, B on %s: code of the kernel may differ.", a.kernel,
			     b.kernel);
	} else if (texts_differ(a.host, b.host)) {
		findings_add(&diff->mismatches, CODE_MISMATCH_MACHINE, FINDING_INFO,
			     "A ran on %s, B on %s, of the same kind.", a.host, b.host);
	}
}

static double period_ns_of(const struct report *report)
{
	const struct report_contract *contract = &report->contract;

	if (contract->unit && !strcmp(contract->unit, "ns") && contract->mean_period > 0)
		return contract->mean_period;
	return contract->rate_hz > 0 ? 1e9 / contract->rate_hz : NAN;
}

/* Do the randomised samples of the other side say that a clock of this period runs in step with the
 * program? */
static const struct alias_candidate *lock_found(const struct diff_side *other, double period_ns)
{
	const struct alias *alias = other->diagnosis ? &other->diagnosis->alias : NULL;

	for (size_t i = 0; alias && alias->randomised && i < alias->n; i++) {
		const struct alias_candidate *candidate = &alias->candidates[i];

		if (!candidate->why && candidate->verdict == ESTIMATE_LOCK_LOCKED &&
		    fabs(candidate->period_ns - period_ns) < PERIOD_SAME * period_ns)
			return candidate;
	}
	return NULL;
}

static bool lock_in_itself(const struct report *report)
{
	for (size_t i = 0; i < report->findings.n; i++) {
		const struct finding *finding = &report->findings.items[i];

		if (finding->severity == FINDING_BIAS && !finding->elsewhere &&
		    !strncmp(finding->code, "alias-", 6))
			return true;
	}
	return false;
}

static void clock_judge(struct diff *diff, int side)
{
	const struct report *report = diff->sides[side].report;
	const char *name = side ? "B" : "A", *other = side ? "A" : "B";
	const struct alias_candidate *candidate;
	struct finding *finding;

	if (report->contract.randomised || report->contract.exact)
		return;
	candidate = lock_found(&diff->sides[!side], period_ns_of(report));
	diff->locked[side] = candidate || lock_in_itself(report);
	if (candidate)
		finding =
			findings_add(&diff->mismatches, CODE_MISMATCH_SCHEDULE, FINDING_BIAS,
				     "The clock of %s ran in step with the program: the randomised "
				     "samples of %s show it (%s).",
				     name, other, candidate->source);
	else if (diff->locked[side])
		finding = findings_add(&diff->mismatches, CODE_MISMATCH_SCHEDULE, FINDING_BIAS,
				       "The clock of %s ran in step with the program, as its own "
				       "findings show.",
				       name);
	else
		finding =
			findings_add(&diff->mismatches, CODE_MISMATCH_SCHEDULE, FINDING_BIAS,
				     "%s was sampled at a fixed interval, which may fit a cycle of "
				     "the program: then its shares are wrong by any amount, and "
				     "nothing in them shows it.",
				     name);
	finding_next(&diff->mismatches, finding, "Record both with `assay record`.");
	finding_touches_all(finding, NAN);
}

static void schedule_compare(struct diff *diff)
{
	const struct report_contract *a = &diff->sides[0].report->contract,
				     *b = &diff->sides[1].report->contract;

	clock_judge(diff, 0);
	clock_judge(diff, 1);
	if (texts_differ(a->scope, b->scope))
		findings_add(&diff->mismatches, CODE_MISMATCH_SCHEDULE, FINDING_WARNING,
			     "The clocks of A ran %s, those of B %s: short threads are seen "
			     "differently.",
			     a->scope, b->scope);
}

static void command_compare(struct diff *diff)
{
	const struct report *a = diff->sides[0].report, *b = diff->sides[1].report;
	bool same = a->n_command == b->n_command;

	for (size_t i = 0; same && i < a->n_command; i++)
		same = !strcmp(a->command[i], b->command[i]);
	if (!same && a->n_command && b->n_command)
		findings_add(&diff->mismatches, CODE_MISMATCH_COMMAND, FINDING_INFO,
			     "Different commands: %s%s in A, %s%s in B.", a->command[0],
			     a->n_command > 1 ? " ..." : "", b->command[0],
			     b->n_command > 1 ? " ..." : "");
}

enum status diff_mismatches(struct diff *diff, struct error *error)
{
	event_compare(diff);
	scope_compare(diff);
	machine_compare(diff);
	schedule_compare(diff);
	diff_mismatch_build(diff);
	command_compare(diff);
	findings_sort(&diff->mismatches);
	return findings_check(&diff->mismatches, error);
}
