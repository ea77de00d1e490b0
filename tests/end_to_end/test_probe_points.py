#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Points and regions: lines of the source, and from one place to another."""
# runner: timeout=600
import subprocess

from probing import (ASSAY, PREBUILT, X86_64, build, claim, finish, number, probe, require_engine,
                     run, skip)


def regions(done):
    return {row["name"]: row for row in (done.document or {}).get("regions", [])}


def lines(program):
    plain = run(program, "lines").out
    calls, inlined = (f"passages.c:{number(plain, 'line_' + what)}" for what in ("calls", "inlined"))
    done = probe("--", program, "lines", functions=[calls, inlined, "passages!second"])
    claim(done.calls(calls) == number(plain, "calls"), "a line is counted each time it begins", done)
    row = done.rows.get(inlined, {})
    claim(row.get("calls") == number(plain, "inlined"),
          "all inlined copies of a line are one row, with their sum", done)
    claim({name.split("+")[0] for name in row.get("aliases", "").split(", ")} == {"first", "second"},
          "and the row names the functions they are in", done)
    claim(done.calls("second") == 100, "a function that begins with such a line is probed with it", done)
    done = probe("--", program, "lines", functions=[f"passages!*/{inlined}", "passages!first"],
                 mode="time")
    row = [row for row in done.rows.values() if row["name"].endswith(inlined)]
    claim(len(row) == 1 and row[0]["calls"] == number(plain, "inlined")
          and done.calls("first") == number(plain, "calls"),
          "a line is counted in mode time, too; its file may be a glob", done)
    return plain


def no_lines(program, plain):
    nothing = number(plain, "line_of_nothing")
    done = run(ASSAY, "probe", "-f", f"passages.c:{nothing}", "--", program, "lines")
    near = [int(word) for word in done.err.replace("\n", " ").split() if word.isdigit()]
    claim(done.code == 1 and "no code" in done.err and len(near) == 2 and near[0] < nothing < near[1],
          "a line without code: the nearest that have some", done)
    done = run(ASSAY, "probe", "-f", "nowhere.c:3", "--", program, "lines")
    claim(done.code == 1 and "no source file of that name" in done.err, "no such file", done)
    if PREBUILT:
        skip("programs without debug information", "nothing can be stripped here")
        return
    subprocess.run(["strip", "-g", "-o", "stripped", program], check=True)
    done = run(ASSAY, "probe", "-f", "stripped!passages.c:3", "--", "./stripped", "lines")
    claim(done.code == 1 and "-g" in done.err and "-dbgsym" in done.err and "stripped" in done.err,
          "without debug information: what is needed", done)
    subprocess.run(["objcopy", "--only-keep-debug", program, "program.debug"], check=True)
    subprocess.run(["objcopy", "--add-gnu-debuglink=program.debug", "stripped"], check=True)
    line = f"passages.c:{number(plain, 'line_inlined')}"
    done = probe("--", "./stripped", "lines", functions=[line])
    claim(done.calls(line) == number(plain, "inlined"), "lines of a separate debug file", done)
    split = build("passages", "-O2", "-g", "-gsplit-dwarf", "-pthread", output="split")
    done = probe("--", split, "lines", functions=[line])
    claim(done.calls(line) == number(plain, "inlined"), "lines of split debug information", done)


def passages(program):
    done = probe("--", program, "threads", options=["--region", "begin..end"], mode="time")
    row = regions(done).get("begin..end", {})
    claim(row.get("passages") == row.get("timed") == row.get("begun") == number(done.out, "passages")
          and row["threads"] == 4 and row["unended"] == row["restarted"] == row["ends_alone"] == 0,
          "passages of four threads are counted exactly, each in its own", done)
    claim(sum(bucket["calls"] for bucket in row["distribution"]) == row["timed"],
          "and all of them are in the distribution", done)
    done = probe("--", program, "threads", options=["--region", "begin..end"])
    claim(regions(done)["begin..end"]["passages"] == number(done.out, "passages"),
          "mode count counts them as well", done)
    done = probe("--", program, "nested", mode="time",
                 options=["--region", "begin..end", "--region", "down..end"])
    row, deep = regions(done)["begin..end"], regions(done)["down..end"]
    claim((row["begun"], row["passages"], row["restarted"], row["ends_alone"]) == (2, 1, 1, 11),
          "begun twice: the innermost is the passage; further ends have nothing to end", done)
    claim((deep["begun"], deep["passages"], deep["restarted"], deep["ends_alone"]) == (10, 1, 9, 11),
          "so it is in a recursion", done)
    done = probe("--", program, "crossed", mode="time", options=["--region", "begin..end"])
    row = regions(done)["begin..end"]
    claim((row["begun"], row["passages"], row["ends_alone"]) == (5, 0, 5)
          and row["restarted"] + row["unended"] == 5,
          "ends in different threads are no passage", done)
    if X86_64:
        done = probe("--", program, "left", mode="time", options=["--region", "begin..end"])
        row = regions(done)["begin..end"]
        claim((row["begun"], row["passages"], row["ends_alone"], row["unended"]) == (1, 0, 1, 1),
              "what a thread left open is not ended by the next one on its stack", done)
    else:
        skip("regions that a thread leaves open",
             "AArch64: the next thread with its thread pointer ends them (docs/probes.md)")


