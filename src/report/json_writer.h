/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Building JSON values, errors sticky, and what several documents have in common: findings.
 *
 * jansson frees what is given to a failed *_new call, so that nothing leaks, and a NULL object makes the
 * next set fail: one check at the end (json_finish) is enough.
 */
#ifndef ASSAY_REPORT_JSON_WRITER_H
#define ASSAY_REPORT_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "diagnose/finding.h"
#include "report/output.h"

struct json_writer {
	bool failed;
};

/* Values made by a writer; a failed allocation is kept in `failed` and found out once, at the end. The
 * containers take ownership of values. */
void json_set(struct json_writer *w, json_t *object, const char *key, json_t *value);
void json_append(struct json_writer *w, json_t *array, json_t *value);
json_t *json_object_of(struct json_writer *w);
json_t *json_array_of(struct json_writer *w);
/* null for NULL; bytes that are no UTF-8 become \xHH. */
json_t *json_text_of(struct json_writer *w, const char *value);
/* null for what is no number. */
json_t *json_real_of(struct json_writer *w, double value);
json_t *json_integer_of(struct json_writer *w, uint64_t value);
json_t *json_boolean_of(struct json_writer *w, bool value);
/* 64 bits are more than JSON numbers are safe for (53): a text of digits. */
json_t *json_digits_of(struct json_writer *w, uint64_t value);

json_t *json_findings(struct json_writer *w, const struct findings *findings);

/* Appends the document to `output`, and drops it. */
MUST_CHECK enum status json_finish(struct json_writer *w, json_t *document, struct output *output,
				   struct error *error);

#endif
