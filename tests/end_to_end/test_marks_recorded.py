#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: timeout=600
"""Marks from source to diagnosis: a program with assay/mark.h, recorded with its marks as events beside the
clocks, gives candidate periods by each mark and by the scheduler, and exact counts of work.

Whether a clock is in step with it is chance of the machine; recordings in which it is decided by design are
in tests/data/findings.
"""
import json
import os
import re
import subprocess
import sys

from recording import ASSAY, SOURCE, claim, finish, skip

ITERATIONS = 700
PROGRAM = r"""
#include <assay/mark.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
static volatile uint64_t sink;
static uint64_t cpu_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
__attribute__((noinline)) void parse_part(uint64_t end) { while (cpu_ns() < end) sink++; }
__attribute__((noinline)) void render_part(uint64_t end) { while (cpu_ns() < end) sink++; }
int main(void)
{
	uint64_t at = cpu_ns();
	for (int i = 0; i < %d; i++, at += 2000000) {
		ASSAY_MARK_ITERATION();
		ASSAY_MARK_BEGIN(parse);
		parse_part(at + 600000);
		ASSAY_MARK_END(parse);
		render_part(at + 2000000);
	}
	return 0;
}
"""


def tracefs():
    for path in ("/sys/kernel/tracing", "/sys/kernel/debug/tracing"):
        if os.access(os.path.join(path, "uprobe_events"), os.W_OK):
            return path
    return None


def mark_offsets(path):
    """Offset in the file of each mark, from the notes and the program headers."""
    notes = subprocess.run(["readelf", "-nW", path], capture_output=True, text=True, check=True).stdout
    places = {name: int(at, 16) for name, at in re.findall(r"Name: (\w+)\s+Location: 0x([0-9a-f]+)", notes)}
    headers = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True, check=True).stdout
    loads = [[int(x, 16) for x in words] for words in
             re.findall(r"LOAD\s+(0x\w+) (0x\w+) 0x\w+ (0x\w+)", headers)]
    return {name: at - start + offset for name, at in places.items() for offset, start, size in loads
            if start <= at < start + size}


def uprobes(text):
    file = os.open(os.path.join(tracefs(), "uprobe_events"), os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, (text + "\n").encode())
    finally:
        os.close(file)


def not_here(reason):
    skip("marks are recorded", reason)
    finish()


def main():
    if os.geteuid():
        return not_here("needs root to create uprobes")
    if not tracefs():
        return not_here("needs tracefs with uprobe_events")
    name = f"assay_mark_{os.getpid()}"
    with open(name + ".c", "w", encoding="ascii") as file:
        file.write(PROGRAM.replace("%d", str(ITERATIONS)))
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", "-I" + os.path.join(SOURCE, "include"), name + ".c",
                    "-o", name], check=True)
    path = os.path.abspath(name)
    places = mark_offsets(path)
    made = []
    try:
        for mark in ("iteration", "parse__begin"):
            try:
                uprobes(f"p:{name}/{mark} {path}:{places[mark]:#x}")
            except OSError as error:
                return not_here(f"the kernel refuses a uprobe on {path}: {error}")
            made.append(mark)
        examine(path, name, places)
    finally:
        for mark in made:
            uprobes(f"-:{name}/{mark}")
    finish()


def examine(path, name, places):
    claim({"iteration", "parse__begin", "parse__end"} <= set(places), "the marks are in the program's notes", places)
    # One CPU for two, so that there is something to switch.
    cpu = str(min(os.sched_getaffinity(0)))
    rival = subprocess.Popen(["taskset", "-c", cpu, sys.executable, "-c", "while True: pass"])
    done = subprocess.run(["taskset", "-c", cpu, ASSAY, "record", "-F", "500", "-e", "cpu-clock", "-e",
                           f"{name}:iteration,{name}:parse__begin,sched:sched_switch", "-o", "marks.assay", "--", path],
                          capture_output=True, text=True)
    rival.kill()
    rival.wait()
    claim(done.returncode == 0, "marks are recorded beside the clocks", done.stderr)
    if done.returncode:
        finish()
    told = json.loads(subprocess.run([ASSAY, "diagnose", "--json", "marks.assay"], capture_output=True, text=True,
                                     check=True).stdout)
    sources = {c["source"].split(" of thread")[0] for c in told["candidates"]}
    claim({f"{name}:iteration", f"{name}:parse__begin"} <= sources, "each mark is a source of candidate periods", sources)
    claim("switched in" in sources or "switched out" in sources, "the scheduler's switches are, too", sources)
    periods = [c["period_ns"] for c in told["candidates"] if c["source"].startswith(f"{name}:iteration")]
    claim(periods and all(p >= 1.9e6 for p in periods), "their period is the program's, or longer where it was "
          "interrupted", periods)
    claim(len(told["clocks"]) == 2 and not any(c["canary"] for c in told["clocks"]),
          "marks are taken for no clock and no canary", told["clocks"])
    rest = [c for c in told["candidates"] if c["p_value"] is None]
    claim(all(c.get("why") for c in rest), "a candidate that was not tested says why", rest)
    report = json.loads(subprocess.run([ASSAY, "report", "--json", "marks.assay"], capture_output=True, text=True,
                                       check=True).stdout)
    counts = {event["name"]: event["samples"] for event in report["events"]}
    claim(counts.get(f"{name}:iteration") == ITERATIONS and counts.get(f"{name}:parse__begin") == ITERATIONS,
          "the report counts the work done exactly", counts)


if __name__ == "__main__":
    main()
