/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a recording, taken all the way: counted, diagnosed, estimated, written as text, plot and
 * JSON.
 *
 *	u32 size of the manifest | manifest | perf.data		size 0: a perf.data without one
 *
 * Files that a mutated name may hit are out of the question: the kernel's symbols are not read, and names
 * are looked for below a directory that is not there.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnose/diagnosis.h"
#include "report/build.h"
#include "report/diagnosis.h"
#include "report/json.h"
#include "report/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SAMPLES_FOLDED 4096

/* A directory of this process, removed at its end; left over when it crashes. */
static char directory[] = "/tmp/assay-fuzz-XXXXXX";
static char data_path[64], manifest_path[64];

static void directory_remove(void)
{
	unlink(data_path);
	unlink(manifest_path);
	rmdir(directory);
}

static void directory_make(void)
{
	if (data_path[0])
		return;
	if (!mkdtemp(directory))
		abort();
	snprintf(data_path, sizeof(data_path), "%s/perf.data", directory);
	snprintf(manifest_path, sizeof(manifest_path), "%s/manifest.json", directory);
	atexit(directory_remove);
}

static void file_write(const char *path, const uint8_t *data, size_t size)
{
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
}

static void report_show(const struct report *report, const struct diagnosis *diagnosis)
{
	const struct text_options text = { .verbose = true, .samples = true, .width = 100 };
	const struct json_options json = { .percent_limit = 0 };
	const struct diagnosis_view view = { .bundle = report->bundle,
					     .command = report->command,
					     .n_command = report->n_command,
					     .diagnosis = diagnosis,
					     .findings = &report->findings };
	struct error error = { 0 };
	struct output output;

	output_init(&output);
	report_text_render(report, &text, &output);
	diagnosis_text(&view, &text, &output);
	diagnosis_plot(&view, &text, &output);
	if (output_check(&output, &error) != STATUS_OK)
		abort();
	output_release(&output);
	output_init(&output);
	if (report_json(report, &json, &output, &error) != STATUS_OK)
		abort();
	output_release(&output);
	output_init(&output);
	if (diagnosis_json(&view, &output, &error) != STATUS_OK)
		abort();
	output_release(&output);
}

static void profile_show(struct profile *profile)
{
	const struct diagnosis_options options = { .samples = SAMPLES_FOLDED, .answers = true };
	struct report_options report_options = { .by = REPORT_BY_FUNCTION | REPORT_BY_MODULE };
	struct error error = { 0 };
	struct diagnosis diagnosis;
	struct report report;
	struct table table;

	if (table_build(&table, profile, SUBJECT_FUNCTION, true, &error) != STATUS_OK)
		return;
	if (diagnosis_make(&diagnosis, profile, &table, &options, &error) == STATUS_OK) {
		report_options.findings = &diagnosis.findings;
		if (report_build(&report, profile, &table, &report_options, &error) == STATUS_OK) {
			report_show(&report, &diagnosis);
			report_release(&report);
		}
		diagnosis_release(&diagnosis);
	}
	table_release(&table);
}

static void recording_read(const char *path)
{
	const struct symbolizer_options names = { .symfs = "/nonexistent/assay",
						  .kallsyms_path = "/dev/null",
						  .map_dir = "/nonexistent/assay",
						  .demangle = true };
	const struct profile_options options = { 0 };
	const struct sys *sys = sys_real();
	struct symbolizer *symbolizer;
	struct error error = { 0 };
	struct profile profile;
	struct bundle bundle;

	if (bundle_open(&bundle, sys, path, &error) != STATUS_OK)
		return;
	if (symbolizer_new(&symbolizer, sys, &names, &error) == STATUS_OK) {
		if (profile_build(&profile, &bundle, symbolizer, sys, &options, &error) ==
		    STATUS_OK) {
			profile_show(&profile);
			profile_release(&profile);
		}
		symbolizer_free(symbolizer);
	}
	bundle_close(&bundle);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t manifest;

	if (size < sizeof(manifest))
		return 0;
	memcpy(&manifest, data, sizeof(manifest));
	data += sizeof(manifest);
	size -= sizeof(manifest);
	if (manifest > size)
		manifest = (uint32_t)size;
	directory_make();
	file_write(data_path, data + manifest, size - manifest);
	if (manifest)
		file_write(manifest_path, data, manifest);
	recording_read(manifest ? directory : data_path);
	return 0;
}
