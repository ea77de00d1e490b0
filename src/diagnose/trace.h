/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When each sample fell, in which function, on which clock, thread and CPU: the time axis that counts by
 * cell have lost. And the marks: times at which other events of the same recording happened.
 *
 * Bounded whatever the recording: beyond a number of samples, half of them are dropped, chosen by a
 * hash of the time in ns, which no program is in step with; then half of the rest, and so on. Marks must be complete to be of use, so there they end when there are too many.
 *
 * Samples are sorted by time when it is finished.
 */
#ifndef ASSAY_DIAGNOSE_TRACE_H
#define ASSAY_DIAGNOSE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/keytable.h"

#define TRACE_SAMPLES_MAX ((size_t)1 << 20) /* whatever the caller asks for */
#define TRACE_MARKS_MAX   ((size_t)1 << 21) /* of all sources together */
#define TRACE_SOURCES_MAX 256
#define TRACE_THREADS_MAX 4096 /* more are one, the last */
#define TRACE_STREAMS_MAX 65536

struct trace_sample {
	uint64_t time_ns;
	uint64_t reading;  /* the event's own count, per stream; 0: the file has none */
	uint32_t function; /* of the matrix */
	uint32_t thread;   /* of the trace */
	uint32_t stream;   /* one per id in the file: a clock on one CPU or thread */
	uint16_t column;   /* clock, as in the matrix */
	bool kernel;       /* taken in the kernel */
	uint16_t cpu;      /* UINT16_MAX: unknown */
};

struct trace_thread {
	uint32_t pid, tid;
	uint64_t samples; /* of all columns, before thinning */
	/* filled when it is finished: */
	uint64_t migrations; /* samples on another CPU than the thread's sample before */
	uint64_t moves;      /* pairs of samples for which that is known */
	uint64_t first_ns, last_ns;
	uint16_t cpu; /* of the last one */
};

/* Times of one kind of event in one thread. */
struct trace_source {
	char *name;         /* "sched:sched_switch", "sdt_assay:iteration", "switch" */
	uint32_t tid;       /* UINT32_MAX: not of one thread */
	uint64_t *times_ns; /* sorted when finished */
	size_t n, capacity;
	bool cut; /* later ones did not fit */
};

struct trace {
	struct trace_sample *samples;
	size_t n, capacity, maximum;
	unsigned int level; /* one in 2^level was kept */
	uint64_t seen;      /* samples offered */
	struct trace_thread *threads;
	size_t n_threads, threads_capacity;
	uint32_t n_streams;
	struct trace_source *sources;
	size_t n_sources, sources_capacity;
	size_t n_marks;
	struct keytable thread_index, stream_index, source_index;
};

/* `maximum`: samples to keep at most. */
void trace_init(struct trace *trace, size_t maximum);
void trace_release(struct trace *trace);

/* The numbers of a thread and of a stream, added when new. */
MUST_CHECK enum status trace_thread_at(struct trace *trace, uint32_t pid, uint32_t tid,
				       uint32_t *thread, struct error *error);
MUST_CHECK enum status trace_stream_at(struct trace *trace, uint64_t id, uint32_t *stream,
				       struct error *error);

/* Every sample, in any order; the trace decides whether to keep it. */
MUST_CHECK enum status trace_add(struct trace *trace, const struct trace_sample *sample,
				 struct error *error);

/* A mark of `source` in thread `tid`. */
MUST_CHECK enum status trace_mark(struct trace *trace, const char *source, uint32_t tid,
				  uint64_t time_ns, struct error *error);

void trace_finish(struct trace *trace);

#endif
