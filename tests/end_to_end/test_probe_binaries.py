#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kinds of programs and of places: indirect functions, aliases, points, marks, sleds, static, fixed, musl, Go."""
import os
import shutil
import subprocess

from probing import PREBUILT, X86_64, build, claim, finish, number, probe, require_engine, skip


def indirect():
    program = build("ifunc")
    done = probe("--", program, functions=["work", "doubled"])
    row = done.rows.get("quick", {})
    claim(row.get("calls") == number(done.out, "work") and row.get("aliases") == "work",
          "the name of an indirect function means what its resolver picked", done)
    rows = [name for name in done.rows if name in ("doubled", "twice")]
    both = done.rows[rows[0]] if rows else {}
    claim(len(rows) == 1 and both["calls"] == number(done.out, "doubled")
          and {rows[0], both["aliases"]} == {"doubled", "twice"},
          "names of one address are one row, patched once, that names all of them", done)
    subprocess.run(["strip", "-o", "bare", program], check=True)
    export = build("ifunc", "-O2", "-rdynamic", output="exporting")
    subprocess.run(["strip", export], check=True)
    done = probe("--", export, functions=["work"])
    claim(done.calls("work") == number(done.out, "work"),
          "what a resolver picked has its name where it has none itself", done)
    done = probe("--", "./bare", functions=["bare!*"])
    claim([row["calls"] for row in done.rows.values() if row.get("calls") == 700] == [700, 700],
          "functions without names are probed", done)


def points():
    program = build("points")
    step = 3 if X86_64 else 4
    done = probe("--", program, functions=[f"stepped+{step}", "assay:*", "main"])
    claim(done.calls(f"stepped+0x{step:x}") == number(done.out, "passes"),
          "a point counts each pass of its instruction", done)
    claim(done.calls("assay:iteration") == number(done.out, "iterations")
          and done.calls("assay:even") == number(done.out, "evens"),
          "marks are points, by provider and name", done)
    claim(done.calls("main") == 1, "points and their function are probed together", done)
    done = probe("--", program, functions=[f"stepped+{step}", "main"], mode="time")
    claim(done.calls(f"stepped+0x{step:x}") == number(done.out, "passes") and done.calls("main") == 1,
          "a point is counted in mode time, too", done)
    done = probe("--", program, functions=[f"stepped+{step}", "stepped"])
    claim(done.calls("stepped") == number(done.out, "stepped")
          and (not X86_64 or done.rows["stepped+0x3"]["reason"] == "overlap"),
          "a point in the bytes of its function's patch is refused", done)
    done = probe("--", program, functions=["stepped+1", "main"])
    claim(done.rows["stepped+0x1"]["reason"] == "into-instruction" and done.calls("main") == 1,
          "a point inside an instruction is refused", done)
    done = probe("--", program, functions=["!stepped+3", "main"])
    claim(done.code == 2 and "points cannot be taken away" in done.err, "points cannot be excluded", done)


def sleds():
    plain = build("sleds", "-Os", "-fcf-protection=none")
    wanted = ("nothing", "same", "nested")
    done = probe("--", plain, functions=wanted, mode="time")
    if X86_64:
        claim({done.rows[name]["state"] for name in wanted[:2]} == {"refused"},
              "functions shorter than a patch are refused", done)
    flags = ("-Os", "-fcf-protection=none", "-fpatchable-function-entry=5")
    done = probe("--", build("sleds", *flags, output="patchable"), functions=wanted, mode="time")
    claim(all(done.calls(name) == number(done.out, name) for name in wanted),
          "-fpatchable-function-entry makes room for them", done)
    # 5 of 7 nops stand in front of the function: the jump in them, 2 bytes that lead there inside
    flags = ("-Os", "-fcf-protection=none", "-fpatchable-function-entry=7,5")
    front = build("sleds", *flags, output="front")
    done = probe("--", front, functions=wanted, mode="count")
    claim(all(done.calls(name) == number(done.out, name) for name in wanted),
          "nops in front of functions (N,M) are used as well", done)
    clang = shutil.which("clang-14") or shutil.which("clang")
    if not clang:
        skip("XRay sleds", "clang is not installed")
        return
    build("sleds", "-Os", "-c", "-fxray-instrument", "-fxray-instruction-threshold=1", compiler=clang,
          output="xray.o")
    linked = subprocess.run(["gcc", "-o", "xray", "xray.o"], check=False, capture_output=True, text=True)
    if linked.returncode:
        skip("XRay sleds", "the object does not link without XRay's runtime: " + linked.stderr[-80:])
        return
    done = probe("--", "./xray", functions=wanted, mode="time")
    claim(all(done.calls(name) == number(done.out, name) and done.rows[name]["sled"] for name in wanted),
          "XRay sleds are used without XRay's runtime", done)


def linked(name, *flags, compiler=None):
    if compiler and not shutil.which(compiler):
        skip(name, f"{compiler} is not installed")
        return
    try:
        program = build("points", "-O2", *flags, compiler=compiler, output="linked")
    except subprocess.CalledProcessError:
        skip(name, "it cannot be linked here")
        return
    for mode in ("count", "time"):
        done = probe("--", program, functions=["linked!stepped", "linked!main", "linked!assay:*"], mode=mode)
        claim(done.code == 0 and done.calls("stepped") == 500 and done.calls("main") == 1
              and done.calls("assay:iteration") == 500, f"{name}, {mode}: counted exactly", done)


def go():
    with open("go.c", "w", encoding="utf-8") as file:
        file.write('__attribute__((section(".go.buildinfo"), used)) static const char mark[32] = "\\xff Go buildinf:";\n'
                   "__attribute__((noinline)) int f(int x) { __asm__ volatile(\"\"); return x; }\n"
                   "int main(void) { return f(0); }\n")
    subprocess.run([os.environ.get("CC", "gcc"), "-O2", "-o", "go", "go.c"], check=True)
    done = probe("--", "./go", functions=["f"])
    claim(done.code == 0 and done.rows["f"]["reason"] == "moving-stack",
          "programs whose runtime moves stacks (Go) are refused by name", done)


def main():
    require_engine()
    if PREBUILT:
        skip("kinds of programs", "this machine has no compiler")
        finish()
    indirect()
    points()
    sleds()
    linked("a program at a fixed address", "-no-pie")
    linked("a static program", "-static")
    linked("a static program at any address", "-static-pie")
    linked("a static program of musl", "-static", compiler="musl-gcc")
    linked("a dynamic program of musl", compiler="musl-gcc")
    go()
    finish()


if __name__ == "__main__":
    main()
