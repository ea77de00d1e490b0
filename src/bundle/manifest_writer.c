/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Writes manifest.json so that it is a whole JSON document at every moment (layout in manifest.h).
 *
 *	head ... "epochs": [ {...},  {...}  \n]}\n
 *	                                    ^ tail_at: the next epoch, or the end, is written here by one
 *	                                      pwrite that carries the closing brackets again
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "bundle/manifest.h"
#include "bundle/manifest_fields.h"

#define CLOSING    "\n]}\n"
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY)

struct manifest_writer {
	const struct sys *sys;
	int fd;
	char *name;
	uint64_t tail_at;
	bool has_epoch, ended;
	struct error failed;
};

struct text {
	char *bytes;
	size_t size, capacity;
	bool failed;
};

static int text_append(const char *bytes, size_t size, void *context)
{
	struct text *text = context;

	if (text->failed || !array_reserve(&text->bytes, &text->capacity, text->size + size)) {
		text->failed = true;
		return -1;
	}
	memcpy(text->bytes + text->size, bytes, size);
	text->size += size;
	return 0;
}

static void text_put(struct text *text, const char *string)
{
	text_append(string, strlen(string), text);
}

/* Takes the value over. */
static void text_put_json(struct text *text, json_t *value)
{
	if (!value || json_dump_callback(value, text_append, text, DUMP_FLAGS))
		text->failed = true;
	json_decref(value);
}

static json_t *records_encode(const struct field_table *table, const void *records, size_t n,
			      size_t size)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++)
		if (json_array_append_new(list,
					  fields_encode(table, (const char *)records + i * size))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *clock_encode(const struct manifest_clock *clock)
{
	json_t *object = fields_encode(&manifest_clock_fields, clock);
	json_t *ids = json_array();

	for (size_t i = 0; i < clock->n_ids; i++)
		json_array_append_new(ids, json_of_u64(clock->ids[i]));
	if (!object || json_object_set_new(object, "ids", ids)) {
		json_decref(object);
		return NULL;
	}
	return object;
}

static json_t *clocks_encode(const struct manifest *manifest)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < manifest->n_clocks; i++)
		if (json_array_append_new(list, clock_encode(&manifest->clocks[i]))) {
			json_decref(list);
			return NULL;
		}
	return list;
}

static json_t *command_encode(const struct manifest *manifest)
{
	static const struct field word[] = { { "word", FIELD_TEXT, 0, false }, { .name = NULL } };
	static const struct field_table words = { "word", word };
	json_t *list = json_array();

	for (size_t i = 0; list && i < manifest->n_command; i++) {
		json_t *object = fields_encode(&words, &manifest->command[i]);

		if (!object || json_array_append(list, json_object_get(object, "word"))) {
			json_decref(object);
			json_decref(list);
			return NULL;
		}
		json_decref(object);
	}
	return list;
}

static json_t *pids_encode(const struct manifest *manifest)
{
	json_t *list = json_array();

	for (size_t i = 0; i < manifest->n_pids; i++)
		json_array_append_new(list, json_integer(manifest->pids[i]));
	return list;
}

static void section_put(struct text *text, const char *name, json_t *value)
{
	text_put(text, ",\n\"");
	text_put(text, name);
	text_put(text, "\": ");
	text_put_json(text, value);
}

static void head_put(struct text *text, const struct manifest *m)
{
	json_t *head = fields_encode(&manifest_head_fields, m);

	text_put(text, "{\"schema\": \"" MANIFEST_SCHEMA "\"");
	text->failed |= !head;
	for (void *at = json_object_iter(head); at; at = json_object_iter_next(head, at))
		section_put(text, json_object_iter_key(at),
			    json_incref(json_object_iter_value(at)));
	json_decref(head);
	if (m->command)
		section_put(text, "command", command_encode(m));
	if (m->n_pids)
		section_put(text, "pids", pids_encode(m));
	section_put(text, "machine", fields_encode(&manifest_machine_fields, &m->machine));
	section_put(
		text, "events",
		records_encode(&manifest_event_fields, m->events, m->n_events, sizeof(*m->events)));
	section_put(text, "clocks", clocks_encode(m));
	if (m->n_incidents)
		section_put(text, "incidents",
			    records_encode(&manifest_incident_fields, m->incidents, m->n_incidents,
					   sizeof(*m->incidents)));
	if (m->n_objects)
		section_put(text, "objects",
			    records_encode(&manifest_object_fields, m->objects, m->n_objects,
					   sizeof(*m->objects)));
	text_put(text, ",\n\"epochs\": [");
}

static enum status writer_failed(struct manifest_writer *writer, enum status status, int os_errno,
				 struct error *error)
{
	if (os_errno)
		error_set_errno(&writer->failed, status, os_errno, "cannot write %s", writer->name);
	else
		error_set(&writer->failed, status, "no memory to write %s", writer->name);
	if (error)
		*error = writer->failed;
	return status;
}

