#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retired instructions of functions whose instructions are known, by the thread's own counter: error 0, in one thread and
in three on one processor, which are switched out while they read their counters, too."""
# runner: timeout=300
from probing import X86_64, build, claim, finish, number, probe, require_engine, skip

FUNCTIONS = ["e_loop", "e_nest", "e_rec", "e_tail", "e_top", "e_one", "e_ones", "e_when"]


def exact(program, rounds, threads):
    done = probe("--", program, rounds, threads, functions=FUNCTIONS, mode="time",
                 options=["-e", "instructions:u"])
    text = "%d threads" % threads
    claim("OK" in done.out and done.code == 0, "it runs on under probes, " + text, done)
    calls = {"e_loop": 3, "e_nest": 1, "e_rec": 51, "e_tail": 1, "e_top": 1, "e_one": 1, "e_ones": 1, "e_when": 2}
    for name in FUNCTIONS:
        row = done.rows.get(name, {})
        claim(row.get("timed") == calls[name] * rounds * threads and row.get("unread") == 0,
              "%s: each call is measured, %s" % (name, text), done)
        wanted = number(done.out, name)
        claim(wanted is not None and row.get("inclusive") == wanted, "%s: its instructions are exact, %s" % (name, text),
              "wanted %s\n%s" % (wanted, done))


def main():
    require_engine()
    program = build("exact", "-O2", "-pthread")
    if X86_64:
        skip("exact instructions", "the functions whose instructions are known are AArch64's")
        finish()
    exact(program, 2000, 1)
    exact(program, 20000, 3)
    finish()


if __name__ == "__main__":
    main()
