#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Retired instructions of functions whose instructions are known, by the thread's own counter: error 0 in one
thread. A thread that is switched out while it reads its counter reads again, and what that takes, some 30 instructions,
is found in its caller: so with several threads the error is small, and never below zero."""
# runner: timeout=300
from probing import X86_64, build, claim, finish, number, probe, require_engine, skip

FUNCTIONS = ["e_loop", "e_nest", "e_rec", "e_tail", "e_top"]
# Of a few seconds of three threads on one processor: what is read again (some 30 instructions) in up to eight
# reads that a switch hit, and one part in ten thousand where a function is entered millions of times.
SWITCHED, SWITCHED_AT_LEAST = 1e-4, 8 * 30


def exact(program, rounds, threads):
    done = probe("--", program, rounds, threads, functions=FUNCTIONS, mode="time",
                 options=["-e", "instructions:u"])
    text = "%d threads" % threads
    claim("OK" in done.out and done.code == 0, "it runs on under probes, " + text, done)
    calls = {"e_loop": 3, "e_nest": 1, "e_rec": 51, "e_tail": 1, "e_top": 1}
    for name in FUNCTIONS:
        row = done.rows.get(name, {})
        claim(row.get("timed") == calls[name] * rounds * threads and row.get("unread") == 0,
              "%s: each call is measured, %s" % (name, text), done)
        wanted = number(done.out, name) or 0
        error = row.get("inclusive", -1) - wanted
        claim(wanted and (error == 0 if threads == 1 else 0 <= error < SWITCHED * wanted + SWITCHED_AT_LEAST),
              "%s: its instructions are %s, %s" % (name, "exact" if threads == 1 else "nearly exact",
                                                   text), "wanted %s\n%s" % (wanted, done))


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
