/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Points and ends of regions: which places they are, and whose patch each place shares.
 *
 * A place is an address; it is patched once, whatever passes are counted there. Where a function that is probed
 * begins its patch does for the points there, too. A point whose bytes are wanted by another patch is refused.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/choice.h"
#include "probe/point_line.h"

#define MAX_PLACES_TEXT 512u

static void fail(struct choice *choice)
{
	choice->status = error_set(choice->error, STATUS_NO_MEMORY, "out of memory");
}

enum status points_begin(struct install *install, const struct selection *selection,
			 struct error *error)
{
	if (!array_reserve(&install->points, &install->points_capacity, selection->n_regions))
		return error_set(error, STATUS_NO_MEMORY, "out of memory");
	for (uint32_t i = 0; i < selection->n_regions; i++) {
		install->points[i] = (struct install_point){ .name = strdup(selection->regions[i]),
							     .region = true,
							     .number = i };
		install->n_points++;
		if (!install->points[i].name)
			return error_set(error, STATUS_NO_MEMORY, "out of memory");
	}
	install->n_planned = selection->n_regions;
	return STATUS_OK;
}

static struct install_point *point_new(struct choice *choice, const char *name, uint64_t address)
{
	struct install *install = choice->install;
	struct install_point *point;

	if (!array_reserve(&install->points, &install->points_capacity, install->n_points + 1)) {
		fail(choice);
		return NULL;
	}
	point = &install->points[install->n_points++];
	*point = (struct install_point){ .name = strdup(name),
					 .module = choice->module,
					 .address = address,
					 .number = UINT32_MAX };
	if (!point->name)
		fail(choice);
	return point;
}

/* Behind what the patch writes and moves. */
static uint64_t patch_end(const struct code_plan *plan, const struct code_patch *patch)
{
	const bool x86 = code_module_machine(plan->module) == EM_X86_64;
	uint64_t written = 4;

	if (x86)
		written = patch->form == CODE_PATCH_JUMP ? 5 : 2;
	written += patch->start;
	return patch->busy.end > written ? patch->busy.end : written;
}

static bool ranges_meet(uint64_t a, uint64_t a_end, uint64_t b, uint64_t b_end)
{
	return a < b_end && b < a_end;
}

static bool patches_meet(const struct code_plan *a_plan, const struct code_patch *a,
			 const struct code_plan *b_plan, const struct code_patch *b)
{
	const uint64_t a_end = patch_end(a_plan, a), b_end = patch_end(b_plan, b);

	return ranges_meet(a->start, a_end, b->start, b_end) ||
	       (a->island && ranges_meet(a->island, a->island + 5, b->start, b_end)) ||
	       (b->island && ranges_meet(b->island, b->island + 5, a->start, a_end)) ||
	       (a->island && b->island &&
		ranges_meet(a->island, a->island + 5, b->island, b->island + 5));
}

static bool plans_meet(const struct code_plan *a, const struct code_plan *b)
{
	for (uint32_t i = 0; i < a->n_patches; i++)
		for (uint32_t j = 0; j < b->n_patches; j++)
			if (patches_meet(a, &a->patches[i], b, &b->patches[j]))
				return true;
	return false;
}

/* A point may want the bytes of another point, or of a function's patch: that one is refused. */
static void place_check(const struct choice *choice, size_t index)
{
	struct install *install = choice->install;
	struct install_function *place = &install->functions[index];

	for (size_t i = choice->first; i < install->n && !place->refusal; i++) {
		const struct install_function *other = &install->functions[i];

		if (i == index || other->refusal || !plans_meet(&place->plan, &other->plan))
			continue;
		place->refusal = INSTALL_CODE;
		place->code_refusal = CODE_OVERLAP;
	}
}

