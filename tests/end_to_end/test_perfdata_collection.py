#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every perf.data file of the collection reads as its yardstick says.

The yardstick beside each file (NAME.expected.txt) holds, under "second reading", what an independent
parser found in the bytes: records per type, samples and periods per event, range of times, depth of
call chains, build-ids. The damaged files have an expected remark each, which is REMARKS here.
"""
# runner: timeout=600
import glob
import json
import os
import subprocess
import sys

DUMP = os.path.join(os.environ.get("ASSAY_BUILD", "build"), "tests", "perfdata_dump")
SHARED = os.path.join(os.environ.get("ASSAY_SHARED", "../shared"), "perfdata")

# What a file must be told about: kinds of notes, or the word of the refusal. A file that is not
# listed must be read without any note.
REMARKS = {
    "d01-cut-in-header": "header",
    "d03-cut-last-3-bytes": {"skipped"},
    "d05-magic-only": "header",
    "d07-attr-size-0": "attributes",
    "d09-data-size-overflow": {"truncated", "damaged"},
    "d11-record-size-4": {"damaged"},
    "d13-unknown-record-type": {"unknown-type"},
    "d15-callchain-nr-past-record": {"skipped"},
    "d16-feature-offset-past-end": {"skipped"},
    "d18-hostname-length-huge": {"skipped"},
    "d20-mmap2-name-unterminated": {"mended"},
    "d22-mmap-wraps": {"mended"},
    "d27-attr-own-size-200": {"mended"},
    "d31-pipe-cut-in-data": {"truncated"},
    "d33-pipe-tracing-size-wrong": {"truncated"},
    "d37-zeroed-4096": {"damaged"},
    "d40-data-size-0": {"unfinished", "damaged"},
    "d43-pipe-no-attr": {"unknown-id"},
    "h07-pipe-cut60000": {"truncated"},
    "lpd-sleep.compressed2.pipe": {"damaged"},
    "quipper-piped.corrupted.zero_size_sample-3.2": {"damaged"},
    "simpleperf-perf_with_big_trace_data": {"unknown-type"},
    "simpleperf-perf_with_tracepoint_event": {"damaged"},
    "simpleperf-perf_with_tracepoint_event_dynamic_field": {"unknown-type"},
    "slas-run": {"unfinished"},
}

# Where the second reading is not what a reader should give, and what it should.
CORRECTED = {
    # the second reading counts the sample whose chain runs out of its record
    "d15-callchain-nr-past-record": {"samples": 997, "records": {"SAMPLE": 997}, "maxchain": 10},
    # the second reading does not unpack gzip
    "d35-gzipped": {"samples": 998, "maxchain": 10},
    "hotspot-true.v2.data": {"samples": 1, "maxchain": 0},
    # samples without any attribute are counted by the note, not delivered
    "d43-pipe-no-attr": {"samples": 0, "records": {"SAMPLE": None}, "maxchain": 0},
    # the second reading looked at the directory's first file only
    "g69-threads-dir": {"samples": 394, "maxchain": 0},
}

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    if not ok:
        failed += 1
        print("# " + detail.replace("\n", "\n# "))
    print(f"{'ok' if ok else 'not ok'} {count} - {claim}", flush=True)


def yardstick(path):
    """The lines `key: JSON` of the block "second reading"."""
    values, inside = {}, False
    with open(path + ".expected.txt", encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if line.startswith("second reading"):
                inside = True
            elif inside and line.startswith("  "):
                key, _, text = line.strip().partition(": ")
                values[key] = text.strip() if key in ("host", "ver", "arch", "endian", "mode") \
                    else json.loads(text)
    return values


def by_event(dump, expected, field):
    """Sums per name, or per "#index" where the yardstick knows no names."""
    numbered = any(name.startswith("#") for name in expected)
    sums = {}
    for index, event in enumerate(dump["events"]):
        if event["samples"]:
            name = f"#{index}" if numbered else event["name"]
            sums[name] = sums.get(name, 0) + int(event[field])
    return sums


def differences(expected, corrected, dump):
    """What of the yardstick the dump does not meet."""
    found = []

    def same(what, wanted, got):
        if wanted != got:
            found.append(f"{what}: expected {wanted}, got {got}")

    records = {k: v for k, v in expected.get("records", {}).items() if not k.startswith("COMPRESSED")}
    for name, number in corrected.get("records", {}).items():
        records.pop(name, None)
        if number is not None:
            records[name] = number
    if records:
        same("records", records, dump["records"])
    if "samples" in corrected:
        same("samples", corrected["samples"], sum(e["samples"] for e in dump["events"]))
    else:
        samples = expected.get("samples", {})
        same("samples", samples, by_event(dump, samples, "samples"))
        same("periods", expected.get("periods", {}), by_event(dump, samples, "periods"))
        same("build-ids", expected.get("build_ids", 0), dump["header"]["build_ids"])
        same("chains", expected.get("chains", 0), dump["chains"])
        same("lost", lost_of(expected), (dump["records"].get("LOST", 0) > 0, dump["lost"] > 0))
    same("deepest chain", corrected.get("maxchain", expected.get("maxchain", 0)), dump["max_chain"])
    if "time" in expected and "samples" not in corrected:
        same("times", expected["time"], dump["time"])
    for key, name in (("host", "os_release"), ("ver", "version"), ("arch", "arch")):
        if key in expected:
            same(name, expected[key], (dump["header"][name] or "").strip())
    if expected.get("endian"):
        same("byte order", expected["endian"] == "big", dump["header"]["swapped"])
    return found


def lost_of(expected):
    there = expected.get("records", {}).get("LOST", 0) > 0
    return there, there


def run(path, through_pipe):
    if not through_pipe:
        return subprocess.run([DUMP, path], capture_output=True, text=True)
    with open(path, "rb") as data:
        content = data.read()
    done = subprocess.run([DUMP, "-"], input=content, capture_output=True)
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(),
                                       done.stderr.decode())


def stem(path):
    name = os.path.basename(path)
    return name[:-5] if name.endswith(".data") else name[:-3] if name.endswith(".gz") else name


def check(path):
    name, expected = stem(path), yardstick(path)
    remark = REMARKS.get(name, set())
    done = run(path, False)
    if isinstance(remark, str):
        report(done.returncode == 1 and remark in done.stderr and done.stderr.count("\n") == 1,
               f"{name} is refused in one line that says '{remark}'", done.stderr)
        return
    if done.returncode:
        report(False, f"{name} is read", done.stderr)
        return
    dump = json.loads(done.stdout)
    found = differences(expected, CORRECTED.get(name, {}), dump)
    kinds = {note["kind"] for note in dump["notes"]}
    if kinds != remark:
        found.append(f"notes: expected {remark}, got {dump['notes']}")
    report(not found, f"{name} reads as its yardstick" + (" and is told " + ", ".join(sorted(remark))
                                                          if remark else ""), "\n".join(found))


def check_pipe(path):
    """The same bytes through standard input give the same, except for the file's name in notes."""
    direct, piped = run(path, False), run(path, True)
    same = direct.returncode == piped.returncode and \
        direct.stdout.replace(path, "standard input") == piped.stdout
    report(same, f"{stem(path)} reads the same through standard input", piped.stderr)


