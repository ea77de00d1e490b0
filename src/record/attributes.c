/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "record/attributes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"

#if defined(__x86_64__)
#include <asm/perf_regs.h>
/* All general registers, flags and ip; not the segments that user space cannot rely on (perf's
 * PERF_REGS_MASK for 64 bits: ds, es, fs and gs are refused by the kernel). */
#define USER_REGISTERS                                                       \
	(((UINT64_C(1) << PERF_REG_X86_64_MAX) - 1) &                        \
	 ~(UINT64_C(1) << PERF_REG_X86_DS | UINT64_C(1) << PERF_REG_X86_ES | \
	   UINT64_C(1) << PERF_REG_X86_FS | UINT64_C(1) << PERF_REG_X86_GS))
#elif defined(__aarch64__)
#include <asm/perf_regs.h>
/* x0..x29, lr, sp, pc: all that kernels without SVE registers know. */
#define USER_REGISTERS ((UINT64_C(1) << (PERF_REG_ARM64_PC + 1)) - 1)
#else
#error "assay runs on x86-64 and AArch64"
#endif

#define SAMPLE_TYPE                                                                     \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)
#define READ_FORMAT \
	(PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING | PERF_FORMAT_ID)

static void stacks_ask(struct perf_event_attr *attr, const struct record_options *options)
{
	if (options->stacks == RECORD_NO_STACKS)
		return;
	attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (attr->exclude_kernel)
		attr->exclude_callchain_kernel = 1;
	if (options->stacks != RECORD_DWARF)
		return;
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->exclude_callchain_user = 1;
	attr->sample_regs_user = USER_REGISTERS;
	attr->sample_stack_user = options->stack_bytes;
}

void attribute_for_event(struct perf_event_attr *attr, const struct event *event,
			 const struct record_options *options, bool inherit)
{
	*attr = event->attr;
	attr->size = sizeof(*attr);
	attr->sample_type = SAMPLE_TYPE;
	attr->sample_period = 0;
	attr->freq = 0;
	attr->sample_id_all = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->inherit = inherit;
	if (!inherit) {
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format = READ_FORMAT;
		if (event->group_read)
			attr->read_format |= PERF_FORMAT_GROUP;
	}
	if (event->kind == EVENT_TRACEPOINT)
		attr->sample_type |= PERF_SAMPLE_RAW;
	/* Idle CPUs are no cost of anybody's. */
	if (event->kind == EVENT_CLOCK && options->target != RECORD_COMMAND)
		attr->exclude_idle = 1;
	stacks_ask(attr, options);
}

void attribute_for_sideband(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr){
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(*attr),
		.config = PERF_COUNT_SW_DUMMY,
		.sample_period = 1,
		.sample_type = SAMPLE_TYPE,
		.sample_id_all = 1,
		.exclude_kernel = 1, /* so that no privilege is needed; a dummy counts nothing */
		.exclude_hv = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
}

static struct attribute *attribute_add(struct attributes *attributes, uint32_t event,
				       const char *name, const char *suffix, size_t n_ids,
				       uint64_t *next_id)
{
	struct attribute *added;

	if (!array_reserve(&attributes->items, &attributes->capacity, attributes->n + 1))
		return NULL;
	added = &attributes->items[attributes->n];
	*added = (struct attribute){ .event = event, .n_ids = n_ids };
	added->ids = calloc(n_ids ? n_ids : 1, sizeof(*added->ids));
	if (!added->ids || asprintf(&added->name, "%s%s", name, suffix) < 0) {
		free(added->ids);
		return NULL;
	}
	for (size_t i = 0; next_id && i < n_ids; i++)
		added->ids[i] = (*next_id)++;
	attributes->n++;
	return added;
}

