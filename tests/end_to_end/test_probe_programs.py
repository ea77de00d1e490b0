#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs with every function probed that can be, of themselves and all their libraries: the same output."""
# runner: timeout=900
import hashlib
import os
import shutil

from probing import ASSAY, claim, finish, probe, require_engine, run, skip

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<4000)
  insert into t select i, 'row '||(i*7919%10007), i*1.5 from n;
create index tb on t(b);
select count(*), sum(c), min(b), max(b) from t;
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
"""
PYTHON = """import hashlib, json, re
text = json.dumps({str(i): [i * 0.37 ** k for k in range(9)] for i in range(200)})
print(hashlib.sha256(text.encode()).hexdigest(), len(re.findall(r"[0-9]1", text)))
caught = 0
for i in range(900):
    try:
        if i % 3 == 0:
            raise KeyError(i)
    except KeyError:
        caught += 1
print(caught, sorted({len(str(i)) for i in range(2000)}))
"""


def digest(name):
    with open(name, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def everything(name, command, probed_at_least, written=None):
    """The words of `command` with every function probed; what it prints, or the file `written`, is compared."""
    plain = run(*command)
    wanted = digest(written) if written else plain.out
    for mode in ("count", "time"):
        done = probe("--", *command, functions=["*"], mode=mode, timeout=300)
        rows = list(done.rows.values())
        claim(done.code == plain.code == 0 and (digest(written) if written else done.out) == wanted,
              "%s, all functions, %s: same output" % (name, mode), done.err)
        probed = sum(row["state"] == "probed" for row in rows)
        called = sum(row.get("calls", 0) > 0 for row in rows)
        claim(probed >= probed_at_least and called > 50,
              "%s, %s: some thousand functions are probed, and hundreds of them called" % (name, mode),
              "%d probed, %d called, of %d" % (probed, called, len(rows)))


def through_exec():
    done = probe("--", "sh", "-c", "for i in 1 2 3; do /bin/true; done; exec echo 42", functions=["*"],
                 mode="time")
    claim(done.code == 0 and done.out == "42\n",
          "a probed shell forks, and becomes another program: the new one is without probes", done)


def main():
    require_engine()
    with open("q.sql", "w", encoding="utf-8") as file:
        file.write(SQL)
    with open("work.py", "w", encoding="utf-8") as file:
        file.write(PYTHON)
    everything("python3", [os.path.realpath("/usr/bin/python3"), "-S", "work.py"], 3000)
    if shutil.which("sqlite3"):
        everything("sqlite3", ["sqlite3", "-init", "q.sql", "-batch", ":memory:", ".quit"], 3000)
    else:
        skip("sqlite3 with all functions probed", "sqlite3 is not installed")
    if shutil.which("xz"):
        shutil.copy(ASSAY, "input")
        with open("input", "r+b") as file:
            file.truncate(400000)
        everything("xz", ["xz", "-k", "-f", "-1", "input"], 1000, "input.xz")
    else:
        skip("xz with all functions probed", "xz is not installed")
    through_exec()
    finish()


if __name__ == "__main__":
    main()
