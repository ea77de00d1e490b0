/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Skid and shadow: samples that are named after the instruction that came after the one that took the time.
 *
 * An interrupt is taken between instructions, so without precise events a sample's address is that of the
 * next one. Inside a function that shifts blame by an instruction; at its borders it shifts it to another
 * function:
 *	at the first instruction of a function	the call belongs to the caller
 *	right after a call			the return, and what it waited for, belong to the callee
 *	right after a slow instruction		that instruction (division, atomic, ...) took the time; the
 *						function is right, its lines are not
 * Code is decoded to tell these places; a place is counted as suspicious only where it has more samples
 * than its part of the function's instructions explains (4 standard errors).
 *
 * A function without a loop and with few instructions is over before an interrupt can be taken inside it:
 * "short". Its own and its caller's cost cannot be told apart by samples.
 */
#ifndef ASSAY_DIAGNOSE_SKID_H
#define ASSAY_DIAGNOSE_SKID_H

#include "diagnose/finding.h"
#include "diagnose/matrix.h"
#include "profile/profile.h"

#define SKID_FUNCTIONS_MAX 64 /* those with most samples are decoded */
#define SKID_SAMPLES_MIN   20
#define SKID_SHORT         24 /* instructions; without a loop, a function of so few is short */

struct skid_function {
	uint32_t function; /* of the matrix */
	uint64_t samples;  /* in code that could be decoded */
	uint64_t entry, after_call, after_slow;
	double entry_expected, call_expected; /* by its part of the instructions alone */
	size_t n_instructions, n_after_call;
	bool loops;
	const char *slow; /* the slow instruction with most samples after it, NULL: none */
	uint64_t slow_samples;
	uint64_t slow_address; /* ELF address of the sampled instruction after it */
	/* borrowed from the symbolizer; NULL: not known */
	const char *caller; /* from whom most of the samples at the entry came (needs stacks) */
	const char *callee; /* of the call with most samples after it, when it is direct */
	uint64_t callee_samples;
};

struct skid {
	struct skid_function *functions;
	size_t n;
	int precise; /* level granted by the kernel; -1 unknown */
	int asked;   /* -1 unknown */
};

/* Looks at the instruction of every sample. Fails only for want of memory. */
MUST_CHECK enum status skid_examine(struct skid *skid, struct profile *profile,
				    const struct table *table, const struct matrix *matrix,
				    struct error *error);
void skid_release(struct skid *skid);

/* Their findings: skid-*, short. */
void skid_find(struct findings *findings, const struct skid *skid, const struct matrix *matrix);

#endif
