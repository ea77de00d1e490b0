#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Libraries that are opened while probes are on, against their own counts."""
# runner: timeout=300
import os
import shutil
import subprocess

from probing import ASSAY, PREBUILT, X86_64, build, claim, finish, require_engine, run, skip
from recording import wait_for
from test_probe_processes import Probing, Service, start_of, text_is_the_files

MODES = ("count", "time", "trace", "state")
LOOP_MS = 60000 if os.environ.get("LONG") == "1" else 5000
FUNCTIONS = ("opened*!opened_*",)


class Opened:
    """tests/data/probe/opens under probes that name a library of tests/data/probe/opened alone."""

    def __init__(self, programs, *options, mode="count"):
        self.library = programs[1]
        self.service = Service(programs[0])
        self.pid = self.service.pid
        self.probing = Probing([self.pid], *options, functions=FUNCTIONS, mode=mode)
        self.probing.wait_until_on([self.pid])

    def tell(self, words):
        return self.service.tell(words)

    def open(self):
        return self.tell("open " + self.library)

    def wait_until_probed(self):
        """The library's text in memory is no longer the file's."""
        wait_for(lambda: self.probing.process.poll() is not None or
                 (start_of(self.pid, self.library) and not text_is_the_files(self.pid, self.library)))
        return self.probing.process.poll() is None and not text_is_the_files(self.pid, self.library)

    def counts(self):
        """The library's own: calls of opened_outer, opened_inner, opened_at_start."""
        words = self.tell("call 0").split()
        return [int(word) for word in words[1:]] if words[0] == "called" else words

    def end(self):
        self.probing.end()
        return self.service.end()

    def row(self, name):
        rows = [row for row in self.probing.document.get("functions", []) if row["name"] == name]
        return rows[0] if len(rows) == 1 else {"rows": rows}


def arrives(programs, mode):
    """Calls from the moment of probing on are counted, and the row says when that was."""
    opened = Opened(programs, mode=mode)
    opened.open()
    claim(opened.wait_until_probed(), "a library that is opened later is probed, " + mode, opened.probing)
    before = opened.counts()
    opened.tell("call 500")
    after = opened.counts()
    claim(opened.end() == (0, "OK"), "the program ends well, " + mode)
    claim(text_is_gone_or_restored(opened), "and nothing stays patched, " + mode)
    probing = opened.probing
    claim(after[0] - before[0] == 500 and probing.calls("opened_outer") == 500 and
          probing.calls("opened_inner") == 1000, "calls from then on are exact, " + mode, probing)
    row = opened.row("opened_outer")
    claim(row.get("late") is True and 0 < row.get("since_ns", 0) < probing.document["duration_ns"] and
          row.get("gaps") == 0 and row.get("state") == "probed", "the row says since when, " + mode, row)
    if mode == "trace":
        edges = [(edge["caller"], edge["callee"], edge["calls"]) for edge in probing.document["edges"]]
        claim(("opened_outer", "opened_inner", 1000) in edges, "callers are known, too", edges)
    footprint = probing.document["footprint"]
    claim(3 <= footprint["slots_used"] <= footprint["slots"] and footprint["buffer_bytes"] <= 16 << 20,
          "slots are spare ones, within the bound, " + mode, footprint)


def text_is_gone_or_restored(opened):
    return not os.path.exists("/proc/%d" % opened.pid) or text_is_the_files(opened.pid, opened.library)


def returns(programs, elsewhere, mode):
    """Closed, and opened again: the same rows."""
    text = ("elsewhere, " if elsewhere else "wherever the loader likes, ") + mode
    opened = Opened(programs, mode=mode)
    first = opened.open()
    opened.wait_until_probed()
    opened.tell("call 100")
    closed = opened.tell("close")
    if elsewhere:
        claim(opened.tell("block") == "blocked", "its address is taken, " + mode)
    second = opened.open()
    claim(closed == "closed" and (first != second or not elsewhere), "it comes back " + text,
          (closed, first, second))
    claim(opened.wait_until_probed(), "it is probed again " + text, opened.probing)
    opened.tell("call 70")
    claim(opened.tell("close") == "closed", "it can be closed " + text)
    opened.probing.end()
    claim(opened.service.end() == (0, "OK"), "the program ends well, " + text)
    claim(opened.probing.calls("opened_outer") == 170 and opened.probing.calls("opened_inner") == 340 and
          opened.row("opened_outer").get("gaps") == 1, "into the same row, which says so, " + text,
          opened.probing)


def other_file(programs):
    """Another library under the same name is another module."""
    library = os.path.abspath("opened-copy.so")
    shutil.copy(programs[1], library)
    opened = Opened((programs[0], library))
    opened.open()
    opened.wait_until_probed()
    opened.tell("call 10")
    opened.tell("close")
    os.unlink(library)
    shutil.copy(programs[1], library)
    with open(library, "ab") as file:
        file.write(b"another")
    opened.open()
    claim(opened.wait_until_probed(), "a file that has replaced it is probed, too", opened.probing)
    opened.tell("call 7")
    opened.end()
    rows = [row["calls"] for row in opened.probing.document["functions"] if row["name"] == "opened_outer"]
    claim(sorted(rows) == [7, 10], "in rows of its own", opened.probing)


def killed(programs):
    """assay is killed: the library's text is put back, and it can be probed again."""
    opened = Opened(programs)
    opened.open()
    opened.wait_until_probed()
    opened.tell("call 5")
    opened.probing.process.kill()
    opened.probing.process.communicate()
    claim(wait_for(lambda: text_is_the_files(opened.pid, opened.library)),
          "assay is killed: the library that came later is put right")
    claim(opened.tell("call 5").startswith("called 10 "), "and works")
    regions = mapped_by_assay(opened.pid)
    opened.probing = Probing([opened.pid], functions=FUNCTIONS)
    claim(opened.probing.wait_until_on([opened.pid]), "it can be probed again", opened.probing)
    opened.tell("call 9")
    claim(mapped_by_assay(opened.pid) == regions, "in what was mapped the first time", regions)
    claim(opened.end() == (0, "OK") and opened.probing.calls("opened_outer") == 9, "exactly",
          opened.probing)