/* The patch that stands at the address already, or a new one: index in install->functions. */
static size_t place_of(struct choice *choice, uint64_t address)
{
	struct install *install = choice->install;
	const uint32_t index = code_module_function_at(choice->module->code, address);
	struct install_function *place;
	size_t n, at;
	const struct code_function *code = code_module_functions(choice->module->code, &n);

	for (size_t i = choice->first; i < install->n; i++) {
		const struct install_function *other = &install->functions[i];

		if (other->address == address && (other->point || !other->refusal))
			return i;
	}
	place = choice_add(choice, index, address);
	if (!place)
		return SIZE_MAX;
	at = install->n - 1;
	place->point =
		index < n && code[index].range.start == address ? INSTALL_AT_START : INSTALL_INSIDE;
	if (place->point == INSTALL_AT_START && code[index].ifunc)
		place->refusal = INSTALL_IFUNC;
	choice_plan(choice, place);
	place_check(choice, at);
	return at;
}

static void place_add(struct choice *choice, struct install_point *point, uint64_t address,
		      enum stub_role role)
{
	const size_t place = choice->status == STATUS_OK ? place_of(choice, address) : SIZE_MAX;

	if (place == SIZE_MAX)
		return;
	for (size_t i = 0; i < point->n; i++)
		if (point->places[i].function == place && point->places[i].role == role)
			return;
	if (!array_reserve(&point->places, &point->capacity, point->n + 1)) {
		fail(choice);
		return;
	}
	if (!point->module) {
		point->module = choice->module;
		point->address = address;
	}
	point->places[point->n++] =
		(struct install_place_of_point){ (uint32_t)place, (uint8_t)role };
	choice->install->functions[place].hooked = true;
}

/* One place that a word means: a point of its own, or an end of the word's region. */
static void word_place(struct choice *choice, const struct selection_word *word, uint64_t address,
		       const char *name)
{
	struct install_point *point;

	if (word->role != SELECTION_PROBED) {
		place_add(choice, &choice->install->points[word->region], address,
			  word->role == SELECTION_BEGIN ? STUB_BEGIN : STUB_END);
		return;
	}
	for (size_t i = choice->first_point; i < choice->install->n_points; i++) {
		point = &choice->install->points[i];
		if (point->address == address && !strcmp(point->name, name))
			return;
	}
	point = point_new(choice, name, address);
	if (point)
		place_add(choice, point, address, STUB_COUNT);
}

static bool words_want_functions(const struct selection *selection)
{
	for (size_t i = 0; i < selection->n; i++) {
		const struct selection_word *word = &selection->words[i];

		if (word->kind == SELECTION_OFFSET ||
		    (word->kind == SELECTION_FUNCTIONS && word->role != SELECTION_PROBED))
			return true;
	}
	return false;
}

static void function_points(struct choice *choice, const struct code_function *code)
{
	const char *names[IMAGE_MAX_NAMES + 1], *shown;
	const size_t n = image_names(choice->module, code, names, &shown);

	for (size_t i = 0; i < choice->selection->n; i++) {
		struct selection_word *word = &choice->selection->words[i];
		char text[400];

		if (selection_means_end(word, choice->module->path, names, n))
			word_place(choice, word, code->range.start, shown);
		if (!selection_means_offset(word, choice->module->path, names, n))
			continue;
		snprintf(text, sizeof(text), "%s+0x%llx", shown, (unsigned long long)word->offset);
		word_place(choice, word, code->range.start + word->offset, text);
	}
}

static void functions_look(struct choice *choice)
{
	size_t n;
	const struct code_function *functions = code_module_functions(choice->module->code, &n);

	if (!words_want_functions(choice->selection))
		return;
	for (size_t i = 0; i < n && choice->status == STATUS_OK; i++)
		if (functions[i].owner == i && !functions[i].stub)
			function_points(choice, &functions[i]);
}

static bool mark_choose(void *data, const struct code_note *note)
{
	struct choice *choice = data;
	char text[512];

	snprintf(text, sizeof(text), "%s:%s", note->provider, note->name);
	for (size_t i = 0; i < choice->selection->n; i++)
		if (selection_means_mark(&choice->selection->words[i], choice->module->path,
					 note->provider, note->name))
			word_place(choice, &choice->selection->words[i], note->address, text);
	return choice->status == STATUS_OK;
}

