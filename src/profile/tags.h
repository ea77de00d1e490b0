/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tag: the attributes of a sample, other than its stack, that a report keeps apart.
 *
 * Only what was asked for takes part (--sort comm,pid,...); what was not asked for is the same in all
 * tags, so that without any such key there is one tag and stacks are as few as can be.
 */
#ifndef ASSAY_PROFILE_TAGS_H
#define ASSAY_PROFILE_TAGS_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "profile/keytable.h"

#define TAG_COMM 1u
#define TAG_PID  2u
#define TAG_TID  4u
#define TAG_CPU  8u

struct tag {
	uint32_t comm; /* in timeline.strings */
	uint32_t pid, tid, cpu;
};

struct tags {
	struct tag *items;
	size_t n, capacity;
	struct keytable index;
	uint32_t newest;
};

void tags_init(struct tags *tags);
void tags_release(struct tags *tags);

/* The number of the tag, added when new. */
MUST_CHECK enum status tags_at(struct tags *tags, const struct tag *tag, uint32_t *index,
			       struct error *error);

#endif
