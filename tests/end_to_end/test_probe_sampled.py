# SPDX-License-Identifier: GPL-3.0-or-later
"""Stacks that are sampled while probes are on read as if there were none: the same functions, called by the same."""
import json
import os
import subprocess

from probing import ASSAY, PREBUILT, build, buffers_of, claim, finish, require_engine, run, start

CHAIN = ["main", "outer", "middle", "leaf"]
AGENT = "[assay probe]"
FLAGS = ("-O1", "-fno-omit-frame-pointer", "-mno-omit-leaf-frame-pointer")


def stacks(pid, bundle):
    """[(samples, names from main inwards)] of what the process did for two seconds."""
    done = run(ASSAY, "record", "-q", "-g", "-e", "cpu-clock:u", "-F", "997", "-d", "2", "-o", bundle, "-p", str(pid))
    report = run(ASSAY, "report", "--json", "--sort", "stack", bundle)
    claim(done.code == 0 and report.code == 0, "it is recorded", (done, report))
    taken = []
    for row in json.loads(report.out)["functions"]:
        names = [frame["name"] if isinstance(frame, dict) else frame for frame in row["stack"]][::-1]
        if "main" in names:
            taken.append((row["samples"], names[names.index("main"):]))
    return taken


def strangers(taken):
    """Samples in stacks that are no part of the chain: a frame may be missing above the innermost, which is so at the
    first and the last instructions of any function."""
    good = [CHAIN[:n] for n in range(1, 5)] + [CHAIN[:n] + CHAIN[n + 1:n + 2] for n in range(1, 3)]
    return [one for one in taken if [name for name in one[1] if name != AGENT] not in good]


def sampled(program, mode):
    process = start(program, "60")
    with subprocess.Popen([ASSAY, "probe", "-q", "-o", "/dev/null", "--perf-map", "--mode", mode, "-f", "nest!leaf",
                           "-f", "nest!middle", "-p", str(process.pid)]) as assay:
        claim(buffers_of(assay), "probes are on, " + mode)
        taken = stacks(process.pid, mode)
        assay.terminate()
        assay.wait()
    names = "/tmp/perf-%d.map" % process.pid
    with open(names, encoding="utf-8") as file:
        lines = file.read().splitlines()
    claim(any(line.endswith(" leaf") for line in lines) and any(line.endswith(AGENT) for line in lines),
          "the file of names has the functions and the part that they share, " + mode, lines)
    os.unlink(names)
    total, wrong = sum(one[0] for one in taken), strangers(taken)
    claim(total > 200 and sum(one[0] for one in wrong) <= 0.02 * total,
          "all stacks are the program's own, " + mode, (total, wrong))
    seen = {tuple(one[1]) for one in taken}
    claim(any(names[:2] == ("main", "outer") and names[-1] == "leaf" for names in seen),
          "the short function is seen where it is called, " + mode, seen)
    process.kill()
    process.communicate()


def another_file(program):
    process = start(program, "60")
    path = "/tmp/perf-%d.map" % process.pid
    with open(path, "w", encoding="utf-8") as file:
        file.write("1000 10 its own\n")
    done = run(ASSAY, "probe", "--perf-map", "-f", "nest!leaf", "-d", "0.2", "-p", str(process.pid))
    with open(path, encoding="utf-8") as file:
        kept = file.read()
    os.unlink(path)
    claim(done.code == 0 and path[5:] in done.err and kept == "1000 10 its own\n",
          "a program's own file of names stays, and it is told", (done, kept))
    process.kill()
    process.communicate()


def main():
    require_engine()
    program = build("nest", *FLAGS) if not PREBUILT else build("nest")
    sampled(program, "count")
    sampled(program, "time")
    another_file(program)
    finish()


main()
