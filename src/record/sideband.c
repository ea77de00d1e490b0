/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One record of a sideband ring: who belongs to the target, and what it maps.
 *
 * layouts (include/uapi/linux/perf_event.h), each followed by the trailer of record_bytes.h:
 *	FORK, EXIT  8 pid, parent pid | 16 tid, parent tid | 24 time
 *	COMM        8 pid, tid | 16 name
 *	MMAP2       8 pid, tid | 16 address | 24 length | 32 offset | 40 major, minor | 48 inode |
 *	            56 generation | 64 protection, flags | 72 path
 *	READ        8 pid, tid | 16 value | ...   (CPU time of a thread that ended)
 */
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "record/record_bytes.h"
#include "record/recorder.h"
#include "target/process.h"

/* Scopes in which records of other processes come along. */
static bool scope_sees_others(const struct recorder *recorder)
{
	return recorder->scope == SCOPE_CPU;
}

static bool process_is_followed(const struct recorder *recorder, pid_t pid, pid_t tid)
{
	return followed_find(&recorder->followed, tid) || followed_find(&recorder->followed, pid);
}

/* The maps of processes that generate code are taken when their main thread ends. */
static void process_ended(struct recorder *recorder, const struct followed_task *task)
{
	if (task->pid != task->tid)
		return;
	if (task->generates_code)
		perf_maps_take(&recorder->perf_maps, task->pid, task->inner_pid);
}

/* A thread id that is used again still has the events of the one before. */
static enum status task_start(struct recorder *recorder, pid_t pid, pid_t tid, struct error *error)
{
	struct followed_task *task = followed_find(&recorder->followed, tid);
	enum status status;

	if (task && !task->ended)
		return STATUS_OK; /* found in /proc before its FORK record was read */
	if (task) {
		counters_close_chain(&recorder->counters, &task->counters);
		counters_close_chain(&recorder->counters, &task->sidebands);
	}
	status = followed_add(&recorder->followed, pid, tid, &task, error);
	if (status == STATUS_OK && recorder->scope == SCOPE_THREAD)
		status = scope_thread_open(recorder, task, false, error);
	return status;
}

static enum status fork_take(struct recorder *recorder, const struct perf_event_header *record,
			     bool *ours, struct error *error)
{
	const pid_t pid = (pid_t)record_u32(record, 8), tid = (pid_t)record_u32(record, 16);
	const pid_t parent_tid = (pid_t)record_u32(record, 20);

	*ours = !scope_sees_others(recorder) || followed_find(&recorder->followed, parent_tid);
	if (!*ours || recorder->scope == SCOPE_SYSTEM)
		return STATUS_OK;
	return task_start(recorder, pid, tid, error);
}

static bool exit_take(struct recorder *recorder, const struct perf_event_header *record)
{
	const pid_t tid = (pid_t)record_u32(record, 16);
	const struct followed_task *task = followed_find(&recorder->followed, tid);

	if (!task)
		return !scope_sees_others(recorder);
	if (!task->ended)
		process_ended(recorder, task);
	followed_end(&recorder->followed, tid);
	return true;
}

static bool comm_take(struct recorder *recorder, const struct perf_event_header *record)
{
	const pid_t pid = (pid_t)record_u32(record, 8), tid = (pid_t)record_u32(record, 12);
	struct followed_task *task = followed_find(&recorder->followed, tid);

	if ((record->misc & PERF_RECORD_MISC_COMM_EXEC) && task)
		task->generates_code = false;
	if ((record->misc & PERF_RECORD_MISC_COMM_EXEC) && pid == recorder->launch.pid &&
	    !recorder->exec_ns)
		recorder->exec_ns = record_u64(record, record->size - 24u);
	return !scope_sees_others(recorder) || process_is_followed(recorder, pid, tid);
}

/* Memory without a file of its own, by the names that the kernel gives it. */
static bool is_anonymous(const struct mapping_bytes *mapping)
{
	static const char *const names[] = { "//anon", "/dev/zero", "/anon_hugepage",
					     "/memfd:", "/SYSV" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(mapping->path, names[i], strlen(names[i])))
			return true;
	return !mapping->inode && mapping->path[0] != '[';
}

/* Executable memory of this kind is where generated code lives. */
static void mapping_note(struct recorder *recorder, const struct mapping_bytes *mapping)
{
	struct followed_task *task;

	if (!(mapping->protection & PROT_EXEC) || !is_anonymous(mapping))
		return;
	task = followed_find(&recorder->followed, mapping->pid);
	if (!task || task->generates_code)
		return;
	task->generates_code = true;
	task->inner_pid = process_inner_pid(recorder->sys, mapping->pid);
}

static enum status mapping_take(struct recorder *recorder, const struct mapping_bytes *bytes,
				struct error *error)
{
	const struct mapping mapping = {
		.pid = bytes->pid,
		.start = bytes->address,
		.end = bytes->address + bytes->length,
		.major = bytes->major,
		.minor = bytes->minor,
		.inode = bytes->inode,
		.path = bytes->path,
	};

