/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/chains.h"
#include "profile/readings.h"

/* A reader of samples in mid-work: what the last ones were, since the next are alike. */
#define RECENT 256 /* processes (or threads) remembered, by the low bits of their number */

struct recent {
	uint32_t id, value;
	uint64_t from, until; /* empty at first: from = until = 0 */
};

struct pass {
	struct profile *profile;
	const struct profile_options *options;
	struct chains *chains;
	struct readings readings;
	struct recent generations[RECENT], comms[RECENT];
};

void profile_release(struct profile *profile)
{
	timeline_release(&profile->timeline);
	losses_release(&profile->losses);
	lives_release(&profile->lives);
	places_release(&profile->places);
	clocks_release(&profile->clocks);
	tags_release(&profile->tags);
	stacks_release(&profile->stacks);
	free(profile->events);
	memset(profile, 0, sizeof(*profile));
}

static uint64_t record_time(const struct profile *profile, const struct perfdata_record *record)
{
	if (!profile->timed)
		return record->offset;
	return record->has_time ? record->time : 0;
}

static bool file_is_timed(const struct bundle *bundle)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(bundle->reader, &n);

	for (size_t i = 0; i < n; i++)
		if (events[i].attr.sample_type & PERF_SAMPLE_TIME)
			return true;
	return !n;
}

/* Without times the place in the file stands for them, so all records must be seen. */
static enum status pass_side(struct profile *profile, struct error *error)
{
	struct perfdata_reader *reader = profile->bundle->reader;
	struct perfdata_record record;
	enum status status;
	uint64_t last = 0, first = UINT64_MAX;

	profile->timed = file_is_timed(profile->bundle);
	perfdata_reader_want(reader, profile->timed
					     ? PERFDATA_WANT_SIDEBAND
					     : PERFDATA_WANT_SIDEBAND | PERFDATA_WANT_SAMPLES |
						       PERFDATA_WANT_BRIEF);
	while ((status = perfdata_reader_next(reader, &record, error)) == STATUS_OK) {
		const uint64_t time = record_time(profile, &record);

		if (record.type == PERF_RECORD_SAMPLE) {
			first = time < first ? time : first;
			last = time;
			continue;
		}
		status = timeline_add(&profile->timeline, &record, time, error);
		if (status == STATUS_OK)
			status = losses_add(&profile->losses, &record, record.time, error);
		if (status == STATUS_OK)
			status = lives_add(&profile->lives, &record, error);
		if (status != STATUS_OK)
			return status;
	}
	if (status != STATUS_END)
		return status;
	if (first <= last) {
		profile->first_ns = first;
		profile->last_ns = last;
	} else {
		perfdata_reader_sample_times(reader, &profile->first_ns, &profile->last_ns);
	}
	losses_finish(&profile->losses, profile->timed ? profile->last_ns : 0);
	return timeline_finish(&profile->timeline, error);
}

static bool event_is_dummy(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;
}

/* By name, by number from 0, else the first event that is meant to have samples. */
static enum status event_choose(struct profile *profile, const char *wanted, struct error *error)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);
	char *end;
	unsigned long number;

	if (!n)
		return error_set(
			error, STATUS_CORRUPT,
			"%s describes no event: its samples, if there are any, cannot be decoded",
			profile->bundle->path);
	for (size_t i = 0; wanted && i < n; i++)
		if (!strcmp(events[i].name, wanted)) {
			profile->event = (uint32_t)i;
			return STATUS_OK;
		}
	if (wanted) {
		number = strtoul(wanted, &end, 10);
		if (*wanted < '0' || *wanted > '9' || *end || number >= n)
			return error_set(error, STATUS_USAGE,
					 "%s has no event \"%s\": its first of %zu is \"%s\"",
					 profile->bundle->path, wanted, n, events[0].name);
		profile->event = (uint32_t)number;
		return STATUS_OK;
	}
	for (size_t i = 0; i < n; i++)
		if (!event_is_dummy(&events[i].attr)) {
			profile->event = (uint32_t)i;
			break;
		}
	return STATUS_OK;
}

