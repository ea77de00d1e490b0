/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which functions the user means: the words of -f.
 *
 *	glob		shell pattern over names, raw or demangled; (*, ?, [...])
 *	/regex/		POSIX extended regular expression, found anywhere in a name
 *	module!glob	the same, in modules whose name matches the glob before the !
 *	!word		takes away what the word means
 *	function+N	a point: the instruction N bytes behind the start of each function that the glob means
 *	provider:name	points: the marks (USDT notes) that the two globs mean
 *	file:line	points: where that line of the source begins; file: a path, or the end of one behind a /, or a glob
 *	@file		one word a line; empty lines and what follows a # are passed over
 *
 * A demangled name matches with and without its parameter list. Two such words with .. between are a region of the
 * program, from where the first is passed to where the second is; there a function stands for its start.
 */
#ifndef ASSAY_PROBE_SELECTION_H
#define ASSAY_PROBE_SELECTION_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "base/sys.h"

#define SELECTION_MAX_WORDS      100000u
#define SELECTION_MAX_FILE_BYTES (16u << 20)
#define SELECTION_MAX_REGIONS    64u

enum selection_kind { SELECTION_FUNCTIONS, SELECTION_OFFSET, SELECTION_MARKS, SELECTION_LINE };

enum selection_role {
	SELECTION_PROBED, /* functions are probed, points counted */
	SELECTION_BEGIN,  /* where a region begins */
	SELECTION_END,    /* and ends */
};

struct selection_word {
	char *text;   /* as given, for messages */
	char *module; /* glob, NULL: any */
	char *glob;   /* NULL: the regex */
	enum selection_kind kind;
	enum selection_role role;
	uint32_t region; /* whose end it is */
	uint64_t offset; /* of a point behind its function's start */
	uint32_t line;   /* of the source file that `glob` means */
	char *provider;  /* of marks, whose names `glob` means */
	regex_t regex;
	bool exclude;
	bool used; /* it matched something */
};

struct selection {
	struct selection_word *words;
	size_t n, capacity;
	char *regions[SELECTION_MAX_REGIONS]; /* as given */
	uint32_t n_regions;
	bool has_include;
};

void selection_init(struct selection *selection);
void selection_release(struct selection *selection);

/* Adds a word. STATUS_USAGE for a bad regular expression, STATUS_NOT_FOUND for a missing file. */
MUST_CHECK enum status selection_add(struct selection *selection, const struct sys *sys,
				     const char *word, struct error *error);

/* Adds a region "A..B": two words. STATUS_USAGE when it is none. */
MUST_CHECK enum status selection_add_region(struct selection *selection, const char *text,
					    struct error *error);

/* True when no word could mean a function of this module. */
bool selection_skips_module(const struct selection *selection, const char *module);

/* True when what the word means may be in this module. */
bool selection_is_of_module(const struct selection_word *word, const char *module);

/* True when a word that takes nothing away means this name (NULL: false). */
bool selection_means(const struct selection *selection, const char *module, const char *name);

/* True when the word means points behind the start of a function with one of the names. Marks the word. */
bool selection_means_offset(struct selection_word *word, const char *module,
			    const char *const *names, size_t n);

/* True when the word, an end of a region, means a function with one of the names. Marks the word. */
bool selection_means_end(struct selection_word *word, const char *module, const char *const *names,
			 size_t n);

/* True when the word means lines of this source file, in this module. */
bool selection_means_file(const struct selection_word *word, const char *module, const char *file);

/* True when the word means lines, and some of this module perhaps. */
bool selection_means_lines(const struct selection_word *word, const char *module);

/* True when the word means a mark of this module. Marks the word. */
bool selection_means_mark(struct selection_word *word, const char *module, const char *provider,
			  const char *name);

/* True when one of the names is meant and none is taken away. Marks the words that matched. */
bool selection_matches(struct selection *selection, const char *module, const char *const *names,
		       size_t n);

#endif
