/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the machine that assay runs on offers to the probes.
 */
#ifndef ASSAY_PROBE_MACHINE_H
#define ASSAY_PROBE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <elf.h>

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#error "probes are for x86-64 and AArch64"
#endif

/* The counter that durations are measured by: TSC, or CNTVCT_EL0. */
uint64_t machine_ticks(void);

/* AArch64: instructions that add to memory (LSE, HWCAP_ATOMICS). */
bool machine_has_atomics(void);

/* The return instruction: *size bytes. */
const uint8_t *machine_return(unsigned int *size);

/* Pages are as large as the layout of the probes' memory takes them for (AArch64 kernels may have 16 or 64 KiB). */
bool machine_pages_fit(void);

#endif
