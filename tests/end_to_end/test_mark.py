#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
"""include/assay/mark.h: what it costs, what it leaves in the file, and who can read it.

The notes are read by a small parser here, which knows the layout from the standard (version 3 of the
USDT note) and not from the header, and by readelf.
"""

import os
import shutil
import struct
import subprocess
import sys

SOURCE = os.environ["ASSAY_SOURCE"]
CC = os.environ.get("CC", "gcc")
NOPS = {62: bytes.fromhex("0f1f440000"), 183: bytes.fromhex("1f2003d5")}

PROGRAM = r"""
#include <assay/mark.h>
#include <stdlib.h>
volatile unsigned long sink;
static void parse(unsigned long n)
{
	unsigned long i;

	ASSAY_MARK_BEGIN(parse);
	for (i = 0; i < n; i++)
		sink = sink + i;
	ASSAY_MARK_END(parse);
	ASSAY_MARK_WORK(n);
}
int main(int argc, char **argv)
{
	int i, n = argc > 1 ? atoi(argv[1]) : 10;

	for (i = 0; i < n; i++) {
		ASSAY_MARK_ITERATION();
		parse(100);
	}
	ASSAY_MARK(cache_flush);
	ASSAY_MARK_WORK(5);
	return 0;
}
"""
NAMES = ["cache_flush", "iteration", "parse__begin", "parse__end", "work"]

# A template and an inline function in two files: their marks lie in groups that the linker merges.
SHARED = r"""
#include <assay/mark.h>
extern volatile int sink;
template <typename T> T twice(T x) { ASSAY_MARK(in_template); sink = 1; return x + x; }
inline int once(int x) { ASSAY_MARK(in_inline); sink = 2; return x; }
"""

count = 0
failed = 0


def report(claim, good, text="", skip=None):
    global count, failed
    count += 1
    if skip:
        print(f"ok {count} - {claim} # SKIP {skip}")
        return
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {claim}")
    if not good and text:
        print("\n".join("# " + line for line in str(text).split("\n")))
    sys.stdout.flush()


def compile_to(name, text, compiler, *options):
    suffix = ".cc" if "++" in compiler else ".c"
    with open(name + suffix, "w") as file:
        file.write(text)
    return subprocess.run([compiler, "-I" + SOURCE + "/include", *options, name + suffix, "-o", name],
                          capture_output=True, text=True)


def sections(data):
    offset, = struct.unpack_from("<Q", data, 40)
    size, n, names_at = struct.unpack_from("<HHH", data, 58)
    rows = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(n)]
    names = rows[names_at]
    for name, kind, flags, address, at, length, *_ in rows:
        end = data.index(b"\0", names[4] + name)
        yield data[names[4] + name:end].decode(), flags, address, at, length, kind


def notes(path):
    """(name, arguments, bytes at the location) of each note, and whether any goes into memory."""
    data = open(path, "rb").read()
    table = list(sections(data))
    machine, = struct.unpack_from("<H", data, 18)
    for name, flags, _, at, length, _ in table:
        if name != ".note.stapsdt":
            continue
        assert not flags & 2, "the notes are loaded into memory"
        end = at + length
        while at < end:
            name_size, size, kind = struct.unpack_from("<III", data, at)
            assert (name_size, kind) == (8, 3) and data[at + 12:at + 20] == b"stapsdt\0"
            location, base, semaphore = struct.unpack_from("<QQQ", data, at + 20)
            provider, probe, arguments, _ = data[at + 44:at + 20 + size].split(b"\0")
            assert provider == b"assay" and semaphore == 0
            where = [s for s in table if s[1] & 4 and s[2] <= location < s[2] + s[4]]
            assert len(where) == 1, "the location is in no code"
            start = where[0][3] + location - where[0][2]
            assert any(s[0] == ".stapsdt.base" and s[2] == base for s in table)
            yield probe.decode(), arguments.decode(), data[start:start + len(NOPS[machine])]
            at += 20 + (size + 3) // 4 * 4


def check_program(claim, compiler, *options):
    name = "program"
    if not shutil.which(compiler):
        report(claim, True, skip=f"{compiler} is not installed")
        return
    built = compile_to(name, PROGRAM, compiler, *options)
    if built.returncode or built.stderr:
        report(claim, False, built.stderr)
        return
    found = list(notes(name))
    kinds = sorted({n for n, _, _ in found})
    good = (kinds == NAMES and all(code in NOPS.values() for _, _, code in found)
            and all(bool(a) == (n == "work") for n, a, _ in found))
    report(claim, good, found)


def check_standards():
    bad = []
    for compiler, standards in (CC, ["c89", "c99", "c17", "gnu17"]), ("g++", ["c++98", "c++20"]):
        for standard in standards:
            built = compile_to("strict", PROGRAM, compiler, "-O2", "-std=" + standard, "-pedantic", "-Wall",
                               "-Wextra", "-Wconversion", "-Werror")
            if built.returncode:
                bad.append(f"{compiler} {standard}: {built.stderr}")
    report("the header is clean in C89 to C17 and C++98 to C++20 with -pedantic -Werror", not bad, "\n".join(bad))


