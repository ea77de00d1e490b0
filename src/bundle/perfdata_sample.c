/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/perfdata_sample.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define ALWAYS_INLINE inline __attribute__((always_inline))

/* The variable part of a sample; `swap` is a constant wherever this is inlined. */
struct cursor {
	const uint8_t *at, *end;
	struct perfdata_scratch *scratch;
	bool swap;
};

static ALWAYS_INLINE uint64_t load64(const uint8_t *at, bool swap)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap64(value) : value;
}

static ALWAYS_INLINE uint32_t load32(const uint8_t *at, bool swap)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return swap ? __builtin_bswap32(value) : value;
}

static ALWAYS_INLINE size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

static ALWAYS_INLINE bool take64(struct cursor *c, uint64_t *value)
{
	if (cursor_left(c) < sizeof(*value))
		return false;
	*value = load64(c->at, c->swap);
	c->at += sizeof(*value);
	return true;
}

void perfdata_scratch_release(struct perfdata_scratch *scratch)
{
	free(scratch->words);
	free(scratch->read);
	*scratch = (struct perfdata_scratch){ 0 };
}

static __attribute__((noinline)) bool words_copy(struct perfdata_scratch *scratch,
						 const uint8_t *from, uint64_t n, bool swap,
						 const uint64_t **words)
{
	uint64_t *copy;

	if (!scratch->words)
		scratch->words = malloc(PERFDATA_RECORD_MAX_BYTES);
	scratch->no_memory = !scratch->words;
	if (scratch->no_memory)
		return false;
	copy = scratch->words + scratch->n_words;
	scratch->n_words += n;
	for (uint64_t i = 0; i < n; i++)
		copy[i] = load64(from + 8 * i, swap);
	*words = copy;
	return true;
}

/* An array of n words. The scratch cannot run over: its words are distinct words of the record. */
static ALWAYS_INLINE bool take_words(struct cursor *c, uint64_t n, const uint64_t **words)
{
	if (n > cursor_left(c) / sizeof(uint64_t))
		return false;
	*words = (const uint64_t *)(const void *)c->at;
	if ((c->swap || ((uintptr_t)c->at & 7)) &&
	    !words_copy(c->scratch, c->at, n, c->swap, words))
		return false;
	c->at += n * sizeof(uint64_t);
	return true;
}

static ALWAYS_INLINE bool take_read_value(struct cursor *c, uint64_t format,
					  struct perfdata_read_value *value)
{
	*value = (struct perfdata_read_value){ 0 };
	return take64(c, &value->value) && (!(format & PERF_FORMAT_ID) || take64(c, &value->id)) &&
	       (!(format & PERF_FORMAT_LOST) || take64(c, &value->lost));
}

static bool read_reserve(struct perfdata_scratch *scratch, uint64_t n)
{
	scratch->no_memory = !array_reserve(&scratch->read, &scratch->read_capacity, n ? n : 1);
	return !scratch->no_memory;
}

/*
 *	single  value | enabled | running | id | lost
 *	group   nr | enabled | running | nr times: value | id | lost
 */
static ALWAYS_INLINE bool take_read(struct cursor *c, uint64_t format,
				    struct perfdata_sample *sample)
{
	struct perfdata_read_value *values;
	uint64_t n = 1, first = 0;

	if (!take64(c, format & PERF_FORMAT_GROUP ? &n : &first) ||
	    ((format & PERF_FORMAT_TOTAL_TIME_ENABLED) && !take64(c, &sample->read_time_enabled)) ||
	    ((format & PERF_FORMAT_TOTAL_TIME_RUNNING) && !take64(c, &sample->read_time_running)))
		return false;
	if ((format & PERF_FORMAT_GROUP) && n > cursor_left(c) / sizeof(uint64_t))
		return false;
	if (!read_reserve(c->scratch, n))
		return false;
	values = c->scratch->read;
	if (format & PERF_FORMAT_GROUP) {
		for (uint64_t i = 0; i < n; i++)
			if (!take_read_value(c, format, &values[i]))
				return false;
	} else {
		values[0] = (struct perfdata_read_value){ .value = first, .id = sample->id };
		if (((format & PERF_FORMAT_ID) && !take64(c, &values[0].id)) ||
		    ((format & PERF_FORMAT_LOST) && !take64(c, &values[0].lost)))
			return false;
	}
	sample->has_read = true;
	sample->read = values;
	sample->n_read = (uint32_t)n;
	return true;
}

static ALWAYS_INLINE bool take_raw(struct cursor *c, struct perfdata_sample *sample)
{
	if (cursor_left(c) < sizeof(uint32_t))
		return false;
	sample->raw_size = load32(c->at, c->swap);
	c->at += sizeof(uint32_t);
	if (sample->raw_size > cursor_left(c))
		return false;
	sample->raw = c->at;
	c->at += sample->raw_size;
	return true;
}

static ALWAYS_INLINE bool take_branches(struct cursor *c, uint64_t branch_type,
					struct perfdata_sample *sample)
{
	uint64_t n, hardware_index;
	const uint64_t *counters;

	if (!take64(c, &n) ||
	    ((branch_type & PERFDATA_BRANCH_HW_INDEX) && !take64(c, &hardware_index)) ||
	    n > cursor_left(c) / (3 * sizeof(uint64_t)) || !take_words(c, 3 * n, &sample->branches))
		return false;
	sample->n_branches = (uint32_t)n;
	return !(branch_type & PERFDATA_BRANCH_COUNTERS) || take_words(c, n, &counters);
}

