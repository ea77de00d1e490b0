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

#define FIELD(structure, member, type)                                   \
	{                                                                \
#member, type, offsetof(struct structure, member), false \
	}
#define SPARSE(structure, member, type)                                 \
	{                                                               \
#member, type, offsetof(struct structure, member), true \
	}
#define TABLE(table, text, ...)                                                       \
	const struct field_table table = { text, (const struct field[]){ __VA_ARGS__, \
									 { .name = NULL } } }

TABLE(manifest_head_fields, "head", FIELD(manifest, assay_version, FIELD_TEXT),
      FIELD(manifest, start_ns, FIELD_U64), FIELD(manifest, start_realtime_ns, FIELD_U64),
      FIELD(manifest, seed, FIELD_U64), FIELD(manifest, schedule, FIELD_SCHEDULE),
      FIELD(manifest, redraw, FIELD_REDRAW), FIELD(manifest, scope, FIELD_SCOPE),
      SPARSE(manifest, scope_why, FIELD_TEXT), FIELD(manifest, budget, FIELD_DOUBLE),
      FIELD(manifest, sample_cost_ns, FIELD_DOUBLE), FIELD(manifest, redraw_cost_ns, FIELD_DOUBLE),
      FIELD(manifest, min_period_ns, FIELD_U64), FIELD(manifest, rate_hz, FIELD_DOUBLE),
      SPARSE(manifest, rate_why, FIELD_TEXT), FIELD(manifest, callchains, FIELD_BOOL),
      FIELD(manifest, kernel, FIELD_BOOL), SPARSE(manifest, call_graph, FIELD_TEXT),
      FIELD(manifest, epoch_nominal_ns, FIELD_U64));

TABLE(manifest_machine_fields, "machine", SPARSE(manifest_machine, hostname, FIELD_TEXT),
      SPARSE(manifest_machine, kernel, FIELD_TEXT), SPARSE(manifest_machine, arch, FIELD_TEXT),
      SPARSE(manifest_machine, cpu_model, FIELD_TEXT),
      SPARSE(manifest_machine, governor, FIELD_TEXT),
      SPARSE(manifest_machine, clocksource, FIELD_TEXT),
      SPARSE(manifest_machine, hypervisor, FIELD_TEXT),
      FIELD(manifest_machine, temperature_millidegree, FIELD_I64),
      FIELD(manifest_machine, cpus_online, FIELD_U32),
      FIELD(manifest_machine, cpus_configured, FIELD_U32),
      FIELD(manifest_machine, page_size, FIELD_U64), FIELD(manifest_machine, memory_kib, FIELD_U64),
      FIELD(manifest_machine, perf_event_paranoid, FIELD_I64),
      FIELD(manifest_machine, max_sample_rate, FIELD_I64),
      FIELD(manifest_machine, cpu_time_max_percent, FIELD_I64),
      FIELD(manifest_machine, mlock_kb, FIELD_I64), FIELD(manifest_machine, max_stack, FIELD_I64),
      SPARSE(manifest_machine, boot_id, FIELD_TEXT));

TABLE(manifest_event_fields, "event", SPARSE(manifest_event, asked, FIELD_TEXT),
      SPARSE(manifest_event, granted, FIELD_TEXT), SPARSE(manifest_event, why, FIELD_TEXT),
      SPARSE(manifest_event, unit, FIELD_TEXT), FIELD(manifest_event, precise_ip, FIELD_INT));

TABLE(manifest_clock_fields, "clock", FIELD(manifest_clock, kind, FIELD_SCHEDULE),
      FIELD(manifest_clock, redraw, FIELD_REDRAW), FIELD(manifest_clock, block, FIELD_U32),
      FIELD(manifest_clock, randomised, FIELD_BOOL), FIELD(manifest_clock, event, FIELD_U32),
      FIELD(manifest_clock, mean_period, FIELD_DOUBLE), FIELD(manifest_clock, low, FIELD_DOUBLE),
      FIELD(manifest_clock, high, FIELD_DOUBLE), FIELD(manifest_clock, target_hz, FIELD_DOUBLE));

