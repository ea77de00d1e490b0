/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes PERF_RECORD_SAMPLE by a layout computed beforehand. Native byte order is the fast path:
 * arrays (call chain, branches, registers) point into the record. In the other byte order, or where
 * an array lies askew, they are copied to storage that lives until the next record.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_SAMPLE_H
#define ASSAY_BUNDLE_PERFDATA_SAMPLE_H

#include "bundle/perfdata_layout.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_stream.h"

/* Storage for what one sample needs and its record does not hold as it should be; made on demand. */
struct perfdata_scratch {
	uint64_t *words; /* as many as the largest record has */
	size_t n_words;
	struct perfdata_read_value *read;
	size_t read_capacity;
	bool no_memory; /* the reason of a failed decode */
};

void perfdata_scratch_release(struct perfdata_scratch *scratch);

/* Fills *sample but for `event`. False, with the reason, when the record contradicts its layout. */
bool perfdata_sample_decode(struct perfdata_sample *sample, const struct perfdata_layout *layout,
			    const struct perfdata_raw *raw, bool swap, bool brief,
			    struct perfdata_scratch *scratch, const char **why);

#endif
