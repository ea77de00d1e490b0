/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/perfdata_writer.h"
#include "support/sys_fault.h"
#include "support/tree.h"
#include "unit/bundle/reader.h"

struct written {
	struct tree tree;
	int dir_fd;
	char path[512];
};

static void place_make(struct written *place)
{
	tree_make(&place->tree, NULL, 0);
	place->dir_fd = open(place->tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(place->path, sizeof(place->path), "%s/perf.data", place->tree.root);
}

static void place_remove(struct written *place)
{
	close(place->dir_fd);
	tree_remove(&place->tree);
}

static const uint64_t clock_ids[] = { 11, 12, 13 }, canary_ids[] = { 21 };

static struct perf_event_attr writer_attr(void)
{
	struct perf_event_attr attr = image_clock_attr();

	attr.sample_type |= PERF_SAMPLE_IDENTIFIER;
	attr.use_clockid = 1;
	attr.clockid = 1;
	return attr;
}

static enum status create(struct perfdata_writer **writer, const struct sys *sys,
			  const struct written *place, struct error *error)
{
	const struct perf_event_attr attr = writer_attr();
	const struct perfdata_writer_event events[] = {
		{ &attr, "cpu-clock", clock_ids, 3 },
		{ &attr, "cpu-clock (canary)", canary_ids, 1 },
	};

	return perfdata_writer_create(writer, sys, place->dir_fd, "perf.data", events, 2, error);
}

static enum status append_samples(struct perfdata_writer *writer, unsigned int first,
				  unsigned int n, struct error *error)
{
	struct image record = { 0 };
	enum status status = STATUS_OK;

	for (unsigned int i = first; i < first + n && status == STATUS_OK; i++) {
		const size_t at = image_record(&record, PERF_RECORD_SAMPLE, 2);

		image_u64(&record, i % 5 ? clock_ids[i % 3] : 21);
		image_u64(&record, 0x400000 + i);
		image_u64(&record, 0);
		image_u64(&record, 1000 + i);
		image_u64(&record, 1000000 + i);
		image_record_end(&record, at);
		status = perfdata_writer_append(writer, record.bytes, record.size, error);
		record.size = 0;
	}
	image_release(&record);
	return status;
}

static struct perfdata_reader *reader_at(const struct written *place)
{
	struct perfdata_reader *reader = NULL;
	struct error error;

	if (perfdata_reader_open(&reader, sys_real(), place->path, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return reader;
}

static unsigned int samples_at(const struct written *place)
{
	struct perfdata_reader *reader = reader_at(place);
	struct perfdata_record record;
	struct error error;
	unsigned int n = 0;

	while (perfdata_reader_next(reader, &record, &error) == STATUS_OK) {
		assert_int_equal(record.type, PERF_RECORD_SAMPLE);
		assert_int_equal(record.time, 1000 + n);
		assert_int_equal(record.sample.event, n % 5 ? 0 : 1);
		assert_int_equal(record.sample.period, 1000000 + n);
		n++;
	}
	perfdata_reader_close(reader);
	return n;
}

static uint64_t data_end_at(const struct written *place)
{
	struct perfdata_reader *reader = reader_at(place);
	const struct perfdata_header *header = perfdata_reader_header(reader);
	const uint64_t end = header->data_offset + header->data_size;

	perfdata_reader_close(reader);
	return end;
}

static uint64_t size_at(const struct written *place)
{
	struct stat stat;

	assert_int_equal(fstatat(place->dir_fd, "perf.data", &stat, 0), 0);
	return (uint64_t)stat.st_size;
}

static void what_was_written_is_read_back(void **state)
{
	static const uint8_t build_id[20] = { 0xde, 0xad, 0xbe, 0xef };
	char words[4][8] = { "assay", "record", "--", "./a b" };
	char *const command[] = { words[0], words[1], words[2], words[3], NULL };
	const struct perfdata_writer_build_id build_ids[] = { { build_id, 20, false, "/x/prog" },
							      { build_id, 16, true, "[kernel]" } };
	const struct perfdata_writer_features features = {
		.hostname = "host",
		.os_release = "6.1.0",
		.version = "assay 0.1",
		.arch = "x86_64",
		.cpu_description = "a CPU",
		.command_line = command,
		.cpus_online = 2,
		.cpus_available = 4,
		.total_memory_kib = 1234,
		.first_sample_ns = 1000,
		.last_sample_ns = 2000,
		.clock_id = 1,
		.build_ids = build_ids,
		.n_build_ids = 2,
	};
	struct written place;
	struct perfdata_writer *writer;
	struct perfdata_reader *reader;
	const struct perfdata_header *header;
	const struct perfdata_event *events;
	struct error error;
	struct stat stat;
	size_t n;

	(void)state;
	place_make(&place);
	assert_int_equal(create(&writer, sys_real(), &place, &error), STATUS_OK);
	assert_int_equal(append_samples(writer, 0, 20000, &error), STATUS_OK); /* several buffers */
	assert_int_equal(perfdata_writer_data_bytes(writer), 20000 * 48);
	assert_int_equal(perfdata_writer_finish(writer, &features, &error), STATUS_OK);
	perfdata_writer_close(writer);
	assert_int_equal(samples_at(&place), 20000);
	assert_int_equal(fstatat(place.dir_fd, "perf.data", &stat, 0), 0);
	assert_int_equal(stat.st_mode & 0777, 0600);

	reader = reader_at(&place);
	header = perfdata_reader_header(reader);
	assert_true(header->finished);
	assert_string_equal(header->hostname, "host");
	assert_string_equal(header->os_release, "6.1.0");
	assert_string_equal(header->version, "assay 0.1");
	assert_string_equal(header->arch, "x86_64");
	assert_string_equal(header->cpu_description, "a CPU");
	assert_int_equal(header->n_command, 4);
	assert_string_equal(header->command[0], "assay");
	assert_string_equal(header->command[3], "./a b");
	assert_int_equal(header->n_cpus, 2);
	assert_int_equal(header->total_memory_kib, 1234);
	assert_int_equal(header->first_sample_ns, 1000);
	assert_int_equal(header->last_sample_ns, 2000);
	assert_int_equal(header->clock_id, 1);
	assert_int_equal(header->n_build_ids, 2);
	assert_string_equal(header->build_ids[0].path, "/x/prog");
	assert_int_equal(header->build_ids[0].size, 20);
	assert_memory_equal(header->build_ids[0].id, build_id, 20);
	assert_int_equal(header->build_ids[1].size, 16);
	assert_int_equal(header->build_ids[1].misc & PERF_RECORD_MISC_CPUMODE_MASK,
			 PERF_RECORD_MISC_KERNEL);
	events = perfdata_reader_events(reader, &n);
	assert_int_equal(n, 2);
	assert_string_equal(events[0].name, "cpu-clock");
	assert_string_equal(events[1].name, "cpu-clock (canary)");
	assert_int_equal(events[0].n_ids, 3);
	assert_int_equal(events[1].ids[0], 21);
	assert_int_equal(events[0].attr.sample_type, writer_attr().sample_type);
	assert_int_equal(reader_n_notes(reader), 0);
	perfdata_reader_close(reader);
	place_remove(&place);
}

static void the_file_holds_what_was_committed_and_no_more(void **state)
{
	struct written place;
	struct perfdata_writer *writer;
	struct error error;

	(void)state;
	place_make(&place);
	assert_int_equal(create(&writer, sys_real(), &place, &error), STATUS_OK);
	assert_int_equal(append_samples(writer, 0, 100, &error), STATUS_OK);
	assert_int_equal(perfdata_writer_commit(writer, &error), STATUS_OK);
	assert_int_equal(samples_at(&place), 100);
	/* more than the buffer, so that some of it is in the file, but not part of it */
	assert_int_equal(append_samples(writer, 100, 9000, &error), STATUS_OK);
	assert_int_equal(samples_at(&place), 100);
	assert_int_equal(perfdata_writer_commit(writer, &error), STATUS_OK);
	assert_int_equal(samples_at(&place), 9100);
	perfdata_writer_close(writer);
	assert_int_equal(samples_at(&place), 9100);
	place_remove(&place);
}

static void an_existing_file_is_not_touched(void **state)
{
	struct written place;
	struct perfdata_writer *writer;
	struct error error;
	struct stat stat;

	(void)state;
	place_make(&place);
	tree_write(&place.tree, "perf.data", "precious");
	assert_int_equal(create(&writer, sys_real(), &place, &error), STATUS_IO);
	assert_int_equal(error.os_errno, EEXIST);
	assert_null(writer);
	assert_int_equal(fstatat(place.dir_fd, "perf.data", &stat, 0), 0);
	assert_int_equal(stat.st_size, 8);
	place_remove(&place);
}

static void attributes_that_perf_refuses_are_refused_here(void **state)
{
	struct written place;
	struct perfdata_writer *writer;
	struct perf_event_attr attr = writer_attr();
	const struct perfdata_writer_event event = { &attr, "cpu-clock", clock_ids, 3 };
	struct error error;

	(void)state;
	place_make(&place);
	attr.sample_type |= PERF_SAMPLE_READ;
	assert_int_equal(perfdata_writer_create(&writer, sys_real(), place.dir_fd, "perf.data",
						&event, 1, &error),
			 STATUS_USAGE);
	assert_int_equal(faccessat(place.dir_fd, "perf.data", F_OK, 0), -1);
	place_remove(&place);
}

/* The scenario of the sweep: two commits of 7000 samples and the end. How far it came in *stage. */
static enum status scenario(const struct sys *sys, const struct written *place, int *stage,
			    struct error *error)
{
	const struct perfdata_writer_features features = { .hostname = "host", .clock_id = 1 };
	struct perfdata_writer *writer;
	enum status status = create(&writer, sys, place, error);

	*stage = 0;
	if (status != STATUS_OK)
		return status;
	for (unsigned int i = 0; i < 2 && status == STATUS_OK; i++) {
		*stage = 1 + (int)i;
		status = append_samples(writer, i * 7000, 7000, error);
		if (status == STATUS_OK)
			status = perfdata_writer_commit(writer, error);
	}
	if (status == STATUS_OK) {
		*stage = 3;
		status = perfdata_writer_finish(writer, &features, error);
	}
	if (status != STATUS_OK) {
		struct error again;

		/* every further call fails in the same words */
		assert_int_equal(append_samples(writer, 0, 1, &again), status);
		assert_string_equal(again.text, error->text);
		assert_int_equal(perfdata_writer_commit(writer, &again), status);
		assert_int_equal(perfdata_writer_finish(writer, &features, &again), status);
	}
	perfdata_writer_close(writer);
	return status;
}

static void a_disk_that_fills_up_at_any_write_leaves_the_last_commit(void **state)
{
	static const enum sys_fault_how hows[] = { SYS_FAULT_ONCE, SYS_FAULT_STAYS,
						   SYS_FAULT_TORN };
	unsigned int swept = 0;

	(void)state;
	for (size_t h = 0; h < 3; h++)
		for (unsigned int at = 1;; at++) {
			struct sys_fault fault;
			struct written place;
			struct error error;
			enum status status;
			int stage;

			place_make(&place);
			sys_fault_init(&fault, sys_real());
			sys_fault_plan(&fault, SYS_FAULT_WRITE, at, ENOSPC, hows[h]);
			status = scenario(sys_fault_table(&fault), &place, &stage, &error);
			assert_int_equal(fault.open_fds, 0);
			assert_int_equal(status, fault.fired ? STATUS_IO : STATUS_OK);
			if (stage == 0)
				assert_int_equal(faccessat(place.dir_fd, "perf.data", F_OK, 0), -1);
			else if (status != STATUS_OK && stage == 1)
				/* nothing is committed: records are read as far as they go */
				assert_true(samples_at(&place) <= 7000);
			else if (stage == 2 && hows[h] == SYS_FAULT_TORN &&
				 samples_at(&place) == 14000)
				; /* torn in the header's word itself, all of whose data is there */
			else
				assert_int_equal(samples_at(&place), stage == 2 ? 7000 : 14000);
			if (stage == 3 && status != STATUS_OK)
				assert_int_equal(size_at(&place), data_end_at(&place));
			place_remove(&place);
			if (!fault.fired)
				break;
			assert_int_equal(error.os_errno, ENOSPC);
			swept++;
		}
	assert_true(swept > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_written_is_read_back),
		cmocka_unit_test(the_file_holds_what_was_committed_and_no_more),
		cmocka_unit_test(an_existing_file_is_not_touched),
		cmocka_unit_test(attributes_that_perf_refuses_are_refused_here),
		cmocka_unit_test(a_disk_that_fills_up_at_any_write_leaves_the_last_commit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
