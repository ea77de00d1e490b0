/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Storage of the clocks of a parsed manifest's epochs: blocks, so that nothing moves as epochs come. */
#ifndef ASSAY_BUNDLE_MANIFEST_PARTS_H
#define ASSAY_BUNDLE_MANIFEST_PARTS_H

#include "bundle/manifest.h"

#define MANIFEST_BLOCK_CLOCKS 1024u

_Static_assert(MANIFEST_MAX_CLOCKS <= MANIFEST_BLOCK_CLOCKS, "one epoch fits into a block");

struct manifest_clock_block {
	struct manifest_clock_block *next;
	size_t used;
	struct manifest_epoch_clock clocks[MANIFEST_BLOCK_CLOCKS];
};

/* n_clocks zeroed clocks that live as long as the manifest; NULL when it has none or memory is short. */
struct manifest_epoch_clock *manifest_clocks_take(struct manifest *manifest);

#endif
