#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tools/install-packages asks nothing and does what it says, seen through a made-up apt-get."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent.parent / "tools"
DPKG_QUERY = '#!/bin/sh\nfor name in $PRESENT; do echo "ii  $name"; done\n'
APT_GET = """#!/bin/sh
echo "$*" >>"$CALLS"
case "$*" in *update*) : >"$CALLS.updated"; exit 0 ;; esac
[ "$APT" = good ] && exit 0
[ "$APT" = stale ] && [ -e "$CALLS.updated" ] && exit 0
echo "E: 404 Not Found" >&2
exit 100
"""
count = failed = 0


def claim(text, holds, output):
    global count, failed
    count, failed = count + 1, failed + (not holds)
    print(f"{'ok' if holds else 'not ok'} {count} - {text}")
    if not holds:
        print("\n".join("# " + line for line in output.splitlines()))


def install(present, apt, root=True, deps=""):
    """Runs it on the list `a b # why`; gives exit code, its output, the calls of apt-get."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (top / "deps").mkdir()
        (top / "deps/list.txt").write_text("# which\na-package  why\nb-package  why # not\n")
        (top / "install-packages").write_bytes((TOOLS / "install-packages").read_bytes())
        for program, text in {"dpkg-query": DPKG_QUERY, "apt-get": APT_GET,
                              "id": f"#!/bin/sh\necho {0 if root else 1000}\n"}.items():
            (top / program).write_text(text)
            (top / program).chmod(0o755)
        env = dict(os.environ, PATH=f"{top}:/usr/bin:/bin", CALLS=str(top / "calls"), APT=apt, DEPS=deps,
                   PRESENT=" ".join(present))
        done = subprocess.run(["sh", top / "install-packages", "list"], env=env, capture_output=True,
                              text=True, stdin=subprocess.DEVNULL, timeout=30, check=False)
        calls = (top / "calls").read_text().splitlines() if (top / "calls").exists() else []
    return done.returncode, done.stdout + done.stderr, calls


def main():
    both = ["a-package", "b-package"]
    code, text, calls = install(both, "good")
    claim("what is there is passed over in silence", (code, text, calls) == (0, "", []), text)
    code, text, calls = install(["a-package"], "good")
    claim("what is missing is installed by name, in one call, and said in one line",
          code == 0 and len(calls) == 1 and calls[0].endswith(" b-package")
          and text.count("\n") == 1 and "installing b-package" in text, f"{code} {text} {calls}")
    claim("no recommended package comes along, and no question",
          "--no-install-recommends" in calls[0] and "-y" in calls[0].split(), calls[0])
    code, text, calls = install([], "stale")
    claim("stale lists are fetched once and the call repeated",
          code == 0 and len(calls) == 3 and calls[1].split()[0] == "update", f"{code} {calls}")
    code, text, calls = install([], "bad")
    claim("a failure is told with apt-get's own words", code == 1 and "404 Not Found" in text
          and len(calls) == 3, f"{code} {text} {calls}")
    code, text, calls = install([], "good", root=False)
    claim("without root it says what to install and installs nothing",
          code == 1 and "a-package b-package" in text and not calls, f"{code} {text}")
    code, text, calls = install([], "good", deps="no")
    claim("DEPS=no does nothing", (code, text, calls) == (0, "", []), text)
    print(f"1..{count}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
