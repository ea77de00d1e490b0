#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""assay probe --mode state: which function each thread is in, seen at random times, and exact counts beside."""
# runner: timeout=300
from probing import build, claim, finish, number, probe, require_engine


def asleep():
    """A program that is in `sleeper` for 40 times 10 ms and little else: nearly all looks find it there."""
    done = probe("--", build("away", "-O2"), 40, 10, functions=["away!outer", "away!sleeper"], mode="state")
    rows, document = done.rows, done.document
    claim(rows["outer"]["calls"] == rows["sleeper"]["calls"] == number(done.out, "rounds"),
          "calls are counted exactly", done)
    samples, seen = rows["sleeper"]["samples"], document["threads_seen"]
    # More than nine looks in ten, whatever else runs: it waits for its turn in the callee, too. That half of ten
    # looks, or of more, find it elsewhere has a chance below 1e-4.
    claim(seen >= 10 and samples > seen / 2, "a thread that sleeps in a callee is seen in the callee", document)
    claim(rows["outer"]["samples"] + samples + document["seen_outside"] == seen and
          document["looks"] >= seen,
          "each look at a thread finds one function, the innermost, or none", done)
    claim(rows["sleeper"]["lo"] <= rows["sleeper"]["self"] <= rows["sleeper"]["hi"],
          "the share has an interval", done)


def programs():
    """The same programs that are hard on the other modes go on as before, and are counted."""
    for name, flags, words in (("throw", ("-O1",), []), ("tail", ("-O2",), []), ("coro", ("-O1",), []),
                               ("stress", ("-O2", "-pthread"), ["0.5"])):
        done = probe("--", build(name, *flags), *(words or ["0.4"]), functions=[name + "!*"], mode="state")
        claim("OK" in done.out and done.code == 0, "%s goes on as before" % name, done)
    claim(done.calls("hot") == number(done.out, "hot"), "counts are exact with threads and signals", done)


def usage():
    program = build("away", "-O2")
    for words in (["--cap", "5"], ["--every", "2"], ["--barrier"], ["-F", "0"], ["-F", "20000"]):
        done = probe("--", program, 1, 1, functions=["away!outer"], mode="state", options=words)
        claim(done.code == 2, "mode state has no use for %s" % " ".join(words), done)
    done = probe("--", program, 1, 1, functions=["away!outer"], mode="count", options=["-F", "100"])
    claim(done.code == 2, "-F is for mode state", done)


def main():
    require_engine()
    asleep()
    programs()
    usage()
    finish()


if __name__ == "__main__":
    main()
