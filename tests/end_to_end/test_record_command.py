# SPDX-License-Identifier: GPL-3.0-or-later
"""A launched command lives and ends as if nobody watched it, and bad requests leave nothing behind."""
# runner: timeout=600
import os
import pty
import select
import signal
import stat
import subprocess

from recording import ASSAY, claim, finish, manifest, record, recording_is_on, run

PYTHON = "/usr/bin/python3"


def exit_codes():
    done = record("-o", "a", "--", "/bin/sh", "-c", "exit 7")
    claim(done.code == 7, "the command's exit code is assay's", done)
    claim("assay record:" in done.err and "wrote a" in done.err and done.out == "",
          "the closing line is on stderr, stdout is the command's", done)
    end = manifest("a")["end"]
    claim(end["exit_code"] == 7 and end["target_exited"], "the exit code is in the manifest", end)
    done = record("-q", "-o", "a", "--", "/bin/sh", "-c", "kill -SEGV $$")
    claim(done.code == -signal.SIGSEGV, "death by a signal is passed on", done)
    claim(done.err == "", "-q prints nothing", done)
    done = record("-q", "-o", "a", "--", "/bin/cat", "-", input="through\n")
    claim(done.out == "through\n", "stdin and stdout are the command's", done)


def refused():
    record("-q", "-o", "kept", "--", "/bin/true")
    before = os.stat("kept/manifest.json").st_ino
    words = {
        "a program that does not exist": (127, "no-such-program-here", ["no-such-program-here"]),
        "a file that is no program": (126, "/etc/passwd", ["/etc/passwd"]),
        "a script without interpreter": (126, "script", [os.path.abspath("script")]),
    }
    with open("script", "w", encoding="ascii") as file:
        file.write("#!/no/such/interpreter\n")
    os.chmod("script", 0o755)
    for text, (code, word, command) in words.items():
        done = record("-o", "kept", "--", *command)
        claim(done.code == code and word in done.err and len(done.err.splitlines()) == 1,
              "%s: %d and one message that names it" % (text, code), done)
    bad = [["-F", "abc"], ["-F", "-5"], ["-F", "1e99"], ["-F", "0x10"], ["-F", ""], ["-c", "0"],
           ["-c", "1.5"], ["-c", "99999999999999999999"], ["-d", "nan"], ["-d", "0"],
           ["--budget", "0"], ["--budget", "101%"], ["--budget", "1%%"], ["--clocks", "0"],
           ["--clocks", "17"], ["--seed", "-1"], ["--seed", "9007199254740992"],
           ["--epoch", "1"], ["--redraw", "block:4"], ["--redraw", "often"],
           ["--schedule", "random"], ["--call-graph", "lbr"], ["--call-graph", "dwarf,70000"],
           ["-p", "12x"], ["-p", ""], ["-p", "1,,2"], ["-C", "3-1"], ["-m", "0"],
           ["--max-size", "big"], ["--max-size", "-1M"], ["--scope", "all"], ["-e", "no-event"]]
    for option in bad:
        done = record(*option, "-o", "kept", "--", "/bin/true")
        claim(done.code == 2 and repr(option[1])[1:-1] in done.err
              and len(done.err.splitlines()) == 1,
              "%s \"%s\" is refused by name" % tuple(option), done)
    for words in ([], ["-F", "100", "-c", "100", "--", "/bin/true"], ["-p", "1", "-a"],
                  ["--scope", "system", "--", "/bin/true"], ["--no-such-option"], ["-Z"],
                  ["--scope", "cgroup", "-p", "1"], ["-o"]):
        done = record(*words)
        claim(done.code == 2 and len(done.err.splitlines()) == 1,
              "`%s` is bad usage" % " ".join(words), done)
    for pid in ("4194303", "-1"):
        done = record("-p", pid)
        claim(done.code in (1, 2) and pid in done.err, "a process %s that is not there" % pid, done)
    claim(os.stat("kept/manifest.json").st_ino == before and not os.path.exists("kept.old"),
          "what was refused left the older bundle alone")
    left = [name for name in os.listdir(".") if "tmp" in name.lower()]
    claim(left == [], "and nothing half-written", left)


def output():
    record("-q", "-o", "b", "--", "/bin/true")
    first = manifest("b")["seed"]
    record("-q", "-o", "b", "--", "/bin/true")
    claim(manifest("b.old")["seed"] == first, "an older bundle is kept as .old")
    modes = {os.path.join("b", name): stat.S_IMODE(os.stat(os.path.join("b", name)).st_mode)
             for name in os.listdir("b")}
    claim(stat.S_IMODE(os.stat("b").st_mode) == 0o700 and
          all(mode == 0o600 for mode in modes.values()), "modes are 0700 and 0600", modes)
    with open("in-the-way", "w", encoding="ascii") as file:
        file.write("mine")
    os.mkdir("directory")
    with open("directory/file", "w", encoding="ascii") as file:
        file.write("mine")
    for name in ("in-the-way", "directory"):
        done = record("-o", name, "--", "/bin/sh", "-c", "touch ran")
        claim(done.code in (1, 2) and name in done.err and not os.path.exists("ran"),
              "a %s that is no bundle is not touched, nor the command run" % name, done)
    done = record("-o", "no/such/place", "--", "/bin/sh", "-c", "touch ran")
    claim(done.code == 1 and "no/such" in done.err and not os.path.exists("ran"),
          "a place that is not there is named", done)


