/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Short tasks in a file without a contract: FORK and EXIT records tell what no manifest does.
 */
#ifndef ASSAY_DIAGNOSE_FILE_TASKS_H
#define ASSAY_DIAGNOSE_FILE_TASKS_H

#include "diagnose/finding.h"
#include "profile/profile.h"

/* Adds `short-tasks` where an inherited clock started anew in tasks that ended within a few of its
 * intervals: each of them was seen at the same ages or not at all. */
void file_find_short_tasks(struct findings *findings, const struct profile *profile);

#endif
