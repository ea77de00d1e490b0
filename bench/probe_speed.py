#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What probes cost per call, median of rounds within one run, beside the same code without and a floor.

The program measures itself; assay attaches to it in each mode in turn. The cost is the difference to the same
function that is not probed, measured in the same round.
"""
import os
import platform
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSAY = os.environ.get("ASSAY", "build/assay")
MODES = (("off", None), ("count", ["--mode", "count"]), ("every 16", ["--every", "16"]),
         ("state", ["--mode", "state"]),
         ("capped", ["--mode", "count", "--cap", "1"]), ("time", []), ("removed", None))


def build():
    """-O2, as programs are built."""
    out = Path("probe_calls").resolve()
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-o", str(out), str(HERE / "probe_calls.c")],
                   check=True)
    return out


def rounds(lines, options, pid):
    """The lines that the program prints while it is probed in this mode."""
    if options is None:
        del lines[:]
        time.sleep(1)
        return list(lines)
    with subprocess.Popen([ASSAY, "probe", "-q", "-o", "/dev/null", *options, "-f",
                           "probe_calls!*_probed", "-p", str(pid), "-d", "3"]) as probe:
        time.sleep(1.5)
        del lines[:]
        time.sleep(1)
        taken = list(lines)
        probe.wait()
    return taken


def main():
    if platform.machine() != "x86_64":
        print("probes: x86-64 only in this version")
        return 0
    lines = []
    with subprocess.Popen([str(build())], stdout=subprocess.PIPE, text=True) as program:
        reader = threading.Thread(target=read, args=(program.stdout, lines), daemon=True)
        reader.start()
        time.sleep(0.5)
        print(f"{'mode':10} {'1 ns function':>16} {'16 ns function':>16}   (cost per call, ns)")
        floor = None
        for name, options in MODES:
            values = [[float(word) for word in line.split()] for line in rounds(lines, options, program.pid)]
            small = statistics.median(v[0] - v[1] for v in values)
            work = statistics.median(v[2] - v[3] for v in values)
            floor = statistics.median(v[4] - v[3] for v in values)
            of_floor = f"   {work / floor:.2f} of the floor of {floor:.1f} ns" if name == "time" else ""
            print(f"{name:10} {small:16.2f} {work:16.2f}{of_floor}   ({len(values)} rounds)", flush=True)
        program.kill()
    return 0


def read(stream, lines):
    for line in stream:
        lines.append(line)


if __name__ == "__main__":
    sys.exit(main())
