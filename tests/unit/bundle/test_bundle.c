/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bundle/bundle.h"
#include "bundle/perfdata_writer.h"
#include "support/sys_fault.h"
#include "support/tree.h"
#include "unit/bundle/contract.h"
#include "unit/bundle/reader.h"

static struct tree tree;
static char path[512];

static void samples_append(struct perfdata_writer *writer, unsigned int n)
{
	struct image records = { 0 };
	struct error error;

	for (unsigned int i = 0; i < n; i++)
		image_clock_sample(&records, 100, i, i);
	assert_int_equal(perfdata_writer_append(writer, records.bytes, records.size, &error),
			 STATUS_OK);
	image_release(&records);
}

/* A bundle of three epochs of 10 samples; 10 more were committed after the last finished epoch. */
static void bundle_write(bool ended)
{
	const struct perf_event_attr attr = image_clock_attr();
	const struct perfdata_writer_event event = { &attr, "cpu-clock", NULL, 0 };
	const struct perfdata_writer_features features = { .clock_id = -1 };
	const struct manifest_end end = { .samples = 40 };
	struct perfdata_writer *data;
	struct manifest_writer *contract;
	struct manifest manifest;
	struct error error;
	int dir_fd;

	tree_make(&tree, NULL, 0);
	tree_write(&tree, "out.assay/readme", "");
	snprintf(path, sizeof(path), "%s/out.assay", tree.root);
	dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	contract_fill(&manifest);
	assert_int_equal(
		perfdata_writer_create(&data, sys_real(), dir_fd, "perf.data", &event, 1, &error),
		STATUS_OK);
	assert_int_equal(manifest_writer_create(&contract, sys_real(), dir_fd, "manifest.json",
						&manifest, &error),
			 STATUS_OK);
	for (unsigned int i = 0; i < 4; i++) {
		struct manifest_epoch_clock clocks[2];
		struct manifest_epoch epoch = contract_epoch(i, clocks);

		samples_append(data, 10);
		assert_int_equal(perfdata_writer_commit(data, &error), STATUS_OK);
		epoch.data_bytes = perfdata_writer_data_bytes(data);
		if (i < 3)
			assert_int_equal(manifest_writer_epoch(contract, &manifest, &epoch, NULL, 0,
							       NULL, 0, &error),
					 STATUS_OK);
	}
	if (ended) {
		assert_int_equal(perfdata_writer_finish(data, &features, &error), STATUS_OK);
		assert_int_equal(manifest_writer_end(contract, &end, &error), STATUS_OK);
	}
	perfdata_writer_close(data);
	manifest_writer_close(contract);
	manifest_release(&manifest);
	close(dir_fd);
}

static void a_finished_bundle_gives_its_contract_and_all_samples(void **state)
{
	struct bundle bundle;
	struct error error;
	unsigned int samples;

	(void)state;
	bundle_write(true);
	assert_int_equal(bundle_open(&bundle, sys_real(), path, &error), STATUS_OK);
	assert_true(bundle.has_manifest);
	assert_true(bundle.manifest.end.present);
	assert_int_equal(bundle.manifest.n_epochs, 3);
	assert_true(bundle.dir_fd >= 0);
	reader_count(bundle.reader, &samples);
	assert_int_equal(samples, 40);
	bundle_close(&bundle);
	tree_remove(&tree);
}

static void a_killed_recording_is_read_up_to_its_last_finished_epoch(void **state)
{
	struct bundle bundle;
	struct error error;
	unsigned int samples;

	(void)state;
	bundle_write(false);
	assert_int_equal(bundle_open(&bundle, sys_real(), path, &error), STATUS_OK);
	assert_false(bundle.manifest.end.present);
	reader_count(bundle.reader, &samples);
	assert_int_equal(samples, 30);
	assert_int_equal(reader_n_notes(bundle.reader), 0);
	bundle_close(&bundle);
	tree_remove(&tree);
}

static void a_plain_perf_data_file_has_no_contract(void **state)
{
	struct bundle bundle;
	struct error error;
	unsigned int samples;

	(void)state;
	bundle_write(true);
	strcat(path, "/perf.data");
	assert_int_equal(bundle_open(&bundle, sys_real(), path, &error), STATUS_OK);
	assert_false(bundle.has_manifest);
	assert_int_equal(bundle.dir_fd, -1);
	reader_count(bundle.reader, &samples);
	assert_int_equal(samples, 40);
	bundle_close(&bundle);
	tree_remove(&tree);
}

static void what_cannot_be_opened_is_named_and_nothing_stays_open(void **state)
{
	struct bundle bundle;
	struct sys_fault fault;
	struct error error;

	(void)state;
	assert_int_equal(bundle_open(&bundle, sys_real(), "/nonexistent.assay", &error),
			 STATUS_NOT_FOUND);
	assert_non_null(strstr(error.text, "/nonexistent.assay"));
	bundle_write(true);
	tree_write(&tree, "out.assay/manifest.json", "{\"schema\": \"assay.manifest/9\"}");
	sys_fault_init(&fault, sys_real());
	assert_int_equal(bundle_open(&bundle, sys_fault_table(&fault), path, &error),
			 STATUS_CORRUPT);
	assert_non_null(strstr(error.text, "out.assay"));
	assert_non_null(strstr(error.text, "assay.manifest/9"));
	assert_int_equal(fault.open_fds, 0);
	tree_remove(&tree);
}

static void every_failing_call_is_an_error_and_leaves_nothing_open(void **state)
{
	struct sys_fault fault;
	unsigned int at = 0;

	(void)state;
	bundle_write(true);
	do {
		struct bundle bundle;
		struct error error;
		enum status status;

		sys_fault_init(&fault, sys_real());
		/* the first open decides whether it is a directory: its failure means it is a file */
		sys_fault_plan(&fault, SYS_FAULT_READ | SYS_FAULT_STAT | SYS_FAULT_OPEN, ++at, 5,
			       SYS_FAULT_ONCE);
		status = bundle_open(&bundle, sys_fault_table(&fault), path, &error);
		if (status == STATUS_OK)
			bundle_close(&bundle);
		assert_true(fault.fired == (status != STATUS_OK));
		assert_int_equal(fault.open_fds, 0);
	} while (fault.fired);
	assert_true(at > 5);
	tree_remove(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_finished_bundle_gives_its_contract_and_all_samples),
		cmocka_unit_test(a_killed_recording_is_read_up_to_its_last_finished_epoch),
		cmocka_unit_test(a_plain_perf_data_file_has_no_contract),
		cmocka_unit_test(what_cannot_be_opened_is_named_and_nothing_stays_open),
		cmocka_unit_test(every_failing_call_is_an_error_and_leaves_nothing_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