def lost_is_told_twice_but_counted_once():
    path = os.path.join(SHARED, "recorded", "g37-lost-events.data")
    dump = json.loads(run(path, False).stdout)
    report(dump["lost"] == 13537 and dump["lost_samples"] == 13537,
           "g37-lost-events names 13537 losses as LOST and the same as LOST_SAMPLES",
           f"{dump['lost']} {dump['lost_samples']}")


def one_file_of_a_directory_says_where_the_samples_are():
    path = os.path.join(SHARED, "recorded", "g69-threads-dir.data", "data")
    dump = json.loads(run(path, False).stdout)
    kinds = {note["kind"] for note in dump["notes"]}
    report(kinds == {"elsewhere"}, "one file of a directory recording says where the samples are",
           str(dump["notes"]))


def main():
    if not os.path.isdir(SHARED):
        print(f"ok 1 - the collection reads as its yardsticks # SKIP no collection at {SHARED}")
        return 0
    paths = sorted(path[:-len(".expected.txt")] for folder in ("recorded", "public", "damaged")
                   for path in glob.glob(os.path.join(SHARED, folder, "*.expected.txt")))
    for path in paths:
        check(path)
    for path in paths:
        if not os.path.isdir(path) and os.path.getsize(path) < 300000:
            check_pipe(path)
    lost_is_told_twice_but_counted_once()
    one_file_of_a_directory_says_where_the_samples_are()
    print(f"1..{count}")
    return failed > 0


sys.exit(main())
