/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes as a manifest.json; what is accepted is written again and must read back the same. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bundle/manifest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int memory_openat(void *state, int dir_fd, const char *path, int flags, mode_t mode)
{
	(void)state;
	(void)dir_fd;
	(void)flags;
	(void)mode;
	return memfd_create(path, MFD_CLOEXEC);
}

/* The written file stays open for the reader. */
static int kept = -1;

static int memory_close(void *state, int fd)
{
	(void)state;
	kept = fd;
	return 0;
}

static void write_again(const struct manifest *manifest)
{
	struct sys sys = *sys_real();
	struct manifest_writer *writer;
	struct error error;

	sys.openat = memory_openat;
	sys.close = memory_close;
	if (manifest_writer_create(&writer, &sys, -1, "manifest.json", manifest, &error) !=
	    STATUS_OK)
		abort();
	for (size_t i = 0; i < manifest->n_epochs; i++)
		if (manifest_writer_epoch(writer, manifest, &manifest->epochs[i], NULL, 0, NULL, 0,
					  &error) != STATUS_OK)
			abort();
	if (manifest->end.present &&
	    manifest_writer_end(writer, &manifest->end, &error) != STATUS_OK)
		abort();
	manifest_writer_close(writer);
}

static void check_same(const struct manifest *a, const struct manifest *b)
{
	if (a->seed != b->seed || a->schedule != b->schedule || a->n_clocks != b->n_clocks ||
	    a->n_epochs != b->n_epochs || a->n_incidents != b->n_incidents ||
	    a->n_objects != b->n_objects || a->n_command != b->n_command ||
	    a->end.present != b->end.present ||
	    memcmp(&a->rate_hz, &b->rate_hz, sizeof(double)) != 0)
		abort();
	for (size_t i = 0; i < a->n_command; i++)
		if (strcmp(a->command[i], b->command[i]) != 0)
			abort();
	for (size_t i = 0; i < a->n_objects; i++)
		if (a->objects[i].path && strcmp(a->objects[i].path, b->objects[i].path) != 0)
			abort();
	for (size_t i = 0; i < a->n_epochs; i++)
		if (memcmp(&a->epochs[i], &b->epochs[i], offsetof(struct manifest_epoch, clocks)) ||
		    (a->n_clocks && memcmp(a->epochs[i].clocks, b->epochs[i].clocks,
					   a->n_clocks * sizeof(*a->epochs[i].clocks))))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest first, second;
	struct error error;
	char *text;
	off_t written;

	if (manifest_parse(&first, (const char *)data, size, &error) != STATUS_OK) {
		if (!error.text[0])
			abort();
		return 0;
	}
	write_again(&first);
	written = lseek(kept, 0, SEEK_END);
	text = malloc((size_t)written);
	if (!text || pread(kept, text, (size_t)written, 0) != written)
		abort();
	if (manifest_parse(&second, text, (size_t)written, &error) != STATUS_OK)
		abort();
	check_same(&first, &second);
	manifest_release(&first);
	manifest_release(&second);
	free(text);
	close(kept);
	return 0;
}
