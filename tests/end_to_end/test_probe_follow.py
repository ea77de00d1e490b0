#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that a target makes are probed, too (--follow), against what each says that it did."""
# runner: timeout=300
import collections
import re
import subprocess

from probing import (ASSAY, X86_64, build, claim, finish, probe, require_engine, run, signal, skip, time)
from test_probe_processes import Probing, text_is_the_files

FUNCTION = ("follow!work",)


def told(text):
    """Calls by process, as they were said."""
    sums = collections.Counter()
    for pid, calls in re.findall(r"\bpid=(\d+) calls=(\d+)", text):
        sums[int(pid)] += int(calls)
    return sums


def counted(document):
    """Calls by process; a process that called exec is there once for each program that it was."""
    sums = collections.Counter()
    for process in (document or {}).get("processes", []):
        sums[process["pid"]] += process["calls"]
    return sums


def family(program, mode, *options):
    probed = probe("--", program, "family", functions=FUNCTION, mode=mode,
                   options=("--follow", *options))
    wanted = told(probed.out)
    name = " ".join((mode, *options))
    bad = [line for line in probed.out.splitlines() if line.startswith("BAD")]
    if not X86_64 and bad == ["BAD epoll_wait 4"]:
        bad = []
        skip("a signal that is ignored does not cut a blocked call short, " + name,
             "on AArch64 such a call is not made again (docs/probes.md)")
    claim(len(wanted) == 11 and not bad and probed.code == 0,
          "children of every kind end as they should, and their parents see it, " + name, probed)
    got = counted(probed.document)
    claim({pid: got[pid] for pid in wanted} == dict(wanted),
          "calls of each process, exactly, from its first instruction on, " + name,
          "said %s\ncounted %s\n%s" % (dict(wanted), dict(got), probed))
    claim(probed.calls("work") == sum(wanted.values()), "and their sum, " + name, probed)
    return probed


def kinds(probed):
    processes = probed.document["processes"]
    starts = collections.Counter(process["start"] for process in processes)
    claim(starts["launched"] == 1 and starts["exec"] == 4 and starts["fork"] >= 7,
          "how each came to be is said: fork, exec", starts)
    unprobed = [child for process in processes for child in process["children"]]
    claim(any(child["comm"] == "sh" and "none of the functions" in child["reason"]
              for child in unprobed), "a program that has none of the functions is listed", unprobed)


def many(program):
    for live in (1, 20):
        probed = probe("--", program, "many", "150", str(live), functions=FUNCTION,
                       options=("--follow",))
        processes = [process for process in probed.document["processes"]
                     if process["start"] == "fork"]
        claim("bad=0" in probed.out and probed.calls("work") == 1500 and
              [process["calls"] for process in processes] == [10] * 150,
              "150 short children, %d at a time" % live, probed)


class Server:
    """tests/data/probe/follow serve."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.pid = self.process.pid
        self.process.stdout.readline()

    def child(self, calls):
        self.process.stdin.write("%d\n" % calls)
        self.process.stdin.flush()
        return int(self.process.stdout.readline().split()[1])

    def end(self):
        out = self.process.communicate("end\n", timeout=60)[0]
        return self.process.returncode, out


def attached(program, mode):
    """Two targets that run already; children from before are not followed; they outlive assay."""
    servers = [Server(program), Server(program)]
    before = servers[0].child(5)
    probing = Probing([server.pid for server in servers], "--follow", functions=FUNCTION, mode=mode)
    on = probing.wait_until_on([server.pid for server in servers])
    children = [servers[i % 2].child(100 * (i + 1)) for i in range(4)]
    claim(on and not text_is_the_files(children[3], program), "children have the probes, " + mode)
    probing.end()
    got = counted(probing.document)
    claim([got[child] for child in children] == [100, 200, 300, 400] and probing.calls("work") == 1000,
          "children of two targets, exactly, " + mode, probing)
    claim(any(child["pid"] == before for process in probing.document["processes"]
              for child in process["children"]), "one from before is listed, " + mode, probing)
    claim(all(text_is_the_files(pid, program)
              for pid in [*children, *(server.pid for server in servers)]),
          "the text of all is the file's again, " + mode)
    ends = [server.end() for server in servers]
    claim([code for code, _ in ends] == [0, 0] and "ended %d calls=800" % children[3] in ends[1][1],
          "and all work on and end well, " + mode, ends)


def killed(program):
    """kill -9 of assay, at once after children were made and later."""
    for pause in (0, 0.01, 0.3):
        server = Server(program)
        probing = Probing([server.pid], "--follow", functions=FUNCTION)
        probing.wait_until_on([server.pid])
        children = [server.child(10) for _ in range(3)]
        for _ in range(3):
            server.process.stdin.write("20\n")
        server.process.stdin.flush()
        time.sleep(pause)
        probing.process.kill()
        probing.process.communicate()
        children += [int(server.process.stdout.readline().split()[1]) for _ in range(3)]
        end = time.time() + 20
        while time.time() < end and not all(text_is_the_files(pid, program)
                                            for pid in [server.pid, *children]):
            time.sleep(0.05)
        claim(all(text_is_the_files(pid, program) for pid in [server.pid, *children]),
              "assay is killed: the text of target and children is the file's (%s s)" % pause)
        code, out = server.end()
        claim(code == 0 and out.count("ended") == 6, "and all live on (%s s)" % pause, out)


def refused(program):
    done = run(ASSAY, "probe", "--follow", "--dry-run", "-f", "follow!work", "--", program, "exec",
               "1")
    claim(done.code == 2 and "--follow" in done.err, "--dry-run has nobody to follow", done)
    done = run(ASSAY, "probe", "--follow", "-f", "follow!nothing_of_that_name", "--", program, "exec",
               "1")
    claim(done.code != 0 and "nothing_of_that_name" in done.err,
          "functions that no process has are an error", done)
    server = Server(program)
    probing = Probing([server.pid], "--follow", functions=FUNCTION)
    probing.wait_until_on([server.pid])
    child = server.child(7)
    done = run(ASSAY, "probe", "-d", "0.1", "-f", "follow!work", "-p", str(child))
    claim(done.code == 1, "a followed process is refused to another assay", done)
    probing.process.send_signal(signal.SIGTERM)
    probing.process.communicate(timeout=60)
    claim(server.end()[0] == 0, "and goes on")


def main():
    require_engine()
    program = build("follow", "-O2", "-pthread")
    kinds(family(program, "count"))
    family(program, "time")
    family(program, "state")
    family(program, "trace", "--audit")
    many(program)
    attached(program, "count")
    attached(program, "time")
    killed(program)
    refused(program)
    finish()


if __name__ == "__main__":
    main()
