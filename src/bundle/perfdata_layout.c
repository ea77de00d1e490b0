/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_layout.h"

#include <string.h>

#include "bundle/perfdata_format.h"

/* The next word of the fixed part, or 0 when the sample type has no such field. */
static uint16_t field(const struct perfdata_layout *layout, uint64_t bit, uint16_t *at)
{
	const uint16_t here = *at;

	if (!(layout->sample_type & bit))
		return 0;
	*at = (uint16_t)(here + sizeof(uint64_t));
	return here;
}

static void samples_init(struct perfdata_layout *layout)
{
	uint16_t at = sizeof(struct perf_event_header);

	layout->identifier = field(layout, PERF_SAMPLE_IDENTIFIER, &at);
	layout->ip = field(layout, PERF_SAMPLE_IP, &at);
	layout->tid = field(layout, PERF_SAMPLE_TID, &at);
	layout->time = field(layout, PERF_SAMPLE_TIME, &at);
	layout->addr = field(layout, PERF_SAMPLE_ADDR, &at);
	layout->id = field(layout, PERF_SAMPLE_ID, &at);
	field(layout, PERF_SAMPLE_STREAM_ID, &at);
	layout->cpu = field(layout, PERF_SAMPLE_CPU, &at);
	layout->period = field(layout, PERF_SAMPLE_PERIOD, &at);
	layout->id_at = layout->identifier ? layout->identifier : layout->id;
	layout->fixed = at;
}

static void trailer_init(struct perfdata_layout *layout)
{
	uint16_t identifier, id;
	uint16_t at = sizeof(uint64_t); /* of the last word, counted from the end */

	identifier = field(layout, PERF_SAMPLE_IDENTIFIER, &at);
	layout->trailer_cpu = field(layout, PERF_SAMPLE_CPU, &at);
	field(layout, PERF_SAMPLE_STREAM_ID, &at);
	id = field(layout, PERF_SAMPLE_ID, &at);
	layout->trailer_time = field(layout, PERF_SAMPLE_TIME, &at);
	field(layout, PERF_SAMPLE_TID, &at);
	layout->trailer_id = identifier ? identifier : id;
	layout->trailer = (uint16_t)(at - sizeof(uint64_t));
}

void perfdata_layout_init(struct perfdata_layout *layout, const struct perf_event_attr *attr)
{
	memset(layout, 0, sizeof(*layout));
	layout->sample_type = attr->sample_type;
	layout->read_format = attr->read_format;
	layout->branch_type = attr->branch_sample_type;
	layout->user_registers_mask = attr->sample_regs_user;
	layout->user_registers = (uint8_t)__builtin_popcountll(attr->sample_regs_user);
	layout->interrupt_registers = (uint8_t)__builtin_popcountll(attr->sample_regs_intr);
	samples_init(layout);
	if (attr->sample_id_all)
		trailer_init(layout);
}
