/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Fields straight from text. The JSON parser takes 22 us for an epoch of three clocks, most of it in
 * allocations and keys; an hour has 18000 of them. Numbers are all but everything in them.
 */
#include <stdlib.h>
#include <string.h>

#include "bundle/manifest_fields.h"
#include "bundle/manifest_scan.h"

/* Up to 18 digits, which no type of field overflows but u32 and int. */
static bool digits_read(const char *text, size_t size, uint64_t *number)
{
	if (!size || size > 18 || (*text == '0' && size > 1))
		return false;
	*number = 0;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		*number = *number * 10 + (uint64_t)(text[i] - '0');
	}
	return true;
}

/* Digits, point, sign and exponent only: strtod would take "0x1p3" and "-inf", too. */
static bool is_decimal(const char *text, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((text[i] < '0' || text[i] > '9') && text[i] != '-' && text[i] != '+' &&
		    text[i] != '.' && text[i] != 'e' && text[i] != 'E')
			return false;
	return size > 0;
}

/* True when the value was a plain number and is stored; otherwise the JSON parser decides. */
static bool number_read(const struct field *field, const struct fields_text *in, size_t start,
			size_t end, char *at)
{
	const char *text = in->text + start;
	uint64_t number;
	double real;
	char *stop;

	switch (field->type) {
	case FIELD_U64:
		if (!digits_read(text, end - start, &number))
			return false;
		memcpy(at, &number, sizeof(number));
		return true;
	case FIELD_DOUBLE:
		if (!is_decimal(text, end - start))
			return false;
		/* something that is no number follows within the object, so strtod stops there */
		real = strtod_l(text, &stop, in->c_locale);
		if (stop != in->text + end)
			return false;
		memcpy(at, &real, sizeof(real));
		return true;
	default: return false;
	}
}

static enum status member_scan(const struct field_table *table, const struct field *field,
			       const struct fields_text *in, size_t start, size_t end,
			       void *structure, struct error *error)
{
	json_error_t why;
	json_t *value;
	enum status status;

	if (number_read(field, in, start, end, (char *)structure + field->offset))
		return STATUS_OK;
	value = json_loadb(in->text + start, end - start, JSON_DECODE_ANY, &why);
	if (!value)
		return error_set_corrupt(error, start, "manifest: %s", why.text);
	status = fields_decode_one(table, field, value, structure, start, error);
	json_decref(value);
	return status;
}

/* Members come in the order of the table, so the search begins behind the one found last. */
static const struct field *field_find(const struct field_table *table, const struct field *from,
				      const char *name, size_t size)
{
	const struct field *field = from;

	do {
		if (!field->name) {
			field = table->fields;
			continue;
		}
		if (!strncmp(field->name, name, size) && !field->name[size])
			return field;
		field++;
	} while (field != from);
	return NULL;
}

enum status fields_scan(const struct field_table *table, const struct fields_text *in, size_t start,
			size_t end, void *structure, struct error *error)
{
	struct scan scan = { in->text, end, start };
	const struct field *next = table->fields;
	enum scan_result found = scan_expect(&scan, '{');
	enum status status = STATUS_OK;

	while (found == SCAN_OK && status == STATUS_OK && scan_peek(&scan) != '}') {
		const struct field *field;
		size_t name, name_end, value, value_end;

		found = scan_value(&scan, &name, &name_end);
		if (found == SCAN_OK && in->text[name] != '"')
			found = SCAN_WRONG;
		if (found == SCAN_OK)
			found = scan_expect(&scan, ':');
		if (found == SCAN_OK)
			found = scan_value(&scan, &value, &value_end);
		if (found != SCAN_OK)
			break;
		field = field_find(table, next, in->text + name + 1, name_end - name - 2);
		if (field) {
			next = field + 1;
			status = member_scan(table, field, in, value, value_end, structure, error);
		} else if (in->other) {
			status = in->other(in->context, in->text + name + 1, name_end - name - 2,
					   value, value_end, error);
		}
		if (scan_peek(&scan) != '}')
			found = scan_expect(&scan, ',');
	}
	if (found != SCAN_OK)
		return error_set_corrupt(error, scan.at, "manifest: a %s is no JSON object",
					 table->of);
	return status;
}
