#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Headers say what their functions promise, and carry include guards named after their path."""

import re
import sys

sys.dont_write_bytecode = True
import source  # noqa: E402

DECLARATION = re.compile(r"^(?!static|_Static|typedef|#|\s|\}|/\*|\*)[^;{}#]*?\b(\w+)\([^;{}]*\)[^;{}]*;",
                         re.MULTILINE | re.DOTALL)
# The life of a handle has fixed verbs, which promise the same everywhere (CONTRIBUTING.md).
LIFECYCLE = re.compile(r"^void\s+\w+_(init|release|free|close|clear)\(struct \w+ \*\w+\);$")

NO_CONSTRUCT = re.compile(r"^\s*#.*$|^(struct|enum) \w+;$", re.MULTILINE)


def uncommented(path):
    """A function is commented when between it and the comment above stand other functions at most:
    a comment may speak for a group, and the file's head for a header of functions alone."""
    text, body = source.text(path), source.code(path)
    comment_ends = [match.end() for match in re.finditer(r"\*/", text)]
    declarations = list(DECLARATION.finditer(body))
    for match in declarations:
        comment = max((end for end in comment_ends if end <= match.start()), default=0)
        between = body[comment:match.start()]
        for other in declarations:
            between = between.replace(other.group(0), "")
        between = NO_CONSTRUCT.sub("", between)
        if (between.strip() or not comment) and not LIFECYCLE.match(match.group(0)):
            yield f"{path}:{source.line_of(body, match.start())}: {match.group(1)}"


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
