/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* Not in older uapi headers; the same bit as COMM_EXEC. perf sets it on FORK records that it made up
 * for tasks that ran already: their maps follow, the parent's are not inherited. */
#define MISC_FORK_EXEC (1u << 13)

enum timeline_kind { TIMELINE_MMAP, TIMELINE_FORK, TIMELINE_THREAD, TIMELINE_COMM, TIMELINE_EXEC };

struct timeline_record {
	uint64_t time;
	uint32_t order; /* in the file, breaks ties */
	enum timeline_kind kind;
	uint32_t pid, tid, parent_pid, parent_tid;
	uint32_t value; /* mapping or comm */
};

struct timeline_generation {
	uint32_t root, pid;
};

/* States of one process (generation) or thread (comm), oldest first. */
struct timeline_life {
	struct timeline_state {
		uint64_t from;
		uint32_t value;
	} * states;
	size_t n, capacity;
};

void timeline_init(struct timeline *timeline)
{
	memset(timeline, 0, sizeof(*timeline));
	strings_init(&timeline->strings);
	maps_init(&timeline->maps);
}

static void lives_release(struct timeline_life *lives, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(lives[i].states);
	free(lives);
}

void timeline_release(struct timeline *timeline)
{
	strings_release(&timeline->strings);
	free(timeline->files);
	free(timeline->mappings);
	maps_release(&timeline->maps);
	free(timeline->records);
	free(timeline->generations);
	lives_release(timeline->processes, timeline->n_processes);
	lives_release(timeline->threads, timeline->n_threads);
	keytable_release(&timeline->file_index);
	keytable_release(&timeline->process_index);
	keytable_release(&timeline->thread_index);
	timeline_init(timeline);
}

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the recording's side records");
}

/* ---- first pass: keep what the records say, small ---- */

static bool file_same(const struct timeline_file *a, const struct timeline_file *b)
{
	return a->path == b->path && a->major == b->major && a->minor == b->minor &&
	       a->inode == b->inode && a->inode_generation == b->inode_generation &&
	       a->build_id_size == b->build_id_size &&
	       !memcmp(a->build_id, b->build_id, a->build_id_size);
}

/* Files whose hashes collide are told apart by counting the hash up. */
static uint32_t file_add(struct timeline *timeline, const struct timeline_file *file)
{
	uint64_t key = hash_combine(hash_combine(file->path, file->inode),
				    hash_bytes(file->build_id, file->build_id_size));
	uint32_t found;

	while ((found = keytable_get(&timeline->file_index, key)) != KEYTABLE_NONE) {
		if (file_same(&timeline->files[found], file))
			return found;
		key++;
	}
	if (!array_reserve(&timeline->files, &timeline->files_capacity, timeline->n_files + 1) ||
	    !keytable_set(&timeline->file_index, key, (uint32_t)timeline->n_files))
		return KEYTABLE_NONE;
	timeline->files[timeline->n_files] = *file;
	return (uint32_t)timeline->n_files++;
}

static enum status record_add(struct timeline *timeline, struct timeline_record record,
			      struct error *error)
{
	if (timeline->n_records >= TIMELINE_MAX_RECORDS)
		return error_set(
			error, STATUS_LIMIT,
			"the recording has more than %u records of mappings, forks and names",
			TIMELINE_MAX_RECORDS);
	if (!array_reserve(&timeline->records, &timeline->records_capacity,
			   timeline->n_records + 1))
		return no_memory(error);
	record.order = (uint32_t)timeline->n_records;
	timeline->records[timeline->n_records++] = record;
	return STATUS_OK;
}

