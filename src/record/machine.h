/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What is known of the machine that a recording was made on; whatever cannot be read stays empty.
 */
#ifndef ASSAY_RECORD_MACHINE_H
#define ASSAY_RECORD_MACHINE_H

#include "base/sys.h"
#include "bundle/manifest.h"

/* Strings are allocated; manifest_release frees them with the manifest they are part of. */
void machine_read(struct manifest_machine *machine, const struct sys *sys);

/* The numbers in "0-3,8,10-11" (sysfs); *cpus is freed by the caller. */
MUST_CHECK enum status machine_cpus_online(const struct sys *sys, int **cpus, size_t *n,
					   struct error *error);

/* "/proc/sys/kernel/NAME" as a number, INT64_MIN when unreadable. */
int64_t machine_sysctl(const struct sys *sys, const char *name);

#endif
