#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""assay probe as a command: exit codes, messages, what it lists, and what it leaves alone."""
# runner: timeout=600
import os
import re
import subprocess

from probing import (ASSAY, buffers_of, build, claim, finish, number, probe, require_engine, run, signal, skip,
                     start)


def endings(program):
    done = probe("--", "sh", "-c", "exit 7", functions=["sh!*main*", "*!getenv"])
    claim(done.code == 7, "the command's exit code is passed through", done)
    done = probe("--", "sh", "-c", "kill -TERM $$", functions=["*!getenv", "busybox!*"])
    claim(done.code == -signal.SIGTERM, "death by a signal is passed through", done)
    done = run(ASSAY, "probe", "-f", "x", "--", "./no-such-program")
    claim(done.code == 127 and "no such program" in done.err, "127 when there is no such program", done)
    open("plain", "w", encoding="utf-8").close()
    done = run(ASSAY, "probe", "-f", "x", "--", "./plain")
    claim(done.code == 126, "126 when it cannot be executed", done)
    done = probe("--", program, "2", "2", functions=["stress!hot"], options=["-d", "0.05"])
    claim(done.code == 0 and "OK" in done.out and 5 * 10**7 <= done.document["duration_ns"] < 19 * 10**8,
          "-d ends the probing, not the command", done)


def refusals(program):
    done = run(ASSAY, "probe", "-f", "hat", "--", program, "0.1", "1")
    claim(done.code == 1 and "near misses" in done.err and "hot" in done.err,
          "no such function: near misses are named", done)
    done = run(ASSAY, "probe", "--mode", "count", "-f", "stress!hot", "-f", "stress!hat", "-f", "!stress!cold",
               "--", program, "0.1", "1")
    claim(done.code == 0 and "stress!hat means nothing" in done.err and "hot" in done.err and
          "!stress!cold takes no function away" in done.err and "stress!hot means" not in done.err,
          "words that mean nothing beside others that do are told, with near misses", done)
    done = run(ASSAY, "probe", "-f", "stress!hot", "-f", "!h*", "--", program, "0.1", "1")
    claim(done.code == 1 and "taken away again" in done.err, "all that is meant is taken away", done)
    with open("script", "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nexec %s 0.1 1\n" % program)
    os.chmod("script", 0o755)
    done = run(ASSAY, "probe", "-f", "hot", "--", "./script")
    claim(done.code == 1 and "it runs /" in done.err and "--follow" in done.err,
          "a script: its interpreter is named, and what to do", done)
    done = run(ASSAY, "probe", "-f", "stress!hot", "-p", "4194000")
    claim(done.code == 1 and "4194000" in done.err, "no such process is one message", done)
    for words, what in ((["-f", "x"], "which program"), (["--", "true"], "which functions"),
                        (["-f", "x", "--mode", "fast", "--", "true"], "fast"),
                        (["-f", "/(/", "--", "true"], "/(/"),
                        (["-f", "x", "--cap", "0", "--", "true"], "--cap"),
                        (["-f", "x", "--nonsense", "--", "true"], "--nonsense")):
        done = run(ASSAY, "probe", *words)
        claim(done.code == 2 and what in done.err and len(done.err.splitlines()) == 1,
              "bad usage: %s" % " ".join(words), done)


def listing(program):
    done = run(ASSAY, "probe", "--dry-run", "-f", "stress!*", "-f", "!*rec*", "--", program, "1")
    claim(done.code == 0 and "would be probed" in done.out and "hot" in done.out and
          "OK" not in done.out, "--dry-run lists and does not run the command", done)
    claim(" rec " not in done.out, "an excluded function is not listed", done)
    with open("words", "w", encoding="utf-8") as file:
        file.write("# which\nstress!hot # the busy one\n\n  stress!mid\n")
    done = probe("--", program, "0.2", "2", functions=["@words"])
    claim(set(done.rows) == {"hot", "mid"}, "-f @file: one word a line", done)
    done = probe("--", program, "0.2", "2", functions=["/^(hot|mid)$/"])
    claim(set(done.rows) == {"hot", "mid"}, "-f /regex/", done)
    done = run(ASSAY, "probe", "--strict", "--mode", "time", "-f", "tiny!t_*", "--", build("tiny"),
               "0.1")
    claim(done.code == 3 and "not probed" in done.out, "--strict ends with 3 when some are refused",
          done)
    document = probe("--", program, "0.2", "2", functions=["stress!hot"], mode="time").document
    wanted = {"schema", "counter", "mode", "duration_ns", "cost", "functions", "edges", "processes",
              "threads", "overhead"}
    claim(document["schema"] == "assay.probe/1" and wanted <= set(document),
          "the JSON document holds what the contract says", document)


