/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "report/json_writer.h"

#include <math.h>
#include <stdlib.h>

#include "report/escape.h"

/* Digits of a share or a second: more would be noise, and fewer keep two reports' bytes equal. */
#define PRECISION 9

static json_t *keep(struct json_writer *w, json_t *value)
{
	if (!value)
		w->failed = true;
	return value;
}

void json_set(struct json_writer *w, json_t *object, const char *key, json_t *value)
{
	if (json_object_set_new(object, key, value))
		w->failed = true;
}

void json_append(struct json_writer *w, json_t *array, json_t *value)
{
	if (json_array_append_new(array, value))
		w->failed = true;
}

json_t *json_object_of(struct json_writer *w)
{
	return keep(w, json_object());
}

json_t *json_array_of(struct json_writer *w)
{
	return keep(w, json_array());
}

json_t *json_text_of(struct json_writer *w, const char *value)
{
	struct output clean;
	json_t *string;

	if (!value)
		return keep(w, json_null());
	output_init(&clean);
	escape_invalid_utf8(&clean, value);
	if (clean.no_memory)
		w->failed = true;
	string = keep(w, json_string(clean.text ? clean.text : ""));
	output_release(&clean);
	return string;
}

json_t *json_real_of(struct json_writer *w, double value)
{
	return keep(w, isfinite(value) ? json_real(value) : json_null());
}

json_t *json_integer_of(struct json_writer *w, uint64_t value)
{
	return keep(w, json_integer((json_int_t)value));
}

json_t *json_boolean_of(struct json_writer *w, bool value)
{
	return keep(w, json_boolean(value));
}

json_t *json_digits_of(struct json_writer *w, uint64_t value)
{
	struct output digits;
	json_t *string;

	output_init(&digits);
	output_format(&digits, "%llu", (unsigned long long)value);
	string = json_text_of(w, digits.text);
	output_release(&digits);
	return string;
}

static json_t *finding_functions(struct json_writer *w, const struct finding *finding)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < finding->n_functions; i++) {
		json_t *function = json_object_of(w);

		json_set(w, function, "name", json_text_of(w, finding->functions[i].name));
		json_set(w, function, "module", json_text_of(w, finding->functions[i].module));
		json_set(w, function, "bias_hi", json_real_of(w, finding->functions[i].error_hi));
		json_append(w, array, function);
	}
	return array;
}

static json_t *finding_evidence(struct json_writer *w, const struct finding *finding)
{
	json_t *object = json_object_of(w);

	for (size_t i = 0; i < finding->n_evidence; i++) {
		const struct finding_evidence *evidence = &finding->evidence[i];

		json_set(w, object, evidence->key,
			 evidence->text ? json_text_of(w, evidence->text)
					: json_real_of(w, evidence->number));
	}
	return object;
}

json_t *json_findings(struct json_writer *w, const struct findings *findings)
{
	json_t *array = json_array_of(w);

	for (size_t i = 0; i < findings->n; i++) {
		const struct finding *finding = &findings->items[i];
		json_t *object = json_object_of(w);

		json_set(w, object, "code", json_text_of(w, finding->code));
		json_set(w, object, "severity",
			 json_text_of(w, finding_severity_name(finding->severity)));
		json_set(w, object, "text", json_text_of(w, finding->text));
		json_set(w, object, "functions", finding_functions(w, finding));
		json_set(w, object, "every_function", json_boolean_of(w, finding->every_function));
		/* true: of another clock's shares, the ones of this recording are not touched */
		json_set(w, object, "elsewhere", json_boolean_of(w, finding->elsewhere));
		json_set(w, object, "bias_hi", json_real_of(w, finding->error_hi));
		json_set(w, object, "evidence", finding_evidence(w, finding));
		json_set(w, object, "next", json_text_of(w, finding->next));
		json_append(w, array, object);
	}
	return array;
}

enum status json_finish(struct json_writer *w, json_t *document, struct output *output,
			struct error *error)
{
	char *text =
		w->failed ? NULL
			  : json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(PRECISION));

	json_decref(document);
	if (!text)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the JSON");
	output_add(output, text);
	output_add(output, "\n");
	free(text);
	return output_check(output, error);
}
