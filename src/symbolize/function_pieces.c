/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Links the pieces that a compiler split off a function to the function itself.
 *
 * gcc names them "f.cold" and "f.part.0" (ipa-split, hot/cold partitioning), clang "f.cold" or
 * "f.cold.3" (hot/cold splitting). "f.constprop.0", "f.isra.0" and "f.lto_priv.0" are whole functions
 * of their own and stay so; "f.isra.0.cold" is a piece of "f.isra.0".
 */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "symbolize/function_model.h"

#define MAX_NAMESAKES 1024

struct name_index {
	const struct function_model *model;
	const uint32_t *groups;
	uint32_t *slots;     /* open addressing, index + 1 of the first function of a name */
	uint32_t *namesakes; /* by function: index + 1 of the next one of the same name */
	size_t mask;
};

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
static size_t slot_find(const struct name_index *index, const char *name, size_t length)
{
	size_t slot = hash_bytes(name, length) & index->mask;

	for (; index->slots[slot]; slot = (slot + 1) & index->mask) {
		const char *symbol = index->model->functions[index->slots[slot] - 1].symbol;

		if (!strncmp(symbol, name, length) && !symbol[length])
			break;
	}
	return slot;
}

static bool index_build(struct name_index *index, const struct function_model *model)
{
	size_t n_slots = 16;

	while (n_slots < 2 * model->n)
		n_slots *= 2;
	index->model = model;
	index->mask = n_slots - 1;
	index->slots = calloc(n_slots, sizeof(*index->slots));
	index->namesakes = calloc(model->n + 1, sizeof(*index->namesakes));
	if (!index->slots || !index->namesakes)
		return false;
	for (size_t i = 0; i < model->n; i++) {
		const char *name = model->functions[i].symbol;
		size_t slot;

		if (!name)
			continue;
		slot = slot_find(index, name, strlen(name));
		index->namesakes[i] = index->slots[slot];
		index->slots[slot] = (uint32_t)i + 1;
	}
	return true;
}

/* The function called so: the one of the piece's source file, else the only one there is. */
static uint32_t whole_find(const struct name_index *index, const char *name, size_t length,
			   uint32_t group)
{
	uint32_t found = FUNCTION_NONE, in_group = FUNCTION_NONE, n = 0, n_in_group = 0;
	uint32_t next = index->slots[slot_find(index, name, length)];

	for (; next && n < MAX_NAMESAKES; next = index->namesakes[next - 1]) {
		found = next - 1;
		n++;
		if (group && index->groups[found] == group) {
			in_group = found;
			n_in_group++;
		}
	}
	if (n_in_group == 1)
		return in_group;
	return n == 1 ? found : FUNCTION_NONE;
}

bool function_model_link_pieces(struct function_model *model, const uint32_t *groups)
{
	struct name_index index = { .groups = groups };

	for (size_t i = 0; i < model->n; i++) {
		struct function *function = &model->functions[i];
		const size_t length = function->symbol ? whole_length(function->symbol) : 0;
		uint32_t whole;

		if (!length)
			continue;
		if (!index.slots && !index_build(&index, model)) {
			free(index.slots);
			free(index.namesakes);
			return false;
		}
		whole = whole_find(&index, function->symbol, length, groups[i]);
		if (whole != FUNCTION_NONE)
			function->parent = whole;
	}
	free(index.slots);
	free(index.namesakes);
	/* A piece of a piece ("f.part.0.cold") belongs to the whole. */
	for (size_t i = 0; i < model->n; i++)
		for (int depth = 0; depth < 4; depth++)
			model->functions[i].parent =
				model->functions[model->functions[i].parent].parent;
	return true;
}
