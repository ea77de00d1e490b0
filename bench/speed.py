#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""`make speed`: runs every bench/*_speed.py, each in an empty directory, and fails if one fails.

ASSAY names the program, CC the compiler for workloads. Arguments choose by name:
`bench/speed.py record`.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    env = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8")
    env.setdefault("ASSAY", str(HERE.parent / "build" / "assay"))
    env.setdefault("CC", "gcc")
    failed = 0
    for program in sorted(HERE.glob("*_speed.py")):
        if len(sys.argv) > 1 and not any(name in program.name for name in sys.argv[1:]):
            continue
        print(f"== {program.stem.replace('_', ' ')}", flush=True)
        with tempfile.TemporaryDirectory(prefix="assay-speed-") as directory:
            failed += subprocess.run(["/usr/bin/python3", str(program)], cwd=directory, env=env,
                                     stdin=subprocess.DEVNULL, check=False).returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
