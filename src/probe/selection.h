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
 *	@file		one word a line; empty lines and # comments are passed over
 *
 * A demangled name matches with and without its parameter list.
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

enum selection_kind { SELECTION_FUNCTIONS, SELECTION_OFFSET, SELECTION_MARKS };

struct selection_word {
	char *text;   /* as given, for messages */
	char *module; /* glob, NULL: any */
	char *glob;   /* NULL: the regex */
	enum selection_kind kind;
	uint64_t offset; /* of a point behind its function's start */
	char *provider;  /* of marks, whose names `glob` means */
	regex_t regex;
	bool exclude;
	bool used; /* it matched something */
};

struct selection {
	struct selection_word *words;
	size_t n, capacity;
	bool has_include;
};

void selection_init(struct selection *selection);
void selection_release(struct selection *selection);

/* Adds a word. STATUS_USAGE for a bad regular expression, STATUS_NOT_FOUND for a missing file. */
MUST_CHECK enum status selection_add(struct selection *selection, const struct sys *sys,
				     const char *word, struct error *error);

/* True when no word could mean a function of this module. */
bool selection_skips_module(const struct selection *selection, const char *module);

/* True when a word that takes nothing away means this name (NULL: false). */
bool selection_means(const struct selection *selection, const char *module, const char *name);

/* True when the word means points behind the start of a function with one of the names. Marks the word. */
bool selection_means_offset(struct selection_word *word, const char *module,
			    const char *const *names, size_t n);

/* True when the word means a mark of this module. Marks the word. */
bool selection_means_mark(struct selection_word *word, const char *module, const char *provider,
			  const char *name);

/* True when one of the names is meant and none is taken away. Marks the words that matched. */
bool selection_matches(struct selection *selection, const char *module, const char *const *names,
		       size_t n);

#endif
