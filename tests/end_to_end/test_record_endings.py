# SPDX-License-Identifier: GPL-3.0-or-later
"""However a recording ends (a limit, a signal, kill -9, a full disk), the bundle reads up to its last
finished epoch, and the target is not harmed."""
# runner: timeout=600
import os
import signal
import subprocess
import time

from recording import (ASSAY, PERF, ROOT, claim, finish, manifest, perf_script, record, run, skip, wait_for,
                       workload)


def readable(bundle, complete, text):
    told = manifest(bundle)
    claim(("end" in told) == complete, "%s: the manifest is %s" % (
        text, "closed" if complete else "left open"), told.get("end"))
    claim(len(told["epochs"]) >= 1, "%s: finished epochs are there" % text)
    if not PERF:
        skip("%s: perf reads what the epochs count" % text, "perf is not installed (linux-perf)")
        return told
    rows, done = perf_script(bundle, "period")
    counted = sum(clock["samples"] for epoch in told["epochs"] for clock in epoch["clocks"])
    claim(done.code == 0 and len(rows) >= counted > 0,
          "%s: perf reads what the epochs count" % text, (len(rows), counted, done.err))
    return told


def limits(half):
    done = record("-o", "duration", "-d", "0.8", "--", half, "60")
    claim(done.code == 0 and done.out == "", "-d ends a command before its own end, and is no failure", done)
    told = readable("duration", True, "-d")
    claim(told["end"]["reason"] == "duration", "-d is the reason in the manifest", told["end"])
    elapsed = (told["end"]["end_ns"] - told["start_ns"]) / 1e9
    claim(0.8 <= elapsed < 50, "-d 0.8 lasted as long, and not the 60 s of the command", elapsed)
    done = record("-o", "size", "-F", "2000", "--max-size", "20K", "--", half, "60")
    told = readable("size", True, "--max-size")
    size = os.path.getsize("size/perf.data")
    claim(done.code == 0 and told["end"]["reason"] == "max-size" and 20480 <= size < 200000,
          "--max-size ends it soon after", (done, size, told["end"]))
    # The shell needs some ms for its trap: -d allows for a machine on which that takes a thousand times as long.
    done = record("-o", "stubborn", "-d", "2", "--", "/bin/sh", "-c",
                  "trap 'exit 9' TERM; while :; do :; done")
    claim(done.code == 9, "a command that answers SIGTERM with an exit code keeps it", done)
    done = record("-o", "timer", "-a" if ROOT else "-p", *([] if ROOT else [str(os.getpid())]), "--",
                  "/bin/sleep", "0.5")
    claim(done.code == 0 and manifest("timer")["end"]["reason"] == "exit",
          "a command beside another target says how long to record", done)


def interrupted(half):
    for number in (signal.SIGINT, signal.SIGTERM):
        bundle = "attached.%d" % number
        target = subprocess.Popen([half, "3"], stdout=subprocess.DEVNULL)
        child = subprocess.Popen([ASSAY, "record", "-q", "-F", "500", "-o", bundle, "-p",
                                  str(target.pid)])
        wait_for(lambda: epochs_with_samples(bundle) > 0)
        child.send_signal(number)
        claim(child.wait(60) == 0, "a signal ends an attached recording in order", child.returncode)
        told = readable(bundle, True, "a signal")
        claim(told["end"]["reason"] == "interrupt" and target.poll() is None,
              "the process it was attached to goes on", told["end"])
        claim(target.wait(60) == 0, "and ends as it would have")


def epochs_with_samples(bundle):
    """Of a bundle that is being written: as many finished epochs as the manifest tells of now."""
    try:
        epochs = manifest(bundle)["epochs"]
    except (OSError, ValueError):
        return 0
    return sum(any(clock["samples"] for clock in epoch["clocks"]) for epoch in epochs)


