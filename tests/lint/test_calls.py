#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Calls that a folder must not make: printing and exiting outside cli, the kernel past the seam.

A line that has to is marked, in sight of every reader: `lint: <which> because <reason>` in a comment on
the line or the one above, where <which> is print, seam or banned. In the head of a file (its first ten
lines) it speaks for the file.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import source  # noqa: E402

PRINTS = ("printf fprintf vprintf vfprintf dprintf puts fputs putchar putc fputc perror fwrite "
          "err errx warn warnx error exit _exit _Exit quick_exit abort").split()
HEAD_LINES = 10
BANNED = "gets strcpy strcat sprintf vsprintf strtok atoi atol atoll atof alloca strncpy".split()
# what reaches the kernel by another name than the seam's
ALIASES = ("open open64 creat fopen freopen fdopen stat lstat unlink remove rename mkdir rmdir chown "
           "lchown fchown poll time gettimeofday clock rand random srand srandom syscall getpagesize "
           "opendir readdir").split()


def seam():
    """The names of the calls in struct sys."""
    body = source.code(Path("src/base/sys.h"))
    table = re.search(r"struct sys \{(.*?)\n\};", body, re.DOTALL).group(1)
    return re.findall(r"\(\*(\w+)\)", table)


def allowed(lines, number, which):
    mark = re.compile(rf"lint: {which} because \w+")
    near = lines[max(0, number - 2):number]
    return any(mark.search(line) for line in [*near, *lines[:HEAD_LINES]])


def calls(paths, names, which):
    """Direct calls; `sys->read(...)` is none, nor is a declaration of a function pointer."""
    call = re.compile(r"(?<![\w.>])(" + "|".join(map(re.escape, names)) + r")\s*\(")
    for path in paths:
        body, lines = source.code(path), source.text(path).splitlines()
        for match in call.finditer(body):
            number = source.line_of(body, match.start())
            if not allowed(lines, number, which):
                yield f"{path}:{number}: {match.group(1)}"


def main():
    claims = source.Claims()
    every = source.files("*.c", "*.h", below="src/")
    outside_cli = [path for path in every if path.parts[1] != "cli"]
    outside_base = [path for path in every if path.parts[1] != "base"]
    claims.claim("only cli prints or exits", calls(outside_cli, PRINTS, "print"))
    streams = re.compile(r"\b(stdout|stderr|stdin)\b")
    claims.claim("only cli knows the standard streams",
                 [f"{path}:{source.line_of(source.code(path), match.start())}" for path in outside_cli
                  for match in streams.finditer(source.code(path))])
    names = seam()
    claims.claim("the seam holds the calls that tests script",
                 {"perf_event_open", "ioctl", "mmap", "read", "clock_gettime", "getrandom"} - set(names))
    claims.claim("outside base the kernel, time and chance are reached through the seam",
                 calls(outside_base, names + ALIASES, "seam"))
    claims.claim("no call that cannot be bounded or checked", calls(every, BANNED, "banned"))
    claims.end()


if __name__ == "__main__":
    main()
