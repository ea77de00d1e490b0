#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers say what their functions promise, and carry include guards named after their path."""

import re
import sys

sys.dont_write_bytecode = True
import source  # noqa: E402

DECLARATION = re.compile(r"^(?!static|typedef|#|\s|\}|/\*|\*)[^;{}#]*?\b(\w+)\([^;{}]*\)[^;{}]*;",
                         re.MULTILINE | re.DOTALL)
# The life of a handle has fixed verbs, which promise the same everywhere (CONTRIBUTING.md).
LIFECYCLE = re.compile(r"^void\s+\w+_(init|release|free|close|clear)\(struct \w+ \*\w+\);$")


def uncommented(path):
    """A function is commented when a comment stands above it in its paragraph (lines without a blank
    one between), or the paragraph before is nothing but that comment."""
    text, body = source.text(path), source.code(path)
    lines = text.split("\n")
    for match in DECLARATION.finditer(body):
        if LIFECYCLE.match(match.group(0)):
            continue
        number = source.line_of(body, match.start())
        above = []
        for line in reversed(lines[: number - 1]):
            if not line.strip():
                break
            above.append(line)
        if not any("*/" in line or line.lstrip().startswith("//") for line in above):
            yield f"{path}:{number}: {match.group(1)}"


def unguarded(path):
    guard = "ASSAY_" + re.sub(r"\W", "_", str(path.relative_to("src"))).upper()
    body = source.text(path)
    if f"#ifndef {guard}\n#define {guard}\n" not in body:
        yield f"{path}: {guard}"


def main():
    claims = source.Claims()
    headers = source.files("*.h", below="src/")
    claims.claim("every function in a header says what it promises",
                 (offence for path in headers for offence in uncommented(path)))
    claims.claim("every header has a guard named after its path",
                 (offence for path in headers for offence in unguarded(path)))
    claims.end()


if __name__ == "__main__":
    main()
