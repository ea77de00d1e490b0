/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/channel.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>

static size_t pages_for(const struct sys *sys, size_t bytes)
{
	const size_t page_size = sys->page_size(sys->state);

	return bytes <= page_size ? 1 : bytes / page_size;
}

enum status channels_init(struct channels *channels, const struct sys *sys, const int *cpus,
			  size_t n, size_t sample_pages, struct error *error)
{
	*channels = (struct channels){
		.sample_pages = sample_pages ? sample_pages : pages_for(sys, CHANNEL_SAMPLE_BYTES),
		.sideband_pages = pages_for(sys, CHANNEL_SIDEBAND_BYTES),
		.may_shrink = !sample_pages,
	};
	channels->items = calloc(n, sizeof(*channels->items));
	if (!channels->items)
		return error_set(error, STATUS_NO_MEMORY, "no memory for %zu ring buffers", n);
	channels->n = n;
	for (size_t i = 0; i < n; i++)
		channels->items[i] =
			(struct channel){ .cpu = cpus[i], .samples_fd = -1, .sideband_fd = -1 };
	return STATUS_OK;
}

void channels_release(struct channels *channels, const struct sys *sys)
{
	for (size_t i = 0; i < channels->n; i++) {
		ring_unmap(&channels->items[i].samples, sys);
		ring_unmap(&channels->items[i].sideband, sys);
	}
	free(channels->items);
	*channels = (struct channels){ 0 };
}

/* The owner maps, halving *pages while the kernel allows less; the others follow its size. */
static enum status attach(const struct channels *channels, const struct sys *sys, int fd,
			  struct ring *ring, int *owner_fd, size_t *pages, struct error *error)
{
	enum status status;
	int result;

	if (*owner_fd < 0) {
		status = ring_map(ring, sys, fd, *pages, error);
		while (status == STATUS_PERMISSION && channels->may_shrink &&
		       *pages / 2 >= CHANNEL_LEAST_PAGES) {
			*pages /= 2;
			status = ring_map(ring, sys, fd, *pages, error);
		}
		if (status == STATUS_OK)
			*owner_fd = fd;
		return status;
	}
	result = sys->ioctl(sys->state, fd, PERF_EVENT_IOC_SET_OUTPUT, (void *)(intptr_t)*owner_fd);
	if (result < 0)
		return error_set_errno(error, status_from_errno(-result), -result,
				       "an event cannot share the ring buffer of its CPU");
	return STATUS_OK;
}

enum status channel_attach_samples(struct channels *channels, struct channel *channel,
				   const struct sys *sys, int fd, struct error *error)
{
	return attach(channels, sys, fd, &channel->samples, &channel->samples_fd,
		      &channels->sample_pages, error);
}

enum status channel_attach_sideband(struct channels *channels, struct channel *channel,
				    const struct sys *sys, int fd, struct error *error)
{
	return attach(channels, sys, fd, &channel->sideband, &channel->sideband_fd,
		      &channels->sideband_pages, error);
}
