/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Time axes: the samples of a program, or of one thread, at the times that a conventional clock would count.
 * Internal to alias_*.c.
 *
 *	whole program	all randomised samples by time: a clock per CPU, or one thread
 *	one thread	its samples by time: a clock per thread, whose phase is its own
 *	one thread	its samples by its CPU time, where READ gives it and the thread was often off the CPU:
 *			a clock per thread counts only that
 *
 * Samples in the kernel are left out as long as they are the smaller part: the kernel's own tick runs in
 * step with every clock of 100, 250 or 1000 Hz on every machine, which says nothing of the program.
 */
#ifndef ASSAY_DIAGNOSE_ALIAS_AXIS_H
#define ASSAY_DIAGNOSE_ALIAS_AXIS_H

#include "diagnose/alias.h"

struct axis {
	double *times;       /* ns since the first sample, ascending */
	uint32_t *functions; /* of the matrix */
	uint8_t *slots;      /* scratch: by sample, which watched function of a lock it is of */
	size_t n;
	double part;   /* of all randomised samples */
	uint32_t tid;  /* of a thread's axis */
	bool cpu_time; /* else time */
	bool thread;
	bool interrupted; /* of time, and the program was off the CPU for a good part of it */
};

struct axes {
	struct axis items[1 + 2 * ALIAS_THREADS];
	size_t n;
};

/* False without memory; release in any case. */
bool axes_make(struct axes *axes, const struct alias *alias);
void axes_release(struct axes *axes);

/* Measures the lines of a lock against the band beside them, corrects its P-values and its worst function,
 * and gives its functions the error that a clock would typically have. `n_periods` were tested. False
 * without memory. */
bool axis_lock_correct(struct axis *axis, struct estimate_lock *lock, double n_periods);

#endif
