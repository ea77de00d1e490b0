#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs whose pages and return addresses are guarded: indirect jumps land only where landing is allowed
(endbr64; BTI), and returns check what they return to (PAC). Probed, they must run on, and be counted exactly."""
# runner: timeout=300
from probing import X86_64, build, claim, exact_or_refused, finish, number, probe, require_engine

FLAGS = ("-O2", "-fcf-protection=full")


def guarded(mode, *options):
    done = probe("--", build("guarded", *FLAGS), "0.3",
                 functions=["leaf", "caller", "by_pointer", "tail_by_pointer", "tail", "table"],
                 mode=mode, options=options)
    text = " ".join((mode,) + options)
    claim("OK" in done.out and done.code == 0, "guarded code runs on under probes, " + text, done)
    if not X86_64:
        claim(number(done.out, "guarded") == 1, "and its pages are guarded indeed, " + text, done)
    for name in ("by_pointer", "tail_by_pointer", "tail", "table"):
        exact_or_refused(done, name, number(done.out, "each"), "%s: %s" % (text, name))
    for name in ("caller", "leaf"):
        exact_or_refused(done, name, number(done.out, name), "%s: %s" % (text, name))
    claim(all(row["state"] != "refused" for row in done.rows.values()) and len(done.rows) == 6,
          "no function is refused for being guarded, " + text, done)
    if mode == "time" and not options:
        claim(all(row["timed"] == row["calls"] for row in done.rows.values()),
              "each call is timed, by whatever way it ends", done)


def main():
    require_engine()
    guarded("count")
    guarded("time")
    guarded("time", "--every", "16")
    finish()


if __name__ == "__main__":
    main()
