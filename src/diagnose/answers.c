/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The five lines that a diagnosis opens with; each is an answer or says why there is none.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "diagnose/diagnosis.h"
#include "diagnose/finding_code.h"
#include "estimate/stability.h"

#define LINE_BYTES 640
#define TOP        5 /* functions whose order clocks are compared on */

struct line {
	char text[LINE_BYTES];
};

static void PRINTF_LIKE(2, 3) line_add(struct line *line, const char *format, ...)
{
	const size_t used = strlen(line->text);
	va_list args;

	va_start(args, format);
	vsnprintf(line->text + used, sizeof(line->text) - used, format, args);
	va_end(args);
}

/* An interval in the event's unit. */
static const char *interval_text(const char *unit, double value, char *text, size_t size)
{
	if (!strcmp(unit, "ns"))
		return conduct_time(value, text, size);
	snprintf(text, size, "%.4g %s", value, unit);
	return text;
}

static const struct manifest_clock *clock_of(const struct profile *profile, size_t column)
{
	return profile->bundle->has_manifest && profile->clocks.by_id
		       ? &profile->bundle->manifest.clocks[profile->clocks.clock_of[column]]
		       : NULL;
}

/* ---- 1: what the intervals were drawn from ---- */

static void drawn_clock(struct line *line, const struct diagnosis_clock *clock,
			const struct manifest_clock *from)
{
	char mean[48];

	interval_text(clock->unit, from->mean_period, mean, sizeof(mean));
	switch (from->kind) {
	case SCHEDULE_JITTER:
		line_add(line, "uniform in %.2g-%.2g of %s", from->low, from->high, mean);
		break;
	case SCHEDULE_EXP:
		line_add(line, "exponential with mean %s, cut at %.2g and %.2g of it", mean,
			 from->low, from->high);
		break;
	case SCHEDULE_PRIME:
		line_add(line, "always the prime %.0f %s", from->mean_period, clock->unit);
		break;
	case SCHEDULE_FREQ:
		line_add(line, "not drawn, the kernel steers towards %.4g Hz", from->target_hz);
		break;
	case SCHEDULE_FIXED:
	case SCHEDULE_MIXED: line_add(line, "always %s", mean); break;
	}
	if (from->redraw == REDRAW_BLOCK)
		line_add(line, ", drawn anew about every %u intervals", from->block);
	else if (from->redraw == REDRAW_SAMPLE)
		line_add(line, ", drawn anew for each");
	else if (from->kind == SCHEDULE_JITTER || from->kind == SCHEDULE_EXP)
		line_add(line, ", drawn once per epoch");
}

/* Whether two clocks would be described in the same words. */
static bool clocks_alike(const struct manifest_clock *a, const struct manifest_clock *b)
{
	return a->kind == b->kind && a->redraw == b->redraw && a->block == b->block &&
	       fabs(a->mean_period - b->mean_period) <= 1e-9 * a->mean_period &&
	       a->randomised == b->randomised;
}

/* What the attribute of a plain perf.data asks for. */
static void drawn_plain(struct line *line, const struct profile *profile)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);
	const struct perf_event_attr *attr = &events[profile->event].attr;
	const char *unit = profile->unit_is_ns ? "ns" : events[profile->event].name;
	double period = (double)attr->sample_period;
	char text[96];

	if (!attr->freq && attr->sample_period == 1) {
		line_add(line,
			 "not drawn: every %s is a sample, so this is a count, not a sample of it",
			 unit);
		return;
	}
	line_add(line, "not known: a plain perf.data keeps no schedule. Its event asks for ");
	if (attr->freq && profile->unit_is_ns)
		period = attr->sample_freq ? 1e9 / (double)attr->sample_freq : 0;
	if (attr->freq && !profile->unit_is_ns)
		line_add(line, "%llu samples a second, to which the kernel steers the period",
			 (unsigned long long)attr->sample_freq);
	else
		line_add(line, "one every %s, always the same",
			 interval_text(unit, period, text, sizeof(text)));
}

