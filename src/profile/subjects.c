/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "profile/subjects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

#define STACK_NAME_BYTES 250 /* after which no further frame is named, slack included */

void subjects_init(struct subjects *subjects, unsigned int by)
{
	memset(subjects, 0, sizeof(*subjects));
	subjects->by = by;
	subjects->truncated = KEYTABLE_NONE;
}

void subjects_release(struct subjects *subjects)
{
	for (size_t i = 0; i < subjects->n; i++)
		if (subjects->items[i].stack) {
			free((void *)(uintptr_t)subjects->items[i].stack);
			free((void *)(uintptr_t)subjects->items[i].name);
		}
	free(subjects->items);
	free(subjects->list);
	keytable_release(&subjects->index);
	subjects_init(subjects, 0);
}

static bool text_same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool subject_same(const struct subject *a, const struct subject *b)
{
	return a->module == b->module && a->start == b->start && a->line == b->line &&
	       a->inlined == b->inlined && text_same(a->name, b->name) &&
	       text_same(a->file, b->file) && text_same(a->module_name, b->module_name) &&
	       a->n_stack == b->n_stack &&
	       (!a->n_stack || !memcmp(a->stack, b->stack, a->n_stack * sizeof(*a->stack)));
}

static uint64_t text_hash(const char *text)
{
	return text ? hash_bytes(text, strlen(text)) : 0;
}

static enum status subject_intern(struct subjects *subjects, const struct subject *subject,
				  uint32_t *index, struct error *error)
{
	uint64_t key = hash_combine(text_hash(subject->name), text_hash(subject->file));

	key = hash_combine(key, text_hash(subject->module_name));
	key = hash_combine(key, subject->start);
	key = hash_combine(key, (uint64_t)subject->line << 1 | subject->inlined);
	if (subject->n_stack)
		key = hash_combine(key, hash_bytes(subject->stack,
						   subject->n_stack * sizeof(*subject->stack)));
	/* Keys that collide are told apart by counting up. */
	while ((*index = keytable_get(&subjects->index, key)) != KEYTABLE_NONE &&
	       !subject_same(&subjects->items[*index], subject))
		key++;
	if (*index != KEYTABLE_NONE)
		return STATUS_OK;
	if (!array_reserve(&subjects->items, &subjects->capacity, subjects->n + 1) ||
	    !keytable_set(&subjects->index, key, (uint32_t)subjects->n))
		return error_set(error, STATUS_NO_MEMORY, "no memory for the functions");
	*index = (uint32_t)subjects->n;
	subjects->items[subjects->n++] = *subject;
	return STATUS_OK;
}

/* The name of where there is no module. */
static const char *nowhere(const struct place *place)
{
	switch (place->mode) {
	case PLACE_GUEST: return "[guest]";
	case PLACE_HYPERVISOR: return "[hypervisor]";
	case PLACE_USER:
	case PLACE_KERNEL: break;
	}
	return "[unknown]";
}

static struct subject subject_of(const struct subjects *subjects, const struct place *place,
				 const struct frame *frame)
{
	const struct function *function = frame->function;
	struct subject subject = { .module = frame->module,
				   .inlined = frame->inlined,
				   .miss = frame->miss };

	subject.module_name = frame->module ? module_name(frame->module) : nowhere(place);
	if (subjects->by & SUBJECT_FUNCTION) {
		subject.name = frame->name;
		subject.symbol = frame->symbol;
		subject.named = frame->inlined ||
				(function ? function->symbol != NULL : frame->miss == SYMBOL_OK);
		if (function && !frame->inlined) {
			function = module_function_parent(frame->module, function);
			subject.start = function->start.value;
			subject.name = function->name;
			subject.symbol =
				function->symbol && strcmp(function->symbol, function->name)
					? function->symbol
					: NULL;
		}
	}
	return subject;
}

static size_t place_frames(const struct places *places, const struct place *place,
			   struct frame *frames)
{
	size_t n;