def check_groups():
    with open("shared.h", "w") as file:
        file.write(SHARED)
    for name, text in ("one.cc", "int f(); volatile int sink; int main() { return twice(1) + once(2) + f(); }"), \
                      ("two.cc", "int f(); int f() { return twice(3) + once(4); }"):
        with open(name, "w") as file:
            file.write('#include "shared.h"\n' + text)
    built = subprocess.run(["g++", "-O0", "-I" + SOURCE + "/include", "-I.", "one.cc", "two.cc", "-o", "shared",
                            "-Wl,--gc-sections", "-ffunction-sections"], capture_output=True, text=True)
    found = sorted(n for n, _, _ in notes("shared")) if not built.returncode else built.stderr
    report("a mark in a template or inline function that two files share has one note, that of the code kept",
           found == ["in_inline", "in_template"], found)


def check_dependencies():
    text = PROGRAM.replace("#include <stdlib.h>", "").replace("atoi(argv[1])", "argc")
    with open("alone.c", "w") as file:
        file.write(text)
    subprocess.run([CC, "-O2", "-c", "-ffreestanding", "-I" + SOURCE + "/include", "alone.c", "-o", "alone.o"],
                   check=True)
    listing = subprocess.run(["nm", "-u", "alone.o"], capture_output=True, text=True, check=True).stdout
    report("a program with marks needs nothing from elsewhere", not listing.strip(), listing)


def text_size(options):
    compile_to("size", PROGRAM, CC, "-O2", "-c", *options)
    return sum(length for name, flags, _, _, length, _ in sections(open("size", "rb").read())
               if flags & 4 and name.startswith(".text"))


def check_cost():
    # five marks in the source, of which the compiler may copy some (unrolling, inlining)
    marks = len(list(subprocess.run(["readelf", "-nW", "size"], capture_output=True, text=True).stdout
                     .split("Provider: assay"))) - 1 if text_size([]) else 0
    grown = text_size([]) - text_size(["-DASSAY_MARK_DISABLE"])
    report("a mark is one nop and no further code", 6 <= marks and 0 < grown <= 5 * marks + 16,
           f"{marks} marks, {grown} bytes of code more")
    compile_to("disabled", PROGRAM, CC, "-O2", "-DASSAY_MARK_DISABLE")
    report("with ASSAY_MARK_DISABLE nothing is left", not list(notes("disabled")))


def check_readelf():
    compile_to("program", PROGRAM, CC, "-O2")
    text = subprocess.run(["readelf", "-n", "program"], capture_output=True, text=True).stdout
    names = sorted(set(line.split()[1] for line in text.split("\n") if line.strip().startswith("Name:")))
    report("readelf lists the marks as SystemTap probe descriptors of provider assay",
           names == NAMES and "Provider: assay" in text, text)


def check_perf():
    claim = "perf counts each pass over a mark, and none is missed"
    if os.geteuid() or not shutil.which("perf"):
        report(claim, True, skip="needs root and perf, to attach uprobes")
        return
    compile_to("marked", PROGRAM, CC, "-O2")
    path = os.path.abspath("marked")
    home = dict(os.environ, HOME=os.getcwd())
    subprocess.run(["perf", "buildid-cache", "--add", path], env=home, capture_output=True)
    added = subprocess.run(["perf", "probe", "-x", path, "sdt_assay:iteration"], env=home, capture_output=True,
                           text=True)
    if added.returncode:
        report(claim, True, skip="no uprobes here: " + added.stderr.strip().replace("\n", " ")[:200])
        return
    try:
        run = subprocess.run(["perf", "stat", "-x", ",", "-e", "sdt_assay:iteration", path, "1234"], env=home,
                             capture_output=True, text=True)
        report(claim, run.stderr.startswith("1234,"), run.stderr)
    finally:
        subprocess.run(["perf", "probe", "-d", "sdt_assay:iteration"], env=home, capture_output=True)


def main():
    check_program("every mark has a note that points at its nop, at -O2", CC, "-O2")
    check_program("every mark has a note that points at its nop, at -O0 -fPIE", CC, "-O0", "-fPIE", "-pie")
    check_program("every mark has a note after link-time optimisation", CC, "-O2", "-flto")
    check_program("every mark has a note in C++", "g++", "-O2")
    check_program("every mark has a note with clang", "clang-14", "-O2")
    check_program("every mark has a note on AArch64", "aarch64-linux-gnu-gcc", "-O2", "-static")
    check_standards()
    check_groups()
    check_dependencies()
    check_cost()
    check_readelf()
    check_perf()
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