static ALWAYS_INLINE bool take_user_stack(struct cursor *c, struct perfdata_sample *sample)
{
	if (!take64(c, &sample->user_stack_size) || sample->user_stack_size > cursor_left(c))
		return false;
	if (!sample->user_stack_size)
		return true;
	sample->user_stack = c->at;
	c->at += sample->user_stack_size;
	if (!take64(c, &sample->user_stack_dumped))
		return false;
	if (sample->user_stack_dumped > sample->user_stack_size)
		sample->user_stack_dumped = sample->user_stack_size;
	return true;
}

static ALWAYS_INLINE bool take_interrupt_registers(struct cursor *c, uint8_t n)
{
	const uint64_t *registers;
	uint64_t abi;

	return take64(c, &abi) && (!abi || take_words(c, n, &registers));
}

/* What follows the call chain, in the order of perf_output_sample. */
static ALWAYS_INLINE bool take_rest(struct cursor *c, const struct perfdata_layout *layout,
				    struct perfdata_sample *sample)
{
	const uint64_t type = layout->sample_type;

	if ((type & PERF_SAMPLE_RAW) && !take_raw(c, sample))
		return false;
	if ((type & PERF_SAMPLE_BRANCH_STACK) && !take_branches(c, layout->branch_type, sample))
		return false;
	if (type & PERF_SAMPLE_REGS_USER) {
		if (!take64(c, &sample->user_regs_abi))
			return false;
		if (sample->user_regs_abi) {
			sample->user_regs_mask = layout->user_registers_mask;
			if (!take_words(c, layout->user_registers, &sample->user_regs))
				return false;
		}
	}
	if ((type & PERF_SAMPLE_STACK_USER) && !take_user_stack(c, sample))
		return false;
	if (type & PERF_SAMPLE_WEIGHT_TYPE) {
		if (!take64(c, &sample->weight))
			return false;
		if (type & PERF_SAMPLE_WEIGHT_STRUCT)
			sample->weight &= UINT32_MAX;
	}
	if (((type & PERF_SAMPLE_DATA_SRC) && !take64(c, &sample->data_source)) ||
	    ((type & PERF_SAMPLE_TRANSACTION) && !take64(c, &sample->transaction)) ||
	    ((type & PERF_SAMPLE_REGS_INTR) &&
	     !take_interrupt_registers(c, layout->interrupt_registers)) ||
	    ((type & PERF_SAMPLE_PHYS_ADDR) && !take64(c, &sample->phys_addr)) ||
	    ((type & PERF_SAMPLE_CGROUP) && !take64(c, &sample->cgroup)) ||
	    ((type & PERF_SAMPLE_DATA_PAGE_SIZE) && !take64(c, &sample->data_page_size)) ||
	    ((type & PERF_SAMPLE_CODE_PAGE_SIZE) && !take64(c, &sample->code_page_size)))
		return false;
	return true; /* PERF_SAMPLE_AUX is last and nobody needs it */
}

static ALWAYS_INLINE void fixed_decode(struct perfdata_sample *sample,
				       const struct perfdata_layout *layout, const uint8_t *record,
				       bool swap)
{
	sample->pid = sample->tid = sample->cpu = UINT32_MAX;
	if (layout->ip)
		sample->ip = load64(record + layout->ip, swap);
	if (layout->tid) {
		sample->pid = load32(record + layout->tid, swap);
		sample->tid = load32(record + layout->tid + 4, swap);
	}
	if (layout->time) {
		sample->has_time = true;
		sample->time = load64(record + layout->time, swap);
	}
	if (layout->addr)
		sample->addr = load64(record + layout->addr, swap);
	if (layout->id_at) {
		sample->has_id = true;
		sample->id = load64(record + layout->id_at, swap);
	}
	if (layout->cpu) {
		sample->has_cpu = true;
		sample->cpu = load32(record + layout->cpu, swap);
	}
	if (layout->period) {
		sample->has_period = true;
		sample->period = load64(record + layout->period, swap);
	}
}

static ALWAYS_INLINE bool decode(struct perfdata_sample *sample,
				 const struct perfdata_layout *layout,
				 const struct perfdata_raw *raw, bool swap, bool brief,
				 struct perfdata_scratch *scratch, const char **why)
{
	struct cursor c = { raw->data + layout->fixed, raw->data + raw->size, scratch, swap };

	memset(sample, 0, sizeof(*sample));
	sample->cpumode = raw->misc & PERF_RECORD_MISC_CPUMODE_MASK;
	sample->exact_ip = raw->misc & PERF_RECORD_MISC_EXACT_IP;
	*why = "it is shorter than its event's fields";
	if (raw->size < layout->fixed)
		return false;
	fixed_decode(sample, layout, raw->data, swap);
	if (brief)
		return true;
	scratch->n_words = 0;
	if ((layout->sample_type & PERF_SAMPLE_READ) &&
	    !take_read(&c, layout->read_format, sample)) {
		*why = "its read values run past its end";
		return false;
	}
	if (layout->sample_type & PERF_SAMPLE_CALLCHAIN) {
		uint64_t n;

		if (!take64(&c, &n) || !take_words(&c, n, &sample->callchain)) {
			*why = "its call chain runs past its end";
			return false;
		}
		sample->n_callchain = (uint32_t)n;
	}
	*why = "its fields run past its end";
	return take_rest(&c, layout, sample);
}

bool perfdata_sample_decode(struct perfdata_sample *sample, const struct perfdata_layout *layout,
			    const struct perfdata_raw *raw, bool swap, bool brief,
			    struct perfdata_scratch *scratch, const char **why)
{
	if (swap)
		return decode(sample, layout, raw, true, brief, scratch, why);
	return decode(sample, layout, raw, false, brief, scratch, why);
}
