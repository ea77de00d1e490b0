/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff/json.h"

#include <math.h>

#include "diff/words.h"
#include "report/json_writer.h"

static json_t *side(struct json_writer *w, const struct report *report)
{
	json_t *object = json_object_of(w), *command = json_array_of(w);

	json_set(w, object, "bundle", json_text_of(w, report->bundle));
	for (size_t i = 0; i < report->n_command; i++)
		json_append(w, command, json_text_of(w, report->command[i]));
	json_set(w, object, "command", command);
	json_set(w, object, "samples", json_integer_of(w, report->totals.samples));
	json_set(w, object, "cpu_ns",
		 isfinite(report->totals.cpu_ns)
			 ? json_integer_of(w, (uint64_t)report->totals.cpu_ns)
			 : json_real_of(w, NAN));
	json_set(w, object, "epochs", json_integer_of(w, report->contract.epochs));
	json_set(w, object, "randomised", json_boolean_of(w, report->contract.randomised));
	json_set(w, object, "findings", json_findings(w, &report->findings));
	return object;
}

static json_t *row(struct json_writer *w, const struct diff_row *row)
{
	const struct report_row *any = row->rows[0] ? row->rows[0] : row->rows[1];
	json_t *object = json_object_of(w);

	json_set(w, object, "name", json_text_of(w, any->name));
	if (any->symbol)
		json_set(w, object, "symbol", json_text_of(w, any->symbol));
	json_set(w, object, "module", json_text_of(w, any->module));
	json_set(w, object, "a", json_real_of(w, row->share[0]));
	json_set(w, object, "b", json_real_of(w, row->share[1]));
	json_set(w, object, "delta", json_real_of(w, row->change.difference));
	json_set(w, object, "lo", json_real_of(w, row->change.lo));
	json_set(w, object, "hi", json_real_of(w, row->change.hi));
	json_set(w, object, "differs", json_boolean_of(w, row->change.differs));
	json_set(w, object, "bias", json_real_of(w, row->bias));
	if (!isfinite(row->bias))
		json_set(w, object, "why", json_text_of(w, "biased by an unknown amount"));
	json_set(w, object, "verdict", json_text_of(w, diff_verdict_name(row->verdict)));
	return object;
}

enum status diff_json(const struct diff *diff, struct output *output, struct error *error)
{
	struct json_writer writer = { false }, *w = &writer;
	json_t *root = json_object_of(w), *verdict = json_object_of(w), *rows = json_array_of(w);

	json_set(w, root, "schema", json_text_of(w, DIFF_JSON_SCHEMA));
	json_set(w, verdict, "state", json_text_of(w, diff_state_name(diff->state)));
	json_set(w, verdict, "text", json_text_of(w, diff->verdict));
	json_set(w, verdict, "within", json_real_of(w, diff->within));
	json_set(w, verdict, "bound", json_real_of(w, diff->bound));
	json_set(w, verdict, "tested", json_integer_of(w, diff->n_tested));
	json_set(w, verdict, "differing", json_integer_of(w, diff->n_differing));
	json_set(w, root, "verdict", verdict);
	json_set(w, root, "a", side(w, diff->sides[0].report));
	json_set(w, root, "b", side(w, diff->sides[1].report));
	json_set(w, root, "mismatches", json_findings(w, &diff->mismatches));
	for (size_t i = 0; i < diff->n; i++)
		json_append(w, rows, row(w, &diff->rows[i]));
	json_set(w, root, "functions", rows);
	return json_finish(w, root, output, error);
}