static void answer_drawn(struct line *line, const struct diagnosis *diagnosis,
			 const struct profile *profile)
{
	const struct manifest *manifest = &profile->bundle->manifest;
	if (!clock_of(profile, 0)) {
		drawn_plain(line, profile);
		return;
	}
	for (size_t c = 0; c < diagnosis->n_clocks; c++) {
		const struct manifest_clock *from = clock_of(profile, c);
		size_t alike = 1;
		bool told = false;

		for (size_t before = 0; before < c; before++)
			told |= clocks_alike(clock_of(profile, before), from);
		if (told)
			continue;
		for (size_t after = c + 1; after < diagnosis->n_clocks; after++)
			alike += clocks_alike(clock_of(profile, after), from);
		line_add(line, "%s%zu %s%s: ", c ? "; " : "", alike,
			 diagnosis->clocks[c].canary ? "canary" : "clock",
			 alike == 1                    ? ""
			 : diagnosis->clocks[c].canary ? " clocks"
						       : "s");
		drawn_clock(line, &diagnosis->clocks[c], from);
	}
	line_add(line, "; %zu epochs with their own seeds, all from seed %llu", manifest->n_epochs,
		 (unsigned long long)manifest->seed);
}

/* ---- 2: what was realised ---- */

static void answer_realised(struct line *line, const struct diagnosis *diagnosis)
{
	char a[48], b[48], c[48], percent[32];

	for (size_t i = 0; i < diagnosis->n_clocks; i++) {
		const struct diagnosis_clock *clock = &diagnosis->clocks[i];
		const char *unit = clock->by_time ? "ns" : clock->unit;

		if (diagnosis->n_clocks > 1)
			line_add(line, "%sclock %zu%s: ", i ? "; " : "", i,
				 clock->canary ? " (canary)" : "");
		if (!(clock->realised.n > 0)) {
			line_add(line, "%s",
				 !clock->samples ? "no samples"
				 : strcmp(clock->unit, "ns") && !diagnosis->has_read
					 ? "not known: samples carry no counts (perf record does "
					   "not read them)"
					 : "no interval that nothing cut short");
			continue;
		}
		line_add(line, "mean %s, 98 %% of them in %s to %s",
			 interval_text(unit, clock->realised.mean, a, sizeof(a)),
			 interval_text(unit, clock->realised.p01, b, sizeof(b)),
			 interval_text(unit, clock->realised.p99, c, sizeof(c)));
		if (!isnan(clock->faithful))
			line_add(line, "; %s within 1 %% of what was %s",
				 conduct_percent(clock->faithful, percent, sizeof(percent)),
				 clock->redrawn ? "drawn" : "asked for");
		if (clock->by_time)
			line_add(line, " (by time, for want of counts; %llu gaps)",
				 (unsigned long long)clock->gaps);
	}
}

/* ---- 3: what was retuned, throttled or lost ---- */

static void answer_missing(struct line *line, const struct diagnosis *diagnosis,
			   const struct profile *profile)
{
	double retuned = 0, throttled = 0, lost = 0, samples = 0;
	const bool bundle = clock_of(profile, 0) != NULL;
	char time[32], percent[32];

	for (size_t c = 0; c < diagnosis->n_clocks; c++) {
		retuned += (double)diagnosis->clocks[c].retuned;
		samples += (double)diagnosis->clocks[c].samples;
		throttled += (double)diagnosis->clocks[c].throttled_ns;
		lost += (double)diagnosis->clocks[c].lost;
	}
	/* the file's own records count losses of all events together */
	if (!bundle) {
		lost = (double)losses_total(&profile->losses);
		samples = 0;
		for (size_t i = 0; i < profile->n_events; i++)
			samples += (double)profile->events[i].samples;
	}
	if (!(retuned > 0) && !(throttled > 0) && !(lost > 0)) {
		line_add(
			line,
			"nothing: no period changed by the kernel, no throttling, no lost sample%s",
			bundle ? "" : " in the file's own records");
		return;
	}
	if (retuned > 0)
		line_add(line, "the kernel changed the period %.0f times in %.0f samples; ",
			 retuned, samples);
	else
		line_add(line, "no retuning; ");
	if (throttled > 0)
		line_add(line, "throttled for %s in all; ",
			 conduct_time(throttled, time, sizeof(time)));
	else
		line_add(line, "no throttling; ");
	if (lost > 0)
		line_add(line, "%.0f samples lost (%s)", lost,
			 conduct_percent(lost / (lost + samples), percent, sizeof(percent)));
	else
		line_add(line, "no lost sample");
}

