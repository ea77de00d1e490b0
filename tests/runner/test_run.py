#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""tests/run counts right: programs that pass, fail, crash, hang, lie and skip, in a made-up checkout."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

RUN = Path(__file__).resolve().parent.parent / "run"
passed = failed = 0


def claim(text, holds, output=""):
    global passed, failed
    passed, failed = passed + holds, failed + (not holds)
    print(f"{'ok' if holds else 'not ok'} {passed + failed} - {text}")
    if not holds:
        print("\n".join("# " + line for line in output.splitlines()))


def write(path, text, mode=0o644):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)


def run(units=(), scripts=(), arguments=(), env=()):
    """units: shell texts of built unit tests (None: not built); scripts: {name: python text}."""
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        for i, text in enumerate(units):
            write(top / f"tests/unit/x/test_{i}.c", "")
            if text is not None:
                write(top / f"build/tests/unit/x_test_{i}", "#!/bin/sh\n" + text, 0o755)
        for script, text in dict(scripts).items():
            write(top / "tests/end_to_end" / script, text)
        command = [RUN, "--checkout", ".", "--build", "build", *arguments]
        outer = {key: value for key, value in os.environ.items() if not key.startswith("ASSAY")}
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              cwd=top, timeout=100, check=False, env={**outer, "LONG": "0", **dict(env)})
    lines = done.stdout.rstrip("\n").splitlines() or [""]
    return done.returncode, lines[-1], done.stdout + done.stderr


def counted(text, expected, code, *units, **more):
    result = run(units, **more)
    claim(text, result[:2] == (code, expected), f"{result[0]}, {result[1]!r}\n{result[2]}")
    return result[2]


def plain_programs():
    counted("passed tests are counted over programs", "3 passed, 0 failed", 0,
            "echo 1..2; echo ok 1 - a; echo ok 2 - b", "echo 1..1; echo ok 1 - c")
    text = counted("a failed test fails the run", "1 passed, 1 failed", 1,
                   "echo 1..2; echo ok 1 - a; echo not ok 2 - b; echo '# x != y'; exit 1")
    claim("what a failed test printed is shown", "      # x != y" in text, text)
    claim("failures and the beginning of their evidence are repeated right before the closing line",
          text.split("\n")[-6:-1] == ["failed:", "  unit/x/test_0: b", "      x != y", "", "1 passed, 1 failed"], text)
    text = counted("a skip is counted and its reason is shown", "1 passed, 0 failed, 1 skipped", 0,
                   "echo 1..2; echo ok 1 - a; echo 'ok 2 - b # SKIP no pmu'")
    claim("the reason of a skip is shown", "1 x no pmu" in text, text)
    counted("cmocka's form of a skip is understood", "1 passed, 0 failed, 1 skipped", 0,
            "echo 1..2; echo ok 1 - a; echo '# SKIP no pmu'; echo 'not ok 2 # SKIP b'")
    counted("a second group of cmocka tests is counted", "3 passed, 0 failed", 0,
            "echo 1..1; echo ok 1 - a; echo 1..2; echo ok 1 - b; echo ok 2 - c")


def lies():
    counted("a skip without a reason fails", "1 passed, 1 failed", 1,
            "echo 1..2; echo ok 1 - a; echo 'not ok 2 # SKIP b'")
    counted("a reason does not serve two skips", "0 passed, 1 failed, 1 skipped", 1,
            "echo 1..2; echo '# SKIP no pmu'; echo 'not ok 1 # SKIP a'; echo 'not ok 2 # SKIP b'")
    counted("a program that dies by a signal fails", "1 passed, 1 failed", 1,
            "echo 1..2; echo ok 1 - a; kill -SEGV $$")
    counted("a program that ends early with 0 fails", "1 passed, 1 failed", 1,
            "echo 1..2; echo ok 1 - a")
    counted("more tests than planned fail", "2 passed, 1 failed", 1,
            "echo 1..1; echo ok 1 - a; echo ok 2 - b")
    counted("numbers out of order fail", "2 passed, 1 failed", 1,
            "echo 1..2; echo ok 2 - a; echo ok 1 - b")
    counted("an exit code that no test explains fails", "1 passed, 1 failed", 1,
            "echo 1..1; echo ok 1 - a; exit 3")
    counted("a failure that the exit code hides fails all the same", "0 passed, 2 failed", 1,
            "echo 1..1; echo not ok 1 - a")
    counted("a unit test without a plan fails", "1 passed, 1 failed", 1, "echo ok 1 - a")
    counted("a program without tests fails", "0 passed, 1 failed", 1, "echo 1..0")
    counted("a test that was not built fails", "0 passed, 1 failed", 1, None)
    counted("no test at all is a failure", "0 passed, 0 failed", 1)


SCRIPT = "import os\nprint('ok 1 - a' if {} else 'not ok 1 - a')\n"


def scripts():
    counted("an end-to-end test needs no plan", "1 passed, 0 failed", 0,
            scripts={"test_a.py": SCRIPT.format("True")})
    counted("an end-to-end test sees the program and an empty directory", "1 passed, 0 failed", 0,
            scripts={"test_a.py": SCRIPT.format(
                "os.environ['ASSAY'].endswith('build/assay') and not os.listdir('.')")})
    text = counted("a traceback fails and is shown", "1 passed, 1 failed", 1,
                   scripts={"test_a.py": "print('ok 1 - a', flush=True)\nraise KeyError('why')\n"})
    claim("standard error of a failed program is shown", "    | KeyError: 'why'" in text, text)
    claim("and its end is repeated before the closing line",
          "KeyError: 'why'" in text.split("failed:\n")[-1], text)
    # Python starts in some 20 ms; on a machine a hundred times as slow the claim still holds
    counted("a program that hangs is ended and fails", "1 passed, 1 failed", 1,
            scripts={"test_a.py": "# runner: timeout=3\nimport time\nprint('ok 1 - a', flush=True)\n"
                                  "time.sleep(60)\n"})
    long = {"test_a.py": SCRIPT.format("True"), "test_b.py": "# runner: long\nprint('ok 1 - b')\n",
            "test_c_long.py": "print('ok 1 - c')\n"}
    counted("long tests wait for their verb", "1 passed, 0 failed", 0, scripts=long)
    counted("long tests run in theirs", "3 passed, 0 failed", 0, scripts=long, env={"LONG": "1"})
    counted("-k chooses by name", "1 passed, 0 failed", 0, "echo 1..1; echo not ok 1 - x",
            scripts={"test_a.py": SCRIPT.format("True")}, arguments=["-k", "test_a"])
    counted("tests that sanitizers would distort are left out of their run", "1 passed, 0 failed", 0,
            scripts={"test_a.py": SCRIPT.format("True"), "test_b.py": "# runner: no-sanitizer\n"},
            arguments=["--sanitizer"])


if __name__ == "__main__":
    plain_programs()
    lies()
    scripts()
    print(f"1..{passed + failed}")
    sys.exit(failed > 0)