/* The ids of those clocks of an event that are (or are not) its canaries, when there are any. */
static bool clocks_attribute_add(struct attributes *attributes, struct plan *plan,
				 const struct record_options *options, uint32_t event, bool canary,
				 bool inherit)
{
	const struct event *e = &options->events->events[event];
	struct attribute *added;
	size_t n_clocks = 0, at = 0;

	for (uint32_t c = 0; c < plan->n_clocks; c++)
		n_clocks += plan->clocks[c].event == event && plan->clocks[c].canary == canary;
	if (!n_clocks)
		return true;
	added = attribute_add(attributes, event, e->label ? e->label : e->granted,
			      canary ? " (canary)" : "", n_clocks * attributes->n_slots, NULL);
	if (!added)
		return false;
	attribute_for_event(&added->attr, e, options, inherit);
	for (uint32_t c = 0; c < plan->n_clocks; c++) {
		struct clock *clock = &plan->clocks[c];

		if (clock->event != event || clock->canary != canary)
			continue;
		clock->attribute = (uint32_t)(attributes->n - 1);
		for (uint32_t slot = 0; slot < attributes->n_slots; slot++)
			added->ids[at++] = attributes_clock_id(attributes, c, slot);
		if (clock->steered) {
			added->attr.freq = 1;
			added->attr.sample_freq = (uint64_t)clock->hz;
		} else if (!added->attr.sample_period) {
			added->attr.sample_period = (uint64_t)clock->mean;
		}
	}
	return true;
}

static bool member_attribute_add(struct attributes *attributes, const struct plan *plan,
				 const struct record_options *options, size_t event,
				 uint64_t *next_id)
{
	const struct event *e = &options->events->events[event];
	struct attribute *added;
	size_t leaders = 0;

	for (uint32_t c = 0; c < plan->n_clocks; c++)
		leaders += options->events->events[plan->clocks[c].event].group == e->group;
	added = attribute_add(attributes, (uint32_t)event, e->label ? e->label : e->granted, "",
			      leaders * attributes->n_slots, next_id);
	if (!added)
		return false;
	attribute_for_event(&added->attr, e, options, false);
	return true;
}

static bool sideband_attribute_add(struct attributes *attributes, uint64_t *next_id)
{
	struct attribute *added;

	attributes->sideband_first_id = *next_id;
	attributes->sideband = (uint32_t)attributes->n;
	added = attribute_add(attributes, UINT32_MAX, "dummy:u", "", attributes->n_slots, next_id);
	if (!added)
		return false;
	attribute_for_sideband(&added->attr);
	return true;
}

enum status attributes_make(struct attributes *attributes, struct plan *plan,
			    const struct record_options *options, uint32_t n_slots, bool inherit,
			    struct error *error)
{
	uint64_t next_id = 1 + (uint64_t)plan->n_clocks * n_slots;
	bool ok = true;

	*attributes = (struct attributes){ .n_slots = n_slots };
	for (size_t e = 0; ok && e < options->events->n; e++) {
		if (event_is_read_only(options->events, e))
			ok = member_attribute_add(attributes, plan, options, e, &next_id);
		else
			ok = clocks_attribute_add(attributes, plan, options, (uint32_t)e, false,
						  inherit) &&
			     clocks_attribute_add(attributes, plan, options, (uint32_t)e, true,
						  inherit);
	}
	if (ok && sideband_attribute_add(attributes, &next_id))
		return STATUS_OK;
	attributes_release(attributes);
	return error_set(error, STATUS_NO_MEMORY, "no memory for the attributes of the events");
}

void attributes_release(struct attributes *attributes)
{
	for (size_t i = 0; i < attributes->n; i++) {
		free(attributes->items[i].name);
		free(attributes->items[i].ids);
	}
	free(attributes->items);
	*attributes = (struct attributes){ 0 };
}

const struct attribute *attributes_member(const struct attributes *attributes,
					  const struct event_list *events, size_t event)
{
	if (!event_is_read_only(events, event))
		return NULL;
	for (size_t i = 0; i < attributes->n; i++)
		if (attributes->items[i].event == event)
			return &attributes->items[i];
	return NULL;
}

uint64_t attributes_clock_id(const struct attributes *attributes, uint32_t clock, uint32_t slot)
{
	return 1 + (uint64_t)clock * attributes->n_slots + slot;
}

uint64_t attributes_member_id(const struct attribute *member, const struct attributes *attributes,
			      uint32_t leader_clock_number, uint32_t slot)
{
	return member->ids[(size_t)leader_clock_number * attributes->n_slots + slot];
}
