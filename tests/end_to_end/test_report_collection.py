# SPDX-License-Identifier: GPL-3.0-or-later
"""assay report agrees with perf report on a collection of perf.data files.

Beside each file of ASSAY_SHARED/perfdata lies what Debian's perf said: per event the largest rows by
command and object, in samples and share of periods. `assay report --sort comm,dso` has to give the same
samples and shares. Known differences of naming, none of counting:
  * perf shows kernel modules as objects of their own, assay as part of the kernel;
  * a sample taken in the kernel by a user-only event is "[unknown]" to perf (it has no kernel map then);
  * code in anonymous memory is "[JIT] tid N" to perf, the perf map's name to assay.
"""
# runner: timeout=900
import glob
import json
import os
import re
import subprocess
import sys

ASSAY = os.environ.get("ASSAY", "build/assay")
SHARED = os.path.join(os.environ.get("ASSAY_SHARED", "../shared"), "perfdata")

# by command and object, kernel modules are rows of perf's that assay counts with the kernel
KERNEL_MODULES = {"quipper-piped.target-3.8.data", "quipper-systemwide.1-3.8.data",
                  "simpleperf-generated_by_linux_perf.data", "simpleperf-perf_b.data"}
# events that perf makes up while it decodes Intel PT
SYNTHESISED = {"cbr", "psb"}

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, claim))
    for line in detail.splitlines() if not ok else []:
        print("#", line)
    sys.stdout.flush()


def skip(claim, reason):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, claim, reason))


def expected(path):
    """[(event, samples, [(share in %, samples, comm, object)])]"""
    events, rows = [], None
    with open(path, errors="replace") as lines:
        for line in lines:
            event = re.match(r'event "(.*)" samples-shown (\d+) period-total', line)
            row = re.match(r"  ([\d.]+)% \| (\d+) \| \d+ \| (.*?) \| (.*)$", line)
            if event:
                rows = []
                events.append((event.group(1), int(event.group(2)), rows))
            elif row and rows is not None:
                rows.append((float(row.group(1)), int(row.group(2)), row.group(3), row.group(4)))
            else:
                rows = None
    return events


def got(path, event):
    run = subprocess.run([ASSAY, "report", "--json", "--no-children", "--sort", "comm,dso", "-e", event,
                          path], stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if run.returncode:
        return None, run.stderr.decode("utf-8", "replace")
    return json.loads(run.stdout), ""


def same_comm(mine, perfs):
    """perf cuts names in the yardstick's columns."""
    return mine == perfs or (len(perfs) >= 7 and mine.startswith(perfs))


def same_object(mine, perfs, name):
    return (mine == perfs or
            (mine.startswith("[kernel") and perfs.startswith("[kernel")) or
            (mine == "[kernel.kallsyms]" and perfs == "[unknown]") or
            (perfs.startswith("[JIT]") and mine.startswith("perf-")) or
            (name in KERNEL_MODULES and mine == "[kernel.kallsyms]" and perfs.startswith("[")))


def row_differs(name, rows, share, samples, comm, dso):
    """None when some row agrees, else what came nearest."""
    near = [row for row in rows if same_comm(row["comm"], comm) and same_object(row["module"], dso, name)]
    for row in near:
        if name in KERNEL_MODULES and dso.startswith("[kernel"):
            if row["samples"] >= samples:
                return None
        elif row["samples"] == samples and abs(100 * row["self"]["share"] - share) < 0.0151:
            return None
    if name in KERNEL_MODULES and dso.startswith("["):
        return None  # in no row of its own: part of the kernel's, whose command may have no other
    return "%s %s: perf %d samples %.2f %%, assay %s" % (
        comm, dso, samples, share, [(r["samples"], round(100 * r["self"]["share"], 2)) for r in near])


def check(path, event, samples, rows):
    name = os.path.basename(path)
    document, message = got(path, event)
    if document is None and "has no event" in message:
        document, message = got(path, "0")  # simpleperf's names of modifiers are perf's own
    claim = "%s, %s: rows by command and object are perf's" % (name, event)
    if document is None:
        report(False, claim, message)
        return
    problems = []
    if document["totals"]["samples"] != samples:
        problems.append("samples: perf %d, assay %d" % (samples, document["totals"]["samples"]))
    for row in rows:
        problems.append(row_differs(name, document["functions"], *row))
    problems = [problem for problem in problems if problem]
    report(not problems, claim, "\n".join(problems))


def main():
    paths = sorted(glob.glob(os.path.join(SHARED, "public", "*.data")) +
                   glob.glob(os.path.join(SHARED, "recorded", "*.data")))
    if not paths:
        skip("perf.data files of others give perf's rows", "no %s" % SHARED)
    for path in paths:
        for event, samples, rows in expected(path + ".expected.txt"):
            if event not in SYNTHESISED:
                check(path, event, samples, rows)
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
