#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
# runner: no-sanitizer
"""Every function of a real module is patched at once by its plan, and the program runs: same output, and each entry
is followed by exactly one exit of the same function with the same stack pointer.

What a throw, a longjmp or the program's end leaves open is no exit: those are counted apart and bounded by the
scenario. An exit without its entry (an orphan) happens where a function shares its tail with refused ones.
"""
import os
import platform
import re
import shutil
import subprocess
import sys

BUILD = os.environ["ASSAY_BUILD"]
LIBRARY = os.path.join(BUILD, "tests", "exercise_patches.so")
CC = os.environ.get("CC", "gcc")
number = 0

PYTHON = r"""
import bz2, decimal, hashlib, json, re, sys, zlib
h = hashlib.sha256()
d = bytes((i * i * 7 + i // 3) % 251 for i in range(100000))
for level in (1, 6, 9):
    c = zlib.compress(d, level); h.update(c); assert zlib.decompress(c) == d
h.update(json.dumps([{str(i): i * 1.5} for i in range(2000)]).encode())
class A:
    def __init__(self, x): self.x = x
    def __lt__(self, o): return self.x < o.x
h.update(repr([a.x for a in sorted(A(i * 7919 % 1009) for i in range(1000))]).encode())
def g(n):
    for i in range(n):
        try:
            if i % 3 == 0: raise ValueError(i)
            yield i
        except ValueError as e: yield -e.args[0]
h.update(repr(list(g(100))).encode())
h.update(str(decimal.Decimal(2).sqrt()).encode())
h.update(re.sub(r'(\w+)@(\w+)', r'\2 \1', 'a@b c@d ' * 100).encode())
print(h.hexdigest())
"""

SQL = r"""
import hashlib, sqlite3
h = hashlib.sha256()
db = sqlite3.connect(':memory:'); db.execute('create table t(a,b,c)')
db.executemany('insert into t values(?,?,?)', [(i, i * i % 97, 'x%d' % (i % 13)) for i in range(3000)])
for q in ['select c,sum(b),count(*) from t group by c order by 2', 'select avg(a) from t where b>50',
          'select a.c,b.c from t a join t b on a.a=b.b where a.b=3 order by 1,2 limit 50',
          'select c,group_concat(b) from (select * from t limit 100) group by c',
          'with recursive n(x) as (select 1 union all select x+1 from n where x<300) select sum(x*x) from n',
          "select substr(c,2),upper(c),printf('%05d',b) from t where c like 'x1%' order by a desc limit 30"]:
    h.update(repr(db.execute(q).fetchall()).encode())
try:
    db.execute('select * from nope')
except sqlite3.Error as e:
    h.update(str(e).encode())
print(h.hexdigest())
"""

CXX = r"""
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>
static int level(int n)
{
	std::string s(n, 'x');
	if (n % 7 == 0)
		throw std::runtime_error(s);
	return n > 40 ? level(n - 1) + 1 : n;
}
int main()
{
	long r = 0;
	for (int i = 0; i < 300; i++) {
		try {
			try { r += level(i); }
			catch (const std::exception &e) { r += std::string(e.what()).size(); if (i % 2) throw; }
		} catch (...) { r++; }
	}
	std::map<std::string, int> m;
	for (int i = 0; i < 500; i++) { std::ostringstream o; o << i * 37 % 101 << ' ' << i * 0.5; m[o.str()] += i; }
	for (auto &k : m) r = r * 31 + k.second + k.first[0];
	try { std::vector<int>().at(3); } catch (std::out_of_range &e) { r += e.what()[0]; }
	std::cout << r << "\n";
}
"""

C = """
struct s { int a; double b; char c[10]; };
int f(struct s *x, int n)
{
	int r = 0;
	for (int i = 0; i < n; i++)
		switch (x[i].a % 9) {
		case 0: r += 1; break;
		case 1: r ^= i; break;
		case 2: r *= 3; break;
		case 3: r -= 7; break;
		case 5: r += x[i].b; break;
		default: r++;
		}
	return r;
}
"""


def tap(good, claim, *why):
    global number
    number += 1
    print(f"{'ok' if good else 'not ok'} {number} - {claim}")
    if not good:
        for line in why:
            print(f"# {line}")


def skip(claim, reason):
    global number
    number += 1
    print(f"ok {number} - {claim} # SKIP {reason}")


def run(command, environment=None):
    return subprocess.run(command, env={**os.environ, **(environment or {})}, capture_output=True,
                          timeout=250, check=False)


