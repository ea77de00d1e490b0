/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals of the commands that run a program: they come through a descriptor, and the end is the program's.
 */
#ifndef ASSAY_CLI_SIGNALS_H
#define ASSAY_CLI_SIGNALS_H

#include <stddef.h>

/* Blocks these signals for the calling thread, and so for those it starts later; gives a descriptor (non-blocking,
 * close-on-exec, the caller's) that they are read from (signalfd(2)), or -1 with errno. Whoever is launched
 * afterwards inherits the mask and has to put it back. */
int signals_open(const int *numbers, size_t count);

/* Dies by this signal, as the program did, and without a core file of assay's own. Comes back only when the signal
 * does not kill. */
void signals_die_by(int number);

#endif
