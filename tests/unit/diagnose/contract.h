/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A manifest as a healthy recording of 20 epochs of 200 ms by two jittered clocks leaves it, for tests
 * that then spoil one thing. All strings are literals: never manifest_release it.
 */
#ifndef ASSAY_TESTS_DIAGNOSE_CONTRACT_H
#define ASSAY_TESTS_DIAGNOSE_CONTRACT_H

#include <string.h>

#include "bundle/manifest.h"

#define CONTRACT_EPOCHS 20
#define CONTRACT_CLOCKS 2

struct contract {
	struct manifest manifest;
	struct manifest_clock clocks[CONTRACT_CLOCKS];
	struct manifest_event event;
	struct manifest_epoch epochs[CONTRACT_EPOCHS];
	struct manifest_epoch_clock cells[CONTRACT_EPOCHS][CONTRACT_CLOCKS];
	struct manifest_incident incidents[4];
};

static inline void contract_init(struct contract *c)
{
	memset(c, 0, sizeof(*c));
	c->event = (struct manifest_event){ .asked = (char *)"cpu-clock",
					    .granted = (char *)"cpu-clock",
					    .unit = (char *)"ns" };
	for (size_t k = 0; k < CONTRACT_CLOCKS; k++)
		c->clocks[k] = (struct manifest_clock){
			.kind = SCHEDULE_JITTER,
			.redraw = REDRAW_BLOCK,
			.block = 5,
			.randomised = true,
			.mean_period = 2e6,
			.low = 0.5,
			.high = 1.5,
			.target_hz = 500,
		};
	for (size_t e = 0; e < CONTRACT_EPOCHS; e++) {
		struct manifest_epoch *epoch = &c->epochs[e];

		*epoch = (struct manifest_epoch){ .index = e,
						  .seed = e + 1,
						  .start_ns = 1000000000u + e * 200000000u,
						  .end_ns = 1000000000u + (e + 1) * 200000000u,
						  .budget = 0.01,
						  .achieved = 0.008,
						  .clocks = c->cells[e] };
		for (size_t k = 0; k < CONTRACT_CLOCKS; k++)
			epoch->clocks[k] = (struct manifest_epoch_clock){ .mean_period = 2e6,
									  .samples = 100,
									  .redraws = 20,
									  .intervals = 80,
									  .realised_mean = 2.001e6,
									  .realised_sd = 5.8e5,
									  .intended_mean = 2e6,
									  .intended_sd = 5.8e5 };
	}
	c->manifest = (struct manifest){ .start_ns = 1000000000u,
					 .schedule = SCHEDULE_JITTER,
					 .redraw = REDRAW_BLOCK,
					 .scope = SCOPE_CGROUP,
					 .budget = 0.01,
					 .sample_cost_ns = 20000,
					 .machine = { .max_sample_rate = 100000 },
					 .events = &c->event,
					 .n_events = 1,
					 .clocks = c->clocks,
					 .n_clocks = CONTRACT_CLOCKS,
					 .epochs = c->epochs,
					 .n_epochs = CONTRACT_EPOCHS,
					 .incidents = c->incidents,
					 .end = { .present = true,
						  .reason = (char *)"exit",
						  .samples = 4000,
						  .target_cpu_ns = 4000000000u,
						  .achieved = 0.008 } };
}

#endif