TABLE(manifest_epoch_fields, "epoch", FIELD(manifest_epoch, index, FIELD_U64),
      FIELD(manifest_epoch, seed, FIELD_U64), FIELD(manifest_epoch, start_ns, FIELD_U64),
      FIELD(manifest_epoch, end_ns, FIELD_U64), FIELD(manifest_epoch, data_bytes, FIELD_U64),
      SPARSE(manifest_epoch, target_cpu_ns, FIELD_U64),
      SPARSE(manifest_epoch, collector_cpu_ns, FIELD_U64),
      SPARSE(manifest_epoch, budget, FIELD_DOUBLE), SPARSE(manifest_epoch, achieved, FIELD_DOUBLE),
      SPARSE(manifest_epoch, late_ns, FIELD_U64));

TABLE(manifest_epoch_clock_fields, "epoch's clock",
      FIELD(manifest_epoch_clock, mean_period, FIELD_DOUBLE),
      FIELD(manifest_epoch_clock, samples, FIELD_U64),
      SPARSE(manifest_epoch_clock, lost, FIELD_U64),
      SPARSE(manifest_epoch_clock, redraws, FIELD_U64),
      SPARSE(manifest_epoch_clock, throttled, FIELD_U64),
      SPARSE(manifest_epoch_clock, throttled_ns, FIELD_U64),
      SPARSE(manifest_epoch_clock, retuned, FIELD_U64),
      SPARSE(manifest_epoch_clock, intervals, FIELD_U64),
      SPARSE(manifest_epoch_clock, realised_mean, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_sd, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_min, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, realised_max, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, intended_mean, FIELD_DOUBLE),
      SPARSE(manifest_epoch_clock, intended_sd, FIELD_DOUBLE));

TABLE(manifest_incident_fields, "incident", FIELD(manifest_incident, code, FIELD_TEXT),
      FIELD(manifest_incident, start_ns, FIELD_U64), FIELD(manifest_incident, end_ns, FIELD_U64),
      FIELD(manifest_incident, amount, FIELD_DOUBLE), SPARSE(manifest_incident, unit, FIELD_TEXT),
      SPARSE(manifest_incident, text, FIELD_TEXT));

TABLE(manifest_object_fields, "object", FIELD(manifest_object, path, FIELD_TEXT),
      SPARSE(manifest_object, device, FIELD_U64), SPARSE(manifest_object, inode, FIELD_U64),
      SPARSE(manifest_object, size, FIELD_U64), SPARSE(manifest_object, mtime_ns, FIELD_U64),
      SPARSE(manifest_object, build_id, FIELD_TEXT), SPARSE(manifest_object, copy, FIELD_TEXT),
      SPARSE(manifest_object, missing, FIELD_TEXT));

TABLE(manifest_end_fields, "end", SPARSE(manifest_end, reason, FIELD_TEXT),
      FIELD(manifest_end, end_ns, FIELD_U64), FIELD(manifest_end, target_exited, FIELD_BOOL),
      FIELD(manifest_end, exit_code, FIELD_INT), FIELD(manifest_end, signal, FIELD_INT),
      FIELD(manifest_end, target_cpu_ns, FIELD_U64),
      FIELD(manifest_end, collector_cpu_ns, FIELD_U64), FIELD(manifest_end, samples, FIELD_U64),
      FIELD(manifest_end, lost, FIELD_U64), FIELD(manifest_end, achieved, FIELD_DOUBLE),
      FIELD(manifest_end, tasks_seen, FIELD_U64), FIELD(manifest_end, tasks_unsampled, FIELD_U64),
      FIELD(manifest_end, unsampled_cpu_ns, FIELD_U64),
      FIELD(manifest_end, period_weights, FIELD_INT));

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

enum status fields_decode(const struct field_table *table, const json_t *object, void *structure,
			  uint64_t at, struct error *error)
{
	if (!json_is_object(object))
		return error_set_corrupt(error, at, "manifest: a %s is no JSON object", table->of);
	for (const struct field *field = table->fields; field->name; field++) {
		const json_t *value = json_object_get(object, field->name);
		bool no_memory = false;

		if (!value ||
		    field_decode(field, value, (char *)structure + field->offset, &no_memory))
			continue;
		if (no_memory)
			return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
		return error_set_corrupt(error, at,
					 "manifest: \"%s\" of a %s has a value that cannot be",
					 field->name, table->of);
	}
	return STATUS_OK;
}

void fields_release(const struct field_table *table, void *structure)
{
	for (const struct field *field = table->fields; field->name; field++) {
		char *at = (char *)structure + field->offset;

		if (field->type != FIELD_TEXT)
			continue;
		free(LOAD(char *, at));
		memcpy(at, &(char *){ NULL }, sizeof(char *));
	}
}
