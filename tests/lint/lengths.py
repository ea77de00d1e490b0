#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Reports the lengths of files and functions; the long ones must say why.

A file is about 250 lines and has a reason past 600, a function is about 30 and has one past 80. The
reason stands in the file's head, or in the comment above the function, after the word `length:`. The
kernel layout (a function's braces in column 0) makes counting easy.
"""

import statistics
import sys

sys.dont_write_bytecode = True
import source  # noqa: E402

FILE_LINES, FUNCTION_LINES = 600, 80
HEAD_LINES = 30


def functions(path):
    """(first line, lines, has a reason) of each function."""
    lines, start = source.code(path).split("\n"), None
    text = source.text(path).split("\n")
    for number, line in enumerate(lines):
        if line == "{":
            start = number
        elif line == "}" and start is not None:
            above = " ".join(text[max(0, start - 15):start])
            yield start + 1, number - start + 1, "length:" in above
            start = None


def main():
    sizes, lengths, offences = [], [], []
    for path in source.files("*.c", "*.h", below="src/"):
        text = source.text(path)
        size = text.count("\n")
        sizes.append((size, path))
        if size > FILE_LINES and "length:" not in "\n".join(text.split("\n")[:HEAD_LINES]):
            offences.append(f"{path}: {size} lines and no reason")
        for line, length, reason in functions(path):
            lengths.append((length, f"{path}:{line}"))
            if length > FUNCTION_LINES and not reason:
                offences.append(f"{path}:{line}: a function of {length} lines and no reason")
    for what, values in ("files", sizes), ("functions", lengths):
        if values:
            counts = sorted(value for value, _ in values)
            print(f"{len(counts)} {what}: median {statistics.median(counts):.0f} lines, 90 % up to "
                  f"{counts[len(counts) * 9 // 10]}, longest "
                  + ", ".join(f"{value} ({where})" for value, where in sorted(values)[:-4:-1]))
    print("".join(offence + "\n" for offence in offences), end="")
    return bool(offences)


if __name__ == "__main__":
    sys.exit(main())
