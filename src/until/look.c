/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "until/look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/bundle.h"
#include "diagnose/diagnosis.h"
#include "profile/weighting.h"
#include "until/answer.h"
#include "until/table.h"

/* Samples whose times are folded by the diagnosis, as for a report. */
#define SAMPLES_FOLDED 32768

/* Everything that one look has to release. */
struct look {
	struct bundle bundle;
	struct profile profile;
	struct table table;
	struct until_table functions;
	struct diagnosis diagnosis;
	bool has_bundle, has_profile, has_table, has_diagnosis;
};

void until_looker_init(struct until_looker *looker, const struct sys *sys, const char *path,
		       const struct until_question *question)
{
	*looker = (struct until_looker){ .sys = sys, .path = path, .question = question };
}

void until_looker_release(struct until_looker *looker)
{
	symbolizer_free(looker->symbolizer);
	free(looker->map_dir);
	looker->symbolizer = NULL;
	looker->map_dir = NULL;
}

static void look_release(struct look *look)
{
	if (look->has_diagnosis)
		diagnosis_release(&look->diagnosis);
	until_table_release(&look->functions);
	if (look->has_table)
		table_release(&look->table);
	if (look->has_profile)
		profile_release(&look->profile);
	if (look->has_bundle)
		bundle_close(&look->bundle);
}

static enum status symbolizer_make(struct until_looker *looker, struct error *error)
{
	struct symbolizer_options options = {
		.demangle = true,
		.kallsyms_path = looker->kernel_names ? NULL : "/dev/null",
	};

	if (asprintf(&looker->map_dir, "%s/maps", looker->path) < 0) {
		looker->map_dir = NULL;
		return error_set(error, STATUS_NO_MEMORY, "no memory for a path");
	}
	options.map_dir = looker->map_dir;
	return symbolizer_new(&looker->symbolizer, looker->sys, &options, error);
}

/* Files that the recorder copied since: what was without names may have some now. */
static void symbolizer_check(struct look *look, struct until_looker *looker)
{
	const struct manifest *manifest = &look->bundle.manifest;
	size_t copies = 0;

	for (size_t i = 0; i < manifest->n_objects; i++)
		copies += manifest->objects[i].copy != NULL;
	if (copies != looker->copies)
		until_looker_release(looker);
	looker->copies = copies;
}

static enum status look_read(struct look *look, struct until_looker *looker, struct error *error)
{
	const struct profile_options options = { .event = NULL };
	enum status status = bundle_open(&look->bundle, looker->sys, looker->path, error);

	look->has_bundle = status == STATUS_OK;
	if (status == STATUS_OK)
		symbolizer_check(look, looker);
	if (status == STATUS_OK && !looker->symbolizer)
		status = symbolizer_make(looker, error);
	if (status == STATUS_OK) {
		status = profile_build(&look->profile, &look->bundle, looker->symbolizer,
				       looker->sys, &options, error);
		look->has_profile = status == STATUS_OK;
	}
	if (status == STATUS_OK) {
		status = table_build(&look->table, &look->profile, SUBJECT_FUNCTION, false, error);
		look->has_table = status == STATUS_OK;
	}
	if (status == STATUS_OK)
		status = until_table_make(&look->functions, &look->profile, &look->table, error);
	return status;
}

static enum status look_test(struct look *look, const struct until_question *question,
			     struct estimate_until *until, struct error *error)
{
	const struct estimate_until_options options = {
		.kind = question->kind,
		.top_k = question->top_k,
		.half_width = question->half_width,
		.epochs_per_row = look->functions.epochs_per_row,
		.period_weights = profile_weighting(&look->profile) == ESTIMATE_WEIGHT_PERIOD,
	};

	if (!look->functions.estimates.n_functions || !look->profile.clocks.randomised) {
		*until = (struct estimate_until){ .a = ESTIMATE_UNTIL_NONE,
						  .b = ESTIMATE_UNTIL_NONE,
						  .why = "no samples" };
		return STATUS_OK;
	}
	return estimate_until(until, &look->functions.estimates, &options, error);
}

static enum status look_diagnose(struct look *look, struct error *error)
{
	const struct diagnosis_options options = { .samples = SAMPLES_FOLDED };
	const enum status status =
		diagnosis_make(&look->diagnosis, &look->profile, &look->table, &options, error);

	look->has_diagnosis = status == STATUS_OK;
	return status;
}

/* Does the answer depend on what the kernel's code is called? */
static bool kernel_matters(const struct look *look, const struct until_question *question,
			   const struct estimate_until *until)
{
	const size_t place = until_table_kernel(&look->functions, &look->profile);
	size_t kernel;

	if (place == look->functions.estimates.n_functions)
		return false;
	kernel = look->functions.order[place];
	return place < question->top_k || until->a == kernel || until->b == kernel;
}

static enum status look_answer(struct look *look, struct until_looker *looker, bool thorough,
			       struct until_answer *answer, bool *again, struct error *error)
{
	const struct finding *bias = NULL;
	struct estimate_until until;
	enum status status = look_read(look, looker, error);

	if (status == STATUS_OK)
		status = look_test(look, looker->question, &until, error);
	*again = status == STATUS_OK && !looker->kernel_names &&
		 kernel_matters(look, looker->question, &until);
	if (status != STATUS_OK || *again)
		return status;
	if (thorough && look->profile.samples)
		status = look_diagnose(look, error);
	if (status != STATUS_OK)
		return status;
	if (look->has_diagnosis)
		bias = until_table_bias(&look->functions, &look->diagnosis.findings,
					looker->question->top_k);
	answer->epochs = look->profile.epochs.recorded;
	answer->samples = look->profile.samples;
	until_answer_fill(answer, looker->question, &look->functions, &until, bias);
	return STATUS_OK;
}

enum status until_look(struct until_looker *looker, bool thorough, struct until_answer *answer,
		       struct error *error)
{
	struct look look = { .has_bundle = false };
	enum status status;
	bool again;

	memset(answer, 0, sizeof(*answer));
	status = look_answer(&look, looker, thorough, answer, &again, error);
	look_release(&look);
	if (!again)
		return status;
	until_looker_release(looker);
	looker->kernel_names = true;
	look = (struct look){ .has_bundle = false };
	status = look_answer(&look, looker, thorough, answer, &again, error);
	look_release(&look);
	return status;
}
