/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/trace_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* What is remembered of each stream while reading. */
struct stream {
	struct intervals_last last;
	uint64_t enabled, running; /* of its latest sample */
};

struct pass {
	struct trace_read *read;
	struct profile *profile;
	const struct table *table;
	const struct matrix *matrix;
	const struct filter *filter;
	struct stream *streams;
	size_t n_streams, streams_capacity;
	const struct perfdata_event *events;
	size_t n_events;
	bool swapped;
	uint64_t period; /* of samples that do not say theirs; 0: unknown */
};

/* Layout of the payload of two tracepoints that has been the same since Linux 2.6.33:
 *	sched_switch	common 8 | prev_comm 16 | prev_pid 4 | prev_prio 4 | prev_state 8 |
 *			next_comm 16 | next_pid 4 | ...
 *	sched_wakeup	common 8 | comm 16 | pid 4 | ... (sched_wakeup_new, sched_waking alike)
 */
#define SWITCH_NEXT_PID_AT 56
#define WAKEUP_PID_AT      24

void trace_read_release(struct trace_read *read)
{
	trace_release(&read->trace);
	for (size_t i = 0; i < read->n_clocks; i++)
		intervals_release(&read->clocks[i]);
	free(read->clocks);
	memset(read, 0, sizeof(*read));
}

static uint64_t own_reading(const struct perfdata_sample *sample)
{
	for (uint32_t i = 0; i < sample->n_read; i++)
		if (sample->read[i].id == sample->id)
			return sample->read[i].value;
	return sample->n_read ? sample->read[0].value : 0;
}

static bool sample_wanted(const struct pass *pass, const struct perfdata_sample *sample)
{
	const struct filter *filter = pass->filter;

	if (!filter)
		return true;
	return filter_takes_time(filter, sample->time) && filter_takes_cpu(filter, sample->cpu) &&
	       filter_takes_task(filter, sample->pid, sample->tid) &&
	       (!filter->n_comms ||
		filter_takes_comm(
			filter, strings_get(&pass->profile->timeline.strings,
					    timeline_comm_at(&pass->profile->timeline, sample->tid,
							     sample->time, NULL, NULL))));
}

/* A clock on one CPU or in one thread: by id, else by thread. */
static uint64_t stream_key(const struct perfdata_sample *sample)
{
	return sample->has_id ? sample->id : (UINT64_C(1) << 63) | sample->tid;
}

static enum status stream_of(struct pass *pass, uint32_t number, struct stream **stream,
			     struct error *error)
{
	if (number >= pass->n_streams) {
		if (!array_reserve(&pass->streams, &pass->streams_capacity, (size_t)number + 1))
			return error_set(error, STATUS_NO_MEMORY,
					 "not enough memory for the clocks");
		memset(pass->streams + pass->n_streams, 0,
		       (number + 1 - pass->n_streams) * sizeof(*pass->streams));
		pass->n_streams = (size_t)number + 1;
	}
	*stream = &pass->streams[number];
	return STATUS_OK;
}

static enum status sample_note(struct pass *pass, const struct perfdata_sample *sample,
			       uint32_t column, struct error *error)
{
	struct trace_read *read = pass->read;
	const uint64_t reading = own_reading(sample);
	struct trace_sample item = { .time_ns = sample->time,
				     .reading = reading,
				     .column = (uint16_t)column,
				     .kernel = sample->cpumode == PERF_RECORD_MISC_KERNEL,
				     .cpu = sample->has_cpu && sample->cpu < UINT16_MAX
						    ? (uint16_t)sample->cpu
						    : UINT16_MAX };
	struct stream *stream = NULL;
	uint32_t generation;
	enum status status;

	read->has_read |= sample->n_read > 0;
	read->has_cpu |= item.cpu != UINT16_MAX;
	status = trace_thread_at(&read->trace, sample->pid, sample->tid, &item.thread, error);
	if (status == STATUS_OK)
		status = trace_stream_at(&read->trace, stream_key(sample), &item.stream, error);
	if (status == STATUS_OK)
		status = stream_of(pass, item.stream, &stream, error);
	if (status != STATUS_OK)
		return status;
	stream->enabled = sample->read_time_enabled;
	stream->running = sample->read_time_running;
	status = intervals_add(&read->clocks[column], &stream->last, sample->time, reading,
			       sample->has_period ? sample->period : pass->period, error);
	if (status != STATUS_OK)
		return status;
	generation = timeline_generation_at(&pass->profile->timeline, sample->pid, sample->time,
					    NULL, NULL);
	status = matrix_function_at(pass->matrix, pass->profile, pass->table, generation,
				    sample->cpumode, sample->ip, &item.function, error);
	return status == STATUS_OK ? trace_add(&read->trace, &item, error) : status;
}

/* A field of a tracepoint's payload, UINT32_MAX when it is not there (or in the other byte order). */
static uint32_t raw_u32(const struct pass *pass, const struct perfdata_sample *sample, uint32_t at)
{
	uint32_t value;

	if (pass->swapped || sample->raw_size < at + sizeof(value))
		return UINT32_MAX;
	memcpy(&value, (const uint8_t *)sample->raw + at, sizeof(value));
	return value;
}

/* Each occurrence was recorded: an event whose period is one. Then its times are marks. */
static bool event_is_mark(const struct perf_event_attr *attr)
{
	return !attr->freq && attr->sample_period == 1;
}

static enum status mark_note(struct pass *pass, const struct perfdata_sample *sample,
			     struct error *error)
{
	const struct perfdata_event *event = &pass->events[sample->event];
	struct trace *trace = &pass->read->trace;
	enum status status;
	uint32_t other;

