/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two existing recordings: did the workload change, or the measurement?
 *
 * Functions are matched by name and module (the program itself counts as one module, whatever its file is
 * called). A difference of shares is beyond chance when its interval, which holds for all functions at
 * once (estimate/change.h), leaves out 0. It is a change of the workload only if nothing that is known
 * about the two measurements could make it: the largest error that findings allow on either side, clocks
 * that may have run in step with the program, other programs beside it, another machine.
 */
#ifndef ASSAY_DIFF_DIFF_H
#define ASSAY_DIFF_DIFF_H

#include "bundle/bundle.h"
#include "diagnose/diagnosis.h"
#include "estimate/change.h"
#include "report/model.h"

#define DIFF_WITHIN_STANDARD 0.05

struct diff_side {
	const struct report *report;
	const struct bundle *bundle;
	const struct diagnosis *diagnosis; /* NULL: not made */
};

enum diff_verdict {
	DIFF_UNRESOLVED,  /* differences that matter could be hidden */
	DIFF_SAME,        /* no difference beyond `within` can be there */
	DIFF_MORE,        /* B takes more */
	DIFF_LESS,        /* B takes less */
	DIFF_MEASUREMENT, /* differs, but something about the measurements could make it */
};

struct diff_row {
	const struct report_row *rows[2]; /* NULL: not in that recording */
	double share[2];
	double bias;      /* largest error of the difference that findings allow; INFINITY: any */
	double load_bias; /* its part that other programs on the machine could make (load.h) */
	struct estimate_change change;
	enum diff_verdict verdict;
};

enum diff_state {
	DIFF_STATE_SAME,
	DIFF_STATE_CHANGED,
	DIFF_STATE_MEASUREMENT,
	DIFF_STATE_UNRESOLVED
};

/* Other programs beside the recordings, and the part of all samples that the kernel has. */
struct diff_load {
	bool known; /* they were at work beside either */
	bool beside[2];
	double kernel[2];
};

struct diff_options {
	double within; /* a smaller change of a share counts as none; 0: 5 points */
	bool by_total; /* compare inclusive shares; both reports must be ranked by them */
};

struct diff {
	struct diff_side sides[2];
	struct diff_row *rows;           /* what differs first, largest first */
	size_t n, n_tested, n_differing; /* differing: beyond chance */
	double within;
	double bound;               /* no tested share moved by more than this */
	bool same_recording;        /* A and B are one */
	struct findings mismatches; /* what makes them hard to compare; bias: incomparable */
	struct diff_load load;
	bool locked[2]; /* this side's fixed clock is known to be in step with the program */
	enum diff_state state;
	const char *verdict; /* plain English, no newline */
	struct strings strings;
};

/* Borrows the sides. On failure *diff needs no release. */
MUST_CHECK enum status diff_make(struct diff *diff, const struct diff_side sides[2],
				 const struct diff_options *options, struct error *error);
void diff_release(struct diff *diff);

/* The words of the JSON document. */
const char *diff_state_name(enum diff_state state);
const char *diff_verdict_name(enum diff_verdict verdict);

#endif
