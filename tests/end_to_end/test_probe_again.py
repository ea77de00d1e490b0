#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""A process that is probed again and again: it does not grow, and two at once are told apart."""
# runner: timeout=900
import os
import subprocess

from probing import ASSAY, buffers_of, build, claim, finish, probe, require_engine, run, signal, start

LONG = os.environ.get("LONG") == "1"
ROUNDS = 1000 if LONG else 100
MOST_BYTES = 1 << 20
SELECTIONS = (["stress!hot", "stress!mid"], ["stress!rec"],
              ["stress!hot", "stress!in_handler", "stress!short_lived"])


def memory(pid):
    """Bytes mapped, and bytes in memory."""
    with open("/proc/%d/status" % pid, encoding="utf-8") as file:
        fields = dict(line.split(":", 1) for line in file)
    return [int(fields[key].split()[0]) * 1024 for key in ("VmSize", "VmRSS")]


def once(process, turn):
    """Another selection and another mode each time, so that trampolines are written anew."""
    words = [word for function in SELECTIONS[turn % len(SELECTIONS)] for word in ("-f", function)]
    return run(ASSAY, "probe", "--mode", "time" if turn % 2 else "count", *words, "-d", "0.01",
               "-o", "/dev/null", "-p", str(process.pid))


def growth(program, *words):
    process = start(program, "900", *words)
    failed, left = [], 0
    for turn in range(6):
        once(process, turn)
    before = memory(process.pid)
    for turn in range(ROUNDS):
        done = once(process, turn)
        if done.code:
            failed.append(str(done))
        left += "others taken or mapped" in done.err
    after = memory(process.pid)
    claim(not failed, "attached %d times with changing selections" % ROUNDS, "\n".join(failed[:3]))
    grown = [b - a for a, b in zip(before, after)]
    claim(grown[1] <= MOST_BYTES, "the process has not grown by more than 1 MiB in memory meanwhile",
          "mapped %d, in memory %d bytes more" % tuple(grown))
    # how often a thread stands inside for a second is the machine's; then other regions are taken, or mapped
    claim(left or grown[0] <= MOST_BYTES,
          "nor in address space, but where a thread stood in the way, which was told",
          "mapped %d bytes more, told %d times" % (grown[0], left))
    print("# %d attachments: mapped %+d bytes, in memory %+d bytes; in the way %d times" % (ROUNDS, *grown, left))
    alive = process.poll() is None
    process.send_signal(signal.SIGKILL)
    out = process.communicate()[0]
    claim(alive and "BAD" not in out, "and it works as before", out)


def two_at_once(program):
    process = start(program, "600", "2")
    with subprocess.Popen([ASSAY, "probe", "-q", "--mode", "count", "-f", "stress!hot", "-d", "120",
                           "-p", str(process.pid)], stdout=subprocess.PIPE, text=True) as first:
        buffers_of(first)
        second = run(ASSAY, "probe", "-f", "stress!mid", "-d", "0.1", "-p", str(process.pid))
        claim(second.code == 1 and "probed already" in second.err,
              "a process that another assay probes is refused by name", second)
        first.send_signal(signal.SIGINT)
        out = first.communicate(timeout=60)[0]
        claim(first.returncode == 0 and "hot" in out, "the first assay has not noticed", out)
    done = probe("-p", process.pid, "-d", "0.1", functions=["stress!mid"])
    claim(done.code == 0 and (done.calls("mid") or 0) > 0, "and it is free when that one has ended", done)
    process.kill()
    process.communicate()


def main():
    require_engine()
    program = build("stress", "-O2", "-pthread")
    growth(program, "2")
    two_at_once(program)
    finish()


if __name__ == "__main__":
    main()