	if (place->module) {
		n = symbolizer_frames(places->symbolizer, place->module, place->offset,
				      place->return_address, frames, SYMBOLIZER_MAX_INLINES);
		/* A perf map was asked although nothing is known to be mapped: no entry, no module. */
		if (place->mode == PLACE_USER && !place->mapped && n == 1 && !frames[0].function &&
		    frames[0].miss != SYMBOL_OK)
			frames[0].module = NULL;
		else
			return n;
	}
	frames[0] = (struct frame){ .name = "[unknown]", .miss = SYMBOL_NO_MAPPING };
	return 1;
}

enum status subjects_of_place(struct subjects *subjects, struct places *places, struct place *place,
			      struct error *error)
{
	struct frame frames[SYMBOLIZER_MAX_INLINES];
	enum status status;
	size_t n;

	if (place->n_subjects)
		return STATUS_OK;
	n = place_frames(places, place, frames);
	if (!array_reserve(&subjects->list, &subjects->list_capacity, subjects->n_list + n))
		return error_set(error, STATUS_NO_MEMORY, "no memory for the functions");
	place->subjects = (uint32_t)subjects->n_list;
	for (size_t i = 0; i < n; i++) {
		struct subject subject = subject_of(subjects, place, &frames[i]);

		/* the line that runs is the innermost frame's, also for the function around it */
		if (subjects->by & SUBJECT_LINE) {
			subject.file = frames[0].file;
			subject.line = frames[0].line;
		}
		status = subject_intern(subjects, &subject, &subjects->list[subjects->n_list],
					error);
		if (status != STATUS_OK)
			return status;
		subjects->n_list++;
	}
	place->miss = frames[n - 1].miss;
	place->n_subjects = (uint32_t)n;
	return STATUS_OK;
}

enum status subjects_truncated(struct subjects *subjects, uint32_t *index, struct error *error)
{
	const struct subject truncated = { .name = "[truncated]",
					   .module_name = "",
					   .named = true };
	enum status status = STATUS_OK;

	if (subjects->truncated == KEYTABLE_NONE)
		status = subject_intern(subjects, &truncated, &subjects->truncated, error);
	*index = subjects->truncated;
	return status;
}

static const char *frame_name(const struct subjects *subjects, uint32_t frame)
{
	const char *name = subjects->items[frame].name;

	return name ? name : "[unknown]";
}

/* "leaf < caller < main", cut short at the root of a deep stack: the leaf is what a reader looks for. */
static char *stack_name(const struct subjects *subjects, const uint32_t *frames, size_t n)
{
	static const char join[] = " < ", inlined[] = " (inlined)";
	const size_t extra = sizeof(join) + sizeof(inlined);
	size_t shown = 0, bytes = 64, at = 0;
	char *name;

	while (shown < n && bytes < STACK_NAME_BYTES)
		bytes += strlen(frame_name(subjects, frames[shown++])) + extra;
	name = malloc(bytes);
	if (!name)
		return NULL;
	for (size_t i = 0; i < shown; i++)
		at += (size_t)snprintf(name + at, bytes - at, "%s%s%s", i ? join : "",
				       frame_name(subjects, frames[i]),
				       subjects->items[frames[i]].inlined ? inlined : "");
	if (shown < n)
		snprintf(name + at, bytes - at, "%s... (%zu more)", join, n - shown);
	return name;
}

enum status subjects_of_stack(struct subjects *subjects, const uint32_t *frames, size_t n,
			      uint32_t *index, struct error *error)
{
	const size_t bytes = n * sizeof(*frames);
	struct subject subject = subjects->items[frames[0]];
	uint32_t *own = malloc(bytes);
	char *name = stack_name(subjects, frames, n);
	enum status status = STATUS_NO_MEMORY;

	if (own && name) {
		memcpy(own, frames, bytes);
		subject.stack = own;
		subject.n_stack = n;
		subject.name = name;
		subject.symbol = NULL;
		subject.inlined = false;
		status = subject_intern(subjects, &subject, index, error);
		if (status == STATUS_OK && subjects->items[*index].stack == own)
			return STATUS_OK;
	} else {
		error_set(error, status, "no memory for the stacks");
	}
	free(own);
	free(name);
	return status;
}
