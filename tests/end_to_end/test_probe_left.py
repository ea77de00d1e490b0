#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""assay and its guardian are both killed, at any moment: the patched code runs on, off, and the next assay puts it back; also
that of a child that was forked meanwhile."""
# runner: timeout=600
import os
import random
import subprocess

from probing import (ASSAY, buffers_of, build, claim, finish, probe, require_engine, run, signal, start,
                     text_is_the_files, time)
from recording import wait_for

LONG = os.environ.get("LONG") == "1"
ROUNDS = 200 if LONG else 12
FUNCTIONS = ["stress!hot", "stress!mid", "stress!rec", "stress!in_handler", "stress!short_lived"]


def probing(pid, functions, mode="count"):
    words = [word for function in functions for word in ("-f", function)]
    return subprocess.Popen([ASSAY, "probe", "-q", "--mode", mode, *words, "-p", str(pid)],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def guardians_of(assay):
    try:
        with open("/proc/%d/task/%d/children" % (assay.pid, assay.pid), encoding="utf-8") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def kill_both(assay, guardian_first):
    """False when there was no guardian to be killed."""
    guardians = guardians_of(assay)
    for pid in (guardians + [assay.pid] if guardian_first else [assay.pid] + guardians):
        os.kill(pid, signal.SIGKILL)
    return bool(guardians)


def removed(process):
    done = run(ASSAY, "probe", "--remove", "-p", str(process.pid))
    return done.code == 0 and "places put back" in done.out, done


def probed_again(process):
    """All functions, and they are called: none is still patched."""
    done = probe("-p", process.pid, "-d", "0.1", functions=FUNCTIONS)
    states = {row["state"] for row in done.rows.values()} | {row.get("reason") for row in done.rows.values()}
    # a thread may stand in a function all the while: it is said, and nothing is half done
    return (done.code == 0 and states <= {"probed", "refused", None, "", "busy"} and
            ((done.calls("hot") or 0) > 0 or "busy" in states)), done


def any_moment(program):
    process, chance = start(program, "7200", "4"), random.Random(3)
    left = both = 0
    wrong = []
    for turn in range(ROUNDS):
        with probing(process.pid, FUNCTIONS, "time" if turn % 2 else "count") as assay:
            if turn % 3 == 0:
                buffers_of(assay)
            else:
                wait_for(lambda: assay.poll() is not None or guardians_of(assay))
                time.sleep(chance.uniform(0, 0.3))
            both += assay.poll() is None and kill_both(assay, turn % 4 < 2)
        if process.poll() is not None:
            break
        left += not text_is_the_files(process.pid, program)
        good, done = (removed if turn % 2 else probed_again)(process)
        if not good or not text_is_the_files(process.pid, program):
            wrong.append("%d: %s" % (turn, done))
    claim(process.poll() is None and both == ROUNDS,
          "%d times assay and its guardian are killed: the target lives" % ROUNDS, (process.poll(), both))
    claim(left > 0, "some of these times it was left patched", left)
    claim(not wrong, "and each time the next assay puts every byte back", "\n".join(wrong[:3]))
    print("# %d of %d times both were killed, %d times the code was left patched" % (both, ROUNDS, left))
    alive = process.poll() is None
    process.kill()
    out = process.communicate()[0]
    claim(alive and "BAD" not in out, "no check of the target's own has failed", out)


def child(program):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def tell(words):
        process.stdin.write(words + "\n")
        process.stdin.flush()
        return process.stdout.readline().split()

    pid = int(process.stdout.readline().split()[1])
    with probing(pid, ["service!serve"]) as assay:
        on = buffers_of(assay)
        forked = int(tell("keep 5")[1])
        other = run(ASSAY, "probe", "--remove", "-p", str(pid))
        kill_both(assay, True)
    claim(other.code == 1 and "another assay" in other.err, "--remove leaves what another assay owns alone", other)
    claim(on and not text_is_the_files(pid, program) and not text_is_the_files(forked, program),
          "parent and child are left patched")
    claim(tell("again 40")[-1] == "40" and tell("work 30")[-1] == "30", "and work")
    done = run(ASSAY, "probe", "--remove", "-p", "%d,%d" % (pid, forked))
    claim(done.code == 0 and text_is_the_files(pid, program) and text_is_the_files(forked, program),
          "--remove puts both back", done)
    claim(tell("again 40")[-1] == "40" and tell("work 30")[-1] == "30", "and they work as before")
    done = run(ASSAY, "probe", "--remove", "-p", str(pid))
    claim(done.code == 0 and " 0 places" in done.out, "where nothing is left there is nothing to remove", done)
    claim(process.communicate("quit\n", timeout=60)[0].strip() == "OK", "all end well")


def usage(program):
    for words in (["--remove", "--", program], ["--remove", "-f", "x", "-p", "1"], ["--remove"]):
        done = run(ASSAY, "probe", *words)
        claim(done.code == 2 and "--remove" in done.err, "bad usage: %s" % " ".join(words[:2]), done)


def main():
    require_engine()
    program = build("stress", "-O2", "-pthread")
    any_moment(program)
    child(build("service", "-O2"))
    usage(program)
    finish()


if __name__ == "__main__":
    main()
