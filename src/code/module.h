/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of all code of one ELF object before anything in it is patched: its functions, and
 * every address that control can come to without falling through.
 *
 * Functions are the model of src/symbolize: symtab, dynsym and .eh_frame together. Pieces that compilers split
 * off (.cold, with or without a name) are found by how they are reached: a piece without a name of its own
 * that is only jumped to, from one function, is a part of that function.
 *
 * Targets are: direct jumps and calls of the whole object, addresses behind calls, entries of
 * jump tables, landing pads of exceptions, endbr64 and bti, and addresses inside functions that data
 * (relocations; in programs that are linked to a fixed address, words) or code (lea, adr, immediates) holds.
 *
 * Immutable once opened, so that plans may be made in any order. One handle is used by one thread.
 */
#ifndef ASSAY_CODE_MODULE_H
#define ASSAY_CODE_MODULE_H

#include "base/sys.h"
#include "code/insn.h"
#include "code/notes.h"
#include "code/refusal.h"
#include "symbolize/module.h"

#define CODE_MODULE_MAX_TEXT      (UINT64_C(1) << 30)
#define CODE_MODULE_MAX_FUNCTIONS (1u << 24)
#define CODE_FUNCTION_MAX_BYTES   (UINT64_C(4) << 20)
#define CODE_FUNCTION_MAX_PARTS   64u

struct code_module;

struct code_range {
	uint64_t start, end; /* [start, end) */
};

/* One function of the model, in the order of start. */
struct code_function {
	struct code_range range; /* without its parts */
	const char *symbol;      /* raw name, NULL when it has none; owned by the module */
	uint32_t n_aliases;      /* other symbols at the same start */
	uint32_t owner;          /* of a part: index of its function; else the own index */
	uint8_t refusal;         /* enum code_refusal that holds whatever the patches, or 0 */
	bool stub;               /* of the procedure linkage table */
	bool ifunc;              /* a resolver: the function it picks is another one */
	bool from_fde;           /* its bounds come from frame information alone */
	bool exported;           /* other objects may enter it */
	bool names_inside;       /* its code computes an address inside itself */
	bool unknown_jump;       /* an indirect jump may lead anywhere inside it */
};

struct code_module_options {
	/* The function model to use, as module_functions() gives it (names of a separate debug file
	 * included); its names are borrowed. NULL: made from the object alone. */
	const struct function *functions;
	size_t n_functions;
};

/* Analyses an ELF file or image (borrowed for the life of the module). `options` may be NULL. A wrong kind of
 * object is STATUS_UNSUPPORTED (other machine, 32-bit, big-endian), a broken one STATUS_CORRUPT. */
MUST_CHECK enum status code_module_open(struct code_module **module, const struct sys *sys,
					const char *path, const struct code_module_options *options,
					struct error *error);
MUST_CHECK enum status code_module_open_image(struct code_module **module, const void *image,
					      size_t size,
					      const struct code_module_options *options,
					      struct error *error);
void code_module_close(struct code_module *module);

/* EM_X86_64 or EM_AARCH64. */
uint16_t code_module_machine(const struct code_module *module);

/* All functions, in the order of start. */
const struct code_function *code_module_functions(const struct code_module *module, size_t *n);

/* Index of the function whose own range holds the address; of nested ones the innermost, as in
 * symbolize. UINT32_MAX when there is none. */
uint32_t code_module_function_at(const struct code_module *module, uint64_t vaddr);

/* The names of all symbols at the address: the alias set of a function, the best first. Returns how
 * many were written, at most `capacity`. Owned by the module. */
size_t code_module_names_at(const struct code_module *module, uint64_t vaddr, const char **names,
			    size_t capacity);

/* The parts of a function: its own range first. Returns how many were written, at most `capacity`. */
size_t code_module_ranges(const struct code_module *module, uint32_t function,
			  struct code_range *ranges, size_t capacity);

/* The `size` bytes of code at the address as the file has them, NULL when it has fewer. Borrowed. */
const uint8_t *code_module_bytes(const struct code_module *module, uint64_t vaddr, uint64_t size);

/* The words of data that hold the address once the module is loaded: pointers to a function; of an indirect one, to what
 * its resolver picked. Returns how many were written, at most `capacity`. */
size_t code_module_places_of(const struct code_module *module, uint64_t vaddr, uint64_t *places,
			     size_t capacity);

/* Calls `each` for the marks of the file (notes.h) until it returns false. */
void code_module_notes(const struct code_module *module,
		       bool (*each)(void *data, const struct code_note *note), void *data);

/* True when control may come to the address other than by falling through. */
bool code_module_is_target(const struct code_module *module, uint64_t vaddr);

#endif
