#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real programs with every function probed that can be, of themselves and all their libraries: the same output, files, exit
code and signal as without, in mode count and in mode time.

Coverage is counted in the same runs: probed functions with an exit of these and the refused ones (which are all taken to
have one), and the share of the calls that the refused ones hold. The calls of a function that is refused in mode
time are known from mode count, where only its entry is needed; what is refused there, too, is said.
"""
# runner: timeout=1800
import hashlib
import json
import os
import shutil
import subprocess
from collections import Counter

from jobs import CC1_SOURCE, PYTHON, PYTHON_DOCTESTS, PYTHON_SIGNALS, SQL, SQL_LONG, redis_job
from probing import ASSAY, buffers_of, claim, finish, require_engine, run, signal, skip, time

LONG = os.environ.get("LONG") == "1"
ALL = "*!*"
PYTHON3 = os.path.realpath("/usr/bin/python3")
ENVIRONMENT = dict(os.environ, PYTHONHASHSEED="0", PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", TZ="UTC")
# of the functions with an exit, in mode time: what the project promises
COVERAGE = {"libpython3.11.so.1.0": 97, "python3.11": 97, "libsqlite3.so.0.8.6": 97, "redis-server": 97,
            "redis-check-rdb": 97, "node": 97, "cc1": 97, "libc.so.6": 90}
# and of their calls; libc's are blocks copied by one refused function, which vary with the program: they are only told
REFUSED_CALLS_PERCENT = 2


def digest(names):
    out = {}
    for name in names:
        with open(name, "rb") as file:
            out[name] = hashlib.sha256(file.read()).hexdigest()
        os.unlink(name)
    return out


class Rows:
    """Functions by module and address, of the document of one run."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.document = json.load(file)
        self.rows = {(row["module"], row["address"]): row for row in self.document["functions"]}

    def probed(self):
        return sum(row["state"] == "probed" for row in self.rows.values())

    def called(self):
        return sum(row.get("calls", 0) > 0 for row in self.rows.values())


def coverage(name, count, timed):
    """Of each module, and of its calls."""
    probed, refused, calls, lost = Counter(), Counter(), Counter(), Counter()
    reasons, worst, hidden = Counter(), Counter(), 0
    for key, row in timed.rows.items():
        n = count.rows.get(key, {}).get("calls")
        calls[key[0]] += n or 0
        probed[key[0]] += row["state"] == "probed" and bool(row["exits"])
        if row["state"] == "refused":
            refused[key[0]] += 1
            reasons[row["reason"]] += 1
            hidden += n is None
            lost[key[0]] += n or 0
            worst["%s %s (%s)" % (row["name"], key[0], row["reason"])] += n or 0
    print("# %s: %d functions probed, %d refused (%s)" %
          (name, timed.probed(), sum(refused.values()),
           ", ".join("%s %d" % pair for pair in reasons.most_common())))
    print("# %s: %d calls, %.2f %% of them in refused functions (most: %s); unknown: those of %d that mode count "
          "refuses, too" % (name, sum(calls.values()), 100 * sum(lost.values()) / max(sum(calls.values()), 1),
                            ", ".join("%s %d" % pair for pair in worst.most_common(3) if pair[1]), hidden))
    for module, n in probed.most_common():
        share, of_calls = 100 * n / max(n + refused[module], 1), 100 * lost[module] / max(calls[module], 1)
        if n > 500:
            print("# %s: %.1f %% of %d functions of %s; refused ones hold %.2f %% of its %d calls" %
                  (name, share, n + refused[module], module, of_calls, calls[module]))
        if module in COVERAGE:
            claim(share >= COVERAGE[module], "%s: %s is covered as promised" % (name, module), share)
        if COVERAGE.get(module, 0) > 90:
            claim(of_calls <= REFUSED_CALLS_PERCENT, "%s: refused functions of %s hold few of its calls" %
                  (name, module), of_calls)


