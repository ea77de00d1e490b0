# SPDX-License-Identifier: GPL-3.0-or-later
"""Names of what ran, from recording to report: odd layouts, generated code, odd paths, vanished and
stripped programs."""
# runner: timeout=900
# runner: no-sanitizer
import json
import math
import os
import re
import shutil
import subprocess

from recording import ASSAY, SOURCE, claim, claim_repeated, finish, record, run, skip

CASES = os.path.join(SOURCE, "tests", "data", "symbolize", "cases")
CC = os.environ.get("CC", "gcc")


def build(output, *words):
    subprocess.run([CC, "-O1", "-o", output, *words], check=True, stderr=subprocess.PIPE)


def report(bundle, *words):
    done = run(ASSAY, "report", "--json", *words, bundle)
    if done.code:
        return {"functions": [], "findings": [], "totals": {"samples": 0}, "error": str(done)}
    return json.loads(done.out)


def shares(document, kind="self"):
    """name -> share; several functions of one name are added."""
    found = {}
    for function in document["functions"]:
        part = function.get(kind) or {}
        found[function["name"]] = found.get(function["name"], 0) + (part.get("share") or 0)
    return found


def near(document, found, name, truth):
    """Within five standard deviations of what as many independent samples would give, and the two
    points by which a phase can be cut at the ends."""
    n = max(1, document["totals"]["samples"])
    return abs(found.get(name, 0) - truth) < 5 * math.sqrt(truth * (1 - truth) / n) + 0.02


LAYOUT_TRUTH = {"lib_light": 0.1, "lib_heavy": 0.6, "lib_second": 0.3}


def layout(claim_text, make):
    """Two executable segments, addresses that differ from file offsets: shares include what the
    functions call, so the stacks were unwound through them."""
    try:
        make()
    except (subprocess.CalledProcessError, FileNotFoundError) as error:
        skip(claim_text, "cannot be linked here: %s" % error)
        return
    done = record("-F", "497", "--call-graph", "dwarf,8192", "-e", "cpu-clock:u", "-o", "layout",
                  "--", "./layout-program")
    document = report("layout")
    found = shares(document, "total")
    claim(all(near(document, found, name, truth) for name, truth in LAYOUT_TRUTH.items()),
          claim_text, "%s\n%s" % (done, {name: found.get(name) for name in LAYOUT_TRUTH}))


def layout_bfd():
    build("libodd.so", "-g", "-shared", "-fPIC", CASES + "/layout_lib.c", "-Wl,-Ttext=0x45000",
          "-Wl,--section-start=.hot2=0x93000")
    build("layout-program", CASES + "/layout_main.c", "./libodd.so")


def layout_lld():
    if not shutil.which("ld.lld"):
        raise FileNotFoundError("ld.lld is not installed")
    build("libodd-lld.so", "-g", "-fuse-ld=lld", "-shared", "-fPIC", CASES + "/layout_lib.c")
    build("layout-program", CASES + "/layout_main.c", "./libodd-lld.so")


def layout_static_pie():
    build("layout-program", "-g", "-static-pie", CASES + "/layout_lib.c", CASES + "/layout_main.c",
          "-Wl,--section-start=.hot2=0x930000")


def generated_code():
    build("perf-map", CASES + "/perf_map.c")
    done = record("-F", "997", "-e", "cpu-clock:u", "-o", "map", "--", "./perf-map", "3")
    document = report("map")
    found = shares(document)
    names = ["plain_zero", "int Foo.bar(java.lang.Object, long) [tier 4]", "hex_prefixed", "UPPER_hex",
             "crlf_line", "LazyCompile:~<script>alert('x')</script>;a b /srv/app.js:1:2",
             "new_name_of_6", "last_line_without_newline"]
    found["seventh"] = found.get("zero_size", 0) + found.get("whole_area", 0)
    claim(all(near(document, found, name, 1 / 9) for name in names + ["seventh"]),
          "every form of a perf map's line gives its function its share",
          "%s\n%s" % (done, found))
    claim("old_name_of_6" not in found, "a function that was compiled anew goes by its new name only",
          found)


