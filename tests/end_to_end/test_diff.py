# SPDX-License-Identifier: GPL-3.0-or-later
"""assay diff on real recordings: no change is seen where there is none, whoever was locked; a real one is."""
# runner: timeout=600
import json
import os
import shutil

from recording import ASSAY, PERF, claim, claim_repeated, finish, record, run, skip, workload


def diff(*words):
    done = run(ASSAY, "diff", "--json", *words)
    return done, json.loads(done.out) if done.code == 0 else None


def state(document):
    return document["verdict"]["state"] if document else None


def recorded(weights, name, *words, event="cpu-clock"):
    shutil.rmtree(name, ignore_errors=True)
    record("-q", "-F", "500", "-e", event, "-o", name, "--", weights, "4", 0, *words)


def unchanged(weights):
    def attempt(_turn):  # of two recordings of an unchanged program 5 % may show a difference
        for name in "u1", "u2":
            # The kernel's part is the machine's: 5 to 20 % with what else runs, a change by all means.
            recorded(weights, name, 7, 2, 1, event="cpu-clock:u")
        done, told = diff("u1", "u2")
        return state(told) in ("same", "unresolved", "measurement-differs"), (str(done), told)
    claim_repeated("two recordings of one program: not changed", attempt)
    recorded(weights, "a1", 7, 2, 1)
    shutil.copytree("a1", "copy")
    done, told = diff("a1", "copy")
    claim(state(told) == "same" and all(f["delta"] == f["lo"] == f["hi"] == 0 for f in told["functions"]),
          "a recording and its copy are the same, to the last digit", (done, told))


def changed(weights):
    def attempt(turn):  # the intervals of all functions miss one change in 5 % of pairs
        if turn:
            recorded(weights, "a1", 7, 2, 1)
        recorded(weights, "b", 1, 8, 1)
        rows = {f["name"]: f for f in diff("a1", "b")[1]["functions"]}
        # What the program has for its functions is what the kernel leaves, which depends on the machine.
        before, after = (sum(rows[name][side] for name in ("alpha", "beta", "gamma_ray")) for side in "ab")
        given = {"alpha": 0.1 * after - 0.7 * before, "beta": 0.8 * after - 0.2 * before}
        return (rows["alpha"]["verdict"] == "less" and rows["beta"]["verdict"] == "more"
                and all(rows[name]["lo"] <= given[name] <= rows[name]["hi"] for name in given),
                (given, rows["alpha"], rows["beta"]))
    claim_repeated("its functions have the change that they were given, within their intervals", attempt)
    done, told = diff("a1", "b")
    rows = {f["name"]: f for f in told["functions"]}
    claim(state(told) == "workload-changed", "a program that works elsewhere has changed", (done, told))
    back, again = diff("b", "a1")
    other = {f["name"]: f for f in again["functions"]}
    claim(state(again) == "workload-changed"
          and all(abs(other[name]["delta"] + rows[name]["delta"]) < 1e-12
                  and abs(other[name]["lo"] + rows[name]["hi"]) < 1e-12 for name in ("alpha", "beta")),
          "exchanged, the signs are exchanged", (back, again))
    text = run(ASSAY, "diff", "a1", "b")
    claim(text.code == 0 and "The workload changed: " in text.out and "alpha" in text.out,
          "the text says so in one sentence", text)


def locked(cycle):
    """A period equal to the cycle, twice: each recording sees one phase, not the same one."""
    for name in "l1", "l2", "l3":
        record("-q", "--schedule", "fixed", "-c", "1000000", "-o", name, "--", cycle, "1000", "2.5")
    record("-q", "-F", "500", "-o", "free", "--", cycle, "1000", "2.5")
    for a, b in ("l1", "l2"), ("l2", "l3"), ("l1", "l3"):
        done, told = diff(a, b)
        claim(state(told) in ("unresolved", "measurement-differs"),
              "two locked recordings of one program (%s, %s): not changed, not the same" % (a, b),
              (done, told))
        claim(any(m["code"] == "mismatch-schedule" for m in told["mismatches"]),
              "and the fixed clocks are named", told["mismatches"])
    done, told = diff("free", "l1")
    claim(state(told) in ("unresolved", "measurement-differs"),
          "a locked one against a randomised one: not changed", (done, told))


def incomparable(weights):
    done, told = diff("a1", "u1")
    claim(state(told) == "unresolved" and any(m["code"] == "mismatch-scope" for m in told["mismatches"]),
          "with and without kernel code: incomparable", (done, told))
    record("-q", "-c", "1", "-e", "context-switches", "-o", "switches", "--", "/bin/sh", "-c",
           "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/sleep 0.01; /bin/true; /bin/true; /bin/true; done")
    done, told = diff("a1", "switches")
    claim(done.code == 1 or (state(told) == "unresolved"
                             and any(m["code"] == "mismatch-event" for m in told["mismatches"])),
          "time against switches: incomparable, or too few to compare", (done, told))
    if PERF:
        run(PERF, "record", "-q", "-F", "997", "-o", "perf.data", weights, "2", 0, 7, 2, 1)
        done, told = diff("a1", "perf.data")
        claim(state(told) in ("unresolved", "measurement-differs"),
              "against a file of perf's fixed clock: not changed", (done, told))
        rows = [f["name"] for f in told["functions"]]
        claim(rows.count("alpha") == rows.count("beta") == 1, "and its program is matched, too", rows)
        events = ("-q", "-e", "page-faults:u", "-c", "1")
        record(*events, "-o", "faults", "--", weights, "0.5", 0, 7, 2, 1)
        run(PERF, "record", *events, "-o", "faults.data", "--", weights, "0.5", 0, 7, 2, 1)
        done, told = diff("faults", "faults.data")
        claim(done.code == 1 or not any(m["code"] in ("mismatch-event", "mismatch-schedule")
                                        for m in told["mismatches"]),
              "page faults are page faults, and have no clock that could lock", (done, told))
    else:
        skip("against a file of perf's fixed clock: not changed", "perf is not installed (linux-perf)")


def another_build(weights):
    os.makedirs("new")
    source = os.path.join(os.environ.get("ASSAY_SOURCE", "."), "tests", "data", "workloads", "weights.c")
    run(os.environ.get("CC", "cc"), "-O0", "-g", "-o", "new/weights", source)
    record("-q", "-F", "500", "-o", "rebuilt", "--", "new/weights", "4", 0, 7, 2, 1)
    done, told = diff("a1", "rebuilt")
    builds = [m for m in told["mismatches"] if m["code"] == "mismatch-build"]
    claim(len(builds) == 1 and "weights" in builds[0]["text"], "another build of the program is named",
          (done, told and told["mismatches"]))
    rows = [f["name"] for f in told["functions"]]
    claim(rows.count("alpha") == 1, "and its functions are matched by name", rows)


def words():
    done = run(ASSAY, "diff", "a1")
    claim(done.code == 2 and "two recordings" in done.err, "one recording is not compared", done)
    done = run(ASSAY, "diff", "a1", "none-such")
    claim(done.code == 1 and "none-such" in done.err, "a recording that is not there is named", done)
    done = run(ASSAY, "diff", "--html", "x.html", "a1", "b")
    claim(done.code == 1 and "not in this version" in done.err, "--html is not in this version", done)
    done = run(ASSAY, "diff", "--children", "a1", "b")
    claim(done.code == 2 and "call chains" in done.err, "--children needs call chains", done)


def main():
    weights = workload("weights")
    cycle = workload("cycle")
    unchanged(weights)
    changed(weights)
    locked(cycle)
    incomparable(weights)
    another_build(weights)
    words()
    finish()


main()
