/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Decodes the kernel's records that are no samples: mappings, tasks, names, loss, throttling,
 * switches. Text fields are bounded by their record, minus the identity that ends it.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_SIDEBAND_H
#define ASSAY_BUNDLE_PERFDATA_SIDEBAND_H

#include "bundle/perfdata_layout.h"
#include "bundle/perfdata_notes.h"
#include "bundle/perfdata_reader.h"
#include "bundle/perfdata_stream.h"

/* Fills all of *record. *text is room for a string without end, made when needed; the caller frees it.
 * False, with the reason, when the record is too short for its type; without one when memory is. */
bool perfdata_sideband_decode(struct perfdata_record *record, const struct perfdata_layout *layout,
			      const struct perfdata_raw *raw, bool swap, char **text,
			      struct perfdata_notes *notes, const char **why);

#endif
