/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "bundle/manifest_fields.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/manifest.h"
#include "bundle/manifest_text.h"

static const char *const schedule_names[] = { "fixed", "prime", "freq", "jitter", "exp", "mixed" };
static const char *const redraw_names[] = { "none", "block", "sample" };
static const char *const scope_names[] = { "system", "cgroup", "cpu", "thread", "inherit" };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define NAME_OF(names, value) \
	((size_t)(value) < COUNT(names) ? (names)[(size_t)(value)] : "unknown")

const char *schedule_kind_name(enum schedule_kind kind)
{
	return NAME_OF(schedule_names, kind);
}

const char *redraw_kind_name(enum redraw_kind kind)
{
	return NAME_OF(redraw_names, kind);
}

const char *clock_scope_name(enum clock_scope scope)
{
	return NAME_OF(scope_names, scope);
}

/* Enumerations as wide as unsigned int, which is what gcc and clang give them. */
_Static_assert(sizeof(enum schedule_kind) == sizeof(unsigned int), "enum");
_Static_assert(sizeof(enum redraw_kind) == sizeof(unsigned int), "enum");
_Static_assert(sizeof(enum clock_scope) == sizeof(unsigned int), "enum");

static const char *const *names_of(enum field_type type, size_t *n)
{
	switch (type) {
	case FIELD_SCHEDULE: *n = COUNT(schedule_names); return schedule_names;
	case FIELD_REDRAW: *n = COUNT(redraw_names); return redraw_names;
	case FIELD_SCOPE: *n = COUNT(scope_names); return scope_names;
	default: *n = 0; return NULL;
	}
}

json_t *json_of_u64(uint64_t value)
{
	char text[24];

	if (value <= INT64_MAX)
		return json_integer((json_int_t)value);
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return json_string(text);
}

bool json_to_u64(const json_t *value, uint64_t *number)
{
	const char *text;
	char *end;

	if (json_is_integer(value)) {
		if (json_integer_value(value) < 0)
			return false;
		*number = (uint64_t)json_integer_value(value);
		return true;
	}
	text = json_string_value(value);
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*number = strtoull(text, &end, 10);
	return !errno && !*end;
}

static json_t *json_of_double(double value)
{
	if (isnan(value))
		return json_string("nan");
	if (isinf(value))
		return json_string(value > 0 ? "inf" : "-inf");
	return json_real(value);
}

static bool json_to_double(const json_t *value, double *number)
{
	const char *text;

	if (json_is_number(value)) {
		*number = json_number_value(value);
		return true;
	}
	text = json_string_value(value);
	if (!text)
		return false;
	if (!strcmp(text, "nan"))
		*number = NAN;
	else if (!strcmp(text, "inf"))
		*number = INFINITY;
	else if (!strcmp(text, "-inf"))
		*number = -INFINITY;
	else
		return false;
	return true;
}

static json_t *json_of_text(const char *text)
{
	char *utf8;
	json_t *value;

	if (!text)
		return json_null();
	utf8 = manifest_text_encode(text);
	value = utf8 ? json_string_nocheck(utf8) : NULL;
	free(utf8);
	return value;
}

static size_t field_size(enum field_type type)
{
	switch (type) {
	case FIELD_U64:
	case FIELD_I64: return sizeof(uint64_t);
	case FIELD_DOUBLE: return sizeof(double);
	case FIELD_BOOL: return sizeof(bool);
	case FIELD_TEXT: return sizeof(char *);
	case FIELD_U32: return sizeof(uint32_t);
	default: return sizeof(int);
	}
}

static bool field_is_zero(const struct field *field, const char *at)
{
	for (size_t i = 0; i < field_size(field->type); i++)
		if (at[i])
			return false;
	return true;
}

#define LOAD(type, at)                                 \
	({                                             \
		type loaded_;                          \
		memcpy(&loaded_, at, sizeof(loaded_)); \
		loaded_;                               \
	})

static json_t *field_encode(const struct field *field, const char *at)
{
	size_t n;

	switch (field->type) {
	case FIELD_U64: return json_of_u64(LOAD(uint64_t, at));
	case FIELD_U32: return json_integer(LOAD(uint32_t, at));
	case FIELD_I64: return json_integer(LOAD(int64_t, at));
	case FIELD_INT: return json_integer(LOAD(int, at));
	case FIELD_DOUBLE: return json_of_double(LOAD(double, at));
	case FIELD_BOOL: return json_boolean(LOAD(bool, at));
	case FIELD_TEXT: return json_of_text(LOAD(const char *, at));
	default: {
		const char *const *names = names_of(field->type, &n);
		const unsigned int value = LOAD(unsigned int, at);

		return value < n ? json_string(names[value]) : json_integer(value);
	}
	}
}

