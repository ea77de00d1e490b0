#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""More threads than the buffers have room for: 1500 of them, each in all of 1000 probed functions. Memory is bounded, those
beyond it are counted only, exactly, and the report says so."""
# runner: timeout=300
from probing import ASSAY, build, claim, finish, number, probe, require_engine, run

THREADS = 1500
FUNCTIONS = 1000
LIMIT_BYTES = 16 << 20
ACCOUNTED = ("timed", "abandoned", "dropped", "interrupted")


def crowd(program, mode, threads, rounds, limit_bytes, options=()):
    done = probe("--", program, threads, rounds, functions=["crowd!c_*"], mode=mode, options=options)
    text = "%d threads in %d functions, %s" % (threads, FUNCTIONS, mode)
    claim("OK" in done.out and done.code == 0, text + ": the program is right", done.out + done.err)
    wanted = number(done.out, "calls_each")
    wrong = [name for name, row in done.rows.items() if row.get("calls") != wanted]
    claim(len(done.rows) == FUNCTIONS and wanted == threads * rounds and not wrong,
          text + ": each function is counted exactly",
          [(name, done.rows[name].get("calls")) for name in wrong[:5]])
    touched, stated = number(done.out, "touched"), done.document["footprint"]["buffer_bytes"]
    claim(0 < touched <= stated <= limit_bytes, text + ": of the memory stated no more is touched",
          (touched, stated))
    beyond = done.document["without_block"]
    claim(0 < beyond < threads * rounds * FUNCTIONS, text + ": some threads are beyond it, and said to be",
          beyond)
    if mode == "time":
        known = sum(row[key] for row in done.rows.values() for key in ACCOUNTED)
        claim(known + beyond == threads * rounds * FUNCTIONS,
              text + ": all calls but theirs are timed or accounted for", (known, beyond))
    print("# %s: %d bytes touched of %d, %d calls counted only" % (text, touched, stated, beyond))


def said(program):
    done = run(ASSAY, "probe", "--mode", "time", "--buffer", "1M", "-f", "crowd!c_*", "--", program, "40", "2")
    claim(done.code == 0 and "are counted but not timed" in done.out,
          "the report says that threads beyond the buffers are counted only", done)


def main():
    require_engine()
    program = build("crowd", "-O1", "-pthread")
    for mode in ("count", "time"):
        crowd(program, mode, THREADS, 1, LIMIT_BYTES)
    crowd(program, "time", 40, 2, 4 << 20, ["--buffer", "4M"])
    said(program)
    finish()


if __name__ == "__main__":
    main()
