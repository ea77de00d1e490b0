# SPDX-License-Identifier: GPL-3.0-or-later
"""Words for -e open the same attribute as in Debian's perf.

`perf record -vv` prints each perf_event_attr before it tries to open it, so that hardware events can be
compared on machines without a PMU too: what counts is the first attempt, before any fallback. The
other side is tests/support/programs/event_dump.c, which prints what assay's grammar makes of the text.
"""
# runner: timeout=600
import json
import os
import re
import shutil
import subprocess
import sys

DUMP = os.path.join(os.environ.get("ASSAY_BUILD", "build"), "tests", "event_dump")

# One event each.
SINGLE = """
cycles cpu-cycles cycles:u cycles:k cycles:uk cycles:ukh cycles:h cycles:p cycles:pp cycles:ppp cycles:P
cycles:kpp cycles:G cycles:H cycles:GH cycles:uGH cycles:I cycles:D cycles:e cycles:S cycles:W cycles:b
cycles:upp cycles//u cycles/period=100003/ cycles/freq=997,name=mine/u
instructions:uk branches branch-misses:u cache-misses ref-cycles bus-cycles stalled-cycles-frontend
idle-cycles-backend
cpu-clock cpu-clock:u task-clock page-faults faults:u minor-faults major-faults context-switches cs:k
cpu-migrations alignment-faults emulation-faults dummy dummy:HG bpf-output cgroup-switches
L1-dcache-load-misses L1-dcache-loads l1d-misses:u L1-icache-load-misses LLC-loads LLC-store-misses
dTLB-load-misses dTLB-speculative-read-misses:pp iTLB-loads branch-load-misses node node-prefetch-misses
r01c2 r1a8:u rffffffffffffffff:kpp 1:0 0:1:u 3:0x10002
mem:0x1000 mem:0x1000:u mem:0x1000/8:w:u mem:0x1000:x:u mem:4096:rw:uk mem:0x1000/2:r
msr/tsc/ msr/tsc/u tsc software/config=2/ software/config=1,period=100,name=f/u
breakpoint/config=1,config1=0x1000,config2=8/ uprobe/retprobe,ref_ctr_offset=5/
""".split()

TRACEPOINTS = ["sched:sched_switch", "sched:sched_switch:u", "sched:sched_wakeup:k",
               "raw_syscalls:sys_enter"]

# Several events; software and tracepoints only, since perf stops at the first that does not open.
SEVERAL = ["cs,faults:u,cpu-clock:k", "{cpu-clock,task-clock:u}:k", "{cs:u,faults}:S",
           "g{cpu-clock:D,cs}:uD", " cs , faults", "cs:u,{faults,dummy:k}:u,task-clock"]
SEVERAL_TRACEPOINTS = ["sched:sched_wak*", "sched:sched_switch,cs", "{sched:sched_wakeup*,cs:u}:k"]

# perf takes `cycles:` and `{cycles` as well; assay refuses those two (tests/unit/record).
REFUSED = ["", "cycles,", ",cycles", "cs,,cs", "cycles cs", "cycles:uu", "cycles:x",
           "cycles:pppp", "nosuchevent", "nosuch/config=1/", "sched:nosuchpoint", "iTLB-stores",
           "branch-prefetches", "cycles}", "{}", "mem:main", "mem:0x10:rr",
           "software/nosuch=1/", "cycles/umask=1/", "cycles/period=/", "msr/event=cycles/"]

FLAGS = ["exclude_user", "exclude_kernel", "exclude_hv", "exclude_idle", "exclude_host",
         "exclude_guest", "precise_ip", "pinned", "exclusive"]
NUMBERS = {"type": "type", "config": "config", "{ bp_addr, config1 }": "config1",
           "{ bp_len, config2 }": "config2", "bp_type": "bp_type"}
COMPARED = FLAGS + list(NUMBERS.values())

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, claim))
    for line in detail.splitlines() if not ok else []:
        print("#", line)
    sys.stdout.flush()


def skip(claim, reason):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, claim, reason))


