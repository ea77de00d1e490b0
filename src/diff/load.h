/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What other programs on the machine can have moved.
 *
 * Interrupts are handled in the time of whoever runs, and other programs cause more of them. So the part k of a
 * program's time that the kernel has goes with the load beside it, from 7 to 22 % in recordings of one program on
 * two CPUs. Where other programs were at work beside A or B (finding `load`), such a difference
 * D = |kB - kA| says nothing about the program, and neither does what follows from it:
 *
 *	a function of the kernel	its own difference, at least D
 *	a function of the program	s D / (1 - k), s and k the larger of either side: its part of the
 *					program's own time is what it was
 *	inclusive shares		D
 *
 * Takes for granted that all of D came from outside: a program that makes more system calls than before is not told
 * from a busier machine. Fails where load moves the program's own functions against each other (shared caches).
 */
#ifndef ASSAY_DIFF_LOAD_H
#define ASSAY_DIFF_LOAD_H

#include "diff/diff.h"

/* Fills diff->load from both reports. */
void load_find(struct diff *diff);

/* How much of a difference of this row's shares load could make. */
double load_bias(const struct diff *diff, const struct diff_row *row, bool by_total);

#endif
