#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What probes cost per call, median of rounds within one run, beside the same code without and a floor.

The program measures itself; assay attaches to it in each mode in turn. The cost is the difference to the same
function that is not probed, measured in the same round.
"""
import json
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
    planning()
    return 0


def planning():
    """What it costs to analyse, plan and write many functions: CPU time of assay, since others may run."""
    idle = "import ctypes, decimal, json, sqlite3, ssl, time\nprint(1, flush=True)\nwhile True: time.sleep(0.1)"
    with subprocess.Popen(["/usr/bin/python3", "-c", idle], stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        costs = []
        for _ in range(5):
            before = os.times()
            subprocess.run([ASSAY, "probe", "-q", "-o", "/dev/null", "-f", "*", "-p", str(program.pid),
                            "-d", "0.1"], check=True)
            after = os.times()
            costs.append(after.children_user + after.children_system - before.children_user
                         - before.children_system)
        subprocess.run([ASSAY, "probe", "--dry-run", "--json", "-o", "planning.json", "-f", "*", "-p",
                        str(program.pid)], check=True)
        program.kill()
    functions = json.loads(Path("planning.json").read_text(encoding="utf-8"))["functions"]
    probed = sum(row["state"] == "probed" for row in functions)
    seconds = statistics.median(costs)
    print(f"python3 and its libraries: {len(functions)} functions analysed, {probed} probed and restored in "
          f"{seconds:.2f} s of CPU time: {10000 * seconds / len(functions):.2f} s for 10000")


def read(stream, lines):
    for line in stream:
        lines.append(line)


if __name__ == "__main__":
    sys.exit(main())
