/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Judges a recording of a hardware event by its bundle alone: intervals BUNDLE.
 *
 * For each sample that no redraw cut off from the sample before it on the same clock and slot:
 *	realised  the difference of the two READ values
 *	intended  its PERIOD field
 *	drawn     the last entry of draws.data for this clock and slot (not for `freq`); the first entry
 *	          of a slot is what remained of an interval when the clock started, which the kernel
 *	          repeats, so PERIOD is a multiple of it until the first redraw
 * and prints the claims that realised equals intended within 1 % for at least 99 % of them, and that
 * intended is drawn, for all. Both counts are printed, so that a claim over nothing is seen; fewer
 * than MIN_INTERVALS fail.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "bundle/draws.h"

#define MIN_INTERVALS 300u
#define MAX_SLOTS     4096u
#define MAX_DRAWS     (1u << 20)
#define TOLERANCE     0.01
#define SHARE_WANTED  0.99

/* One id of perf.data: its place in the manifest, and the last sample seen of it. */
struct slot {
	uint64_t id, time, read;
	uint32_t clock, index;
	bool seen;
};

struct judge {
	struct bundle bundle;
	struct slot slots[MAX_SLOTS];
	size_t n_slots;
	struct draw *draws;
	size_t n_draws;
	uint64_t samples, whole, close, cut, drawn, not_drawn, backwards;
	double worst;
};

static void fail(const struct error *error)
{
	printf("not ok 1 - the bundle can be read\n# %s\n", error->text);
	exit(1);
}

static void read_slots(struct judge *judge)
{
	const struct manifest *manifest = &judge->bundle.manifest;

	for (uint32_t c = 0; c < manifest->n_clocks; c++) {
		const struct manifest_clock *clock = &manifest->clocks[c];

		for (uint32_t i = 0; i < clock->n_ids && judge->n_slots < MAX_SLOTS; i++)
			judge->slots[judge->n_slots++] =
				(struct slot){ .id = clock->ids[i], .clock = c, .index = i };
	}
}

static void read_draws(struct judge *judge)
{
	struct error error = { 0 };
	struct draws_reader *reader;
	enum status status;

	judge->draws = calloc(MAX_DRAWS, sizeof(*judge->draws));
	status = draws_reader_open(&reader, sys_real(), judge->bundle.dir_fd, "draws.data", &error);
	if (status || !judge->draws)
		fail(&error);
	while (judge->n_draws < MAX_DRAWS) {
		status = draws_reader_next(reader, &judge->draws[judge->n_draws], &error);
		if (status == STATUS_END)
			break;
		if (status)
			fail(&error);
		judge->n_draws++;
	}
	draws_reader_close(reader);
}

static struct slot *find_slot(struct judge *judge, uint64_t id)
{
	for (size_t i = 0; i < judge->n_slots; i++)
		if (judge->slots[i].id == id)
			return &judge->slots[i];
	return NULL;
}

/* The draw in force over (from, to], NULL when none was made before; whether one fell into it, and
 * whether it was the slot's first. */
static const struct draw *draw_in_force(const struct judge *judge, const struct slot *slot,
					uint64_t from, uint64_t to, bool *cut, bool *first)
{
	const struct draw *last = NULL;

	*first = true;

	for (size_t i = 0; i < judge->n_draws; i++) {
		const struct draw *draw = &judge->draws[i];

		if (draw->clock != slot->clock || draw->slot != slot->index || draw->before_ns > to)
			continue;
		if (draw->after_ns >= from)
			*cut = true;
		*first = last == NULL;
		if (!last || draw->before_ns >= last->before_ns)
			last = draw;
	}
	return last;
}

static uint64_t read_value(const struct perfdata_sample *sample)
{
	for (uint32_t i = 0; i < sample->n_read; i++)
		if (sample->read[i].id == sample->id)
			return sample->read[i].value;
	return sample->n_read ? sample->read[0].value : 0;
}

static void judge_interval(struct judge *judge, const struct slot *slot,
			   const struct perfdata_sample *sample)
{
	const struct manifest_clock *clock = &judge->bundle.manifest.clocks[slot->clock];
	double realised = (double)(read_value(sample) - slot->read);
	double intended = (double)sample->period;
	double error = fabs(realised - intended) / intended;
	bool cut = false, first;
	const struct draw *draw =
		draw_in_force(judge, slot, slot->time, sample->time, &cut, &first);

	if (cut) {
		judge->cut++;
		return;
	}
	judge->whole++;
	judge->close += error <= TOLERANCE;
	judge->worst = fmax(judge->worst, error);
	if (error > TOLERANCE && judge->whole - judge->close <= 5)
		printf("# clock %u slot %u at %llu ns: realised %.0f, intended %.0f\n", slot->clock,
		       slot->index, (unsigned long long)sample->time, realised, intended);
	if (clock->kind == SCHEDULE_FREQ)
		return;
	if (draw && (first ? sample->period % draw->period == 0 : sample->period == draw->period)) {
		judge->drawn++;
		return;
	}
	if (judge->not_drawn++ < 5)
		printf("# clock %u slot %u at %llu ns: PERIOD %llu, realised %.0f, drawn %llu at "
		       "%llu\n",
		       slot->clock, slot->index, (unsigned long long)sample->time,
		       (unsigned long long)sample->period, realised,
		       (unsigned long long)(draw ? draw->period : 0),
		       (unsigned long long)(draw ? draw->after_ns : 0));
}

static void judge_sample(struct judge *judge, const struct perfdata_sample *sample)
{
	struct slot *slot = find_slot(judge, sample->id);

	if (!slot)
		return;
	judge->samples++;
	judge->backwards += slot->seen && sample->time < slot->time;
	if (slot->seen)
		judge_interval(judge, slot, sample);
	slot->seen = true;
	slot->time = sample->time;
	slot->read = read_value(sample);
}

static void claim(int number, bool holds, const char *text)
{
	printf("%s %d - %s\n", holds ? "ok" : "not ok", number, text);
}

int main(int argc, char **argv)
{
	static struct judge judge;
	struct perfdata_record record;
	struct error error = { 0 };
	enum status status;
	bool good[3];

	if (argc != 2 || bundle_open(&judge.bundle, sys_real(), argv[1], &error))
		fail(&error);
	read_slots(&judge);
	read_draws(&judge);
	perfdata_reader_want(judge.bundle.reader, PERFDATA_WANT_SAMPLES);
	while (!(status = perfdata_reader_next(judge.bundle.reader, &record, &error)))
		judge_sample(&judge, &record.sample);
	if (status != STATUS_END)
		fail(&error);

	printf("# %llu samples, %llu intervals whole, %llu cut by a redraw, %zu draws, worst "
	       "%.4f\n",
	       (unsigned long long)judge.samples, (unsigned long long)judge.whole,
	       (unsigned long long)judge.cut, judge.n_draws, judge.worst);
	good[0] = judge.whole >= MIN_INTERVALS && judge.backwards == 0;
	good[1] = (double)judge.close >= SHARE_WANTED * (double)judge.whole && judge.whole > 0;
	good[2] = judge.not_drawn == 0;
	claim(1, good[0], "the samples of each clock are in order and their intervals are many");
	claim(2, good[1], "99 % of the uncut intervals are realised within 1 % of PERIOD");
	claim(3, good[2], "PERIOD is the drawn period of draws.data");
	free(judge.draws);
	bundle_close(&judge.bundle);
	return good[0] && good[1] && good[2] ? 0 : 1;
}
