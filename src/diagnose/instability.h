/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What moved under the program while it was measured: CPUs, their speed and temperature, other programs,
 * the hypervisor.
 */
#ifndef ASSAY_DIAGNOSE_INSTABILITY_H
#define ASSAY_DIAGNOSE_INSTABILITY_H

#include "bundle/manifest.h"
#include "diagnose/finding.h"
#include "diagnose/trace.h"

/* `trace` NULL: not read; `manifest` NULL: a plain perf.data, of which only migration can be told. */
void instability_find(struct findings *findings, const struct trace *trace,
		      const struct manifest *manifest);

#endif
