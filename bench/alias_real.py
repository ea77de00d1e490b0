#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""How often the findings on aliasing are right on real recordings.

    bench/alias_real.py [RECORDINGS] [SEED]        (ASSAY=build/assay)

Each recording draws its own program (bench/alias_cycle.c: an exact cycle in step with the canary or with a
conventional rate, a wobbling one, none at all), its length, its shares and its seed, is made with
`assay record --canary`, and judged by `assay diagnose --json`. Truth is counted inside the program; what a
conventional profile would have shown is what the canary saw, read with perf. Reported are

    false alarms   alias-locked, -possible or -flip on a program without a cycle that could lock
    recall         of recordings whose canary is off by more than 5 points beyond chance in some function:
                   those with any of the three
    flip           of all alias-flip: those whose order is the true one

Needs root, perf, a C compiler and a machine with little else to do; 4 s per recording.
"""

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
SECONDS = 3
RATE = 2000          # all clocks together; the canary has a quarter
CANARY_US = 2000     # its period
ERROR = 0.05


def programs(draw):
    """(mode, cycle in us, may lock) of one recording."""
    kind = draw.choice(["random", "wobble", "golden", "canary", "canary", "canary", "ratio", "divisor"])
    if kind == "random":
        return "random", draw.uniform(300, 5000), False
    if kind == "wobble":
        return "wobble", draw.uniform(3, 8) * CANARY_US, False
    if kind == "golden":  # in step with nothing that is tested
        return "cycle", CANARY_US * 0.6180339887, False
    if kind == "canary":
        return "cycle", CANARY_US, True
    if kind == "ratio":
        return "cycle", CANARY_US * draw.choice([2 / 3, 1.5, 1.25]), True
    return "cycle", CANARY_US / draw.choice([2, 4]), True


def canary_counts(bundle):
    script = subprocess.run(["perf", "script", "-i", bundle + "/perf.data", "-F", "event,ip,sym"],
                            capture_output=True, text=True, check=True).stdout
    counts = dict.fromkeys(FUNCTIONS, 0)
    event = ""
    for line in script.split("\n"):
        words = line.split()
        if "cpu-clock" in line:
            event = line
        name = words[-1].split("+")[0] if words else ""
        if "canary" in event and name in counts:
            counts[name] += 1
    return counts


def shares(counts):
    total = sum(counts.values())
    return {name: n / total for name, n in counts.items()} if total else None


def one(number, seed, folder):
    draw = random.Random(seed * 100003 + number)
    mode, cycle, may_lock = programs(draw)
    bundle = os.path.join(folder, "b.assay")
    done = subprocess.run([ASSAY, "record", "--canary", "-F", str(RATE), "--seed", str(draw.randrange(1, 1 << 40)),
                           "-o", bundle, "--", os.path.join(folder, "alias_cycle"), mode, f"{cycle:.6f}",
                           str(SECONDS), str(draw.randrange(1, 1 << 30))],
                          capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit(f"assay record failed: {done.stderr}")
    truth = shares({line.split()[0]: int(line.split()[1]) for line in done.stdout.strip().split("\n")})
    diagnosis = json.loads(subprocess.run([ASSAY, "diagnose", "--json", bundle], capture_output=True, text=True,
                                          check=True).stdout)
    counts = canary_counts(bundle)
    seen = shares(counts)
    n = sum(counts.values())
    error, wrong = 0, False
    for name in FUNCTIONS:
        off = abs(seen[name] - truth[name])
        chance = 3.5 * math.sqrt(truth[name] * (1 - truth[name]) / n)
        error = max(error, off)
        wrong |= off > ERROR and off > chance
    findings = [f for f in diagnosis["findings"] if f["code"] in ("alias-locked", "alias-possible", "alias-flip")]
    flips = [(f["evidence"]["shown_first"], f["evidence"]["truly_first"]) for f in findings
             if f["code"] == "alias-flip"]
    return {"mode": mode, "cycle": cycle, "may_lock": may_lock, "error": error, "wrong": wrong, "n": n,
            "alarm": bool(findings), "codes": sorted({f["code"] for f in findings}),
            "flips": len(flips),
            "flips_right": sum(truth.get(b, 0) > truth.get(a, 0) for a, b in flips)}


def main():
    recordings = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 20261201
    results = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-o", folder + "/alias_cycle",
                        HERE + "/alias_cycle.c", "-lm"], check=True)
        for number in range(recordings):
            result = one(number, seed, folder)
            results.append(result)
            print(f"{number:4} {result['mode']:7} {result['cycle']:9.1f} us  {result['n']:5} canary samples, off by "
                  f"{100 * result['error']:5.1f} points{' WRONG' if result['wrong'] else '      '}  "
                  f"{' '.join(result['codes']) or '-'}", flush=True)
    harmless = [r for r in results if not r["may_lock"] and not r["wrong"]]
    wrong = [r for r in results if r["wrong"]]
    flips, right = sum(r["flips"] for r in results), sum(r["flips_right"] for r in results)
    print(f"\nfalse alarms: {sum(r['alarm'] for r in harmless)} of {len(harmless)}")
    print(f"recall of errors above 5 points: {sum(r['alarm'] for r in wrong)} of {len(wrong)}")
    print(f"alias-flip is right: {right} of {flips}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