def caps(program):
    done = probe("--", program, "0.3", "2", functions=["stress!hot"], options=["--cap", "1000"])
    row = done.rows["hot"]
    claim(row["calls"] == 1000 * row["threads"] and row["state"] == "capped",
          "--cap: the first N calls of each thread, exactly", done)
    done = probe("--", program, "0.5", "2", functions=["stress!hot"], options=["--cap", "1000/50ms"])
    row = done.rows["hot"]
    epochs = done.document["duration_ns"] // 50000000 + 2
    claim(1000 * row["threads"] < row["calls"] <= 1000 * row["threads"] * epochs,
          "--cap N/EPOCH: the first N of each epoch", done)
    done = probe("--", program, "0.3", "2", functions=["stress!hot", "stress!mid"], mode="time",
                 options=["--every", "16"])
    row = done.rows["hot"]
    claim(row["calls"] == number(done.out, "hot"), "--every counts all calls", done)
    claim(0.02 < row["timed"] / row["calls"] < 0.2, "--every 16 times about one call in 16", done)
    done = probe("--", program, "0.3", "2", functions=["stress!hot"], mode="time",
                 options=["--cap", "500"])
    row = done.rows["hot"]
    known = sum(row[key] for key in ("timed", "abandoned", "dropped", "interrupted"))
    claim(row["calls"] == 500 * row["threads"] == known, "--cap in mode time, every call timed", done)


def interrupts(program):
    process = start(program, "600", "2")
    with subprocess.Popen([ASSAY, "probe", "--mode", "count", "-f", "stress!hot", "-p",
                           str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as assay:
        buffers_of(assay)
        assay.send_signal(signal.SIGINT)
        out, err = assay.communicate(timeout=60)
    claim(assay.returncode == 0 and "hot" in out, "Ctrl-C removes the probes and reports",
          "%s %s %s" % (assay.returncode, out, err))
    claim(process.poll() is None, "and the target goes on")
    with subprocess.Popen([ASSAY, "probe", "--mode", "count", "-f", "stress!hot", "-p",
                           str(process.pid)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True) as assay:
        buffers_of(assay)
        process.kill()
        out, err = assay.communicate(timeout=60)
    claim(assay.returncode == 0 and "until it ended" in out and "hot" in out,
          "a target's SIGKILL does not lose the counts", "%s %s %s" % (assay.returncode, out, err))
    process.communicate()


def blocked(mode):
    """System calls that would return EINTR when a thread is merely stopped."""
    process = start(build("blocked", "-O2", "-pthread"), "6")
    for _ in range(6):
        probe("-p", process.pid, "-d", "0.2", functions=["blocked!*"], mode=mode)
    out = process.communicate(timeout=60)[0]
    claim("OK" in out and "EINTR" not in out, "blocked system calls are not cut short, " + mode, out)
    if "no io_uring" in out:
        skip("io_uring_enter is not cut short", re.search("no io_uring: .*", out).group())


def seccomp():
    process = start(build("blocked", "-O2", "-pthread"), "5", "seccomp")
    done = run(ASSAY, "probe", "--mode", "count", "-f", "blocked!*", "-p", str(process.pid))
    out = process.communicate(timeout=60)[0]
    claim(done.code == 1 and "seccomp" in done.err and "OK" in out,
          "a target under seccomp is left alone, by name", "%s\n%s" % (done, out))


def main():
    require_engine()
    os.environ["LC_ALL"] = "C.UTF-8"
    program = build("stress", "-O2", "-pthread")
    endings(program)
    refusals(program)
    listing(program)
    caps(program)
    interrupts(program)
    blocked("count")
    seccomp()
    finish()


if __name__ == "__main__":
    main()
