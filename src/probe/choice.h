/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The choosing of what is meant in one module, for choice.c (functions) and points.c (points, ends of regions).
 */
#ifndef ASSAY_PROBE_CHOICE_H
#define ASSAY_PROBE_CHOICE_H

#include "probe/install.h"

struct choice {
	struct install *install;
	struct selection *selection;
	struct code_plan_options options;
	int memory_fd; /* of the target's /proc/PID/mem */
	const struct image_module *module;
	size_t first;       /* of the module's in install->functions */
	size_t first_point; /* and in install->points */
	uint32_t most;      /* numbers that there are */
	bool later;         /* what came later may be gone for a moment: the guardian compares */
	enum status status;
	struct error *error;
};

/* Appends a function or a point's place in the module that is looked at; NULL, with choice->status set, on failure. */
struct install_function *choice_add(struct choice *choice, uint32_t index, uint64_t address);

/* Plans it, or says why not. */
void choice_plan(struct choice *choice, struct install_function *function);

/* The regions of the selection, of which no end is known yet: before any module. */
MUST_CHECK enum status points_begin(struct install *install, const struct selection *selection,
				    struct error *error);

/* The points and ends of regions that are meant in the module, when its functions are planned. */
void points_choose(struct choice *choice);

/* Numbers for its points, behind those of its functions. */
void points_number(struct choice *choice);

#endif
