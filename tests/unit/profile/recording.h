/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A small recording in memory, profiled: one event with call chains (or whatever attribute a test
 * wants), three modules that exist nowhere, so that rows are "[unknown]" of a module.
 *
 *	0x1000-0x2000 /no/a    0x3000-0x4000 /no/b    0x5000-0x6000 /no/c
 */
#ifndef ASSAY_TESTS_UNIT_PROFILE_RECORDING_H
#define ASSAY_TESTS_UNIT_PROFILE_RECORDING_H

#include <string.h>

#include "profile/profile.h"
#include "support/perfdata_image.h"
#include "support/test.h"

#define A         0x1100u
#define B         0x3100u
#define C         0x5100u
#define KERNEL    ((uint64_t)PERF_CONTEXT_KERNEL)
#define USER      ((uint64_t)PERF_CONTEXT_USER)
#define KERNEL_AT 0xffffffff81000100u

struct recording {
	struct image data, file;
	struct image_event event;
	struct bundle bundle;
	struct symbolizer *symbolizer;
	struct profile profile;
	char path[16]; /* "made.data" */
};

static inline void recording_begin(struct recording *recording, uint64_t sample_type)
{
	*recording = (struct recording){ .path = "made.data" };
	recording->event.attr = image_clock_attr();
	recording->event.attr.sample_type |= sample_type;
	recording->event.attr_size = 128;
	image_clock_comm(&recording->data, 7, 0, "seven");
	image_clock_mmap2(&recording->data, 7, 0, 0x1000, 0x1000, "/no/a");
	image_clock_mmap2(&recording->data, 7, 0, 0x3000, 0x1000, "/no/b");
	image_clock_mmap2(&recording->data, 7, 0, 0x5000, 0x1000, "/no/c");
}

/* A sample with a call chain: ip is the chain's first address that is no marker. */
static inline void recording_chain(struct recording *recording, uint64_t time, uint64_t period,
				   const uint64_t *chain, size_t n)
{
	struct image *data = &recording->data;
	size_t first = 0, record;

	while (first < n && chain[first] >= (uint64_t)PERF_CONTEXT_MAX)
		first++;
	record = image_record(data, PERF_RECORD_SAMPLE,
			      n && chain[0] == KERNEL ? PERF_RECORD_MISC_KERNEL
						      : PERF_RECORD_MISC_USER);
	image_u64(data, chain[first]);
	image_u32(data, 7);
	image_u32(data, 7);
	image_u64(data, time);
	image_u64(data, period);
	image_u64(data, n);
	for (size_t i = 0; i < n; i++)
		image_u64(data, chain[i]);
	image_record_end(data, record);
}

#define CHAIN(recording, time, ...)                                  \
	do {                                                         \
		const uint64_t chain_[] = { __VA_ARGS__ };           \
		recording_chain(recording, time, 1000, chain_,       \
				sizeof(chain_) / sizeof(chain_[0])); \
	} while (0)

static inline enum status recording_try(struct recording *recording,
					const struct profile_options *options, struct error *error)
{
	const struct symbolizer_options symbols = { .demangle = true };

	image_file(&recording->file, &recording->event, 1, &recording->data, recording->data.size);
	recording->bundle = (struct bundle){ .path = recording->path, .dir_fd = -1 };
	assert_int_equal(perfdata_reader_open_memory(&recording->bundle.reader,
						     recording->file.bytes, recording->file.size,
						     NULL),
			 STATUS_OK);
	assert_int_equal(symbolizer_new(&recording->symbolizer, sys_real(), &symbols, NULL),
			 STATUS_OK);
	return profile_build(&recording->profile, &recording->bundle, recording->symbolizer,
			     sys_real(), options, error);
}

static inline void recording_profile(struct recording *recording,
				     const struct profile_options *options)
{
	struct error error = { 0 };

	if (recording_try(recording, options, &error) != STATUS_OK)
		fail_msg("%s", error.text);
}

static inline void recording_end(struct recording *recording)
{
	profile_release(&recording->profile);
	symbolizer_free(recording->symbolizer);
	perfdata_reader_close(recording->bundle.reader);
	image_release(&recording->file);
	image_release(&recording->data);
}

#endif
