#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the estimates cost: ratios of CPU time within one run of build/bench/estimate_speed.

    estimation   of ten minutes, 1000 functions and 60 epochs: at most 5 % of its report's time
    ranks        of 4000 functions in 60 epochs: at most 150 ms, as part of that

Ends with 1 when a ratio is missed.
"""
import os
import subprocess
import sys

ASSAY = os.path.abspath(os.environ.get("ASSAY", "build/assay"))
PROGRAM = os.path.join(os.path.dirname(ASSAY), "bench", "estimate_speed")
ESTIMATION = 0.05
RANKS_MS = 150.0


def main():
    if not os.path.exists(PROGRAM):
        print("estimate_speed: %s is not built (make tests)" % PROGRAM)
        return 1
    out = subprocess.run([PROGRAM, os.getcwd()], check=True, stdout=subprocess.PIPE, text=True).stdout
    told = {key: float(value) for key, value in (line.split() for line in out.splitlines())}
    share = told["estimates_ms"] / told["report_ms"]
    print("estimation %.1f ms of a report of %.1f ms: %.1f %% (at most %g %%)" % (
        told["estimates_ms"], told["report_ms"], 100 * share, 100 * ESTIMATION))
    held = share <= ESTIMATION
    for kind in ("zipf", "flat"):
        part = told["ranks_%s_ms" % kind] / RANKS_MS
        print("ranks      4000 functions, %s: %.1f ms, %.2f of what is allowed (150 ms)" % (
            kind, told["ranks_%s_ms" % kind], part))
        held &= part <= 1
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
