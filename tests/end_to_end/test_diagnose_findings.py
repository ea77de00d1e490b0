#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: timeout=900
"""Each finding has a recording that raises it and one, close to it, that does not; and docs/findings.md,
the program and these recordings know of the same codes. The recordings: tests/data/findings/recipes.py."""

import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

SOURCE = os.environ.get("ASSAY_SOURCE", ".")
ASSAY = os.environ.get("ASSAY", "build/assay")
sys.path.insert(0, os.path.join(SOURCE, "tests", "end_to_end"))
sys.path.insert(0, os.path.join(SOURCE, "tests", "data", "findings"))

import recipes  # noqa: E402
from synthetic import Scene  # noqa: E402

# Codes whose finding is always there in one form; what the recording raises is the stronger one.
STRONGER = {"skid-precision": "warning"}
# Findings of names, which the report makes.
OTHERS = {"symbols-missing", "symbols-unverified", "symbols-stacks"}

count = 0
failed = 0


def check(ok, claim, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {count} - {claim}")
    if not ok:
        for line in str(detail).splitlines()[:30]:
            print("#", line)
    sys.stdout.flush()


def diagnose(path):
    done = subprocess.run([ASSAY, "diagnose", "--json", path], capture_output=True, text=True, timeout=300)
    if done.returncode:
        return [], f"exit {done.returncode}: {done.stderr}"
    return json.loads(done.stdout)["findings"], ""


def made(key):
    code, verdict = key
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(seed=len(code))
        path = recipes.RECIPES[key](scene, folder) or scene.write(os.path.join(folder, "scene.assay"))
        findings, error = diagnose(path)
    return key, findings, error


def codes_of_program():
    with open(os.path.join(SOURCE, "src", "diagnose", "finding_code.h"), encoding="utf-8") as file:
        return re.findall(r'#define CODE_\w+\s+"([a-z-]+)"', file.read())


def check_recording(key, findings, error):
    code, verdict = key[0].split(":")[0], key[1]
    variant = key[0].partition(":")[2]
    source = {"": "", "marks": " (by marks)"}.get(variant, f" ({variant} alone)")
    wanted = STRONGER.get(code)
    found = [f for f in findings if f["code"] == code and (not wanted or f["severity"] == wanted) and
             (variant != "marks" or f["evidence"]["test"] == "marks")]
    if verdict == "has not":
        check(not found and not error, f"{code}: not raised by the recording next to it{source}",
              error or json.dumps(found, indent=1))
        return
    check(bool(found), f"{code}: raised by its recording{source}", error or [f["code"] for f in findings])
    if found:
        first = found[0]
        told = first["text"] and (first["next"] or first["severity"] == "info") and \
            any(value is not None for value in first["evidence"].values())
        check(bool(told), f"{code}: says what it saw, with figures and the next step{source}", json.dumps(first))


def check_docs(codes):
    path = os.path.join(SOURCE, "docs", "findings.md")
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
    except OSError as error:
        check(False, "docs/findings.md is there", error)
        return
    headings = re.findall(r"^### `([a-z-]+)`", text, re.M)
    check(sorted(headings) == sorted(set(codes) | OTHERS), "docs/findings.md has a section for each code and no other",
          f"missing {(set(codes) | OTHERS) - set(headings)}\nunknown {set(headings) - set(codes) - OTHERS}")
    for code in headings:
        body = text.split(f"### `{code}`", 1)[1].split("\n#", 1)[0]
        if "**Raised by**" not in body or "**Not by**" not in body or "**Next**" not in body:
            check(False, f"docs/findings.md: {code} has its recordings and the next step", body)
    for word in set(re.findall(r"tests/[\w/.]+", text)):
        check(os.path.exists(os.path.join(SOURCE, word)), f"docs/findings.md: {word} is there")


def main():
    codes = codes_of_program()
    known = {key[0] for key in recipes.RECIPES}
    check(len(codes) > 30 and all(c in known for c in codes + sorted(OTHERS)), "each code has its two recordings",
          [c for c in codes + sorted(OTHERS) if c not in known])
    check(all((code, verdict) in recipes.RECIPES for code in known for verdict in ("has", "has not")),
          "each recording that raises a finding has one next to it that does not")
    only = sys.argv[1:]
    keys = sorted(key for key in recipes.RECIPES if not only or key[0].split(":")[0] in only)
    with ThreadPoolExecutor(2) as pool:
        for key, findings, error in pool.map(made, keys):
            check_recording(key, findings, error)
    healthy = tempfile.mkdtemp()
    scene = Scene(seed=99)
    scene.machine["hostname"] = os.uname().nodename
    scene.write(os.path.join(healthy, "scene.assay"))
    findings, error = diagnose(os.path.join(healthy, "scene.assay"))
    check(not error and all(f["severity"] == "info" for f in findings), "a healthy recording has no warning",
          error or json.dumps(findings, indent=1))
    check_docs(codes)
    print(f"1..{count}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
