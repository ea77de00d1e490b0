/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Names for the code of probes, for those who sample the target meanwhile.
 *
 * Return addresses are never touched, so all but the innermost frame of a stack read as if there were no probes.
 * The innermost may stand in a trampoline, which is anonymous memory. Profilers name such addresses by the
 * file that programs write which generate code, /tmp/perf-PID.map in the target's own namespaces
 * (tools/perf/Documentation/jit-interface.txt):
 *
 *	7f8ff2410040 1c0 json_dumps
 *
 * It stays when assay ends, as the trampolines do: a recording is read later.
 */
#ifndef ASSAY_PROBE_NAMES_H
#define ASSAY_PROBE_NAMES_H

#include <sys/types.h>

#include "base/status.h"
#include "probe/install.h"

/* What the code is called that all functions share. */
#define NAMES_AGENT "[assay probe]"

/* Writes the file for what is written in `pid` by now. One that is there already is somebody else's: nothing is
 * changed, and the error says so, unless `again`: then it is this call's own of before, and replaced. */
MUST_CHECK enum status names_write(const struct install *install, pid_t pid, bool again,
				   struct error *error);

#endif
