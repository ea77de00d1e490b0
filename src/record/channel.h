/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The two rings of a CPU: samples, and the sideband (mmap, comm, fork, exit).
 *
 * They are apart so that a flood of samples cannot push out the records that say what the samples
 * mean. The first event of a kind that is attached to a channel owns the ring, the others redirect
 * their output into it (PERF_EVENT_IOC_SET_OUTPUT; allowed for events on the same CPU, of whatever
 * task). An owner must therefore outlive the others.
 */
#ifndef ASSAY_RECORD_CHANNEL_H
#define ASSAY_RECORD_CHANNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"
#include "record/ring.h"

/* Together (and with two control pages) below the 516 KiB that any user may lock per CPU. */
#define CHANNEL_SAMPLE_BYTES   (256u * 1024)
#define CHANNEL_SIDEBAND_BYTES (128u * 1024)
#define CHANNEL_LEAST_PAGES    2

struct channel {
	int cpu;
	struct ring samples, sideband;
	int samples_fd, sideband_fd; /* the owners; -1 until one is attached; not closed here */
};

struct channels {
	struct channel *items;
	size_t n;
	size_t sample_pages, sideband_pages;
	bool may_shrink; /* the size was not asked for: take less when memory may not be locked */
};

/* One channel per CPU; `sample_pages` 0: automatic. */
MUST_CHECK enum status channels_init(struct channels *channels, const struct sys *sys,
				     const int *cpus, size_t n, size_t sample_pages,
				     struct error *error);
void channels_release(struct channels *channels, const struct sys *sys);

/* Sends the output of the event `fd` (opened on the channel's CPU) to the channel. */
MUST_CHECK enum status channel_attach_samples(struct channels *channels, struct channel *channel,
					      const struct sys *sys, int fd, struct error *error);
MUST_CHECK enum status channel_attach_sideband(struct channels *channels, struct channel *channel,
					       const struct sys *sys, int fd, struct error *error);

#endif
