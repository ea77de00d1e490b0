# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of `assay probe` share: programs that count themselves, runs, and what came of them."""
import json
import mmap
import os
import platform
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

from recording import ASSAY, SOURCE, claim, finish, run, skip  # noqa: F401

X86_64 = platform.machine() == "x86_64"
PREBUILT = os.environ.get("ASSAY_PREBUILT")
DATA = os.path.join(SOURCE, "tests", "data", "probe")


def require_engine():
    """Ends the test where nobody may use the engine."""
    out = run(ASSAY, "probe", "--mode", "count", "-f", "true!main", "--", "/bin/true")
    if "may not trace" in out.err:
        skip("probes", "this user may not trace processes")
        finish()


def program_compiler():
    """Probed programs say with attributes of gcc (noipa, noclone) what must stay a function; other compilers
    ignore them, inline, and leave nothing to probe."""
    return "gcc" if shutil.which("gcc") else os.environ.get("CC", "cc")


def build(name, *flags, compiler=None, output=None):
    """Compiles tests/data/probe/NAME, or takes it from the folder of those that are compiled already (the
    emulated machine has no compiler), whatever the flags."""
    if PREBUILT:
        return os.path.join(PREBUILT, name)
    folder = os.path.join(DATA, name)
    sources = sorted(os.path.join(folder, file) for file in os.listdir(folder))
    cxx = any(file.endswith(".cc") for file in sources)
    compiler = compiler or ("g++" if cxx else program_compiler())
    out = os.path.abspath(output or name)
    flags = flags or ("-O2",)
    subprocess.run([compiler, *flags, "-o", out, *sources], check=True, stderr=subprocess.DEVNULL)
    return out


class Probed:
    """A finished `assay probe --json`: the target's output, and rows by name."""

    def __init__(self, done, path):
        self.code, self.out, self.err = done.code, done.out, done.err
        self.document = None
        try:
            with open(path, encoding="utf-8") as file:
                self.document = json.load(file)
        except (OSError, ValueError):
            pass
        self.rows = {}
        for row in (self.document or {}).get("functions", []):
            self.rows.setdefault(re.sub(r"\(.*", "", row["name"]), row)

    def calls(self, name):
        return self.rows.get(name, {}).get("calls")

    def state(self, name):
        return self.rows.get(name, {}).get("state")

    def __str__(self):
        rows = ["%s: %s" % (name, {key: row[key] for key in row if key != "distribution"})
                for name, row in self.rows.items()]
        return "exit %s\n%s\n%s\n%s" % (self.code, self.out, self.err, "\n".join(rows))


def probe(*words, functions=(), mode="count", timeout=120, options=()):
    """assay probe --json with -f for each function, on a command or -p PID."""
    path = "probe.json"
    if os.path.exists(path):
        os.unlink(path)
    wanted = [word for function in functions for word in ("-f", function)]
    done = run(ASSAY, "probe", "--json", "-o", path, "--mode", mode, *wanted, *options, *words,
               timeout=timeout)
    return Probed(done, path)


def number(text, key):
    """KEY=NUMBER in what a program printed."""
    match = re.search(r"\b%s=(\d+)" % re.escape(key), text)
    return int(match.group(1)) if match else None


def start(*command):
    """A target to attach to, running already."""
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    process.stdout.readline()
    return process


def text_is_the_files(pid, program):
    """The executable part of the main program, in memory and in the file."""
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps, \
            open("/proc/%d/mem" % pid, "rb") as memory, open(program, "rb") as file:
        for line in maps:
            words = line.split()
            if len(words) > 5 and words[5] == program and "x" in words[1]:
                low, high = (int(word, 16) for word in words[0].split("-"))
                memory.seek(low)
                file.seek(int(words[2], 16))
                live = memory.read(high - low)
                wanted = file.read(high - low)
                return live[:len(wanted)] == wanted
    return False


def buffers_of(assay):
    """The first page of the buffers of a running assay once its probes are on: their first word, its thread id,
    enables them. None when they never are."""
    for _ in range(2400):
        if assay.poll() is not None:
            return None
        try:
            with open("/proc/%d/maps" % assay.pid, encoding="utf-8") as maps:
                ranges = [line.split()[0] for line in maps if "/memfd:assay-probe" in line]
            for one in ranges:
                # what is mapped of the file is its beginning (proc(5), map_files: addresses without leading zeros)
                path = "/proc/%d/map_files/%s" % (assay.pid, "-".join(end.lstrip("0") for end in one.split("-")))
                with open(path, "r+b") as file:
                    buffers = mmap.mmap(file.fileno(), 4096)
                if struct.unpack_from("<I", buffers)[0] == assay.pid:
                    return buffers
                buffers.close()
        except (OSError, ValueError):
            pass  # mappings come and go
        time.sleep(0.05)
    return None


def exact_or_refused(probed, name, expected, text):
    """Counted exactly, or refused by name."""
    if probed.state(name) == "refused":
        claim(bool(probed.rows[name].get("reason")), text + " (refused)", probed)
    else:
        claim(expected is not None and probed.calls(name) == expected, text,
              "%s: wanted %s\n%s" % (name, expected, probed))


__all__ = ["ASSAY", "Probed", "X86_64", "buffers_of", "build", "claim", "exact_or_refused", "finish", "number",
           "probe", "require_engine", "run", "signal", "skip", "start", "sys", "text_is_the_files",
           "time"]
