/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tells a signal that was sent to assay alone from one that was sent to its whole process group.
 *
 * The kernel says who sent a signal, not to whom else. A launched command is in assay's process group,
 * so a group signal (`timeout`, a shell's job control) has reached it already, and passing it on would
 * make it two; one sent to assay alone must be passed on. The witness is a small process in the same
 * group that does nothing but note which signals reach it: what it saw, the group saw.
 *
 * It blocks every signal, ends with assay (PR_SET_PDEATHSIG) and holds no descriptor but its socket.
 */
#ifndef ASSAY_TARGET_WITNESS_H
#define ASSAY_TARGET_WITNESS_H

#include <stdbool.h>
#include <sys/types.h>

struct witness {
	pid_t pid; /* 0: there is none, and nothing is ever seen */
	int fd;
};

/* Without a witness (no process, no socket) every signal counts as sent to assay alone. */
void witness_start(struct witness *witness);

/* Has this signal reached the group since it was last asked for? Waits some milliseconds: the kernel
 * delivers to one process after the other. */
bool witness_saw(const struct witness *witness, int number);

void witness_stop(struct witness *witness);

#endif
