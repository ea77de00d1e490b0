/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The TRACING_DATA section of perf.data: the kernel's own description of the tracepoints in it,
 * without which perf does not open a file that has any.
 *
 *	0x17 0x08 0x44 "tracing" | "0.6" NUL | u8 big endian | u8 sizeof(long) | u32 page size
 *	"header_page" NUL  | u64 size | text
 *	"header_event" NUL | u64 size | text
 *	u32 0                                   no formats of ftrace itself
 *	u32 systems | each: name NUL | u32 events | each: u64 size | text of its `format`
 *	u32 0 | u32 0 | u64 0                   no kallsyms, printk formats, command lines
 *
 * Source: tools/perf/util/trace-event-info.c.
 */
#ifndef ASSAY_RECORD_TRACING_DATA_H
#define ASSAY_RECORD_TRACING_DATA_H

#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"
#include "event/event.h"

/* *data is freed by the caller; NULL (and STATUS_OK) when no event is a tracepoint. */
MUST_CHECK enum status tracing_data_make(void **data, size_t *size, const struct sys *sys,
					 const struct event_list *events, struct error *error);

#endif
