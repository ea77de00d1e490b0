/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions of a module: symbolize's model, with ranges cut where nested functions begin, and the names
 * at each start. Functions that are refused by name are found here.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "code/module_state.h"
#include "symbolize/cfi_row.h"
#include "symbolize/function_model.h"
#include "symbolize/key_sort.h"
#include "symbolize/plt.h"

#define CFA_IS_SP_X86_64  7u /* DWARF numbers of the stack pointers */
#define CFA_IS_SP_AARCH64 31u

/* Functions that return twice, start or end a thread's life, or are entered with special registers. A '*' at the end
 * stands for anything. glibc, musl, libgcc, and compilers' thunks. */
static const char *const special[] = {
	"setjmp",
	"_setjmp",
	"__setjmp",
	"sigsetjmp",
	"__sigsetjmp",
	"getcontext",
	"__getcontext",
	"vfork",
	"__vfork",
	"__libc_vfork",
	"_start",
	"__start",
	"__restore",
	"__restore_rt",
	"__morestack*",
	"__tls_get_addr*",
	"___tls_get_addr*",
	"__tls_get_offset",
	"_dl_tlsdesc_*",
	"__tlsdesc_*",
	"_dl_runtime_resolve*",
	"_dl_runtime_profile*",
	"_dl_start",
	"_dl_start_user",
	"_dlstart",
	"__start_context",
	"__x86_indirect_*",
	"__x86_return_thunk*",
	"__llvm_retpoline_*",
	"__fentry__",
	"mcount",
	"_mcount",
};

static bool is_special(const char *name)
{
	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++) {
		const size_t length = strlen(special[i]);

		if (special[i][length - 1] == '*' ? !strncmp(name, special[i], length - 1)
						  : !strcmp(name, special[i]))
			return true;
	}
	return false;
}

