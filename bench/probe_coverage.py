#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Which share of the functions of real programs can be probed, and which share of the calls the others hold.

    bench/probe_coverage.py            the table of docs/probes.md
    bench/probe_coverage.py --calls    calls, counted by valgrind (callgrind)

Functions are counted as code_survey does: with an exit, named or not, in mode `time`; redis-server and node as in a
process that handles SIGSEGV, since both do.

Calls are executions of a function's first instruction, which callgrind counts per address: no names are needed, and
functions without any are counted like all others. A loop back to the own start counts as a call.
"""
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

BUILD = Path(os.environ.get("ASSAY_BUILD", "build"))
SURVEY = BUILD / "tests" / "code_survey"
LIBRARIES = "/usr/lib/x86_64-linux-gnu"
FILES = [[f"{LIBRARIES}/libpython3.11.so.1.0"], [f"{LIBRARIES}/libsqlite3.so.0"],
         ["--faults", "/usr/bin/redis-server"], ["--faults", "/usr/bin/node"],
         ["/lib/x86_64-linux-gnu/libc.so.6"], ["/usr/bin/python3.11"]]

PYTHON = r"""
import hashlib, json, re, sqlite3, zlib
d = bytes((i * i * 7 + i // 3) % 251 for i in range(20000))
for level in (1, 6, 9):
    assert zlib.decompress(zlib.compress(d, level)) == d
json.loads(json.dumps([{str(i): i * 1.5} for i in range(500)]))
class A:
    def __init__(self, x): self.x = x
    def __lt__(self, o): return self.x < o.x
sorted(A(i * 7919 % 1009) for i in range(500))
def g(n):
    for i in range(n):
        try:
            if i % 3 == 0: raise ValueError(i)
            yield i
        except ValueError as e: yield -e.args[0]
list(g(100)); re.sub(r'(\w+)@(\w+)', r'\2 \1', 'a@b c@d ' * 100)
db = sqlite3.connect(':memory:'); db.execute('create table t(a,b,c)')
db.executemany('insert into t values(?,?,?)', [(i, i * i % 97, 'x%d' % (i % 13)) for i in range(500)])
for q in ['select c,sum(b),count(*) from t group by c order by 2', 'select avg(a) from t where b>50',
          'select a.c,b.c from t a join t b on a.a=b.b where a.b=3 order by 1,2 limit 50',
          "select substr(c,2),upper(c),printf('%05d',b) from t where c like 'x1%' order by a desc limit 30"]:
    db.execute(q).fetchall()
"""

EMBED = "int Py_BytesMain(int, char **);\nint main(int n, char **v)\n{\n\treturn Py_BytesMain(n, v);\n}\n"


def callgrind(command, stop=None):
    """Executions per (object, address) while the command runs; `stop` is run beside it and must end it."""
    out = Path("callgrind.out").resolve()
    out.unlink(missing_ok=True)
    with subprocess.Popen(["valgrind", "-q", "--tool=callgrind", "--dump-instr=yes", "--compress-pos=no",
                           "--compress-strings=no", f"--callgrind-out-file={out}", *command],
                          stdout=subprocess.DEVNULL) as process:
        if stop:
            stop()
        process.wait()
    counts, current, inclusive = Counter(), None, False
    with open(out, encoding="utf-8", errors="replace") as file:
        for line in file:
            if line.startswith("ob="):
                current = os.path.realpath(line[3:].strip())
            elif line.startswith("calls="):
                inclusive = True  # the next line is the callee's sum
            elif line.startswith("0x"):
                words = line.split()
                if not inclusive:
                    counts[current, int(words[0], 16)] += int(words[-1])
                inclusive = False
    out.unlink()
    return counts


def share(path, counts):
    """Calls of all functions of the file, and of the refused ones by reason."""
    listing = subprocess.run([SURVEY, "--list", "all", *path], capture_output=True, text=True, check=True).stdout
    of_reason, names = Counter(), Counter()
    real = os.path.realpath(path[-1])
    for line in listing.splitlines():
        address, reason, name = line.split(" ", 2)
        calls = counts[real, int(address, 16)]
        of_reason[reason] += calls
        if reason != "planned":
            names[f"{name} {address} ({reason})"] += calls
    total = sum(of_reason.values())
    refused = total - of_reason["planned"]
    print(f"{path[-1]}: {total} calls, {100 * refused / max(total, 1):.2f} % in refused functions; most: "
          + ", ".join(f"{name} {calls}" for name, calls in names.most_common(4) if calls))


def redis_load():
    """Commands of many kinds to the server on the port, then its end."""
    subprocess.run(["redis-cli", "-p", "7391", "ping"], check=False, stdout=subprocess.DEVNULL)
    for _ in range(100):
        if subprocess.run(["redis-cli", "-p", "7391", "ping"], capture_output=True, check=False).stdout == b"PONG\n":
            break
    subprocess.run(["redis-benchmark", "-p", "7391", "-n", "300", "-q"], stdout=subprocess.DEVNULL, check=False)
    subprocess.run(["redis-cli", "-p", "7391", "shutdown", "nosave"], check=False)


def calls():
    """The second table."""
    Path("embed.c").write_text(EMBED, encoding="utf-8")
    subprocess.run([os.environ.get("CC", "gcc"), "-o", "embed", "embed.c", "-l:libpython3.11.so.1.0"], check=True)
    counts = callgrind(["./embed", "-c", PYTHON])
    for path in FILES[0], FILES[1], FILES[4]:
        share(path, counts)
    share(FILES[2], callgrind(["/usr/bin/redis-server", "--port", "7391", "--save", ""], redis_load))
    share(FILES[3], callgrind(["/usr/bin/node", "--jitless", "-e",
                               "const z=require('zlib');console.log(z.deflateSync('x'.repeat(9999)).length,"
                               "JSON.stringify([...Array(999).keys()].sort()).length)"]))


def main():
    """Prints what was asked for."""
    if sys.argv[1:] == ["--calls"]:
        calls()
        return 0
    there = [word for file in FILES if os.path.exists(file[-1]) for word in file]
    return subprocess.run([SURVEY, "--markdown", *there], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
