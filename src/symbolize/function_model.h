/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The function model: which function an address belongs to, when symbols and frame descriptions (FDEs)
 * are put together. Names are those of the symbol tables; demangling is the caller's.
 *
 * Rules, in this order:
 *   aliases	Symbols with one start are one function. Its name is that of the best symbol: sized before
 *		unsized, typed before a bare label, global and weak before local, fewer leading underscores,
 *		global before weak, then the shorter name, then byte order. Its size is the largest.
 *   labels	A local, untyped, unsized symbol inside a sized function is a label of it, not a function.
 *   size 0	ends at the next symbol, at the end of the FDE or of the symbol that encloses it, or, in no
 *		FDE, where the next FDE or the section ends: whichever comes first.
 *   short	A symbol that starts with its FDE but ends before it (hand-written .size) reaches to the next
 *		symbol or the end of the FDE.
 *   nested	At each address the function with the highest start wins, so a smaller symbol wins inside a
 *		larger one, which goes on after it.
 *   FDEs	What symbols leave uncovered of an FDE is a function without a symbol. What neither covers
 *		belongs to no function: an address there has no name, never its neighbour's.
 *   pieces	"f.cold", "f.cold.3" and "f.part.0" belong to "f". A local name can stand for several
 *		functions; then the one of the same source file is meant, or none.
 */
#ifndef ASSAY_SYMBOLIZE_FUNCTION_MODEL_H
#define ASSAY_SYMBOLIZE_FUNCTION_MODEL_H

#include "symbolize/fde_table.h"
#include "symbolize/interval_map.h"
#include "symbolize/symbol_table.h"

#define FUNCTION_NONE INTERVAL_NONE

struct function_model {
	struct function *functions; /* sorted by start, then the longer one first */
	uint32_t *groups; /* by function: STT_FILE group of its symbol, 0: none; may be NULL */
	size_t n;
	struct interval_map map; /* address -> index into functions */
	/* Functions by name, made when the first piece looks for its whole. */
	uint32_t *name_slots; /* open addressing, index + 1 of the first function of a name */
	uint32_t *namesakes;  /* by function: index + 1 of the next one of the same name */
	size_t name_mask;
};

/* Builds the model. False when memory was short. */
bool function_model_build(struct function_model *model, const struct symbol_table *symbols,
			  const struct fde_table *fdes);
void function_model_release(struct function_model *model);

/* Index of the function at the address, or FUNCTION_NONE. */
uint32_t function_model_at(const struct function_model *model, uint64_t vaddr);

/* Orders the symbols of one start from the best name to the worst. */
int raw_symbol_compare(const void *a, const void *b);

/* The function that this one is a piece of; itself when it is none or its whole is not known. */
uint32_t function_model_whole(struct function_model *model, uint32_t index);

#endif
