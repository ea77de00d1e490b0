#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the parts of the study side by side, the long ones first, and prints them in order.

    bench/study/run.py STUDY [PART...]        (make study)

As many at a time as there are CPUs. Exit code 1 when a claim of any part fails.
"""

import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

MAIN = Path(__file__).parent / "main.c"
LONG = ["coverage", "lengths", "until", "ranks", "lock"]


def run(study, part):
    done = subprocess.run([study, part], capture_output=True, text=True, check=False)
    closing = re.search(r"^(\d+) claims, (\d+) fail$", done.stdout, re.MULTILINE)
    return done, (int(closing.group(1)), int(closing.group(2))) if closing else (0, 1)


def main():
    study = sys.argv[1]
    parts = re.findall(r'\{ "(\w+)", part_\w+ \}', MAIN.read_text(encoding="utf-8"))
    parts = [part for part in parts if part in sys.argv[2:] or not sys.argv[2:]]
    if not parts:
        sys.exit(f"no part of the study is called {' or '.join(sys.argv[2:])}")
    claims = fail = 0
    bad = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        order = sorted(parts, key=lambda part: LONG.index(part) if part in LONG else len(LONG))
        running = {part: pool.submit(run, study, part) for part in order}
        for part in parts:
            done, (n, n_fail) = running[part].result()
            print(re.sub(r"\n\d+ claims, \d+ fail\n$", "", done.stdout), end="", flush=True)
            print(done.stderr, end="", file=sys.stderr)
            claims, fail = claims + n, fail + n_fail
            if done.returncode or n_fail:
                bad.append(part)
    print(f"\n{claims} claims, {fail} fail{' in ' + ', '.join(bad) if bad else ''}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