json_t *fields_encode(const struct field_table *table, const void *structure)
{
	json_t *object = json_object();

	for (const struct field *field = table->fields; object && field->name; field++) {
		const char *at = (const char *)structure + field->offset;

		if (field->sparse && field_is_zero(field, at))
			continue;
		if (json_object_set_new_nocheck(object, field->name, field_encode(field, at))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static bool number_decode(const struct field *field, const json_t *value, char *at)
{
	const json_int_t integer = json_integer_value(value);

	switch (field->type) {
	case FIELD_U32:
		if (!json_is_integer(value) || integer < 0 || integer > UINT32_MAX)
			return false;
		memcpy(at, &(uint32_t){ (uint32_t)integer }, sizeof(uint32_t));
		return true;
	case FIELD_I64:
		memcpy(at, &(int64_t){ integer }, sizeof(int64_t));
		return json_is_integer(value);
	default:
		if (!json_is_integer(value) || integer < INT_MIN || integer > INT_MAX)
			return false;
		memcpy(at, &(int){ (int)integer }, sizeof(int));
		return true;
	}
}

/* False: the wrong kind. *no_memory tells the other failure apart. */
static bool text_decode(const json_t *value, char *at, bool *no_memory)
{
	char *text;

	if (json_is_null(value))
		return true;
	if (!json_is_string(value))
		return false;
	text = manifest_text_decode(json_string_value(value));
	*no_memory = !text;
	free(LOAD(char *, at));
	memcpy(at, &text, sizeof(text));
	return text;
}

static bool name_decode(const struct field *field, const json_t *value, char *at)
{
	const char *text = json_string_value(value);
	size_t n;
	const char *const *names = names_of(field->type, &n);

	for (unsigned int i = 0; text && i < n; i++)
		if (!strcmp(text, names[i])) {
			memcpy(at, &i, sizeof(i));
			return true;
		}
	return false;
}

static bool field_decode(const struct field *field, const json_t *value, char *at, bool *no_memory)
{
	uint64_t number;
	double real;

	switch (field->type) {
	case FIELD_U64:
		if (!json_to_u64(value, &number))
			return false;
		memcpy(at, &number, sizeof(number));
		return true;
	case FIELD_DOUBLE:
		if (!json_to_double(value, &real))
			return false;
		memcpy(at, &real, sizeof(real));
		return true;
	case FIELD_BOOL:
		memcpy(at, &(bool){ json_is_true(value) }, sizeof(bool));
		return json_is_boolean(value);
	case FIELD_TEXT: return text_decode(value, at, no_memory);
	case FIELD_SCHEDULE:
	case FIELD_REDRAW:
	case FIELD_SCOPE: return name_decode(field, value, at);
	default: return number_decode(field, value, at);
	}
}

enum status fields_decode_one(const struct field_table *table, const struct field *field,
			      const json_t *value, void *structure, uint64_t at,
			      struct error *error)
{
	bool no_memory = false;

	if (field_decode(field, value, (char *)structure + field->offset, &no_memory))
		return STATUS_OK;
	if (no_memory)
		return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
	return error_set_corrupt(error, at, "manifest: \"%s\" of a %s has a value that cannot be",
				 field->name, table->of);
}

enum status fields_decode(const struct field_table *table, const json_t *object, void *structure,
			  uint64_t at, struct error *error)
{
	if (!json_is_object(object))
		return error_set_corrupt(error, at, "manifest: a %s is no JSON object", table->of);
	for (const struct field *field = table->fields; field->name; field++) {
		const json_t *value = json_object_get(object, field->name);
		enum status status = STATUS_OK;

		if (value)
			status = fields_decode_one(table, field, value, structure, at, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

void fields_release(const struct field_table *table, void *structure)
{
	for (const struct field *field = table->fields; field->name; field++) {
		char *at = (char *)structure + field->offset, *none = NULL;

		if (field->type != FIELD_TEXT)
			continue;
		free(LOAD(char *, at));
		memcpy(at, &none, sizeof(none));
	}
}
