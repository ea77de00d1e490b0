/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "symbolize/kallsyms.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "symbolize/key_sort.h"

void kallsyms_init(struct kallsyms *kallsyms)
{
	memset(kallsyms, 0, sizeof(*kallsyms));
	kallsyms->n_modules = 1;
}

void kallsyms_release(struct kallsyms *kallsyms)
{
	free(kallsyms->entries);
	free(kallsyms->names);
	free(kallsyms->functions);
	kallsyms_init(kallsyms);
}

static bool name_keep(struct kallsyms *kallsyms, const char *text, size_t length, uint32_t *name)
{
	if (kallsyms->names_size + length >= UINT32_MAX ||
	    !array_reserve(&kallsyms->names, &kallsyms->names_capacity,
			   kallsyms->names_size + length + 1))
		return false;
	*name = (uint32_t)kallsyms->names_size;
	memcpy(kallsyms->names + kallsyms->names_size, text, length);
	kallsyms->names[kallsyms->names_size + length] = '\0';
	kallsyms->names_size += length + 1;
	return true;
}

/* Lines of one module follow each other, so the last module is looked at first. */
static bool module_find(struct kallsyms *kallsyms, const char *text, size_t length,
			uint16_t *module)
{
	for (uint32_t i = kallsyms->n_modules; i-- > 1;) {
		const char *known = kallsyms->names + kallsyms->modules[i];

		if (!strncmp(known, text, length) && !known[length]) {
			*module = (uint16_t)i;
			return true;
		}
	}
	*module = KALLSYMS_MAX_MODULES - 1;
	if (kallsyms->n_modules == KALLSYMS_MAX_MODULES)
		return true;
	*module = (uint16_t)kallsyms->n_modules;
	return name_keep(kallsyms, text, length, &kallsyms->modules[kallsyms->n_modules++]);
}

static bool ends_token(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

/* The next run of bytes that are no blanks; a line ends with a newline or NUL. */
static const char *token_take(const char **at, size_t *length)
{
	const char *start = *at, *end;

	while (*start == ' ' || *start == '\t')
		start++;
	for (end = start; !ends_token(*end);)
		end++;
	*at = end;
	*length = (size_t)(end - start);
	return start;
}

static bool address_parse(const char *text, size_t length, uint64_t *address)
{
	*address = 0;
	for (size_t i = 0; i < length; i++) {
		const char c = text[i];
		unsigned int digit;

		if (c >= '0' && c <= '9')
			digit = (unsigned int)(c - '0');
		else if ((c | 0x20) >= 'a' && (c | 0x20) <= 'f')
			digit = (unsigned int)((c | 0x20) - 'a') + 10;
		else
			return false;
		*address = *address << 4 | digit;
	}
	return length >= 1 && length <= 16;
}

/* Types as nm gives them: t, T local and global text, w, W weak. */
static bool is_code(char type)
{
	return (type | 0x20) == 't' || (type | 0x20) == 'w';
}

static bool line_take(struct kallsyms *kallsyms, const char *line)
{
	size_t address_length, type_length, name_length, module_length;
	const char *address = token_take(&line, &address_length);
	const char *type = token_take(&line, &type_length);
	const char *name = token_take(&line, &name_length);
	const char *module = token_take(&line, &module_length);
	struct kallsyms_entry entry = { 0 };

	if (!address_parse(address, address_length, &entry.address) || type_length != 1 ||
	    !name_length)
		return true;
	if (name_length == 5 && !memcmp(name, "_text", 5))
		kallsyms->text_start = entry.address;
	else if (name_length == 6 && !memcmp(name, "_stext", 6))
		kallsyms->stext_start = entry.address;
	entry.is_code = is_code(type[0]) && name[0] != '$';
	entry.is_local = type[0] >= 'a';
	if (kallsyms->n >= KALLSYMS_MAX_ENTRIES ||
	    (module_length && !module_find(kallsyms, module, module_length, &entry.module)) ||
	    (entry.is_code && !name_keep(kallsyms, name, name_length, &entry.name)) ||
	    !array_reserve(&kallsyms->entries, &kallsyms->capacity, kallsyms->n + 1))
		return false;
	kallsyms->entries[kallsyms->n++] = entry;
	return true;
}

/* Keeps the start of a line until its end comes. A line longer than the kernel's limits allow is no line
 * of the kernel. */
static void line_keep(struct kallsyms *kallsyms, const char *text, size_t length)
{
	if (kallsyms->line_used + length >= sizeof(kallsyms->line)) {
		kallsyms->line_too_long = true;
	} else {
		memcpy(kallsyms->line + kallsyms->line_used, text, length);
		kallsyms->line_used += length;
	}
}

static bool kept_line_take(struct kallsyms *kallsyms)
{
	const bool good = kallsyms->line_too_long;

	kallsyms->line[kallsyms->line_used] = '\0';
	kallsyms->line_used = 0;
	kallsyms->line_too_long = false;
	return good || line_take(kallsyms, kallsyms->line);
}

bool kallsyms_feed(struct kallsyms *kallsyms, const char *text, size_t size)
{
	const char *end = text + size;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		const size_t length = (size_t)((newline ? newline : end) - text);
		bool good = true;

		if (!newline || kallsyms->line_used || kallsyms->line_too_long ||
		    length >= sizeof(kallsyms->line))
			line_keep(kallsyms, text, length);
		if (!newline)
			break;
		/* Nearly all lines come whole and are read where they lie. */
		if (kallsyms->line_used || kallsyms->line_too_long)
			good = kept_line_take(kallsyms);
		else
			good = line_take(kallsyms, text);
		if (!good)
			return false;
		text = newline + 1;
	}
	return true;
}

