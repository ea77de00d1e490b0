#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a sample costs: assay record against perf record, same event, rate and stacks.

The cost of a run is what was taken from the target plus the CPU time of the profiler, over the number
of samples. The target (spin.c) counts the time taken from it, on a CPU of its own, and the same time in
the run without a profiler beside it in the round is subtracted. The profiler's CPU time is what the
kernel accounts to it and its children, less the target's. Rounds interleave all contenders in changing
order; each ratio is taken within its round, and median, least and greatest are printed.
"""

import os
import random
import re
import resource
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSAY = os.environ["ASSAY"]
ROUNDS = int(os.environ.get("SPEED_ROUNDS", "7"))
SECONDS = float(os.environ.get("SPEED_SECONDS", "4"))
PERIOD_NS = 1000000
HZ = 1000000000 // PERIOD_NS
CPU_TARGET, CPU_PROFILER = "1", "0"
LIMITS = {"assay fixed": 1.00, "assay": 1.15}


def contenders(stacks):
    """name -> what stands before the target's command."""
    graph = ["--call-graph", "fp"] if stacks else []
    assay = [ASSAY, "record", "-q", "-e", "cpu-clock", "-F", str(HZ), *graph]
    return {
        "none": [],
        "perf": ["perf", "record", "-e", "cpu-clock", "-c", str(PERIOD_NS), *graph, "-o", "perf.data", "--"],
        "assay fixed": [*assay, "--schedule", "fixed", "-o", "fixed.assay", "--"],
        "assay": [*assay, "-o", "drawn.assay", "--"],
    }


def children_cpu_ns():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return int((usage.ru_utime + usage.ru_stime) * 1e9)


def samples_in(written):
    """Of a perf.data or of the one in a bundle, counted by perf, so that both are counted alike."""
    data = Path(written)
    data = data / "perf.data" if data.is_dir() else data
    text = subprocess.run(["perf", "report", "--stats", "-i", str(data)], capture_output=True, text=True,
                          check=True).stdout
    return int(re.search(r"SAMPLE events:\s+(\d+)", text).group(1))


def run(name, command):
    """(time lost by the target, CPU time of the profiler, samples), times in ns."""
    pinned = ["taskset", "-c", CPU_PROFILER, *command] if command else []
    before = children_cpu_ns()
    done = subprocess.run([*pinned, "./spin", str(SECONDS), CPU_TARGET], capture_output=True, text=True,
                          timeout=SECONDS * 10 + 60, check=False)
    cpu = children_cpu_ns() - before
    if done.returncode:
        sys.exit(f"{name}: ended with {done.returncode}: {done.stderr}")
    _, lost, _, own = (int(word) for word in done.stdout.split()[:4])
    if not command:
        return lost, 0, 0
    return lost, max(cpu - own, 0), samples_in(command[command.index("-o") + 1])


def one_round(stacks, chance):
    """name -> ns per sample, in target, in profiler."""
    commands = list(contenders(stacks).items())
    chance.shuffle(commands)
    measured = {name: run(name, command) for name, command in commands}
    base = measured.pop("none")[0]
    return {name: ((lost - base) / samples, cpu / samples, samples)
            for name, (lost, cpu, samples) in measured.items()}


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def compare(stacks, chance):
    rounds = [one_round(stacks, chance) for _ in range(ROUNDS)]
    print(f"cpu-clock, {HZ} samples/s, {'call graph fp' if stacks else 'no stacks'}, "
          f"{ROUNDS} rounds of {SECONDS:.0f} s: us per sample, median (min-max)")
    for name in rounds[0]:
        target = spread([r[name][0] / 1000 for r in rounds])
        profiler = spread([r[name][1] / 1000 for r in rounds])
        both = [(r[name][0] + r[name][1]) / 1000 for r in rounds]
        samples = statistics.median(r[name][2] for r in rounds)
        line = f"  {name:12} target {target}, profiler {profiler}, both {spread(both)}, {samples:.0f} samples"
        if name != "perf":
            ratios = [sum(r[name][:2]) / sum(r["perf"][:2]) for r in rounds]
            within = "within" if statistics.median(ratios) <= LIMITS[name] else "ABOVE"
            line += f"; ratio to perf {spread(ratios)}, {within} {LIMITS[name]:.2f}"
        print(line, flush=True)


def main():
    if os.cpu_count() < 2 or not shutil.which("perf"):
        print("not measured: this needs two processors and perf")
        return 0
    compiler = [os.environ.get("CC", "gcc"), "-O2", "-o", "spin", str(HERE / "spin.c")]
    subprocess.run(compiler, check=True)
    chance = random.Random(1)
    for stacks in (False, True):
        compare(stacks, chance)
    return 0


if __name__ == "__main__":
    sys.exit(main())
