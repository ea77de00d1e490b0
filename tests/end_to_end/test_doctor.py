#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""assay doctor: every check has a state and, where something is in the way, its fix; for root, for a user
without privileges, and in a user namespace as in a rootless container. What it says can be done is done."""
import json
import os
import shutil
import subprocess

from recording import ASSAY, claim, finish, skip

NOBODY = 65534
CHECKS = {"container", "capabilities", "paranoid", "cpu-clock", "pmu", "precise", "per-cpu", "cgroup",
          "sample-rate", "ring-memory", "open-files", "stack-depth", "tracefs", "uprobes", "ptrace",
          "kernel-symbols", "user-symbols", "cpus", "clocksource", "frequency", "virtual"}


def doctor(prefix, *options):
    return subprocess.run([*prefix, ASSAY, "doctor", *options], capture_output=True, text=True, cwd="/")


def examine(prefix, who):
    done = doctor(prefix, "--json")
    if done.returncode:
        claim(False, f"{who}: is examined", done.stderr)
        return {}
    told = json.loads(done.stdout)
    checks = {check["name"]: check for check in told["checks"]}
    claim(told["schema"] == "assay.doctor/1" and CHECKS <= set(checks), f"{who}: every check is there",
          CHECKS - set(checks))
    claim(all(c["state"] in ("ok", "limited", "blocked") and c["text"] for c in checks.values()),
          f"{who}: each has a state and says what was seen", told)
    claim(all(bool(c["fix"]) == (c["state"] != "ok") for c in checks.values()),
          f"{who}: each that is not ok has a fix, the others none",
          [c for c in checks.values() if bool(c["fix"]) != (c["state"] != "ok")])
    text = doctor(prefix).stdout
    claim(all(name in text for name in checks) and told["command"] in text, f"{who}: the text says the same", text)
    return {"checks": checks, "command": told["command"]}


def recommended(prefix, told, who, folder):
    """The recommended command records."""
    words = told["command"].split()
    if not words:
        claim(told["checks"]["cpu-clock"]["state"] == "blocked", f"{who}: nothing is recommended, and why", told)
        return
    # a rate, since a budget of 1 % needs long for a few samples
    command = [ASSAY, words[1], "-o", os.path.join(folder, "out"), "-F", "200",
               *words[2:words.index("--")], "--", "/bin/sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done"]
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, cwd=folder)
    claim(words[0] == "assay" and done.returncode == 0 and " samples" in done.stderr,
          f"{who}: the recommended command records", (command, done))


def main():
    here = os.getcwd()
    told = examine([], "this user")
    if told:
        recommended([], told, "this user", here)
    if os.geteuid() or not shutil.which("setpriv"):
        skip("a user without privileges", "needs root to become one")
    else:
        nobody = ["setpriv", "--reuid", str(NOBODY), "--regid", str(NOBODY), "--clear-groups"]
        if subprocess.run([*nobody, ASSAY, "--version"], capture_output=True, cwd="/").returncode not in (0, 2):
            skip("a user without privileges", "nobody cannot reach the program under test here")
        else:
            folder = os.path.join(here, "nobody")
            os.makedirs(folder, exist_ok=True)
            os.chmod(here, 0o755)
            os.chown(folder, NOBODY, NOBODY)
            told = examine(nobody, "nobody")
            if told:
                recommended(nobody, told, "nobody", folder)
                claim(told["checks"]["capabilities"]["state"] == "limited",
                      "nobody: told that capabilities are missing", told["checks"]["capabilities"])
    space = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--mount-proc"]
    if not shutil.which("unshare") or subprocess.run([*space, "true"], capture_output=True).returncode:
        skip("root of a user namespace", "user namespaces cannot be made here")
    else:
        told = examine(space, "root of a user namespace")
        if told:
            text = told["checks"]["capabilities"]["text"]
            claim("user namespace" in text or told["checks"]["per-cpu"]["state"] == "ok",
                  "root of a user namespace: its capabilities are not taken for real ones", text)
    finish()


if __name__ == "__main__":
    main()