def odd_paths():
    shutil.copy(CASES + "/odd_path.c", "p.c")
    shutil.copy(CASES + "/odd_paths.sh", "run.sh")
    environment = dict(os.environ, TMPDIR=os.getcwd())

    def attempt(_turn):
        done = record("-F", "499", "-e", "cpu-clock:u", "-o", "paths", "--", "sh", "run.sh",
                      env=environment)
        document = report("paths")
        found = shares(document)
        counts = [found.get("burn_path_%d" % n, 0) * document["totals"]["samples"] for n in range(1, 13)]
        # Half a second of CPU time each: five standard deviations from their mean, and a tenth. That a hypervisor
        # stops the machine for 0.2 s, which one of them gets without a tick, has happened.
        mean = sum(counts) / len(counts)
        return (min(counts) > 0 and all(abs(n - mean) < 5 * math.sqrt(mean) + mean / 10 for n in counts),
                "%s\n%s\n%s" % (done, counts, found))
    claim_repeated("programs below paths of any bytes are named, and each has its share", attempt)


BURN = r"""
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double cpu(void) { return (double)clock() / CLOCKS_PER_SEC; }
__attribute__((noinline)) void %s(double end) { while (cpu() < end) for (volatile int i = 0; i < 90000; i++); }
int main(int argc, char **argv) {
	if (argc > 1 && !rename(argv[1], argv[0])) puts("replaced");
	else if (argc == 1) unlink(argv[0]);
	%s(cpu() + 1.5);
	return 0;
}
"""


def burn(output, name, *words):
    with open(output + ".c", "w", encoding="utf-8") as file:
        file.write(BURN % (name, name))
    build(output, output + ".c", *words)


def vanished():
    burn("gone", "burn_gone")
    record("-F", "499", "-e", "cpu-clock:u", "-o", "vanished", "--", "./gone")
    document = report("vanished")
    found = shares(document)
    claim(found.get("burn_gone", 0) > 0.5 or
          any(f["code"].startswith("symbols") for f in document["findings"]),
          "a program that was deleted while it ran is named, or reported as gone", found)
    burn("replaced", "burn_old")
    burn("newer", "burn_new")
    record("-F", "499", "-e", "cpu-clock:u", "-o", "replaced.assay", "--", "./replaced", "newer")
    document = report("replaced.assay")
    found = shares(document)
    claim("burn_new" not in found, "a program that was replaced never gets the names of the new file",
          found)
    claim(found.get("burn_old", 0) > 0.5 or
          any(f["code"].startswith("symbols") for f in document["findings"]),
          "it is named by the file that ran, or reported as replaced", found)


def stripped():
    burn("bare", "burn_bare", "-Wl,--build-id")
    shutil.copy("bare", "whole")
    subprocess.run(["strip", "bare"], check=True)
    symbols = run("nm", "whole").out
    start = re.search(r"^([0-9a-f]+) T burn_bare$", symbols, re.M).group(1)
    # the argument keeps it from deleting itself
    record("-F", "499", "-e", "cpu-clock:u", "-o", "stripped", "--", "./bare", "/nonexistent")
    document = report("stripped")
    found = shares(document)
    claim(found.get("bare+%#x" % int(start, 16), 0) > 0.5,
          "a function of a stripped program goes by the start of its frame description",
          "%s starts at %s\n%s" % ("burn_bare", start, found))
    remedies = [f.get("next") or "" for f in document["findings"] if f["code"].startswith("symbols")]
    claim(any("-dbgsym" in text and "build-id" in text for text in remedies),
          "and the report says which symbols would mend it", document["findings"])


def twice():
    first, second = run(ASSAY, "report", "layout"), run(ASSAY, "report", "layout")
    claim(first.code == 0 and first.out == second.out, "two reports of one bundle are the same bytes")


layout("shares of functions in a library whose addresses differ from its offsets", layout_bfd)
twice()
layout("the same, linked by lld", layout_lld)
layout("the same, in a static position-independent program", layout_static_pie)
generated_code()
odd_paths()
vanished()
stripped()
finish()
