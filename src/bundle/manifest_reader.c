/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Reads manifest.json, whole or cut short. Values are found by scan_value and parsed one at a time;
 * epochs are never all in memory as JSON. What a reader accepts has named maxima (manifest.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bundle/manifest.h"
#include "bundle/manifest_fields.h"
#include "bundle/manifest_parts.h"
#include "bundle/manifest_scan.h"
#include "bundle/manifest_text.h"

struct parse {
	struct scan scan;
	struct manifest *manifest;
	locale_t c_locale;
	bool schema_seen, clocks_seen;
};

static enum status no_memory(struct error *error)
{
	return error_set(error, STATUS_NO_MEMORY, "no memory for the manifest");
}

static enum status too_many(const char *what, size_t maximum, struct error *error)
{
	return error_set(error, STATUS_LIMIT,
			 "manifest: more than %zu %s, which is the most that assay reads", maximum,
			 what);
}

/* One record of a list, already in its zeroed place. */
typedef enum status (*record_decode)(struct manifest *manifest, const json_t *object, void *record,
				     uint64_t at, struct error *error);

struct list {
	const char *what;
	size_t maximum, size;
	void **records;
	size_t *n, *capacity;
	record_decode decode;
};

/* Appends every record of a JSON array; one that fails stays in the list, to be released with it. */
static enum status list_decode(struct manifest *manifest, const struct list *list,
			       const json_t *array, uint64_t at, struct error *error)
{
	const size_t n = json_array_size(array);

	if (!json_is_array(array))
		return error_set_corrupt(error, at, "manifest: \"%s\" is no JSON array",
					 list->what);
	if (n > list->maximum - *list->n)
		return too_many(list->what, list->maximum, error);
	if (!array_reserve_bytes(list->records, list->capacity, *list->n + n, list->size))
		return no_memory(error);
	for (size_t i = 0; i < n; i++) {
		char *record = (char *)*list->records + *list->n * list->size;
		enum status status;

		memset(record, 0, list->size);
		(*list->n)++;
		status = list->decode(manifest, json_array_get(array, i), record, at, error);
		if (status != STATUS_OK)
			return status;
	}
	return STATUS_OK;
}

static enum status incident_decode(struct manifest *manifest, const json_t *object, void *record,
				   uint64_t at, struct error *error)
{
	(void)manifest;
	return fields_decode(&manifest_incident_fields, object, record, at, error);
}

static enum status object_decode(struct manifest *manifest, const json_t *object, void *record,
				 uint64_t at, struct error *error)
{
	(void)manifest;
	return fields_decode(&manifest_object_fields, object, record, at, error);
}

static enum status event_decode(struct manifest *manifest, const json_t *object, void *record,
				uint64_t at, struct error *error)
{
	(void)manifest;
	return fields_decode(&manifest_event_fields, object, record, at, error);
}

static enum status clock_decode(struct manifest *manifest, const json_t *object, void *record,
				uint64_t at, struct error *error)
{
	struct manifest_clock *clock = record;
	const json_t *ids = json_object_get(object, "ids");
	const size_t n = json_array_size(ids);
	enum status status = fields_decode(&manifest_clock_fields, object, clock, at, error);

	(void)manifest;
	if (status != STATUS_OK)
		return status;
	clock->ids = malloc(n * sizeof(*clock->ids) + 1);
	if (!clock->ids)
		return no_memory(error);
	for (; clock->n_ids < n; clock->n_ids++)
		if (!json_to_u64(json_array_get(ids, clock->n_ids), &clock->ids[clock->n_ids]))
			return error_set_corrupt(error, at, "manifest: an id is no number");
	return STATUS_OK;
}

static struct list incidents_list(struct manifest *m)
{
	return (struct list){ "incidents",           MANIFEST_MAX_INCIDENTS,
			      sizeof(*m->incidents), (void **)&m->incidents,
			      &m->n_incidents,       &m->incidents_capacity,
			      incident_decode };
}

static struct list objects_list(struct manifest *m)
{
	return (struct list){ "objects",           MANIFEST_MAX_OBJECTS,
			      sizeof(*m->objects), (void **)&m->objects,
			      &m->n_objects,       &m->objects_capacity,
			      object_decode };
}

static enum status events_decode(struct parse *parse, const json_t *value, uint64_t at,
				 struct error *error)
{
	struct manifest *m = parse->manifest;
	size_t capacity = 0;
	const struct list list = { "events",           MANIFEST_MAX_WORDS,
				   sizeof(*m->events), (void **)&m->events,
				   &m->n_events,       &capacity,
				   event_decode };

	if (m->n_events)
		return error_set_corrupt(error, at, "manifest: \"events\" stands there twice");
	return list_decode(m, &list, value, at, error);
}

static enum status clocks_decode(struct parse *parse, const json_t *value, uint64_t at,
				 struct error *error)
{
	struct manifest *m = parse->manifest;
	size_t capacity = 0;
	const struct list list = { "clocks",           MANIFEST_MAX_CLOCKS,
				   sizeof(*m->clocks), (void **)&m->clocks,
				   &m->n_clocks,       &capacity,
				   clock_decode };

	if (parse->clocks_seen)
		return error_set_corrupt(error, at, "manifest: \"clocks\" stands there twice");
	parse->clocks_seen = true;
	return list_decode(m, &list, value, at, error);
}

static enum status command_decode(struct manifest *m, const json_t *value, uint64_t at,
				  struct error *error)
{
	const size_t n = json_array_size(value);

	if (!json_is_array(value) || m->command)
		return error_set_corrupt(error, at, "manifest: \"command\" is no single array");
	if (n > MANIFEST_MAX_WORDS)
		return too_many("words of the command", MANIFEST_MAX_WORDS, error);
	m->command = calloc(n + 1, sizeof(*m->command));
	if (!m->command)
		return no_memory(error);
	for (; m->n_command < n; m->n_command++) {
		const char *word = json_string_value(json_array_get(value, m->n_command));

		if (!word)
			return error_set_corrupt(error, at,
						 "manifest: a word of \"command\" is no string");
		m->command[m->n_command] = manifest_text_decode(word);
		if (!m->command[m->n_command])
			return no_memory(error);
	}
	return STATUS_OK;
}

static enum status pids_decode(struct manifest *m, const json_t *value, uint64_t at,
			       struct error *error)
{
	const size_t n = json_array_size(value);

	if (!json_is_array(value) || m->pids)
		return error_set_corrupt(error, at, "manifest: \"pids\" is no single array");
	if (n > MANIFEST_MAX_WORDS)
		return too_many("pids", MANIFEST_MAX_WORDS, error);
	m->pids = malloc(n * sizeof(*m->pids) + 1);
	if (!m->pids)
		return no_memory(error);
	for (; m->n_pids < n; m->n_pids++) {
		const json_t *pid = json_array_get(value, m->n_pids);

		if (!json_is_integer(pid) || json_integer_value(pid) < 0 ||
		    json_integer_value(pid) > INT32_MAX)
			return error_set_corrupt(error, at, "manifest: a pid is no process id");
		m->pids[m->n_pids] = (int)json_integer_value(pid);
	}
	return STATUS_OK;
}

static enum status schema_decode(struct parse *parse, const json_t *value, uint64_t at,
				 struct error *error)
{
	const char *schema = json_string_value(value);

	if (!schema || strcmp(schema, MANIFEST_SCHEMA) != 0)
		return error_set_corrupt(error, at,
					 "manifest: its schema is \"%.60s\", this version of assay "
					 "reads \"" MANIFEST_SCHEMA "\"",
					 schema ? schema : "(none)");
	parse->schema_seen = true;
	return STATUS_OK;
}

/* A top-level value other than the epochs. Single fields of the head come as an object of one. */
static enum status member_decode(struct parse *parse, const char *name, json_t *value, uint64_t at,
				 struct error *error)
{
	struct manifest *m = parse->manifest;
	json_t *single;
	enum status status;

	if (!strcmp(name, "schema"))
		return schema_decode(parse, value, at, error);
	if (!strcmp(name, "command"))
		return command_decode(m, value, at, error);
	if (!strcmp(name, "pids"))
		return pids_decode(m, value, at, error);
	if (!strcmp(name, "machine"))
		return fields_decode(&manifest_machine_fields, value, &m->machine, at, error);
	if (!strcmp(name, "events"))
		return events_decode(parse, value, at, error);
	if (!strcmp(name, "clocks"))
		return clocks_decode(parse, value, at, error);
	if (!strcmp(name, "incidents")) {
		const struct list list = incidents_list(m);

		return list_decode(m, &list, value, at, error);
	}
	if (!strcmp(name, "objects")) {
		const struct list list = objects_list(m);

		return list_decode(m, &list, value, at, error);
	}
	if (!strcmp(name, "end")) {
		m->end.present = true;
		return fields_decode(&manifest_end_fields, value, &m->end, at, error);
	}
	single = json_object();
	if (!single || json_object_set(single, name, value)) {
		json_decref(single);
		return no_memory(error);
	}
	status = fields_decode(&manifest_head_fields, single, m, at, error);
	json_decref(single);
	return status;
}

static enum status wrong_at(const struct parse *parse, struct error *error)
{
	return error_set_corrupt(error, parse->scan.at, "manifest: this is no JSON");
}

/* The value that scan_value found, parsed. */
static enum status value_load(const struct parse *parse, size_t start, size_t end, json_t **value,
			      struct error *error)
{
	json_error_t why;

	*value = json_loadb(parse->scan.text + start, end - start, JSON_DECODE_ANY, &why);
	if (*value)
		return STATUS_OK;
	return error_set_corrupt(error, start + (why.position > 0 ? (size_t)why.position : 0),
				 "manifest: %s", why.text);
}

/* What the members of one epoch go to that are no plain fields. */
struct epoch_parse {
	struct parse *parse;
	struct manifest_epoch *epoch;
};

static enum status epoch_clocks_scan(struct parse *parse, struct manifest_epoch *epoch,
				     size_t start, size_t end, struct error *error)
{
	struct manifest *m = parse->manifest;
	const struct fields_text in = { .text = parse->scan.text, .c_locale = parse->c_locale };
	struct scan scan = { parse->scan.text, end, start };
	enum scan_result found = scan_expect(&scan, '[');
	enum status status = STATUS_OK;
	size_t n = 0, clock, clock_end;

	while (found == SCAN_OK && status == STATUS_OK && scan_peek(&scan) != ']') {
		found = scan_value(&scan, &clock, &clock_end);
		if (found != SCAN_OK)
			break;
		if (n == m->n_clocks)
			return error_set_corrupt(error, clock,
						 "manifest: an epoch has more than the %zu clocks "
						 "of its recording",
						 m->n_clocks);
		status = fields_scan(&manifest_epoch_clock_fields, &in, clock, clock_end,
				     &epoch->clocks[n++], error);
		if (scan_peek(&scan) != ']')
			found = scan_expect(&scan, ',');
	}
	if (found != SCAN_OK)
		return error_set_corrupt(error, scan.at,
					 "manifest: an epoch's \"clocks\" are no JSON array");
	return status;
}

static enum status epoch_list_load(struct parse *parse, const struct list *list, size_t start,
				   size_t end, struct error *error)
{
	json_t *value;
	enum status status = value_load(parse, start, end, &value, error);

	if (status == STATUS_OK) {
		status = list_decode(parse->manifest, list, value, start, error);
		json_decref(value);
	}
	return status;
}

static bool name_is(const char *name, size_t size, const char *wanted)
{
	return size == strlen(wanted) && !memcmp(name, wanted, size);
}

static enum status epoch_member(void *context, const char *name, size_t name_size, size_t start,
				size_t end, struct error *error)
{
	struct epoch_parse *at = context;
	const struct list incidents = incidents_list(at->parse->manifest);
	const struct list objects = objects_list(at->parse->manifest);

	if (name_is(name, name_size, "clocks"))
		return epoch_clocks_scan(at->parse, at->epoch, start, end, error);
	if (name_is(name, name_size, "incidents"))
		return epoch_list_load(at->parse, &incidents, start, end, error);
	if (name_is(name, name_size, "objects"))
		return epoch_list_load(at->parse, &objects, start, end, error);
	return STATUS_OK;
}

static enum status epoch_decode(struct parse *parse, size_t start, size_t end, struct error *error)
{
	struct manifest *m = parse->manifest;
	struct manifest_epoch epoch = { 0 };
	struct epoch_parse at = { parse, &epoch };
	const struct fields_text in = { parse->scan.text, parse->c_locale, epoch_member, &at };
	enum status status;

	if (m->n_epochs == MANIFEST_MAX_EPOCHS)
		return too_many("epochs", MANIFEST_MAX_EPOCHS, error);
	epoch.clocks = manifest_clocks_take(m);
	if (!array_reserve(&m->epochs, &m->epochs_capacity, m->n_epochs + 1) ||
	    (m->n_clocks && !epoch.clocks))
		return no_memory(error);
	status = fields_scan(&manifest_epoch_fields, &in, start, end, &epoch, error);
	if (status == STATUS_OK)
		m->epochs[m->n_epochs++] = epoch;
	return status;
}

/* STATUS_END: the text stops inside the epochs, of which those before the cut are kept. */
static enum status epochs_decode(struct parse *parse, struct error *error)
{
	enum scan_result found = scan_expect(&parse->scan, '[');

	if (!parse->clocks_seen)
		return error_set_corrupt(error, parse->scan.at,
					 "manifest: \"epochs\" stands before \"clocks\"");
	while (found == SCAN_OK && scan_peek(&parse->scan) != ']') {
		size_t start, end;
		enum status status;

		found = scan_value(&parse->scan, &start, &end);
		if (found != SCAN_OK)
			break;
		status = epoch_decode(parse, start, end, error);
		if (status != STATUS_OK)
			return status;
		if (scan_peek(&parse->scan) == ',')
			parse->scan.at++;
		else if (scan_peek(&parse->scan) != ']')
			found = scan_expect(&parse->scan, ',');
	}
	if (found == SCAN_OK)
		found = scan_expect(&parse->scan, ']');
	return found == SCAN_OK    ? STATUS_OK
	       : found == SCAN_CUT ? STATUS_END
				   : wrong_at(parse, error);
}

/* One "name": value of the document. STATUS_END: cut. */
static enum status pair_decode(struct parse *parse, struct error *error)
{
	size_t start, end;
	json_t *name = NULL, *value = NULL;
	enum scan_result found = scan_value(&parse->scan, &start, &end);
	enum status status;

	if (found == SCAN_OK && parse->scan.text[start] != '"')
		found = SCAN_WRONG;
	if (found != SCAN_OK)
		return found == SCAN_CUT ? STATUS_END : wrong_at(parse, error);
	status = value_load(parse, start, end, &name, error);
	if (status != STATUS_OK)
		return status;
	found = scan_expect(&parse->scan, ':');
	if (found != SCAN_OK) {
		status = found == SCAN_CUT ? STATUS_END : wrong_at(parse, error);
	} else if (!strcmp(json_string_value(name), "epochs")) {
		status = epochs_decode(parse, error);
	} else {
		found = scan_value(&parse->scan, &start, &end);
		if (found != SCAN_OK)
			status = found == SCAN_CUT ? STATUS_END : wrong_at(parse, error);
		else
			status = value_load(parse, start, end, &value, error);
		if (status == STATUS_OK) {
			status = member_decode(parse, json_string_value(name), value, start, error);
			json_decref(value);
		}
	}
	json_decref(name);
	return status;
}

static enum status document_decode(struct parse *parse, struct error *error)
{
	enum scan_result found = scan_expect(&parse->scan, '{');
	enum status status = STATUS_OK;

	if (found == SCAN_CUT)
		return STATUS_END;
	if (found == SCAN_WRONG)
		return wrong_at(parse, error);
	while (status == STATUS_OK && scan_peek(&parse->scan) != '}') {
		status = pair_decode(parse, error);
		if (status != STATUS_OK)
			break;
		if (scan_peek(&parse->scan) == ',')
			parse->scan.at++;
		else if (scan_peek(&parse->scan) == '\0')
			status = STATUS_END;
		else if (scan_peek(&parse->scan) != '}')
			status = wrong_at(parse, error);
	}
	return status;
}

enum status manifest_parse(struct manifest *manifest, const char *text, size_t size,
			   struct error *error)
{
	struct parse parse = { .scan = { text, size, 0 }, .manifest = manifest };
	enum status status;

	manifest_init(manifest);
	if (size > MANIFEST_MAX_BYTES)
		return error_set(error, STATUS_LIMIT, "manifest: longer than %llu bytes",
				 (unsigned long long)MANIFEST_MAX_BYTES);
	parse.c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	if (!parse.c_locale)
		return no_memory(error);
	status = document_decode(&parse, error);
	freelocale(parse.c_locale);
	if ((status == STATUS_OK || status == STATUS_END) &&
	    !(parse.schema_seen && parse.clocks_seen))
		status = error_set_corrupt(error, parse.scan.at,
					   "manifest: it ends before the sampling contract does; "
					   "nothing was recorded");
	if (status == STATUS_END)
		status = STATUS_OK;
	if (status != STATUS_OK)
		manifest_release(manifest);
	return status;
}
