/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From addresses to names. The symbolizer owns the modules and caches what it learns of them; it
 * knows nothing of samples. One handle is used by one thread.
 */
#ifndef ASSAY_SYMBOLIZE_SYMBOLIZER_H
#define ASSAY_SYMBOLIZE_SYMBOLIZER_H

#include "symbolize/module.h"

struct symbolizer;

struct symbolizer_options {
	bool debuginfod;           /* ask servers (opt-in: it sends build-ids away) */
	const char *symfs;         /* look for files below this directory first, NULL: none */
	const char *kallsyms_path; /* NULL: /proc/kallsyms */
	const char *vmlinux;       /* NULL: none */
	const char *map_dir;    /* perf-PID.map files: the bundle's maps/, then /tmp; NULL: /tmp */
	const char *debug_dir;  /* separate debug files, NULL: /usr/lib/debug */
	const char *perf_cache; /* perf's build-id cache (~/.debug), NULL: none */
	bool inlines;           /* expand inlined frames */
	bool demangle;
};

/* A symbolizer without modules; the options and their strings are copied, `sys` is borrowed. Fails only
 * for memory. */
MUST_CHECK enum status symbolizer_new(struct symbolizer **symbolizer, const struct sys *sys,
				      const struct symbolizer_options *options,
				      struct error *error);
void symbolizer_free(struct symbolizer *symbolizer);

/* The module for a mapped file. Never fails but for memory: an unusable file is a module with a
 * miss. Equal identities give the same module. Borrowed from the symbolizer. */
struct module *symbolizer_module(struct symbolizer *symbolizer,
				 const struct module_identity *identity);
struct module *symbolizer_kernel(struct symbolizer *symbolizer, const uint8_t *build_id,
				 size_t build_id_size, bool foreign);
/* Where the kernel's text was when it was recorded: `symbol` is "_text" or "_stext", as the MMAP record of
 * the kernel names it. Moves names to where they were then, and without it a kernel recorded elsewhere
 * cannot be named from the running one. To be said before the kernel's first frame. */
void symbolizer_kernel_anchor(struct module *kernel, const char *symbol, uint64_t address);
struct module *symbolizer_vdso(struct symbolizer *symbolizer, bool foreign);
/* Code that a runtime generated in process `pid`: perf-PID.map in the recording's own directory, below
 * symfs, or in /tmp. For a recording of another machine (`foreign`), /tmp is not looked into: its map of that
 * number is another process's. */
struct module *symbolizer_perf_map(struct symbolizer *symbolizer, uint32_t pid);
struct module *symbolizer_perf_map_of(struct symbolizer *symbolizer, uint32_t pid, bool foreign);

struct frame {
	struct module *module;
	const struct function *function; /* NULL: no function known */
	const char *name;   /* what to show: never NULL, "[unknown]" or module+0x... at worst */
	const char *symbol; /* raw name where it differs, else NULL */
	const char *file;   /* source file, NULL when unknown */
	uint32_t line;      /* 0 when unknown */
	bool inlined;       /* the frame was inlined into the next one */
	enum symbol_miss miss;
};

#define SYMBOLIZER_MAX_INLINES 64

/* The frames at one address of a module, innermost inlined one first; at least one, at most
 * `capacity` >= 1 (then the outermost is kept). Kernel and perf-map modules take the runtime address
 * as offset.value. `return_address`: the address follows a call, so that the line and inline chain
 * are those of the instruction before it. Strings are owned by the symbolizer. */
size_t symbolizer_frames(struct symbolizer *symbolizer, struct module *module,
			 struct file_offset offset, bool return_address, struct frame *frames,
			 size_t capacity);

#endif
