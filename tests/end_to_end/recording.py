# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `assay record` share: claims as TAP, workloads, recordings and what is in them.

Samples are read with Debian's perf, so that assay is not tested against its own reader.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

ASSAY = os.environ.get("ASSAY", "build/assay")
SOURCE = os.environ.get("ASSAY_SOURCE", os.path.join(os.path.dirname(__file__), "..", ".."))
WORKLOADS = os.path.join(SOURCE, "tests", "data", "workloads")
PERF = shutil.which("perf")
ROOT = os.geteuid() == 0

_count = 0
_failed = 0


def claim(ok, text, detail=""):
    """One TAP line; the detail only when the claim does not hold."""
    global _count, _failed
    _count += 1
    if not ok:
        _failed += 1
        for line in str(detail).splitlines() or ["no detail"]:
            print("# " + line)
    print("%s %d - %s" % ("ok" if ok else "not ok", _count, text), flush=True)
    return ok


def skip(text, reason):
    global _count
    _count += 1
    print("ok %d - %s # SKIP %s" % (_count, text, reason), flush=True)


def claim_repeated(text, attempt, attempts=3):
    """A claim that a healthy build breaks with a known chance p: an interval of 95 % that misses, a test at that
    level. `attempt(turn)` makes everything that is random anew and gives (ok, detail); the claim fails when all
    attempts did: p ** attempts, 1.25e-4 for p = 0.05. What is wrong in every recording still fails; what is wrong
    in half of them only one time in eight, so rates are judged on many simulated recordings (bench/study)."""
    details = []
    for turn in range(attempts):
        ok, detail = attempt(turn)
        if ok:
            return claim(True, text)
        details.append("attempt %d: %s" % (turn + 1, detail))
    return claim(False, text, "\n".join(details))


def wait_for(condition, seconds=60):
    """True as soon as it holds. A test waits for what must have happened, never for a time by which it should."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


def recording_is_on(bundle):
    """The bundle is there: clocks run, the command has begun, and signals are assay's to handle."""
    return wait_for(lambda: os.path.exists(os.path.join(bundle, "manifest.json")))


def finish():
    print("1..%d" % _count)
    sys.exit(1 if _failed else 0)


def workload(name, *flags):
    """Compiles tests/data/workloads/NAME.c into the current directory."""
    out = os.path.abspath(name)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", *flags, "-o", out,
                    os.path.join(WORKLOADS, name + ".c")], check=True)
    return out


class Run:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    def __str__(self):
        return "exit %s\nstdout: %s\nstderr: %s" % (self.code, self.out, self.err)


def run(*command, timeout=120, **keywords):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, errors="surrogateescape",
                          timeout=timeout, **keywords)
    return Run(done)


def record(*words, **keywords):
    """assay record WORDS: exit code, stdout, stderr."""
    return run(ASSAY, "record", *words, **keywords)


def manifest(bundle="out.assay"):
    with open(os.path.join(bundle, "manifest.json"), encoding="utf-8",
              errors="surrogateescape") as file:
        return json.load(file)


def path_of(text):
    """A path in a manifest: a byte that is not UTF-8 stands there as U+10F700 + byte."""
    return os.fsdecode(b"".join(
        bytes([ord(c) - 0x10F700]) if 0x10F700 <= ord(c) <= 0x10F7FF else c.encode()
        for c in text))


def perf_script(bundle, fields):
    """One list of words per sample."""
    data = os.path.join(bundle, "perf.data")
    done = run(PERF, "script", "-f", "-i", data, "-G", "-F", fields)
    return [line.split() for line in done.out.splitlines() if line.strip()], done


def samples_by_symbol(bundle="out.assay", comm=None):
    """Sum of periods per symbol, of user and kernel code."""
    rows, done = perf_script(bundle, "comm,period,ip,sym")
    sums = {}
    for row in rows:
        if len(row) < 4 or (comm and row[0] != comm):
            continue
        sums[row[3]] = sums.get(row[3], 0) + int(row[1])
    return sums, done


def truth(text):
    """"left 1.5 right 2.5" -> {"left": 1.5, "right": 2.5}"""
    return {name: float(value) for name, value in re.findall(r"(\w+) ([0-9.]+)", text)}


def share_error(bundle, told, first, second):
    """(measured - true share of `first` of both, its standard error if samples were independent)"""
    sums, _ = samples_by_symbol(bundle)
    rows, _ = perf_script(bundle, "ip,sym")
    n = sum(1 for row in rows if len(row) > 1 and row[1] in (first, second))
    total = sums.get(first, 0) + sums.get(second, 0)
    if not total:
        return None, 0
    measured = sums.get(first, 0) / total
    true = told[first] / (told[first] + told[second])
    return measured - true, (0.25 / n) ** 0.5
