#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Counts the tests that ran in the emulated machine: reads its console, prints as tests/run does.

The console is believed only when the machine reached GUEST-DONE; each program is judged as on the
host (tests/runner/tap.py).
"""

import collections
import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "runner"))

import tap  # noqa: E402


def programs(lines):
    """(name, its lines, its status) of each program on the console."""
    name, output = None, []
    for line in lines:
        if line.startswith("GUEST-PROGRAM "):
            name, output = line.split(" ", 1)[1], []
        elif line.startswith("GUEST-STATUS ") and name:
            status = int(line.split()[1])
            # the shell's 128 + signal, as subprocess counts it
            yield name, output, 128 - status if status > 128 else status
            name = None
        elif name:
            output.append(line)
    if name:
        yield name, output, -9


def main():
    console = Path(sys.argv[1]).read_text(encoding="utf-8", errors="replace").splitlines()
    counts, skips = collections.Counter(), collections.Counter()
    for name, output, status in programs(console):
        # busybox' timeout says 143 when it ended a program
        results = tap.judge(output, status, status == -15, name.startswith("unit-"))
        words = collections.Counter(result.outcome for result in results)
        print(f"arm64/{name}: " + ", ".join(f"{n} {kind}" for kind, n in words.items()))
        for result in results:
            if result.outcome == tap.FAILED:
                print(f"    FAILED: {result.claim} {result.reason}")
                print("".join(f"      {line}\n" for line in result.details[-20:]), end="")
            elif result.outcome == tap.SKIPPED:
                skips[result.reason] += 1
        counts.update(words)
    if "GUEST-DONE" not in console:
        print("    FAILED: the machine did not come to its end; its last lines:")
        print("".join(f"      {line}\n" for line in console[-20:]), end="")
        counts[tap.FAILED] += 1
    for reason, n in skips.most_common():
        print(f"  skipped {n} x {reason}")
    print(f"{counts[tap.PASSED]} passed, {counts[tap.FAILED]} failed"
          + (f", {counts[tap.SKIPPED]} skipped" if counts[tap.SKIPPED] else ""))
    return 1 if counts[tap.FAILED] or not counts[tap.PASSED] else 0


if __name__ == "__main__":
    sys.exit(main())
