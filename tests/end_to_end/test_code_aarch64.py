# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
"""Moved AArch64 instructions are run beside the originals, natively or under qemu-user."""
import os
import platform
import re
import shutil
import subprocess
import sys

SOURCE = os.environ["ASSAY_SOURCE"]
CLAIM = "moved AArch64 instructions do what the originals do"
# relocate.c also names the x86-64 half, which needs a decoder: what is never called is left out
FILES = ["tests/data/code/moved_aarch64.c", "src/code/insn_aarch64.c", "src/code/relocate_aarch64.c",
         "src/code/relocate.c"]


def main():
    native = platform.machine() == "aarch64"
    compiler = os.environ.get("CC", "gcc") if native else "aarch64-linux-gnu-gcc"
    runner = [] if native else ["qemu-aarch64"]
    for tool in [compiler, *runner]:
        if not shutil.which(tool):
            print(f"ok 1 - {CLAIM} # SKIP {tool} is not installed")
            return 0
    built = subprocess.run(
        [compiler, "-std=gnu17", "-O2", "-static", "-ffunction-sections", "-Wl,--gc-sections",
         "-I", os.path.join(SOURCE, "src"), "-o", "moved",
         *(os.path.join(SOURCE, name) for name in FILES)],
        capture_output=True, text=True, check=False)
    if built.returncode:
        print(f"not ok 1 - {CLAIM}")
        print("# " + built.stderr.replace("\n", "\n# "))
        return 1
    done = subprocess.run([*runner, "./moved"], capture_output=True, text=True, timeout=200, check=False)
    good = done.returncode == 0 and re.fullmatch(r"\d{4,} runs agree\n", done.stdout)
    print(f"{'ok' if good else 'not ok'} 1 - {CLAIM}")
    if not good:
        print(f"# exit {done.returncode}: {done.stdout}{done.stderr}")
    return 0 if good else 1


sys.exit(main())
