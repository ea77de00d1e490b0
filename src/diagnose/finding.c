/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diagnose/finding.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "diagnose/finding_code.h"

void findings_init(struct findings *findings)
{
	memset(findings, 0, sizeof(*findings));
}

static void finding_release(struct finding *finding)
{
	for (size_t i = 0; i < finding->n_functions; i++) {
		free(finding->functions[i].name);
		free(finding->functions[i].module);
	}
	for (size_t i = 0; i < finding->n_evidence; i++) {
		free(finding->evidence[i].key);
		free(finding->evidence[i].text);
	}
	free(finding->functions);
	free(finding->evidence);
	free(finding->code);
	free(finding->text);
	free(finding->next);
}

void findings_release(struct findings *findings)
{
	for (size_t i = 0; i < findings->n; i++)
		finding_release(&findings->items[i]);
	free(findings->items);
	findings_init(findings);
}

/* A copy of a string, or of "" for NULL. */
static char *copy(const char *text)
{
	return strdup(text ? text : "");
}

static char *PRINTF_LIKE(1, 0) print(const char *format, va_list args)
{
	char *text;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

struct finding *findings_add(struct findings *findings, const char *code,
			     enum finding_severity severity, const char *format, ...)
{
	struct finding *finding;
	va_list args;

	if (findings->n >= FINDINGS_MAX) {
		findings->left_out++;
		return NULL;
	}
	if (!array_reserve(&findings->items, &findings->capacity, findings->n + 1)) {
		findings->no_memory = true;
		return NULL;
	}
	finding = &findings->items[findings->n];
	memset(finding, 0, sizeof(*finding));
	finding->severity = severity;
	finding->error_hi = NAN;
	finding->code = copy(code);
	finding->next = copy("");
	va_start(args, format);
	finding->text = print(format, args);
	va_end(args);
	if (!finding->code || !finding->next || !finding->text) {
		finding_release(finding);
		findings->no_memory = true;
		return NULL;
	}
	findings->n++;
	return finding;
}

void finding_next(struct findings *findings, struct finding *finding, const char *format, ...)
{
	va_list args;
	char *text;

	if (!finding)
		return;
	va_start(args, format);
	text = print(format, args);
	va_end(args);
	if (!text) {
		findings->no_memory = true;
		return;
	}
	free(finding->next);
	finding->next = text;
}

static void evidence_add(struct findings *findings, struct finding *finding, const char *key,
			 const char *text, double number)
{
	struct finding_evidence *evidence;

	if (!finding || finding->n_evidence >= FINDING_EVIDENCE_MAX)
		return;
	if (!array_reserve(&finding->evidence, &finding->evidence_capacity,
			   finding->n_evidence + 1)) {
		findings->no_memory = true;
		return;
	}
	evidence = &finding->evidence[finding->n_evidence];
	*evidence = (struct finding_evidence){ copy(key), text ? copy(text) : NULL, number };
	if (!evidence->key || (text && !evidence->text)) {
		free(evidence->key);
		free(evidence->text);
		findings->no_memory = true;
		return;
	}
	finding->n_evidence++;
}

void finding_number(struct findings *findings, struct finding *finding, const char *key,
		    double number)
{
	evidence_add(findings, finding, key, NULL, number);
}

void finding_text(struct findings *findings, struct finding *finding, const char *key,
		  const char *text)
{
	evidence_add(findings, finding, key, text ? text : "", NAN);
}

void finding_touches(struct findings *findings, struct finding *finding, const char *name,
		     const char *module, double error_hi)
{
	struct finding_function *function;

	if (!finding)
		return;
	if (!isnan(error_hi) && !(finding->error_hi >= error_hi))
		finding->error_hi = error_hi;
	if (finding->n_functions >= FINDING_FUNCTIONS_MAX) {
		finding->functions_left_out++;
		return;
	}
	if (!array_reserve(&finding->functions, &finding->functions_capacity,
			   finding->n_functions + 1)) {
		findings->no_memory = true;
		return;
	}
	function = &finding->functions[finding->n_functions];
	*function = (struct finding_function){ copy(name), copy(module), error_hi };
	if (!function->name || !function->module) {
		free(function->name);
		free(function->module);
		findings->no_memory = true;
		return;
	}
	finding->n_functions++;
}

void finding_touches_all(struct finding *finding, double error_hi)
{
	if (!finding)
		return;
	finding->every_function = true;
	finding->error_hi = error_hi;
}

void findings_move(struct findings *to, struct findings *from)
{
	size_t n = from->n;

	to->no_memory |= from->no_memory;
	to->left_out += from->left_out;
	if (n > FINDINGS_MAX - to->n)
		n = FINDINGS_MAX - to->n;
	if (n && !array_reserve(&to->items, &to->capacity, to->n + n)) {
		to->no_memory = true;
		n = 0;
	}
	for (size_t i = 0; i < n; i++)
		to->items[to->n++] = from->items[i];
	for (size_t i = n; i < from->n; i++)
		finding_release(&from->items[i]);
	to->left_out += from->n - n;
	from->n = 0;
	findings_release(from);
}

enum status findings_check(const struct findings *findings, struct error *error)
{
	if (findings->no_memory)
		return error_set(error, STATUS_NO_MEMORY, "not enough memory for the findings");
	return STATUS_OK;
}

/* Added order is kept by a stable sort; there are few, so insertion it is. */
void findings_sort(struct findings *findings)
{
	for (size_t i = 1; i < findings->n; i++) {
		const struct finding moving = findings->items[i];
		const unsigned int place = finding_code_place(moving.code);
		size_t at = i;

		for (; at > 0; at--) {
			const struct finding *before = &findings->items[at - 1];

			if (before->severity > moving.severity ||
			    (before->severity == moving.severity &&
			     finding_code_place(before->code) <= place))
				break;
			findings->items[at] = findings->items[at - 1];
		}
		findings->items[at] = moving;
	}
}

const struct finding *findings_find(const struct findings *findings, const char *code)
{
	const size_t length = strlen(code);
	const bool prefix = length && code[length - 1] == '-';

	for (size_t i = 0; i < findings->n; i++)
		if (prefix ? !strncmp(findings->items[i].code, code, length)
			   : !strcmp(findings->items[i].code, code))
			return &findings->items[i];
	return NULL;
}

enum finding_severity findings_worst(const struct findings *findings)
{
	enum finding_severity worst = FINDING_INFO;

	for (size_t i = 0; i < findings->n; i++)
		if (findings->items[i].severity > worst)
			worst = findings->items[i].severity;
	return worst;
}

const char *finding_severity_name(enum finding_severity severity)
{
	switch (severity) {
	case FINDING_INFO: return "info";
	case FINDING_WARNING: return "warning";
	case FINDING_BIAS: return "bias";
	}
	return "info";
}