static enum status events_take(struct profile *profile, struct error *error)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);
	const struct perf_event_attr *attr = &events[profile->event].attr;

	profile->events = calloc(n, sizeof(*profile->events));
	if (!profile->events)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the events");
	for (size_t i = 0; i < n; i++) {
		const struct perf_event_attr *own = &events[i].attr;
		const bool is_fixed = !own->freq && own->sample_period;

		profile->events[i].name = events[i].name;
		profile->events[i].period = is_fixed ? (double)own->sample_period : 1;
	}
	profile->n_events = n;
	profile->unit_is_ns =
		attr->type == PERF_TYPE_SOFTWARE &&
		(attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		 attr->config == PERF_COUNT_SW_TASK_CLOCK) &&
		(attr->sample_type & (PERF_SAMPLE_PERIOD | PERF_SAMPLE_READ) || !attr->freq);
	return STATUS_OK;
}

static enum status cells_init(struct profile *profile, struct error *error)
{
	const struct bundle *bundle = profile->bundle;

	if (bundle->has_manifest && bundle->manifest.n_epochs) {
		const enum status status =
			epochs_of_manifest(&profile->epochs, &bundle->manifest, error);

		if (status != STATUS_OK)
			return status;
	} else {
		epochs_of_range(&profile->epochs, profile->first_ns, profile->last_ns);
	}
	return clocks_init(&profile->clocks, bundle->has_manifest ? &bundle->manifest : NULL,
			   profile->event, error);
}

static enum status filter_check(const struct profile *profile, struct filter *filter,
				struct error *error)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);
	const uint64_t type = events[profile->event].attr.sample_type;

	if (filter->cpus && !(type & PERF_SAMPLE_CPU))
		return error_set(
			error, STATUS_USAGE,
			"--cpu: the samples of %s carry no CPU (record with --sample-cpu, or "
			"with assay)",
			profile->bundle->path);
	if (filter->n_slices && !profile->timed)
		return error_set(error, STATUS_USAGE, "--time: the samples of %s carry no time",
				 profile->bundle->path);
	filter_resolve(filter, profile->first_ns, profile->last_ns);
	return STATUS_OK;
}

/* ---- pass 2 ---- */

static uint32_t generation_of(struct pass *pass, uint32_t pid, uint64_t time)
{
	struct recent *recent = &pass->generations[pid % RECENT];

	if (recent->id != pid || time < recent->from || time >= recent->until) {
		recent->id = pid;
		recent->value = timeline_generation_at(&pass->profile->timeline, pid, time,
						       &recent->from, &recent->until);
	}
	return recent->value;
}

/* A thread whose name is not in the file is called as perf calls it: ":TID", the idle one "swapper". */
static uint32_t comm_unknown(struct pass *pass, uint32_t tid)
{
	char name[16] = "swapper";
	uint32_t index;

	if (tid)
		snprintf(name, sizeof(name), ":%d", (int)tid);
	index = strings_add(&pass->profile->timeline.strings, name);
	return index == STRINGS_NONE ? 0 : index;
}

static uint32_t comm_of(struct pass *pass, uint32_t tid, uint64_t time)
{
	struct recent *recent = &pass->comms[tid % RECENT];

	if (recent->id != tid || time < recent->from || time >= recent->until) {
		recent->id = tid;
		recent->value = timeline_comm_at(&pass->profile->timeline, tid, time, &recent->from,
						 &recent->until);
		if (recent->value == STRINGS_NONE)
			recent->value = comm_unknown(pass, tid);
	}
	return recent->value;
}

static bool sample_wanted(struct pass *pass, const struct perfdata_sample *sample, uint64_t time)
{
	const struct filter *filter = pass->options->filter;

	if (!filter)
		return true;
	return filter_takes_time(filter, time) && filter_takes_cpu(filter, sample->cpu) &&
	       filter_takes_task(filter, sample->pid, sample->tid) &&
	       (!filter->n_comms ||
		filter_takes_comm(filter, strings_get(&pass->profile->timeline.strings,
						      comm_of(pass, sample->tid, time))));
}

