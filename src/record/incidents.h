/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What happened during the recording and lessens what it can say, with its place in time.
 *
 * Incidents of one kind within one epoch are merged (the span grows, amounts add up), so that a storm
 * of losses costs one entry per epoch.
 */
#ifndef ASSAY_RECORD_INCIDENTS_H
#define ASSAY_RECORD_INCIDENTS_H

#include <stddef.h>
#include <stdint.h>

#include "bundle/manifest.h"

#define INCIDENTS_MAX 32 /* kinds in one epoch; more are dropped */

struct incidents {
	struct manifest_incident items[INCIDENTS_MAX];
	size_t n;
};

/* `code` and `unit` must be literals; `text` is copied, that of the first of a kind is kept. */
void incidents_note(struct incidents *incidents, const char *code, uint64_t start_ns,
		    uint64_t end_ns, double amount, const char *unit, const char *text);

/* Forgets them, after they were written. */
void incidents_clear(struct incidents *incidents);

#endif
