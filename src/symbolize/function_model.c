/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/function_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbolize/key_sort.h"

/* A function of symbols, while its end is not settled. */
struct draft {
	const struct raw_symbol *best;
	uint64_t end;
	uint32_t n_aliases;
};

struct drafts {
	struct draft *items; /* sorted by start, starts differ */
	size_t n, capacity;
};

static unsigned int leading_underscores(const char *name)
{
	unsigned int n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* glibc calls the same code write (weak) and __write (global): users know the former. */
static int name_compare(const struct raw_symbol *a, const struct raw_symbol *b)
{
	const unsigned int a_lead = leading_underscores(a->name);
	const unsigned int b_lead = leading_underscores(b->name);
	const bool a_weak = a->binding == STB_WEAK, b_weak = b->binding == STB_WEAK;
	size_t a_length, b_length;

	if (a_lead != b_lead)
		return a_lead < b_lead ? -1 : 1;
	if (a_weak != b_weak)
		return a_weak ? 1 : -1;
	a_length = strlen(a->name);
	b_length = strlen(b->name);
	if (a_length != b_length)
		return a_length < b_length ? -1 : 1;
	return strcmp(a->name, b->name);
}

int raw_symbol_compare(const void *a, const void *b)
{
	const struct raw_symbol *x = a, *y = b;
	const bool x_label = x->type == STT_NOTYPE, y_label = y->type == STT_NOTYPE;
	const bool x_local = x->binding == STB_LOCAL, y_local = y->binding == STB_LOCAL;

	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (x_label != y_label)
		return x_label ? 1 : -1;
	if (x_local != y_local)
		return x_local ? 1 : -1;
	return name_compare(x, y);
}

static int pointer_compare(const void *a, const void *b)
{
	return raw_symbol_compare(*(const struct raw_symbol *const *)a,
				  *(const struct raw_symbol *const *)b);
}

static bool is_label(const struct raw_symbol *symbol)
{
	return symbol->type == STT_NOTYPE && !symbol->size && symbol->binding == STB_LOCAL;
}

/* The function of `n` symbols that share their start; their order is lost. */
static struct draft draft_of(const struct raw_symbol **group, size_t n)
{
	struct draft draft = { 0 };
	uint64_t size = 0;

	if (n > 1)
		qsort(group, n, sizeof(const struct raw_symbol *), pointer_compare);
	for (size_t i = 0; i < n; i++) {
		if (group[i]->size > size)
			size = group[i]->size;
		/* symtab and dynsym name most functions twice */
		if (i && strcmp(group[i]->name, group[i - 1]->name))
			draft.n_aliases++;
	}
	draft.best = group[0];
	draft.end = group[0]->start + size;
	return draft;
}

/* Symbols in order of address; the table itself is left as it is. */
static const struct raw_symbol **symbols_sorted(const struct symbol_table *table)
{
	struct sort_key *keys = malloc((table->n + 1) * sizeof(*keys));
	const struct raw_symbol **sorted =
		malloc((table->n + 1) * sizeof(const struct raw_symbol *));
	bool good = keys && sorted;

	for (size_t i = 0; i < table->n && good; i++)
		keys[i] = (struct sort_key){ table->symbols[i].start, (uint32_t)i };
	good = good && key_sort(keys, table->n);
	for (size_t i = 0; i < table->n && good; i++)
		sorted[i] = &table->symbols[keys[i].index];
	free(keys);
	if (good)
		return sorted;
	free(sorted);
	return NULL;
}

static bool drafts_make(struct drafts *drafts, const struct symbol_table *table)
{
	const struct raw_symbol **sorted = symbols_sorted(table);
	uint64_t sized_end = 0; /* end of the sized symbols seen so far */
	size_t next;

	if (!sorted)
		return false;
	for (size_t i = 0; i < table->n; i = next) {
		struct draft draft;

		for (next = i + 1; next < table->n && sorted[next]->start == sorted[i]->start;)
			next++;
		draft = draft_of(sorted + i, next - i);
		/* The best of the group is a label only when all are. */
		if (is_label(draft.best) && draft.best->start < sized_end)
			continue;
		if (!array_reserve(&drafts->items, &drafts->capacity, drafts->n + 1)) {
			free(sorted);
			return false;
		}
		drafts->items[drafts->n++] = draft;
		if (draft.end > sized_end)
			sized_end = draft.end;
	}
	free(sorted);
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Ends of unsized and short symbols. `enclosing` is the end of the symbols before. */
static void ends_settle(struct drafts *drafts, const struct fde_table *fdes)
{
	uint64_t enclosing = 0;
	size_t after = 0; /* the first FDE that starts above the symbol */

	for (size_t i = 0; i < drafts->n; i++) {
		struct draft *draft = &drafts->items[i];
		const uint64_t start = draft->best->start;
		const struct fde_range *fde = NULL;
		uint64_t bound = draft->best->limit;

		while (after < fdes->n && fdes->ranges[after].start <= start)
			after++;
		if (after && start < fdes->ranges[after - 1].end)
			fde = &fdes->ranges[after - 1];
		if (i + 1 < drafts->n)
			bound = least(bound, drafts->items[i + 1].best->start);
		if (draft->end == start) {
			if (fde)
				bound = least(bound, fde->end);
			else if (after < fdes->n)
				bound = least(bound, fdes->ranges[after].start);
			if (start < enclosing)
				bound = least(bound, enclosing);
			draft->end = bound;
		} else if (fde && fde->start == start && fde->end > draft->end &&
			   bound > draft->end && !draft->best->stub) {
			draft->end = least(bound, fde->end);
		}
		if (draft->end > enclosing)
			enclosing = draft->end;
	}
}

static struct function function_of_draft(const struct draft *draft, uint32_t index)
{
	return (struct function){
		.start = { draft->best->start },
		.end = { draft->end },
		.symbol = draft->best->name,
		.n_aliases = draft->n_aliases,
		.parent = index,
		.from_symbol = true,
		.size_was_zero = draft->best->size == 0,
		.global = draft->best->binding != STB_LOCAL,
		.ifunc = draft->best->type == STT_GNU_IFUNC,
		.stub = draft->best->stub,
	};
}

/* Symbols' functions and FDEs, both sorted, into one list. FDEs rank below every symbol. */
static bool functions_merge(struct function_model *model, const struct drafts *drafts,
			    const struct fde_table *fdes)
{
	size_t d = 0, f = 0;

	while (d < drafts->n || f < fdes->n) {
		const struct draft *draft = d < drafts->n ? &drafts->items[d] : NULL;
		const struct fde_range *fde = f < fdes->n ? &fdes->ranges[f] : NULL;
		const uint32_t index = (uint32_t)model->n;
		struct function *function = &model->functions[model->n++];
		bool fde_first;

		fde_first = !draft ||
			    (fde && (fde->start < draft->best->start ||
				     (fde->start == draft->best->start && fde->end >= draft->end)));
		if (fde_first) {
			*function = (struct function){
				.start = { fde->start },
				.end = { fde->end },
				.parent = index,
				.from_fde = true,
			};
			f++;
		} else {
			*function = function_of_draft(draft, index);
			model->groups[index] = draft->best->file_group;
			d++;
		}
		if (!interval_map_add(&model->map,
				      (struct interval){ function->start.value, function->end.value,
							 fde_first ? 0 : function->start.value + 1,
							 index }))
			return false;
	}
	return true;
}

/* FDEs that symbols cover altogether are no functions of their own. */
static bool covered_drop(struct function_model *model)
{
	uint32_t *new_index = calloc(model->n + 1, sizeof(*new_index));
	struct interval_span *spans = model->map.spans;
	size_t n = 0;

	if (!new_index)
		return false;
	for (size_t i = 0; i < model->map.n_spans; i++)
		if (spans[i].value != INTERVAL_NONE)
			new_index[spans[i].value] = 1;
	for (size_t i = 0; i < model->n; i++) {
		if (!model->functions[i].from_symbol && !new_index[i])
			continue;
		model->functions[n] = model->functions[i];
		model->functions[n].parent = (uint32_t)n;
		model->groups[n] = model->groups[i];
		new_index[i] = (uint32_t)n++;
	}
	model->n = n;
	for (size_t i = 0; i < model->map.n_spans; i++)
		if (spans[i].value != INTERVAL_NONE)
			spans[i].value = new_index[spans[i].value];
	free(new_index);
	return true;
}

/* Gives back what the dropped FDEs took; shrinking cannot fail in a way that matters. */
static void functions_shrink(struct function_model *model)
{
	struct function *functions = realloc(model->functions, (model->n + 1) * sizeof(*functions));
	uint32_t *groups = realloc(model->groups, (model->n + 1) * sizeof(*groups));

	if (functions)
		model->functions = functions;
	if (groups)
		model->groups = groups;
}

bool function_model_build(struct function_model *model, const struct symbol_table *symbols,
			  const struct fde_table *fdes)
{
	struct drafts drafts = { 0 };
	size_t n;
	bool good;

	memset(model, 0, sizeof(*model));
	good = drafts_make(&drafts, symbols);
	ends_settle(&drafts, fdes);
	n = drafts.n + fdes->n;
	good = good && n < FUNCTION_NONE;
	if (good) {
		model->functions = malloc((n + 1) * sizeof(*model->functions));
		model->groups = calloc(n + 1, sizeof(*model->groups));
		good = model->functions && model->groups && functions_merge(model, &drafts, fdes) &&
		       interval_map_build(&model->map) && covered_drop(model);
	}
	free(drafts.items);
	if (good)
		functions_shrink(model);
	else
		function_model_release(model);
	return good;
}

void function_model_release(struct function_model *model)
{
	free(model->functions);
	free(model->groups);
	free(model->name_slots);
	free(model->namesakes);
	interval_map_release(&model->map);
	memset(model, 0, sizeof(*model));
}

uint32_t function_model_at(const struct function_model *model, uint64_t vaddr)
{
	return interval_map_at(&model->map, vaddr);
}
