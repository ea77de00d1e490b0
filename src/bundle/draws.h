/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The log of drawn periods, `draws.data`: one fixed record per draw, appended as it is put in force.
 *
 *	header  "ASSAYDRW" | u32 version 1 | u32 record size 40
 *	record  u64 before_ns | u64 after_ns | u64 period | u64 epoch | u32 clock | u32 slot
 *
 * All little-endian. before/after are the times around the call that put the period in force.
 */
#ifndef ASSAY_BUNDLE_DRAWS_H
#define ASSAY_BUNDLE_DRAWS_H

#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"

struct draw {
	uint64_t before_ns, after_ns, period, epoch;
	uint32_t clock, slot;
};

struct draws_writer;
struct draws_reader;

/* Creates the log (mode 0600, fails if it exists) with its header. */
MUST_CHECK enum status draws_writer_create(struct draws_writer **writer, const struct sys *sys,
					   int dir_fd, const char *name, struct error *error);

/* Appends one draw; buffered. After a failed write every further call fails the same way. */
MUST_CHECK enum status draws_writer_append(struct draws_writer *writer, const struct draw *draw,
					   struct error *error);

/* Writes what is buffered: at least at the end of every epoch. */
MUST_CHECK enum status draws_writer_flush(struct draws_writer *writer, struct error *error);

/* Closes without flushing. */
void draws_writer_close(struct draws_writer *writer);

/* STATUS_NOT_FOUND when there is none, STATUS_CORRUPT when the file is no log of draws. */
MUST_CHECK enum status draws_reader_open(struct draws_reader **reader, const struct sys *sys,
					 int dir_fd, const char *name, struct error *error);

/* The next draw in the order of the file, or STATUS_END; a cut last record is not given. */
MUST_CHECK enum status draws_reader_next(struct draws_reader *reader, struct draw *draw,
					 struct error *error);
void draws_reader_close(struct draws_reader *reader);

#endif
