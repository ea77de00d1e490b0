/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/function_model.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

struct building {
	struct function_model *model;
	const struct fde_table *fdes;
	uint32_t *groups; /* file group per function, in the order of model->functions */
	size_t groups_capacity;
	uint64_t *limits; /* end of the section per function */
	size_t limits_capacity;
	struct function_span *spans; /* of the symbols alone */
	size_t n_spans, spans_capacity;
	uint32_t *open; /* stack of functions that enclose the current address */
	size_t n_open, open_capacity;
	uint64_t swept; /* spans are complete below this address */
};

static unsigned int leading_underscores(const char *name)
{
	unsigned int n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

static int name_compare(const struct raw_symbol *a, const struct raw_symbol *b)
{
	const unsigned int a_lead = leading_underscores(a->name);
	const unsigned int b_lead = leading_underscores(b->name);
	size_t a_length, b_length;

	if (a_lead != b_lead)
		return a_lead < b_lead ? -1 : 1;
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

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	if (x_label != y_label)
		return x_label ? 1 : -1;
	if (x_local != y_local)
		return x_local ? 1 : -1;
	return name_compare(x, y);
}

/* One function of the symbols [first, end), which share their start. */
static bool function_add(struct building *building, const struct raw_symbol *first,
			 const struct raw_symbol *end)
{
	struct function_model *model = building->model;
	struct function function = {
		.start = { first->start },
		.symbol = first->name,
		.from_symbol = true,
		.size_was_zero = first->size == 0,
		.global = first->binding != STB_LOCAL,
		.ifunc = first->type == STT_GNU_IFUNC,
		.stub = first->stub,
	};
	uint64_t size = 0, limit = first->limit;

	for (const struct raw_symbol *symbol = first; symbol < end; symbol++) {
		if (symbol->size > size)
			size = symbol->size;
		if (symbol > first && strcmp(symbol->name, symbol[-1].name))
			function.n_aliases++;
	}
	function.end.value = first->start + size;
	if (model->n >= FUNCTION_NONE - 1 ||
	    !array_reserve(&model->functions, &model->capacity, model->n + 1) ||
	    !array_reserve(&building->groups, &building->groups_capacity, model->n + 1) ||
	    !array_reserve(&building->limits, &building->limits_capacity, model->n + 1))
		return false;
	building->groups[model->n] = first->file_group;
	building->limits[model->n] = limit;
	model->functions[model->n++] = function;
	return true;
}

static bool is_label(const struct raw_symbol *symbol)
{
	return symbol->type == STT_NOTYPE && !symbol->size && symbol->binding == STB_LOCAL;
}

static bool functions_from_symbols(struct building *building, struct symbol_table *table)
{
	uint64_t sized_end = 0; /* end of the sized symbols seen so far */
	size_t next;

	if (table->n)
		qsort(table->symbols, table->n, sizeof(*table->symbols), raw_symbol_compare);
	for (size_t i = 0; i < table->n; i = next) {
		const struct raw_symbol *first = &table->symbols[i];

		for (next = i + 1; next < table->n && table->symbols[next].start == first->start;
		     next++)
			;
		/* The best of the group is a label only when all are. */
		if (is_label(first) && first->start < sized_end)
			continue;
		if (!function_add(building, first, table->symbols + next))
			return false;
		for (size_t k = i; k < next; k++)
			if (table->symbols[k].start + table->symbols[k].size > sized_end)
				sized_end = table->symbols[k].start + table->symbols[k].size;
	}
	return true;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Ends of unsized and short symbols. `enclosing` is the end of the sized symbols before. */
static void ends_settle(struct building *building)
{
	struct function_model *model = building->model;
	uint64_t enclosing = 0;

	for (size_t i = 0; i < model->n; i++) {
		struct function *function = &model->functions[i];
		const uint64_t start = function->start.value;
		const struct fde_range *fde = fde_table_at(building->fdes, start);
		const struct fde_range *after = fde_table_after(building->fdes, start);
		uint64_t bound = building->limits[i];

		if (i + 1 < model->n)
			bound = least(bound, model->functions[i + 1].start.value);
		if (function->end.value == start) {
			if (fde)
				bound = least(bound, fde->end);
			else if (after)
				bound = least(bound, after->start);
			if (start < enclosing)
				bound = least(bound, enclosing);
			function->end.value = bound;
		} else if (fde && fde->start == start && fde->end > function->end.value &&
			   bound > function->end.value && !function->stub) {
			function->end.value = least(bound, fde->end);
		}
		if (function->end.value > enclosing)
			enclosing = function->end.value;
	}
}

static bool span_add(struct function_span **spans, size_t *n, size_t *capacity, uint64_t start,
		     uint32_t function)
{
	if (*n && (*spans)[*n - 1].start == start)
		(*n)--;
	if (*n && (*spans)[*n - 1].function == function)
		return true;
	if (!array_reserve(spans, capacity, *n + 1))
		return false;
	(*spans)[(*n)++] = (struct function_span){ start, function };
	return true;
}

static bool symbol_span(struct building *building, uint64_t start, uint32_t function)
{
	return span_add(&building->spans, &building->n_spans, &building->spans_capacity, start,
			function);
}

/* Closes the open functions that end at or below `address` and writes the spans between. */
static bool sweep_to(struct building *building, uint64_t address)
{
	const struct function *functions = building->model->functions;

	while (building->n_open) {
		const uint32_t top = building->open[building->n_open - 1];
		const uint64_t end = functions[top].end.value;

		if (building->swept < end && !symbol_span(building, building->swept, top))
			return false;
		if (end > address)
			return true;
		if (end > building->swept)
			building->swept = end;
		building->n_open--;
	}
	return symbol_span(building, building->swept, FUNCTION_NONE);
}

static bool symbols_sweep(struct building *building)
{
	const struct function_model *model = building->model;

	for (size_t i = 0; i < model->n; i++) {
		const uint64_t start = model->functions[i].start.value;

		if (!sweep_to(building, start) ||
		    !array_reserve(&building->open, &building->open_capacity, building->n_open + 1))
			return false;
		building->open[building->n_open++] = (uint32_t)i;
		building->swept = start;
	}
	return sweep_to(building, UINT64_MAX);
}

static bool model_span(struct function_model *model, uint64_t start, uint32_t function)
{
	return span_add(&model->spans, &model->n_spans, &model->spans_capacity, start, function);
}

static bool fde_function_add(struct function_model *model, const struct fde_range *range)
{
	if (model->n >= FUNCTION_NONE - 1 ||
	    !array_reserve(&model->functions, &model->capacity, model->n + 1))
		return false;
	model->functions[model->n++] = (struct function){
		.start = { range->start },
		.end = { range->end },
		.from_fde = true,
	};
	return true;
}

/* The part [start, end) that no symbol covers: FDE functions where FDEs are, gaps elsewhere. */
static bool gap_fill(struct building *building, uint64_t start, uint64_t end)
{
	struct function_model *model = building->model;
	const struct fde_table *fdes = building->fdes;
	const struct fde_range *limit = fdes->ranges + fdes->n;
	const struct fde_range *fde = fde_table_at(fdes, start);

	if (!fde)
		fde = fde_table_after(fdes, start);
	if (!model_span(model, start, FUNCTION_NONE))
		return false;
	for (; fde && fde < limit && fde->start < end; fde++) {
		const struct function *last = model->n ? &model->functions[model->n - 1] : NULL;
		const bool known = last && last->from_fde && last->start.value == fde->start;

		if (!known && !fde_function_add(model, fde))
			return false;
		if (!model_span(model, fde->start > start ? fde->start : start,
				(uint32_t)(model->n - 1)) ||
		    !model_span(model, fde->end < end ? fde->end : end, FUNCTION_NONE))
			return false;
	}
	return true;
}

static bool spans_merge(struct building *building)
{
	const struct function_span *spans = building->spans;
	const size_t n = building->n_spans;
	bool good = true;

	if (!n || spans[0].start > 0)
		good = gap_fill(building, 0, n ? spans[0].start : UINT64_MAX);
	for (size_t i = 0; i < n && good; i++) {
		const uint64_t end = i + 1 < n ? spans[i + 1].start : UINT64_MAX;

		if (spans[i].function == FUNCTION_NONE)
			good = gap_fill(building, spans[i].start, end);
		else
			good = model_span(building->model, spans[i].start, spans[i].function);
	}
	return good;
}

struct order {
	const struct function *function;
	uint32_t old;
};

static int order_compare(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->function->start.value != y->function->start.value)
		return x->function->start.value < y->function->start.value ? -1 : 1;
	if (x->function->end.value != y->function->end.value)
		return x->function->end.value > y->function->end.value ? -1 : 1;
	return x->old < y->old ? -1 : 1;
}

/* FDE functions were appended behind the symbols': puts all in address order. */
static bool functions_sort(struct building *building, size_t n_symbols)
{
	struct function_model *model = building->model;
	struct order *order = malloc((model->n + 1) * sizeof(*order));
	uint32_t *new_of = malloc((model->n + 1) * sizeof(*new_of));
	uint32_t *groups = calloc(model->n + 1, sizeof(*groups));
	struct function *sorted = malloc((model->n + 1) * sizeof(*sorted));
	const bool good = order && new_of && groups && sorted;

	for (size_t i = 0; i < model->n && good; i++)
		order[i] = (struct order){ &model->functions[i], (uint32_t)i };
	if (good && model->n)
		qsort(order, model->n, sizeof(*order), order_compare);
	for (size_t i = 0; i < model->n && good; i++) {
		const uint32_t old = order[i].old;

		new_of[old] = (uint32_t)i;
		sorted[i] = *order[i].function;
		sorted[i].parent = (uint32_t)i;
		groups[i] = old < n_symbols ? building->groups[old] : 0;
	}
	for (size_t i = 0; i < model->n_spans && good; i++)
		if (model->spans[i].function != FUNCTION_NONE)
			model->spans[i].function = new_of[model->spans[i].function];
	free(order);
	free(new_of);
	if (!good) {
		free(groups);
		free(sorted);
		return false;
	}
	free(model->functions);
	model->functions = sorted;
	model->capacity = model->n + 1;
	free(building->groups);
	building->groups = groups;
	return true;
}

bool function_model_build(struct function_model *model, struct symbol_table *symbols,
			  const struct fde_table *fdes)
{
	struct building building = { .model = model, .fdes = fdes };
	size_t n_symbols;
	bool good;

	memset(model, 0, sizeof(*model));
	good = functions_from_symbols(&building, symbols);
	n_symbols = model->n;
	if (good) {
		ends_settle(&building);
		good = symbols_sweep(&building) && spans_merge(&building) &&
		       functions_sort(&building, n_symbols) &&
		       function_model_link_pieces(model, building.groups);
	}
	free(building.groups);
	free(building.limits);
	free(building.spans);
	free(building.open);
	if (!good)
		function_model_release(model);
	return good;
}

void function_model_release(struct function_model *model)
{
	free(model->functions);
	free(model->spans);
	memset(model, 0, sizeof(*model));
}

uint32_t function_model_at(const struct function_model *model, uint64_t vaddr)
{
	size_t low = 0, high = model->n_spans;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (model->spans[middle].start <= vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? model->spans[low - 1].function : FUNCTION_NONE;
}
