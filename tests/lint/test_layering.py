#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Folders include each other only as the one table in CMakeLists.txt says, and it has no circle."""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
import source  # noqa: E402

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def table():
    rows = re.findall(r"^assay_folder\(([^)]*)\)", source.text(Path("CMakeLists.txt")), re.MULTILINE)
    return {row.split()[0]: row.split()[1:] for row in rows}


def in_table_order(allowed):
    """A row may name only rows above it: so there can be no circle."""
    above = set()
    for folder, others in allowed.items():
        for other in others:
            if other not in above:
                yield f"{folder} names {other}, which does not stand above it"
        above.add(folder)


def wrong_includes(allowed):
    for path in source.files("*.c", "*.h", "*.S", below="src/"):
        folder = path.parts[1]
        for match in INCLUDE.finditer(source.text(path)):
            where = f"{path}:{source.line_of(source.text(path), match.start())}"
            other = match.group(1).split("/")[0]
            if "/" not in match.group(1):
                yield f"{where}: \"{match.group(1)}\" does not name its folder"
            elif other != folder and other not in allowed.get(folder, []):
                yield f"{where}: {folder} may not include {match.group(1)}"
            elif not (source.ROOT / "src" / match.group(1)).exists():
                yield f"{where}: there is no src/{match.group(1)}"


def main():
    claims = source.Claims()
    allowed = table()
    folders = {path.parts[1] for path in source.files(below="src/") if len(path.parts) > 2}
    claims.claim("every folder of src stands in the table of CMakeLists.txt",
                 sorted(folders - allowed.keys()))
    claims.claim("the table has no circle", in_table_order(allowed))
    claims.claim("folders include only what the table allows them", wrong_includes(allowed))
    claims.claim("nothing includes cli", [folder for folder, others in allowed.items() if "cli" in others])
    claims.end()


if __name__ == "__main__":
    main()