def everything(name, command, probed_at_least, files=(), said=""):
    """The words of `command` with every function probed; what it prints and writes and how it ends is compared."""
    before = time.time()
    plain = run(*command, env=ENVIRONMENT)
    wanted = (plain.code, plain.out, plain.err, digest(files))
    claim(said in plain.out, "%s: the job works" % name, plain)
    rows = {}
    for mode in ("count", "time"):
        done = run(ASSAY, "probe", "-q", "--json", "-o", "rows.json", "--mode", mode, "-f", ALL, "--", *command,
                   env=ENVIRONMENT, timeout=1500)
        got = (done.code, done.out, done.err, digest([file for file in files if os.path.exists(file)]))
        claim(got == wanted, "%s, all functions, %s: same output, files, exit code and signal" % (name, mode),
              "%s\n%s" % (str(wanted)[-3000:], str(got)[-3000:]))
        rows[mode] = Rows("rows.json")
        claim(rows[mode].probed() >= probed_at_least and rows[mode].called() > 50,
              "%s, %s: some thousand functions are probed, and hundreds of them called" % (name, mode),
              "%d probed, %d called" % (rows[mode].probed(), rows[mode].called()))
    coverage(name, rows["count"], rows["time"])
    print("# %s: %.1f s" % (name, time.time() - before))


def write(name, text):
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def sqlite(script):
    if not shutil.which("sqlite3"):
        skip("sqlite3 with all functions probed", "sqlite3 is not installed")
        return
    write("q.sql", script)
    everything("sqlite3", ["sqlite3", "-init", "q.sql", "-batch", "job.db", ".quit"], 3000, ["job.db"])


def xz(level, size):
    if not shutil.which("xz"):
        skip("xz with all functions probed", "xz is not installed")
        return
    shutil.copy(ASSAY, "input")
    with open("input", "r+b") as file:
        file.truncate(size)
    with open("input", "rb") as file:
        wanted = hashlib.sha256(file.read()).hexdigest()
    everything("xz", ["xz", "-k", "-f", level, "-T2", "--block-size=200KiB", "input"], 1000, ["input.xz"])
    run("xz", "-k", "-f", level, "-T2", "--block-size=200KiB", "input")
    back = run("sh", "-c", "%s probe -q -o /dev/null --mode time -f '%s' -- xz -dc input.xz | sha256sum" % (ASSAY, ALL))
    claim(back.out.split()[:1] == [wanted], "xz: what was packed is unpacked again under probes", back)


def cc1():
    compiler = run("gcc", "-print-prog-name=cc1").out.strip() if shutil.which("gcc") else ""
    if not os.path.exists(compiler):
        skip("cc1 with all functions probed", "gcc's cc1 is not installed")
        return
    write("job.c", CC1_SOURCE)
    run("gcc", "-E", "-o", "job.i", "job.c")
    everything("cc1", [compiler, "-quiet", "-fpreprocessed", "-O2", "-g", "job.i", "-o", "job.s"], 20000, ["job.s"])


def embedded():
    """Debian's python3 holds the interpreter itself; libpython is what others embed."""
    write("embed.c", "int Py_BytesMain(int, char **);\nint main(int n, char **v)\n{\n\treturn Py_BytesMain(n, v);\n}\n")
    if run("gcc", "-o", "embed", "embed.c", "-l:libpython3.11.so.1.0").code:
        skip("libpython with all functions probed", "libpython3.11 is not installed, or no gcc")
        return
    everything("libpython", ["./embed", "-S", "doctests.py"], 6000, said="TestResults")


def node():
    if not shutil.which("node"):
        skip("node with all functions probed", "node is not installed")
        return
    everything("node", ["node", "--jitless", "-e",
                        "const z=require('zlib');console.log(z.deflateSync('x'.repeat(9999)).length,"
                        "JSON.stringify([...Array(999).keys()].sort()).length)"], 20000)


