/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a symbolizer consists of, for the files of this folder. */
#ifndef ASSAY_SYMBOLIZE_SYMBOLIZER_STATE_H
#define ASSAY_SYMBOLIZE_SYMBOLIZER_STATE_H

#include "base/strings.h"
#include "symbolize/module_state.h"

/* How many bytes of debug information are kept open at a time; one module alone may have more. */
#define SYMBOLIZER_DEBUG_BYTES (UINT64_C(512) << 20)

struct symbolizer {
	const struct sys *sys;
	struct symbolizer_options options; /* owns its strings */
	struct debug_search search;
	struct strings strings; /* every name and path that a frame shows */

	uint64_t debug_limit; /* SYMBOLIZER_DEBUG_BYTES, less in tests */
	uint64_t debug_bytes; /* of the modules that have theirs open */
	uint64_t debug_clock; /* counts uses, to find the one that was not used for longest */

	uint32_t *readable; /* by string: that of its demangled form, STRINGS_NONE: not made yet */
	size_t n_readable, readable_capacity;

	struct module **modules;
	size_t n_modules, modules_capacity;
	uint32_t *slots; /* open addressing by identity, index + 1 */
	size_t n_slots;
};

/* The module that stands for a loadable kernel module, "[nf_tables]"; NULL when memory is short. */
struct module *symbolizer_kernel_part(struct module *kernel, const char *name);

/* The string, interned; "" when memory is short. */
const char *symbolizer_string(struct symbolizer *symbolizer, const char *text);

/* The readable form of a symbol, interned. */
const char *symbolizer_name(struct symbolizer *symbolizer, const char *symbol);

#endif
