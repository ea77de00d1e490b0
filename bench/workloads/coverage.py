#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Do the intervals cover the truth on real executions?

    bench/workloads/coverage.py [-n RECORDINGS] [--results FILE] [--table] [PROGRAM...]

Makes recordings of programs that count their own CPU time by function, estimates them with
`assay report --json`, and appends one line of JSON per recording to FILE (default
build/bench/coverage.jsonl), so that a study can be stopped and taken up again; with --table it only sums
up what is there. Recordings take turns between the programs, one at a time, with arguments and seeds
drawn from their number.

One function is watched per recording, chosen by the recording's number, so that 200 recordings are 200
independent trials: a 95 % interval misses more than 18 of them with a chance of 0.5 %. `periodic` prefers
cycles of whole milliseconds and of the fixed clock's period, which are the ones that lock; `any-cycle` is
the same program with any cycle. Side by side are

    assay      the interval for this recording of the function's total share
    binomial   p +- 1.96 sqrt(p (1-p)/n) of the same samples
    fixed      the same of a fixed clock that ran beside (periodic only: --canary, read with perf)

and over all functions of all recordings the part of intervals that cover; recordings in which two
functions were put in an order that was not theirs; and those in which the first five were settled.

The total share is compared, since an interrupt in the middle of a function is part of its CPU time, but
not of its own code. Needs root, and perf for the fixed clock. Exit code 1 when fewer than 182 of 200 (in
proportion) are covered.
"""

import argparse
import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("ASSAY_BUILD", ROOT / "build"))
ASSAY = os.environ.get("ASSAY", str(BUILD / "assay"))
SEED = 20261201
SECONDS = 1.2
RATE = 1000             # of the randomised clocks together
CANARY_RATE = RATE / 3  # of all clocks the canary has a quarter
Z = 1.959964
NEEDED = 182 / 200
PROGRAMS = ["periodic", "tie", "flat", "any-cycle"]
BINARIES = {"any-cycle": "periodic"}


def arguments(program, draw):
    """Argument and options of one recording."""
    if program == "tie":
        return f"{draw.choice([30, 100, 300])}", ["-F", str(RATE)]
    if program == "flat":
        return f"{draw.choice([20, 50, 100])}", ["-F", str(RATE)]
    canary_us = 1e6 / CANARY_RATE
    if program == "any-cycle":
        return f"{math.exp(draw.uniform(math.log(300), math.log(20000))):.3f}", ["-F", str(RATE)]
    cycle = draw.choice([canary_us, canary_us / 2, canary_us * 2 / 3, 1000, 2000, 10000,
                         math.exp(draw.uniform(math.log(300), math.log(20000)))])
    return f"{cycle:.3f}", ["-F", f"{RATE + CANARY_RATE:.0f}", "--canary"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def truth_of(output):
    spent, process = {}, 0
    for line in output.splitlines():
        words = line.split()
        if words[0] == "truth":
            spent[words[1]] = int(words[2])
        elif words[0] == "process":
            process = int(words[1])
    return {name: ns / process for name, ns in spent.items()}


def canary_of(bundle, names):
    """Samples of the fixed clock by function: whoever of the program's functions is on the stack."""
    counts, total, event, seen = dict.fromkeys(names, 0), 0, False, set()
    script = run(["perf", "script", "-i", f"{bundle}/perf.data", "-F", "event,ip,sym"])
    for line in script.splitlines() + [""]:
        words = line.split()
        if not words:
            for name in seen:
                counts[name] += 1
            seen = set()
        elif words[-1].endswith(":") or "cpu-clock" in line:
            event = "canary" in line
            total += event
        elif event and words[-1] in counts:
            seen.add(words[-1])
    return counts, total