/* ---- 4: phase against each candidate period ---- */

static void answer_phase(struct line *line, const struct diagnosis *diagnosis,
			 const struct profile *profile)
{
	const struct alias *alias = &diagnosis->alias;
	const struct alias_candidate *worst = NULL;
	size_t tested = 0, in_step = 0;
	double missed = NAN;
	char percent[32];

	for (size_t i = 0; i < alias->n; i++) {
		const struct alias_candidate *candidate = &alias->candidates[i];

		if (candidate->why)
			continue;
		tested++;
		in_step += candidate->verdict != ESTIMATE_LOCK_NONE;
		missed = fmax(missed, candidate->missed);
		if (candidate->verdict != ESTIMATE_LOCK_NONE &&
		    (!worst || candidate->p_value < worst->p_value))
			worst = candidate;
	}
	if (!diagnosis->matrix.samples) {
		line_add(line, "not testable: there are no samples");
	} else if (profile_is_exact(profile)) {
		line_add(line, "does not arise: every occurrence of the event is a sample");
	} else if (!tested && alias->n) {
		line_add(line, "not testable: %s", alias->candidates[0].why);
	} else if (!tested && !profile->clocks.randomised) {
		line_add(line, "not testable: no randomised clock, and no marks or scheduler "
			       "events in the "
			       "recording; a lock would not show");
	} else if (!tested) {
		line_add(line, "not testable: %s",
			 !profile->timed ? "samples carry no time"
					 : "the event does not count time");
	} else if (worst) {
		line_add(line,
			 "in step with %zu of %zu candidates, most with %s (%s %.1f, p %.2g, "
			 "%s%s)%s",
			 in_step, tested, worst->source, worst->statistic_name, worst->statistic,
			 worst->p_value,
			 isnan(worst->share_error_hi) ? "how far shares are off cannot be known"
						      : "shares off by up to ",
			 isnan(worst->share_error_hi)
				 ? ""
				 : conduct_percent(worst->share_error_hi, percent, sizeof(percent)),
			 profile->clocks.randomised
				 ? "; the clocks of this recording are randomised and not touched"
				 : "");
	} else {
		line_add(line, "in step with none of %zu candidates", tested);
		if (!isnan(missed))
			line_add(line,
				 "; an error of a share below about %s would not have been noticed",
				 conduct_percent(missed, percent, sizeof(percent)));
	}
}

/* ---- 5: the same ranking under each independent clock and schedule ---- */

/* Functions of one column with most samples, ties by number; the rest of the functions is left out. */
static size_t column_top(const struct matrix *matrix, uint32_t column, uint32_t top[TOP])
{
	uint64_t counts[TOP];
	size_t n = 0;

	for (uint32_t f = 0; f + 1 < matrix->n; f++) {
		uint64_t count = 0;
		size_t at = n;

		for (uint32_t e = 0; e < matrix->n_epochs; e++)
			count += *matrix_cell(matrix, f, e, column);
		if (!count)
			continue;
		while (at > 0 && counts[at - 1] < count)
			at--;
		if (at == TOP)
			continue;
		n = n < TOP ? n + 1 : n;
		for (size_t i = n - 1; i > at; i--) {
			top[i] = top[i - 1];
			counts[i] = counts[i - 1];
		}
		top[at] = f;
		counts[at] = count;
	}
	return n;
}

static size_t common(const uint32_t *a, size_t n_a, const uint32_t *b, size_t n_b)
{
	size_t n = 0;

	for (size_t i = 0; i < n_a; i++)
		for (size_t j = 0; j < n_b; j++)
			n += a[i] == b[j];
	return n;
}

