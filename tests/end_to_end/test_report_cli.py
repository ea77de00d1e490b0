# SPDX-License-Identifier: GPL-3.0-or-later
"""What `assay report` promises on the command line: options, filters, exit codes, JSON, terminal manners."""
# runner: timeout=600
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys

ASSAY = os.environ.get("ASSAY", "build/assay")
CC = os.environ.get("CC", "cc")

PROGRAM = r"""
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#define NI __attribute__((noinline, noclone))
static volatile unsigned sink;
NI void first(int n) { for (int i = 0; i < n; i++) sink += (unsigned)i; }
NI void second(int n) { for (int i = 0; i < n; i++) sink ^= (unsigned)i; }
NI void outer(int n) { first(2 * n); second(n); }
NI int deep(int n) { int r; if (!n) { outer(200000); return 0; } r = deep(n - 1); sink += (unsigned)r; return r + 1; }
static void *work(void *name) { prctl(PR_SET_NAME, name); for (int i = 0; i < 500; i++) outer(200000); return 0; }
int main(int argc, char **argv) {
	pthread_t a, b;
	(void)argv;
	if (argc > 1) { for (int i = 0; i < 400; i++) deep(300); return 0; }
	pthread_create(&a, 0, work, "alpha beta");
	pthread_create(&b, 0, work, "e\033[31m\nvil");
	if (!fork()) { prctl(PR_SET_NAME, "child"); for (int i = 0; i < 500; i++) outer(100000); _exit(0); }
	pthread_join(a, 0);
	pthread_join(b, 0);
	wait(0);
	return 0;
}
"""

count = 0
failed = 0


def report(ok, claim, detail=""):
    global count, failed
    count += 1
    failed += not ok
    print("%s %d - %s" % ("ok" if ok else "not ok", count, claim))
    for line in str(detail).splitlines() if not ok else []:
        print("#", line)
    sys.stdout.flush()


def skip(claim, reason):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, claim, reason))


def run(*words, env=None, stdin=subprocess.DEVNULL, **options):
    return subprocess.run([ASSAY, *words], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=120, env={**os.environ, **(env or {})}, **options)


def document(*words):
    done = run("report", "--json", *words)
    return json.loads(done.stdout) if done.returncode == 0 else {"failed": done.stderr.decode()}


def samples(*words):
    return document("p.data", *words).get("totals", {}).get("samples")


def exit_codes():
    cases = [(["--version"], 0), (["--help"], 0), ([], 2), (["nosuch"], 2), (["report", "--help"], 0),
             (["report", "--nosuch"], 2), (["report", "--time", "x", "p.data"], 2),
             (["report", "--sort", "colour", "p.data"], 2), (["report", "--percent-limit", "-1", "p.data"], 2),
             (["report", "--rows", "many", "p.data"], 2), (["report", "--top", "0", "p.data"], 2),
             (["report", "--color", "blue", "p.data"], 2), (["report", "p.data", "q.data"], 2),
             (["report", "-e", "nosuch", "p.data"], 2), (["report", "--comm"], 2),
             (["report", "--children", "--no-children", "p.data"], 2),
             (["report", "--symfs", "missing", "p.data"], 1), (["report", "--kallsyms", "missing", "p.data"], 1),
             (["report", "--vmlinux", "missing", "p.data"], 1), (["report", "missing.data"], 1), (["report", "p.c"], 1), (["report", "."], 1),
             (["report", "p.data"], 0), (["report", "-i", "p.data"], 0)]
    for words, code in cases:
        done = run(*words)
        said = done.stderr.decode("utf-8", "replace")
        good = done.returncode == code and bool(said) == (code != 0)
        if code and words:
            good = good and said.startswith("assay") and not done.stdout
        report(good, "`assay %s` ends with %d and %s" % (" ".join(words), code,
                                                        "a message" if code else "none"),
               (done.returncode, said[:300]))
    for name in re.findall(r"^  (\w+) .*\(not in this version\)$", run("--help").stdout.decode(), re.M):
        done = run(name)
        report(done.returncode == 1 and b"not in this version" in done.stderr,
               "%s says that it is not in this version" % name, done.stderr)