def record(program, number):
    draw = random.Random(f"{SEED}/{program}/{number}")
    argument, options = arguments(program, draw)
    binary = BINARIES.get(program, program)
    with tempfile.TemporaryDirectory() as folder:
        bundle = f"{folder}/b.assay"
        output = run([ASSAY, "record", "-g", *options, "--seed", str(draw.randrange(1, 1 << 40)), "-o", bundle, "--",
                      str(BUILD / "bench" / "workloads" / binary), argument, str(SECONDS),
                      str(draw.randrange(1, 1 << 30))])
        report = json.loads(run([ASSAY, "report", "--json", bundle]))
        truth = truth_of(output)
        result = {"program": program, "number": number, "argument": argument,
                  "load": round(os.getloadavg()[0], 2), "samples": report["totals"]["samples"],
                  "epochs": report["totals"]["epochs"], "state": report["verdict"]["state"],
                  "order_settled": report["verdict"]["order_settled"], "functions": {}}
        for function in report["functions"]:
            if function["module"] != binary or function["name"] not in truth:
                continue
            result["functions"][function["name"]] = {
                "truth": truth[function["name"]], "rank": [function["rank_lo"], function["rank_hi"]],
                "self": [function["self"][key] for key in ("share", "lo", "hi")],
                "total": [function["total"][key] for key in ("share", "lo", "hi")]}
        for name, share in truth.items():  # without a sample: the bound that report gives for it
            result["functions"].setdefault(name, {
                "truth": share, "rank": None, "self": [0, 0, 3 / result["samples"]],
                "total": [0, 0, 3 / result["samples"]]})
        if "--canary" in options:
            counts, total = canary_of(bundle, truth)
            result["fixed_samples"] = total
            for name, count in counts.items():
                result["functions"][name]["fixed"] = count / total
    return result


def covered(low, high, truth):
    return low <= truth <= high


def binomial(share, n, truth):
    return abs(share - truth) <= Z * math.sqrt(share * (1 - share) / n)


def judge(result):
    """Per function which intervals cover; and whether anything about order was wrong."""
    functions = result["functions"]
    judged = {}
    for name, function in functions.items():
        share, low, high = function["total"]
        judged[name] = {"assay": covered(low, high, function["truth"]),
                        "assay, self": covered(*function["self"][1:], function["truth"]),
                        "binomial": binomial(share, result["samples"], function["truth"])}
        if "fixed" in function:
            judged[name]["fixed"] = binomial(function["fixed"], result["fixed_samples"], function["truth"])
    # beyond the contenders a range is open: the order there was not examined
    ranked = [f for f in functions.values() if f["rank"] and None not in f["rank"]]
    wrong = any(a["rank"][1] < b["rank"][0] and a["truth"] < b["truth"] for a in ranked for b in ranked)
    return judged, wrong


def table(results, recordings):
    """Prints the figures; true when every program reaches what is needed."""
    good = True
    print(f"{'':28}{'watched function':>18}{'all functions':>16}{'median width':>15}")
    for program in PROGRAMS:
        own = sorted((r for r in results if r["program"] == program), key=lambda r: r["number"])[:recordings]
        if not own:
            continue
        judgements = [judge(result) for result in own]
        loads = sorted(r["load"] for r in own)
        samples = sorted(r["samples"] for r in own)
        print(f"{program}: {len(own)} recordings, {samples[0]}..{samples[-1]} samples, "
              f"load {loads[0]}..{loads[-1]}")
        for method in ("assay", "assay, self", "binomial", "fixed"):
            watched, everything = [], []
            for result, (judged, _) in zip(own, judgements):
                names = sorted(judged)
                everything += [judged[name][method] for name in names if method in judged[name]]
                name = names[result["number"] % len(names)]
                if method in judged[name]:
                    watched.append(judged[name][method])
            if not watched:
                continue
            print(f"    {method:24}{sum(watched):9} of {len(watched):4}"
                  f"{100 * sum(everything) / len(everything):14.1f} %", end="")
            if method.startswith("assay"):
                key = "self" if "self" in method else "total"
                widths = sorted(f[key][2] - f[key][1] for r in own for f in r["functions"].values())
                print(f"{100 * widths[len(widths) // 2]:8.2f} points", end="")
            print()
            if method == "assay":
                good &= sum(watched) >= NEEDED * len(watched)
        print(f"    a wrong order asserted    {sum(wrong for _, wrong in judgements)} of {len(own)} recordings; "
              f"order of the first five settled in {sum(r['order_settled'] for r in own)}")
    return good


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=200, help="recordings of each program")
    parser.add_argument("--results", type=Path, default=BUILD / "bench" / "coverage.jsonl")
    parser.add_argument("--table", action="store_true", help="only sum up")
    parser.add_argument("programs", nargs="*", choices=[[], *PROGRAMS], metavar="PROGRAM")
    options = parser.parse_args()
    results = []
    if options.results.exists():
        for line in options.results.read_text(encoding="utf-8").splitlines():
            try:
                results.append(json.loads(line))
            except ValueError:
                pass  # cut short when the study was stopped
    done = {(r["program"], r["number"]) for r in results}
    for number in range(0 if options.table else options.n):
        for program in options.programs or PROGRAMS:
            if (program, number) in done:
                continue
            results.append(record(program, number))
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(results[-1]) + "\n")
    return 0 if table(results, options.n) else 1


if __name__ == "__main__":
    sys.exit(main())
