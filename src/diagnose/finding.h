/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Findings: what diminishes a measurement, with its evidence, in a form that people and scripts read.
 *
 * A finding never changes an estimate. It says what was seen, which functions it touches, how far
 * their shares may be off and what to do next; cli/ joins findings and estimates.
 *
 * Severity: `bias` means that shares of this very recording may be wrong in a way that no further
 * sample mends; `warning` that something is weaker than it looks, or would be wrong for another clock;
 * `info` is worth knowing and harmless.
 *
 * Building is made for long chains of facts: every function here takes NULL for a finding that could
 * not be added, and memory that was short is remembered and asked for once, by findings_check.
 */
#ifndef ASSAY_DIAGNOSE_FINDING_H
#define ASSAY_DIAGNOSE_FINDING_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"

/* More would not be read; what is dropped is counted. */
#define FINDINGS_MAX          256
#define FINDING_FUNCTIONS_MAX 32
#define FINDING_EVIDENCE_MAX  48

enum finding_severity { FINDING_INFO, FINDING_WARNING, FINDING_BIAS };

struct finding_function {
	char *name, *module; /* as the report shows them; module "" when unknown */
	double error_hi;     /* its share may be off by so much (0..1); NAN: not known */
};

struct finding_evidence {
	char *key;     /* snake_case, the unit at its end: "lost", "longest_ns", "share" */
	char *text;    /* NULL: a number */
	double number; /* NAN: null in JSON */
};

struct finding {
	char *code; /* one of finding_code.h, or what a newer recorder wrote */
	enum finding_severity severity;
	char *text;          /* what is the case, one or two sentences */
	char *next;          /* what to do about it; "" when nothing */
	bool every_function; /* touches all of them, by at most error_hi */
	/* Of another clock than the ones that the shares come from: rows are not touched, and the errors are
	 * those that the other clock's shares would have. Never of severity bias. */
	bool elsewhere;
	double error_hi; /* likely size of the error of a share, at worst; NAN: not known */
	struct finding_function *functions;
	size_t n_functions, functions_capacity;
	size_t functions_left_out; /* touched, but beyond FINDING_FUNCTIONS_MAX */
	struct finding_evidence *evidence;
	size_t n_evidence, evidence_capacity;
};

struct findings {
	struct finding *items;
	size_t n, capacity;
	size_t left_out; /* beyond FINDINGS_MAX */
	bool no_memory;
};

void findings_init(struct findings *findings);
void findings_release(struct findings *findings);

/* A new finding with error_hi NAN and no `next`; NULL when there is no room or memory. The pointer is
 * valid until the next one is added. */
struct finding *findings_add(struct findings *findings, const char *code,
			     enum finding_severity severity, const char *format, ...)
	PRINTF_LIKE(4, 5);

void finding_next(struct findings *findings, struct finding *finding, const char *format, ...)
	PRINTF_LIKE(3, 4);
void finding_number(struct findings *findings, struct finding *finding, const char *key,
		    double number);
void finding_text(struct findings *findings, struct finding *finding, const char *key,
		  const char *text);
void finding_touches(struct findings *findings, struct finding *finding, const char *name,
		     const char *module, double error_hi);
/* Every function is touched, by at most error_hi. */
void finding_touches_all(struct finding *finding, double error_hi);

/* Moves all findings of `from` behind those of `to`; those beyond FINDINGS_MAX are dropped and counted. */
void findings_move(struct findings *to, struct findings *from);

/* STATUS_NO_MEMORY if any of the calls above was short of it. */
MUST_CHECK enum status findings_check(const struct findings *findings, struct error *error);

/* Worst first, within a severity in the order of finding_code.h, then as they were added. */
void findings_sort(struct findings *findings);

/* The first finding with this code, or whose code begins with `prefix` when it ends in '-'; NULL. */
const struct finding *findings_find(const struct findings *findings, const char *code);

enum finding_severity findings_worst(const struct findings *findings);
const char *finding_severity_name(enum finding_severity severity);

#endif