def where_from():
    os.makedirs("empty", exist_ok=True)
    done = run("report", cwd="empty")
    report(done.returncode == 1 and b"out.assay" in done.stderr,
           "without a recording the default is named", done.stderr)
    shutil.copy("p.data", "empty/perf.data")
    done = run("report", cwd="empty")
    report(done.returncode == 0 and done.stdout.startswith(b"perf.data"),
           "without out.assay, perf.data is reported on", done.stderr)
    with open("p.data", "rb") as data:
        done = run("report", "--json", "-", stdin=data)
    piped = json.loads(done.stdout) if done.returncode == 0 else {}
    report(piped.get("totals", {}).get("samples") == samples(), "a perf.data comes through a pipe too",
           done.stderr)


def same_bytes():
    for words in (["p.data", "-v"], ["--json", "p.data"], ["--sort", "comm,tid,cpu,sym", "p.data"]):
        runs = {run("report", *words).stdout for _ in range(3)}
        report(len(runs) == 1, "three runs of `report %s` give the same bytes" % " ".join(words))


def filters():
    everything = samples()
    by_cpu = [samples("--cpu", str(cpu)) for cpu in range(os.cpu_count())]
    report(everything and everything == sum(by_cpu), "samples by --cpu add up to all", by_cpu)
    tids = document("p.data", "--sort", "tid")["functions"]
    report(sum(row["samples"] for row in tids) == everything and
           all(samples("--tid", str(row["tid"])) == row["samples"] for row in tids),
           "--tid selects what --sort tid counted", tids)
    pids = document("p.data", "--sort", "pid")["functions"]
    report(len(pids) >= 2 and all(samples("-p", str(row["pid"])) == row["samples"] for row in pids),
           "--pid selects what --sort pid counted", pids)
    comms = document("p.data", "--sort", "comm")["functions"]
    names = {row["comm"] for row in comms}
    report({"alpha beta", "child", "e\033[31m\nvil"} <= names,
           "--sort comm has the names that threads gave themselves", names)
    report(all(samples("--comm", row["comm"]) == row["samples"] for row in comms),
           "--comm selects what --sort comm counted", comms)
    halves = [samples("--time", part) for part in ("0%-50%", "50%-100%")]
    # a sample exactly on the border is in both
    report(everything <= sum(halves) <= everything + 1 and min(halves) > 0,
           "--time by percent splits the recording", halves)
    report(samples("--time", "+0,") == everything and samples("--time", ",+0") == 1,
           "--time from the first sample", (samples("--time", "+0,"), samples("--time", ",+0")))
    first = float(subprocess.run(["perf", "script", "-F", "time", "-i", "p.data"], capture_output=True,
                                 check=True).stdout.decode().split()[0].rstrip(":"))
    report(samples("--time", "%f,%f" % (first - 1, first + 1000)) == everything and
           samples("--time", "%f," % (first + 1000)) == 0,
           "--time in the seconds that perf script prints", first)
    done = run("report", "--time", "%f," % (first + 1000), "p.data")
    report(done.returncode == 0 and b"0 samples" in done.stdout and b"filter left out" in done.stdout,
           "a filter that leaves nothing is told as such", done.stdout.decode())


