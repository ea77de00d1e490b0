#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that count their own calls, probed in every way: same output, and the same counts.

Durations of the measured code never decide anything here; the programs run for a set time and say how
often each function was called.
"""
# runner: timeout=600
import re

from probing import (X86_64, build, claim, exact_or_refused, finish, number, probe,
                     require_engine)

SECONDS = "0.4"


def loopback(mode):
    done = probe("--", build("loopback"), SECONDS, functions=["sum_to", "far_back", "early_ret"],
                 mode=mode)
    claim("OK" in done.out and done.code == 0, "loops into the first bytes go on as before, " + mode,
          done)
    for name in ("sum_to", "far_back", "early_ret"):
        exact_or_refused(done, name, number(done.out, "calls_each"), "%s: %s" % (mode, name))


def ripzoo(mode, *flags):
    done = probe("--", build("ripzoo", "-O2", *flags), SECONDS, functions=["z_*"], mode=mode)
    text = "position-dependent first instructions, %s %s" % (mode, " ".join(flags))
    claim("OK" in done.out and done.code == 0, text, done)
    rounds = number(done.out, "rounds")
    for name in ("z_lea", "z_cmpimm32", "z_movimm8", "z_jrcxz", "z_sse", "z_pushmem", "z_jmpmem",
                 "z_jcc8", "z_getpc"):
        exact_or_refused(done, name, rounds, "%s %s: %s" % (mode, " ".join(flags), name))
    exact_or_refused(done, "z_loop", 2 * (rounds or 0), "%s: z_loop, twice a round" % mode)


def ripzoo_full(mode):
    done = probe("--", build("ripzoo"), SECONDS, "full", functions=["z_*"], mode=mode)
    claim("OK" in done.out and done.code == 0,
          "an address space that fills up after the start is no trouble, " + mode, done)


def tiny(mode):
    done = probe("--", build("tiny"), SECONDS, functions=["t_*"], mode=mode)
    calls = number(done.out, "calls_each")
    claim("OK" in done.out and done.code == 0, "no patch overwrites a neighbour, " + mode, done)
    for name in ("t_ret", "t_zero", "t_id", "t_rep", "t_neg", "t_fall"):
        exact_or_refused(done, name, calls, "%s: %s" % (mode, name))


def alias(mode):
    done = probe("--", build("alias"), SECONDS,
                 functions=["body", "body_alias", "body_weak", "twin_a", "twin_b", "pick"], mode=mode)
    claim("OK" in done.out and done.code == 0, "aliases and indirect functions run on, " + mode, done)
    bodies = [row for name, row in done.rows.items() if name.startswith("body")]
    claim(len(bodies) == 1 and bodies[0].get("calls") == number(done.out, "body"),
          "one body under three names is one row, counted once, " + mode, done)
    names = bodies[0]["name"] + " " + bodies[0].get("aliases", "") if bodies else ""
    claim(all(name in names for name in ("body", "body_alias", "body_weak")),
          "the row shows its aliases, " + mode, done)
    twins = sum(row.get("calls", 0) for name, row in done.rows.items() if name.startswith("twin"))
    claim(twins == number(done.out, "twins"), "equal functions are not doubled, " + mode, done)
    picked = [row for row in done.rows.values() if "pick" in (row["name"], row.get("aliases"))]
    claim(len(picked) == 1 and picked[0].get("calls") == number(done.out, "pick"),
          "an indirect function is what its resolver picked, not the resolver, " + mode, done)


def throw(mode):
    done = probe("--", build("throw"), SECONDS, functions=["leaf", "mid", "rethrow", "wrap", "top"],
                 mode=mode)
    calls = number(done.out, "top")
    claim("OK" in done.out and done.code == 0, "exceptions pass through probed functions, " + mode,
          done)
    for name in ("leaf", "mid", "rethrow", "wrap", "top"):
        exact_or_refused(done, name, calls, "%s: %s" % (mode, name))
    if mode != "time":
        return
    for name in ("leaf", "mid", "rethrow", "wrap"):
        row = done.rows.get(name, {})
        claim(row.get("timed", 0) + row.get("abandoned", 0) == row.get("calls"),
              "each call of %s is timed or abandoned by a throw" % name, done)
    claim(done.rows.get("leaf", {}).get("abandoned", 0) * 42 == (calls or 0) * 18,
          "leaf is left by a throw 18 times in 42", done)


def tail(mode):
    done = probe("--", build("tail"), SECONDS, "200000", functions=["main!is_*", "tail!is_*", "choose",
                                                                   "via_ptr", "final_a", "final_b"],
                 mode=mode)
    rounds, choose = number(done.out, "rounds"), number(done.out, "choose")
    claim("OK" in done.out and done.code == 0, "chains of 200001 tail calls, " + mode, done)
    exact_or_refused(done, "is_even", 100001 * (rounds or 0), mode + ": is_even")
    exact_or_refused(done, "is_odd", 100000 * (rounds or 0), mode + ": is_odd")
    for name in ("choose", "via_ptr", "final_a", "final_b"):
        exact_or_refused(done, name, choose, "%s: %s" % (mode, name))
    if mode == "time":
        rows = [row for row in done.rows.values() if row["state"] == "probed"]
        claim(all(row["timed"] == row["calls"] and not row["abandoned"] for row in rows),
              "every entry of a tail-calling function gets exactly one exit", done)


def coro(mode):
    done = probe("--", build("coro", "-O1"), SECONDS, functions=["coro!inner", "coro!outer",
                                                                 "coro!body"], mode=mode)
    claim("OK" in done.out and done.code == 0, "64 stacks on one thread, " + mode, done)
    for name in ("inner", "body"):
        exact_or_refused(done, name, number(done.out, name), "%s: %s" % (mode, name))
    if mode == "time":
        row = done.rows.get("inner", {})
        claim(row.get("timed", 0) + row.get("interrupted", 0) == row.get("calls"),
              "calls that saw another stack are kept apart, none is lost", done)


def regs(mode):
    # a function within a function, which only gcc has
    done = probe("--", build("regs", "-O2", "-z", "execstack", compiler="gcc"), SECONDS,
                 functions=["regs!f_*", "regs!add_base*"], mode=mode)
    claim("OK" in done.out and done.code == 0, "every register survives, " + mode, done)
    calls = number(done.out, "calls_each") or 0
    for name, row in done.rows.items():
        twice = name == "f_var" or re.match("add_base", name)
        exact_or_refused(done, name, calls * (2 if twice else 1), "%s: %s" % (mode, name))


def main():
    require_engine()
    for mode in ("count", "time"):
        loopback(mode)
        if X86_64:
            ripzoo(mode)
            ripzoo(mode, "-no-pie")
            ripzoo_full(mode)
        tiny(mode)
        alias(mode)
        throw(mode)
        tail(mode)
        coro(mode)
        regs(mode)
    finish()


if __name__ == "__main__":
    main()
