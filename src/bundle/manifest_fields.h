/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Structs as JSON objects by tables of fields, one table for both directions, so that what is written
 * is what is read.
 *
 * Numbers: unsigned ones above INT64_MAX are written as decimal strings (JSON readers differ there),
 * doubles with 17 digits (exact), not finite ones as "inf", "-inf", "nan". Fields that are zero or
 * NULL may be left out (`sparse`); a missing field reads as zero.
 */
#ifndef ASSAY_BUNDLE_MANIFEST_FIELDS_H
#define ASSAY_BUNDLE_MANIFEST_FIELDS_H

#include <jansson.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

enum field_type {
	FIELD_U64,
	FIELD_U32,
	FIELD_I64,
	FIELD_INT,
	FIELD_DOUBLE,
	FIELD_BOOL,
	FIELD_TEXT, /* char *, allocated, any byte but NUL */
	FIELD_SCHEDULE,
	FIELD_REDRAW,
	FIELD_SCOPE,
};

struct field {
	const char *name; /* NULL ends a table */
	enum field_type type;
	size_t offset;
	bool sparse;
};

struct field_table {
	const char *of; /* for messages: "epoch", "clock" ... */
	const struct field *fields;
};

extern const struct field_table manifest_head_fields, manifest_machine_fields,
	manifest_event_fields, manifest_clock_fields, manifest_epoch_fields,
	manifest_epoch_clock_fields, manifest_incident_fields, manifest_object_fields,
	manifest_end_fields;

/* A new object, NULL when memory is short. */
json_t *fields_encode(const struct field_table *table, const void *structure);

/* Fills the fields of a zeroed structure; unknown keys are ignored. A value of the wrong kind or out of
 * range is STATUS_CORRUPT, and the texts read so far stay in the structure for its release. `at` is
 * where the object begins in the document. */
MUST_CHECK enum status fields_decode(const struct field_table *table, const json_t *object,
				     void *structure, uint64_t at, struct error *error);

MUST_CHECK enum status fields_decode_one(const struct field_table *table, const struct field *field,
					 const json_t *value, void *structure, uint64_t at,
					 struct error *error);

/*
 * The same from text, for objects of which a document has thousands: numbers are read in place, a
 * value of any other kind by the JSON parser. The object stands at text[start..end), where scan_value
 * found it whole. A member that is no field of the table is given to `other`, with its value's place.
 */
struct fields_text {
	const char *text;
	locale_t c_locale; /* numbers have a point, wherever the user lives */
	enum status (*other)(void *context, const char *name, size_t name_size, size_t start,
			     size_t end, struct error *error);
	void *context;
};

/* The same from text. */
MUST_CHECK enum status fields_scan(const struct field_table *table, const struct fields_text *in,
				   size_t start, size_t end, void *structure, struct error *error);

/* Frees the texts. */
void fields_release(const struct field_table *table, void *structure);

/* An unsigned number as JSON, and back; false when it is none. */
json_t *json_of_u64(uint64_t value);
bool json_to_u64(const json_t *value, uint64_t *number);

#endif