	mapping_note(recorder, bytes);
	if (!(bytes->protection & PROT_EXEC))
		return STATUS_OK;
	return objects_note(&recorder->objects, &mapping, error);
}

static enum status mmap_take(struct recorder *recorder, const struct perf_event_header *record,
			     bool *ours, struct error *error)
{
	const size_t path_at = 72;
	const struct mapping_bytes bytes = {
		.pid = (pid_t)record_u32(record, 8),
		.tid = (pid_t)record_u32(record, 12),
		.address = record_u64(record, 16),
		.length = record_u64(record, 24),
		.major = record_u32(record, 40),
		.minor = record_u32(record, 44),
		.inode = record_u64(record, 48),
		.protection = record_u32(record, 64),
		.path = (const char *)record + path_at,
	};

	*ours = !scope_sees_others(recorder) || process_is_followed(recorder, bytes.pid, bytes.tid);
	if (!*ours || record->size <= path_at + TRAILER_BYTES ||
	    !memchr(bytes.path, '\0', record->size - path_at - TRAILER_BYTES))
		return STATUS_OK;
	return mapping_take(recorder, &bytes, error);
}

/* What a thread that ended has used on one CPU. Its EXIT record came before. */
static void cpu_time_take(struct recorder *recorder, const struct perf_event_header *record)
{
	struct followed_task *task =
		followed_find(&recorder->followed, (pid_t)record_u32(record, 12));

	if (task && record->size >= 24 + TRAILER_BYTES)
		task->cpu_ns += record_u64(record, 16);
}

static void sideband_lost(struct recorder *recorder, struct perf_event_header *record)
{
	const uint64_t time_ns = record_u64(record, record->size - 24u);
	const bool named = record->type == PERF_RECORD_LOST;

	incidents_note(&recorder->incidents, "loss", time_ns, time_ns,
		       (double)record_u64(record, named ? 16 : 8), "records",
		       "records of forks, execs or mappings were lost: samples may stay unnamed");
}

enum status sideband_take(struct recorder *recorder, uint32_t slot,
			  struct perf_event_header *record, struct error *error)
{
	const uint64_t id = recorder->attributes.sideband_first_id + slot;
	enum status status = STATUS_OK;
	bool ours = true;

	switch (record->type) {
	case PERF_RECORD_FORK: status = fork_take(recorder, record, &ours, error); break;
	case PERF_RECORD_EXIT: ours = exit_take(recorder, record); break;
	case PERF_RECORD_COMM: ours = comm_take(recorder, record); break;
	case PERF_RECORD_MMAP2: status = mmap_take(recorder, record, &ours, error); break;
	case PERF_RECORD_LOST: record_set_u64(record, 8, id); __attribute__((fallthrough));
	case PERF_RECORD_LOST_SAMPLES: sideband_lost(recorder, record); break;
	case PERF_RECORD_READ: cpu_time_take(recorder, record); __attribute__((fallthrough));
	default: ours = false; break;
	}
	if (status != STATUS_OK || !ours)
		return status;
	record_set_u64(record, record->size - 8u, id);
	return output_append(recorder, record, error);
}

static enum status synthesized_record(void *data, const struct perf_event_header *record,
				      const struct mapping_bytes *mapping, struct error *error)
{
	struct recorder *recorder = data;
	const enum status status = output_append(recorder, record, error);

	return status == STATUS_OK && mapping ? mapping_take(recorder, mapping, error) : status;
}

static enum status synthesized_thread(void *data, pid_t pid, pid_t tid, struct error *error)
{
	struct recorder *recorder = data;
	struct followed_task *task;

	if (recorder->scope != SCOPE_CPU)
		return STATUS_OK;
	return followed_add(&recorder->followed, pid, tid, &task, error);
}

static enum status processes_synthesize(struct recorder *recorder,
					const struct synthesize_sink *sink, struct error *error)
{
	enum status status;
	pid_t *pids;
	size_t n;

	status = process_list(recorder->sys, &pids, &n, error);
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; status == STATUS_OK && i < n; i++)
		status = synthesize_process(recorder->sys, pids[i], 0, sink, error);
	free(pids);
	return status;
}

enum status sideband_synthesize(struct recorder *recorder, struct error *error)
{
	const struct record_options *options = recorder->options;
	const struct synthesize_sink sink = { recorder, synthesized_record, synthesized_thread };
	enum status status = STATUS_OK;

	if (recorder->manifest.kernel)
		status = synthesize_kernel(recorder->sys, &sink, error);
	if (status == STATUS_OK && options->target == RECORD_CPUS)
		return processes_synthesize(recorder, &sink, error);
	for (size_t i = 0; status == STATUS_OK && i < options->n_ids; i++) {
		const pid_t id = options->ids[i];
		const bool thread = options->target == RECORD_THREADS;
		const pid_t pid = thread ? process_of_thread(recorder->sys, id) : id;

		if (pid > 0)
			status = synthesize_process(recorder->sys, pid, thread ? id : 0, &sink,
						    error);
	}
	return status;
}
