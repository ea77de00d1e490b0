#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every call is accounted for: when the target is killed in the middle of one, when work goes on elsewhere, when only the
first calls are timed; and a row says when the probe costs more than what it measures."""
# runner: timeout=300
import json
import os
import random
import struct
import subprocess

from probing import (ASSAY, build, claim, finish, number, probe, require_engine, run, signal, time)

LONG = os.environ.get("LONG") == "1"
KILLS = 100 if LONG else 8
THREADS = 2
EPOCH_NS = 100000000
ACCOUNTED = ("timed", "abandoned", "dropped", "interrupted")


def own_counts(path):
    """Process id, calls begun and calls finished, as the program keeps them."""
    with open(path, "rb") as file:
        data = file.read()
    words = struct.unpack("<%dQ" % (len(data) // 8), data)
    return words[0], sum(words[1::2]), sum(words[2::2])


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return {row["name"]: row for row in json.load(file)["functions"]}


def is_accounted(row, begun, finished, mode):
    """A call under way may be counted or not; none that is finished is missing, and none is invented."""
    right = finished <= row["calls"] <= begun
    if mode == "time":
        open_calls = row["calls"] - sum(row[key] for key in ACCOUNTED)
        right = right and 0 <= open_calls <= THREADS
    return right


def killed(program, chance, number_, mode):
    """Returns what is wrong, and whether a call was under way."""
    for path in ("own", "killed.json"):
        if os.path.exists(path):
            os.unlink(path)
    with subprocess.Popen([ASSAY, "probe", "-q", "--json", "-o", "killed.json", "--mode", mode, "-f", "death!step",
                           "-f", "death!leaf", "--", program, "own", str(THREADS)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as assay:
        for _ in range(2000):
            if assay.poll() is not None or (os.path.exists("own") and os.path.getsize("own") and
                                            own_counts("own")[0]):
                break
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.02))
        pid, _, _ = own_counts("own")
        os.kill(pid, number_)
        err = assay.communicate(timeout=60)[1]
    _, begun, finished = own_counts("own")
    rows = rows_of("killed.json")
    good = assay.returncode == -number_ and all(is_accounted(rows[name], begun, finished, mode)
                                                for name in ("step", "leaf"))
    return "" if good else "%s %s %s %s %s" % (assay.returncode, begun, finished, rows, err), begun > finished


def kills(program):
    chance = random.Random(11)
    for number_ in (signal.SIGKILL, signal.SIGSEGV):
        wrong, under_way = [], 0
        for turn in range(KILLS):
            what, middle = killed(program, chance, number_, "time" if turn % 2 else "count")
            wrong += [what] if what else []
            under_way += middle
        text = "%d times %s: " % (KILLS, number_.name)
        claim(not wrong, text + "no call of the target's is lost, and assay ends as it did", "\n".join(wrong))
        claim(under_way > 0, text + "in the middle of a call", under_way)


def fault(program):
    done = probe("--", program, "own", THREADS, "fault", functions=["death!step", "death!leaf"], mode="time")
    _, begun, finished = own_counts("own")
    claim(done.code == -signal.SIGSEGV and begun > finished and
          all(is_accounted(done.rows[name], begun, finished, "time") for name in ("step", "leaf")),
          "a fault inside a probed function loses no call, and none is invented", (begun, finished, str(done)))


def resumed():
    done = probe("--", build("resumed", "-O2"), 20, functions=["resumed!request", "resumed!fetch"], mode="time")
    claim("OK" in done.out and done.code == 0, "tasks that are suspended inside probed functions", done)
    direct, again, left = (number(done.out, key) for key in ("direct", "resumed", "dropped"))
    for name, at_once in (("request", direct), ("fetch", 0)):
        row = done.rows[name]
        claim(row["calls"] == at_once + again + left and row["timed"] == at_once,
              "%s: no call that was suspended is among those that are timed" % name, done)
        claim(row["interrupted"] == again, "%s: those that were resumed are kept apart" % name, done)
        claim(0 < row["abandoned"] <= left, "%s: those that never were are abandoned" % name, done)


def slow_share(row):
    slow = sum(bucket["calls"] for bucket in row["distribution"] if bucket["below_ns"] > 400000)
    return slow / row["timed"]


def phases():
    """The second half of the calls is dear. By the first 40 calls none is; by the first 4 of each epoch their share is that
    of the epochs in which they were made.

    A half of c calls in n epochs, of which none holds more than 20, gives between c / 5 (all in full epochs) and the
    smaller of 4 n and c of them (as many in each), and 4 more or less at its border with the next, or with the end.
    """
    program = build("phases", "-O2")
    done = probe("--", program, 200, functions=["phases!work"], mode="time", options=["--cap", "40"])
    row = done.rows["work"]
    claim(row["calls"] == row["timed"] == 40 and row["state"] == "capped" and slow_share(row) < 0.1,
          "--cap N: the first calls of a program say nothing about what comes later", done)
    done = probe("--", program, 200, functions=["phases!work"], mode="time", options=["--cap", "4/100ms"])
    row = done.rows["work"]
    halves = []
    for key in ("quick", "slow"):
        calls, epochs = number(done.out, key), number(done.out, key + "_ns") / EPOCH_NS
        halves.append((max(calls / 5 - 4, 0), min(4 * epochs, calls) + 4))
    (quick_least, quick_most), (slow_least, slow_most) = halves
    lo, hi = slow_least / (slow_least + quick_most), slow_most / (slow_most + quick_least)
    share = slow_share(row)
    claim(row["state"] == "capped" and lo <= share <= hi,
          "--cap N/EPOCH: both phases are there, in proportion",
          "%.3f, between %.3f and %.3f\n%s" % (share, lo, hi, done))


def dominates(stress):
    seen = set()
    for program, words, functions in ((stress, ("0.3", "2"), ["stress!*"]),
                                      (build("phases", "-O2"), (20,), ["phases!work"])):
        done = probe("--", program, *words, functions=functions, mode="time")
        pair = done.document["cost"]["pair"]
        wrong = []
        for name, row in done.rows.items():
            if not row.get("timed"):
                continue
            flag = pair > row["inclusive"] / row["timed"] / 2
            seen.add((name, row["probe_dominates"]))
            wrong += [name] if row["probe_dominates"] != flag else []
        claim(not wrong, "a row is marked when a pair of probes exceeds half of its mean call", (wrong, str(done)))
    claim(("hot", True) in seen and ("work", False) in seen,
          "a function of a nanosecond is marked, one of half a millisecond is not", seen)
    done = run(ASSAY, "probe", "--mode", "time", "-f", "stress!hot", "--", stress, "0.2", "1")
    claim("[probe-dominates]" in done.out, "and the table says so, too", done)


def main():
    require_engine()
    program = build("death", "-O2", "-pthread")
    kills(program)
    fault(program)
    resumed()
    phases()
    dominates(build("stress", "-O2", "-pthread"))
    finish()


if __name__ == "__main__":
    main()
