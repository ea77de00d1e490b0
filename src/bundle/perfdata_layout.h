/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the fields of one event's records lie: computed once per attribute, used for every record.
 *
 * A sample begins with its one-word fields, whose places depend on sample_type only (0 in an offset:
 * the field is absent, since 0 is the record's header):
 *
 *	header | IDENTIFIER | IP | pid,tid | TIME | ADDR | ID | STREAM_ID | cpu,res | PERIOD | variable ...
 *
 * Other records end with the same identity, counted from their end, when attr.sample_id_all is set:
 *
 *	... payload | pid,tid | TIME | ID | STREAM_ID | cpu,res | IDENTIFIER
 *
 * Source: struct sample_id and PERF_RECORD_SAMPLE in include/uapi/linux/perf_event.h, and
 * perf_output_sample in kernel/events/core.c for what the header's comment leaves out (CGROUP).
 */
#ifndef ASSAY_BUNDLE_PERFDATA_LAYOUT_H
#define ASSAY_BUNDLE_PERFDATA_LAYOUT_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata_layout {
	uint64_t sample_type, read_format, branch_type;
	/* samples: bytes from the start of the record */
	uint16_t identifier, ip, tid, time, addr, id, cpu, period;
	uint16_t id_at; /* of IDENTIFIER or ID, whichever is there first */
	uint16_t fixed; /* where the variable fields begin */
	/* other records: bytes from the end of the record */
	uint16_t trailer; /* of all of it, 0 without sample_id_all */
	uint16_t trailer_time, trailer_id, trailer_cpu;
	uint8_t user_registers, interrupt_registers; /* how many a sample stores */
	uint64_t user_registers_mask;
};

/* Any attribute gives a layout; one that the kernel would refuse gives one that fits no record. */
void perfdata_layout_init(struct perfdata_layout *layout, const struct perf_event_attr *attr);

/*
 * The attribute of an event as the file holds it: `size` bytes in the file's byte order, of which
 * fields that this version does not know are ignored and missing ones become zero.
 */
void perfdata_attr_decode(struct perf_event_attr *attr, const uint8_t *bytes, uint32_t size,
			  bool swap);

/* A name made from the attribute alone, as perf would: "cycles:u", "mem:0x404018", "raw 0x1c2". */
void perfdata_attr_name(const struct perf_event_attr *attr, char *name, size_t size);

#endif
