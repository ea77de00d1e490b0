#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several processes under probes at once, against the numbers that they were told to call a function."""
# runner: timeout=300
import json
import os
import subprocess

from probing import (ASSAY, build, claim, finish, program_compiler, require_engine, run, signal,
                     text_is_the_files, time)
from recording import wait_for


class Service:
    """tests/data/probe/service: does what it is told."""

    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.pid = int(self.process.stdout.readline().split()[1])

    def tell(self, words):
        self.process.stdin.write(words + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        out = self.process.communicate("quit\n", timeout=60)[0]
        return self.process.returncode, out.strip()


class Probing:
    """A running `assay probe --json` on processes."""

    def __init__(self, pids, *options, functions=("service!serve",), mode="count"):
        words = [word for function in functions for word in ("-f", function)]
        if os.path.exists("probing.json"):
            os.unlink("probing.json")
        self.process = subprocess.Popen(
            [ASSAY, "probe", "--json", "-o", "probing.json", "--mode", mode, *words, *options, "-p",
             ",".join(str(pid) for pid in pids)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True)
        self.document, self.out = {}, ""

    def wait_until_on(self, pids):
        """True when every process has been probed: its first word of the buffers is assay's."""
        wait_for(lambda: self.process.poll() is not None or all(self.enabled(pid) for pid in pids))
        return self.process.poll() is None and all(self.enabled(pid) for pid in pids)

    def enabled(self, pid):
        with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
            starts = [int(line.split("-")[0], 16) for line in maps if "memfd:assay-probe" in line]
        with open("/proc/%d/mem" % pid, "rb") as memory:
            for start in starts:
                memory.seek(start)
                if int.from_bytes(memory.read(4), "little") == self.process.pid:
                    return True
        return False

    def end(self, interrupt=True):
        if interrupt:
            self.process.send_signal(signal.SIGINT)
        self.out = self.process.communicate(timeout=60)[0]
        try:
            with open("probing.json", encoding="utf-8") as file:
                self.document = json.load(file)
        except (OSError, ValueError):
            pass
        return self

    def calls(self, name, pid=None):
        rows = self.document.get("functions", [])
        if pid is not None:
            rows = [row for process in self.document.get("processes", []) if process["pid"] == pid
                    for row in process["functions"]]
        return sum(row.get("calls", 0) for row in rows if row["name"] == name)

    def __str__(self):
        return "exit %s\n%s\n%s" % (self.process.returncode, self.out, self.document)


def several(program, mode):
    services = [Service(program) for _ in range(3)]
    pids = [service.pid for service in services]
    probing = Probing(pids, mode=mode)
    claim(probing.wait_until_on(pids), "three processes are probed at once, " + mode)
    for i, service in enumerate(services):
        service.tell("work %d" % (1000 * (i + 1)))
    ended = services[2].end()
    time.sleep(0.3)
    services[0].tell("work 50")
    probing.end()
    claim([probing.calls("serve", pid) for pid in pids] == [1050, 2000, 3000],
          "calls of each process, exactly, " + mode, probing)
    claim(probing.calls("serve") == 6050, "and their sum, " + mode, probing)
    claim(ended == (0, "OK") and [one["ended"] for one in probing.document["processes"]] ==
          [False, False, True], "one that ends meanwhile keeps its counts, " + mode, probing)
    claim(services[0].tell("work 20") == "served 20", "the others go on, " + mode)
    for service in services[:2]:
        claim(service.end() == (0, "OK"), "and end well, " + mode)


def children(program, mode):
    """A child that was forked under probes, and outlives them."""
    service = Service(program)
    probing = Probing([service.pid], mode=mode)
    probing.wait_until_on([service.pid])
    words = service.tell("keep 500").split()
    child = int(words[1])
    claim(words[-1] == "500", "a forked child works with probes that are off, " + mode, words)
    claim(not text_is_the_files(child, program), "it has the patched text, " + mode)
    service.tell("work 70")
    probing.end()
    claim(probing.calls("serve") == 70, "calls of a child are not its parent's, " + mode, probing)
    listed = [one for one in probing.document["processes"][0]["children"] if one["pid"] == child]
    claim(listed and listed[0]["restored"] is True, "it is listed when it is there at the end, " + mode,
          probing)
    claim(text_is_the_files(child, program), "and its text is the file's again, " + mode)
    claim(service.tell("again 40").endswith("served 40"), "and it works, " + mode)
    probing = Probing([child], mode=mode)
    claim(probing.wait_until_on([child]), "it can be probed itself, " + mode)
    service.tell("again 33")
    probing.end()
    claim(probing.calls("serve") == 33, "exactly, " + mode, probing)
    claim(service.end() == (0, "OK"), "all end well, " + mode)


def orphans(program):
    """The same when assay is killed, and when the parent ends first."""
    service = Service(program)
    probing = Probing([service.pid])
    probing.wait_until_on([service.pid])
    child = int(service.tell("keep 10").split()[1])
    probing.process.kill()
    probing.process.communicate()
    claim(wait_for(lambda: text_is_the_files(child, program) and text_is_the_files(service.pid, program)),
          "assay is killed: parent and child are restored")
    claim(service.tell("again 40").endswith("served 40"), "and work")
    service.end()


PLUGIN = """__attribute__((noipa)) long inner%(n)d(long x) { return x * %(n)d + 1; }
long plugin(long x) { return inner%(n)d(x) + inner%(n)d(x + 1); }
"""


def plugin_build(n):
    with open("plugin%d.c" % n, "w", encoding="utf-8") as file:
        file.write(PLUGIN % {"n": n})
    out = os.path.abspath("plugin%d.so" % n)
    subprocess.run([program_compiler(), "-O2", "-shared", "-fPIC", "-o", out,
                    "plugin%d.c" % n], check=True)
    return out


def libraries(program, mode):
    """A probed library is closed, and another one takes its addresses."""
    first, second = plugin_build(2), plugin_build(3)
    service = Service(program)
    service.tell("load " + first)
    at = start_of(service.pid, first)
    probing = Probing([service.pid], mode=mode, functions=["plugin*.so!*", "service!serve"])
    probing.wait_until_on([service.pid])
    service.tell("call 40")
    service.tell("work 9")
    service.tell("drop")
    service.tell("load " + second)
    same = start_of(service.pid, second) == at
    claim(wait_for(lambda: not text_is_the_files(service.pid, second)), "it is probed, too, " + mode)
    claim(service.tell("call 25") == "called 25", "another library works at %s address, %s" %
          ("the same" if same else "another", mode))
    probing.end()
    claim(os.path.basename(second) in probing.out and "was opened" in probing.out,
          "a library that was opened later is named, " + mode, probing)
    claim(probing.calls("inner2") == 80 and probing.calls("inner3") == 50 and
          probing.calls("plugin") == 65 and
          probing.calls("serve") == 9, "the closed library's counts are kept, exactly, " + mode, probing)
    claim(text_is_the_files(service.pid, second) and text_is_the_files(service.pid, program),
          "what lies at its addresses now is left as it is, " + mode)
    claim(service.tell("call 5") == "called 5" and service.end() == (0, "OK"), "and works, " + mode)


def start_of(pid, path):
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        return [line.split("-")[0] for line in maps if path in line][:1]


def one_cannot(program):
    service = Service(program)
    done = run(ASSAY, "probe", "-f", "service!serve", "-p", "%d,4194000" % service.pid)
    claim(done.code == 1 and "4194000" in done.err, "one that is not there: nothing is probed", done)
    done = run(ASSAY, "probe", "-f", "service!serve", "-p", "%d,%d" % (service.pid, service.pid))
    claim(done.code == 2 and "twice" in done.err, "the same process twice is bad usage", done)
    other = subprocess.Popen(["sleep", "60"])
    time.sleep(0.2)
    done = run(ASSAY, "probe", "-f", "service!serve", "-d", "0.1", "-p", "%d,%d" %
               (service.pid, other.pid))
    claim(done.code == 1 and str(other.pid) in done.err,
          "one that has no such function: the others are left unprobed", done)
    other.kill()
    other.wait()
    with open("/proc/%d/maps" % service.pid, encoding="utf-8") as maps:
        claim(service.tell("work 10") == "served 10", "and work as before", maps.read())
    service.end()


def main():
    require_engine()
    program = build("service", "-O2")
    for mode in ("count", "time"):
        several(program, mode)
        children(program, mode)
        libraries(program, mode)
    orphans(program)
    one_cannot(program)
    finish()


if __name__ == "__main__":
    main()
