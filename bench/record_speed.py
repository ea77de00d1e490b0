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
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSAY = os.environ["ASSAY"]
ROUNDS = int(os.environ.get("SPEED_ROUNDS", "7"))
SECONDS = float(os.environ.get("SPEED_SECONDS", "4"))
SHORT_SECONDS = 0.2
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


def run(name, command, seconds):
    """(time lost by the target, CPU time of the profiler, samples), times in ns."""
    pinned = ["taskset", "-c", CPU_PROFILER, *command] if command else []
    before = children_cpu_ns()
    done = subprocess.run([*pinned, "./spin", str(seconds), CPU_TARGET], capture_output=True, text=True,
                          timeout=seconds * 10 + 60, check=False)
    cpu = children_cpu_ns() - before
    if done.returncode:
        sys.exit(f"{name}: ended with {done.returncode}: {done.stderr}")
    _, lost, _, own = (int(word) for word in done.stdout.split()[:4])
    if not command:
        return lost, 0, 0
    return lost, max(cpu - own, 0), samples_in(command[command.index("-o") + 1])


@dataclass
class Cost:
    """Of one contender in one round; ns per sample but for `ends_ms` and `samples`."""
    target: float
    profiler: float  # start and end included
    running: float  # start and end taken out
    ends_ms: float
    samples: int


def one_round(stacks, chance):
    """name -> Cost."""
    commands = list(contenders(stacks).items())
    chance.shuffle(commands)
    long = {name: run(name, command, SECONDS) for name, command in commands}
    short = {name: run(name, command, SHORT_SECONDS) for name, command in commands}
    base = long["none"][0]
    costs = {}
    for name, (lost, cpu, samples) in long.items():
        if name == "none":
            continue
        _, short_cpu, short_samples = short[name]
        running = max(cpu - short_cpu, 0) / (samples - short_samples)
        costs[name] = Cost((lost - base) / samples, cpu / samples, running,
                           (short_cpu - running * short_samples) / 1e6, samples)
    return costs


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def show_ratio(name, what, ratios):
    within = "within" if statistics.median(ratios) <= LIMITS[name] else "ABOVE"
    print(f"    {what}: {spread(ratios)} of perf's, {within} {LIMITS[name]:.2f}", flush=True)


def compare(stacks, chance):
    rounds = [one_round(stacks, chance) for _ in range(ROUNDS)]
    print(f"cpu-clock, {HZ} samples/s, {'call graph fp' if stacks else 'no stacks'}, "
          f"{ROUNDS} rounds of {SECONDS:.0f} s: us per sample, median (min-max)")
    for name in sorted(rounds[0]):
        costs = [costs[name] for costs in rounds]
        peers = [costs["perf"] for costs in rounds]
        print(f"  {name}: target {spread([c.target / 1000 for c in costs])}"
              f" + profiler {spread([c.running / 1000 for c in costs])} while running;"
              f" start and end {spread([c.ends_ms for c in costs])} ms of CPU;"
              f" {statistics.median(c.samples for c in costs):.0f} samples")
        if name == "perf":
            continue
        show_ratio(name, "while running", [(c.target + c.running) / (p.target + p.running)
                                           for c, p in zip(costs, peers)])
        show_ratio(name, "start and end included", [(c.target + c.profiler) / (p.target + p.profiler)
                                                    for c, p in zip(costs, peers)])


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
