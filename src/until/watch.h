/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Looks at a recording while it goes on, from a thread of its own, since the recorder must not wait:
 * its rings would overflow.
 *
 * The recorder asks after every wake (until_watch_ask, which never blocks); from the twelfth epoch on the
 * thread looks, again when the epochs have grown by a tenth, and never so often that looks after the first
 * take more than 20 ms and a given share of the time so far. (The first reads the symbols, which is paid
 * once; waiting would not bring it back.) When the question seems settled, and at 128, 256, ... epochs, the look
 * is a thorough one. Only what a thorough look says ends the recording.
 */
#ifndef ASSAY_UNTIL_WATCH_H
#define ASSAY_UNTIL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/sys.h"
#include "until/look.h"

struct until_watch;

struct until_watch_options {
	const char *path; /* of the bundle; it need not exist yet */
	const struct until_question *question;
	double cpu_share; /* of the time so far, that looks may take; 0: 5 % */
};

/* Borrows what the options point to. The time begins now. */
MUST_CHECK enum status until_watch_new(struct until_watch **watch, const struct sys *sys,
				       const struct until_watch_options *options,
				       struct error *error);

/* The bundle holds `epochs` finished epochs now. True: the recording should end, and *answer (settled or
 * biased) says why; it stays as it is until until_watch_free. */
bool until_watch_ask(struct until_watch *watch, uint64_t epochs);

/* The latest answer; false: none yet. */
bool until_watch_latest(struct until_watch *watch, struct until_answer *answer);

/* What the decision rests on; valid after until_watch_ask said true. */
const struct until_answer *until_watch_decision(const struct until_watch *watch);

/* How many looks there were, and the CPU time that they took. */
uint64_t until_watch_looks(struct until_watch *watch, uint64_t *cpu_ns);

/* Ends the thread, waiting for the look under way. NULL is nothing. */
void until_watch_free(struct until_watch *watch);

/* What looks cost so far, and what of it has to be waited for. */
struct until_watch_debt {
	uint64_t looks, least_ns, owed_ns;
};

/* One look more. The first is for nothing; one that was dear for once (a module was new) counts like three
 * of the cheapest. */
void until_watch_pay(struct until_watch_debt *debt, uint64_t cost_ns);

/* How long after the start the looks so far are paid for. */
uint64_t until_watch_due(const struct until_watch_debt *debt, double cpu_share);

/* When the look after one at `epochs` is due, in epochs. */
uint64_t until_watch_next(uint64_t epochs);

#endif
