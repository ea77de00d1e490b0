/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a recording was made, as far as it matters for names: on this machine or on another, under
 * this boot's kernel or another one's, on which architecture.
 *
 * On another machine the paths of a recording prove nothing about the files here: only build-ids do.
 * The kernel's addresses are drawn anew at every boot, so that this boot's kallsyms would give
 * plausible wrong names for another's, even for the same kernel image.
 */
#ifndef ASSAY_PROFILE_ORIGIN_H
#define ASSAY_PROFILE_ORIGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/sys.h"
#include "bundle/bundle.h"

struct origin {
	bool foreign;        /* another host or another architecture */
	bool kernel_foreign; /* another host, release or boot */
	uint16_t machine;    /* EM_X86_64, EM_AARCH64, ...; EM_NONE when unknown */
};

/* `kernel_start`: the recorded address of _text, 0 when unknown. Never fails: what cannot be read
 * here is taken as equal, what the recording does not say too. */
struct origin origin_of(const struct bundle *bundle, const struct sys *sys, uint64_t kernel_start);

#endif
