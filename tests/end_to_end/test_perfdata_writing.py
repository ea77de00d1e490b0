#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's perf opens what assay's writer wrote without a word on stderr, and agrees on the counts.

The file is written by tests/support/programs/perfdata_write.c: 3000 samples, every third of them of
the canary event, the others of two ids of one event.
"""
import os
import re
import shutil
import subprocess
import sys

WRITE = os.path.join(os.environ.get("ASSAY_BUILD", "build"), "tests", "perfdata_write")
N = 3000

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    if not ok:
        failed += 1
        print("# " + str(detail).replace("\n", "\n# "))
    print(f"{'ok' if ok else 'not ok'} {count} - {claim}", flush=True)


def perf(*words):
    # no ~/.perfconfig, no debuginfod, no pager: what perf does with the file alone
    environment = dict(os.environ, PERF_CONFIG="/dev/null", DEBUGINFOD_URLS="", PAGER="cat")
    return subprocess.run(["perf", *words], capture_output=True, text=True, env=environment,
                          stdin=subprocess.DEVNULL)


def quiet(done, claim):
    report(done.returncode == 0 and not done.stderr, claim, f"{done.returncode}: {done.stderr}")


def event_counts(path):
    done = perf("script", "-F", "event", "-G", "-i", path)
    quiet(done, f"perf script reads {path} in silence")
    counts = {}
    for line in done.stdout.splitlines():
        if line.strip():
            name = line.strip().rstrip(":").rstrip()
            counts[name] = counts.get(name, 0) + 1
    return counts


def finished():
    subprocess.run([WRITE, "perf.data", str(N)], check=True)
    counts = event_counts("perf.data")
    report(counts == {"cpu-clock:u": N - N // 3, "cpu-clock:u canary": N // 3},
           "perf script finds every sample under its event", counts)
    done = perf("report", "-i", "perf.data", "--stdio", "--no-children", "-n", "-g", "none",
                "--sort", "comm,dso")
    quiet(done, "perf report reads it in silence")
    rows = re.findall(r"(\d+)\s+prog\s+prog", done.stdout)
    report([int(row) for row in rows] == [N - N // 3, N // 3], "perf report counts the samples",
           done.stdout)
    # perf takes the period of a sample with READ from the difference of the values
    totals = re.findall(r"Event count \(approx\.\): (\d+)", done.stdout)
    report([int(total) for total in totals] == [10**6 * (N - N // 3), 10**6 * (N // 3)],
           "perf report sums the periods", done.stdout)
    done = perf("evlist", "-v", "-i", "perf.data")
    quiet(done, "perf evlist reads it in silence")
    lines = done.stdout.splitlines()
    report(len(lines) == 2 and lines[0].startswith("cpu-clock:u: ") and
           "sample_type: IP|TID|TIME|READ|CALLCHAIN|CPU|PERIOD|IDENTIFIER" in lines[0] and
           "clockid: 1" in lines[0], "perf evlist shows the attributes", done.stdout)
    header()


def header():
    done = perf("report", "-i", "perf.data", "--header-only")
    quiet(done, "perf shows the header in silence")
    for text in ("hostname : host", "os release : 6.1.0", "perf version : assay test",
                 "arch : x86_64", "nrcpus online : 2", "cpudesc : a CPU",
                 "total memory : 1048576 kB", "time of first sample : 0.000001",
                 "clockid: monotonic (1)", "name = cpu-clock:u canary"):
        report(text in done.stdout, f"the header says '{text}'", done.stdout)
    done = perf("buildid-list", "-i", "perf.data")
    report("deadbeef" in done.stdout and "/x/prog" in done.stdout and not done.stderr,
           "perf buildid-list finds the build-id", done.stdout + done.stderr)


def killed():
    """The recorder died after a commit: no features, but every committed sample."""
    subprocess.run([WRITE, "--killed", "killed.data", str(N)], check=True)
    total = sum(event_counts("killed.data").values())
    report(total == N, "perf finds every committed sample of a file that was never finished", total)


def main():
    if not shutil.which("perf"):
        print("ok 1 - perf reads what assay writes # SKIP perf is not installed")
        return 0
    finished()
    killed()
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
