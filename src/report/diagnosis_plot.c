/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The plots of --plot: one character per bin or per stretch of epochs, its height by level.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "diagnose/conduct.h"
#include "report/colour.h"
#include "report/diagnosis.h"

#define LEVELS    9
#define STRIP_MAX 80 /* characters; longer recordings are put together */

static const char *level_character(double part, bool unicode)
{
	static const char *const blocks[LEVELS] = { " ",      "\u2581", "\u2582",
						    "\u2583", "\u2584", "\u2585",
						    "\u2586", "\u2587", "\u2588" };
	static const char *const ascii[LEVELS] = { " ", ".", ":", "-", "=", "+", "*", "#", "@" };
	size_t level = part > 0 ? 1 + (size_t)fmin(part * (LEVELS - 1), LEVELS - 2) : 0;

	if (!(part > 0))
		level = 0;
	return unicode ? blocks[level] : ascii[level];
}

static void strip(struct output *output, const char *label, const double *values, size_t n,
		  bool unicode)
{
	double most = 0;

	for (size_t i = 0; i < n; i++)
		most = fmax(most, values[i]);
	output_format(output, "  %-10s|", label);
	for (size_t i = 0; i < n; i++)
		output_add(output, level_character(most > 0 ? values[i] / most : 0, unicode));
	output_add(output, "|");
}

static void clock_plot(const struct diagnosis_clock *clock, size_t number,
		       const struct text_options *options, struct output *output)
{
	char mean[48];

	if (!(clock->realised.n > 0))
		return;
	if (!strcmp(clock->unit, "ns") || clock->by_time)
		conduct_time(clock->intended.mean, mean, sizeof(mean));
	else
		snprintf(mean, sizeof(mean), "%.4g %.20s", clock->intended.mean, clock->unit);
	output_format(output, "\nclock %zu (%s%s): intervals from 0 to %.1f times %s\n", number,
		      clock->kind, clock->canary ? ", canary" : "", INTERVALS_RANGE, mean);
	strip(output, "drawn", clock->intended_bins, INTERVALS_BINS, options->unicode);
	output_add(output, "\n");
	strip(output, "realised", clock->realised_bins, INTERVALS_BINS, options->unicode);
	output_format(output, "\n  %-10s|%-*s|\n", "", INTERVALS_BINS, "0    0.5  1.0  1.5  2.0 ");
}

/* The course of the recording, all clocks together: epochs (or stretches of them) from left to right. */
struct course {
	double samples[STRIP_MAX], lost[STRIP_MAX], throttled[STRIP_MAX];
	char regime[STRIP_MAX + 1];
	size_t n;
};

static void course_fill(struct course *course, const struct diagnosis *diagnosis)
{
	uint64_t last = UINT64_MAX;
	size_t n_epochs = 0, epoch = 0;

	memset(course, 0, sizeof(*course));
	for (size_t i = 0; i < diagnosis->n_epochs; i++) {
		n_epochs += diagnosis->epochs[i].start_ns != last;
		last = diagnosis->epochs[i].start_ns;
	}
	course->n = n_epochs < STRIP_MAX ? n_epochs : STRIP_MAX;
	last = UINT64_MAX;
	for (size_t i = 0; i < diagnosis->n_epochs && course->n; i++) {
		const struct diagnosis_epoch *from = &diagnosis->epochs[i];
		size_t at;

		epoch += last != UINT64_MAX && from->start_ns != last;
		last = from->start_ns;
		at = epoch * course->n / n_epochs;
		course->samples[at] += (double)from->samples;
		course->lost[at] += (double)from->lost;
		course->throttled[at] += (double)from->throttled_ns;
		course->regime[at] = (char)('1' + (from->regime < 9 ? from->regime : 8));
	}
}

static double total(const double *values, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += values[i];
	return sum;
}

static void course_plot(const struct diagnosis *diagnosis, const struct text_options *options,
			struct output *output)
{
	struct course course;
	char length[32];

	course_fill(&course, diagnosis);
	if (course.n < 2)
		return;
	output_format(output, "\nepochs from left to right, %s in all\n",
		      conduct_time((double)(diagnosis->epochs[diagnosis->n_epochs - 1].end_ns -
					    diagnosis->epochs[0].start_ns),
				   length, sizeof(length)));
	strip(output, "samples", course.samples, course.n, options->unicode);
	output_format(output, " %.0f\n", total(course.samples, course.n));
	strip(output, "lost", course.lost, course.n, options->unicode);
	output_format(output, " %.0f\n", total(course.lost, course.n));
	strip(output, "throttled", course.throttled, course.n, options->unicode);
	output_format(output, " %s\n",
		      conduct_time(total(course.throttled, course.n), length, sizeof(length)));
	output_format(output, "  %-10s|%s|\n", "regime", course.regime);
}

void diagnosis_plot(const struct diagnosis_view *view, const struct text_options *options,
		    struct output *output)
{
	for (size_t c = 0; c < view->diagnosis->n_clocks; c++)
		clock_plot(&view->diagnosis->clocks[c], c, options, output);
	course_plot(view->diagnosis, options, output);
}
