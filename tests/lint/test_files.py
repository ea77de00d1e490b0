#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""What every file and folder owes its reader: licence line, head, README, whitespace, plain names."""

import re
import sys

sys.dont_write_bytecode = True
import source  # noqa: E402

SOURCES = ("*.c", "*.h", "*.S", "*.py", "*.sh")
DUMPING_GROUNDS = {"util", "utils", "misc", "common", "helper", "helpers", "stuff"}
# spelled so that this file does not hold what it looks for
WORKPLACE = re.compile("|".join(["/" + "work/", "/tmp/" + "brief", "/tmp/build" + "-", "sub" + "agent",
                                 r"\bLL" + r"M\b", "as an A" + "I", "fa" + "rm-"]))
BINARY = {".data", ".bin", ".zst", ".gz", ".so", ".debug", ".elf", ".o"}


def is_data(path):
    """Test data and seeds, which are as they are."""
    return "data" in path.parts[:-1] or (path.parts[:2] == ("tests", "fuzz") and len(path.parts) > 4)


def texts():
    for path in source.files():
        data = (source.ROOT / path).read_bytes()
        if path.suffix not in BINARY and b"\0" not in data[:8192] and not is_data(path):
            yield path, data.decode("utf-8", "replace")


def without_licence():
    for path in source.files(*SOURCES):
        licence = r"SPDX-License-Identifier: (GPL-3\.0-or-later|0BSD)"  # 0BSD: what users include
        if not is_data(path) and not re.search(licence, "\n".join(source.text(path).split("\n")[:3])):
            yield path


def without_head():
    """A header, and a source without a header of its name, begins with a comment on its duty."""
    for path in source.files("*.c", "*.h", below="src/"):
        body = source.text(path).split("\n", 1)[-1].lstrip()
        header = (source.ROOT / path).with_suffix(".h")
        if not body.startswith("/*") and (path.suffix == ".h" or not header.exists()):
            yield path


def without_readme():
    folders = {path.parent for path in source.files(below="src/")}
    folders |= {path.parent for path in source.files(below="tests/") if len(path.parts) == 3}
    folders |= {path.parent for path in source.files(below="bench/")}
    for folder in sorted(folders):
        data = folder.parts[:2] == ("tests", "data")
        if len(folder.parts) == 2 and not data and not (source.ROOT / folder / "README.md").exists():
            yield folder


def untidy():
    for path, text in texts():
        lines = text.split("\n")
        for number, line in enumerate(lines, 1):
            if line != line.rstrip() and path.suffix != ".md":
                yield f"{path}:{number}: blanks at the end"
            if re.match(r" {8}\S", line) and path.suffix in (".c", ".h"):
                yield f"{path}:{number}: indented with spaces"
        if text and not text.endswith("\n"):
            yield f"{path}: no newline at the end"
        if text.endswith("\n\n"):
            yield f"{path}: blank lines at the end"
        if "\r" in text:
            yield f"{path}: carriage returns"


def unpaired_tests():
    """tests/unit/<folder>/test_<noun>.c has its src/<folder>/<noun>.c or .h."""
    for path in source.files("tests/unit/*/test_*.c"):
        noun = path.stem.removeprefix("test_")
        folder = source.ROOT / "src" / path.parts[2]
        if not any((folder / (noun + suffix)).exists() for suffix in (".c", ".h")):
            yield f"{path}: no {noun} in src/{path.parts[2]}"


def main():
    claims = source.Claims()
    claims.claim("every source names its licence", without_licence())
    claims.claim("every file of src begins with its duty", without_head())
    claims.claim("every folder has a README", without_readme())
    claims.claim("no folder or file is a dumping ground by name",
                 [path for path in source.files()
                  if DUMPING_GROUNDS & {path.stem, *path.parts[:-1]}])
    claims.claim("whitespace is tidy", untidy())
    claims.claim("no path or tool of the place where it was written is named",
                 [f"{path}:{source.line_of(text, match.start())}: {match.group(0)}"
                  for path, text in texts() for match in WORKPLACE.finditer(text)])
    claims.claim("every unit test mirrors a source", unpaired_tests())
    claims.end()


if __name__ == "__main__":
    main()
