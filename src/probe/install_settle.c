/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the guardian answered: functions that it could not write are refused, and what it wrote is kept by place, that
 * is a module at an address. A library that is closed and opened again mostly comes back to its place: its trampolines
 * are there still, and the same bytes are written again.
 *
 * A function that was written once keeps what was counted, whatever becomes of a later attempt.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "probe/install.h"

#define NO_STATE UINT8_MAX

struct install_place *install_place_of(const struct install *install,
				       const struct image_module *module)
{
	for (size_t i = 0; i < install->n_places; i++) {
		if (install->places[i].module == module && install->places[i].bias == module->bias)
			return &install->places[i];
	}
	return NULL;
}

static struct install_place *place_get(struct install *install,
				       const struct install_function *function)
{
	struct install_place *place = install_place_of(install, function->module);

	if (place)
		return place;
	if (!array_reserve(&install->places, &install->places_capacity, install->n_places + 1))
		return NULL;
	place = &install->places[install->n_places++];
	*place = (struct install_place){ .module = function->module,
					 .bias = function->module->bias,
					 .region = function->region };
	return place;
}

/* Those that were not made are kept, too: their trampolines stand, and the next time they may be. Without memory for it
 * the place is not known: its library is not written again when it comes back. */
static void place_keep(struct install *install, const struct install_function *function,
		       const struct guardian_write *write)
{
	struct install_place *place = place_get(install, function);

	if (place && array_reserve(&place->writes, &place->capacity, place->n_writes + (size_t)1))
		place->writes[place->n_writes++] = *write;
}

/* The arena's writes are the place's, in the same order. */
static void place_update(const struct install *install, const struct install_part *part,
			 const struct guardian_arena *arena, const struct guardian_write *writes)
{
	struct install_place *place = install_place_of(install, part->module);

	for (uint64_t i = 0; place && i < arena->n_writes && i < place->n_writes; i++)
		place->writes[i].state = writes[i].state;
}

static void function_settle(struct install_function *function, uint8_t state)
{
	if (state == GUARDIAN_WRITTEN)
		function->written = true;
	else if (function->written)
		return;
	else if (state == GUARDIAN_DIFFERENT)
		function->refusal = INSTALL_CHANGED;
	else
		function->refusal = INSTALL_BUSY;
}

void install_settle(struct install *install, const struct install_part *part,
		    struct guardian_arena *arena)
{
	const struct guardian_write *writes = guardian_writes(arena);
	const uint32_t n = install->n_planned;
	uint8_t *states = malloc(n + (size_t)1);
	uint32_t *at = calloc(n + (size_t)1, sizeof(*at));

	if (states)
		memset(states, NO_STATE, n + (size_t)1);
	for (size_t i = 0; at && i < install->n; i++) {
		if (install->functions[i].number < n)
			at[install->functions[i].number] = (uint32_t)i;
	}
	for (uint64_t i = 0; states && at && i < arena->n_writes; i++) {
		if (writes[i].function >= n)
			continue;
		states[writes[i].function] = writes[i].state;
		/* after a failure it is not known that the trampolines of others are there */
		if (!part->again &&
		    (arena->status == STATUS_OK || writes[i].state == GUARDIAN_WRITTEN))
			place_keep(install, &install->functions[at[writes[i].function]],
				   &writes[i]);
	}
	if (part->again)
		place_update(install, part, arena, writes);
	for (size_t i = 0; states && i < install->n; i++) {
		struct install_function *function = &install->functions[i];

		if (function->refusal || function->number >= n ||
		    (part->module && function->module != part->module) ||
		    (part->again && states[function->number] == NO_STATE))
			continue;
		function_settle(function, states[function->number]);
	}
	free(states);
	free(at);
}

enum status install_refill(const struct install_place *place, struct guardian_arena *arena,
			   struct error *error)
{
	if (place->n_writes > GUARDIAN_ARENA_BYTES / 4 / sizeof(struct guardian_write))
		return error_set(error, STATUS_LIMIT, "too many probes at once");
	arena->n_writes = place->n_writes;
	arena->n_chunks = 0;
	for (size_t i = 0; i < place->n_writes; i++) {
		guardian_writes(arena)[i] = place->writes[i];
		guardian_writes(arena)[i].state = GUARDIAN_WAITING;
	}
	return STATUS_OK;
}
