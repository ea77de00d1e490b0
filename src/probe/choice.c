/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the selection means in the modules of a process: functions, what indirect functions picked, points. Each is
 * planned or refused. An address is chosen once, whatever the number of its names.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/choice.h"

#define FAULT_SIGNALS \
	((UINT64_C(1) << 10) | (UINT64_C(1) << 6) | (UINT64_C(1) << 7) | (UINT64_C(1) << 3))
#define MAX_LIVE_BYTES 4096u
#define MAX_PLACES     64u /* words that may hold what an indirect function picked */

/* Handlers of SIGILL, SIGBUS, SIGFPE or SIGSEGV see where a fault happened. */
static bool faults_matter(const struct install *install)
{
	char path[64], *text, *at;
	uint64_t caught = 0;

	snprintf(path, sizeof(path), "/proc/%d/status", install->image->pid);
	if (sys_read_file(install->sys, -1, path, 1u << 20, &text, NULL, NULL) != STATUS_OK)
		return true;
	at = strstr(text, "\nSigCgt:");
	if (at)
		caught = strtoull(at + 8, NULL, 16);
	free(text);
	return caught & FAULT_SIGNALS;
}

/* What a patch writes or moves of the text. */
static struct code_range patch_range(const struct code_patch *patch)
{
	if (patch->moved.end > patch->moved.start)
		return patch->moved;
	return (struct code_range){ patch->start, patch->start + 2 };
}

static bool range_as_file(const struct install *install, const struct image_module *module,
			  struct code_range range, int memory_fd)
{
	uint8_t live[MAX_LIVE_BYTES];
	const uint64_t size = range.end - range.start;
	const uint8_t *file = code_module_bytes(module->code, range.start, size);

	return file && size <= sizeof(live) &&
	       sys_pread_full(install->sys, memory_fd, live, size,
			      (off_t)(range.start + module->bias)) == (ssize_t)size &&
	       memcmp(file, live, size) == 0;
}

/* The bytes that a plan writes or moves, as they are in memory now: at once, where they lie close together. */
static bool live_as_file(const struct install *install, const struct install_function *function,
			 int memory_fd)
{
	const struct code_plan *plan = &function->plan;
	struct code_range all = patch_range(&plan->patches[0]);

	for (uint32_t i = 1; i < plan->n_patches; i++) {
		const struct code_range range = patch_range(&plan->patches[i]);

		all.start = range.start < all.start ? range.start : all.start;
		all.end = range.end > all.end ? range.end : all.end;
	}
	if (all.end - all.start <= MAX_LIVE_BYTES &&
	    range_as_file(install, function->module, all, memory_fd))
		return true;
	for (uint32_t i = 0; i < plan->n_patches; i++)
		if (!range_as_file(install, function->module, patch_range(&plan->patches[i]),
				   memory_fd))
			return false;
	return true;
}

void choice_plan(struct choice *choice, struct install_function *function)
{
	struct code_plan_options options = choice->options;

	if (function->refusal)
		return;
	options.entry_only |= function->point == INSTALL_AT_START;
	function->code_refusal = function->point == INSTALL_INSIDE
					 ? code_plan_point(&function->plan, function->module->code,
							   function->address, &options)
					 : code_plan_make(&function->plan, function->module->code,
							  function->index, &options);
	if (function->code_refusal != CODE_PLANNED) {
		function->refusal = INSTALL_CODE;
		return;
	}
	if (!choice->later && !live_as_file(choice->install, function, choice->memory_fd))
		function->refusal = INSTALL_CHANGED;
}

struct install_function *choice_add(struct choice *choice, uint32_t index, uint64_t address)
{
	struct install *install = choice->install;
	struct install_function *function;

	if (install->n >= INSTALL_MAX_FUNCTIONS ||
	    !array_reserve(&install->functions, &install->capacity, install->n + 1)) {
		choice->status =
			error_set(choice->error, STATUS_LIMIT, "more than %u functions are meant",
				  INSTALL_MAX_FUNCTIONS);
		return NULL;
	}
	function = &install->functions[install->n++];
	*function = (struct install_function){ .module = choice->module,
					       .index = index,
					       .address = address };
	return function;
}

/* Live words say what the resolver picked: the start of a function of this module, UINT32_MAX when none does. */
static uint32_t picked_find(const struct choice *choice, const struct code_function *resolver)
{
	const struct image_module *module = choice->module;
	uint64_t places[MAX_PLACES], word;
	const size_t n =
		code_module_places_of(module->code, resolver->range.start, places, MAX_PLACES);
	size_t n_functions;
	const struct code_function *functions = code_module_functions(module->code, &n_functions);

	for (size_t i = 0; i < n; i++) {
		uint32_t index;

		if (sys_pread_full(choice->install->sys, choice->memory_fd, &word, sizeof(word),
				   (off_t)(places[i] + module->bias)) != (ssize_t)sizeof(word))
			continue;
		word -= module->bias;
		index = code_module_function_at(module->code, word);
		if (index != UINT32_MAX && functions[index].range.start == word &&
		    word != resolver->range.start && !functions[index].stub &&
		    functions[index].owner == index)
			return index;
	}
	return UINT32_MAX;
}

