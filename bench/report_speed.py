#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Speed and memory of `assay report` beside `perf report --stdio`, ratios within one run.

Two recordings are made here, of a million page faults with call chains each: in C, and in C++ with
inlined frames. Both programs then report on each in turn, interleaved, and the medians are compared:

    chains    at least 5 times as fast (aiming at 10), at most half the memory
    inlined   at least 10 times as fast; both expand inlined frames (`assay report --inline`)

Ends with 1 when a ratio is missed, 0 when none is; what cannot be measured here is said.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ASSAY = os.environ.get("ASSAY", "build/assay")
CC = os.environ.get("CC", "cc")
ROUNDS = int(os.environ.get("ROUNDS", "5"))

FAULTS = r"""
#include <sys/mman.h>
static __attribute__((noinline)) void touch(char *p, unsigned long n) { for (unsigned long i = 0; i < n; i += 4096) p[i] = 1; }
static __attribute__((noinline)) void level(int d, char *p, unsigned long n) { if (d) level(d - 1, p, n); else touch(p, n); __asm__ volatile(""); }
int main(void) {
	for (int r = 0; r < 16; r++) {
		unsigned long n = 256ul << 20;
		char *p = mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		madvise(p, n, MADV_NOHUGEPAGE);
		for (int k = 0; k < 16; k++) level(k, p + k * (n / 16), n / 16);
		munmap(p, n);
	}
	return 0;
}
"""

INLINED = r"""
#include <algorithm>
#include <vector>
#include <sys/mman.h>
struct page { char bytes[4096]; };
template <class F> static inline void each(page *from, page *to, F f) { std::for_each(from, to, f); }
struct toucher { long n = 0; inline void one(page &p) { p.bytes[0] = 1; n++; } inline void operator()(page &p) { one(p); } };
template <int D> struct level {
	static __attribute__((noinline)) long run(page *p, unsigned long n) { return level<D - 1>::run(p, n) + D; }
};
template <> struct level<0> {
	static __attribute__((noinline)) long run(page *p, unsigned long n) { toucher t; each(p, p + n, [&](page &q) { t(q); }); return t.n; }
};
int main() {
	volatile long sink = 0;
	for (int r = 0; r < 16; r++) {
		unsigned long n = 256ul << 20;
		page *p = static_cast<page *>(mmap(0, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
		madvise(p, n, MADV_NOHUGEPAGE);
		sink = sink + level<8>::run(p, n / sizeof(page) / 2) + level<12>::run(p + n / sizeof(page) / 2, n / sizeof(page) / 2);
		munmap(p, n);
	}
	return 0;
}
"""


def measure(command):
    """(seconds, KiB of resident memory), None when it took too long or failed."""
    with open(os.devnull, "wb") as null:
        started = os.times().elapsed
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=null, stderr=null)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = os.times().elapsed - started
    return None if child.returncode else (seconds, usage.ru_maxrss)


def spread(values, unit, digits):
    return "%.*f %s (%.*f-%.*f)" % (digits, statistics.median(values), unit, digits, min(values), digits,
                                    max(values))


def compare(name, assay, perf, faster, memory):
    """Interleaved rounds; True when the medians' ratios hold."""
    assay_runs, perf_runs = [], []
    for _ in range(ROUNDS):
        for runs, command in ((assay_runs, assay), (perf_runs, perf)):
            run = measure(command)
            if run is None:
                print("%s: `%s` failed" % (name, " ".join(command)))
                return False
            runs.append(run)
    seconds = [[run[0] for run in runs] for runs in (assay_runs, perf_runs)]
    kib = [[run[1] / 1024 for run in runs] for runs in (assay_runs, perf_runs)]
    time_ratio = statistics.median(seconds[1]) / statistics.median(seconds[0])
    memory_ratio = statistics.median(kib[0]) / statistics.median(kib[1])
    print("%-8s assay %s, perf %s: %.1f times as fast (at least %g)" % (
        name, spread(seconds[0], "s", 3), spread(seconds[1], "s", 3), time_ratio, faster))
    print("%-8s assay %s, perf %s: %.2f of its memory%s" % (
        "", spread(kib[0], "MiB", 0), spread(kib[1], "MiB", 0), memory_ratio,
        " (at most %g)" % memory if memory else ""))
    return time_ratio >= faster and (not memory or memory_ratio <= memory)


def build(name, source, compiler, suffix, *flags):
    with open(name + suffix, "w") as file:
        file.write(source)
    subprocess.run([*compiler.split(), "-g", "-fno-omit-frame-pointer", *flags, "-o", name, name + suffix],
                   check=True)


def record(data, options, program):
    return subprocess.run(["perf", "record", "-q", "-o", data, *options, "--", program],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=300).returncode == 0


def main():
    if not shutil.which("perf"):
        print("report_speed: no perf to compare with")
        return 0
    held = True
    with tempfile.TemporaryDirectory() as place:
        assay = os.path.abspath(ASSAY)
        os.chdir(place)
        build("faults", FAULTS, CC, ".c", "-O1")
        if record("faults.data", ["-e", "page-faults", "-c", "1", "-g"], "./faults"):
            held &= compare("chains", [assay, "report", "faults.data"],
                            ["perf", "report", "--stdio", "-i", "faults.data"], 5, 0.5)
        else:
            print("report_speed: perf cannot record page faults here")
        compiler = shutil.which("c++") or shutil.which("g++")
        if compiler:
            build("inlined", INLINED, compiler, ".cpp", "-O2")
        if compiler and record("inlined.data", ["-e", "page-faults", "-c", "1", "-g"], "./inlined"):
            held &= compare("inlined", [assay, "report", "--inline", "inlined.data"],
                            ["perf", "report", "--stdio", "--inline", "-i", "inlined.data"], 10, None)
        else:
            print("report_speed: no C++ compiler, or perf cannot record here")
        os.chdir("/")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
