/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A diagnosis as text and as JSON (schema assay.diagnose/1), and what the doctor found (assay.doctor/1).
 *
 * `findings` are all of the recording: those of the diagnosis and those that the file and its symbols
 * gave (report/file_findings.h).
 */
#ifndef ASSAY_REPORT_DIAGNOSIS_H
#define ASSAY_REPORT_DIAGNOSIS_H

#include "diagnose/diagnosis.h"
#include "diagnose/doctor.h"
#include "report/output.h"
#include "report/text.h"

#define DIAGNOSIS_JSON_SCHEMA "assay.diagnose/1"
#define DOCTOR_JSON_SCHEMA    "assay.doctor/1"

struct diagnosis_view {
	const char *bundle;
	const char *const *command; /* of the target, n_command words */
	size_t n_command;
	const struct diagnosis *diagnosis;
	const struct findings *findings;
};

/* The five lines, a verdict in one sentence, every finding with what it touches; with options->verbose
 * the evidence too. */
void diagnosis_text(const struct diagnosis_view *view, const struct text_options *options,
		    struct output *output);

/* Distributions of intervals and the course of the recording, drawn with characters. */
void diagnosis_plot(const struct diagnosis_view *view, const struct text_options *options,
		    struct output *output);

MUST_CHECK enum status diagnosis_json(const struct diagnosis_view *view, struct output *output,
				      struct error *error);

void doctor_text(const struct doctor *doctor, const struct text_options *options,
		 struct output *output);
MUST_CHECK enum status doctor_json(const struct doctor *doctor, struct output *output,
				   struct error *error);

#endif
