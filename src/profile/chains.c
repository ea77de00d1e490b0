/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "profile/profile.h"
#include "symbolize/unwind.h"

/* What kernel.perf_event_max_stack is unless an administrator changed it. */
#define DEFAULT_MAX_STACK 127

struct chains {
	struct profile *profile;
	struct symbolizer *symbolizer;
	struct unwinder *unwinder; /* made at the first dumped stack */
	size_t max_stack;          /* addresses that the kernel collects at most */
	uint32_t generation;       /* of the sample under way, for the unwinder */
	uint64_t chain[STACKS_MAX_ADDRESSES];
};

static bool is_marker(uint64_t address)
{
	return address >= (uint64_t)PERF_CONTEXT_MAX;
}

enum status chains_new(struct chains **chains, struct profile *profile,
		       struct symbolizer *symbolizer, struct error *error)
{
	const struct bundle *bundle = profile->bundle;
	size_t n;
	const struct perfdata_event *events = perfdata_reader_events(bundle->reader, &n);

	*chains = calloc(1, sizeof(**chains));
	if (!*chains)
		return error_set(error, STATUS_NO_MEMORY, "no memory for call chains");
	(*chains)->profile = profile;
	(*chains)->symbolizer = symbolizer;
	(*chains)->max_stack = events[profile->event].attr.sample_max_stack;
	if (!(*chains)->max_stack && bundle->has_manifest && bundle->manifest.machine.max_stack > 0)
		(*chains)->max_stack = (size_t)bundle->manifest.machine.max_stack;
	if (!(*chains)->max_stack)
		(*chains)->max_stack = DEFAULT_MAX_STACK;
	return STATUS_OK;
}

void chains_free(struct chains *chains)
{
	if (chains)
		unwinder_free(chains->unwinder);
	free(chains);
}

size_t chains_depth(const uint64_t *chain, size_t n)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++)
		depth += !is_marker(chain[i]);
	return depth;
}

static bool space_find(void *state, struct runtime_address address, struct module **module,
		       uint64_t *load_bias)
{
	struct chains *chains = state;
	struct file_offset offset;
	struct elf_vaddr vaddr;

	*module = places_user_module(&chains->profile->places, chains->generation, address, &offset,
				     NULL);
	if (!*module || !module_vaddr(*module, offset, &vaddr))
		return false;
	*load_bias = address.value - vaddr.value;
	return true;
}

/* The chain's part before the user's: a dumped stack comes with a chain that has no user part. */
static size_t kernel_part(const struct perfdata_sample *sample, uint64_t *chain, size_t capacity)
{
	size_t n = 0;

	for (; n < sample->n_callchain && n < capacity; n++) {
		if (sample->callchain[n] == (uint64_t)PERF_CONTEXT_USER)
			break;
		chain[n] = sample->callchain[n];
	}
	return n;
}

static enum status stack_unwind(struct chains *chains, const struct perfdata_sample *sample,
				struct stack *stack, struct error *error)
{
	const struct unwind_space space = { chains, space_find };
	const struct unwind_sample dump = { .machine = chains->profile->places.origin.machine,
					    .regs_mask = sample->user_regs_mask,
					    .regs = sample->user_regs,
					    .stack = sample->user_stack,
					    .stack_size = sample->user_stack_dumped };
	enum unwind_end end = UNWIND_COMPLETE;
	size_t n;

	if (!chains->unwinder) {
		const enum status status =
			unwinder_new(&chains->unwinder, chains->symbolizer, error);

		if (status != STATUS_OK)
			return status;
	}
	n = kernel_part(sample, chains->chain, STACKS_MAX_ADDRESSES - UNWIND_MAX_FRAMES - 1);
	chains->chain[n++] = (uint64_t)PERF_CONTEXT_USER;
	chains->generation = stack->generation;
	n += unwind(chains->unwinder, &dump, &space, chains->chain + n, UNWIND_MAX_FRAMES, &end);
	stack->chain = chains->chain;
	stack->n_chain = (uint32_t)n;
	stack->cut = end == UNWIND_DUMP_EXHAUSTED ? STACK_CUT_DUMP
		     : end == UNWIND_DEPTH        ? STACK_CUT_DEPTH
		     : end == UNWIND_NO_CFI       ? STACK_CUT_UNWIND
						  : 0;
	return STATUS_OK;
}

enum status chains_stack(struct chains *chains, const struct perfdata_sample *sample,
			 uint32_t generation, struct stack *stack, struct error *error)
{
	*stack = (struct stack){ .ip = sample->ip,
				 .chain = sample->callchain,
				 .n_chain = sample->n_callchain,
				 .generation = generation,
				 .cpumode = sample->cpumode };
	if (sample->user_regs_abi && sample->user_regs && sample->user_stack_dumped)
		return stack_unwind(chains, sample, stack, error);
	if (sample->n_callchain >= chains->max_stack &&
	    chains_depth(sample->callchain, sample->n_callchain) >= chains->max_stack)
		stack->cut = STACK_CUT_DEPTH;
	return STATUS_OK;
}

/* ---- stacks to places ---- */

static enum place_mode mode_of_cpumode(uint8_t cpumode)
{
	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL: return PLACE_KERNEL;
	case PERF_RECORD_MISC_HYPERVISOR: return PLACE_HYPERVISOR;
	case PERF_RECORD_MISC_GUEST_KERNEL:
	case PERF_RECORD_MISC_GUEST_USER: return PLACE_GUEST;
	default: return PLACE_USER;
	}
}

static enum place_mode mode_of_marker(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_KERNEL: return PLACE_KERNEL;
	case (uint64_t)PERF_CONTEXT_HV: return PLACE_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
	case (uint64_t)PERF_CONTEXT_GUEST_USER: return PLACE_GUEST;
	default: return PLACE_USER;
	}
}

void profile_frames_release(struct profile_frames *frames)
{
	free(frames->places);
	memset(frames, 0, sizeof(*frames));
}

static enum status frame_add(struct profile *profile, const struct stack *stack,
			     struct profile_frames *frames, enum place_mode mode, uint64_t address,
			     bool return_address, struct error *error)
{
	if (!array_reserve(&frames->places, &frames->capacity, frames->n + 1))
		return error_set(error, STATUS_NO_MEMORY, "no memory for a stack's frames");
	return places_at(&profile->places, stack->generation, mode,
			 (struct runtime_address){ address }, return_address,
			 &frames->places[frames->n++], error);
}

enum status profile_frames(struct profile *profile, const struct stack *stack,
			   struct profile_frames *frames, struct error *error)
{
	enum place_mode mode = mode_of_cpumode(stack->cpumode);
	enum status status;
	bool first = false; /* of its context */
	uint32_t i = 0;

	frames->n = 0;
	status = frame_add(profile, stack, frames, mode, stack->ip, false, error);
	/* The chain's own first address is the sampled one, if it is of the same context. */
	while (i < stack->n_chain && is_marker(stack->chain[i])) {
		mode = mode_of_marker(stack->chain[i++]);
		first = true;
	}
	if (i < stack->n_chain && mode == mode_of_cpumode(stack->cpumode)) {
		i++;
		first = false;
	}
	for (; i < stack->n_chain && status == STATUS_OK; i++) {
		if (is_marker(stack->chain[i])) {
			mode = mode_of_marker(stack->chain[i]);
			first = true;
			continue;
		}
		status = frame_add(profile, stack, frames, mode, stack->chain[i], !first, error);
		first = false;
	}
	return status;
}