def rows():
    functions = document("p.data")["functions"]
    names = {row["name"] for row in functions}
    report({"first", "second", "outer"} <= names, "callers are rows too", names)
    outer = next((row for row in functions if row["name"] == "outer"), None)
    report(outer and outer["total"]["share"] > 0.8 and outer["self"]["share"] < 0.1,
           "total counts callees, self does not", outer)
    flat = document("p.data", "--no-children")["functions"]
    report(all(row["total"] is None for row in flat), "--no-children has no totals")
    modules = document("p.data", "--sort", "dso")["functions"]
    report(any(row["module"] == "prog" and row["name"] is None for row in modules),
           "--sort dso gives modules", modules)
    lines = document("p.data", "--sort", "srcline", "--no-children")["functions"]
    report(any((row["file"] or "").endswith("p.c") and row["line"] in (8, 9) for row in lines),
           "--sort srcline gives file and line", lines[:3])
    stacks = document("p.data", "--sort", "stack")["functions"]
    report(len({tuple(row["stack"]) for row in stacks}) > 2 and all(row["total"] is None for row in stacks) and
           abs(sum(row["self"]["share"] for row in stacks) - 1) < 1e-6,
           "--sort stack divides all samples among whole stacks", stacks[:3])
    report(all(abs(sum(row["self"]["share"] for row in stacks if row["stack"][0] == name) - share) < 1e-6
               for name, share in ((f["name"], f["self"]["share"]) for f in functions
                                   if f["name"] in ("first", "second"))),
           "stacks of one leaf add up to its self share", stacks[:3])
    few = document("p.data", "--percent-limit", "20")["functions"]
    report(0 < len(few) < len(functions) and all(
        max(row["self"]["share"], row["total"]["share"]) >= 0.2 for row in few), "--percent-limit")
    text = run("report", "--rows", "1", "--percent-limit", "0", "p.data").stdout.decode()
    report(re.search(r"\d+ more rows with together", text) is not None,
           "rows that are left out are counted", text)
    text = run("report", "-n", "p.data").stdout.decode()
    report("samples  effective" in text, "-n shows numbers of samples", text)
    order = [row["total"]["share"] for row in document("p.data", "--children")["functions"][:1]]
    report(order and order[0] > 0.5, "--children orders by total", order)
    inverted = [(a["name"], b["name"]) for i, a in enumerate(functions) for b in functions[i + 1:]
                if a["rank_lo"] and b["rank_hi"] and b["rank_hi"] < a["rank_lo"]]
    report(not inverted, "no settled order is printed inverted", inverted)


INTERVAL = {"share": float, "lo": (float, None), "hi": (float, None), "workload_lo": (float, None),
            "workload_hi": (float, None), "bias_hi": (float, None)}
SHAPE = {
    "schema": str, "bundle": str, "command": list,
    "verdict": {"state": str, "text": str, "top": int},
    "totals": {"samples": int, "lost": int, "throttled_ns": int, "duration_ns": int,
               "cpu_ns": (int, None), "epochs": int, "clocks": int,
               "overhead": {"share": (float, None), "budget": (float, None)}},
    "schedule": {"kind": str, "redraw": str, "mean_period": (float, None), "rate_hz": (float, None),
                 "seed": (str, None), "canary": bool},
    "stability": {"k": int, "top1": (float, None), "set": (float, None), "order": (float, None),
                  "expected_set": (float, None), "by_schedule": list},
    "findings": [{"code": str, "severity": str, "text": str, "functions": list, "evidence": dict,
                  "next": (str, None)}],
    "functions": [{"name": str, "module": str, "self": INTERVAL, "total": INTERVAL,
                   "variance": {"measurement": (float, None), "workload": (float, None),
                                "workload_hi": (float, None)},
                   "rank_lo": (int, None), "rank_hi": (int, None), "group": (int, None), "state": str,
                   "provenance": str, "samples": int, "effective_samples": float}],
    "settle": {"seconds": (float, None), "max_seconds": (float, None), "blocked_by_bias": bool},
    "unseen": {"share": (float, None), "hi": (float, None), "functions_at_least": (float, None)},
}