/* Puts `text` and the closing behind it over the old closing. What fails is undone: the bytes of the
 * old closing have their place on the disk already. */
static enum status tail_write(struct manifest_writer *writer, struct text *text,
			      const char *closing, struct error *error)
{
	const struct sys *sys = writer->sys;
	const size_t size = text->size;
	int result;

	text_put(text, closing);
	if (text->failed)
		return writer_failed(writer, STATUS_NO_MEMORY, 0, error);
	result = sys_pwrite_all(sys, writer->fd, text->bytes, text->size, (off_t)writer->tail_at);
	if (result == 0) {
		writer->tail_at += size;
		return STATUS_OK;
	}
	if (writer->tail_at &&
	    !sys_pwrite_all(sys, writer->fd, CLOSING, strlen(CLOSING), (off_t)writer->tail_at))
		sys->ftruncate(sys->state, writer->fd, (off_t)(writer->tail_at + strlen(CLOSING)));
	return writer_failed(writer, status_from_errno(-result), -result, error);
}

enum status manifest_writer_create(struct manifest_writer **out, const struct sys *sys, int dir_fd,
				   const char *name, const struct manifest *manifest,
				   struct error *error)
{
	struct manifest_writer *writer = calloc(1, sizeof(*writer));
	struct text text = { 0 };
	enum status status;

	*out = NULL;
	if (writer)
		writer->name = strdup(name);
	if (!writer || !writer->name) {
		free(writer);
		return error_set(error, STATUS_NO_MEMORY, "no memory to write %s", name);
	}
	writer->sys = sys;
	writer->fd = sys->openat(sys->state, dir_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
				 0600);
	if (writer->fd < 0) {
		status = error_set_errno(error, status_from_errno(-writer->fd), -writer->fd,
					 "cannot create %s", name);
		manifest_writer_close(writer);
		return status;
	}
	head_put(&text, manifest);
	status = tail_write(writer, &text, CLOSING, error);
	free(text.bytes);
	if (status != STATUS_OK) {
		sys->unlinkat(sys->state, dir_fd, name, 0);
		manifest_writer_close(writer);
		return status;
	}
	*out = writer;
	return STATUS_OK;
}

static enum status writer_usable(const struct manifest_writer *writer, struct error *error)
{
	if (writer->ended)
		return error_set(error, STATUS_USAGE, "%s is closed already", writer->name);
	if (writer->failed.status != STATUS_OK && error)
		*error = writer->failed;
	return writer->failed.status;
}

static json_t *epoch_encode(const struct manifest *manifest, const struct manifest_epoch *epoch,
			    const struct manifest_incident *incidents, size_t n_incidents,
			    const struct manifest_object *objects, size_t n_objects)
{
	json_t *object = fields_encode(&manifest_epoch_fields, epoch);
	int failed;

	if (!object)
		return NULL;
	failed = json_object_set_new(object, "clocks",
				     records_encode(&manifest_epoch_clock_fields, epoch->clocks,
						    manifest->n_clocks, sizeof(*epoch->clocks)));
	if (n_incidents)
		failed |= json_object_set_new(object, "incidents",
					      records_encode(&manifest_incident_fields, incidents,
							     n_incidents, sizeof(*incidents)));
	if (n_objects)
		failed |= json_object_set_new(object, "objects",
					      records_encode(&manifest_object_fields, objects,
							     n_objects, sizeof(*objects)));
	if (failed) {
		json_decref(object);
		return NULL;
	}
	return object;
}

enum status manifest_writer_epoch(struct manifest_writer *writer, const struct manifest *manifest,
				  const struct manifest_epoch *epoch,
				  const struct manifest_incident *incidents, size_t n_incidents,
				  const struct manifest_object *objects, size_t n_objects,
				  struct error *error)
{
	struct text text = { 0 };
	enum status status = writer_usable(writer, error);

	if (status != STATUS_OK)
		return status;
	if (manifest->n_clocks && !epoch->clocks)
		return error_set(error, STATUS_USAGE, "an epoch was given without its clocks");
	text_put(&text, writer->has_epoch ? ",\n" : "\n");
	text_put_json(&text,
		      epoch_encode(manifest, epoch, incidents, n_incidents, objects, n_objects));
	status = tail_write(writer, &text, CLOSING, error);
	free(text.bytes);
	writer->has_epoch |= status == STATUS_OK;
	return status;
}

enum status manifest_writer_end(struct manifest_writer *writer, const struct manifest_end *end,
				struct error *error)
{
	struct text text = { 0 };
	enum status status = writer_usable(writer, error);

	if (status != STATUS_OK)
		return status;
	text_put(&text, "\n],\n\"end\": ");
	text_put_json(&text, fields_encode(&manifest_end_fields, end));
	status = tail_write(writer, &text, "}\n", error);
	free(text.bytes);
	writer->ended |= status == STATUS_OK;
	return status;
}

void manifest_writer_close(struct manifest_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0)
		writer->sys->close(writer->sys->state, writer->fd);
	free(writer->name);
	free(writer);
}
