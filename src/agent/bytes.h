/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The agent as bytes, to be copied to AGENT_CODE_OFFSET of a region; begins with struct agent_entries.
 * Only where the compiler makes code for an architecture that has an agent (x86-64, AArch64).
 */
#ifndef ASSAY_AGENT_BYTES_H
#define ASSAY_AGENT_BYTES_H

#include <stdint.h>

extern const uint8_t agent_code_start[];
extern const uint64_t agent_code_bytes;

#endif