class Server:
    """A redis-server with threads of its own for input and output."""

    def __init__(self):
        self.process = subprocess.Popen(
            ["redis-server", "--port", "0", "--unixsocket", os.path.abspath("redis.sock"), "--save", "",
             "--appendonly", "no", "--io-threads", "2", "--io-threads-do-reads", "yes", "--hz", "50",
             "--enable-debug-command", "yes"], stdout=subprocess.DEVNULL)
        for _ in range(600):
            if run("redis-cli", "-s", "redis.sock", "ping").out == "PONG\n":
                break
            time.sleep(0.05)

    def end(self):
        run("redis-cli", "-s", "redis.sock", "shutdown", "nosave")
        return self.process.wait(timeout=60)


def load():
    """Eight clients at once, beside the job."""
    return run("redis-benchmark", "-s", "redis.sock", "-n", "3000", "-c", "8", "-P", "4", "-q", "-t",
               "set,get,incr,lpush,rpush,sadd,hset,zadd,lrange_100,mset", timeout=600).code


def redis_run(mode):
    """Replies and dataset of the job, exit code; with a mode, under probes that come and go with the server at work."""
    server = Server()
    rows = assay = None
    if mode:
        # sums of 30 000 functions for each of its threads
        assay = subprocess.Popen([ASSAY, "probe", "-q", "--json", "-o", "rows.json", "--mode", mode, "-f", ALL,
                                  "--buffer", "128M", "-p", str(server.process.pid)],
                                 stderr=subprocess.PIPE, text=True)
        if not buffers_of(assay):
            return None, assay.communicate()[1]
    codes = [load()]
    answer = redis_job("redis.sock")
    if mode:
        assay.send_signal(signal.SIGINT)
        codes.append(assay.wait(timeout=300))
        rows = Rows("rows.json")
    return rows, (answer, codes[:1], server.end())


def redis():
    if not shutil.which("redis-server") or not shutil.which("redis-benchmark"):
        skip("redis-server with all functions probed", "redis-server is not installed")
        return
    before, rows = time.time(), {}
    _, wanted = redis_run(None)
    claim(wanted[1:] == ([0], 0), "redis-server: the job works", wanted)
    for mode in ("count", "time"):
        rows[mode], got = redis_run(mode)
        claim(got == wanted, "redis-server under load with threads, all functions, %s: same replies and dataset" % mode,
              "%s\n%s" % (wanted, got))
        claim(rows[mode] and rows[mode].probed() > 10000 and rows[mode].document["threads"] > 2,
              "redis-server, %s: all its libraries, several threads" % mode, rows[mode] and rows[mode].probed())
    if rows["count"] and rows["time"]:
        coverage("redis-server", rows["count"], rows["time"])
    print("# redis-server: %.1f s" % (time.time() - before))


def through_exec():
    done = run(ASSAY, "probe", "-q", "--json", "-o", "rows.json", "--mode", "time", "-f", ALL, "--", "sh", "-c",
               "for i in 1 2 3; do /bin/true; done; exec echo 42")
    claim(done.code == 0 and done.out == "42\n",
          "a probed shell forks, and becomes another program: the new one is without probes", done)


def main():
    require_engine()
    write("work.py", PYTHON)
    write("signals.py", PYTHON_SIGNALS)
    write("doctests.py", PYTHON_DOCTESTS)
    everything("python3", [PYTHON3, "-S", "work.py"], 3000)
    everything("python3 with signals", [PYTHON3, "-S", "signals.py"], 3000, said="handled")
    sqlite(SQL_LONG if LONG else SQL)
    xz("-9" if LONG else "-1", 4000000 if LONG else 400000)
    through_exec()
    if LONG:
        everything("python3 with doctests", [PYTHON3, "-S", "doctests.py"], 3000, said="TestResults")
        embedded()
        cc1()
        redis()
        node()
    finish()


if __name__ == "__main__":
    main()