def perf(text):
    """(exit code, attributes in the order of first attempts) of perf record -e TEXT."""
    run = subprocess.run(["perf", "record", "-vv", "-B", "-N", "-o", "perf.data", "-e", text, "true"],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=60)
    lines = run.stdout.decode("utf-8", "replace").splitlines()
    attributes, current = [], None
    for line in lines:
        if line.startswith("perf_event_attr:"):
            current = dict.fromkeys(COMPARED, 0)
            current["rate"] = 0
            current["freq"] = 0
            current["side_band"] = False
            attributes.append(current)
        elif line.startswith("-----"):
            current = None
        elif current is not None:
            match = re.match(r"  (\{ .*? \}|\S+) +(.*)", line)
            if not match:
                continue
            key, value = match.groups()
            if key in FLAGS or key == "freq":
                current[key] = int(value, 0)
            elif key in NUMBERS:
                current[NUMBERS[key]] = int(value.split()[0], 0)
            elif key == "{ sample_period, sample_freq }":
                current["rate"] = int(value)
            elif key == "watermark":
                current["side_band"] = True
    return run.returncode, [a for a in attributes if not a["side_band"]]


def assay(text, *options):
    run = subprocess.run([DUMP, *options, text], stdout=subprocess.PIPE, check=True, timeout=60)
    return json.loads(run.stdout)[0]


def numbers(event):
    """The compared fields of an event as event_dump prints it."""
    return {key: event[key] if isinstance(event[key], int) else int(event[key], 0)
            for key in COMPARED}


def difference(wanted, got, keys):
    return ["%s: perf %#x, assay %#x" % (key, wanted[key], got[key])
            for key in keys if wanted[key] != got[key]]


def compare(text, several, keys):
    _, wanted = perf(text)
    got = assay(text)
    claim = "'%s' opens what perf opens" % text
    if got["error"]:
        return report(False, claim, "assay: " + got["error"])
    if not wanted:
        return report(False, claim, "perf printed no attribute")
    if not several:
        wanted = wanted[:1]
    if len(wanted) != len(got["events"]):
        return report(False, claim, "perf opens %d, assay %d" % (len(wanted), len(got["events"])))
    # A glob's events come in the order of the directory in perf, by name in assay.
    events = [(numbers(event), event) for event in got["events"]]
    if several:
        wanted.sort(key=lambda a: (a["type"], a["config"]))
        events.sort(key=lambda e: (e[0]["type"], e[0]["config"]))
    problems = []
    for attribute, (mine, event) in zip(wanted, events):
        problems += difference(attribute, mine, keys)
        period = int(event["period"], 0)
        if period and (period, event["freq"]) != (attribute["rate"], attribute["freq"]):
            problems.append("rate: perf %d, assay %d" % (attribute["rate"], period))
    return report(not problems, claim, "\n".join(problems))


def main():
    claim = "events open what perf opens"
    if not shutil.which("perf"):
        skip(claim, "perf is not installed")
        return 0
    version = subprocess.run(["perf", "version"], stdout=subprocess.PIPE).stdout.decode()
    match = re.search(r"(\d+)\.(\d+)", version)
    keys = COMPARED
    if not match or (int(match[1]), int(match[2])) > (6, 10):
        # Since then perf no longer leaves guests out by default (commit of v6.13).
        keys = [key for key in COMPARED if key not in ("exclude_guest", "exclude_host")]
        print("# %s: exclude_guest and exclude_host are not compared" % version.strip())
    pmus = os.listdir("/sys/bus/event_source/devices")
    for text in SINGLE:
        pmu = "msr" if text == "tsc" else text.split("/")[0] if "/" in text else None
        if pmu in ("msr", "software", "breakpoint", "uprobe") and pmu not in pmus:
            skip("'%s' opens what perf opens" % text, "this kernel has no PMU " + pmu)
        else:
            compare(text, False, keys)
    for text in SEVERAL:
        compare(text, True, keys)
    perf("sched:sched_switch")  # as root, perf mounts tracefs where it is not
    missing = assay("sched:sched_switch")["error"]
    for text in TRACEPOINTS + SEVERAL_TRACEPOINTS:
        if missing:
            skip("'%s' opens what perf opens" % text, missing)
        else:
            compare(text, text in SEVERAL_TRACEPOINTS, keys)
    for text in REFUSED:
        code, _ = perf(text)
        error = assay(text)["error"]
        report(code == 129 and error is not None, "'%s' is refused as perf refuses it" % text,
               "perf ends with %d, assay: %s" % (code, error))
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
