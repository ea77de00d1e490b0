# SPDX-License-Identifier: GPL-3.0-or-later
"""The project's own files, and C text without what is no code, for the checks in this folder."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

_NO_CODE = re.compile(
    r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
_OURS = (".ci", ".clang-format", ".editorconfig", "CMakeLists.txt", "Makefile", "README.md", "DESIGN.md",
         "CONTRIBUTING.md", "bench", "cmake", "docs", "include", "src", "tests", "tools")


def files(*patterns, below=""):
    """Paths relative to the root, sorted: what git has or would add, else (no git) what lies there."""
    git = subprocess.run(["git", "-c", f"safe.directory={ROOT}", "-C", str(ROOT), "ls-files", "-z",
                          "--cached", "--others", "--exclude-standard"],
                         capture_output=True, check=False)
    if git.returncode == 0:
        found = [Path(name) for name in git.stdout.decode().split("\0") if name]
    else:
        found = [path.relative_to(ROOT) for top in _OURS for path in
                 [ROOT / top, *(ROOT / top).rglob("*")] if path.is_file()]
    return sorted(path for path in found if (ROOT / path).is_file()
                  and str(path).startswith(below)
                  and (not patterns or any(path.match(pattern) for pattern in patterns)))


def text(path):
    return (ROOT / path).read_text(encoding="utf-8", errors="replace")


def code(path):
    """The file's text with comments and literals blanked, so that lines keep their numbers."""
    def blank(match):
        word = match.group(0)
        if word[0] in "\"'":
            return word[0] + " " * (len(word) - 2) + word[0]
        return re.sub(r"[^\n]", " ", word)
    return _NO_CODE.sub(blank, text(path))


def line_of(body, position):
    return body.count("\n", 0, position) + 1


class Claims:
    """Prints TAP. Each claim is given with the places that break it; none is good."""

    def __init__(self):
        self.count = self.failed = 0

    def claim(self, sentence, offences):
        offences = list(offences)
        self.count += 1
        self.failed += bool(offences)
        print(f"{'not ok' if offences else 'ok'} {self.count} - {sentence}")
        for offence in offences[:50]:
            print(f"# {offence}")
        if len(offences) > 50:
            print(f"# and {len(offences) - 50} more")

    def end(self):
        print(f"1..{self.count}")
        sys.exit(self.failed > 0)