static bool names_order(struct code_module *module)
{
	const size_t n = module->symbols.n;
	struct sort_key *keys = malloc((n + 1) * sizeof(*keys));

	module->symbol_order = malloc((n + 1) * sizeof(*module->symbol_order));
	if (!keys || !module->symbol_order) {
		free(keys);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		keys[i] = (struct sort_key){ module->symbols.symbols[i].start, (uint32_t)i };
	if (!key_sort(keys, n)) {
		free(keys);
		return false;
	}
	for (size_t i = 0; i < n; i++)
		module->symbol_order[i] = keys[i].index;
	free(keys);
	return true;
}

static const struct raw_symbol *ordered(const struct code_module *module, size_t i)
{
	return &module->symbols.symbols[module->symbol_order[i]];
}

static size_t first_symbol_at(const struct code_module *module, uint64_t vaddr)
{
	size_t low = 0, high = module->symbols.n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (ordered(module, middle)->start < vaddr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t code_module_names_at(const struct code_module *module, uint64_t vaddr, const char **names,
			    size_t capacity)
{
	size_t n = 0;

	for (size_t i = first_symbol_at(module, vaddr);
	     i < module->symbols.n && ordered(module, i)->start == vaddr && n < capacity; i++) {
		const char *name = ordered(module, i)->name;
		bool known = false;

		for (size_t j = 0; j < n && !known; j++)
			known = !strcmp(names[j], name);
		if (!known)
			names[n++] = name;
	}
	return n;
}

/* Any of the names: a function may be called by another one than its best. */
static bool has_special_name(const struct code_module *module, uint64_t start)
{
	for (size_t i = first_symbol_at(module, start);
	     i < module->symbols.n && ordered(module, i)->start == start; i++)
		if (is_special(ordered(module, i)->name))
			return true;
	return false;
}

static bool functions_take(struct code_module *module, const struct function *functions, size_t n)
{
	if (n >= CODE_MODULE_MAX_FUNCTIONS)
		return false;
	module->functions = calloc(n + 1, sizeof(*module->functions));
	if (!module->functions)
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct function *from = &functions[i];

		module->functions[i] = (struct code_function){
			.range = { from->start.value, from->end.value },
			.symbol = from->symbol,
			.n_aliases = from->n_aliases,
			.owner = (uint32_t)i,
			.stub = from->stub,
			.ifunc = from->ifunc,
			.from_fde = from->from_fde,
			.exported = from->global,
		};
		/* As in the model: the highest start wins, frame information is below all symbols. */
		if (!interval_map_add(&module->map,
				      (struct interval){ from->start.value, from->end.value,
							 from->from_fde ? 0 : from->start.value + 1,
							 (uint32_t)i }))
			return false;
	}
	module->n_functions = n;
	return interval_map_build(&module->map);
}

static int piece_compare(const void *a, const void *b)
{
	const struct code_piece *x = a, *y = b;

	if (x->owner != y->owner)
		return x->owner < y->owner ? -1 : 1;
	return x->range.start < y->range.start ? -1 : x->range.start > y->range.start;
}

/* A function's own range is its first span; what goes on behind a nested function is a piece. One whose start is
 * somebody else's is what is left of an FDE, and no function that can be entered. */
static bool ranges_cut(struct code_module *module)
{
	const struct interval_map *map = &module->map;

	for (size_t i = 0; i < module->n_functions; i++)
		if (code_module_function_at(module, module->functions[i].range.start) != i)
			module->functions[i].refusal = CODE_NOT_A_START;
	for (size_t i = 0; i + 1 < map->n_spans; i++) {
		const struct code_range range = { map->spans[i].start, map->spans[i + 1].start };
		const uint32_t owner = map->spans[i].value;
		struct code_function *function;

		if (owner == INTERVAL_NONE)
			continue;
		function = &module->functions[owner];
		if (range.start == function->range.start) {
			function->range.end = range.end;
		} else {
			if (!array_reserve(&module->pieces, &module->pieces_capacity,
					   module->n_pieces + 1))
				return false;
			module->pieces[module->n_pieces++] = (struct code_piece){ owner, range };
		}
	}
	if (module->n_pieces)
		qsort(module->pieces, module->n_pieces, sizeof(*module->pieces), piece_compare);
	return true;
}

static bool functions_build(struct code_module *module, const struct code_module_options *options)
{
	struct function_model model;
	bool good;

	if (options && options->functions)
		return functions_take(module, options->functions, options->n_functions);
	if (!function_model_build(&model, &module->symbols, &module->fdes))
		return false;
	good = functions_take(module, model.functions, model.n);
	function_model_release(&model);
	return good;
}

void code_functions_read(struct code_module *module, const struct code_module_options *options)
{
	size_t n;

	if (!symbol_table_read(&module->symbols, &module->file, SHT_SYMTAB, &n) ||
	    !symbol_table_read(&module->symbols, &module->file, SHT_DYNSYM, &n) ||
	    !plt_read(&module->symbols, &module->file) ||
	    !fde_table_read(&module->fdes, &module->file, NULL) || !names_order(module) ||
	    !functions_build(module, options) || !ranges_cut(module)) {
		module->no_memory = true;
		return;
	}
	for (size_t i = 0; i < module->n_functions; i++) {
		struct code_function *function = &module->functions[i];

		if (module->moving_stack)
			function->refusal = CODE_MOVING_STACK;
		else if (function->stub)
			function->refusal = CODE_STUB;
		else if (has_special_name(module, function->range.start))
			function->refusal = CODE_SPECIAL;
		else if (!code_text_at(module, function->range.start))
			function->refusal = CODE_NO_CODE;
	}
}

bool code_module_enters_fresh(const struct code_module *module, uint64_t vaddr)
{
	const struct fde_range *range = fde_table_at(&module->fdes, vaddr);
	const bool x86 = module->file.machine == EM_X86_64;
	struct cfi_row row;

	if (!range)
		return true;
	if (!cfi_row_at(&row, &module->file, &module->fdes, range, vaddr))
		return false;
	return row.cfa.kind == CFI_CFA_PLUS && !row.is_signal &&
	       row.cfa_register == (x86 ? CFA_IS_SP_X86_64 : CFA_IS_SP_AARCH64) &&
	       row.cfa.offset == (x86 ? 8 : 0);
}
