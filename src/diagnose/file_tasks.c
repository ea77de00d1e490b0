/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/file_tasks.h"

#include <math.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"

/* A task of so many intervals at most is short: where in its life its samples fall is not chance. Beyond
 * that, what its first interval misses is less than a quarter of its time. */
#define INTERVALS_SHORT 4
#define TASKS_LEAST     20

/* An event that perf opened for a command it started (enable_on_exec) and that its children inherit has
 * a counter of its own in every task, which begins with a whole period (kernel/events/core.c,
 * inherit_event: period_left = sample_period). With -a there is one counter per CPU. */
static bool clock_is_per_task(const struct profile *profile)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);

	return profile->event < n && events[profile->event].attr.inherit &&
	       events[profile->event].attr.enable_on_exec;
}

void file_find_short_tasks(struct findings *findings, const struct profile *profile)
{
	const double interval = profile->samples ? profile->weight / (double)profile->samples : 0;
	double sum_ns, fraction;
	struct finding *finding;
	char percent[32];
	uint64_t n;

	if (!profile->unit_is_ns || !(interval > 0) || !clock_is_per_task(profile))
		return;
	n = lives_below(&profile->lives, INTERVALS_SHORT * interval, &sum_ns);
	/* lives are by the wall, an upper limit of CPU time */
	fraction = fmin(1, sum_ns / profile->weight);
	if (n < TASKS_LEAST || fraction < CONDUCT_MISSING_WARN)
		return;
	finding = findings_add(
		findings, CODE_SHORT_TASKS, conduct_missing_severity(fraction),
		"%llu tasks lived for less than about %d intervals of the clock, which began anew "
		"in each of them: it saw them at the same ages or not at all. They may be up to %s "
		"of the time.",
		(unsigned long long)n, INTERVALS_SHORT,
		conduct_percent(fraction, percent, sizeof(percent)));
	finding_next(findings, finding,
		     "Record with clocks per CPU: `assay record` as root, or `perf record -a`.");
	finding_touches_all(finding, fraction);
	finding_number(findings, finding, "tasks", (double)n);
	finding_number(findings, finding, "lives_ns", sum_ns);
	finding_number(findings, finding, "share", fraction);
}
