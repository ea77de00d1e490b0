/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as a program: analysed, every function planned, every patch emitted and written into a copy. Whatever
 * the file says, writes stay inside code, patches of one function do not overlap, and nothing is written where the
 * module itself knows a target, but at its first byte.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "code/plan.h"

#define MAX_FUNCTIONS 400
#define MAX_POINTS    8
#define CODE_BYTES    (1u << 16)

static bool hook_append(void *state, const struct code_plan *plan, const struct code_site *site,
			struct code_buffer *buffer)
{
	static const uint8_t nops[4] = { 0x90, 0x90, 0x90, 0x90 };

	(void)state;
	(void)plan;
	(void)site;
	code_buffer_append(buffer, nops, sizeof(nops));
	return true;
}

static void write_judge(const struct code_plan *plan, const struct code_patch *patch,
			const struct code_write *write)
{
	const uint8_t *bytes = code_module_bytes(plan->module, write->address, write->length);

	assert(bytes && !memcmp(bytes, write->original, write->length));
	if (patch->form != CODE_PATCH_JUMP || patch->body)
		return;
	for (unsigned int i = 1; i < write->length; i++)
		assert(!code_module_is_target(plan->module, write->address + i));
}

static void patch_judge(const struct code_plan *plan, uint32_t i, uint8_t *bytes)
{
	const struct code_hook hook = { NULL, hook_append };
	const struct code_patch *patch = &plan->patches[i];
	struct code_buffer buffer = { .bytes = bytes,
				      .capacity = CODE_BYTES,
				      .address = (patch->start & ~UINT64_C(0xfff)) + 0x100000 };
	struct code_write writes[CODE_PATCH_MAX_WRITES];
	size_t n_origins, n;

	code_patch_emit(plan, patch, buffer.address, &hook, &buffer, NULL, 0, &n_origins);
	n = code_patch_writes(plan, patch, buffer.address, writes);
	assert(n <= CODE_PATCH_MAX_WRITES);
	for (size_t w = 0; w < n; w++)
		write_judge(plan, patch, &writes[w]);
	if (i) {
		const struct code_patch *before = &plan->patches[i - 1];

		assert(before->start < patch->start);
		assert(before->moved.end <= patch->start ||
		       before->moved.start >= patch->moved.end);
	}
}

static void plan_judge(const struct code_plan *plan, uint8_t *bytes)
{
	assert(plan->n_patches && plan->n_sites <= CODE_PLAN_MAX_SITES);
	for (uint32_t i = 0; i < plan->n_patches; i++)
		patch_judge(plan, i, bytes);
}

static void functions_plan(const struct code_module *module, uint8_t *bytes)
{
	size_t n;
	const struct code_function *functions = code_module_functions(module, &n);

	for (size_t i = 0; i < n && i < MAX_FUNCTIONS; i++) {
		const struct code_plan_options options = { .faults_matter = i % 2,
							   .entry_only = i % 3 == 2 };
		struct code_plan plan;

		if (code_plan_make(&plan, module, (uint32_t)i, &options) == CODE_PLANNED)
			plan_judge(&plan, bytes);
		code_plan_release(&plan);
		for (uint64_t point = 0; point < MAX_POINTS; point++) {
			if (code_plan_point(&plan, module, functions[i].range.start + 3 * point,
					    NULL) == CODE_PLANNED)
				plan_judge(&plan, bytes);
			code_plan_release(&plan);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t *bytes = malloc(CODE_BYTES);
	struct code_module *module;

	if (bytes && code_module_open_image(&module, data, size, NULL, NULL) == STATUS_OK) {
		functions_plan(module, bytes);
		code_module_close(module);
	}
	free(bytes);
	return 0;
}
