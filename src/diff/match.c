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

/* "" for the module of the program that was launched, so that prog.old and prog.new are one. */
static const char *module_key(const struct report *report, const struct report_row *row)
{
	const char *module = row->module ? row->module : "[none]";

	if (report->n_command && !strcmp(base_name(report->command[0]), module))
		return "";
	return module;
}

static bool rows_match(const struct report *a, const struct report_row *of_a,
		       const struct report *b, const struct report_row *of_b)
{
	return of_a->name && of_b->name && !strcmp(of_a->name, of_b->name) &&
	       of_a->inlined == of_b->inlined && !strcmp(module_key(a, of_a), module_key(b, of_b));
}

static uint64_t row_hash(const struct report *report, const struct report_row *row)
{
	const char *module = module_key(report, row), *name = row->name ? row->name : "";

	return hash_combine(hash_bytes(name, strlen(name)), hash_bytes(module, strlen(module)));
}

/* The first row of A that matches and is not taken yet; keys that collide are told apart by counting up. */
static struct diff_row *partner_find(struct diff *diff, const struct keytable *index,
				     const struct report_row *of_b)
{
	uint64_t key = row_hash(diff->sides[1].report, of_b);
	uint32_t at;

	for (; (at = keytable_get(index, key)) != KEYTABLE_NONE; key++)
		if (!diff->rows[at].rows[1] &&
		    rows_match(diff->sides[0].report, diff->rows[at].rows[0], diff->sides[1].report,
			       of_b))
			return &diff->rows[at];
	return NULL;
}

static bool row_index(struct keytable *index, const struct report *report,
		      const struct report_row *row, uint32_t number)
{
	uint64_t key = row_hash(report, row);

	while (keytable_get(index, key) != KEYTABLE_NONE)
		key++;
	return keytable_set(index, key, number);
}

enum status diff_match(struct diff *diff, struct error *error)
{
	const struct report *a = diff->sides[0].report, *b = diff->sides[1].report;
	struct keytable index = { 0 };
	bool good = true;

	diff->rows = calloc(a->n_rows + b->n_rows + 1, sizeof(*diff->rows));
	good = diff->rows != NULL;
	for (size_t i = 0; i < a->n_rows && good; i++) {
		diff->rows[diff->n].rows[0] = &a->rows[i];
		good = row_index(&index, a, &a->rows[i], (uint32_t)diff->n++);
	}
	for (size_t i = 0; i < b->n_rows && good; i++) {
		struct diff_row *partner = partner_find(diff, &index, &b->rows[i]);

		if (!partner)
			partner = &diff->rows[diff->n++];
		partner->rows[1] = &b->rows[i];
	}
	keytable_release(&index);
	return good ? STATUS_OK
		    : error_set(error, STATUS_NO_MEMORY, "no memory to match %zu functions",
				a->n_rows + b->n_rows);
}
