/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/match.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "profile/keytable.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* What the rows of both sides are matched by. */
struct matching {
	struct diff *diff;
	const char *programs
		[2]; /* names of the modules that are the program itself; NULL: unknown in one */
	struct keytable index;
};

static bool is_module(const struct report *report, const char *name)
{
	for (size_t i = 0; i < report->n_rows; i++)
		if (report->rows[i].module && !strcmp(report->rows[i].module, name))
			return true;
	return false;
}

/* The program that was launched. perf keeps its own command line: the program stands behind "--", or is the
 * first word after "record" that is a module of the recording (an option's value hardly is). */
static const char *program_name(const struct report *report)
{
	const size_t n = report->n_command;

	if (report->contract.from_manifest)
		return n ? base_name(report->command[0]) : NULL;
	for (size_t i = 1; i + 1 < n; i++)
		if (!strcmp(report->command[i], "--"))
			return base_name(report->command[i + 1]);
	for (size_t i = 2; i < n; i++)
		if (report->command[i][0] != '-' &&
		    is_module(report, base_name(report->command[i])))
			return base_name(report->command[i]);
	return NULL;
}

/* "" for the module of the program that was launched, so that prog.old and prog.new are one. */
static const char *module_key(const struct matching *matching, int side,
			      const struct report_row *row)
{
	const char *module = row->module ? row->module : "[none]";

	if (matching->programs[side] && !strcmp(matching->programs[side], module))
		return "";
	return module;
}

static bool rows_match(const struct matching *matching, const struct report_row *of_a,
		       const struct report_row *of_b)
{
	return of_a->name && of_b->name && !strcmp(of_a->name, of_b->name) &&
	       of_a->inlined == of_b->inlined &&
	       !strcmp(module_key(matching, 0, of_a), module_key(matching, 1, of_b));
}

static uint64_t row_hash(const struct matching *matching, int side, const struct report_row *row)
{
	const char *module = module_key(matching, side, row), *name = row->name ? row->name : "";

	return hash_combine(hash_bytes(name, strlen(name)), hash_bytes(module, strlen(module)));
}

/* The first row of A that matches and is not taken yet; keys that collide are told apart by counting up. */
static struct diff_row *partner_find(const struct matching *matching, const struct report_row *of_b)
{
	struct diff_row *rows = matching->diff->rows;
	uint64_t key = row_hash(matching, 1, of_b);
	uint32_t at;

	for (; (at = keytable_get(&matching->index, key)) != KEYTABLE_NONE; key++)
		if (!rows[at].rows[1] && rows_match(matching, rows[at].rows[0], of_b))
			return &rows[at];
	return NULL;
}

static bool row_index(struct matching *matching, const struct report_row *row, uint32_t number)
{
	uint64_t key = row_hash(matching, 0, row);

	while (keytable_get(&matching->index, key) != KEYTABLE_NONE)
		key++;
	return keytable_set(&matching->index, key, number);
}

enum status diff_match(struct diff *diff, struct error *error)
{
	const struct report *a = diff->sides[0].report, *b = diff->sides[1].report;
	struct matching matching = { .diff = diff,
				     .programs = { program_name(a), program_name(b) } };
	bool good = true;

	if (!matching.programs[0] || !matching.programs[1])
		matching.programs[0] = matching.programs[1] = NULL;
	diff->rows = calloc(a->n_rows + b->n_rows + 1, sizeof(*diff->rows));
	good = diff->rows != NULL;
	for (size_t i = 0; i < a->n_rows && good; i++) {
		diff->rows[diff->n].rows[0] = &a->rows[i];
		good = row_index(&matching, &a->rows[i], (uint32_t)diff->n++);
	}
	for (size_t i = 0; i < b->n_rows && good; i++) {
		struct diff_row *partner = partner_find(&matching, &b->rows[i]);

		if (!partner)
			partner = &diff->rows[diff->n++];
		partner->rows[1] = &b->rows[i];
	}
	keytable_release(&matching.index);
	return good ? STATUS_OK
		    : error_set(error, STATUS_NO_MEMORY, "no memory to match %zu functions",
				a->n_rows + b->n_rows);
}
