/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Finds the function that a piece was split off from.
 *
 * gcc names pieces "f.cold" and "f.part.0" (hot/cold partitioning, ipa-split), clang "f.cold" or
 * "f.cold.3" (hot/cold splitting). "f.constprop.0", "f.isra.0" and "f.lto_priv.0" are whole functions
 * of their own and stay so; "f.isra.0.cold" is a piece of "f.isra.0".
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolize/function_model.h"

#define MAX_NAMESAKES 1024u
#define MAX_DEPTH     4 /* "f.part.0.cold" is a piece of a piece */

static bool is_number(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < '0' || text[i] > '9')
			return false;
	return length > 0;
}

static bool suffix_is(const char *name, size_t *length, const char *suffix)
{
	const size_t n = strlen(suffix);

	if (*length <= n || memcmp(name + *length - n, suffix, n))
		return false;
	*length -= n;
	return true;
}

/* Length of the name of the whole that `name` is a piece of, or 0 when it is none. */
static size_t whole_length(const char *name)
{
	size_t length = strlen(name), numbered;
	const char *dot = memrchr(name, '.', length);

	if (!dot || dot == name)
		return 0;
	if (suffix_is(name, &length, ".cold"))
		return length;
	if (!is_number(dot + 1, strlen(dot + 1)))
		return 0;
	numbered = (size_t)(dot - name);
	if (suffix_is(name, &numbered, ".cold") || suffix_is(name, &numbered, ".part"))
		return numbered;
	return 0;
}

/* The slot of this name, or the free one where it belongs. */
static size_t slot_find(const struct function_model *model, const char *name, size_t length)
{
	size_t slot = hash_bytes(name, length) & model->name_mask;

	for (; model->name_slots[slot]; slot = (slot + 1) & model->name_mask) {
		const char *symbol = model->functions[model->name_slots[slot] - 1].symbol;

		if (!strncmp(symbol, name, length) && !symbol[length])
			break;
	}
	return slot;
}

static bool names_index(struct function_model *model)
{
	size_t n_slots = 16;

	while (n_slots < 2 * model->n)
		n_slots *= 2;
	model->name_mask = n_slots - 1;
	model->name_slots = calloc(n_slots, sizeof(*model->name_slots));
	model->namesakes = calloc(model->n + 1, sizeof(*model->namesakes));
	if (!model->name_slots || !model->namesakes) {
		free(model->name_slots);
		free(model->namesakes);
		model->name_slots = model->namesakes = NULL;
		return false;
	}
	for (size_t i = 0; i < model->n; i++) {
		const char *name = model->functions[i].symbol;
		size_t slot;

		if (!name)
			continue;
		slot = slot_find(model, name, strlen(name));
		model->namesakes[i] = model->name_slots[slot];
		model->name_slots[slot] = (uint32_t)i + 1;
	}
	return true;
}

/* The function called so: the one of the piece's source file, else the only one there is. */
static uint32_t whole_find(const struct function_model *model, const char *name, size_t length,
			   uint32_t group)
{
	uint32_t found = FUNCTION_NONE, in_group = FUNCTION_NONE, n = 0, n_in_group = 0;
	uint32_t next = model->name_slots[slot_find(model, name, length)];

	for (; next && n < MAX_NAMESAKES; next = model->namesakes[next - 1]) {
		found = next - 1;
		n++;
		if (group && model->groups && model->groups[found] == group) {
			in_group = found;
			n_in_group++;
		}
	}
	if (n_in_group == 1)
		return in_group;
	return n == 1 ? found : FUNCTION_NONE;
}

uint32_t function_model_whole(struct function_model *model, uint32_t index)
{
	for (int depth = 0; depth < MAX_DEPTH; depth++) {
		const char *name = model->functions[index].symbol;
		const size_t length = name ? whole_length(name) : 0;
		uint32_t whole;

		if (!length || (!model->name_slots && !names_index(model)))
			return index;
		whole = whole_find(model, name, length, model->groups ? model->groups[index] : 0);
		if (whole == FUNCTION_NONE)
			return index;
		index = whole;
	}
	return index;
}
