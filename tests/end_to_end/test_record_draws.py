# SPDX-License-Identifier: GPL-3.0-or-later
"""The draws that a bundle tells of are the periods that the kernel was told, and a seed repeats them.

What the kernel was told is seen by strace, not by assay's own log.
"""
# runner: timeout=600
# runner: no-sanitizer
import os
import re
import shutil
import struct
import sys

from recording import ASSAY, claim, finish, manifest, record, run, skip, workload

RECORD = struct.Struct("<QQQQII")


def draws(bundle):
    """(before, after, period, epoch, clock, slot) of every draw, in order."""
    with open(os.path.join(bundle, "draws.data"), "rb") as file:
        data = file.read()
    claim(data[:8] == b"ASSAYDRW" and struct.unpack("<II", data[8:16]) == (1, RECORD.size),
          "draws.data has its header")
    return list(RECORD.iter_unpack(data[16:]))


def against_strace(half, name, *words):
    done = run("strace", "-f", "-qq", "-e", "trace=ioctl,perf_event_open", "-o", name + ".strace",
               ASSAY, "record", "-q", "-o", name, "--seed", "7", "-F", "200", *words, "--", half, "1",
               timeout=300)
    claim(done.code == 0, "recorded under strace: " + " ".join(words), done)
    with open(name + ".strace", encoding="ascii", errors="replace") as file:
        text = file.read()
    # strace prints the period behind the pointer where it knows the request, else we cannot see it
    told = [int(period) for period in
            re.findall(r"PERF_EVENT_IOC_PERIOD, (?:\[)?(\d+)", text)]
    if not told and "PERF_EVENT_IOC_PERIOD" in text:
        return None
    logged = draws(name)
    # calibration sets one second, before anything is drawn
    told = [period for period in told if period != 1000000000]
    opened = [int(period) for period in re.findall(r"sample_period=(\d+)", text)]
    by_call = [draw for draw in logged if draw[2] in set(told)]
    claim(told != [] and told == [draw[2] for draw in logged][-len(told):],
          "the periods set by ioctl are the last %d draws, in order" % len(told),
          (told[:5], [draw[2] for draw in logged][:8]))
    rest = [draw[2] for draw in logged][:-len(told)]
    claim(set(rest) <= set(opened), "the others are the periods that events were opened with",
          set(rest) - set(opened))
    claim(all(draw[0] <= draw[1] for draw in by_call), "times stand around each call")
    return logged


def by_name(logged):
    numbers, names = {}, {}
    for _, _, period, epoch, clock, slot in logged:
        number = numbers.get((epoch, clock, slot), 0)
        numbers[epoch, clock, slot] = number + 1
        names[epoch, clock, slot, number] = period
    return names


def seeds(half):
    # Slots are CPUs: the same draws show when the target runs on the same one.
    cpu = str(min(os.sched_getaffinity(0)))
    runs = []
    for name in ("first", "again", "other"):
        seed = "8" if name == "other" else "7"
        record("-q", "-o", name, "--seed", seed, "-F", "200", "--epoch", "100", "--",
               "taskset", "-c", cpu, half, "2")
        runs.append(by_name(draws(name)))
    common = set(runs[0]) & set(runs[1])
    # How many of them share their names is the machine's matter: epochs are of its time. Five equal numbers of
    # 24 bits and more are no chance.
    claim(len(common) >= 5 and all(runs[0][key] == runs[1][key] for key in common),
          "a seed repeats each draw (epoch, clock, slot, number) bit for bit: %d compared"
          % len(common), [(key, runs[0][key], runs[1][key]) for key in sorted(common)[:5]])
    common = set(runs[0]) & set(runs[2])
    claim(sum(runs[0][key] == runs[2][key] for key in common) <= len(common) / 10,
          "another seed draws other periods")
    epochs = [[epoch["seed"] for epoch in manifest(name)["epochs"]] for name in ("first", "again")]
    n = min(len(epochs[0]), len(epochs[1]))
    claim(epochs[0][:n] == epochs[1][:n], "and the seeds of its epochs")


def bounds(half):
    record("-q", "-o", "bounds", "-F", "500", "--", half, "1")
    told = manifest("bounds")
    mean = {index: clock["mean_period"] for index, clock in enumerate(told["clocks"])}
    low = min(clock["low"] for clock in told["clocks"])
    high = max(clock["high"] for clock in told["clocks"])
    outside = [draw for draw in draws("bounds")
               if not low * mean[draw[4]] - 1 <= draw[2] <= high * mean[draw[4]] + 1]
    # The first draw of a slot is a residual: as short as the safety bound allows, as long as two.
    claim(len(outside) <= 2 * sum(len(clock["ids"]) for clock in told["clocks"]),
          "drawn periods lie within the bounds in the manifest", outside)
    claim(all(draw[2] >= told["min_period_ns"] for draw in draws("bounds")),
          "and none below the safety bound")


def main():
    half = workload("half")
    if shutil.which("strace"):
        for name, words in (("block", []), ("exp", ["--schedule", "exp"]),
                            ("each", ["--redraw", "sample"]), ("threads", ["--scope", "thread"])):
            if against_strace(half, name, *words) is None:
                skip("draws are what the kernel was told", "this strace does not show the period")
                break
    else:
        skip("draws are what the kernel was told", "strace is not installed")
    seeds(half)
    bounds(half)
    finish()


main()