def killed(half):
    """At whatever moment once there are epochs: between two, while writing."""
    recorders = []
    for delay in (0, 0.031, 0.077):
        bundle = "killed.%g" % delay
        child = subprocess.Popen([ASSAY, "record", "-q", "-F", "1000", "-o", bundle, "--epoch",
                                  "50", "--", half, "2.5"], stdout=subprocess.PIPE, text=True)
        recorders.append("assay-%d" % child.pid)
        wait_for(lambda: epochs_with_samples(bundle) > 1)
        time.sleep(delay)
        child.kill()
        child.wait()
        out = child.stdout.read()
        claim("left" in out and "right" in out, "kill -9 of assay leaves the command running")
        told = readable(bundle, False, "kill -9")
        size = os.path.getsize(os.path.join(bundle, "perf.data"))
        claim(told["epochs"][-1]["data_bytes"] <= size, "the manifest never speaks of more than "
              "there is", (told["epochs"][-1], size))
    if ROOT:
        left = [name for name in os.listdir(cgroup_root()) if name in recorders]
        record("-q", "-o", "after", "--", "/bin/true")
        still = [name for name in os.listdir(cgroup_root()) if name in recorders]
        claim(left[-1:] == recorders[-1:] and still == [],
              "cgroups of killed recordings are removed by the next one", (recorders, left, still))


def cgroup_root():
    with open("/proc/mounts", encoding="ascii") as mounts:
        for line in mounts:
            words = line.split()
            if words[2] == "cgroup2":
                with open("/proc/self/cgroup", encoding="ascii") as own:
                    place = [line.rstrip()[3:] for line in own if line.startswith("0::")][0]
                return words[1] + place
    return "/nonexistent"


def full_disk(half):
    if not ROOT:
        skip("a full disk does not harm the command", "needs root to mount a small filesystem")
        return
    os.mkdir("small")
    mounted = run("mount", "-t", "tmpfs", "-o", "size=300k", "assay-test", "small")
    if mounted.code:
        skip("a full disk does not harm the command", "cannot mount: " + mounted.err.strip())
        return
    try:
        done = record("-F", "3000", "-g", "-o", "small/out", "--", half, "2.5", timeout=300)
        claim(done.code == 1 and "No space left" in done.err and "left" in done.out,
              "a full disk: the command runs to its end, one message, exit code 1", done)
        claim("bundle small/out" in done.err and "after %d epoch" % len(manifest("small/out")["epochs"])
              in done.err and "another file system" in done.err,
              "a full disk: the message has the path, how far the bundle reads, and what to try", done)
        told = manifest("small/out")
        shown = run(ASSAY, "report", "-i", "small/out")
        claim(shown.code == 0 and "disk was full" in " ".join(shown.out.split())
              and "killed?" not in shown.out,
              "a full disk: the report says so", shown)
        claim(len(told["epochs"]) >= 1, "a full disk: finished epochs are there")
        if PERF:
            rows, _ = perf_script("small/out", "period")
            counted = sum(c["samples"] for e in told["epochs"] for c in e["clocks"])
            claim(len(rows) >= counted > 0, "a full disk: perf reads what the epochs count",
                  (len(rows), counted))
        done = record("-F", "3000", "-g", "-o", "small/again", "--", half, "1", "5", timeout=300)
        claim(done.code in (1, 5), "a full disk: the command's own failure is kept", done)
        run("/bin/sh", "-c", "cat /dev/zero > small/fill")
        done = record("-o", "small/none", "--", "/bin/sh", "-c", "touch ran")
        claim(done.code == 1 and not os.path.exists("ran") and not os.path.exists("small/none"),
              "a disk that is full at the start: nothing runs, nothing is left", done)
    finally:
        run("umount", "-l", "small")


def size_limit(half):
    """A file that may not grow: SIGXFSZ does not end assay, and the command has it as it was."""
    done = run("/bin/sh", "-c", 'ulimit -f 60; exec "$@"', "sh", ASSAY, "record", "-F", "3000", "-g", "-o",
               "limited", "--", half, "2", timeout=300)
    claim(done.code == 1 and "File too large" in done.err and "bundle limited" in done.err
          and "ulimit -f" in done.err and "left" in done.out,
          "ulimit -f: one message with path and remedy, the command runs to its end", done)
    shown = run(ASSAY, "report", "-i", "limited")
    claim(shown.code == 0 and "ulimit -f" in shown.out and "killed?" not in shown.out,
          "ulimit -f: the report says why the recording ended", shown)
    done = record("-o", "signals", "--", "/bin/grep", "SigIgn", "/proc/self/status")
    claim(done.code == 0 and not int(done.out.split()[-1], 16) & 1 << (signal.SIGXFSZ - 1),
          "the command has SIGXFSZ at its default", done)


def main():
    half = workload("half")
    limits(half)
    interrupted(half)
    killed(half)
    full_disk(half)
    size_limit(half)
    finish()


main()
