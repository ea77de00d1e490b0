/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One PMU's terms turned into an attribute.
 */
#ifndef ASSAY_EVENT_PMU_TERMS_H
#define ASSAY_EVENT_PMU_TERMS_H

#include "event/pmu.h"

/* Sets attr.type, attr.config* and the event's name. Typed terms override those of an alias,
 * config= lies below both. */
MUST_CHECK enum status event_pmu_encode(struct event_grammar *g, const struct event_pmu *pmu,
					const struct event_terms *terms, struct event *event);

#endif
