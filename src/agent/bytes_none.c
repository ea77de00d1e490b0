/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where there is no agent for the machine (cmake/agent.cmake), there are no bytes of it; the engine says so
 * before it would use them.
 */
#include "agent/bytes.h"

#ifndef ASSAY_AGENT_BYTES
const uint8_t agent_code_start[64];
const uint64_t agent_code_bytes;
#endif
