/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a perf.data file, read as assay reads one: side-band pass, whole pass, brief pass, and
 * one under a limit taken from the bytes. Everything that a record points to is touched.
 */
#include <stdlib.h>
#include <string.h>

#include "bundle/perfdata_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A zstd carrier may unpack to a thousand times its size; more records than this teach nothing. */
#define MAX_RECORDS 200000u

static uint64_t touch(const void *data, uint64_t size)
{
	const volatile uint8_t *bytes = data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum;
}

static uint64_t touch_text(const char *text)
{
	return touch(text, strlen(text) + 1);
}

static uint64_t touch_sample(const struct perfdata_sample *sample, size_t n_events)
{
	if (sample->event >= n_events)
		abort();
	return touch(sample->callchain, sizeof(uint64_t) * sample->n_callchain) +
	       touch(sample->raw, sample->raw_size) +
	       touch(sample->branches, 3 * sizeof(uint64_t) * sample->n_branches) +
	       touch(sample->user_regs,
		     sizeof(uint64_t) * (unsigned int)__builtin_popcountll(
						sample->user_regs ? sample->user_regs_mask : 0)) +
	       touch(sample->user_stack, sample->user_stack_size) +
	       touch(sample->read, sizeof(*sample->read) * sample->n_read) +
	       (sample->user_stack_dumped > sample->user_stack_size ? (abort(), 0u) : 0u);
}

static uint64_t touch_record(const struct perfdata_record *record, size_t n_events)
{
	switch (record->type) {
	case PERF_RECORD_SAMPLE: return touch_sample(&record->sample, n_events);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2: return touch_text(record->mmap.path);
	case PERF_RECORD_COMM: return touch_text(record->comm.comm);
	case PERF_RECORD_KSYMBOL: return touch_text(record->ksymbol.name);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: return record->time;
	default: return touch(record->other.data, record->other.size);
	}
}

static uint64_t pass(struct perfdata_reader *reader, unsigned int want)
{
	struct perfdata_record record;
	struct error error;
	enum status status;
	uint64_t sum = 0;
	size_t n_events;

	perfdata_reader_want(reader, want);
	for (unsigned int n = 0; n < MAX_RECORDS; n++) {
		status = perfdata_reader_next(reader, &record, &error);
		if (status != STATUS_OK)
			break;
		perfdata_reader_events(reader, &n_events);
		sum += touch_record(&record, n_events);
	}
	if (perfdata_reader_rewind(reader, &error) != STATUS_OK)
		abort();
	return sum;
}

static uint64_t touch_header(const struct perfdata_reader *reader)
{
	const struct perfdata_header *header = perfdata_reader_header(reader);
	const char *const texts[] = { header->hostname, header->os_release, header->version,
				      header->arch, header->cpu_description };
	size_t n_events, n_notes;
	const struct perfdata_event *events = perfdata_reader_events(reader, &n_events);
	const struct perfdata_note *notes = perfdata_reader_notes(reader, &n_notes);
	uint64_t sum = 0;

	for (size_t i = 0; i < header->n_command; i++)
		sum += touch_text(header->command[i]);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		sum += texts[i] ? touch_text(texts[i]) : 0;
	for (size_t i = 0; i < header->n_build_ids; i++)
		sum += touch_text(header->build_ids[i].path) +
		       touch(header->build_ids[i].id, header->build_ids[i].size);
	for (size_t i = 0; i < n_events; i++)
		sum += touch_text(events[i].name) +
		       touch(events[i].ids, events[i].n_ids * sizeof(uint64_t));
	for (size_t i = 0; i < n_notes; i++)
		sum += touch_text(notes[i].text);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perfdata_reader *reader;
	struct error error;
	uint64_t first, last, limit = 0;

	if (perfdata_reader_open_memory(&reader, data, size, &error) != STATUS_OK) {
		if (reader || !error.text[0])
			abort();
		return 0;
	}
	pass(reader, PERFDATA_WANT_SIDEBAND);
	touch_header(reader);
	pass(reader, PERFDATA_WANT_SAMPLES | PERFDATA_WANT_SIDEBAND | PERFDATA_WANT_USER);
	pass(reader, PERFDATA_WANT_SAMPLES | PERFDATA_WANT_BRIEF);
	if (perfdata_reader_sample_times(reader, &first, &last) && first > last)
		abort();
	if (size)
		limit = data[size / 2] * size / 256;
	perfdata_reader_limit(reader, limit);
	pass(reader, PERFDATA_WANT_SAMPLES);
	touch_header(reader);
	perfdata_reader_close(reader);
	return 0;
}
