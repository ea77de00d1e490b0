# SPDX-License-Identifier: GPL-3.0-or-later
"""A user without privilege records own processes, in user code, and is told what is missing and why."""
# runner: timeout=600
import os
import shutil
import subprocess

from recording import (ASSAY, PERF, ROOT, claim, finish, manifest, run, samples_by_symbol, skip, wait_for,
                       workload)

NOBODY = 65534


def as_nobody(*words, **keywords):
    return run("setpriv", "--reuid", NOBODY, "--regid", NOBODY, "--clear-groups", *words, **keywords)


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid", encoding="ascii") as file:
        return int(file.read())


def main():
    if not ROOT or not shutil.which("setpriv"):
        skip("an unprivileged user records", "needs root to become an unprivileged user")
        finish()
    if paranoid() < 2:
        skip("an unprivileged user records", "perf_event_paranoid is below 2 here")
        finish()
    half = workload("half")
    os.chmod(".", 0o755)
    os.mkdir("own")
    os.chown("own", NOBODY, NOBODY)
    reachable = as_nobody(ASSAY, "--version").code in (0, 2) and as_nobody(half, "0.01").code == 0
    if not reachable:
        skip("an unprivileged user records", "nobody cannot reach the program under test here")
        finish()
    done = as_nobody(ASSAY, "record", "-F", "500", "-o", "own/out", "--", half, "1", "3")
    claim(done.code == 3, "a command is recorded, its exit code kept", done)
    notices = [line for line in done.err.splitlines() if line.startswith("assay record:")]
    claim(len(notices) == 1 and "perf_event_paranoid" in notices[0] and "user code only" in
          notices[0], "what is missing is said once, with the knob", done)
    told = manifest("own/out")
    claim(told["scope"] == "thread" and not told["kernel"] and told["scope_why"],
          "the manifest says it too", (told["scope"], told["kernel"], told["scope_why"]))
    claim(os.stat("own/out").st_uid == NOBODY, "the bundle is the user's own")
    if PERF:
        sums, _ = samples_by_symbol("own/out")
        claim(sums.get("left", 0) > 0 and sums.get("right", 0) > 0, "its functions are seen", sums)
    done = as_nobody(ASSAY, "record", "-q", "-o", "own/quiet", "--", half, "0.2")
    claim(done.err == "", "-q keeps silent about it", done)
    target = subprocess.Popen(["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY),
                               "--clear-groups", half, "3"], stdout=subprocess.DEVNULL)
    wait_for(lambda: os.readlink("/proc/%d/exe" % target.pid) == half)  # setpriv before that is root's
    done = as_nobody(ASSAY, "record", "-F", "500", "-o", "own/attached", "-d", "1", "-p", target.pid)
    claim(done.code == 0 and manifest("own/attached")["end"]["samples"] > 0,
          "an own process is attached to", done)
    target.wait()
    for words, what in ((["-a", "-d", "1"], "whole CPUs"), (["-p", "1"], "another user's process"),
                        (["-e", "sched:sched_switch", "--", "/bin/true"], "tracepoints")):
        done = as_nobody(ASSAY, "record", "-o", "own/refused", *words)
        claim(done.code in (1, 2) and len(done.err.splitlines()) == 1 and
              ("paranoid" in done.err or "root" in done.err) and not os.path.exists("own/refused"),
              "%s are refused in one message that names the knob" % what, done)
    done = as_nobody(ASSAY, "record", "-m", "16384", "-o", "own/big", "--", half, "0.1")
    claim(done.code == 1 and "mlock" in done.err, "more locked memory than allowed names its knob",
          done)
    finish()


main()