	if (!event_is_mark(&event->attr) || !sample->has_time)
		return STATUS_OK;
	if (!strcmp(event->name, "sched:sched_switch")) {
		status = trace_mark(trace, "switched out", sample->tid, sample->time, error);
		other = raw_u32(pass, sample, SWITCH_NEXT_PID_AT);
		if (status == STATUS_OK && other != UINT32_MAX && other)
			status = trace_mark(trace, "switched in", other, sample->time, error);
		return status;
	}
	if (!strncmp(event->name, "sched:sched_waking", 18) ||
	    !strncmp(event->name, "sched:sched_wakeup", 18)) {
		other = raw_u32(pass, sample, WAKEUP_PID_AT);
		return trace_mark(trace, "woken", other, sample->time, error);
	}
	return trace_mark(trace, event->name, sample->tid, sample->time, error);
}

static enum status sample_take(struct pass *pass, const struct perfdata_record *record,
			       struct error *error)
{
	const struct perfdata_sample *sample = &record->sample;
	uint32_t event = sample->event, column;

	if (event == PERFDATA_NO_EVENT && pass->n_events == 1)
		event = 0;
	if (event >= pass->n_events || !sample_wanted(pass, sample))
		return STATUS_OK;
	column = clocks_column(&pass->profile->clocks, event, sample->id);
	if (column == CLOCKS_NO_COLUMN && event != pass->profile->event)
		return mark_note(pass, sample, error);
	if (column >= pass->read->n_clocks)
		return STATUS_OK;
	return sample_note(pass, sample, column, error);
}

static enum status switch_take(struct pass *pass, const struct perfdata_record *record,
			       struct error *error)
{
	pass->read->switches++;
	if (!record->has_time || record->tid == UINT32_MAX || !record->tid)
		return STATUS_OK;
	return trace_mark(&pass->read->trace,
			  record->context_switch.out ? "switched out" : "switched in", record->tid,
			  record->time, error);
}

/* Software events share no counter: theirs run less than they are enabled when an event of one thread and
 * one CPU waits for the thread to come back there. */
static void multiplex_sum(struct pass *pass, const struct perf_event_attr *attr)
{
	struct trace_read *read = pass->read;
	double enabled = 0, running = 0;

	read->multiplexed = read->multiplexed_worst = NAN;
	if (attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT)
		return;
	for (size_t i = 0; i < pass->n_streams; i++) {
		const struct stream *stream = &pass->streams[i];

		if (!stream->enabled || stream->running > stream->enabled)
			continue;
		enabled += (double)stream->enabled;
		running += (double)stream->running;
		read->multiplexed_worst =
			fmax(read->multiplexed_worst,
			     1 - (double)stream->running / (double)stream->enabled);
	}
	if (enabled > 0)
		read->multiplexed = 1 - running / enabled;
}

/* What the clocks of the columns are, so that changes of the period are understood. */
static void clocks_describe(struct trace_read *read, const struct profile *profile,
			    const struct perf_event_attr *attr)
{
	const struct manifest *manifest = &profile->bundle->manifest;

	for (size_t c = 0; c < read->n_clocks; c++) {
		read->clocks[c].unit_is_ns = profile->unit_is_ns;
		if (profile->bundle->has_manifest && profile->clocks.by_id) {
			const struct manifest_clock *clock =
				&manifest->clocks[profile->clocks.clock_of[c]];

			read->clocks[c].every_sample = clock->redraw == REDRAW_SAMPLE;
			read->clocks[c].steered = clock->kind == SCHEDULE_FREQ;
		} else {
			read->clocks[c].steered = attr->freq;
		}
	}
}

static enum status records_read(struct pass *pass, struct error *error)
{
	struct perfdata_reader *reader = pass->profile->bundle->reader;
	struct perfdata_record record;
	enum status status = perfdata_reader_rewind(reader, error);

	perfdata_reader_want(reader, PERFDATA_WANT_SAMPLES | PERFDATA_WANT_SIDEBAND);
	while (status == STATUS_OK &&
	       (status = perfdata_reader_next(reader, &record, error)) == STATUS_OK) {
		if (record.type == PERF_RECORD_SAMPLE)
			status = sample_take(pass, &record, error);
		else if (record.type == PERF_RECORD_SWITCH ||
			 record.type == PERF_RECORD_SWITCH_CPU_WIDE)
			status = switch_take(pass, &record, error);
	}
	return status == STATUS_END ? STATUS_OK : status;
}

enum status trace_read(struct trace_read *read, struct profile *profile, const struct table *table,
		       const struct matrix *matrix, const struct filter *filter, size_t maximum,
		       struct error *error)
{
	struct pass pass = {
		.read = read, .profile = profile, .table = table, .matrix = matrix, .filter = filter
	};
	enum status status;

	memset(read, 0, sizeof(*read));
	trace_init(&read->trace, maximum);
	pass.events = perfdata_reader_events(profile->bundle->reader, &pass.n_events);
	pass.swapped = perfdata_reader_header(profile->bundle->reader)->swapped;
	read->n_clocks = matrix_columns(matrix);
	read->clocks = calloc(read->n_clocks + 1, sizeof(*read->clocks));
	if (!read->clocks) {
		read->n_clocks = 0;
		status = error_set(error, STATUS_NO_MEMORY, "not enough memory for the clocks");
	} else {
		pass.period = pass.events[profile->event].attr.freq
				      ? 0
				      : pass.events[profile->event].attr.sample_period;
		clocks_describe(read, profile, &pass.events[profile->event].attr);
		status = records_read(&pass, error);
	}
	if (status == STATUS_OK) {
		trace_finish(&read->trace);
		multiplex_sum(&pass, &pass.events[profile->event].attr);
	} else {
		trace_read_release(read);
	}
	free(pass.streams);
	return status;
}
