#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What probes cost per call, beside the same code without, a hand-written floor and uftrace, each against its limit.

probe_calls measures itself; assay attaches to it in each mode in turn. A cost is the median over 8 alignments of the
medians of paired differences to the same function that is not probed, measured in the same round. Then: is every byte
back, how long were the stops, and what do analysing, planning, writing and restoring many functions take.
"""
import json
import os
import platform
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ASSAY = os.environ.get("ASSAY", "build/assay")
COMPILER = "gcc" if shutil.which("gcc") else os.environ.get("CC", "cc")
ROUNDS = int(os.environ.get("SPEED_ROUNDS", "15"))
COPIES = 8
SMALL, SMALL_PLAIN, SMALL_FLOOR, WORK, WORK_PLAIN, WORK_FLOOR = range(6)
# name, options, limit on the 1 ns function in ns
MODES = (("off", None, None), ("count", ["--mode", "count"], 2.0), ("every 16", ["--every", "16"], 3.0),
         ("state", ["--mode", "state"], 3.0), ("capped", ["--mode", "count", "--cap", "1"], 1.4),
         ("time", [], None), ("removed", None, None))
TIME_OF_FLOOR = 1.25
UFTRACE_OF_TIME = 5.0


def verdict(value, limit, wanted="<="):
    """The limit and whether it is kept."""
    good = value <= limit if wanted == "<=" else value >= limit
    return f"{wanted} {limit:g} {'pass' if good else 'MISSED'}"


def build():
    """-O2, as programs are built, and every function where its source says."""
    out = Path("probe_calls").resolve()
    subprocess.run([COMPILER, "-O2", "-falign-functions=1", "-fno-toplevel-reorder", "-o", str(out),
                    str(HERE / "probe_calls.c")], check=True)
    return out


class Program:
    """probe_calls at work: what it prints, and its code in memory."""

    def __init__(self, path):
        self.process = subprocess.Popen([str(path)], stdout=subprocess.PIPE, text=True)
        self.lines = []
        self.path = path
        threading.Thread(target=self.read, daemon=True).start()
        self.rounds(1)

    def read(self):
        for line in self.process.stdout:
            self.lines.append([float(word) for word in line.split()])

    def text(self):
        """The bytes of its code as they are in memory."""
        with open(f"/proc/{self.process.pid}/maps", encoding="utf-8") as maps:
            start, end = next(line.split()[0].split("-") for line in maps
                              if " r-xp " in line and line.rstrip().endswith(str(self.path)))
        with open(f"/proc/{self.process.pid}/mem", "rb") as memory:
            memory.seek(int(start, 16))
            return memory.read(int(end, 16) - int(start, 16))

    def rounds(self, n):
        """Whole rounds from now on: by copy, the lines."""
        begin = len(self.lines)
        while len(self.lines) < begin + (n + 2) * COPIES:
            time.sleep(0.01)
        copies = {}
        for line in self.lines[begin + COPIES:]:
            copies.setdefault(int(line[0]), []).append(line[1:])
        return copies


def differences(copies, probed, plain):
    """Per alignment, the median of paired differences."""
    return [statistics.median(line[probed] - line[plain] for line in lines) for lines in copies.values()]


def probed_rounds(program, options):
    """Measures while probes are on; also the document."""
    before = program.text()
    out = Path("rows.json")
    with subprocess.Popen([ASSAY, "probe", "-q", "--json", "-o", str(out), *options, "-f",
                           "probe_calls!*_probed_*", "-p", str(program.process.pid)]) as probe:
        while program.text() == before:
            if probe.poll() is not None:
                raise SystemExit("assay ended before it had probed")
            time.sleep(0.01)
        time.sleep(0.2)
        copies = program.rounds(ROUNDS)
        probe.send_signal(signal.SIGINT)
        probe.wait()
    return copies, json.loads(out.read_text(encoding="utf-8"))


def row(name, copies, limit):
    """One line of the table; the costs of both functions."""
    small, work = differences(copies, SMALL, SMALL_PLAIN), differences(copies, WORK, WORK_PLAIN)
    cost = statistics.median(small)
    judged = verdict(cost, limit) if limit else ""
    print(f"{name:10} {cost:8.2f} ({min(small):6.2f} ..{max(small):6.2f}) {statistics.median(work):8.2f} "
          f"({min(work):6.2f} ..{max(work):6.2f})   {judged}", flush=True)


def of_floor(copies):
    """`time` against the floor, which the same rounds hold."""
    found = {}
    for name, probed, plain, floor in (("1 ns", SMALL, SMALL_PLAIN, SMALL_FLOOR),
                                       ("16 ns", WORK, WORK_PLAIN, WORK_FLOOR)):
        floors = differences(copies, floor, plain)
        ratios = [cost / bottom for cost, bottom in zip(differences(copies, probed, plain), floors)]
        found[name] = statistics.median(ratios)
        judged = verdict(found[name], TIME_OF_FLOOR)
        print(f"  time: {found[name]:.2f} ({min(ratios):.2f} .. {max(ratios):.2f}) of the floor of "
              f"{statistics.median(floors):.1f} ns on the {name} function   {judged}")


def uftrace(path, time_cost):
    """The peer on the same plain binary; it cannot attach, so it starts the program."""
    if not shutil.which("uftrace"):
        print("uftrace is not installed here: not compared")
        return
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(["uftrace", "record", "-d", f"{folder}/data", "--no-libcall", "-P",
                               "small_probed_.", "-P", "work_probed_.", str(path), "3"], capture_output=True, text=True, check=False)
    copies = {}
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) == 7:
            copies.setdefault(int(words[0]), []).append([float(word) for word in words[1:]])
    if done.returncode or not copies:
        print(f"uftrace does not run here: {(done.stderr or done.stdout).strip()[-200:]}")
        return
    work = statistics.median(differences(copies, WORK, WORK_PLAIN))
    small = statistics.median(differences(copies, SMALL, SMALL_PLAIN))
    ratio = work / time_cost
    print(f"uftrace    {small:8.2f} {'':18} {work:8.2f} {'':18} {ratio:.1f} times `time`: "
          f"{verdict(ratio, UFTRACE_OF_TIME, '>=')}")


def costs():
    """The table of modes."""
    path = build()
    program = Program(path)
    original = program.text()
    time_cost = None
    print(f"{'mode':10} {'1 ns function':>26} {'16 ns function':>26}   ns per call: median (least .. most) of 8 "
          "alignments")
    for name, options, limit in MODES:
        if options is None:
            row(name, program.rounds(ROUNDS), limit)
            continue
        copies, _ = probed_rounds(program, options)
        row(name, copies, limit)
        if program.text() != original:
            print("  NOT RESTORED: the code in memory differs from what it was")
        if name == "time":
            of_floor(copies)
            time_cost = statistics.median(differences(copies, WORK, WORK_PLAIN))
    same = program.text() == original
    print(f"removed: {len(original)} bytes of code are {'what they were' if same else 'NOT what they were'}   "
          f"{'pass' if same else 'MISSED'}")
    program.process.kill()
    uftrace(path, time_cost)


def cpu_seconds(command):
    """Median CPU time of a command, since others may run."""
    taken = []
    for _ in range(5):
        before = os.times()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        after = os.times()
        taken.append(after.children_user + after.children_system - before.children_user
                     - before.children_system)
    return statistics.median(taken)


def planning():
    """What it costs to analyse, plan, write and restore many functions, and how long the target stood still."""
    idle = "import ctypes, decimal, json, sqlite3, ssl, time\nprint(1, flush=True)\nwhile True: time.sleep(0.1)"
    out = Path("planning.json")
    with subprocess.Popen(["/usr/bin/python3", "-c", idle], stdout=subprocess.PIPE) as program:
        program.stdout.readline()
        command = [ASSAY, "probe", "-q", "--json", "-o", str(out), "-f", "*", "-p", str(program.pid), "-d", "0.1"]
        whole = cpu_seconds(command)
        document = json.loads(out.read_text(encoding="utf-8"))
        program.kill()
    functions = document["functions"]
    probed = sum(each["state"] == "probed" for each in functions)
    per_10000 = 10000 * whole / len(functions)
    print(f"python3 and its libraries: {len(functions)} functions analysed, {probed} probed and restored in "
          f"{whole:.2f} s of CPU time: {per_10000:.2f} s for 10000   {verdict(per_10000, 1.0)}")
    for end in ("attach", "detach"):
        stops = find(document, end)
        if stops and stops.get("stops"):
            mean = stops["held_ns"] / stops["stops"] / 1e6
            print(f"  {end}: {stops['stops']} stops, held {mean:.1f} ms on average, {stops['longest_held_ns'] / 1e6:.1f} "
                  f"at most, beyond {stops['gather_ns'] / 1e6:.1f} ms to gather threads   {verdict(mean, 10)}")


def find(document, key):
    """The object of that name, wherever it stands."""
    if isinstance(document, dict):
        if isinstance(document.get(key), dict):
            return document[key]
        values = document.values()
    elif isinstance(document, list):
        values = document
    else:
        return None
    return next((found for found in (find(value, key) for value in values) if found), None)


def analysis():
    """libpython alone: all that is done before anything is planned for one function of it."""
    library = next(iter(sorted(Path("/usr/lib").glob("*/libpython3.*.so.1.0"))), None)
    survey = Path(ASSAY).resolve().parent / "tests" / "code_survey"
    if not library or not survey.exists():
        print("libpython or code_survey is not here: its analysis was not timed")
        return
    seconds = cpu_seconds([str(survey), str(library)])
    print(f"{library.name}: analysed and every function of it planned in {seconds:.2f} s of CPU time   "
          f"{verdict(seconds, 0.5)}")


def main():
    if platform.machine() != "x86_64":
        print("the table of costs is made on x86-64")
        return 0
    costs()
    planning()
    analysis()
    return 0


if __name__ == "__main__":
    sys.exit(main())
