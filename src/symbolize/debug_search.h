/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the files of a module are looked for, and the proof that a file found is the right one.
 *
 * The rule that everything here serves: no name from the wrong file. A build-id on both sides decides.
 * Without one, a debug link's checksum does, or the identity that the recording kept of the mapped file.
 */
#ifndef ASSAY_SYMBOLIZE_DEBUG_SEARCH_H
#define ASSAY_SYMBOLIZE_DEBUG_SEARCH_H

#include "symbolize/elf_file.h"

#define DEBUG_SEARCH_MAX_PATH 8192u

typedef struct debuginfod_client debuginfod_client;

struct debug_search {
	const struct sys *sys;
	const char *symfs;      /* looked below first, NULL: none */
	const char *debug_dir;  /* /usr/lib/debug */
	const char *perf_cache; /* ~/.debug, NULL: none */
	bool debuginfod;        /* ask servers */
	debuginfod_client *client;
};

void debug_search_release(struct debug_search *search);

/* Opens the object that was mapped. On a miss the most telling reason of all places tried is given.
 * *unverified: the recording kept nothing that could prove the file right, nor wrong. */
enum symbol_miss debug_search_object(struct debug_search *search,
				     const struct module_identity *identity, struct elf_file *file,
				     bool *unverified);

/* Opens the separate debug file of an object: by build-id, by debug link, then from a server. False
 * when there is none. */
bool debug_search_debug(struct debug_search *search, const struct elf_file *file,
			struct elf_file *debug);

#endif
