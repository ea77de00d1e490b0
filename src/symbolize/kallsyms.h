/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The text of /proc/kallsyms: "address type name [module]" a line, in hexadecimal, without sizes.
 *
 * A function ends where the next symbol starts. The last one of a module, which has no next symbol of
 * its own, ends with its page: what lies behind it may be anything.
 *
 * A kernel has a hundred thousand symbols of which a profile meets some dozens, so only addresses and
 * names are kept; functions are filled in one by one when they are asked for.
 */
#ifndef ASSAY_SYMBOLIZE_KALLSYMS_H
#define ASSAY_SYMBOLIZE_KALLSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolize/module.h"

#define KALLSYMS_MAX_BYTES    (UINT64_C(1) << 30)
#define KALLSYMS_MAX_LINE     1024u
#define KALLSYMS_MAX_ENTRIES  (1u << 24)
#define KALLSYMS_MAX_FUNCTION (UINT64_C(1) << 20) /* no longer than this to the next symbol */
#define KALLSYMS_MAX_MODULES  4096u
#define KALLSYMS_NONE         UINT32_MAX

struct kallsyms_entry {
	uint64_t address;
	uint32_t name;    /* offset into names */
	uint16_t module;  /* index into modules */
	uint8_t is_code;  /* else only a bound */
	uint8_t is_local; /* lower-case type */
};

struct kallsyms {
	struct kallsyms_entry
		*entries; /* sorted by address; those of one address from best to worst */
	size_t n, capacity;
	char *names;
	size_t names_size, names_capacity;
	uint32_t modules
		[KALLSYMS_MAX_MODULES]; /* names, "[nf_tables]"; index 0 is the kernel itself */
	uint32_t n_modules;
	uint64_t text_start, stext_start; /* addresses of _text and _stext, 0 where there is none */
	struct function *functions;   /* by entry, filled when asked for (symbol NULL: not yet) */
	char line[KALLSYMS_MAX_LINE]; /* a line of which the end has not come yet */
	size_t line_used;
	bool line_too_long;
};

void kallsyms_init(struct kallsyms *kallsyms);
void kallsyms_release(struct kallsyms *kallsyms);

/* Takes the next piece of the text, which may be cut anywhere. False when memory was short or there are
 * too many symbols. */
bool kallsyms_feed(struct kallsyms *kallsyms, const char *text, size_t size);

/* After the last piece: sorts. False when memory was short. */
bool kallsyms_finish(struct kallsyms *kallsyms);

/* True when there are symbols, but all at address 0: kernel.kptr_restrict. */
bool kallsyms_hidden(const struct kallsyms *kallsyms);

/* Moves the symbols of the kernel itself and drops those of modules: where they were in another boot,
 * nothing tells. */
void kallsyms_shift(struct kallsyms *kallsyms, uint64_t shift);

/* The function with this index, as `parent` names it. */
struct function *kallsyms_function(struct kallsyms *kallsyms, uint32_t index);

/* The function at the address, and the module it belongs to (NULL for the kernel itself). NULL when no
 * function is there. */
struct function *kallsyms_function_at(struct kallsyms *kallsyms, uint64_t address,
				      const char **module);

#endif
