/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * AArch64: how a thread finds its block. No register leads there, as the gs base does on x86-64, so the buffers
 * hold a table of block addresses, found by a hash of the thread pointer (TPIDR_EL0):
 *
 *	slot(thread) = bits 32 .. 32 + AGENT_SLOT_BITS - 1 of thread * AGENT_SLOT_FACTOR
 *
 * Stubs look at that one slot, the agent also at those behind it. A slot is no proof: only a block that
 * carries minus this thread pointer is the thread's, so that slots of threads that are gone, or that another thread has
 * taken, do no harm. Slots are written as one word each.
 */
#ifndef ASSAY_AGENT_SLOTS_H
#define ASSAY_AGENT_SLOTS_H

#include "agent/layout.h"

#define AGENT_SLOT_BITS     13u
#define AGENT_SLOT_FACTOR   0x9e3779b1u /* 2^32 / golden ratio, odd */
#define AGENT_SLOT_PROBES   8u
#define AGENT_SLOTS         (1u << AGENT_SLOT_BITS)
#define AGENT_SLOTS_OFFSET  0x2000u    /* in the buffers */
#define AGENT_CLAIM_NOTHING UINT32_MAX /* number of a function: look, claim no block */

#ifdef __aarch64__
#define AGENT_SLOTS_BYTES (8u * AGENT_SLOTS)
#else
#define AGENT_SLOTS_BYTES 0u
#endif

/* The slot that a thread's block is looked for in first. */
static inline uint32_t agent_slot_of(uint64_t thread)
{
	return (uint32_t)((thread * AGENT_SLOT_FACTOR) >> 32) & (AGENT_SLOTS - 1);
}

#endif