static enum status mmap_add(struct timeline *timeline, const struct perfdata_mmap *mmap,
			    uint64_t time, struct error *error)
{
	struct timeline_file file = { .major = mmap->major,
				      .minor = mmap->minor,
				      .inode = mmap->inode,
				      .inode_generation = mmap->inode_generation };
	struct timeline_mapping mapping = { .start = mmap->address,
					    .page_offset = mmap->page_offset,
					    .pid = mmap->pid };

	if (!mmap->length || mmap->address + mmap->length < mmap->address)
		return STATUS_OK;
	mapping.end = mmap->address + mmap->length;
	/* Only a record's misc says whether it is code; recorders that make records up leave the
	 * protection 0. */
	mapping.executable = !mmap->data;
	file.build_id_size = mmap->build_id_size <= sizeof(file.build_id) ? mmap->build_id_size : 0;
	memcpy(file.build_id, mmap->build_id, file.build_id_size);
	file.path = strings_add(&timeline->strings, mmap->path ? mmap->path : "");
	if (file.path == STRINGS_NONE)
		return no_memory(error);
	mapping.file = file_add(timeline, &file);
	if (mapping.file == KEYTABLE_NONE ||
	    !array_reserve(&timeline->mappings, &timeline->mappings_capacity,
			   timeline->n_mappings + 1))
		return no_memory(error);
	timeline->mappings[timeline->n_mappings] = mapping;
	return record_add(timeline,
			  (struct timeline_record){ .time = time,
						    .kind = TIMELINE_MMAP,
						    .pid = mmap->pid,
						    .tid = mmap->tid,
						    .value = (uint32_t)timeline->n_mappings++ },
			  error);
}

static enum status comm_add(struct timeline *timeline, const struct perfdata_comm *comm,
			    uint64_t time, struct error *error)
{
	struct timeline_record record = {
		.time = time,
		.kind = comm->exec ? TIMELINE_EXEC : TIMELINE_COMM,
		.pid = comm->pid,
		.tid = comm->tid,
		.value = strings_add(&timeline->strings, comm->comm ? comm->comm : ""),
	};

	return record.value == STRINGS_NONE ? no_memory(error)
					    : record_add(timeline, record, error);
}

static enum status fork_add(struct timeline *timeline, const struct perfdata_record *record,
			    uint64_t time, struct error *error)
{
	const struct perfdata_task *task = &record->task;
	struct timeline_record fork = { .time = time,
					.kind = TIMELINE_FORK,
					.pid = task->pid,
					.tid = task->tid,
					.parent_pid = task->parent_pid,
					.parent_tid = task->parent_tid };

	if (task->pid == task->parent_pid || !time || (record->misc & MISC_FORK_EXEC))
		fork.kind = TIMELINE_THREAD;
	return record_add(timeline, fork, error);
}

/* The kernel's own mappings have pid -1; of use are the main image's identity and its place, which
 * differs from boot to boot. perf names the record [kernel.kallsyms]_text (or _stext) and puts that
 * symbol's address into its page offset. */
static void kernel_note(struct timeline *timeline, const struct perfdata_mmap *mmap)
{
	if (!mmap->path || strncmp(mmap->path, "[kernel.kallsyms]", 17))
		return;
	if (!timeline->kernel_start && mmap->path[17] == '_' &&
	    strlen(mmap->path + 17) < sizeof(timeline->kernel_symbol)) {
		timeline->kernel_start = mmap->page_offset;
		memcpy(timeline->kernel_symbol, mmap->path + 17, strlen(mmap->path + 17) + 1);
	}
	if (!timeline->kernel_build_id_size && mmap->build_id_size &&
	    mmap->build_id_size <= sizeof(timeline->kernel_build_id)) {
		memcpy(timeline->kernel_build_id, mmap->build_id, mmap->build_id_size);
		timeline->kernel_build_id_size = mmap->build_id_size;
	}
}

enum status timeline_add(struct timeline *timeline, const struct perfdata_record *record,
			 uint64_t time, struct error *error)
{
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		switch (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
		case PERF_RECORD_MISC_CPUMODE_UNKNOWN:
		case PERF_RECORD_MISC_USER: return mmap_add(timeline, &record->mmap, time, error);
		case PERF_RECORD_MISC_KERNEL: kernel_note(timeline, &record->mmap); break;
		default: break; /* guests */
		}
		return STATUS_OK;
	case PERF_RECORD_COMM: return comm_add(timeline, &record->comm, time, error);
	case PERF_RECORD_FORK: return fork_add(timeline, record, time, error);
	default: return STATUS_OK;
	}
}

/* ---- between the passes: play them in order of time ---- */

