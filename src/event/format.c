/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sysfs format files: parsed into ranges, and values scattered into the attribute by them.
 *
 * The files come from the kernel, but out-of-tree PMU drivers write their own: every range is checked
 * to lie in 64 bits, to run upwards and to overlap no other.
 */
#include "event/format.h"

#include <string.h>

static uint64_t range_mask(unsigned int low, unsigned int high)
{
	const unsigned int width = high - low + 1;

	return (width == 64 ? ~0ull : (1ull << width) - 1) << low;
}

static bool range_add(struct event_format *format, struct event_slice text)
{
	struct event_slice low_text, high_text;
	const bool pair = event_slice_split(text, '-', &low_text, &high_text);
	uint64_t low, high, mask;

	if (!event_slice_number(low_text, &low))
		return false;
	high = low;
	if (pair && !event_slice_number(high_text, &high))
		return false;
	if (high > 63 || low > high)
		return false;
	mask = range_mask((unsigned int)low, (unsigned int)high);
	if (format->mask & mask)
		return false;
	format->mask |= mask;
	format->ranges[format->n_ranges].low = (unsigned char)low;
	format->ranges[format->n_ranges++].high = (unsigned char)high;
	format->width += (unsigned int)(high - low + 1);
	return true;
}

bool event_format_parse(struct event_format *format, struct event_slice text)
{
	static const char *const fields[] = { "config", "config1", "config2", "config3" };
	struct event_slice field, ranges, range;

	memset(format, 0, sizeof(*format));
	text = event_slice_trim(text);
	if (!event_slice_split(text, ':', &field, &ranges))
		return false;
	while (format->field < 4 && !event_slice_is(field, fields[format->field]))
		format->field++;
	if (format->field == 4)
		return false;
	/* At most 64 ranges: they are disjoint and hold a bit each. */
	for (bool more = true; more;) {
		more = event_slice_split(ranges, ',', &range, &ranges);
		if (!range_add(format, range))
			return false;
	}
	return true;
}

uint64_t event_format_maximum(const struct event_format *format)
{
	return format->width >= 64 ? ~0ull : (1ull << format->width) - 1;
}

bool event_field_set(struct perf_event_attr *attr, unsigned int field, uint64_t mask, uint64_t bits)
{
	uint64_t old, new;

	switch (field) {
	case 0: attr->config = (attr->config & ~mask) | (bits & mask); return true;
	case 1:
		old = attr->config1;
		new = (old & ~mask) | (bits & mask);
		attr->config1 = new;
		return true;
	case 2:
		old = attr->config2;
		new = (old & ~mask) | (bits & mask);
		attr->config2 = new;
		return true;
	default:
#ifdef PERF_ATTR_SIZE_VER8
		attr->config3 = (attr->config3 & ~mask) | (bits & mask);
		return true;
#else
		return !(bits & mask);
#endif
	}
}

enum status event_format_store(const struct event_format *format, uint64_t value,
			       struct perf_event_attr *attr)
{
	uint64_t bits = 0;
	unsigned int used = 0;

	if (value > event_format_maximum(format))
		return STATUS_LIMIT;
	for (size_t i = 0; i < format->n_ranges; i++) {
		const unsigned int low = format->ranges[i].low, high = format->ranges[i].high;

		bits |= (used < 64 ? value >> used : 0) << low & range_mask(low, high);
		used += high - low + 1;
	}
	return event_field_set(attr, format->field, format->mask, bits) ? STATUS_OK
									: STATUS_UNSUPPORTED;
}
