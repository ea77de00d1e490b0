#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
# runner: timeout=900
"""The rates of the findings on aliasing, on a twelfth of the simulated recordings of bench/alias_rates."""
import os
import subprocess
import sys

BUILD = os.environ.get("ASSAY_BUILD", "build")


def main():
    command = [os.path.join(BUILD, "bench", "alias_rates")]
    if os.environ.get("LONG") != "1":
        command.append("--short")
    done = subprocess.run(command, capture_output=True, text=True)
    count = 0
    for line in done.stdout.split("\n"):
        if line.startswith(("held", "MISSED")):
            count += 1
            print(f"{'ok' if line.startswith('held') else 'not ok'} {count} - {line[7:]}")
        elif line:
            print("# " + line)
    if not count:
        print("not ok 1 - alias_rates gives its figures\n# " + done.stderr)
    print(f"1..{max(count, 1)}")
    return done.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
