/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the places of samples within functions mean: skid-entry, skid-call, skid-shadow, skid-precision,
 * short. */
#include <math.h>
#include <stdio.h>

#include "diagnose/conduct.h"
#include "diagnose/finding_code.h"
#include "diagnose/skid.h"

#define STANDARD_ERRORS 4.0
#define ERROR_TOLD      0.003 /* of all samples; below it nobody cares */
#define ERROR_WARN      0.02
#define SHORT_TOLD      0.01 /* share of a short function */
#define PRECISE_ENOUGH  2    /* from this level on the address is that of the instruction itself */

/* Samples beyond what the place's part of the instructions explains; 0 when that is not significant. */
static double excess(uint64_t samples, double expected, uint64_t total)
{
	const double part = total ? expected / (double)total : 0;
	const double spread = sqrt(fmax(expected * (1 - fmin(part, 1)), 1));

	return (double)samples - expected > STANDARD_ERRORS * spread ? (double)samples - expected
								     : 0;
}

/* One kind of place over all functions. */
struct kind {
	const char *code;
	double (*part)(const struct skid_function *function); /* suspicious samples */
	const char *where;
	const char *belongs; /* to whom */
	const char *(*neighbour)(const struct skid_function *function);
	const char *key;
};

static double entry_part(const struct skid_function *function)
{
	return excess(function->entry, function->entry_expected, function->samples);
}

static double call_part(const struct skid_function *function)
{
	return excess(function->after_call, function->call_expected, function->samples);
}

static const char *entry_neighbour(const struct skid_function *function)
{
	return function->caller;
}

static const char *call_neighbour(const struct skid_function *function)
{
	return function->callee;
}

static void kind_find(struct findings *findings, const struct skid *skid,
		      const struct matrix *matrix, const struct kind *kind)
{
	const struct skid_function *worst = NULL;
	double worst_part = 0;
	char percent[32], share[32];
	const char *neighbour;
	struct finding *finding;

	for (size_t i = 0; i < skid->n; i++) {
		const double part = kind->part(&skid->functions[i]);

		if (part > worst_part) {
			worst_part = part;
			worst = &skid->functions[i];
		}
	}
	if (!worst || worst_part < ERROR_TOLD * (double)matrix->samples)
		return;
	neighbour = kind->neighbour(worst);
	finding = findings_add(
		findings, kind->code,
		worst_part >= ERROR_WARN * (double)matrix->samples ? FINDING_WARNING : FINDING_INFO,
		"%s of the samples of %s are %s, far more than its code explains: that time "
		"probably belongs "
		"to %s%s%s. It is %s of all samples.",
		conduct_percent(worst_part / (double)worst->samples, percent, sizeof(percent)),
		matrix->functions[worst->function].name, kind->where, kind->belongs,
		neighbour ? ", " : "", neighbour ? neighbour : "",
		conduct_percent(worst_part / (double)matrix->samples, share, sizeof(share)));
	finding_next(findings, finding,
		     "Measure these functions exactly (assay probe), or sample a precise event (-e "
		     "cycles:pp) "
		     "where the CPU has one.");
	for (size_t i = 0; i < skid->n; i++) {
		const struct skid_function *function = &skid->functions[i];
		const struct matrix_function *named = &matrix->functions[function->function];
		const double part = kind->part(function) / (double)matrix->samples;

		if (part >= ERROR_TOLD)
			finding_touches(findings, finding, named->name, named->module, part);
	}
	finding_text(findings, finding, "function", matrix->functions[worst->function].name);
	finding_number(findings, finding, "samples", (double)worst->samples);
	finding_number(findings, finding, kind->key, worst_part);
	finding_number(findings, finding, "instructions", (double)worst->n_instructions);
	if (neighbour)
		finding_text(findings, finding, "neighbour", neighbour);
}

static void shadow_find(struct findings *findings, const struct skid *skid,
			const struct matrix *matrix)
{
	const struct skid_function *worst = NULL;
	struct finding *finding;
	char percent[32];

	for (size_t i = 0; i < skid->n; i++)
		if (skid->functions[i].slow &&
		    (!worst || skid->functions[i].after_slow > worst->after_slow))
			worst = &skid->functions[i];
	if (!worst || (double)worst->after_slow < ERROR_WARN * (double)matrix->samples)
		return;
	finding = findings_add(findings, CODE_SKID_SHADOW, FINDING_INFO,
			       "%s of the samples of %s are on instructions right after slow ones "
			       "(most after %s, at %#llx): it "
			       "is the slow instruction that took the time. Shares of functions "
			       "are right, lines and "
			       "instructions are off by one.",
			       conduct_percent((double)worst->after_slow / (double)worst->samples,
					       percent, sizeof(percent)),
			       matrix->functions[worst->function].name, worst->slow,
			       (unsigned long long)worst->slow_address);
	finding_next(findings, finding,
		     "Read the instruction before the one that has the samples.");
	for (size_t i = 0; i < skid->n; i++) {
		const struct matrix_function *named =
			&matrix->functions[skid->functions[i].function];

		if ((double)skid->functions[i].after_slow >= ERROR_TOLD * (double)matrix->samples)
			finding_touches(findings, finding, named->name, named->module, NAN);
	}
	finding_text(findings, finding, "function", matrix->functions[worst->function].name);
	finding_text(findings, finding, "instruction", worst->slow);
	finding_number(findings, finding, "address", (double)worst->slow_address);
	finding_number(findings, finding, "samples", (double)worst->samples);
	finding_number(findings, finding, "after_slow", (double)worst->after_slow);
}

