/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfdata_write [--killed] FILE N: a perf.data of N samples by assay's writer, as recordings have it:
 * several ids of one clock event, a canary event, COMM, MMAP2, call chains, READ values, rounds; all
 * features. With --killed it stops after the last commit, without them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/perfdata_writer.h"

static struct error error;

static void check(enum status status)
{
	if (status == STATUS_OK)
		return;
	fprintf(stderr, "perfdata_write: %s\n", error.text);
	exit(1);
}

struct identity {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	char comm[16];
	struct identity identity;
};

struct mmap2_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, length, page_offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
	char path[16];
	struct identity identity;
};

struct sample_record {
	struct perf_event_header header;
	uint64_t id, ip;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t period, read_value, read_id, n_chain, chain[3];
};

static const uint64_t clock_ids[] = { 11, 12, 13 }, canary_ids[] = { 21 };

static struct perf_event_attr clock_attr(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000000,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_ID,
		.clockid = 1,
	};

	attr.sample_id_all = attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 1;
	attr.use_clockid = attr.exclude_kernel = attr.exclude_hv = 1;
	return attr;
}

static void append_side_band(struct perfdata_writer *writer)
{
	const struct identity identity = { 100, 100, 5, 0, 0, 11 };
	const struct comm_record comm = { { PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
					    sizeof(comm) },
					  100,
					  100,
					  "prog",
					  identity };
	const struct mmap2_record mmap = {
		{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER, sizeof(mmap) },
		100,
		100,
		0x400000,
		0x10000,
		0,
		8,
		1,
		4711,
		0,
		5,
		2,
		"/x/prog",
		identity,
	};

	check(perfdata_writer_append(writer, &comm, sizeof(comm), &error));
	check(perfdata_writer_append(writer, &mmap, sizeof(mmap), &error));
}

static void append_samples(struct perfdata_writer *writer, unsigned int n)
{
	const struct perf_event_header round = { 68, 0, sizeof(round) };

	for (unsigned int i = 0; i < n; i++) {
		const uint64_t id = i % 3 ? clock_ids[i % 2] : canary_ids[0];
		const uint64_t ip = 0x400100 + 16 * (i % 64);
		/* each id has two samples in six, and its value rises by a period from one to the next:
		 * perf drops a sample whose value did not rise */
		const struct sample_record sample = {
			{ PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, sizeof(sample) },
			id,
			ip,
			100,
			100,
			1000 + 1000 * (uint64_t)i,
			i % 2,
			0,
			1000000,
			1000000 * (1 + 2 * ((uint64_t)i / 6) + (i % 6 >= 3)),
			id,
			3,
			{ PERF_CONTEXT_USER, ip, 0x400500 },
		};

		check(perfdata_writer_append(writer, &sample, sizeof(sample), &error));
		if (i % 1000 == 999) {
			check(perfdata_writer_append(writer, &round, sizeof(round), &error));
			check(perfdata_writer_commit(writer, &error));
		}
	}
	check(perfdata_writer_commit(writer, &error));
}

static void finish(struct perfdata_writer *writer, char **command, unsigned int n)
{
	static const uint8_t build_id[20] = { 0xde, 0xad, 0xbe, 0xef };
	const struct perfdata_writer_build_id build_ids[] = { { build_id, 20, false, "/x/prog" } };
	const struct perfdata_writer_features features = {
		.hostname = "host",
		.os_release = "6.1.0",
		.version = "assay test",
		.arch = "x86_64",
		.cpu_description = "a CPU",
		.command_line = command,
		.cpus_online = 2,
		.cpus_available = 2,
		.total_memory_kib = 1u << 20,
		.first_sample_ns = 1000,
		.last_sample_ns = 1000 + 1000 * (uint64_t)n,
		.clock_id = 1,
		.build_ids = build_ids,
		.n_build_ids = 1,
	};

	check(perfdata_writer_finish(writer, &features, &error));
}

int main(int argc, char **argv)
{
	const struct perf_event_attr attr = clock_attr();
	const struct perfdata_writer_event events[] = {
		{ &attr, "cpu-clock:u", clock_ids, 3 },
		{ &attr, "cpu-clock:u canary", canary_ids, 1 },
	};
	const int killed = argc > 1 && !strcmp(argv[1], "--killed");
	struct perfdata_writer *writer;
	unsigned int n;

	if (argc != 3 + killed) {
		fprintf(stderr, "usage: perfdata_write [--killed] FILE N\n");
		return 2;
	}
	n = (unsigned int)strtoul(argv[2 + killed], NULL, 10);
	check(perfdata_writer_create(&writer, sys_real(), AT_FDCWD, argv[1 + killed], events, 2,
				     &error));
	append_side_band(writer);
	append_samples(writer, n);
	if (!killed)
		finish(writer, argv, n);
	perfdata_writer_close(writer);
	return 0;
}
