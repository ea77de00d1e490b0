/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /tmp/perf-PID.map: names that a runtime (JIT) writes for the code it generated. One line a function:
 *
 *	START SIZE NAME		start and size in hexadecimal, with or without 0x; the name goes to the
 *				end of the line and may hold blanks
 *
 * Rules. A line that is not of this form is skipped. Where entries overlap, the smaller one wins, and of
 * equal ranges the later line, since runtimes append when they compile a function anew at its old place.
 * An entry of size 0 reaches to the next start, within the entry around it, at most one page.
 *
 * A map says nothing about the file it came from, so who may have written it matters: only regular files
 * that belong to root, to us or to the process itself are read.
 */
#ifndef ASSAY_SYMBOLIZE_PERF_MAP_H
#define ASSAY_SYMBOLIZE_PERF_MAP_H

#include "symbolize/function_model.h"

#define PERF_MAP_MAX_BYTES   (UINT64_C(256) << 20)
#define PERF_MAP_MAX_NAME    4096u
#define PERF_MAP_MAX_ENTRIES (1u << 24)

/* Builds a model from the map's text (`size` bytes and a NUL), which is cut into names and must live as
 * long as the model. False when memory was short. */
bool perf_map_parse(char *text, size_t size, struct function_model *model);

/* Reads DIRECTORY/perf-PID.map. SYMBOL_OK with *text to free, SYMBOL_ANONYMOUS when there is none,
 * SYMBOL_FILE_UNREADABLE when it cannot be read or its owner is not to be trusted. With `trusted` (a
 * recording's own directory) the owner is not looked at. */
enum symbol_miss perf_map_read(const struct sys *sys, const char *directory, uint32_t pid,
			       bool trusted, char **text, size_t *size);

#endif
