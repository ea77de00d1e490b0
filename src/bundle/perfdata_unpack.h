/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The zstd stream of one perf.data file: takes the payloads of its COMPRESSED records one after the
 * other, gives the bytes they stand for in pieces of bounded size. What is left of a record at the
 * end of one payload is kept and continued by the next.
 */
#ifndef ASSAY_BUNDLE_PERFDATA_UNPACK_H
#define ASSAY_BUNDLE_PERFDATA_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_unpack;

struct perfdata_unpack *perfdata_unpack_new(void);
void perfdata_unpack_free(struct perfdata_unpack *unpack);

/* Forgets everything: a new stream begins. */
void perfdata_unpack_reset(struct perfdata_unpack *unpack);

/* The payload of the next carrier; must stay in place until perfdata_unpack_more says false. */
void perfdata_unpack_feed(struct perfdata_unpack *unpack, const void *payload, size_t size);

/* Unread bytes, the first at an 8-aligned address after every call of perfdata_unpack_more. */
const uint8_t *perfdata_unpack_bytes(const struct perfdata_unpack *unpack, size_t *size);
void perfdata_unpack_consume(struct perfdata_unpack *unpack, size_t size);

enum perfdata_unpack_result { UNPACK_MORE, UNPACK_EMPTY, UNPACK_DAMAGED };

/* Unpacks further bytes behind the unread ones. EMPTY: the payload is used up. */
enum perfdata_unpack_result perfdata_unpack_more(struct perfdata_unpack *unpack, const char **why);

#endif