def mapped_by_assay(pid):
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        return sum("memfd:assay-probe" in line for line in maps)


def loop(programs):
    """Opened and closed without end while eight threads call it."""
    opened = Opened(programs)
    words = opened.tell("loop %d %s" % (LOOP_MS, opened.library)).split()
    alive = opened.probing.process.poll() is None
    claim(opened.end() == (0, "OK"), "a program that opens and closes all the time ends well")
    claim(alive and words[0] == "looped" and int(words[1]) > 3 and words[3] == "0",
          "its results are right", words)
    row = opened.row("opened_outer")
    claim(0 < row.get("calls", 0) <= int(words[2]), "calls are counted, never too many", (words, row))
    claim(row.get("gaps", 0) > 0, "it was probed again and again", row)


def full(programs):
    """Where no slot is left functions are refused by name, and the program runs on."""
    opened = Opened(programs, "--buffer", "64k", mode="time")
    opened.open()
    told = [opened.probing.process.stdout.readline() for _ in range(2)]
    claim("0 of its functions" in told[-1], "without room in the buffers none is probed", told)
    opened.tell("call 3")
    opened.end()
    row = opened.row("opened_outer")
    claim(row.get("state") == "refused" and row.get("reason") == "no-slot",
          "and the reason is no-slot", row)


def relocated(programs):
    """A library into whose code the loader writes, perhaps after it was seen: left alone."""
    library = build("opened", "-O2", "-shared", "-fno-pic", "-mcmodel=large", "-Wl,-z,notext",
                    output="opened-notext.so")
    opened = Opened((programs[0], library))
    opened.open()
    told = [opened.probing.process.stdout.readline() for _ in range(2)]
    claim("0 of its functions" in told[-1] and text_has_relocations(library),
          "a library whose code the loader relocates is left alone", told)
    claim(opened.tell("call 6") == "called 6 12 1", "and works")
    opened.end()
    row = opened.row("opened_outer")
    claim(row.get("state") == "refused" and row.get("reason") == "changed", "the reason is changed", row)


def text_has_relocations(library):
    out = subprocess.run(["readelf", "-d", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    return "TEXTREL" in out


def nothing():
    done = run(ASSAY, "probe", "-f", "nosuch*.so!*", "--", "/bin/true")
    claim(done.code == 1 and "waiting" in done.err and "no module" in done.err,
          "a library that never comes is a failure at the end", done)
    done = run(ASSAY, "probe", "--dry-run", "-f", "nosuch*.so!*", "--", "/bin/true")
    claim(done.code == 1 and "waiting" not in done.err, "a dry run does not wait", done)
    done = run(ASSAY, "probe", "-f", "nosuch", "--", "/bin/true")
    claim(done.code == 1 and "waiting" not in done.err, "nor does a name without a module", done)


SCRIPT = """
import sys
print('here', flush=True)
sys.stdin.readline()
import sqlite3
print(sqlite3.__file__, flush=True)
sys.stdin.readline()
db = sqlite3.connect(':memory:')
for i in range(50):
    db.execute('select %d' % i).fetchall()
print('done', flush=True)
sys.stdin.readline()
"""


def python_imports(mode):
    """Debian's sqlite comes with an import."""
    program = subprocess.Popen(["/usr/bin/python3", "-c", SCRIPT], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    program.stdout.readline()
    probing = Probing([program.pid], "--buffer", "64M", functions=["libsqlite3*!*"], mode=mode)
    probing.wait_until_on([program.pid])
    program.stdin.write("\n")
    program.stdin.flush()
    program.stdout.readline()
    library = sqlite_of(program.pid)
    wait_for(lambda: not text_is_the_files(program.pid, library))
    claim(not text_is_the_files(program.pid, library), "python imports sqlite: it is probed, " + mode,
          probing)
    program.stdin.write("\n")
    program.stdin.flush()
    claim(program.stdout.readline() == "done\n", "and works, " + mode)
    probing.end()
    program.communicate("\n", timeout=60)
    claim(program.returncode == 0, "python ends well, " + mode)
    claim(probing.calls("sqlite3_prepare_v2") >= 50, "statements are counted, " + mode,
          [row for row in probing.document.get("functions", []) if row.get("calls")][:20])
    rows = probing.document.get("functions", [])
    refused = [row["name"] for row in rows if row["state"] == "refused"]
    claim(len(rows) > 2000 and len(refused) < len(rows) / 50, "nearly all functions, " + mode,
          (len(rows), refused[:20]))


def sqlite_of(pid):
    with open("/proc/%d/maps" % pid, encoding="utf-8") as maps:
        return [line.split()[5] for line in maps if "libsqlite3" in line][0]


def main():
    require_engine()
    programs = (build("opens", "-O2", "-pthread"), build("opened", "-O2", "-shared", "-fPIC"))
    for mode in MODES:
        arrives(programs, mode)
    for mode in ("count", "time"):
        returns(programs, False, mode)
        returns(programs, True, mode)
    other_file(programs)
    killed(programs)
    full(programs)
    nothing()
    loop(programs)
    if PREBUILT:
        skip("python's sqlite, a library with relocated code", "the emulated machine has neither")
    else:
        if X86_64:
            relocated(programs)
        for mode in ("count", "time"):
            python_imports(mode)
    finish()


if __name__ == "__main__":
    main()
