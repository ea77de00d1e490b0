# SPDX-License-Identifier: GPL-3.0-or-later
"""Each way of attaching clocks, on programs that count their own truth: two halves by turns, threads and
children of 2 ms, many threads on few descriptors; launched and attached."""
# runner: timeout=900
# runner: no-sanitizer
import json
import os
import resource
import subprocess

from recording import (ASSAY, PERF, ROOT, claim, finish, manifest, perf_script, record, run,
                       share_error, skip, truth, wait_for, workload)

PER_CPU = ("cgroup", "cpu")


def periods_of(bundle):
    """CPU time that the samples stand for: each of the clocks covers all of it."""
    told = manifest(bundle)
    rows, _ = perf_script(bundle, "period")
    clocks = sum(clock["randomised"] for clock in told["clocks"])
    return sum(int(row[0]) for row in rows) / clocks / 1e9, len(rows)


def threads(pid):
    return len(os.listdir("/proc/%d/task" % pid))


def cpu_seconds(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        words = file.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def halves(half, scope):
    done = record("-q", "-F", "1000", "-o", scope, "--scope", scope, "--", half, "2")
    told = truth(done.out)
    error, deviation = share_error(scope, told, "left", "right")
    claim(error is not None and abs(error) < 5 * deviation,
          "%s: two halves by turns are measured as they were" % scope, (done, error, deviation))
    measured, n = periods_of(scope)
    cpu = manifest(scope)["end"]["target_cpu_ns"] / 1e9
    claim(abs(measured / cpu - 1) < 5 / n ** 0.5 + 0.02,
          "%s: periods add up to the CPU time" % scope, (measured, cpu))
    told = manifest(scope)
    claim(told["scope"] == scope and (told["redraw"] == "none") == (scope == "inherit"),
          "%s: the manifest says how clocks were attached" % scope)


def short(program, scope):
    done = record("-q", "-F", "1000", "-o", "short." + scope, "--scope", scope, "--", program,
                  "150", "200")
    end = manifest("short." + scope)["end"]
    measured, n = periods_of("short." + scope)
    cpu = end["target_cpu_ns"] / 1e9
    if scope in PER_CPU:
        claim(abs(measured / cpu - 1) < 5 / n ** 0.5 + 0.02,
              "%s: CPU time of 2 ms threads and children is all there" % scope,
              (done, measured, cpu))
        error, deviation = share_error("short." + scope, truth(done.out), "early", "late")
        claim(abs(error) < 5 * deviation, "%s: so are the halves of their short lives" % scope,
              (error, deviation))
    elif scope == "thread":
        # A thread is met only while it lives: how many of these are, and how many get a sample, is the
        # machine's matter. That shares cannot be trusted then is told.
        found = json.loads(run(ASSAY, "diagnose", "--json", "short." + scope).out)["findings"]
        claim(any(f["code"] == "short-tasks" and f["severity"] == "bias" for f in found) and
              0 < end["unsampled_cpu_ns"] / 1e9 <= cpu,
              "%s: that 2 ms threads went without a sample is told, as a bias" % scope, (end, found))
    else:
        # A task that has a sample may still have lost the rest of its time to clocks that start anew.
        claim(end["tasks_unsampled"] > 0 and end["unsampled_cpu_ns"] > 0,
              "inherit: it is told that short tasks went without a sample", end)
    if scope != "thread":
        claim(end["tasks_seen"] > 750, "%s: every thread and child was seen" % scope, end)


def attached(half, scope):
    child = subprocess.Popen([half, "4"], stdout=subprocess.PIPE, text=True)
    wait_for(lambda: cpu_seconds(child.pid) > 0.3)
    done = record("-q", "-F", "1000", "-o", "attached." + scope, "--scope", scope, "-d", "1.5", "-p",
                  str(child.pid))
    claim(done.code == 0 and child.poll() is None, "%s: attaching leaves the process alone" % scope,
          done)
    error, deviation = share_error("attached." + scope, truth(child.communicate()[0]), "left",
                                   "right")
    claim(error is not None and abs(error) < 5 * deviation + 0.01,
          "%s: attached, halves are measured as they were" % scope, (error, deviation))


def ends_with_its_target(half):
    child = subprocess.Popen([half, "1"], stdout=subprocess.DEVNULL)
    done = record("-q", "-o", "gone", "-p", str(child.pid))
    claim(done.code == 0 and manifest("gone")["end"]["reason"] == "exit",
          "an attached recording ends with its process", done)
    child.wait()


def many(program, name, *words):
    """1500 threads that sleep, and short ones and children, on 256 descriptors."""
    def few():
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
    done = record("-q", "-F", "500", "-o", "many." + name, *words, preexec_fn=few, timeout=300)
    claim(done.code == 0, "%s: 1500 threads on 256 descriptors are recorded" % name, done)
    measured, n = periods_of("many." + name)
    cpu = manifest("many." + name)["end"]["target_cpu_ns"] / 1e9
    claim(abs(measured / cpu - 1) < 5 / n ** 0.5 + 0.05,
          "%s: their CPU time is all there" % name, (measured, cpu))
    return done


def many_attached(program):
    child = subprocess.Popen([program, "1500", "40", "500"], stdout=subprocess.PIPE, text=True)
    wait_for(lambda: threads(child.pid) > 1500)
    many(program, "attached", "-p", str(child.pid))
    claim(child.wait() == 0, "attached: the program ran as it would have")


def main():
    if not PERF:
        skip("scopes measure the truth", "perf is not installed (linux-perf)")
        finish()
    half, short_lived = workload("half"), workload("short_lived", "-pthread")
    crowd = workload("crowd", "-pthread")
    scopes = (PER_CPU if ROOT else ()) + ("thread", "inherit")
    for scope in scopes:
        halves(half, scope)
        short(short_lived, scope)
        if scope != "cgroup":
            attached(half, scope)
    ends_with_its_target(half)
    if ROOT:
        many(crowd, "launched", "--", crowd, "1500", "40", "100")
        many_attached(crowd)
    else:
        skip("1500 threads on 256 descriptors are recorded", "needs root")
    finish()


main()
