/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfdata_dump FILE: what the reader makes of a perf.data file, as JSON, for end-to-end tests.
 *
 *	perfdata_dump [--limit BYTES] FILE|-
 *
 * Counts per record type and per event, period sums, range of times, longest chain, notes. Makes two
 * passes (side-band only, then everything) as assay itself does, and fails if they disagree. Exit code
 * 1 with one line on stderr when the file cannot be opened.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/perfdata_format.h"
#include "bundle/perfdata_reader.h"

struct counts {
	uint64_t types[256];
	struct {
		uint32_t type;
		uint64_t n;
	} others[64]; /* types from 256 on; the last slot takes what does not fit */
	size_t n_others;
	uint64_t *samples, *periods;
	size_t n_events;
	uint64_t lost, lost_samples, chains, max_chain, first, last, branches, raw_bytes, stacks;
	uint64_t read_values, checksum;
	bool have_time;
};

static void die(const char *what)
{
	fprintf(stderr, "perfdata_dump: %s\n", what);
	exit(1);
}

/* Touches everything that a record points to, so that a sanitizer sees a pointer that leads astray. */
static uint64_t touch(const void *data, uint64_t size)
{
	const unsigned char *bytes = data;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < size; i++)
		sum = sum * 31 + bytes[i];
	return sum;
}

static void events_grow(struct counts *counts, size_t n)
{
	if (n <= counts->n_events)
		return;
	counts->samples = realloc(counts->samples, n * sizeof(uint64_t));
	counts->periods = realloc(counts->periods, n * sizeof(uint64_t));
	if (!counts->samples || !counts->periods)
		die("no memory");
	for (size_t i = counts->n_events; i < n; i++)
		counts->samples[i] = counts->periods[i] = 0;
	counts->n_events = n;
}

static void count_sample(struct counts *counts, const struct perfdata_sample *sample,
			 const struct perfdata_event *events, size_t n_events)
{
	const struct perf_event_attr *attr = &events[sample->event].attr;

	events_grow(counts, n_events);
	counts->samples[sample->event]++;
	counts->periods[sample->event] += sample->has_period ? sample->period
					  : attr->freq       ? 1
							     : attr->sample_period;
	counts->chains += attr->sample_type & PERF_SAMPLE_CALLCHAIN ? 1 : 0;
	if (sample->n_callchain > counts->max_chain)
		counts->max_chain = sample->n_callchain;
	counts->branches += sample->n_branches;
	counts->raw_bytes += sample->raw_size;
	counts->stacks += sample->user_stack_dumped;
	counts->read_values += sample->n_read;
	counts->checksum += touch(sample->callchain, 8ull * sample->n_callchain) +
			    touch(sample->raw, sample->raw_size) +
			    touch(sample->user_stack, sample->user_stack_size) +
			    touch(sample->branches, 24ull * sample->n_branches) +
			    touch(sample->user_regs,
				  8ull * (unsigned)__builtin_popcountll(sample->user_regs_mask)) +
			    touch(sample->read, sizeof(*sample->read) * sample->n_read);
}

static void count_type(struct counts *counts, uint32_t type)
{
	size_t i = 0;

	if (type < 256) {
		counts->types[type]++;
		return;
	}
	while (i < counts->n_others && counts->others[i].type != type)
		i++;
	if (i == sizeof(counts->others) / sizeof(counts->others[0]))
		i--;
	if (i == counts->n_others)
		counts->others[counts->n_others++].type = type;
	counts->others[i].n++;
}

static void count(struct counts *counts, struct perfdata_reader *reader,
		  const struct perfdata_record *record)
{
	size_t n_events;
	const struct perfdata_event *events = perfdata_reader_events(reader, &n_events);

	count_type(counts, record->type);
	switch (record->type) {
	case PERF_RECORD_SAMPLE: count_sample(counts, &record->sample, events, n_events); break;
	case PERF_RECORD_LOST: counts->lost += record->lost.lost; break;
	case PERF_RECORD_LOST_SAMPLES: counts->lost_samples += record->lost.lost; break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		counts->checksum += touch(record->mmap.path, strlen(record->mmap.path) + 1);
		break;
	case PERF_RECORD_COMM:
		counts->checksum += touch(record->comm.comm, strlen(record->comm.comm) + 1);
		break;
	case PERF_RECORD_KSYMBOL:
		counts->checksum += touch(record->ksymbol.name, strlen(record->ksymbol.name) + 1);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
	case PERF_RECORD_THROTTLE:
	case PERF_RECORD_UNTHROTTLE:
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE: break;
	default: counts->checksum += touch(record->other.data, record->other.size); break;
	}
}

static uint64_t pass(struct perfdata_reader *reader, unsigned int want, struct counts *counts)
{
	struct perfdata_record record;
	struct error error;
	enum status status;
	uint64_t n = 0;

	perfdata_reader_want(reader, want);
	while ((status = perfdata_reader_next(reader, &record, &error)) == STATUS_OK) {
		n++;
		if (counts)
			count(counts, reader, &record);
	}
	if (status != STATUS_END)
		die(error.text);
	if (perfdata_reader_rewind(reader, &error) != STATUS_OK)
		die(error.text);
	return n;
}

static json_t *json_text(const char *text)
{
	json_t *value;

	if (!text)
		return json_null();
	value = json_string(text);
	return value ? value : json_string("(not UTF-8)");
}

