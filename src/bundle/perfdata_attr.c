/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * struct perf_event_attr between byte orders, and names for events that the file does not name.
 */
#include <stdio.h>
#include <string.h>

#include "bundle/perfdata_format.h"
#include "bundle/perfdata_layout.h"

static uint8_t reverse_bits(uint8_t byte)
{
	uint8_t reversed = 0;

	for (int bit = 0; bit < 8; bit++)
		if (byte & (1u << bit))
			reversed |= (uint8_t)(0x80u >> bit);
	return reversed;
}

/*
 * The one-bit fields of the attribute begin at the lowest bit of the first byte on a little-endian
 * machine and at the highest bit of the first byte on a big-endian one: within each byte, in the
 * order of the file, the bits are reversed. precise_ip is two bits wide (fields 15 and 16), so its
 * bits come out in the wrong order and are exchanged.
 */
static void flags_swap(uint8_t *flags)
{
	uint64_t word, low, high;

	for (size_t i = 0; i < sizeof(word); i++)
		flags[i] = reverse_bits(flags[i]);
	memcpy(&word, flags, sizeof(word));
	low = word >> 15 & 1;
	high = word >> 16 & 1;
	word = (word & ~(UINT64_C(3) << 15)) | low << 16 | high << 15;
	memcpy(flags, &word, sizeof(word));
}

#define SWAP32(field) ((field) = __builtin_bswap32(field))
#define SWAP64(field) ((field) = __builtin_bswap64(field))

static void attr_swap(struct perf_event_attr *attr)
{
	SWAP32(attr->type);
	SWAP32(attr->size);
	SWAP64(attr->config);
	SWAP64(attr->sample_period);
	SWAP64(attr->sample_type);
	SWAP64(attr->read_format);
	flags_swap((uint8_t *)attr + 40);
	SWAP32(attr->wakeup_events);
	SWAP32(attr->bp_type);
	SWAP64(attr->config1);
	SWAP64(attr->config2);
	SWAP64(attr->branch_sample_type);
	SWAP64(attr->sample_regs_user);
	SWAP32(attr->sample_stack_user);
	attr->clockid = (int32_t)__builtin_bswap32((uint32_t)attr->clockid);
	SWAP64(attr->sample_regs_intr);
	SWAP32(attr->aux_watermark);
	attr->sample_max_stack = __builtin_bswap16(attr->sample_max_stack);
	SWAP32(attr->aux_sample_size);
	SWAP64(attr->sig_data);
}

void perfdata_attr_decode(struct perf_event_attr *attr, const uint8_t *bytes, uint32_t size,
			  bool swap)
{
	memset(attr, 0, sizeof(*attr));
	memcpy(attr, bytes, size < sizeof(*attr) ? size : sizeof(*attr));
	if (swap)
		attr_swap(attr);
}

static const char *hardware_name(uint64_t config)
{
	static const char *const names[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};

	config &= UINT32_MAX; /* the upper half names the PMU of a hybrid machine */
	return config < sizeof(names) / sizeof(names[0]) ? names[config] : NULL;
}

static const char *software_name(uint64_t config)
{
	static const char *const names[] = {
		"cpu-clock",        "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",        "bpf-output",   "cgroup-switches",
	};

	return config < sizeof(names) / sizeof(names[0]) ? names[config] : NULL;
}

static void cache_name(uint64_t config, char *name, size_t size)
{
	static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
					      "iTLB",      "branch",    "node" };
	static const char *const operations[] = { "load", "store", "prefetch" };
	const uint64_t cache = config & 0xff, operation = config >> 8 & 0xff,
		       result = config >> 16 & 0xff;

	if (cache < 7 && operation < 3 && result < 2)
		snprintf(name, size, "%s-%s%s", caches[cache], operations[operation],
			 result ? "-misses" : "s");
	else
		snprintf(name, size, "cache 0x%llx", (unsigned long long)config);
}

static void base_name(const struct perf_event_attr *attr, char *name, size_t size)
{
	const char *known = NULL;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE: known = hardware_name(attr->config); break;
	case PERF_TYPE_SOFTWARE: known = software_name(attr->config); break;
	case PERF_TYPE_HW_CACHE: cache_name(attr->config, name, size); return;
	case PERF_TYPE_TRACEPOINT:
		snprintf(name, size, "tracepoint:%llu", (unsigned long long)attr->config);
		return;
	case PERF_TYPE_BREAKPOINT:
		snprintf(name, size, "mem:0x%llx", (unsigned long long)attr->bp_addr);
		return;
	case PERF_TYPE_RAW:
		snprintf(name, size, "raw 0x%llx", (unsigned long long)attr->config);
		return;
	default: break;
	}
	if (known)
		snprintf(name, size, "%s", known);
	else
		snprintf(name, size, "type %u config 0x%llx", attr->type,
			 (unsigned long long)attr->config);
}

/* perf's modifiers, except H and G: old recorders left exclude_guest unset without meaning it. */
void perfdata_attr_name(const struct perf_event_attr *attr, char *name, size_t size)
{
	char modifiers[16];
	size_t n = 0;

	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv) {
		if (!attr->exclude_user)
			modifiers[n++] = 'u';
		if (!attr->exclude_kernel)
			modifiers[n++] = 'k';
		if (!attr->exclude_hv)
			modifiers[n++] = 'h';
	}
	for (unsigned int i = 0; i < attr->precise_ip; i++)
		modifiers[n++] = 'p';
	modifiers[n] = '\0';
	base_name(attr, name, size);
	if (n)
		snprintf(name + strlen(name), size - strlen(name), ":%s", modifiers);
}