/* "f+0x12, g+0x34": the places of a line. */
static char *places_text(const struct choice *choice, const struct debug_lines *lines)
{
	const struct image_module *module = choice->module;
	char text[MAX_PLACES_TEXT] = "";
	size_t n_code, used = 0;
	const struct code_function *code = code_module_functions(module->code, &n_code);

	for (size_t i = 0; i < lines->n && used < sizeof(text) - 1; i++) {
		const uint64_t address = lines->places[i].address;
		const uint32_t index = code_module_function_at(module->code, address);
		const char *names[IMAGE_MAX_NAMES + 1], *shown = "";

		if (index < n_code) {
			const struct code_function *owner = &code[code[index].owner];

			(void)image_names(module, owner, names, &shown);
			used += (size_t)snprintf(
				text + used, sizeof(text) - used, "%s%s+0x%llx", i ? ", " : "",
				shown, (unsigned long long)(address - owner->range.start));
		}
	}
	return strdup(text);
}

/* All places of a line in one row, that is: their sum. */
static void line_choose(struct choice *choice, struct selection_word *word)
{
	struct debug_lines lines = { 0 };
	struct install_point *point;
	char text[512];
	bool known;

	if (!selection_means_lines(word, choice->module->path))
		return;
	if (!point_line_find(choice->module, word, &lines, &known))
		fail(choice);
	if (lines.n && choice->status == STATUS_OK) {
		word->used = true;
		snprintf(text, sizeof(text), "%s:%u", word->glob, word->line);
		point = word->role == SELECTION_PROBED
				? point_new(choice, text, lines.places[0].address)
				: &choice->install->points[word->region];
		if (point && word->role == SELECTION_PROBED)
			point->aliases = places_text(choice, &lines);
		for (size_t i = 0; point && i < lines.n; i++)
			place_add(choice, point, lines.places[i].address,
				  word->role == SELECTION_PROBED  ? STUB_COUNT
				  : word->role == SELECTION_BEGIN ? STUB_BEGIN
								  : STUB_END);
	}
	debug_lines_release(&lines);
}

void points_choose(struct choice *choice)
{
	functions_look(choice);
	if (choice->status == STATUS_OK)
		code_module_notes(choice->module->code, mark_choose, choice);
	for (size_t i = 0; i < choice->selection->n && choice->status == STATUS_OK; i++)
		line_choose(choice, &choice->selection->words[i]);
}

const struct install_function *install_point_refused(const struct install *install,
						     const struct install_point *point)
{
	for (size_t i = 0; i < point->n; i++)
		if (install->functions[point->places[i].function].refusal)
			return &install->functions[point->places[i].function];
	return NULL;
}

void points_number(struct choice *choice)
{
	struct install *install = choice->install;

	for (size_t i = choice->first_point; i < install->n_points; i++) {
		struct install_point *point = &install->points[i];

		if (!install_point_refused(install, point) && install->n_planned < choice->most)
			point->number = install->n_planned++;
	}
}

static int compare_hooks(const void *a, const void *b)
{
	const struct stub_hook *x = a, *y = b;

	return (int)x->role - (int)y->role;
}

size_t install_hooks(const struct install *install, size_t function, struct stub_hook *hooks,
		     size_t capacity)
{
	size_t n = 0;

	for (size_t i = 0; i < install->n_points && install->functions[function].hooked; i++) {
		const struct install_point *point = &install->points[i];

		if (point->number == UINT32_MAX || install_point_refused(install, point))
			continue;
		for (size_t k = 0; k < point->n && n < capacity; k++)
			if (point->places[k].function == function)
				hooks[n++] =
					(struct stub_hook){ point->number, point->places[k].role };
	}
	/* what ends here ends before the next begins */
	qsort(hooks, n, sizeof(*hooks), compare_hooks);
	return n;
}

void install_points_release(struct install *install)
{
	for (size_t i = 0; i < install->n_points; i++) {
		free(install->points[i].name);
		free(install->points[i].aliases);
		free(install->points[i].places);
	}
	free(install->points);
	install->points = NULL;
	install->n_points = install->points_capacity = 0;
}
