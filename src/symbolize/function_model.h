/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The function model: which function an address belongs to, when symbols and frame descriptions (FDEs)
 * are put together. Names are those of the symbol tables; demangling is the caller's.
 *
 * Rules, in this order:
 *   aliases	Symbols with one start are one function. Its name is that of the best symbol: sized before
 *		unsized, typed before a bare label, global and weak before local, fewer leading underscores,
 *		then the shorter name, then byte order. Its size is the largest of them.
 *   labels	A local, untyped, unsized symbol inside a sized function is a label of it, not a function.
 *   size 0	ends at the next symbol, at the end of the FDE or of the symbol that encloses it, or, in no
 *		FDE, where the next FDE or the section ends: whichever comes first.
 *   short	A symbol that starts with its FDE but ends before it (hand-written .size) reaches to the next
 *		symbol or the end of the FDE.
 *   nested	At each address the function with the highest start wins, so a smaller symbol wins inside a
 *		larger one, which goes on after it.
 *   FDEs	What symbols leave uncovered of an FDE is a function without a symbol. What neither covers
 *		belongs to no function: an address there has no name, never its neighbour's.
 */
#ifndef ASSAY_SYMBOLIZE_FUNCTION_MODEL_H
#define ASSAY_SYMBOLIZE_FUNCTION_MODEL_H

#include "symbolize/fde_table.h"
#include "symbolize/symbol_table.h"

#define FUNCTION_NONE UINT32_MAX

/* Addresses from `start` up to the next span belong to `function`. */
struct function_span {
	uint64_t start;
	uint32_t function; /* FUNCTION_NONE: a gap */
};

struct function_model {
	struct function *functions; /* sorted by start, then the longer one first */
	size_t n, capacity;
	struct function_span *spans; /* sorted, disjoint */
	size_t n_spans, spans_capacity;
};

/* Builds the model; reorders the table's symbols. False when memory was short. */
bool function_model_build(struct function_model *model, struct symbol_table *symbols,
			  const struct fde_table *fdes);
void function_model_release(struct function_model *model);

/* Index of the function at the address, or FUNCTION_NONE. */
uint32_t function_model_at(const struct function_model *model, uint64_t vaddr);

/* Orders symbols by start, and those of one start from the best name to the worst. */
int raw_symbol_compare(const void *a, const void *b);

/* Sets `parent` of split pieces: "f.cold", "f.cold.3", "f.part.0" belong to "f". A local name can stand
 * for several functions; then the one of the same source file is taken, or none. `groups` holds the
 * file group of each function. False when memory was short. */
bool function_model_link_pieces(struct function_model *model, const uint32_t *groups);

#endif