/* What agreement noise alone would give, of the clocks of the estimates together. */
static double expected_agreement(const struct diagnosis *diagnosis, const uint32_t *top, size_t n,
				 double *observed)
{
	const struct matrix *matrix = &diagnosis->matrix;
	struct estimate_stability stability;
	struct estimate_shares shares;
	struct matrix_table table;
	double expected = NAN;
	size_t claimed[TOP];

	*observed = NAN;
	if (matrix_table_make(&table, matrix, 0, matrix->n_clocks, true, NULL) != STATUS_OK)
		return NAN;
	for (size_t i = 0; i < n; i++)
		claimed[i] = top[i];
	if (estimate_shares(&shares, &table.table, NULL, NULL) == STATUS_OK) {
		const struct estimate_claim claim = { claimed, n };

		if (estimate_stability(&stability, &table.table, &shares, &claim, NULL) ==
		    STATUS_OK) {
			expected = stability.expected_set;
			*observed = stability.observed.set;
		}
		estimate_shares_release(&shares);
	}
	matrix_table_release(&table);
	return expected;
}

static void answer_schedules(struct line *line, const struct diagnosis *diagnosis)
{
	const struct matrix *matrix = &diagnosis->matrix;
	const uint32_t columns = matrix_columns(matrix);
	uint32_t first[TOP], other[TOP];
	size_t n_first, n_other, set = 0, differ = 0;
	double expected, observed;
	char a[32], b[32];

	if (!matrix->samples) {
		line_add(line, "no samples");
		return;
	}
	if (columns < 2) {
		line_add(line, "not testable: one clock only");
		return;
	}
	n_first = column_top(matrix, 0, first);
	set = n_first;
	for (uint32_t c = 1; c < columns; c++) {
		n_other = column_top(matrix, c, other);
		if (!n_other)
			continue;
		set = common(first, n_first, other, n_other) < set
			      ? common(first, n_first, other, n_other)
			      : set;
		if (other[0] == first[0])
			continue;
		differ++;
		line_add(line, "%s%s %u puts %s first, clock 0 %s",
			 differ > 1 ? "; " : "no: ", c >= matrix->n_clocks ? "canary" : "clock",
			 c >= matrix->n_clocks ? c - matrix->n_clocks : c,
			 matrix->functions[other[0]].name, matrix->functions[first[0]].name);
	}
	if (!differ)
		line_add(line,
			 "yes: all %u clocks%s put %s first, and %zu of their first %zu are the "
			 "same",
			 columns, matrix->n_canaries ? " (with the canary)" : "",
			 matrix->functions[first[0]].name, set, n_first);
	expected = expected_agreement(diagnosis, first, n_first, &observed);
	if (!isnan(expected) && !isnan(observed))
		line_add(line,
			 "; parts of the recording agree on the first %zu in %s of cases, by "
			 "chance alone it "
			 "would be %s",
			 n_first, conduct_percent(observed, a, sizeof(a)),
			 conduct_percent(expected, b, sizeof(b)));
}

static bool keep(char **answer, const struct line *line)
{
	*answer = strdup(line->text);
	return *answer != NULL;
}

enum status diagnosis_answer(struct diagnosis *diagnosis, const struct profile *profile,
			     struct error *error)
{
	struct diagnosis_answers *answers = &diagnosis->answers;
	struct line drawn = { "" }, realised = { "" }, missing = { "" }, phase = { "" },
		    schedules = { "" };

	answer_drawn(&drawn, diagnosis, profile);
	answer_realised(&realised, diagnosis);
	answer_missing(&missing, diagnosis, profile);
	answer_phase(&phase, diagnosis, profile);
	answer_schedules(&schedules, diagnosis);
	if (keep(&answers->intervals_drawn, &drawn) &&
	    keep(&answers->intervals_realised, &realised) &&
	    keep(&answers->retuned_or_throttled, &missing) && keep(&answers->phase, &phase) &&
	    keep(&answers->independent_schedules, &schedules))
		return STATUS_OK;
	return error_set(error, STATUS_NO_MEMORY, "not enough memory for the answers");
}