static enum status sample_tag(struct pass *pass, const struct perfdata_sample *sample,
			      uint64_t time, uint32_t *index, struct error *error)
{
	const unsigned int by = pass->options->tags;
	struct tag tag = { 0 };

	*index = 0;
	if (!by)
		return STATUS_OK;
	if (by & TAG_COMM)
		tag.comm = comm_of(pass, sample->tid, time);
	if (by & TAG_PID)
		tag.pid = sample->pid;
	if (by & TAG_TID)
		tag.tid = sample->tid;
	if (by & TAG_CPU)
		tag.cpu = sample->cpu;
	return tags_at(&pass->profile->tags, &tag, index, error);
}

static void cut_note(struct profile *profile, unsigned int cut)
{
	profile->cut_depth += (cut & STACK_CUT_DEPTH) != 0;
	profile->cut_dump += (cut & STACK_CUT_DUMP) != 0;
	profile->cut_unwind += (cut & STACK_CUT_UNWIND) != 0;
}

static enum status sample_count(struct pass *pass, const struct perfdata_sample *sample,
				uint64_t time, uint32_t column, double weight, struct error *error)
{
	struct profile *profile = pass->profile;
	struct stack stack;
	uint32_t index, tag;
	enum status status;

	status = sample_tag(pass, sample, time, &tag, error);
	if (status != STATUS_OK)
		return status;
	status = chains_stack(pass->chains, sample, generation_of(pass, sample->pid, time), &stack,
			      error);
	if (status != STATUS_OK)
		return status;
	stack.tag = tag;
	status = stacks_add(&profile->stacks, &stack, &index, error);
	if (status != STATUS_OK)
		return status;
	profile->has_chains |= stack.n_chain != 0;
	if (column < profile->clocks.n_clocks) {
		if (!profile->samples)
			profile->fixed_period = true;
		else if (weight != profile->weight / (double)profile->samples)
			profile->fixed_period = false;
		profile->samples++;
		profile->weight += weight;
		if (stack.cut)
			cut_note(profile, stack.cut);
	} else {
		profile->canary_samples++;
	}
	return stacks_count(&profile->stacks, index,
			    epochs_at(&profile->epochs, time) * profile_columns(profile) + column,
			    weight, error);
}

/* One sample of one event. */
static enum status sample_deliver(struct pass *pass, const struct perfdata_record *record,
				  uint32_t event, double weight, struct error *error)
{
	struct profile *profile = pass->profile;
	const struct perfdata_sample *sample = &record->sample;
	const uint64_t time = record_time(profile, record);
	uint32_t column;

	if (event >= profile->n_events)
		return STATUS_OK;
	profile->events[event].samples++;
	profile->events[event].weight += weight;
	column = clocks_column(&profile->clocks, event, sample->id);
	if (column == CLOCKS_NO_COLUMN) {
		profile->foreign_clock += event == profile->event;
		return STATUS_OK;
	}
	if (!sample_wanted(pass, sample, time)) {
		profile->filtered += event == profile->event;
		return STATUS_OK;
	}
	return sample_count(pass, sample, time, column, weight, error);
}

static double period_of(const struct profile *profile, const struct perfdata_sample *sample,
			uint32_t event)
{
	if (sample->has_period && sample->period)
		return (double)sample->period;
	return event < profile->n_events ? profile->events[event].period : 1;
}

static enum status sample_take(struct pass *pass, const struct perfdata_record *record,
			       struct error *error)
{
	const struct perfdata_sample *sample = &record->sample;
	uint32_t event = sample->event;
	uint64_t growth;
	enum status status = STATUS_OK;

	if (event == PERFDATA_NO_EVENT && pass->profile->n_events == 1)
		event = 0;
	if (!sample->has_read || pass->profile->bundle->has_manifest)
		return sample_deliver(pass, record, event, period_of(pass->profile, sample, event),
				      error);
	for (uint32_t i = 0; i < sample->n_read && status == STATUS_OK; i++)
		if (readings_take(&pass->readings, &sample->read[i], &event, &growth))
			status = sample_deliver(pass, record, event, (double)growth, error);
	return status;
}