static unsigned int leading_underscores(const char *name)
{
	unsigned int n = 0;

	while (name[n] == '_')
		n++;
	return n;
}

/* Whether `a` is the better name of the two, by the rule of function_model.h. */
static bool better(const struct kallsyms *kallsyms, const struct kallsyms_entry *a,
		   const struct kallsyms_entry *b)
{
	const char *a_name, *b_name;
	unsigned int a_lead, b_lead;

	if (!a->is_code || !b->is_code)
		return a->is_code && !b->is_code;
	if (a->is_local != b->is_local)
		return !a->is_local;
	a_name = kallsyms->names + a->name;
	b_name = kallsyms->names + b->name;
	a_lead = leading_underscores(a_name);
	b_lead = leading_underscores(b_name);
	if (a_lead != b_lead)
		return a_lead < b_lead;
	if (strlen(a_name) != strlen(b_name))
		return strlen(a_name) < strlen(b_name);
	return strcmp(a_name, b_name) < 0;
}

static bool entries_sort(struct kallsyms *kallsyms)
{
	struct sort_key *order = malloc((kallsyms->n + 1) * sizeof(*order));
	struct kallsyms_entry *sorted = malloc((kallsyms->n + 1) * sizeof(*sorted));
	bool good = order && sorted;

	for (size_t i = 0; i < kallsyms->n && good; i++)
		order[i] = (struct sort_key){ kallsyms->entries[i].address, (uint32_t)i };
	good = good && key_sort(order, kallsyms->n);
	for (size_t i = 0; i < kallsyms->n && good; i++)
		sorted[i] = kallsyms->entries[order[i].index];
	free(order);
	if (!good) {
		free(sorted);
		return false;
	}
	free(kallsyms->entries);
	kallsyms->entries = sorted;
	kallsyms->capacity = kallsyms->n + 1;
	return true;
}

/* Brings the best name of each address to the front of its group. */
static void best_first(struct kallsyms *kallsyms)
{
	struct kallsyms_entry *first = kallsyms->entries;

	for (size_t i = 1; i < kallsyms->n; i++) {
		struct kallsyms_entry *entry = &kallsyms->entries[i];

		if (entry->address != first->address) {
			first = entry;
		} else if (better(kallsyms, entry, first)) {
			const struct kallsyms_entry worse = *first;

			*first = *entry;
			*entry = worse;
		}
	}
}

bool kallsyms_finish(struct kallsyms *kallsyms)
{
	bool sorted = true;

	if (!kallsyms_feed(kallsyms, "\n", 1))
		return false;
	for (size_t i = 1; i < kallsyms->n && sorted; i++)
		sorted = kallsyms->entries[i - 1].address <= kallsyms->entries[i].address;
	if (!sorted && !entries_sort(kallsyms))
		return false;
	best_first(kallsyms);
	return true;
}

