/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/stub.h"

#include <elf.h>

/* A point has no exit: it is counted in every mode. */
static bool hook_append(const struct stub *stub, uint16_t machine, const struct stub_hook *hook,
			struct code_buffer *buffer)
{
	struct stub own = *stub;

	own.function = hook->number;
	own.exit = 0;
	own.passage = hook->role != STUB_COUNT;
	if (!own.passage) {
		own.mode = PROBE_COUNT;
		own.sampled = own.full = false;
	}
	return stub_append_kind(
		machine, &own, hook->role == STUB_END ? CODE_SITE_RETURN : CODE_SITE_ENTRY, buffer);
}

bool stub_append(void *state, const struct code_plan *plan, const struct code_site *site,
		 struct code_buffer *buffer)
{
	const struct stub *stub = state;
	const uint16_t machine = code_module_machine(plan->module);
	const bool hooked = site->kind == CODE_SITE_POINT || site->kind == CODE_SITE_ENTRY;

	for (uint32_t i = 0; hooked && i < stub->n_hooks; i++)
		if (!hook_append(stub, machine, &stub->hooks[i], buffer))
			return false;
	if (site->kind == CODE_SITE_POINT || stub->hooks_only)
		return true;
	switch (machine) {
	case EM_X86_64: return stub_append_x86_64(state, plan, site, buffer);
	case EM_AARCH64: return stub_append_aarch64(state, plan, site, buffer);
	default: return false;
	}
}

static bool passage_append(uint16_t machine, const struct stub *stub, enum code_site_kind kind,
			   struct code_buffer *buffer)
{
	const struct agent_entries *entries = &stub->entries;
	uint32_t entry;

	if (kind == CODE_SITE_ENTRY)
		entry = stub->full ? entries->full_begin : entries->begin;
	else
		entry = stub->full ? entries->full_end : entries->end;
	return machine == EM_AARCH64 ? stub_append_call_aarch64(stub, entry, buffer)
				     : stub_append_call_x86_64(stub, entry, buffer);
}

bool stub_append_kind(uint16_t machine, const struct stub *stub, enum code_site_kind kind,
		      struct code_buffer *buffer)
{
	if (stub->passage)
		return passage_append(machine, stub, kind, buffer);
	switch (machine) {
	case EM_X86_64: return stub_append_kind_x86_64(stub, kind, buffer);
	case EM_AARCH64: return stub_append_kind_aarch64(stub, kind, buffer);
	default: return false;
	}
}