CHILD = r"""
import os, resource, signal, json
print(json.dumps({
    "fds": sorted(int(fd) for fd in os.listdir("/proc/self/fd"))[:-1],
    "limit": resource.getrlimit(resource.RLIMIT_NOFILE),
    "mask": [int(s) for s in signal.pthread_sigmask(signal.SIG_BLOCK, [])],
    "ignored": [s for s in range(1, 32) if signal.getsignal(s) == signal.SIG_IGN],
    "session": os.getsid(0), "group": os.getpgid(0), "cwd": os.getcwd(), "nice": os.nice(0)}))
"""


def surroundings():
    import json
    import resource
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    lower = (min(300, limit[0]), limit[1])

    def lower_limit():
        resource.setrlimit(resource.RLIMIT_NOFILE, lower)
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR2])

    plain = run(PYTHON, "-c", CHILD, preexec_fn=lower_limit)
    watched = record("-q", "-o", "c", "--", PYTHON, "-c", CHILD, preexec_fn=lower_limit)
    a, b = json.loads(plain.out), json.loads(watched.out)
    # Python itself ignores SIGPIPE and SIGXFSZ.
    for key, text in (("fds", "no descriptor of assay's"), ("limit", "its own limits"),
                      ("mask", "its signal mask"), ("ignored", "its signal dispositions"),
                      ("session", "its session"), ("cwd", "its directory"), ("nice", "its priority")):
        claim(a[key] == b[key], "the command finds " + text, (a[key], b[key]))


COUNTER = r"""
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append("int"))
signal.signal(signal.SIGTERM, lambda *_: seen.append("term"))
signal.signal(signal.SIGUSR1, lambda *_: seen.append("usr1"))
print("ready", flush=True)
end = time.time() + 60
while time.time() < end:
    time.sleep(0.02)
    if seen:  # a second one would come soon
        end = min(end, time.time() + 1)
print(",".join(seen), flush=True)
"""


def signals():
    for number, name in ((signal.SIGTERM, "term"), (signal.SIGUSR1, "usr1"),
                         (signal.SIGINT, "int")):
        child = subprocess.Popen([ASSAY, "record", "-q", "-o", "d", "--", PYTHON, "-c", COUNTER],
                                 stdout=subprocess.PIPE, text=True)
        child.stdout.readline()
        child.send_signal(number)
        seen = child.stdout.read().strip()
        claim(seen == name and child.wait(60) == 0,
              "SIG%s sent to assay reaches the command once" % name.upper(), seen)
    # A terminal sends Ctrl-C to the whole foreground group by itself.
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(ASSAY, [ASSAY, "record", "-q", "-o", "e", "--", PYTHON, "-c", COUNTER])
    text = b""
    sent = False
    while True:
        ready, _, _ = select.select([terminal], [], [], 60)
        try:
            piece = os.read(terminal, 4096) if ready else b""
        except OSError:
            piece = b""
        if not piece:
            break
        text += piece
        if b"ready" in text and not sent:
            os.write(terminal, b"\x03")
            sent = True
    _, status = os.waitpid(pid, 0)
    claim(b"int" in text and b"int,int" not in text and status == 0,
          "Ctrl-C on a terminal reaches the command once", (text, status))
    # The same without a terminal: the whole group at once.
    child = subprocess.Popen([ASSAY, "record", "-q", "-o", "f", "--", PYTHON, "-c", COUNTER],
                             stdout=subprocess.PIPE, text=True, start_new_session=True)
    child.stdout.readline()
    os.killpg(child.pid, signal.SIGINT)
    seen = child.stdout.read().strip()
    claim(seen == "int" and child.wait(60) == 0,
          "a signal to the whole group reaches the command once", seen)
    child = subprocess.Popen([ASSAY, "record", "-q", "-o", "g", "--", "/bin/sleep", "120"])
    recording_is_on("g")
    child.send_signal(signal.SIGTERM)
    claim(child.wait(60) == -signal.SIGTERM, "a command that SIGTERM ends ends assay likewise",
          child.returncode)
    claim(manifest("g")["end"]["signal"] == signal.SIGTERM, "and the bundle is complete")


def main():
    exit_codes()
    refused()
    output()
    surroundings()
    signals()
    finish()


main()
