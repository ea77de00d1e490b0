/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * PMUs as sysfs shows them, and events made of their terms.
 *
 *	<sysfs>/bus/event_source/devices/<pmu>/type        attr.type
 *	                                       cpus        core PMU: the CPUs whose counter it is
 *	                                       cpumask     uncore PMU: the CPUs to open it on
 *	                                       format/T    where term T's bits go (format.h)
 *	                                       events/A    alias A: terms; A.scale, A.unit ... are not
 *
 * Source: Documentation/ABI/testing/sysfs-bus-event_source-devices*; core PMUs as is_pmu_core of
 * tools/perf/util/pmu.c.
 */
#ifndef ASSAY_EVENT_PMU_H
#define ASSAY_EVENT_PMU_H

#include "event/grammar.h"
#include "event/legacy.h"
#include "event/term.h"

#define EVENT_PMUS_MAX 4096  /* a large server has some hundreds */
#define EVENT_CPUS_MAX 65536 /* above every NR_CPUS */

struct event_pmu {
	char *name;
	uint32_t type;
	bool type_known; /* its `type` file held a number */
	bool core;       /* counts what a CPU core executes */
	int *cpus;       /* ascending; NULL when it has neither file, or none is online */
	size_t n_cpus;
	bool has_cpus; /* has one of the two files */
};

struct event_pmus {
	struct event_pmu *at; /* in byte order of their names */
	size_t n, capacity;
	size_t n_core; /* core PMUs with an online CPU: more than one is a hybrid machine */
};

/* The PMUs of this machine, read once per argument; none when sysfs shows none. NULL: no memory. */
const struct event_pmus *event_pmus_get(struct event_grammar *g);
void event_pmus_free(struct event_pmus *pmus);

/* The PMU of this exact name, NULL. */
const struct event_pmu *event_pmus_find(const struct event_pmus *pmus, struct event_slice name);

/* The text of <pmu>/<folder>/<file> (folder may be NULL), NULL when it cannot be read or is longer
 * than EVENT_FILE_MAX. The caller frees it. */
char *event_pmu_file(struct event_grammar *g, const char *pmu, const char *folder,
		     const char *file);

/* True for names of the folder events/ that are aliases, not attributes of one (.scale). */
bool event_pmu_is_alias(const char *name);

/* Adds pmu/terms/ for the PMU of that name, or for each that the glob or the name without its number
 * means. STATUS_NOT_FOUND without text: no PMU is meant. */
MUST_CHECK enum status event_pmu_add(struct event_grammar *g, struct event_slice name,
				     const struct event_terms *terms);

/* Adds the alias of that name on every PMU that has it. STATUS_NOT_FOUND without text: none has. */
MUST_CHECK enum status event_pmu_add_alias(struct event_grammar *g, struct event_slice name,
					   const struct event_terms *terms);

/* Adds a numbered event, on each core PMU where there are several; and rNNN likewise. */
MUST_CHECK enum status event_pmu_add_legacy(struct event_grammar *g,
					    const struct event_legacy *legacy);
MUST_CHECK enum status event_pmu_add_raw(struct event_grammar *g, uint64_t config);

/* Adds attr.type and attr.config as they are. */
MUST_CHECK enum status event_pmu_add_numbers(struct event_grammar *g,
					     const struct event_legacy *numbers);

/* Gives the event the PMU's CPUs. False: no memory. */
bool event_pmu_lend_cpus(struct event *event, const struct event_pmus *pmus,
			 const struct event_pmu *pmu);

/* Offers every alias of every PMU; appends ": PMUs here are a, b, c" to the error. */
void event_pmu_offer(struct event_grammar *g, struct event_near *near);
void event_pmu_tell(struct event_grammar *g);

#endif