static enum status pass_samples(struct profile *profile, struct symbolizer *symbolizer,
				const struct profile_options *options, struct error *error)
{
	struct perfdata_reader *reader = profile->bundle->reader;
	struct pass *pass = calloc(1, sizeof(*pass));
	const struct perfdata_event *events;
	struct perfdata_record record;
	enum status status;
	size_t n_events;

	if (!pass)
		return error_set(error, STATUS_NO_MEMORY, "no memory to read the samples");
	pass->profile = profile;
	pass->options = options;
	events = perfdata_reader_events(reader, &n_events);
	status = readings_init(&pass->readings, events, n_events, error);
	if (status == STATUS_OK)
		status = chains_new(&pass->chains, profile, symbolizer, error);
	if (status == STATUS_OK)
		status = perfdata_reader_rewind(reader, error);
	perfdata_reader_want(reader, PERFDATA_WANT_SAMPLES);
	while (status == STATUS_OK &&
	       (status = perfdata_reader_next(reader, &record, error)) == STATUS_OK)
		if (record.type == PERF_RECORD_SAMPLE)
			status = sample_take(pass, &record, error);
	chains_free(pass->chains);
	readings_release(&pass->readings);
	free(pass);
	return status == STATUS_END ? STATUS_OK : status;
}

/* The first event with samples, when the one that was chosen for the user has none; the number of
 * events when there is nothing better. */
static uint32_t event_better(const struct profile *profile, const struct profile_options *options)
{
	if (options->event || profile->events[profile->event].samples)
		return (uint32_t)profile->n_events;
	for (uint32_t i = 0; i < profile->n_events; i++)
		if (profile->events[i].samples)
			return i;
	return (uint32_t)profile->n_events;
}

/* What the samples of one event need, made anew for it. */
static enum status event_start(struct profile *profile, uint32_t event,
			       const struct profile_options *options, struct error *error)
{
	enum status status;

	profile->event = event;
	free(profile->events);
	profile->events = NULL;
	clocks_release(&profile->clocks);
	status = events_take(profile, error);
	if (status == STATUS_OK && options->filter)
		status = filter_check(profile, options->filter, error);
	return status == STATUS_OK ? cells_init(profile, error) : status;
}

enum status profile_build(struct profile *profile, struct bundle *bundle,
			  struct symbolizer *symbolizer, const struct sys *sys,
			  const struct profile_options *options, struct error *error)
{
	struct origin origin;
	enum status status;
	uint32_t better;

	memset(profile, 0, sizeof(*profile));
	profile->bundle = bundle;
	timeline_init(&profile->timeline);
	losses_init(&profile->losses);
	lives_init(&profile->lives);
	tags_init(&profile->tags);
	stacks_init(&profile->stacks);
	status = pass_side(profile, error);
	if (status == STATUS_OK)
		status = event_choose(profile, options->event, error);
	if (status == STATUS_OK)
		status = event_start(profile, profile->event, options, error);
	if (status == STATUS_OK) {
		origin = origin_of(bundle, sys, profile->timeline.kernel_start);
		status = places_init(&profile->places, bundle, &profile->timeline, symbolizer,
				     &origin, error);
	}
	if (status == STATUS_OK)
		status = pass_samples(profile, symbolizer, options, error);
	if (status == STATUS_OK && (better = event_better(profile, options)) < profile->n_events) {
		status = event_start(profile, better, options, error);
		if (status == STATUS_OK)
			status = pass_samples(profile, symbolizer, options, error);
	}
	if (status != STATUS_OK)
		profile_release(profile);
	return status;
}

bool profile_is_exact(const struct profile *profile)
{
	const struct manifest *manifest = &profile->bundle->manifest;
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(profile->bundle->reader, &n);

	if (!profile->bundle->has_manifest)
		return profile->event < n && !events[profile->event].attr.freq &&
		       events[profile->event].attr.sample_period == 1;
	for (size_t k = 0; k < manifest->n_clocks; k++)
		if (manifest->clocks[k].event == profile->event &&
		    manifest->clocks[k].mean_period > 1)
			return false;
	return manifest->n_clocks > 0;
}