static int record_compare(const void *left, const void *right)
{
	const struct timeline_record *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

static struct timeline_life *life_of(struct keytable *index, struct timeline_life **lives,
				     size_t *n, size_t *capacity, uint32_t id)
{
	uint32_t at = keytable_get(index, id);

	if (at != KEYTABLE_NONE)
		return &(*lives)[at];
	if (!array_reserve(lives, capacity, *n + 1) || !keytable_set(index, id, (uint32_t)*n))
		return NULL;
	memset(&(*lives)[*n], 0, sizeof(**lives));
	return &(*lives)[(*n)++];
}

static struct timeline_life *process_of(struct timeline *timeline, uint32_t pid)
{
	return life_of(&timeline->process_index, &timeline->processes, &timeline->n_processes,
		       &timeline->processes_capacity, pid);
}

static bool life_append(struct timeline_life *life, uint64_t from, uint32_t value)
{
	if (life->n && life->states[life->n - 1].from == from) {
		life->states[life->n - 1].value = value;
		return true;
	}
	if (!array_reserve(&life->states, &life->capacity, life->n + 1))
		return false;
	life->states[life->n++] = (struct timeline_state){ from, value };
	return true;
}

/* A process that begins to be known by a fork or an exec was something else before: `born`. */
static bool generation_begin(struct timeline *timeline, uint32_t pid, uint64_t time, uint32_t root,
			     bool born)
{
	struct timeline_life *process = process_of(timeline, pid);

	if (process && !process->n && born && time &&
	    !life_append(process, 0, TIMELINE_NO_GENERATION))
		return false;

	if (!process || !array_reserve(&timeline->generations, &timeline->generations_capacity,
				       timeline->n_generations + 1))
		return false;
	if (!life_append(process, time, (uint32_t)timeline->n_generations))
		return false;
	timeline->generations[timeline->n_generations++] =
		(struct timeline_generation){ root, pid };
	return true;
}

static struct timeline_generation *generation_newest(struct timeline *timeline, uint32_t pid)
{
	const uint32_t at = keytable_get(&timeline->process_index, pid);
	const struct timeline_life *process;

	if (at == KEYTABLE_NONE)
		return NULL;
	process = &timeline->processes[at];
	return &timeline->generations[process->states[process->n - 1].value];
}

/* The same file at the same place as before: records synthesised at the start repeat real ones. */
static bool mapping_repeats(const struct timeline *timeline, uint32_t root,
			    const struct timeline_mapping *mapping)
{
	const struct maps_segment *segment =
		maps_overlap(&timeline->maps, root, mapping->start, mapping->end);
	const struct timeline_mapping *old;

	if (!segment || segment->start > mapping->start || segment->end < mapping->end)
		return false;
	old = &timeline->mappings[segment->mapping];
	return old->file == mapping->file && old->executable == mapping->executable &&
	       old->start - old->page_offset == mapping->start - mapping->page_offset;
}

/* Whether putting the mapping there changes what an address of code means. */
static bool mapping_matters(const struct timeline *timeline, uint32_t root,
			    const struct timeline_mapping *mapping)
{
	const struct maps_segment *segment;
	uint64_t start = mapping->start;

	while (start < mapping->end &&
	       (segment = maps_overlap(&timeline->maps, root, start, mapping->end))) {
		if (mapping->executable || timeline->mappings[segment->mapping].executable)
			return true;
		start = segment->end;
	}
	return false;
}

static enum status play_mmap(struct timeline *timeline, const struct timeline_record *record,
			     struct error *error)
{
	const struct timeline_mapping *mapping = &timeline->mappings[record->value];
	struct timeline_generation *generation = generation_newest(timeline, record->pid);
	const uint32_t root = generation ? generation->root : MAPS_EMPTY;

	if (mapping_repeats(timeline, root, mapping))
		return STATUS_OK;
	if (mapping_matters(timeline, root, mapping)) {
		maps_freeze(&timeline->maps);
		generation = NULL;
	}
	if (!generation) {
		if (!generation_begin(timeline, record->pid, record->time, root, false))
			return no_memory(error);
		generation = generation_newest(timeline, record->pid);
	}
	return maps_put(&timeline->maps, &generation->root, mapping->start, mapping->end,
			record->value, error);
}

static enum status play_comm(struct timeline *timeline, uint32_t tid, uint64_t time, uint32_t comm,
			     struct error *error)
{
	struct timeline_life *thread =
		life_of(&timeline->thread_index, &timeline->threads, &timeline->n_threads,
			&timeline->threads_capacity, tid);

	return thread && life_append(thread, time, comm) ? STATUS_OK : no_memory(error);
}

/* A task is named like the one that made it until it says otherwise. */
static enum status play_fork(struct timeline *timeline, const struct timeline_record *record,
			     struct error *error)
{
	const uint32_t parent = keytable_get(&timeline->thread_index, record->parent_tid);
	const struct timeline_life *thread =
		parent == KEYTABLE_NONE ? NULL : &timeline->threads[parent];
	const struct timeline_generation *from;

	if (record->kind == TIMELINE_FORK) {
		from = generation_newest(timeline, record->parent_pid);
		if (from) {
			const uint32_t root = from->root;

			maps_freeze(&timeline->maps);
			if (!generation_begin(timeline, record->pid, record->time, root, true))
				return no_memory(error);
		}
	}
	return thread ? play_comm(timeline, record->tid, record->time,
				  thread->states[thread->n - 1].value, error)
		      : STATUS_OK;
}

static enum status play(struct timeline *timeline, const struct timeline_record *record,
			struct error *error)
{
	switch (record->kind) {
	case TIMELINE_MMAP: return play_mmap(timeline, record, error);
	case TIMELINE_FORK:
	case TIMELINE_THREAD: return play_fork(timeline, record, error);
	case TIMELINE_EXEC:
		if (!generation_begin(timeline, record->pid, record->time, MAPS_EMPTY, true))
			return no_memory(error);
		return play_comm(timeline, record->tid, record->time, record->value, error);
	case TIMELINE_COMM:
		return play_comm(timeline, record->tid, record->time, record->value, error);
	}
	return STATUS_OK;
}

enum status timeline_finish(struct timeline *timeline, struct error *error)
{
	enum status status = STATUS_OK;

	/* Generation 0 belongs to nobody. */
	if (!array_reserve(&timeline->generations, &timeline->generations_capacity, 1))
		return no_memory(error);
	timeline->generations[0] = (struct timeline_generation){ MAPS_EMPTY, UINT32_MAX };
	timeline->n_generations = 1;
	if (timeline->n_records)
		qsort(timeline->records, timeline->n_records, sizeof(*timeline->records),
		      record_compare);
	for (size_t i = 0; i < timeline->n_records && status == STATUS_OK; i++)
		status = play(timeline, &timeline->records[i], error);
	free(timeline->records);
	timeline->records = NULL;
	timeline->n_records = timeline->records_capacity = 0;
	return status;
}

/* ---- second pass ---- */

/* The state at `time`; before the first one that first one holds, since what happened to a task
 * before its first record is not known and its first record may be late. */
static uint32_t life_at(const struct timeline_life *life, uint64_t time, uint64_t *from,
			uint64_t *until)
{
	size_t low = 0, high = life->n;

	while (high - low > 1) {
		const size_t middle = low + (high - low) / 2;

		if (life->states[middle].from <= time)
			low = middle;
		else
			high = middle;
	}
	if (from)
		*from = low ? life->states[low].from : 0;
	if (until)
		*until = low + 1 < life->n ? life->states[low + 1].from : UINT64_MAX;
	return life->states[low].value;
}

uint32_t timeline_generation_at(const struct timeline *timeline, uint32_t pid, uint64_t time,
				uint64_t *from, uint64_t *until)
{
	const uint32_t at = keytable_get(&timeline->process_index, pid);

	if (at != KEYTABLE_NONE)
		return life_at(&timeline->processes[at], time, from, until);
	if (from)
		*from = 0;
	if (until)
		*until = UINT64_MAX;
	return TIMELINE_NO_GENERATION;
}

uint32_t timeline_generation_pid(const struct timeline *timeline, uint32_t generation)
{
	return timeline->generations[generation].pid;
}

const struct timeline_mapping *timeline_mapping_at(const struct timeline *timeline,
						   uint32_t generation, uint64_t address)
{
	const struct maps_segment *segment =
		maps_find(&timeline->maps, timeline->generations[generation].root, address);

	return segment ? &timeline->mappings[segment->mapping] : NULL;
}

uint32_t timeline_comm_at(const struct timeline *timeline, uint32_t tid, uint64_t time,
			  uint64_t *from, uint64_t *until)
{
	const uint32_t at = keytable_get(&timeline->thread_index, tid);

	if (at != KEYTABLE_NONE)
		return life_at(&timeline->threads[at], time, from, until);
	if (from)
		*from = 0;
	if (until)
		*until = UINT64_MAX;
	return STRINGS_NONE;
}
