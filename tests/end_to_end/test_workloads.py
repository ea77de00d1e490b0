#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer timeout=120
"""Workloads know how long they ran, and the study of coverage counts rightly what it is given."""

import io
import os
import subprocess
import sys
from contextlib import redirect_stdout
from pathlib import Path

sys.dont_write_bytecode = True
WORKLOADS = Path(os.environ["ASSAY_BUILD"]) / "bench" / "workloads"
sys.path.insert(0, str(Path(os.environ["ASSAY_SOURCE"]) / "bench" / "workloads"))
import coverage  # noqa: E402

PROGRAMS = {"periodic": 7, "tie": 10, "flat": 128}


def run(program, *arguments):
    return subprocess.run([WORKLOADS / program, *arguments], capture_output=True, text=True, check=False)


def truths_add_up():
    """Time off the CPU that were counted would make them more than the process had. What is missing is the
    start, some 15 ms of 400, and 30 us more wherever a jump was too short to look at."""
    for program, functions in PROGRAMS.items():
        truth = coverage.truth_of(run(program, "200", "0.4", "3").stdout)
        if len(truth) != functions or not 0.75 < sum(truth.values()) <= 1.001:
            return f"{program}: {len(truth)} functions, {sum(truth.values()):.3f} of the process"
    return None


def nonsense_is_refused():
    for program in PROGRAMS:
        done = run(program, "1", "0.1", "1")
        if done.returncode != 2 or "usage" not in done.stderr:
            return f"{program}: {done.returncode} {done.stderr}"
    return None


def result(number, low, high, truth, rank=(1, 1)):
    function = {"truth": truth, "rank": list(rank), "self": [0.5, low, high], "total": [0.5, low, high]}
    other = {"truth": 0.3, "rank": [2, None], "self": [0.3, 0.2, 0.4], "total": [0.3, 0.2, 0.4]}
    return {"program": "tie", "number": number, "load": 0, "samples": 1000, "order_settled": False,
            "functions": {"a": function, "b": other}}


def table(results):
    text = io.StringIO()
    with redirect_stdout(text):
        good = coverage.table(results, len(results))
    return good, text.getvalue()


def misses_are_counted_against_what_is_needed():
    inside = [result(2 * n, 0.4, 0.6, 0.55) for n in range(182)]
    outside = [result(2 * n, 0.4, 0.6, 0.65) for n in range(182, 200)]
    good, text = table(inside + outside)
    if not good or "182 of  200" not in text:
        return text
    good, text = table(inside[:-1] + outside + [result(399998, 0.4, 0.6, 0.61)])
    return text if good or "181 of  200" not in text else None


def an_inverted_order_is_wrong_and_an_open_range_is_not():
    _, wrong = coverage.judge(result(0, 0.4, 0.6, 0.55))
    if wrong:
        return "open range"
    bad = result(0, 0.4, 0.6, 0.25)
    bad["functions"]["b"]["rank"] = [2, 2]
    return None if coverage.judge(bad)[1] else "inverted order passed"


CLAIMS = [("truths of the workloads add up to their CPU time", truths_add_up),
          ("workloads refuse visits and cycles too short to be counted", nonsense_is_refused),
          ("182 of 200 covered is enough, 181 is not", misses_are_counted_against_what_is_needed),
          ("an asserted order that is inverted counts as wrong", an_inverted_order_is_wrong_and_an_open_range_is_not)]


def main():
    failed = 0
    for number, (claim, test) in enumerate(CLAIMS, 1):
        problem = test()
        failed += problem is not None
        print(f"{'not ok' if problem else 'ok'} {number} - {claim}")
        if problem:
            print("\n".join("# " + line for line in problem.splitlines()))
    print(f"1..{len(CLAIMS)}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
