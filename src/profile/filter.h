/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which samples a report is about: --comm, --pid, --tid, --cpu and --time, as perf report reads them.
 *
 *	--comm NAME[,NAME]   --pid N[,N]   --tid N[,N]   --cpu 0-3,7
 *	--time START,STOP    seconds as `perf script` prints them; either side may be left out; several
 *			     slices separated by blanks; "+1.5,+3" counts from the first sample
 *	--time 10%-20%[,P%-Q%]   parts of the recording      --time 10%/2   the second tenth
 *
 * Shares are then shares of the selected samples. An empty filter selects all.
 */
#ifndef ASSAY_PROFILE_FILTER_H
#define ASSAY_PROFILE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define FILTER_MAX_CPU    65536
#define FILTER_MAX_SLICES 64

struct filter_slice {
	enum { FILTER_ABSOLUTE, FILTER_SINCE_FIRST, FILTER_FRACTION } unit;
	double start, stop;         /* FILTER_FRACTION: 0..1 */
	uint64_t start_ns, stop_ns; /* [start_ns, stop_ns], after filter_resolve for the others */
};

struct filter {
	char **comms;
	size_t n_comms, comms_capacity;
	uint32_t *pids, *tids;
	size_t n_pids, pids_capacity, n_tids, tids_capacity;
	uint8_t *cpus; /* FILTER_MAX_CPU bits, NULL: all */
	struct filter_slice slices[FILTER_MAX_SLICES];
	size_t n_slices;
};

void filter_init(struct filter *filter);
void filter_release(struct filter *filter);

/* Each adds what one option's argument says. STATUS_USAGE names the word that was not understood. */
MUST_CHECK enum status filter_comms(struct filter *filter, const char *text, struct error *error);
MUST_CHECK enum status filter_pids(struct filter *filter, const char *text, struct error *error);
MUST_CHECK enum status filter_tids(struct filter *filter, const char *text, struct error *error);
MUST_CHECK enum status filter_cpus(struct filter *filter, const char *text, struct error *error);
MUST_CHECK enum status filter_time(struct filter *filter, const char *text, struct error *error);

bool filter_is_empty(const struct filter *filter);

/* True when slices cannot be used before the times of the first and last sample are known. */
bool filter_needs_range(const struct filter *filter);
void filter_resolve(struct filter *filter, uint64_t first_ns, uint64_t last_ns);

bool filter_takes_task(const struct filter *filter, uint32_t pid, uint32_t tid);
bool filter_takes_cpu(const struct filter *filter, uint32_t cpu);
bool filter_takes_time(const struct filter *filter, uint64_t time_ns);
bool filter_takes_comm(const struct filter *filter, const char *comm);

#endif
