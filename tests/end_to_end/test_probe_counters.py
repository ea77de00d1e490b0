#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What calls are measured by: time without the time off the CPU, ordered reads, hardware events or what is there instead."""
# runner: timeout=300
from probing import ASSAY, X86_64, build, claim, finish, number, probe, require_engine, run, start

ROUNDS, SLEEP_MS = 20, 10


def off_cpu(program, *options):
    done = probe("--", program, ROUNDS, SLEEP_MS, functions=["away!outer", "away!sleeper"], mode="time",
                 options=options)
    text = " ".join(options) or "every call"
    slept, away = ROUNDS * SLEEP_MS * 1e6, done.document["off_cpu"]
    if away["threads_without_event"]:
        claim(away["taken_out_ns"] is None and away["why"] and "could not open" in
              run(ASSAY, "probe", "-f", "away!sleeper", "--", program, "1", "1").out,
              "where no event can be opened, it is said that time off the CPU is in, " + text, done)
        return
    # The program sleeps for `slept` at least and is on the CPU for what it says. Half the sleep is far from both.
    claim(number(done.out, "cpu_ns") < slept / 2, "the program itself takes little CPU time, " + text, done)
    claim(away["switches"] >= ROUNDS and away["taken_out_ns"] > slept * 0.9,
          "each sleep is seen and taken out, " + text, away)
    for name in ("outer", "sleeper"):
        row = done.rows[name]
        claim(row["calls"] == ROUNDS and row["inclusive"] < slept / 2,
              "%s: its time is without the sleep, %s" % (name, text), done)


def removed_pages():
    process = start(build("stress", "-O2", "-pthread"), "600")
    counts = []
    for _ in range(3):
        probe("-p", process.pid, "-d", "0.1", functions=["stress!hot"], mode="time")
        with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps:
            counts.append(sum("perf_event" in line for line in maps))
    alive = process.poll() is None
    process.kill()
    claim(alive and counts == [0, 0, 0], "no event of the threads outlives the probes", counts)


def barrier(program):
    plain = probe("--", program, 3, 1, functions=["away!outer", "away!sleeper"], mode="time")
    done = probe("--", program, 3, 1, functions=["away!outer", "away!sleeper"], mode="time",
                 options=["--barrier"])
    claim(done.document["barrier"] and not plain.document["barrier"] and
          done.rows["sleeper"]["timed"] == 3 and done.document["cost"]["pair"] > 0,
          "--barrier: ordered reads, calibrated as such", done)
    done = probe("--", program, 3, 1, functions=["away!sleeper"], mode="time",
                 options=["--barrier", "--every", "2"])
    claim(done.rows["sleeper"]["calls"] == 3, "--barrier with --every counts all calls", done)


def events(program):
    done = probe("--", program, 3, 1, functions=["away!outer", "away!sleeper"], mode="time",
                 options=["-e", "instructions"])
    if done.code == 1:
        claim("no PMU" in done.err and "-e tsc" in done.err and len(done.err.splitlines()) == 1 and
              "OK" not in done.out,
              "no hardware counter: one message that names the alternative, before the command runs", done)
    else:
        row = done.rows["sleeper"]
        claim(done.document["counter"].startswith("instructions") and
              done.document["cost"]["unit"] == done.document["counter"] and
              row["timed"] + row["unread"] == 3, "instructions are counted", done)
    done = probe("--", program, 3, 1, functions=["away!sleeper"], mode="time", options=["-e", "tsc" if X86_64 else "cntvct"])
    claim(done.code == 0 and done.document["counter"] == "time", "the alternative is there", done)
    for word, what in (("page-faults", "counted by the kernel"), ("instrctions", "instructions")):
        done = run(ASSAY, "probe", "-e", word, "-f", "away!sleeper", "--", program)
        claim(done.code in (1, 2) and what in done.err and "OK" not in done.out,
              "-e %s is refused with a reason" % word, done)
    done = run(ASSAY, "probe", "--mode", "count", "--barrier", "-f", "x", "--", program)
    claim(done.code == 2, "counting has no use for a counter", done)


def main():
    require_engine()
    program = build("away", "-O2")
    off_cpu(program)
    off_cpu(program, "--barrier")
    removed_pages()
    barrier(program)
    events(program)
    finish()


if __name__ == "__main__":
    main()
