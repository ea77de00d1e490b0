/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the code of a source line begins: the line table read backwards.
 *
 * A place is a row that is marked as the beginning of a statement and does not go on with the line of the row before
 * it. A line has one place in each function and in each inlined copy of one that holds code of it: the lowest. Those
 * further up are pieces of the same statement (a loop's increment, what the scheduler moved on), or copies that the
 * optimiser made inside one function. It is what gdb's `break FILE:LINE` takes, without stepping over prologues.
 */
#ifndef ASSAY_SYMBOLIZE_DEBUG_LINES_H
#define ASSAY_SYMBOLIZE_DEBUG_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct debug_info;
struct module;

#define DEBUG_LINES_MAX_PLACES 4096u

struct debug_place {
	uint64_t address;
	/* whose code it is: a function, or one inlined call inside it */
	const void *function;
	uint32_t call;
	const char *file; /* of the symbolizer */
};

/* A question and its answer; zeroed but for the first four. Release it. */
struct debug_lines {
	bool (*means)(void *data, const char *file); /* is this the file that is asked for? */
	void *data;
	uint32_t line;
	bool lines_only; /* no places: only which lines have code */
	struct debug_place *places;
	size_t n, capacity;
	bool has_code;         /* the line has */
	const char *file;      /* one that was meant, NULL: none has code here */
	uint32_t below, above; /* nearest other lines that have code, 0: none */
};

/* Adds what is known of a module; false, with *known unset, when there is no debug information of it, or with *known set
 * when memory was short or there are too many places. */
bool module_lines_find(struct module *module, struct debug_lines *lines, bool *known);

/* Adds what this debug information knows. False when memory was short or there are too many places. */
bool debug_lines_find(struct debug_info *info, struct debug_lines *lines);
void debug_lines_release(struct debug_lines *lines);

#endif
