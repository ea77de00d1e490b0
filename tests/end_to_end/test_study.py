#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer timeout=600
"""The short form of the study of the estimates (bench/study) holds all its claims, part by part.

Its limits are derived there, for the few recordings of the short form; its seed is fixed.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

STUDY = Path(os.environ["ASSAY_BUILD"]) / "bench" / "study"
MAIN = Path(os.environ["ASSAY_SOURCE"]) / "bench" / "study" / "main.c"


def main():
    parts = re.findall(r'\{ "(\w+)", part_\w+ \}', MAIN.read_text(encoding="utf-8"))
    failed = 0
    for number, part in enumerate(parts, 1):
        done = subprocess.run([STUDY, "--short", part], capture_output=True, text=True, check=False)
        closing = re.search(r"^(\d+) claims, 0 fail$", done.stdout, re.MULTILINE)
        good = done.returncode == 0 and closing and int(closing.group(1)) > 0
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - the claims of the study's part {part} hold")
        if not good:
            print("\n".join("# " + line for line in done.stdout.splitlines() if "FAILS" in line))
            print(f"# {done.stderr} ended with {done.returncode}")
    print(f"1..{len(parts)}")
    return 1 if failed or not parts else 0


if __name__ == "__main__":
    sys.exit(main())