def times(program):
    done = probe("--", program, "timed", functions=["passages!work", "passages!begin"], mode="time",
                 options=["--region", "begin..end", "--region", "assay:round__begin..assay:round__end",
                          "--region", "end..begin"])
    rounds, inside = number(done.out, "rounds"), number(done.out, "inside_ns")
    row, marks = regions(done)["begin..end"], regions(done)["assay:round__begin..assay:round__end"]
    claim(row["passages"] == marks["passages"] == rounds and done.calls("work") == rounds
          and done.calls("begin") == rounds,
          "regions by functions and by marks, with their functions probed too", done)
    claim(regions(done)["end..begin"]["passages"] == rounds - 1,
          "where one region ends the next may begin", done)
    # stolen time and interrupts may be counted on one side only: half is far from wrong pairing
    claim(inside / 2 < row["inclusive"] < number(done.out, "around_ns")
          and inside / 2 < marks["inclusive"] < number(done.out, "around_ns"),
          "their time lies between what was measured inside and around", done)
    done = probe("--", program, "iterations", mode="time",
                 options=["--region", "assay:iteration..assay:iteration"])
    row = regions(done)["assay:iteration..assay:iteration"]
    claim((row["begun"], row["passages"], row["ends_alone"], row["unended"]) == (50, 49, 1, 1),
          "from one iteration to the next", done)


def refused(program):
    for words, what in ((["--region", "begin"], "two places"), (["--region", "begin.."], "two places"),
                        (["--region", "begin..!end"], "an end is"),
                        (["--region", "a..b", "--mode", "trace"], "--region"),
                        (["--region", "a..b", "--every", "4"], "--region"),
                        (["--region", "a..b", "--cap", "4"], "--region")):
        done = run(ASSAY, "probe", *words, "--", program)
        claim(done.code == 2 and what in done.err and len(done.err.splitlines()) == 1,
              "bad usage: %s" % " ".join(words), done)
    done = run(ASSAY, "probe", "--region", "begun..end", "--", program)
    claim(done.code == 1 and "begun" in done.err and "near misses: begin" in done.err,
          "an end that means nothing: near misses", done)
    done = run(ASSAY, "probe", "--region", "begin..assay:nowhere", "--", program)
    claim(done.code == 1 and "no mark" in done.err, "a mark that is none", done)
    done = probe("--", program, "threads", options=["--region", "begin..end+1"])
    row = regions(done).get("begin..end+1", {})
    claim(row.get("state") == "refused" and row["reason"] == "into-instruction",
          "a region is refused when one of its places is", done)
    done = run(ASSAY, "probe", "--dry-run", "--region", "begin..end", "--", program)
    claim(done.code == 0 and "begin..end" in done.out, "--dry-run lists regions", done)
    done = run(ASSAY, "probe", "--region", "begin..end", "--", program, "nested")
    claim(done.code == 0 and "begun anew: 1" in done.out and "passages" in done.out,
          "the table tells of them, and of what was not paired", done)


def exits(program):
    done = probe("--dry-run", "--", program, functions=["passages!first", "passages!down"], mode="time")
    for name in ("first", "down"):
        row = done.rows[name]
        claim(row["exits"] and all(exit["kind"] in ("return", "tail-jump") and exit["offset"] > 0
                                   and exit["number"] > 0 for exit in row["exits"]),
              "the exits of %s: where, and of which kind" % name, done)
    claim(len({exit["number"] for exit in done.rows["down"]["exits"]}) == len(done.rows["down"]["exits"]),
          "each exit has a number of its own", done)


def main():
    require_engine()
    program = build("passages", "-O2", "-g", "-pthread")
    no_lines(program, lines(program))
    passages(program)
    times(program)
    refused(program)
    exits(program)
    finish()


if __name__ == "__main__":
    main()
