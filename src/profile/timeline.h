/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was mapped in which process, and what each thread was called, at every moment.
 *
 * First pass: timeline_add takes the side records (MMAP, MMAP2, FORK, COMM, EXIT) in file order, that
 * is, in no particular order of time; timeline_finish sorts them (stable, ties keep file order) and
 * plays them. Second pass: the samples ask.
 *
 * A *generation* is a stretch of one process's life in which no address changes its meaning. A
 * mapping onto free addresses extends the generation under way, and is seen by its earlier samples
 * too: nothing was known there before, and records of different CPUs may be a little out of order. A
 * mapping of or over other code, an exec and a fork begin a new one. Two samples of one generation with
 * equal addresses therefore mean the same code, which is what the stack table is keyed by.
 *
 * fork      the child starts with the parent's mappings of that moment (shared, see maps.h)
 * exec      (COMM with the exec flag) starts with nothing
 * pid reuse is a fork; records synthesised for processes that ran already have time 0 and come first
 */
#ifndef ASSAY_PROFILE_TIMELINE_H
#define ASSAY_PROFILE_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/strings.h"
#include "bundle/perfdata_reader.h"
#include "profile/keytable.h"
#include "profile/maps.h"

#define TIMELINE_MAX_RECORDS       (32u * 1024 * 1024)
#define TIMELINE_KERNEL_SYMBOL_MAX 16

/* Generation of a process of which nothing is known. */
#define TIMELINE_NO_GENERATION 0u

struct timeline_file { /* what was mapped; equal identities are one */
	uint32_t path; /* in strings */
	uint32_t major, minor;
	uint64_t inode, inode_generation;
	uint8_t build_id[PERFDATA_BUILD_ID_MAX], build_id_size;
};

struct timeline_mapping {
	uint64_t start, end, page_offset;
	uint32_t file, pid; /* the process that mapped it: a fork's child keeps the parent's */
	bool executable; /* recorded as code; code may be made of data by mprotect, which is not recorded */
};

struct timeline {
	struct strings strings; /* paths and comms */
	struct timeline_file *files;
	size_t n_files, files_capacity;
	struct timeline_mapping *mappings;
	size_t n_mappings, mappings_capacity;
	struct maps maps;
	struct timeline_record *records; /* of the first pass, gone after timeline_finish */
	size_t n_records, records_capacity;
	struct timeline_generation *generations;
	size_t n_generations, generations_capacity;
	struct timeline_life *processes, *threads; /* generations by pid, comms by tid */
	size_t n_processes, processes_capacity, n_threads, threads_capacity;
	struct keytable file_index, process_index, thread_index;
	uint8_t kernel_build_id[PERFDATA_BUILD_ID_MAX], kernel_build_id_size;
	uint64_t
		kernel_start; /* address of kernel_symbol while recording, 0: the file does not say */
	char kernel_symbol[TIMELINE_KERNEL_SYMBOL_MAX]; /* "_text" or "_stext" */
};

void timeline_init(struct timeline *timeline);
void timeline_release(struct timeline *timeline);

/* Takes a record of any type and ignores those that say nothing about maps and names. `time` is the
 * record's time, or its place in the file for recordings without times. */
MUST_CHECK enum status timeline_add(struct timeline *timeline, const struct perfdata_record *record,
				    uint64_t time, struct error *error);
MUST_CHECK enum status timeline_finish(struct timeline *timeline, struct error *error);

/* The generation of process `pid` at `time`. [*from, *until) is the time for which the answer holds,
 * so that a caller can keep it (both may be NULL). */
uint32_t timeline_generation_at(const struct timeline *timeline, uint32_t pid, uint64_t time,
				uint64_t *from, uint64_t *until);
uint32_t timeline_generation_pid(const struct timeline *timeline, uint32_t generation);

/* What is mapped at `address`, NULL when nothing is. */
const struct timeline_mapping *timeline_mapping_at(const struct timeline *timeline,
						   uint32_t generation, uint64_t address);

/* The comm of thread `tid` at `time`, as an index of timeline->strings; STRINGS_NONE when unknown. */
uint32_t timeline_comm_at(const struct timeline *timeline, uint32_t tid, uint64_t time,
			  uint64_t *from, uint64_t *until);

#endif