static void picked_name(struct install_function *function, const char *name)
{
	for (uint32_t i = 0; i < function->n_picked_for; i++)
		if (!strcmp(function->picked_for[i], name))
			return;
	if (function->n_picked_for < INSTALL_MAX_PICKED_FOR)
		function->picked_for[function->n_picked_for++] = name;
}

/* The name of an indirect function means what its resolver picked. */
static void ifunc_choose(struct choice *choice, uint32_t index, const struct code_function *code,
			 const char *name)
{
	const uint32_t picked = picked_find(choice, code);
	struct install *install = choice->install;
	struct install_function *function = NULL;

	for (size_t i = choice->first; i < install->n && picked != UINT32_MAX && !function; i++)
		if (install->functions[i].index == picked && !install->functions[i].point)
			function = &install->functions[i];
	if (!function) {
		size_t n;

		function =
			choice_add(choice, picked == UINT32_MAX ? index : picked,
				   picked == UINT32_MAX
					   ? code->range.start
					   : code_module_functions(choice->module->code, &n)[picked]
						     .range.start);
	}
	if (function && picked == UINT32_MAX)
		function->refusal = INSTALL_IFUNC;
	else if (function)
		picked_name(function, name);
}

/* Functions are numbered in their order: a refused one has none, nor has one that came when all slots were used. */
static void numbers_set(struct choice *choice, uint32_t first_number, uint64_t first_sites)
{
	struct install *install = choice->install;

	install->n_planned = first_number;
	install->n_sites = first_sites;
	for (size_t i = choice->first; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (!function->refusal && install->n_planned >= choice->most)
			function->refusal = INSTALL_NO_SLOT;
		function->number = function->refusal ? UINT32_MAX : install->n_planned++;
		install->n_sites += function->refusal ? 0 : function->plan.n_sites;
	}
	points_number(choice);
}

/* A function that an indirect one brought along already stays what it is. */
static void function_choose(struct choice *choice, uint32_t index, const struct code_function *code,
			    const char *shown)
{
	struct install *install = choice->install;

	if (code->ifunc) {
		ifunc_choose(choice, index, code, shown);
		return;
	}
	for (size_t i = choice->first; i < install->n; i++)
		if (install->functions[i].index == index && install->functions[i].n_picked_for)
			return;
	(void)choice_add(choice, index, code->range.start);
}

static void functions_choose(struct choice *choice)
{
	size_t n;
	const struct image_module *module = choice->module;
	const struct code_function *functions = code_module_functions(module->code, &n);

	for (size_t i = 0; i < n && choice->status == STATUS_OK; i++) {
		const char *names[IMAGE_MAX_NAMES + 1], *shown;
		size_t n_names;

		if (functions[i].owner != i || functions[i].stub)
			continue;
		n_names = image_names(module, &functions[i], names, &shown);
		if (selection_matches(choice->selection, module->path, names, n_names))
			function_choose(choice, (uint32_t)i, &functions[i], shown);
	}
}

static enum status module_choose(struct choice *choice, const struct image_module *module,
				 struct error *error)
{
	struct install *install = choice->install;
	const uint32_t first_number = install->n_planned;
	const uint64_t first_sites = install->n_sites;

	choice->module = module;
	choice->first = install->n;
	choice->first_point = install->n_points;
	choice->error = error;
	functions_choose(choice);
	for (size_t i = choice->first; i < install->n && choice->status == STATUS_OK; i++)
		choice_plan(choice, &install->functions[i]);
	if (choice->status == STATUS_OK)
		points_choose(choice);
	numbers_set(choice, first_number, first_sites);
	return choice->status;
}

static enum status choice_begin(struct choice *choice, struct error *error)
{
	const struct install *install = choice->install;
	char path[64];

	choice->options.faults_matter = faults_matter(install);
	choice->options.entry_only = install->mode == PROBE_COUNT;
	snprintf(path, sizeof(path), "/proc/%d/mem", install->image->pid);
	choice->memory_fd =
		install->sys->openat(install->sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (choice->memory_fd < 0)
		return error_set_errno(error, status_from_errno(-choice->memory_fd),
				       -choice->memory_fd,
				       "may not read the memory of process %d (the same user or "
				       "CAP_SYS_PTRACE is needed; kernel.yama.ptrace_scope)",
				       install->image->pid);
	return STATUS_OK;
}

enum status install_choose(struct install *install, const struct sys *sys, struct image *image,
			   struct selection *selection, struct error *error)
{
	struct choice choice = { .install = install,
				 .selection = selection,
				 .most = INSTALL_MAX_FUNCTIONS };
	enum status status;

	install->sys = sys;
	install->image = image;
	status = points_begin(install, selection, error);
	if (status == STATUS_OK)
		status = choice_begin(&choice, error);
	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; status == STATUS_OK && i < image->n; i++) {
		if (image->modules[i].code)
			status = module_choose(&choice, &image->modules[i], error);
	}
	sys->close(sys->state, choice.memory_fd);
	return status;
}

enum status install_choose_later(struct install *install, struct selection *selection,
				 const struct image_module *module, uint32_t most,
				 struct error *error)
{
	struct choice choice = {
		.install = install, .selection = selection, .most = most, .later = true
	};
	enum status status = choice_begin(&choice, error);

	if (status != STATUS_OK)
		return status;
	if (module->code)
		status = module_choose(&choice, module, error);
	install->sys->close(install->sys->state, choice.memory_fd);
	return status;
}
