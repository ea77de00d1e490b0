/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From a sample to the key of its stack, and from a stack to its places.
 *
 * A raw chain is a list of addresses, innermost first, with markers (PERF_CONTEXT_KERNEL, _USER, ...)
 * that say to which context the following ones belong. The first address of a context is where that
 * context stood; every later one is a return address.
 *
 *	frame pointers   the file's chain as it is
 *	dwarf            its kernel part, then PERF_CONTEXT_USER and what unwinding the dumped stack gives
 *	no chain         the sampled address alone
 *
 * The sampled address itself is sample.ip, which a precise event may have corrected; a chain whose
 * first address differs from it gets its place taken by it, as in perf.
 */
#ifndef ASSAY_PROFILE_CHAINS_H
#define ASSAY_PROFILE_CHAINS_H

#include "base/status.h"
#include "bundle/perfdata_reader.h"
#include "profile/stacks.h"
#include "symbolize/symbolizer.h"

struct profile;
struct chains;

MUST_CHECK enum status chains_new(struct chains **chains, struct profile *profile,
				  struct symbolizer *symbolizer, struct error *error);
void chains_free(struct chains *chains);

/* Fills all of *stack but hash, tag and counts. The chain is valid until the next call on `chains` or
 * on the reader. */
MUST_CHECK enum status chains_stack(struct chains *chains, const struct perfdata_sample *sample,
				    uint32_t generation, struct stack *stack, struct error *error);

/* How many addresses of a chain are no markers. */
size_t chains_depth(const uint64_t *chain, size_t n);

#endif
