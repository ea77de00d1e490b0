# SPDX-License-Identifier: GPL-3.0-or-later
"""Debian's perf opens what assay wrote without a word on stderr, and counts what the manifest counts."""
# runner: timeout=600
import os
import re
import sys

from recording import (PERF, ROOT, claim, finish, manifest, perf_script, record, run, skip,
                       workload)


def silent(tool, bundle, *words):
    done = run(PERF, tool, "-i", os.path.join(bundle, "perf.data"), *words)
    claim(done.code == 0 and done.err == "",
          "perf %s %s opens %s without a warning" % (tool, " ".join(words), bundle), done)
    return done.out


def counts(bundle):
    told = manifest(bundle)
    rows, _ = perf_script(bundle, "event,period")
    if bundle == "grouped":  # perf shows each member of a :S group as a sample of its own
        rows = [row for row in rows if "cpu-clock" in " ".join(row)]
    claim(len(rows) == told["end"]["samples"],
          "perf script shows as many samples of %s as the manifest counts" % bundle,
          (len(rows), told["end"]["samples"]))
    by_epoch = sum(clock["samples"] for epoch in told["epochs"] for clock in epoch["clocks"])
    claim(by_epoch == told["end"]["samples"], "the epochs of %s add up to them" % bundle, by_epoch)
    return told, rows


def recordings(half):
    yield "plain", ["-F", "500"]
    yield "chains", ["-F", "500", "-g"]
    yield "dwarf", ["-F", "200", "--call-graph", "dwarf,4096"]
    yield "canary", ["-F", "500", "--canary"]
    yield "mixed", ["-F", "500", "--schedule", "mixed"]
    yield "fixed", ["-F", "500", "--schedule", "fixed"]
    yield "exp", ["-F", "500", "--schedule", "exp"]
    yield "samplewise", ["-F", "500", "--redraw", "sample"]
    yield "several", ["-F", "500", "-e", "cpu-clock", "-e", "task-clock,page-faults"]
    yield "grouped", ["-F", "500", "-e", "{cpu-clock,context-switches}:S"]
    yield "faults", ["-e", "page-faults", "-c", "1"]
    if ROOT:
        yield "tracepoint", ["-e", "raw_syscalls:sys_enter"]
        yield "system", ["-F", "200", "-a", "-d", "0.5"]


def totals(bundle):
    """perf weighs samples by their READ differences: the realised intervals."""
    told = manifest(bundle)
    out = run(PERF, "report", "-i", os.path.join(bundle, "perf.data"), "--stdio").out
    total = int(re.search(r"Event count \(approx\.\): (\d+)", out).group(1))
    clocks = sum(clock["randomised"] for clock in told["clocks"])
    cpu = told["end"]["target_cpu_ns"]
    claim(0.8 * cpu < total / clocks < 1.05 * cpu,
          "each clock's intervals add up to the CPU time of the target", (total, clocks, cpu))


def main():
    if not PERF:
        skip("perf opens what assay wrote", "perf is not installed (linux-perf)")
        finish()
    half = workload("half")
    for name, words in recordings(half):
        target = [] if "-a" in words else ["--", half, "0.7"]
        done = record("-o", name, *words, *target)
        claim(done.code == 0, "recorded " + name, done)
        silent("report", name, "--stdio")
        silent("script", name)
        silent("evlist", name, "-v")
        silent("report", name, "--header-only")
        told, rows = counts(name)
        if name == "canary":
            claim(len(told["clocks"]) == 3 and any("canary" in " ".join(row) for row in rows),
                  "the canary is an event of its own in perf's eyes")
        if name == "plain":
            claim({row[-1] for row in rows} == {"cpu-clock:"},
                  "the randomised clocks are one event in perf's eyes", {row[-1] for row in rows})
            totals(name)
            symbols = silent("report", name, "--stdio", "--sort", "sym")
            claim("left" in symbols and "right" in symbols, "perf names the functions", symbols)
        if name == "system":
            claim(len({row[0] for row in perf_script(name, "comm")[0]}) >= 1,
                  "a system-wide recording has samples")
    finish()


main()
