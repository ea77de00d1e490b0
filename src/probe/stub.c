/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "probe/stub.h"

#include <elf.h>

bool stub_append(void *state, const struct code_plan *plan, const struct code_site *site,
		 struct code_buffer *buffer)
{
	const struct stub *stub = state;
	struct stub counting = *stub;

	/* a point has no exit: it is counted in every mode */
	counting.mode = PROBE_COUNT;
	counting.sampled = counting.full = false;
	if (site->kind == CODE_SITE_POINT)
		return stub_append_kind(code_module_machine(plan->module), &counting,
					CODE_SITE_ENTRY, buffer);
	switch (code_module_machine(plan->module)) {
	case EM_X86_64: return stub_append_x86_64(state, plan, site, buffer);
	case EM_AARCH64: return stub_append_aarch64(state, plan, site, buffer);
	default: return false;
	}
}

bool stub_append_kind(uint16_t machine, const struct stub *stub, enum code_site_kind kind,
		      struct code_buffer *buffer)
{
	switch (machine) {
	case EM_X86_64: return stub_append_kind_x86_64(stub, kind, buffer);
	case EM_AARCH64: return stub_append_kind_aarch64(stub, kind, buffer);
	default: return false;
	}
}
