/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "not enough memory for the times of the samples");
}

void trace_init(struct trace *trace, size_t maximum)
{
	memset(trace, 0, sizeof(*trace));
	trace->maximum = maximum < TRACE_SAMPLES_MAX ? maximum : TRACE_SAMPLES_MAX;
	keytable_init(&trace->thread_index);
	keytable_init(&trace->stream_index);
	keytable_init(&trace->source_index);
}

void trace_release(struct trace *trace)
{
	for (size_t i = 0; i < trace->n_sources; i++) {
		free(trace->sources[i].name);
		free(trace->sources[i].times_ns);
	}
	free(trace->sources);
	free(trace->samples);
	free(trace->threads);
	keytable_release(&trace->thread_index);
	keytable_release(&trace->stream_index);
	keytable_release(&trace->source_index);
	memset(trace, 0, sizeof(*trace));
}

enum status trace_thread_at(struct trace *trace, uint32_t pid, uint32_t tid, uint32_t *thread,
			    struct error *error)
{
	*thread = keytable_get(&trace->thread_index, tid);
	if (*thread != KEYTABLE_NONE)
		return STATUS_OK;
	*thread = (uint32_t)trace->n_threads;
	if (trace->n_threads == TRACE_THREADS_MAX) {
		*thread = TRACE_THREADS_MAX - 1;
		return STATUS_OK;
	}
	if (!array_reserve(&trace->threads, &trace->threads_capacity, trace->n_threads + 1) ||
	    !keytable_set(&trace->thread_index, tid, *thread))
		return no_memory(error);
	trace->threads[trace->n_threads++] =
		(struct trace_thread){ .pid = pid, .tid = tid, .cpu = UINT16_MAX };
	return STATUS_OK;
}

enum status trace_stream_at(struct trace *trace, uint64_t id, uint32_t *stream, struct error *error)
{
	*stream = keytable_get(&trace->stream_index, id);
	if (*stream != KEYTABLE_NONE)
		return STATUS_OK;
	*stream = trace->n_streams;
	if (trace->n_streams == TRACE_STREAMS_MAX) {
		*stream = TRACE_STREAMS_MAX - 1;
		return STATUS_OK;
	}
	if (!keytable_set(&trace->stream_index, id, *stream))
		return no_memory(error);
	trace->n_streams++;
	return STATUS_OK;
}

/* Whether a sample is kept at this level of thinning: by a hash of its time and stream, so that the
 * answer is the same when the level rises later. */
static bool is_kept(const struct trace_sample *sample, unsigned int level)
{
	return !(hash_combine(sample->time_ns, sample->stream) & ((UINT64_C(1) << level) - 1));
}

static void thin(struct trace *trace)
{
	size_t n = 0;

	for (size_t i = 0; i < trace->n; i++)
		if (is_kept(&trace->samples[i], trace->level))
			trace->samples[n++] = trace->samples[i];
	trace->n = n;
}

static void thread_note(struct trace_thread *thread, const struct trace_sample *sample)
{
	if (!thread->samples++ || sample->time_ns < thread->first_ns)
		thread->first_ns = sample->time_ns;
	if (sample->time_ns > thread->last_ns)
		thread->last_ns = sample->time_ns;
}

enum status trace_add(struct trace *trace, const struct trace_sample *sample, struct error *error)
{
	if (sample->thread < trace->n_threads)
		thread_note(&trace->threads[sample->thread], sample);
	trace->seen++;
	if (!is_kept(sample, trace->level))
		return STATUS_OK;
	while (trace->n && trace->n >= trace->maximum && trace->level < 40) {
		trace->level++;
		thin(trace);
		if (!is_kept(sample, trace->level))
			return STATUS_OK;
	}
	if (trace->n >= trace->maximum)
		return STATUS_OK;
	if (!array_reserve(&trace->samples, &trace->capacity, trace->n + 1))
		return no_memory(error);
	trace->samples[trace->n++] = *sample;
	return STATUS_OK;
}

static enum status source_at(struct trace *trace, const char *name, uint32_t tid,
			     struct trace_source **source, struct error *error)
{
	uint64_t key = hash_combine(hash_bytes(name, strlen(name)), tid);
	uint32_t index;

	*source = NULL;
	/* Keys that collide are told apart by counting up. */
	for (; (index = keytable_get(&trace->source_index, key)) != KEYTABLE_NONE; key++)
		if (trace->sources[index].tid == tid && !strcmp(trace->sources[index].name, name)) {
			*source = &trace->sources[index];
			return STATUS_OK;
		}
	if (trace->n_sources == TRACE_SOURCES_MAX)
		return STATUS_OK;
	if (!array_reserve(&trace->sources, &trace->sources_capacity, trace->n_sources + 1))
		return no_memory(error);
	*source = &trace->sources[trace->n_sources];
	**source = (struct trace_source){ .name = strdup(name), .tid = tid };
	if (!(*source)->name ||
	    !keytable_set(&trace->source_index, key, (uint32_t)trace->n_sources)) {
		free((*source)->name);
		return no_memory(error);
	}
	trace->n_sources++;
	return STATUS_OK;
}

enum status trace_mark(struct trace *trace, const char *name, uint32_t tid, uint64_t time_ns,
		       struct error *error)
{
	struct trace_source *source;
	const enum status status = source_at(trace, name, tid, &source, error);

	if (status != STATUS_OK || !source)
		return status;
	if (trace->n_marks >= TRACE_MARKS_MAX) {
		source->cut = true;
		return STATUS_OK;
	}
	if (!array_reserve(&source->times_ns, &source->capacity, source->n + 1))
		return no_memory(error);
	source->times_ns[source->n++] = time_ns;
	trace->n_marks++;
	return STATUS_OK;
}

static int time_compare(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

	return (a > b) - (a < b);
}

static int sample_compare(const void *left, const void *right)
{
	const struct trace_sample *a = left, *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns > b->time_ns ? 1 : -1;
	return (a->stream > b->stream) - (a->stream < b->stream);
}

/* Of the samples that were kept: where they are thinned, moves to and fro between two of them go unseen. */
static void migrations_count(struct trace *trace)
{
	for (size_t i = 0; i < trace->n; i++) {
		const struct trace_sample *sample = &trace->samples[i];
		struct trace_thread *thread;

		if (sample->thread >= trace->n_threads || sample->cpu == UINT16_MAX)
			continue;
		thread = &trace->threads[sample->thread];
		/* the idle task is one per CPU, all with the number 0 */
		if (!thread->tid)
			continue;
		if (thread->cpu != UINT16_MAX) {
			thread->moves++;
			thread->migrations += thread->cpu != sample->cpu;
		}
		thread->cpu = sample->cpu;
	}
}

void trace_finish(struct trace *trace)
{
	if (trace->n)
		qsort(trace->samples, trace->n, sizeof(*trace->samples), sample_compare);
	migrations_count(trace);
	for (size_t i = 0; i < trace->n_sources; i++)
		qsort(trace->sources[i].times_ns, trace->sources[i].n,
		      sizeof(*trace->sources[i].times_ns), time_compare);
}
