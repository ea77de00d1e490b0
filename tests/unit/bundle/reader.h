/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What tests of the perf.data reader share: opening an image, counting what comes out of it. */
#ifndef ASSAY_TESTS_UNIT_BUNDLE_READER_H
#define ASSAY_TESTS_UNIT_BUNDLE_READER_H

#include "bundle/perfdata_reader.h"
#include "support/perfdata_image.h"
#include "support/test.h"

static inline struct perfdata_reader *reader_of(const struct image *file)
{
	struct perfdata_reader *reader = NULL;
	struct error error;

	if (perfdata_reader_open_memory(&reader, file->bytes, file->size, &error) != STATUS_OK)
		fail_msg("%s", error.text);
	return reader;
}

/* Reads to the end; the number of records, of them samples in *samples (may be NULL). */
static inline unsigned int reader_count(struct perfdata_reader *reader, unsigned int *samples)
{
	struct perfdata_record record;
	struct error error;
	enum status status;
	unsigned int n = 0, n_samples = 0;

	while ((status = perfdata_reader_next(reader, &record, &error)) == STATUS_OK) {
		n++;
		n_samples += record.type == PERF_RECORD_SAMPLE;
	}
	if (status != STATUS_END)
		fail_msg("%s", error.text);
	if (samples)
		*samples = n_samples;
	return n;
}

static inline const struct perfdata_note *reader_note(const struct perfdata_reader *reader,
						      enum perfdata_note_kind kind)
{
	size_t n;
	const struct perfdata_note *notes = perfdata_reader_notes(reader, &n);

	for (size_t i = 0; i < n; i++)
		if (notes[i].kind == kind)
			return &notes[i];
	return NULL;
}

static inline size_t reader_n_notes(const struct perfdata_reader *reader)
{
	size_t n;

	perfdata_reader_notes(reader, &n);
	return n;
}

/* A COMM, an MMAP2 and `n` samples of one cpu-clock event without ids. */
static inline void clock_image(struct image *file, unsigned int n)
{
	const struct image_event event = { image_clock_attr(), 128, NULL, 0 };
	struct image data = { .swap = file->swap };

	image_clock_comm(&data, 100, 5, "prog");
	image_clock_mmap2(&data, 100, 6, 0x400000, 0x1000, "/x/prog");
	for (unsigned int i = 0; i < n; i++)
		image_clock_sample(&data, 100, 100 + i, 0x400010);
	image_file(file, &event, 1, &data, data.size);
	image_release(&data);
}

#define CLOCK_SAMPLE_BYTES    40u
#define CLOCK_SIDE_BAND_BYTES 136u /* the COMM and the MMAP2 */

#endif
