# SPDX-License-Identifier: GPL-3.0-or-later
"""Finds the test programs of the checkout.

Takes the checkout and a build directory; gives one Program per test source, whether it was built or
not: a source without its program is a failure ("not built"), not a silent gap. Marks in the first
30 lines of a script (`# runner: long timeout=600 no-sanitizer`) are described in
tests/end_to_end/README.md.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path

KINDS = ("lint", "unit", "fuzz", "end_to_end")
PYTHON = "/usr/bin/python3"
_MARK = re.compile(r"^\s*(?:#|//|/?\*)\s*runner:\s*(.*)$")
_LONG_NAME = re.compile(r"(^|_)long(_|$)")
_SECONDS = {"lint": 120, "unit": 120, "fuzz": 300, "end_to_end": 300}
_SECONDS_LONG = 1800


@dataclass
class Program:
    name: str  # folder/test_noun, as -k sees it
    kind: str
    command: list
    source: Path
    timeout: int
    marks: set = field(default_factory=set)
    parallel: bool = True  # false: has the machine to itself
    plan_required: bool = False


def _marks(source):
    marks = set()
    with open(source, encoding="utf-8", errors="replace") as file:
        for _, line in zip(range(30), file):
            match = _MARK.match(line)
            if match:
                marks.update(match.group(1).rstrip("*/ \n").split())
    if _LONG_NAME.search(source.stem):
        marks.add("long")
    return marks


def _program(name, kind, command, source, **more):
    marks = _marks(source)
    timeout = _SECONDS_LONG if "long" in marks else _SECONDS[kind]
    for mark in marks:
        if mark.startswith("timeout="):
            timeout = int(mark.removeprefix("timeout="))
    return Program(name, kind, command, source, timeout, marks, **more)


def _compiled(tests, build, kind, prefix):
    for source in sorted((tests / kind).glob(f"*/{prefix}_*.c")):
        folder = source.parent.name
        program = build / "tests" / kind / f"{folder}_{source.stem}"
        command = [str(program)]
        if kind == "fuzz":
            command.append(str(source.parent / source.stem.removeprefix("fuzz_")))
        yield _program(f"{kind}/{folder}/{source.stem}", kind, command, source, plan_required=True)


def _scripts(tests, folder, kind, parallel):
    for source in sorted((tests / folder).glob("test_*.py")):
        yield _program(f"{folder}/{source.stem}", kind, [PYTHON, str(source)], source,
                       parallel=parallel)


def collect(checkout, build):
    tests = checkout / "tests"
    programs = list(_scripts(tests, "lint", "lint", True))
    programs += _scripts(tests, "runner", "lint", True)
    programs += _compiled(tests, build, "unit", "test")
    programs += _compiled(tests, build, "fuzz", "fuzz")
    programs += _scripts(tests, "end_to_end", "end_to_end", False)
    return programs


def choose(programs, pattern, kinds, long, sanitizer):
    """Those to run. Being left out by a mark is not a skip: another verb runs them."""
    for program in programs:
        if program.kind not in kinds or (pattern and not re.search(pattern, program.name)):
            continue
        if "long" in program.marks and not long:
            continue
        if "no-sanitizer" in program.marks and sanitizer:
            continue
        yield program
