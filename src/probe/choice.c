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
#include "probe/install.h"

#define FAULT_SIGNALS \
	((UINT64_C(1) << 10) | (UINT64_C(1) << 6) | (UINT64_C(1) << 7) | (UINT64_C(1) << 3))
#define MAX_LIVE_BYTES 4096u
#define MAX_PLACES     64u /* words that may hold what an indirect function picked */

struct choice {
	struct install *install;
	struct selection *selection;
	struct code_plan_options options;
	int memory_fd; /* of the target's /proc/PID/mem */
	const struct image_module *module;
	size_t first; /* of the module's in install->functions */
	enum status status;
	struct error *error;
};

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

static void function_plan(struct choice *choice, struct install_function *function)
{
	if (function->refusal)
		return;
	function->code_refusal = function->point
					 ? code_plan_point(&function->plan, function->module->code,
							   function->address, &choice->options)
					 : code_plan_make(&function->plan, function->module->code,
							  function->index, &choice->options);
	if (function->code_refusal != CODE_PLANNED) {
		function->refusal = INSTALL_CODE;
		return;
	}
	if (!live_as_file(choice->install, function, choice->memory_fd))
		function->refusal = INSTALL_CHANGED;
}

/* Appends a function or point of the module that is looked at; NULL, with choice->status set, on failure. */
static struct install_function *function_add(struct choice *choice, uint32_t index,
					     uint64_t address)
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

		function = function_add(
			choice, picked == UINT32_MAX ? index : picked,
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

static void point_add(struct choice *choice, uint64_t address, const char *first,
		      const char *second)
{
	const uint32_t index = code_module_function_at(choice->module->code, address);
	struct install_function *function;
	char text[512];

	if (second)
		snprintf(text, sizeof(text), "%s:%s", first, second);
	else
		snprintf(text, sizeof(text), "%s", first);
	function = function_add(choice, index, address);
	if (!function)
		return;
	function->point = strdup(text);
	if (!function->point)
		choice->status = error_set(choice->error, STATUS_NO_MEMORY, "out of memory");
}

static void offsets_choose(struct choice *choice, const struct code_function *code,
			   const char *const *names, size_t n, const char *shown)
{
	for (size_t i = 0; i < choice->selection->n; i++) {
		struct selection_word *word = &choice->selection->words[i];
		char text[400];

		if (!selection_means_offset(word, choice->module->path, names, n))
			continue;
		snprintf(text, sizeof(text), "%s+0x%llx", shown, (unsigned long long)word->offset);
		point_add(choice, code->range.start + word->offset, text, NULL);
	}
}

static bool mark_choose(void *data, const struct code_note *note)
{
	struct choice *choice = data;
	bool meant = false;

	for (size_t i = 0; i < choice->selection->n; i++)
		meant |= selection_means_mark(&choice->selection->words[i], choice->module->path,
					      note->provider, note->name);
	if (meant)
		point_add(choice, note->address, note->provider, note->name);
	return choice->status == STATUS_OK;
}

/* What the patch writes lies in [start, start + 8), or where its busy range does. */
static bool patches_meet(const struct code_patch *a, const struct code_patch *b)
{
	const uint64_t a_end = a->busy.end > a->start + CODE_WRITE_MAX_BYTES
				       ? a->busy.end
				       : a->start + CODE_WRITE_MAX_BYTES;
	const uint64_t b_end = b->busy.end > b->start + CODE_WRITE_MAX_BYTES
				       ? b->busy.end
				       : b->start + CODE_WRITE_MAX_BYTES;

	return (a->start < b_end && b->start < a_end) ||
	       (a->island && a->island < b_end && b->start < a->island + CODE_WRITE_MAX_BYTES) ||
	       (b->island && b->island < a_end && a->start < b->island + CODE_WRITE_MAX_BYTES) ||
	       (a->island && b->island && a->island < b->island + CODE_WRITE_MAX_BYTES &&
		b->island < a->island + CODE_WRITE_MAX_BYTES);
}

static bool plans_meet(const struct code_plan *a, const struct code_plan *b)
{
	for (uint32_t i = 0; i < a->n_patches; i++)
		for (uint32_t j = 0; j < b->n_patches; j++)
			if (patches_meet(&a->patches[i], &b->patches[j]))
				return true;
	return false;
}

/* A point may want the bytes of another point, or of a function's patch: that one is refused. */
static void points_check(const struct choice *choice)
{
	struct install *install = choice->install;

	for (size_t i = choice->first; i < install->n; i++) {
		struct install_function *point = &install->functions[i];

		for (size_t j = choice->first; point->point && j < install->n && !point->refusal;
		     j++) {
			const struct install_function *other = &install->functions[j];

			if (j == i || other->refusal || (other->point && j > i) ||
			    !plans_meet(&point->plan, &other->plan))
				continue;
			point->refusal = INSTALL_CODE;
			point->code_refusal = CODE_OVERLAP;
		}
	}
}

/* Functions are numbered in their order: a refused one has none. */
static void numbers_set(struct choice *choice, uint32_t first_number, uint64_t first_sites)
{
	struct install *install = choice->install;

	install->n_planned = first_number;
	install->n_sites = first_sites;
	for (size_t i = choice->first; i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		function->number = function->refusal ? UINT32_MAX : install->n_planned++;
		install->n_sites += function->refusal ? 0 : function->plan.n_sites;
	}
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
	(void)function_add(choice, index, code->range.start);
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
		offsets_choose(choice, &functions[i], names, n_names, shown);
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
	choice->error = error;
	functions_choose(choice);
	if (choice->status == STATUS_OK)
		code_module_notes(module->code, mark_choose, choice);
	for (size_t i = choice->first; i < install->n && choice->status == STATUS_OK; i++)
		function_plan(choice, &install->functions[i]);
	points_check(choice);
	numbers_set(choice, first_number, first_sites);
	return choice->status;
}

enum status install_choose(struct install *install, const struct sys *sys, struct image *image,
			   struct selection *selection, struct error *error)
{
	struct choice choice = { .install = install, .selection = selection };
	char path[64];
	enum status status = STATUS_OK;

	install->sys = sys;
	install->image = image;
	choice.options.faults_matter = faults_matter(install);
	choice.options.entry_only = install->mode == PROBE_COUNT;
	snprintf(path, sizeof(path), "/proc/%d/mem", image->pid);
	choice.memory_fd = sys->openat(sys->state, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
	if (choice.memory_fd < 0)
		return error_set_errno(error, status_from_errno(-choice.memory_fd),
				       -choice.memory_fd,
				       "may not read the memory of process %d (the same user or "
				       "CAP_SYS_PTRACE is needed; kernel.yama.ptrace_scope)",
				       image->pid);
	for (size_t i = 0; status == STATUS_OK && i < image->n; i++) {
		if (image->modules[i].code)
			status = module_choose(&choice, &image->modules[i], error);
	}
	sys->close(sys->state, choice.memory_fd);
	return status;
}
