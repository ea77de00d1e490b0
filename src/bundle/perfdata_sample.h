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

/* Storage for what one sample needs; words can hold every 8-byte word of the largest record. */
struct perfdata_scratch {
	uint64_t words[PERFDATA_RECORD_MAX_BYTES / 8];
	size_t n_words;
	struct perfdata_read_value read[PERFDATA_RECORD_MAX_BYTES / 8];
};

/* Fills *sample but for `event`. False, with the reason, when the record contradicts its layout. */
bool perfdata_sample_decode(struct perfdata_sample *sample, const struct perfdata_layout *layout,
			    const struct perfdata_raw *raw, bool swap, bool brief,
			    struct perfdata_scratch *scratch, const char **why);

#endif
