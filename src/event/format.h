/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a PMU keeps a term's bits: the files <sysfs>/bus/event_source/devices/<pmu>/format/<term>.
 *
 *	config:0-7,32-35     bits 0..7 of the value go to attr.config bits 0..7, 8..11 to 32..35
 *	config1:0-63  config2:5
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices-format.
 */
#ifndef ASSAY_EVENT_FORMAT_H
#define ASSAY_EVENT_FORMAT_H

#include "event/grammar.h"

struct event_format {
	unsigned int field; /* 0: config, 1: config1, 2: config2, 3: config3 */
	uint64_t mask;      /* the bits that the term owns; value bits fill them from the lowest */
	struct {
		unsigned char low, high;
	} ranges[64]; /* in the order of the file */
	size_t n_ranges;
	unsigned int width; /* bits of the value */
};

/* False when the text is no format, or one of a later kernel (config4...). */
bool event_format_parse(struct event_format *format, struct event_slice text);

/* The largest value that fits. */
uint64_t event_format_maximum(const struct event_format *format);

/* Sets attr.config, config1 ... where `mask` has bits. False for config3 in a build whose kernel
 * headers lack it (before 6.3), unless nothing is to be set. */
bool event_field_set(struct perf_event_attr *attr, unsigned int field, uint64_t mask,
		     uint64_t bits);

/* Replaces the term's bits in attr. STATUS_LIMIT: the value has more bits than the term;
 * STATUS_UNSUPPORTED: config3 in a build without it. Fills no error. */
MUST_CHECK enum status event_format_store(const struct event_format *format, uint64_t value,
					  struct perf_event_attr *attr);

#endif
