#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes tests/unit/code/switches_aarch64.h from switches_aarch64.c: both compilers, -O2 and -Os, position-independent
or not; where the indirect jumps led is what qemu-user saw when the program ran. Needs aarch64-linux-gnu-gcc, clang and
qemu-user; the header is kept, so that tests need none of them."""
import os
import re
import subprocess
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "switches_aarch64.c")
HEADER = os.path.join(HERE, "..", "..", "unit", "code", "switches_aarch64.h")
TEXT, DATA = 0x401000, 0x404000
SECTIONS = """SECTIONS {
 . = %#x; .text : { *(.text*) }
 . = %#x; .data : { *(.rodata*) *(.data.rel.ro*) *(.data*) *(.bss*) }
 /DISCARD/ : { *(.eh_frame*) *(.comment*) *(.note*) }
}""" % (TEXT, DATA)
COMPILERS = {"gcc": ["aarch64-linux-gnu-gcc"], "clang": ["clang-14", "--target=aarch64-linux-gnu"]}
FLAGS = {"O2": ["-O2"], "Os": ["-Os"], "O2_pic": ["-O2", "-fPIC"], "Os_pic": ["-Os", "-fPIC"]}


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def made(name, compiler, flags):
    """Text and data as bytes, functions, and the places that each indirect jump led to."""
    subprocess.run([*compiler, *flags, "-ffreestanding", "-fno-stack-protector", "-fno-pie"
                    if "-fPIC" not in flags else "-fPIC", "-c", SOURCE, "-o", name + ".o"], check=True)
    subprocess.run(["aarch64-linux-gnu-ld", "-static", "-T", "script", "-e", "_start", name + ".o", "-o", name],
                   check=True)
    parts = []
    for section in (".text", ".data"):
        subprocess.run(["aarch64-linux-gnu-objcopy", "-O", "binary", "-j", section, name, "part"], check=True)
        with open("part", "rb") as file:
            parts.append(file.read())
    functions = sorted((int(words[0], 16), int(words[1], 16), words[3])
                       for words in (line.split() for line in output("aarch64-linux-gnu-nm", "-S", name).splitlines())
                       if len(words) == 4 and words[2] in "tT" and words[3] != "_start")
    subprocess.run(["qemu-aarch64", "-singlestep", "-d", "exec,nochain", "-D", "trace", "./" + name], check=True)
    with open("trace", encoding="ascii") as file:
        steps = [int(found.group(1), 16) for found in re.finditer(r"\[[0-9a-f]+/([0-9a-f]+)/", file.read())]
    led = {}
    for at, to in zip(steps, steps[1:]):
        word = int.from_bytes(parts[0][at - TEXT:at - TEXT + 4], "little")
        if word & 0xfffffc1f == 0xd61f0000:
            led.setdefault(at, set()).add(to)
    return parts[0], parts[1], functions, led


def lists(words, per_line):
    return ["\t" + " ".join(words[i:i + per_line]) for i in range(0, len(words), per_line)]


def numbers(values, width):
    return "\n".join(lists(["0x%0*x," % (width, value) for value in values], 92 // (width + 4)))


def main():
    lines = ["/* SPDX-License-Identifier: GPL-3.0-or-later */",
             "/*",
             " * Made by tests/data/code/make_switches_aarch64.py from switches_aarch64.c beside it: code for %#x, data" % TEXT,
             " * for %#x, functions, and for each indirect jump the places it led to when the program ran." % DATA,
             " *", " * length: code of two compilers with four sets of flags", " */",
             "#ifndef ASSAY_TESTS_SWITCHES_AARCH64_H", "#define ASSAY_TESTS_SWITCHES_AARCH64_H", "",
             "#include <stddef.h>", "#include <stdint.h>", "",
             "struct switch_function {", "\tconst char *name;", "\tuint32_t start, size;", "};", "",
             "struct switch_jump {", "\tuint32_t at, to; /* one of the places */", "};", "",
             "struct switches {", "\tconst char *name;", "\tconst uint32_t *text;", "\tsize_t n_text;",
             "\tconst uint8_t *data;", "\tsize_t n_data;", "\tconst struct switch_function *functions;",
             "\tsize_t n_functions;", "\tconst struct switch_jump *jumps;", "\tsize_t n_jumps;", "};", "",
             "/* clang-format off */"]
    names = []
    for compiler, command in COMPILERS.items():
        for kind, flags in FLAGS.items():
            name = compiler + "_" + kind
            text, data, functions, led = made(name, command, flags)
            assert len(text) < DATA - TEXT and len(data) < 0x1000
            behind = max(start + size for start, size, _ in functions) - TEXT  # without _start
            text = text[:behind]
            words = [int.from_bytes(text[i:i + 4], "little") for i in range(0, len(text), 4)]
            jumps = [(at, to) for at in sorted(led) for to in sorted(led[at]) if at < TEXT + behind]
            lines += ["static const uint32_t %s_text[] = {" % name, numbers(words, 8), "};",
                      "static const uint8_t %s_data[] = {" % name, numbers(data, 2), "};",
                      "static const struct switch_function %s_functions[] = {" % name,
                      *("\t{ \"%s\", 0x%x, %d }," % (function, start, size) for start, size, function in functions),
                      "};", "static const struct switch_jump %s_jumps[] = {" % name,
                      *lists(["{ 0x%x, 0x%x }," % jump for jump in jumps], 4), "};", ""]
            names.append("\t{ \"%s\", %s_text, %d, %s_data, %d, %s_functions, %d, %s_jumps, %d }," % (
                name, name, len(words), name, len(data), name, len(functions), name, len(jumps)))
    lines += ["static const struct switches all_switches[] = {", *names, "};", "", "#endif"]
    with open(HEADER, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("script", "w", encoding="ascii") as script:
            script.write(SECTIONS)
        main()