bool kallsyms_hidden(const struct kallsyms *kallsyms)
{
	return kallsyms->n && !kallsyms->entries[kallsyms->n - 1].address;
}

void kallsyms_shift(struct kallsyms *kallsyms, uint64_t shift)
{
	size_t n = 0;

	for (size_t i = 0; i < kallsyms->n; i++) {
		struct kallsyms_entry entry = kallsyms->entries[i];

		if (entry.module)
			continue;
		entry.address += shift;
		kallsyms->entries[n++] = entry;
	}
	kallsyms->n = n;
}

/* Index of the first entry above the address. */
static size_t above(const struct kallsyms *kallsyms, uint64_t address)
{
	size_t low = 0, high = kallsyms->n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (kallsyms->entries[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* `next` is the index of the first entry above. */
static uint64_t entry_end(const struct kallsyms *kallsyms, const struct kallsyms_entry *entry,
			  size_t next)
{
	const uint64_t page_end = (entry->address | 0xfff) + 1;
	const struct kallsyms_entry *after = next < kallsyms->n ? &kallsyms->entries[next] : NULL;

	if (!after || after->address - entry->address > KALLSYMS_MAX_FUNCTION ||
	    (after->module != entry->module && after->address > page_end))
		return page_end;
	return after->address;
}

/* Sets the parent of "f.cold": the only function called "f". */
static void piece_link(struct kallsyms *kallsyms, uint32_t index)
{
	const char *name = kallsyms->functions[index].symbol, *suffix = strrchr(name, '.');
	const size_t length = suffix && !strcmp(suffix, ".cold") ? (size_t)(suffix - name) : 0;
	uint32_t whole = KALLSYMS_NONE;

	for (size_t i = 0; length && i < kallsyms->n; i++) {
		const char *other;

		if (!kallsyms->entries[i].is_code)
			continue;
		other = kallsyms->names + kallsyms->entries[i].name;
		if (strncmp(other, name, length) || other[length])
			continue;
		if (whole != KALLSYMS_NONE)
			return;
		whole = (uint32_t)i;
	}
	if (whole != KALLSYMS_NONE)
		kallsyms->functions[index].parent = whole;
}

static bool function_fill(struct kallsyms *kallsyms, uint32_t index, size_t next)
{
	const struct kallsyms_entry *entry = &kallsyms->entries[index];
	struct function *function;

	/* Pages of this array that no function is in stay untouched. */
	if (!kallsyms->functions)
		kallsyms->functions = calloc(kallsyms->n + 1, sizeof(*kallsyms->functions));
	if (!kallsyms->functions || !kallsyms->names)
		return false;
	function = &kallsyms->functions[index];
	if (function->symbol)
		return true;
	*function = (struct function){
		.start = { entry->address },
		.end = { entry_end(kallsyms, entry, next) },
		.symbol = kallsyms->names + entry->name,
		.parent = index,
		.from_symbol = true,
		.global = !entry->is_local,
	};
	for (size_t i = index + 1; i < next; i++)
		function->n_aliases += kallsyms->entries[i].is_code;
	piece_link(kallsyms, index);
	return true;
}

struct function *kallsyms_function(struct kallsyms *kallsyms, uint32_t index)
{
	if (index >= kallsyms->n ||
	    !function_fill(kallsyms, index, above(kallsyms, kallsyms->entries[index].address)))
		return NULL;
	return &kallsyms->functions[index];
}

struct function *kallsyms_function_at(struct kallsyms *kallsyms, uint64_t address,
				      const char **module)
{
	const size_t next = above(kallsyms, address);
	const struct kallsyms_entry *entry;
	size_t index = next;

	if (!next)
		return NULL;
	while (index && kallsyms->entries[index - 1].address == kallsyms->entries[next - 1].address)
		index--;
	entry = &kallsyms->entries[index];
	if (!entry->is_code || !entry->address || address >= entry_end(kallsyms, entry, next) ||
	    !function_fill(kallsyms, (uint32_t)index, next))
		return NULL;
	*module = entry->module ? kallsyms->names + kallsyms->modules[entry->module] : NULL;
	return &kallsyms->functions[index];
}