static bool is_short(const struct skid_function *function, const struct matrix *matrix)
{
	return !function->loops && function->n_instructions <= SKID_SHORT &&
	       (double)matrix->functions[function->function].samples >=
		       SHORT_TOLD * (double)matrix->samples;
}

static void short_find(struct findings *findings, const struct skid *skid,
		       const struct matrix *matrix)
{
	const struct skid_function *largest = NULL;
	double together = 0, error = 0;
	struct finding *finding;
	char percent[32];
	size_t n = 0;

	for (size_t i = 0; i < skid->n; i++) {
		if (!is_short(&skid->functions[i], matrix))
			continue;
		n++;
		together += (double)matrix->functions[skid->functions[i].function].samples /
			    (double)matrix->samples;
		if (!largest)
			largest = &skid->functions[i];
	}
	if (!largest)
		return;
	error = (double)matrix->functions[largest->function].samples / (double)matrix->samples;
	finding = findings_add(
		findings, CODE_SHORT, error >= ERROR_WARN ? FINDING_WARNING : FINDING_INFO,
		"%zu function%s with %s of the samples %s shorter than a sample can "
		"place (%s has %zu instructions and no loop): time of such "
		"functions and of their callers runs into each other.",
		n, n == 1 ? "" : "s", conduct_percent(together, percent, sizeof(percent)),
		n == 1 ? "is" : "are", matrix->functions[largest->function].name,
		largest->n_instructions);
	finding_next(findings, finding, "Count and time them exactly: assay probe -f NAME.");
	for (size_t i = 0; i < skid->n; i++)
		if (is_short(&skid->functions[i], matrix)) {
			const struct matrix_function *named =
				&matrix->functions[skid->functions[i].function];

			finding_touches(findings, finding, named->name, named->module,
					(double)named->samples / (double)matrix->samples);
		}
	finding_number(findings, finding, "functions", (double)n);
	finding_number(findings, finding, "share", together);
	finding_text(findings, finding, "function", matrix->functions[largest->function].name);
	finding_number(findings, finding, "instructions", (double)largest->n_instructions);
	finding_text(findings, finding, "neighbour",
		     largest->caller ? largest->caller : "its callers");
}

static void precision_find(struct findings *findings, const struct skid *skid)
{
	struct finding *finding;

	if (skid->precise < 0)
		return;
	if (skid->asked > skid->precise)
		finding = findings_add(findings, CODE_SKID_PRECISION, FINDING_WARNING,
				       "Precise level %d was asked for, %d is what the kernel "
				       "granted: samples may "
				       "be named after a later instruction.",
				       skid->asked, skid->precise);
	else
		finding = findings_add(
			findings, CODE_SKID_PRECISION, FINDING_INFO,
			skid->precise
				? "The kernel granted precise level %d."
				: "No precise level (%d): a sample is named after the instruction "
				  "at "
				  "which the interrupt was taken, not the one that took the time.",
			skid->precise);
	finding_next(findings, finding, "%s",
		     skid->precise < PRECISE_ENOUGH
			     ? "`assay doctor` says which precise events this machine has."
			     : "");
	finding_number(findings, finding, "granted", skid->precise);
	finding_number(findings, finding, "asked",
		       skid->asked < 0 ? (double)NAN : (double)skid->asked);
}

void skid_find(struct findings *findings, const struct skid *skid, const struct matrix *matrix)
{
	static const struct kind kinds[] = {
		{ CODE_SKID_ENTRY, entry_part, "at its first instruction", "whoever calls it",
		  entry_neighbour, "at_entry" },
		{ CODE_SKID_CALL, call_part, "right after a call", "the function that was called",
		  call_neighbour, "after_call" },
	};

	precision_find(findings, skid);
	if (skid->precise < 0 || skid->precise >= PRECISE_ENOUGH || !matrix->samples)
		return;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		kind_find(findings, skid, matrix, &kinds[i]);
	shadow_find(findings, skid, matrix);
	short_find(findings, skid, matrix);
}
