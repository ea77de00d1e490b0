/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The checks of `assay doctor`, for the terminal and as JSON. See diagnosis.h. */
#include <string.h>

#include "report/colour.h"
#include "report/diagnosis.h"
#include "report/json_writer.h"

#define DEFAULT_WIDTH 100
#define NAME_WIDTH    15
#define STATE_WIDTH   8

static const char *state_colour(enum doctor_state state)
{
	return state == DOCTOR_BLOCKED   ? COLOUR_RED
	       : state == DOCTOR_LIMITED ? COLOUR_YELLOW
					 : COLOUR_DIM;
}

void doctor_text(const struct doctor *doctor, const struct text_options *options,
		 struct output *output)
{
	const size_t width = options->width ? options->width : DEFAULT_WIDTH;
	const size_t indent = NAME_WIDTH + STATE_WIDTH;

	for (size_t i = 0; i < doctor->n; i++) {
		const struct doctor_check *check = &doctor->checks[i];

		output_format(output, "%-*s", NAME_WIDTH, check->name);
		colour_on(output, options->colour, state_colour(check->state));
		output_format(output, "%-*s", STATE_WIDTH, doctor_state_name(check->state));
		colour_off(output, options->colour);
		text_wrap(output, check->text, indent, indent, width);
		output_add(output, "\n");
		if (!*check->fix)
			continue;
		output_repeat(output, " ", indent);
		/* not wrapped: a command is copied as one line */
		output_format(output, "-> %s\n", check->fix);
	}
	output_add(output, "\n");
	if (*doctor->command) {
		output_add(output, "record with: ");
		colour_on(output, options->colour, COLOUR_BOLD);
		output_add(output, doctor->command);
		colour_off(output, options->colour);
		output_add(output, "\n");
	}
	text_wrap(output, doctor->why, 0, 0, width);
	output_add(output, "\n");
}

enum status doctor_json(const struct doctor *doctor, struct output *output, struct error *error)
{
	struct json_writer writer = { false }, *w = &writer;
	json_t *root = json_object_of(w), *checks = json_array_of(w);

	for (size_t i = 0; i < doctor->n; i++) {
		json_t *check = json_object_of(w);

		json_set(w, check, "name", json_text_of(w, doctor->checks[i].name));
		json_set(w, check, "state",
			 json_text_of(w, doctor_state_name(doctor->checks[i].state)));
		json_set(w, check, "text", json_text_of(w, doctor->checks[i].text));
		json_set(w, check, "fix", json_text_of(w, doctor->checks[i].fix));
		json_append(w, checks, check);
	}
	json_set(w, root, "schema", json_text_of(w, DOCTOR_JSON_SCHEMA));
	json_set(w, root, "state", json_text_of(w, doctor_state_name(doctor_worst(doctor))));
	json_set(w, root, "checks", checks);
	json_set(w, root, "command", json_text_of(w, doctor->command));
	json_set(w, root, "why", json_text_of(w, doctor->why));
	return json_finish(w, root, output, error);
}
