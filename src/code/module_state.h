/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a module consists of, for the files of this folder, and the steps that make it:
 *
 *	functions	the model: who owns which address
 *	sweep		every instruction once: boundaries, direct targets, jumps between functions
 *	data		addresses that data holds: relocations, words, restartable sequences
 *	landings	landing pads of exceptions
 *	sleds		room that compilers left for patches
 *	tables		jump tables: their targets, and which indirect jumps are fully known
 *	parts		which functions are parts of others; what is refused whatever the patches
 */
#ifndef ASSAY_CODE_MODULE_STATE_H
#define ASSAY_CODE_MODULE_STATE_H

#include "code/module.h"
#include "code/sleds.h"
#include "symbolize/fde_table.h"
#include "symbolize/interval_map.h"
#include "symbolize/symbol_table.h"

#define CODE_NO_FUNCTION   UINT32_MAX
#define CODE_MAX_TEXTS     4096u
#define CODE_SLED_SECTIONS 3u

/* Facts per byte of a text, as bits. */
enum code_mark {
	CODE_MARK_BOUNDARY, /* an instruction starts here */
	CODE_MARK_DIRECT,   /* target of a direct jump, branch or call */
	CODE_MARK_HARD,     /* control may come here in another way; inside functions only */
	CODE_MARK_CALLED,   /* target of a direct call */
	CODE_MARK_TAKEN,    /* data or code holds this address */
	CODE_N_MARKS
};

/* One executable section. */
struct code_text {
	uint64_t start, end;
	const uint8_t *bytes;
	uint64_t *marks[CODE_N_MARKS];
};

/* A jump, table entry or landing that leaves its function. */
struct code_edge {
	uint64_t target, source;
	uint32_t from; /* function of the source, CODE_NO_FUNCTION: code outside of functions */
};

/* A further range of a function: behind a nested one, or a part. */
struct code_piece {
	uint32_t owner;
	struct code_range range;
};

enum code_indirect_kind {
	CODE_INDIRECT_OPEN,    /* anywhere, but inside its function only at marked targets */
	CODE_INDIRECT_TABLE,   /* to the entries of a decoded jump table, all inside its function */
	CODE_INDIRECT_POINTER, /* open, to an address that was loaded, passed or returned as it is */
};

struct code_indirect {
	uint64_t address;
	uint32_t function;
	uint8_t kind; /* enum code_indirect_kind */
};

/* An address that code computes and that is not code: jump tables start at some. */
struct code_data_ref {
	uint64_t source, target;
};

/* A word of data that holds an address of code once the module is loaded. */
struct code_pointer {
	uint64_t place, value;
};

struct code_module {
	struct elf_file file;
	bool fixed; /* linked to a fixed address: data holds plain addresses */
	bool moving_stack;

	struct symbol_table symbols;
	uint32_t *symbol_order; /* by start */
	struct fde_table fdes;
	struct interval_map map; /* address -> function */

	struct code_function *functions;
	size_t n_functions;
	struct code_text *texts; /* sorted, disjoint */
	size_t n_texts;

	struct code_edge *edges; /* sorted by target once swept */
	size_t n_edges, edges_capacity;
	struct code_piece *pieces; /* sorted by owner, then start */
	size_t n_pieces, pieces_capacity;
	struct code_indirect *indirects; /* sorted by address */
	size_t n_indirects, indirects_capacity;
	struct code_data_ref *data_refs; /* by source */
	size_t n_data_refs, data_refs_capacity;
	uint64_t *ref_targets;         /* the same, targets only, sorted */
	struct code_pointer *pointers; /* by place; relocated ones only */
	size_t n_pointers, pointers_capacity;
	struct code_range sled_sections[CODE_SLED_SECTIONS];
	struct code_sled *sleds; /* by address */
	size_t n_sleds, sleds_capacity;
	bool no_memory;
};

/* The text that holds the address, NULL when none does. */
struct code_text *code_text_at(const struct code_module *module, uint64_t vaddr);

static inline bool code_text_has(const struct code_text *text, enum code_mark mark, uint64_t vaddr)
{
	const uint64_t bit = vaddr - text->start;

	return text->marks[mark][bit / 64] >> bit % 64 & 1;
}

static inline void code_text_set(struct code_text *text, enum code_mark mark, uint64_t vaddr)
{
	const uint64_t bit = vaddr - text->start;

	text->marks[mark][bit / 64] |= UINT64_C(1) << bit % 64;
}

/* The same for any address; false outside of texts. */
bool code_module_marked(const struct code_module *module, enum code_mark mark, uint64_t vaddr);
void code_module_mark(struct code_module *module, enum code_mark mark, uint64_t vaddr);

/* Whether any address in [start, end) carries the mark. */
bool code_module_any_marked(const struct code_module *module, enum code_mark mark, uint64_t start,
			    uint64_t end);

/* Notes that data or code holds the address: taken at a start, else a target. */
void code_module_take(struct code_module *module, uint64_t vaddr);

/* Notes that control goes from `source` to `target` otherwise than by a direct jump. */
void code_module_lead(struct code_module *module, uint64_t source, uint32_t from, uint64_t target);

void code_module_add_edge(struct code_module *module, struct code_edge edge);

/* True when frame information says that the address is entered as functions are: the return address
 * on top of the stack (x86-64), the stack pointer as the caller had it (AArch64). Also true where there is
 * no frame information. */
bool code_module_enters_fresh(const struct code_module *module, uint64_t vaddr);

/* How the indirect jump at the address was classified; open when it was not seen. */
enum code_indirect_kind code_module_indirect(const struct code_module *module, uint64_t vaddr);

/* The first edge whose target is at or above the address. */
size_t code_module_edge_at(const struct code_module *module, uint64_t vaddr);

/* The address of code that the word at `place` will hold, 0 when it will hold none. */
uint64_t code_module_pointer(const struct code_module *module, uint64_t place);

/* True when the word at this place says where a sled is. */
bool code_is_sled_word(const struct code_module *module, uint64_t place);

/* The steps. Memory that is short sets no_memory. */
void code_functions_read(struct code_module *module, const struct code_module_options *options);
void code_sweep(struct code_module *module);
void code_data_read(struct code_module *module);
void code_sled_sections_find(struct code_module *module); /* before the data is read */
void code_sleds_read(struct code_module *module);
void code_landings_read(struct code_module *module);
void code_tables_read(struct code_module *module);
void code_tables_read_aarch64(struct code_module *module);
void code_parts_find(struct code_module *module);

#endif