def misfits(value, shape, path=""):
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return ["%s is no object" % path]
        found = ["%s.%s is missing" % (path, key) for key in shape if key not in value]
        for key in shape:
            if key in value:
                found += misfits(value[key], shape[key], path + "." + key)
        return found
    if isinstance(shape, list):
        return [m for i, item in enumerate(value) for m in misfits(item, shape[0], "%s[%d]" % (path, i))]
    for kind in shape if isinstance(shape, tuple) else (shape,):
        if value is None if kind is None else isinstance(value, kind) and not (
                kind is int and isinstance(value, bool)):
            return []
    return ["%s is %r" % (path, value)]


def check_json():
    for words in ([], ["--time", "+0,+0.001"], ["--time", ",0.5"]):
        done = run("report", "--json", "p.data", *words)
        text = done.stdout.decode()
        found = misfits(json.loads(text), SHAPE) if done.returncode == 0 else [done.stderr]
        report(not found and "NaN" not in text and "Infinity" not in text,
               "JSON %s has every key of the contract, and numbers only" % " ".join(words), found[:5])
    whole = document("p.data")
    report(whole["schema"] == "assay.report/1" and
           whole["verdict"]["state"] in ("resolved", "unresolved", "biased"), "schema and state")
    bad = [row["name"] for row in whole["functions"] for part in ("self", "total")
           if row[part]["lo"] is not None and
           not 0 <= row[part]["lo"] <= row[part]["share"] <= row[part]["hi"] <= 1]
    report(not bad, "shares lie within their intervals, and these within 0..1", bad)
    bad = [row["name"] for row in whole["functions"]
           if (row["self"]["lo"] is None) != ("why" in row["self"])]
    report(not bad, "a bound that is not supported is null with why", bad)


def in_terminal(words, env):
    """What a terminal would get."""
    primary, secondary = pty.openpty()
    child = subprocess.Popen([ASSAY, *words], stdin=subprocess.DEVNULL, stdout=secondary,
                             stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **env})
    os.close(secondary)
    got = b""
    while select.select([primary], [], [], 20)[0]:
        try:
            chunk = os.read(primary, 65536)
        except OSError:
            break
        if not chunk:
            break
        got += chunk
    child.wait(timeout=60)
    os.close(primary)
    return got


def manners():
    plain = {"NO_COLOR": "", "LC_ALL": "C.UTF-8"}
    marked = in_terminal(["report", "p.data"], {**plain, "PERF_PAGER": "sed s/^/P:/", "PAGER": "false"})
    report(marked.startswith(b"P:") or b"\nP:" in marked, "PERF_PAGER pages on a terminal", marked[:200])
    report(b"\033[" in marked, "colour on a terminal", marked[:200])
    quiet = in_terminal(["report", "--no-pager", "p.data"], {**plain, "PERF_PAGER": "sed s/^/P:/"})
    report(b"P:" not in quiet and b"verdict" in quiet, "--no-pager does not page", quiet[:200])
    bare = in_terminal(["report", "--no-pager", "p.data"], {**plain, "NO_COLOR": "1"})
    report(b"\033" not in bare, "NO_COLOR on a terminal", bare[:200])
    gone = in_terminal(["report", "p.data"], {**plain, "PERF_PAGER": "/nonexistent/pager"})
    report(b"verdict" in gone, "a pager that cannot start loses nothing", gone[:200])
    piped = run("report", "p.data", env=plain)
    report(b"\033" not in piped.stdout, "no colour into a pipe")
    forced = run("report", "--color", "always", "p.data", env={"NO_COLOR": "1"})
    report(b"\033[" in forced.stdout, "--color always means always")
    ascii_only = run("report", "p.data", env={"LC_ALL": "C"}).stdout
    report(all(byte < 128 for byte in ascii_only), "ASCII in a locale without UTF-8")
    shell = subprocess.run(["sh", "-c", '"$0" report -v p.data | head -n 1; "$0" report -v p.data 2>err | true',
                            ASSAY], capture_output=True, timeout=60)
    with open("err", "rb") as err:
        said = err.read()
    report(not shell.stderr and not said, "a reader that goes away is no error", (shell.stderr, said))
    with open("/dev/full", "wb") as full:
        done = subprocess.run([ASSAY, "report", "p.data"], stdout=full, stderr=subprocess.PIPE, timeout=60)
    report(done.returncode == 1 and b"cannot write" in done.stderr, "a full disk is one", done.stderr)


