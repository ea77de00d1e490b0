# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
# runner: timeout=900
"""Whole libraries: every instruction is decoded as objdump does, every plan passes the rules of code_survey --check,
and the share of functions that can be patched is what docs/probes.md promises."""
import os
import re
import shutil
import subprocess
import sys

BUILD = os.environ["ASSAY_BUILD"]
SOURCE = os.environ["ASSAY_SOURCE"]
DECODE = os.path.join(BUILD, "tests", "code_decode")
SURVEY = os.path.join(BUILD, "tests", "code_survey")
ARM64 = os.path.join(SOURCE, "build-arm64", "root", "usr", "lib", "aarch64-linux-gnu", "libc.so.6")
number = 0

# path, least percentage of functions with a plan
MODULES = [
    ("/usr/lib/x86_64-linux-gnu/libpython3.11.so.1.0", 97),
    ("/usr/lib/x86_64-linux-gnu/libsqlite3.so.0", 97),
    ("/usr/bin/redis-server", 97),
    ("/usr/bin/node", 97),
    ("/lib/x86_64-linux-gnu/libc.so.6", 90),
    ("/usr/bin/python3.11", 90),
    ("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 97),
    (ARM64, 97),
]


def tap(good, claim, *why):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {claim}")
    for line in () if good else why:
        print(f"# {line}")


def skip(claim, reason):
    global number
    number += 1
    print(f"ok {number} - {claim} # SKIP {reason}")


def flow_of(text):
    """The kind of an instruction as objdump writes it."""
    words = re.sub(r"^((repz|repnz|bnd|notrack|data16|rex\S*|cs|ds|lock|addr32|xacquire|xrelease) )+", "",
                   text).split()
    name = words[0] if words else text.strip()
    star = len(words) > 1 and words[1].startswith("*")
    name = name.split(",")[0]
    if name in ("ret", "retaa", "retab"):
        return "ret"
    if name in ("jmp", "b") or name == "jmpq":
        return "ijump" if star else "jump"
    if name in ("call", "callq", "bl"):
        return "icall" if star else "call"
    if name in ("br", "braa", "brab", "braaz", "brabz"):
        return "ijump"
    if name in ("blr", "blraa", "blrab", "blraaz", "blrabz"):
        return "icall"
    if name in ("ud2", "hlt", "int3", "ud1", "ud0", "udf", "brk"):
        return "stop"
    if name == "xbegin":
        return "odd"
    if re.fullmatch(r"j[a-z]+|loop[a-z]*|b\.[a-z]+|cbn?z|tbn?z", name):
        return "branch"
    return "next"


def objdump_of(path, wanted):
    """Address to (flow, target) of the functions' instructions, as objdump sees them."""
    tool = "aarch64-linux-gnu-objdump" if "aarch64" in path else "objdump"
    found = {}
    with subprocess.Popen([tool, "-d", "-w", "--no-show-raw-insn", path], stdout=subprocess.PIPE,
                          text=True) as process:
        for line in process.stdout:
            match = re.match(r"\s*([0-9a-f]+):\t(.*)", line)
            if not match or int(match[1], 16) not in wanted:
                continue
            text = match[2].split(" # ")[0].split("//")[0].strip()
            target = re.search(r"(?:^|[\s,])(?:0x)?([0-9a-f]+)(?: <.*>)?$", text)
            found[int(match[1], 16)] = (flow_of(text), int(target[1], 16) if target else 0, text)
    return found


def decode_check(path):
    claim = f"{os.path.basename(path)} is decoded as objdump does"
    if not shutil.which("aarch64-linux-gnu-objdump" if "aarch64" in path else "objdump"):
        skip(claim, "binutils are not installed")
        return
    own = {}
    for line in subprocess.run([DECODE, path], capture_output=True, text=True, check=True).stdout.splitlines():
        address, _, flow, target = line.split()
        own[int(address, 16)] = (flow, int(target, 16))
    theirs = objdump_of(path, own)
    # objdump starts anew at symbols only, and may be out of step behind data between functions
    wrong = [f"{a:#x}: {own[a]} {theirs[a]}" for a in own if a in theirs and
             (own[a][0] != theirs[a][0] or
              (own[a][0] in ("jump", "branch", "call") and own[a][1] != theirs[a][1]))]
    missing = [f"{a:#x}: {own[a]} is inside an instruction of objdump's" for a in own if a not in theirs]
    tap(not wrong and len(missing) * 10000 < len(own) and len(own) > 1000, claim,
        f"{len(wrong)} of {len(own)} differ, {len(missing)} missing", *wrong[:10], *missing[:10])


def plans_check(path, least):
    claim = f"{os.path.basename(path)}: every plan passes the rules, at least {least} % have one"
    # both handle SIGSEGV, so that what can fault stays in place
    faults = ["--faults"] if path.endswith(("redis-server", "node")) else []
    done = subprocess.run([SURVEY, "--check", *faults, path], capture_output=True, text=True, check=False)
    share = re.search(r"([\d.]+) % planned", done.stdout)
    tap(done.returncode == 0 and share and float(share[1]) >= least, claim, done.stdout, done.stderr[-2000:])


def main():
    for path, least in MODULES:
        if not os.path.exists(path):
            skip(f"plans of {os.path.basename(path)}", "not installed")
            continue
        if not path.endswith("node"):
            decode_check(path)
        plans_check(path, least)
    return 0


sys.exit(main())