static void record_json(json_t *records, uint32_t type, uint64_t n)
{
	char name[32];

	snprintf(name, sizeof(name), "%s", perfdata_type_name(type));
	if (!*name)
		snprintf(name, sizeof(name), "type%u", type);
	json_object_set_new(records, name, json_integer((json_int_t)n));
}

static json_t *records_json(const struct counts *counts)
{
	json_t *records = json_object();

	for (uint32_t type = 0; type < 256; type++)
		if (counts->types[type])
			record_json(records, type, counts->types[type]);
	for (size_t i = 0; i < counts->n_others; i++)
		record_json(records, counts->others[i].type, counts->others[i].n);
	return records;
}

static json_t *events_json(const struct perfdata_reader *reader, const struct counts *counts)
{
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(reader, &n);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(
			list,
			json_pack(
				"{s:o, s:I, s:I, s:I, s:I, s:s}", "name", json_text(events[i].name),
				"attr_size", (json_int_t)events[i].attr_size, "ids",
				(json_int_t)events[i].n_ids, "samples",
				(json_int_t)(i < counts->n_events ? counts->samples[i] : 0),
				"sample_type", (json_int_t)events[i].attr.sample_type, "periods", ({
					static char text[32];

					snprintf(text, sizeof(text), "%llu",
						 (unsigned long long)(i < counts->n_events
									      ? counts->periods[i]
									      : 0));
					text;
				})));
	return list;
}

static json_t *notes_json(const struct perfdata_reader *reader)
{
	static const char *const kinds[] = { "unfinished",   "truncated",  "damaged", "skipped",
					     "unknown-type", "unknown-id", "mended",  "elsewhere" };
	size_t n;
	const struct perfdata_note *notes = perfdata_reader_notes(reader, &n);
	json_t *list = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, json_pack("{s:s, s:I, s:I, s:I, s:o}", "kind",
						      kinds[notes[i].kind], "offset",
						      (json_int_t)notes[i].offset, "count",
						      (json_int_t)notes[i].count, "type",
						      (json_int_t)notes[i].record_type, "text",
						      json_text(notes[i].text)));
	return list;
}

static json_t *command_json(const struct perfdata_header *header)
{
	json_t *words = json_array();

	for (size_t i = 0; i < header->n_command; i++)
		json_array_append_new(words, json_text(header->command[i]));
	return words;
}

static json_t *header_json(const struct perfdata_header *header)
{
	return json_pack("{s:b, s:b, s:b, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:I, s:I, s:i}",
			 "pipe", header->pipe, "swapped", header->swapped, "finished",
			 header->finished, "counters", header->counters, "directory",
			 header->directory, "hostname", json_text(header->hostname), "os_release",
			 json_text(header->os_release), "version", json_text(header->version),
			 "arch", json_text(header->arch), "command", command_json(header), "cpus",
			 (json_int_t)header->n_cpus, "build_ids", (json_int_t)header->n_build_ids,
			 "clock_id", header->clock_id);
}

int main(int argc, char **argv)
{
	struct perfdata_reader *reader;
	struct counts counts = { 0 };
	struct error error;
	uint64_t first, last, limit = UINT64_MAX, sideband, sideband_only;
	json_t *out;
	bool timed, times_agree;

	if (argc > 3 && !strcmp(argv[1], "--limit")) {
		limit = strtoull(argv[2], NULL, 0);
		argc -= 2;
		argv += 2;
	}
	if (argc != 2)
		die("usage: perfdata_dump [--limit BYTES] FILE");
	if (perfdata_reader_open(&reader, sys_real(), argv[1], &error) != STATUS_OK)
		die(error.text);
	if (limit != UINT64_MAX)
		perfdata_reader_limit(reader, limit);
	sideband_only = pass(reader, PERFDATA_WANT_SIDEBAND, NULL);
	timed = perfdata_reader_sample_times(reader, &first, &last);
	pass(reader, PERFDATA_WANT_SAMPLES | PERFDATA_WANT_SIDEBAND | PERFDATA_WANT_USER, &counts);
	sideband = 0;
	for (uint32_t type = 0; type < PERFDATA_USER_ATTR; type++)
		sideband += type == PERF_RECORD_SAMPLE ? 0 : counts.types[type];
	if (sideband != sideband_only)
		die("a side-band pass sees other records than a whole pass");
	{
		uint64_t first_again, last_again;

		times_agree =
			perfdata_reader_sample_times(reader, &first_again, &last_again) == timed &&
			first_again == first && last_again == last;
	}
	if (!times_agree)
		die("a side-band pass sees other sample times than a whole pass");
	out = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "header",
			header_json(perfdata_reader_header(reader)), "records",
			records_json(&counts), "events", events_json(reader, &counts), "notes",
			notes_json(reader), "lost", (json_int_t)counts.lost, "lost_samples",
			(json_int_t)counts.lost_samples, "chains", (json_int_t)counts.chains,
			"max_chain", (json_int_t)counts.max_chain, "branches",
			(json_int_t)counts.branches, "raw_bytes", (json_int_t)counts.raw_bytes,
			"stack_bytes", (json_int_t)counts.stacks, "read_values",
			(json_int_t)counts.read_values);
	json_object_set_new(out, "time",
			    timed ? json_pack("[I, I]", (json_int_t)first, (json_int_t)last)
				  : json_pack("[n, n]"));
	json_dumpf(out, stdout, JSON_INDENT(1) | JSON_SORT_KEYS);
	printf("\n");
	json_decref(out);
	free(counts.samples);
	free(counts.periods);
	perfdata_reader_close(reader);
	return 0;
}
