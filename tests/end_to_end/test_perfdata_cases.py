#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Cut files give what is whole; pipe mode and both compressed forms give what a plain file gives.

The cut files come from tests/data/perfdata/cut/gen.c; the others are recorded here with perf, in every
form that perf writes, from tests/data/perfdata/compressed/burn.c.
"""
import json
import os
import shutil
import subprocess
import sys

DUMP = os.path.join(os.environ.get("ASSAY_BUILD", "build"), "tests", "perfdata_dump")
DATA = os.path.join(os.environ.get("ASSAY_SOURCE", "."), "tests", "data", "perfdata")
CC = os.environ.get("CC", "cc")

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    if not ok:
        failed += 1
        print("# " + str(detail).replace("\n", "\n# "))
    print(f"{'ok' if ok else 'not ok'} {count} - {claim}", flush=True)


def skip(claim, reason):
    global count
    count += 1
    print(f"ok {count} - {claim} # SKIP {reason}", flush=True)


def build(folder, name):
    subprocess.run([CC, "-O1", "-g", "-w", "-o", name, os.path.join(DATA, folder, name + ".c")],
                   check=True)


def read(path, stdin=None):
    done = subprocess.run([DUMP, path], stdin=stdin, capture_output=True, text=True)
    return (json.loads(done.stdout) if done.returncode == 0 else None), done.stderr


def samples(dump):
    return sum(event["samples"] for event in dump["events"])


def cut_files():
    build("cut", "gen")
    subprocess.run(["./gen"], check=True, stdout=subprocess.DEVNULL)
    for name, number, kinds in (("good", 1000, set()), ("unfinished", 1000, {"unfinished"}),
                                ("cut_midrecord", 500, {"truncated"}),
                                ("cut_clean", 500, {"truncated"})):
        dump, error = read(name + ".data")
        if dump is None:
            report(False, f"{name} is read", error)
            continue
        told = {note["kind"] for note in dump["notes"]}
        report(samples(dump) == number and told == kinds,
               f"{name} gives {number} samples" + (f" and is told {', '.join(kinds)}" if kinds else ""),
               dump)
    for name in ("cut_magic", "cut_header", "cut_attrs", "empty"):
        dump, error = read(name + ".data")
        report(dump is None and error.count("\n") == 1 and len(error) > 40,
               f"{name} is refused with one clear line", error)


def perf_record(options, path):
    with open(os.devnull, "wb") as null:
        return subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock,page-faults", "-c",
                               "1000000", *options, "-o", path, "./burn"], stdout=null,
                              stderr=null).returncode == 0


def record_pipe(options, path):
    with open(path, "wb") as out:
        return subprocess.run(["perf", "record", "-q", "-g", "-e", "cpu-clock,page-faults", "-c",
                               "1000000", *options, "-o", "-", "./burn"], stdout=out,
                              stderr=subprocess.DEVNULL).returncode == 0


def pair(dump):
    """Two events, both with samples of this program; what the record says of itself agrees."""
    clock, faults = dump["events"][:2]
    return [e["name"] for e in (clock, faults)] == ["cpu-clock", "page-faults"] and \
        clock["samples"] > 500


def script_counts(path):
    """perf's own count of samples per event, by `perf script`, as the second opinion."""
    with open(path, "rb") as content:
        done = subprocess.run(["perf", "script", "-F", "event", "-G", "-i", "-"], stdin=content,
                              capture_output=True, text=True) if "pipe" in path else \
            subprocess.run(["perf", "script", "-F", "event", "-G", "-i", path],
                           capture_output=True, text=True)
    counts = {}
    for line in done.stdout.split():
        name = line.rstrip(":")
        counts[name] = counts.get(name, 0) + 1
    return counts


def against_perf(path, claim):
    dump, error = read(path)
    if dump is None:
        report(False, claim, error)
        return None
    ours = {e["name"]: e["samples"] for e in dump["events"] if e["samples"]}
    theirs = script_counts(path)
    report(pair(dump) and ours == theirs and not dump["notes"], claim, f"{ours} {theirs} {dump['notes']}")
    return dump


def without_carriers(dump):
    return dump["events"], dump["records"], dump["time"], dump["max_chain"]


def recorded_forms():
    build("compressed", "burn")
    build("compressed", "to83")
    if not perf_record([], "plain.data"):
        skip("perf's forms read alike", "perf cannot record here")
        return
    against_perf("plain.data", "a plain file gives perf's counts")
    record_pipe([], "pipe.data")
    direct = against_perf("pipe.data", "a pipe-mode file gives perf's counts")
    with open("pipe.data", "rb") as content:
        # a real pipe, as `perf record -o - | ...` is
        feeder = subprocess.Popen(["cat"], stdin=content, stdout=subprocess.PIPE)
        piped, error = read("-", feeder.stdout)
        feeder.wait()
    report(piped is not None and direct is not None and pair(direct) and
           without_carriers(direct) == without_carriers(piped) and not piped["notes"],
           "pipe mode reads the same from a file and through standard input", error)
    compressed_forms()


def compressed_forms():
    if not perf_record(["-z", "-m", "64"], "z.data"):
        skip("compressed files give perf's counts", "this perf was built without zstd")
        return
    z = against_perf("z.data", "a compressed file gives perf's counts")
    subprocess.run(["./to83", "z.data", "z83.data"], check=True, stdout=subprocess.DEVNULL)
    z83, error = read("z83.data")
    report(z is not None and z83 is not None and without_carriers(z) == without_carriers(z83) and
           not z83["notes"], "COMPRESSED2 gives what COMPRESSED gives", error)
    if record_pipe(["-z"], "pipez.data"):
        against_perf("pipez.data", "a compressed pipe-mode file gives perf's counts")
    else:
        skip("a compressed pipe-mode file gives perf's counts", "this perf does not compress pipes")


def main():
    cut_files()
    if shutil.which("perf"):
        recorded_forms()
    else:
        skip("perf's forms read alike", "perf is not installed")
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
