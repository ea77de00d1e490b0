# SPDX-License-Identifier: GPL-3.0-or-later
"""Self and total of every function are those of perf report, on recordings made here and now.

Programs with call chains, recursion, threads, a library loaded and unloaded, children that exec, page
faults with their kernel part, C++ with inlined frames; perf records, perf and assay report.
"""
# runner: timeout=600
import json
import os
import re
import shutil
import subprocess
import sys

ASSAY = os.environ.get("ASSAY", "build/assay")
CC = os.environ.get("CC", "cc")

CHAINS = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#define NI __attribute__((noinline, noclone))
static volatile unsigned sink;
NI void leaf_a(int n) { for (int i = 0; i < n; i++) sink += (unsigned)i; }
NI void leaf_b(int n) { for (int i = 0; i < n; i++) sink ^= (unsigned)i; }
NI int recurse(int n) { int r; if (!n) { leaf_a(200000); return 0; } r = recurse(n - 1); sink += (unsigned)r; return r + 1; }
NI void faults(void) {
	size_t n = 1 << 21;
	char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < n; i += 4096) p[i] = 1;
	munmap(p, n);
}
NI void *worker(void *arg) { for (int i = 0; i < 60; i++) { leaf_b(400000); faults(); } return arg; }
int main(void) {
	pthread_t t[2];
	for (int i = 0; i < 2; i++) pthread_create(&t[i], 0, worker, 0);
	for (int i = 0; i < 120; i++) { recurse(12); leaf_b(100000); }
	for (int i = 0; i < 2; i++) pthread_join(t[i], 0);
	return 0;
}
"""

CHILDREN = "for i in 1 2 3 4 5 6; do ./chains & ./other; wait; done"

OTHER = r"""
static volatile unsigned sink;
__attribute__((noinline)) void only_other(int n) { for (int i = 0; i < n; i++) sink += (unsigned)i; }
int main(void) { for (int i = 0; i < 20; i++) only_other(1000000); return 0; }
"""

CXX = r"""
#include <algorithm>
#include <numeric>
#include <vector>
static volatile long sink;
struct item { int key; long weight; };
__attribute__((noinline)) long run(std::vector<item> &v) {
	std::sort(v.begin(), v.end(), [](const item &a, const item &b) { return a.key < b.key; });
	return std::accumulate(v.begin(), v.end(), 0L, [](long s, const item &i) { return s + i.weight; });
}
int main() {
	std::vector<item> v(40000);
	for (int r = 0; r < 60; r++) {
		unsigned x = 12345 + (unsigned)r;
		for (auto &i : v) { x = x * 1664525u + 1013904223u; i.key = (int)(x >> 8); i.weight = (long)(x & 15); }
		sink += run(v);
	}
	return 0;
}
"""

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


def build(name, source, language="c", flags=()):
    with open("%s.%s" % (name, language), "w") as file:
        file.write(source)
    compiler = CC if language == "c" else shutil.which("c++") or shutil.which("g++")
    subprocess.run([compiler, "-O1", "-g", "-fno-omit-frame-pointer", *flags, "-o", name,
                    "%s.%s" % (name, language), "-pthread"], check=True)


def record(data, options, command):
    """True when perf could record; its own output is of no interest."""
    run = subprocess.run(["perf", "record", "-q", "-o", data, *options, "--", *command],
                         stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                         timeout=120)
    return run.returncode == 0, run.stderr.decode("utf-8", "replace")


def perf_rows(data, children):
    """{(object, symbol): [self %, total %, samples]}; rows of namesakes are added up."""
    fields = ("overhead_children," if children else "") + "overhead,sample,dso,sym"
    run = subprocess.run(["perf", "report", "--stdio", "-i", data, "-g", "none", "--no-inline", "--no-demangle",
                          "-t", "|",
                          "--children" if children else "--no-children", "-F", fields],
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         timeout=120)
    rows = {}
    for line in run.stdout.decode("utf-8", "replace").splitlines():
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("#") or len(cells) < (5 if children else 4):
            continue
        total = float(cells.pop(0).rstrip("%")) if children else None
        share, samples, dso, symbol = float(cells[0].rstrip("%")), int(cells[1]), cells[2], cells[3]
        symbol = re.sub(r"^\[.\] ", "", symbol)
        if re.fullmatch(r"0x[0-9a-f]+", symbol):
            symbol = "[unknown]"
        row = rows.setdefault((dso, symbol), [0, 0, 0, 0])
        row[0] += share
        row[1] += total or 0
        row[2] += samples
        row[3] += 1
    return rows


def assay_rows(data, children):
    run = subprocess.run([ASSAY, "report", "--json", "--no-demangle", data] +
                         ([] if children else ["--no-children"]),
                         stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    if run.returncode:
        return None, run.stderr.decode("utf-8", "replace")
    rows = {}
    for function in json.loads(run.stdout)["functions"]:
        row = rows.setdefault((function["module"], function["name"]), [0, 0, 0, 1])
        row[0] += 100 * function["self"]["share"]
        row[1] += 100 * function["total"]["share"] if children else 0
        row[2] += function["samples"] if function["self"]["share"] else 0
    return rows, ""


def plain(symbol):
    """One name for what both mean: no version, no clone suffix of a split part, no alias marks."""
    return re.sub(r"(@@?.*|\.cold(\.\d+)?|\.part\.\d+)$", "", symbol)


def by_address(rows, own):
    """Only functions of our own programs have one name; in libraries perf and assay may pick different
    aliases of one address. So: own programs by name, everything else by object."""
    merged = {}
    for (dso, symbol), row in rows.items():
        key = (dso, plain(symbol)) if dso in own else (dso, None)
        into = merged.setdefault(key, [0, 0, 0, 0])
        into[3] += row[3]
        into[0] += row[0]
        into[2] += row[2]
        into[1] += row[1] if dso in own else 0
    return merged


def compare(claim, data, own, children):
    theirs = by_address(perf_rows(data, children), own)
    mine, message = assay_rows(data, children)
    if mine is None:
        report(False, claim, message)
        return
    mine = by_address(mine, own)
    problems = []
    # two decimals in perf's percentages, added up over the rows of an object
    for key in sorted(set(theirs) | set(mine), key=str):
        a, b = theirs.get(key, [0, 0, 0, 0]), mine.get(key, [0, 0, 0, 0])
        room = 0.006 + 0.005 * max(a[3], 1)
        if a[2] != b[2] or abs(a[0] - b[0]) > room or abs(a[1] - b[1]) > 0.011:
            problems.append("%s: perf self %.2f total %.2f samples %d, assay %.2f %.2f %d" % (
                key, *a[:3], *b[:3]))
    if not any(key[0] in own for key in theirs):
        problems.append("perf saw none of our own functions")
    report(not problems, claim, "\n".join(problems))


def check(claim, name, options, command, own, children=True):
    data = name + ".data"
    good, message = record(data, options, command)
    if not good:
        skip(claim, "perf cannot record this here: %s" % message.strip().splitlines()[-1:])
        return
    compare(claim, data, own, children)


def main():
    if not shutil.which("perf"):
        skip("totals are perf's", "no perf")
        print("1..%d" % count)
        return 0
    build("chains", CHAINS)
    build("other", OTHER)
    own = {"chains", "other", "cxx"}
    clock = ["-e", "cpu-clock", "-F", "999"]
    check("self without chains", "flat", clock, ["./chains"], own, False)
    check("self and total with frame pointers, threads and recursion", "fp", [*clock, "-g"],
          ["./chains"], own)
    check("self and total over children that exec", "exec", [*clock, "-g"], ["sh", "-c", CHILDREN], own)
    check("page faults with their kernel part", "faults", ["-e", "page-faults", "-c", "1", "-g"],
          ["./chains"], own)
    check("two events, the first one reported", "two",
          ["-e", "cpu-clock,page-faults", "-c", "1000000", "-g"], ["./chains"], own)
    if shutil.which("c++") or shutil.which("g++"):
        build("cxx", CXX, "cpp", ["-O2"])
        check("C++ with mangled names", "cxx", [*clock, "-g"], ["./cxx"], own)
    else:
        skip("C++ with mangled names", "no C++ compiler")
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
