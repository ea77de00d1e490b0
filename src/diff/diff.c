/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/diff.h"

#include <stdlib.h>
#include <string.h>

#include "diff/judge.h"
#include "diff/match.h"
#include "diff/mismatch.h"
#include "diff/words.h"

void diff_release(struct diff *diff)
{
	free(diff->rows);
	findings_release(&diff->mismatches);
	strings_release(&diff->strings);
	memset(diff, 0, sizeof(*diff));
}

const char *diff_state_name(enum diff_state state)
{
	switch (state) {
	case DIFF_STATE_SAME: return "same";
	case DIFF_STATE_CHANGED: return "workload-changed";
	case DIFF_STATE_MEASUREMENT: return "measurement-differs";
	case DIFF_STATE_UNRESOLVED: return "unresolved";
	}
	return "unresolved";
}

const char *diff_verdict_name(enum diff_verdict verdict)
{
	switch (verdict) {
	case DIFF_UNRESOLVED: return "unresolved";
	case DIFF_SAME: return "same";
	case DIFF_MORE: return "more";
	case DIFF_LESS: return "less";
	case DIFF_MEASUREMENT: return "measurement";
	}
	return "unresolved";
}

/* Sampled at the same nanoseconds, as often, with the same seed: a copy. */
static bool is_same_recording(const struct diff_side sides[2])
{
	const struct report *a = sides[0].report, *b = sides[1].report;
	const struct manifest *of_a = &sides[0].bundle->manifest,
			      *of_b = &sides[1].bundle->manifest;
	uint64_t first[2], last[2];

	if (a->totals.samples != b->totals.samples || a->totals.filtered != b->totals.filtered ||
	    sides[0].bundle->has_manifest != sides[1].bundle->has_manifest)
		return false;
	if (sides[0].bundle->has_manifest &&
	    (of_a->seed != of_b->seed || of_a->start_realtime_ns != of_b->start_realtime_ns))
		return false;
	return perfdata_reader_sample_times(sides[0].bundle->reader, &first[0], &last[0]) &&
	       perfdata_reader_sample_times(sides[1].bundle->reader, &first[1], &last[1]) &&
	       first[0] == first[1] && last[0] == last[1];
}

static enum status sides_check(const struct diff_side sides[2], struct error *error)
{
	for (int side = 0; side < 2; side++) {
		const struct report *report = sides[side].report;

		if (report->too_few)
			return error_set(error, STATUS_UNSUPPORTED,
					 "%s cannot be compared: %llu samples, %s; record longer",
					 report->bundle, (unsigned long long)report->totals.samples,
					 report->too_few);
	}
	return STATUS_OK;
}

enum status diff_make(struct diff *diff, const struct diff_side sides[2],
		      const struct diff_options *options, struct error *error)
{
	enum status status = sides_check(sides, error);

	memset(diff, 0, sizeof(*diff));
	if (status != STATUS_OK)
		return status;
	diff->sides[0] = sides[0];
	diff->sides[1] = sides[1];
	diff->within = options->within > 0 ? options->within : DIFF_WITHIN_STANDARD;
	diff->same_recording = is_same_recording(sides);
	findings_init(&diff->mismatches);
	strings_init(&diff->strings);
	status = diff_match(diff, error);
	if (status == STATUS_OK)
		status = diff_mismatches(diff, error);
	if (status == STATUS_OK)
		status = diff_judge(diff, options, error);
	if (status == STATUS_OK)
		status = diff_words(diff, error);
	if (status != STATUS_OK)
		diff_release(diff);
	return status;
}