def names():
    done = run("report", "--sort", "comm,sym", "p.data", env={"LC_ALL": "C.UTF-8"})
    body = done.stdout.replace(b"\n", b"")
    report(not any(byte < 32 or byte == 127 for byte in body) and b"e\\x1b[31m\\nvil" in body,
           "control characters in names are shown, not sent", done.stdout[-400:])


def perf_record(data, options, command):
    done = subprocess.run(["perf", "record", "-q", "-o", data, *options, "--", *command],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          timeout=120)
    return done.returncode == 0


def little_and_much():
    if perf_record("none.data", ["-e", "dummy"], ["true"]):
        text = run("report", "none.data").stdout.decode()
        report("0 samples" in text and "nan" not in text.lower(), "no samples are said plainly", text)
        found = misfits(document("none.data"), SHAPE)
        report(not found, "JSON without samples", found)
    if perf_record("few.data", ["-e", "page-faults", "-c", "20"], ["true"]):
        text = run("report", "few.data").stdout.decode()
        report("too few" in text and " nan" not in text.lower(), "few samples are said plainly", text)
    if perf_record("deep.data", ["-e", "cpu-clock", "-F", "499", "-g"], ["./prog", "deep"]):
        whole = document("deep.data")
        rows_of = {row["name"]: row for row in whole["functions"]}
        cut = rows_of.get("[truncated]", {"total": {"share": 0}})
        report(cut["total"]["share"] > 0.9 and rows_of["deep"]["total"]["share"] > 0.9,
               "stacks cut at the depth limit are together under [truncated]", cut)
        report(any(f["code"] == "symbols-stacks" for f in whole["findings"]),
               "and the report says so", [f["code"] for f in whole["findings"]])
    storm = ["-e", "raw_syscalls:sys_enter", "-c", "1", "-m", "1"]
    if perf_record("lost.data", storm, ["dd", "if=/dev/zero", "of=/dev/null", "bs=1", "count=300000"]):
        whole = document("lost.data")
        lost = [f for f in whole["findings"] if f["code"] == "loss"]
        if not whole["totals"]["lost"]:
            skip("loss is told", "nothing was lost here")
            return
        text = run("report", "lost.data").stdout.decode()
        report(bool(lost) and lost[0]["evidence"]["share"] > 0 and "LOST" in text and
               re.search(r"between [\d.]+ and [\d.]+ s", " ".join(text.split())) is not None,
               "loss is told with its share and place in time", text[:1500])
        report(whole["verdict"]["state"] == "biased" or lost[0]["evidence"]["share"] < 0.02,
               "what is left after a great loss is not presented as complete", whole["verdict"])
    else:
        skip("loss is told", "no tracepoints here")


def main():
    if not shutil.which("perf"):
        skip("assay report on the command line", "no perf to record with")
        print("1..%d" % count)
        return 0
    with open("p.c", "w") as file:
        file.write(PROGRAM)
    subprocess.run([CC, "-O0", "-g", "-fno-omit-frame-pointer", "-pthread", "-o", "prog", "p.c"], check=True)
    if not perf_record("p.data", ["-e", "cpu-clock", "-F", "997", "-g", "--sample-cpu"], ["./prog"]):
        skip("assay report on the command line", "perf cannot record here")
        print("1..%d" % count)
        return 0
    for part in (exit_codes, where_from, same_bytes, filters, rows, check_json, manners, names,
                 little_and_much):
        part()
    print("1..%d" % count)
    return failed > 0


sys.exit(main())
