#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the findings on aliasing are right on real recordings.

    bench/alias_real.py [RECORDINGS] [SEED]        (ASSAY=build/assay; 100 recordings)

Each recording draws its own program (bench/alias_cycle.c: an exact cycle in step with the canary, a
wobbling one, none at all), its length, its shares and its seed, is made with `assay record --canary`, and
judged by `assay diagnose --json`. Truth is counted inside the program; what a conventional profile would
have shown is what the canary saw, read with perf. Reported are

    false alarms   of recordings of programs that are not in step with the canary, those with
                   alias-locked, -possible or -flip that is not true of another clock (see below)
    recall         of recordings whose canary is off by more than 5 points beyond chance in some function:
                   those with any of the three
    flip           of all alias-flip: those whose order is the true one

Not in step with the canary is not in step with nothing: the diagnosis names other clocks, too, and on a
busy machine the scheduler's turns put a program in step with the tick. So an alarm about another clock is
taken for true if that clock, set to the known cycle at fifty phases, is off by 2 points; or if functions
depend on the phase of the period in the canary's samples (p < 0.001), which the diagnosis did not use
for it.

Ends with 1 when a figure is missed. Needs root, perf, a C compiler; about 5 s per recording when the
machine has little else to do.
"""

import cmath
import json
import math
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ASSAY = os.path.abspath(os.environ.get("ASSAY", os.path.join(HERE, "..", "build", "assay")))
FUNCTIONS = ["alpha", "beta", "gamma_", "delta", "epsilon", "zeta"]
CODES = ("alias-locked", "alias-possible", "alias-flip")
SECONDS = 3
RATE = 2000          # all clocks together; the canary has a quarter
CANARY_US = 2000     # its period
ERROR = 0.05
FALSE_ALARMS_MAX, RECALL_MIN, FLIP_MIN = 0.03, 0.96, 0.95


def programs(draw):
    """(mode, cycle in us, in step with the canary) of one recording."""
    kind = draw.choice(["random", "wobble", "golden", "canary", "canary", draw.choice(["ratio", "divisor"])])
    if kind == "random":
        return "random", draw.uniform(300, 5000), False
    if kind == "wobble":
        return "wobble", draw.uniform(3, 8) * CANARY_US, False
    if kind == "golden":
        return "cycle", CANARY_US * 0.6180339887, False
    if kind == "canary":
        return "cycle", CANARY_US, True
    if kind == "ratio":
        return "cycle", CANARY_US * draw.choice([2 / 3, 1.5, 1.25]), True
    return "cycle", CANARY_US / draw.choice([2, 4]), True


def canary_samples(bundle):
    """(time in ns, function) of each sample of the canary."""
    script = subprocess.run(["perf", "script", "-i", bundle + "/perf.data", "--ns", "-F", "time,event,ip,sym"],
                            capture_output=True, text=True, check=True).stdout
    samples, event = [], ""
    for line in script.split("\n"):
        if "cpu-clock" in line:
            event = line
        words = line.split()
        name = words[-1].split("+")[0] if words else ""
        if "canary" in event and name in FUNCTIONS:
            seconds, fraction = event.split()[0].rstrip(":").split(".")
            samples.append((int(seconds) * 10**9 + int(fraction), name))
    return samples


def shares(counts):
    total = sum(counts.values())
    return {name: n / total for name, n in counts.items()} if total else None


def coherence_p(samples, period_ns):
    """P-value of some function preferring a phase of the period, in samples at these times. Each stretch of 100 ms
    is one piece of evidence (a program that is interrupted gives samples in clusters): W = |sum A_b|^2 / sum |A_b|^2,
    exponential if the stretches do not agree."""
    best = 1.0
    for function in FUNCTIONS:
        share = sum(name == function for _, name in samples) / len(samples)
        if share * len(samples) < 20:
            continue
        stretches = {}
        for time_ns, name in samples:
            wave = cmath.exp(2j * math.pi * (time_ns / period_ns % 1))
            stretches[time_ns // 10**8] = stretches.get(time_ns // 10**8, 0) + ((name == function) - share) * wave
        total = abs(sum(stretches.values())) ** 2
        best = min(best, math.exp(-total / sum(abs(z) ** 2 for z in stretches.values())))
    return min(1, best * len(FUNCTIONS))


def clock_is_off(period_us, cycle_us, truth):
    """Whether a clock of this period is off by 2 points on a program that takes turns in this cycle."""
    ticks = int(SECONDS * 1e6 / period_us)
    for start in range(50):
        counts = dict.fromkeys(FUNCTIONS, 0)
        for tick in range(ticks):
            at = (start / 50 * cycle_us + tick * period_us) / cycle_us % 1
            for name in FUNCTIONS:
                at -= truth[name]
                if at < 0:
                    break
            counts[name] += 1
        if max(abs(counts[name] / ticks - truth[name]) for name in FUNCTIONS) >= 0.02:
            return True
    return False


def alarm_is_true(finding, mode, cycle_us, truth, samples):
    evidence = finding["evidence"]
    if evidence["test"] != "virtual canary":
        return False
    period_ns = evidence["period_ns"]
    if mode == "cycle" and clock_is_off(period_ns / 1000, cycle_us, truth):
        return True
    return coherence_p(samples, evidence["component_ns"]) < 0.001


def one(number, seed, folder, assay=ASSAY):
    draw = random.Random(seed * 100003 + number)
    mode, cycle, in_step = programs(draw)
    return recording(folder, mode, cycle, in_step, draw, assay)


def recording(folder, mode, cycle, in_step, draw, assay=ASSAY):
    bundle = os.path.join(folder, "b.assay")
    done = subprocess.run([assay, "record", "--canary", "-F", str(RATE), "--seed", str(draw.randrange(1, 1 << 40)),
                           "-o", bundle, "--", os.path.join(folder, "alias_cycle"), mode, f"{cycle:.6f}",
                           str(SECONDS), str(draw.randrange(1, 1 << 30))],
                          capture_output=True, text=True, timeout=300)
    if done.returncode:
        sys.exit(f"assay record failed: {done.stderr}")
    truth = shares({line.split()[0]: int(line.split()[1]) for line in done.stdout.strip().split("\n")})
    diagnosis = json.loads(subprocess.run([assay, "diagnose", "--json", bundle], capture_output=True, text=True,
                                          check=True).stdout)
    samples = canary_samples(bundle)
    seen = shares({name: sum(s[1] == name for s in samples) for name in FUNCTIONS})
    n = len(samples)
    error, wrong = 0, False
    for name in FUNCTIONS:
        off = abs(seen[name] - truth[name])
        chance = 3.5 * math.sqrt(truth[name] * (1 - truth[name]) / n)
        error = max(error, off)
        wrong |= off > ERROR and off > chance
    findings = [f for f in diagnosis["findings"] if f["code"] in CODES]
    flips = [(f["evidence"]["shown_first"], f["evidence"]["truly_first"]) for f in findings
             if f["code"] == "alias-flip"]
    true = [alarm_is_true(f, mode, cycle, truth, samples) for f in findings] if not in_step else []
    return {"mode": mode, "cycle": cycle, "in_step": in_step, "error": error, "wrong": wrong, "n": n,
            "alarm": bool(findings), "codes": sorted({f["code"] for f in findings}), "findings": findings,
            "false_alarm": not in_step and not wrong and not all(true), "other_clock": bool(true) and all(true),
            "flips": len(flips), "flips_right": sum(truth.get(b, 0) > truth.get(a, 0) for a, b in flips)}


def compile_program(folder):
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", folder + "/alias_cycle", HERE + "/alias_cycle.c",
                    "-lm"], check=True)


def claim(what, hits, n, held, limit):
    print(f"{'held  ' if held else 'MISSED'} {what}: {hits} of {n}, limit {100 * limit:.0f} %")
    return held


def main():
    recordings = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261201
    results = []
    with tempfile.TemporaryDirectory() as folder:
        compile_program(folder)
        for number in range(recordings):
            result = one(number, seed, folder)
            results.append(result)
            print(f"{number:4} {result['mode']:7} {result['cycle']:9.1f} us  {result['n']:5} canary samples, off by "
                  f"{100 * result['error']:5.1f} points{' WRONG' if result['wrong'] else '      '}  "
                  f"{' '.join(result['codes']) or '-'}"
                  f"{' FALSE' if result['false_alarm'] else ' (other clock)' if result['other_clock'] else ''}",
                  flush=True)
    harmless = [r for r in results if not r["in_step"] and not r["wrong"]]
    false = sum(r["false_alarm"] for r in harmless)
    wrong = [r for r in results if r["wrong"]]
    found = sum(r["alarm"] for r in wrong)
    flips, right = sum(r["flips"] for r in results), sum(r["flips_right"] for r in results)
    print()
    held = [claim("false alarms", false, len(harmless), false <= FALSE_ALARMS_MAX * len(harmless),
                  FALSE_ALARMS_MAX),
            claim("recall of errors above 5 points", found, len(wrong), found >= RECALL_MIN * len(wrong),
                  RECALL_MIN),
            claim("alias-flip is right", right, flips, right >= FLIP_MIN * flips, FLIP_MIN)]
    print(f"       true alarms about other clocks than the canary: {sum(r['other_clock'] for r in results)}")
    return not all(held)


if __name__ == "__main__":
    sys.exit(main())