def exercise(claim, module, command, preload=(), may_leave=0, may_orphan=0, output=None, faults="0"):
    """Runs the command unpatched and patched. `may_leave`: frames that exceptions or the end may leave open."""
    if not shutil.which(command[0]):
        skip(claim, f"{command[0]} is not installed")
        return
    for library in preload:
        if not os.path.exists(library):
            skip(claim, f"{library} is not installed")
            return

    def outcome(environment):
        done = run(command, environment)
        extra = b""
        if output:
            with open(output, "rb") as file:
                extra = file.read()
            os.unlink(output)
        return done.returncode, done.stdout, extra, done.stderr

    plain = outcome(None)
    report = os.path.abspath("report")
    patched = outcome({"EXERCISE_MODULE": module, "EXERCISE_REPORT": report,
                       "EXERCISE_FAULTS": faults, "LD_PRELOAD": " ".join((LIBRARY, *preload))})
    tap(plain[:3] == patched[:3], f"{claim}: same output", plain[0], patched[0], patched[3][-500:])
    if not os.path.exists(report):
        tap(False, f"{claim}: it ran to its end and was counted", patched[3][-500:])
        return
    with open(report, encoding="utf-8") as file:
        text = file.read()
    os.unlink(report)
    counts = {k: int(v) for k, v in re.findall(r"(\w+) (\d+)", text.splitlines()[0])}
    open_at_end = counts["left"] + counts["open"]
    tap(counts["planned"] > 10 and counts["entries"] > 100, f"{claim}: patched code ran", text)
    tap(counts["orphans"] <= may_orphan and open_at_end <= may_leave
        and counts["entries"] - (counts["exits"] - counts["orphans"]) == open_at_end,
        f"{claim}: every entry has its exit", *text.splitlines())


def library_of(name, program="/usr/bin/python3"):
    done = run(["ldconfig", "-p"])
    for line in done.stdout.decode().splitlines():
        if line.strip().startswith(name) and "x86-64" in line:
            return line.split("=>")[1].strip()
    return f"/nonexistent/{name} (for {program})"


def main():
    if platform.machine() != "x86_64":
        skip("patched modules run as before", "the exerciser patches x86-64 code only")
        return 0
    if not os.path.exists(LIBRARY):
        skip("patched modules run as before", "exercise_patches.so was not built")
        return 0
    python = "/usr/bin/python3"
    exercise("python3", "self", [python, "-c", PYTHON], may_leave=2)
    exercise("libz in python3", "libz.so", [python, "-c", PYTHON], [library_of("libz.so.1")], may_leave=2)
    exercise("libsqlite3 in python3", "libsqlite3", [python, "-c", SQL], [library_of("libsqlite3.so.0")],
             may_leave=2)
    exercise("libsqlite3 where faults matter", "libsqlite3", [python, "-c", SQL],
             [library_of("libsqlite3.so.0")], may_leave=2, faults="1")
    # memcpy and its like share tails with refused ones; those on the way out of the loader are open
    exercise("libc in python3", "libc.so.6", [python, "-c", SQL], may_leave=64, may_orphan=5000)
    cc1 = run([CC, "-print-prog-name=cc1"]).stdout.decode().strip() or "cc1"
    with open("input.c", "w", encoding="utf-8") as file:
        file.write(C)
    exercise("gcc's cc1", "self", [cc1, "-quiet", "-O2", "input.c", "-o", "out.s"], may_leave=64,
             output="out.s")
    with open("throws.cc", "w", encoding="utf-8") as file:
        file.write(CXX)
    built = shutil.which("g++") and run(["g++", "-O2", "throws.cc", "-o", "throws"]).returncode == 0
    if not built:
        skip("C++ exceptions through patched functions", "no C++ compiler")
    else:
        # 399 throws and rethrows leave level() 1035 times and __cxa_throw as often as they throw
        exercise("libstdc++ below exceptions", "libstdc++", ["./throws"], may_leave=600)
        exercise("C++ functions that throw", "self", ["./throws"], may_leave=2000)
        exercise("libgcc_s's unwinder", "libgcc_s", ["./throws"], may_leave=4000)
    if os.environ.get("LONG") == "1":
        exercise("python3 where faults matter", "self", [python, "-c", PYTHON], may_leave=2, faults="1")
        exercise("node", "self",
                 ["node", "-e", "const z=require('zlib');console.log(z.deflateSync('x'.repeat(9999)).length,"
                  "JSON.stringify([...Array(999).keys()].sort()).length)"],
                 # hand-made builtins of V8 return with another stack pointer than they were entered with
                 may_leave=1 << 24, may_orphan=1 << 24)
    return 0


sys.exit(main())
