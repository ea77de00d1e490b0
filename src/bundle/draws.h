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

MUST_CHECK enum status draws_writer_create(struct draws_writer **writer, const struct sys *sys,
					   int dir_fd, const char *name, struct error *error);
MUST_CHECK enum status draws_writer_append(struct draws_writer *writer, const struct draw *draw,
					   struct error *error);
MUST_CHECK enum status draws_writer_flush(struct draws_writer *writer, struct error *error);
void draws_writer_close(struct draws_writer *writer);

MUST_CHECK enum status draws_reader_open(struct draws_reader **reader, const struct sys *sys,
					 int dir_fd, const char *name, struct error *error);
MUST_CHECK enum status draws_reader_next(struct draws_reader *reader, struct draw *draw,
					 struct error *error);
void draws_reader_close(struct draws_reader *reader);

#endif
