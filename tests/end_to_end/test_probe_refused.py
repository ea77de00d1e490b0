#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Processes that cannot be probed, and what assay says then; and one that is hardened and can be."""
# runner: timeout=120
import os
import shutil
import subprocess
import sys
import tempfile

from probing import ASSAY, buffers_of, build, claim, finish, probe, require_engine, run, signal, skip
from recording import wait_for

TRACER = """import ctypes, sys, time
if ctypes.CDLL(None).ptrace(0x4206, int(sys.argv[1]), None, None) == 0:  # PTRACE_SEIZE
    print("traces", flush=True)
    time.sleep(60)
"""
PR_SET_MDWE = 65


def service(program, **options):
    process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                               **options)
    process.stdout.readline()
    return process


def tell(process, words):
    process.stdin.write(words + "\n")
    process.stdin.flush()
    return process.stdout.readline().strip()


def refused(process, text, *wanted, **options):
    words = [options.pop("assay", ASSAY), "probe", "-f", "service!serve", "-d", "0.2", "-p",
             str(process.pid)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=60,
                          check=False, **options)
    claim(done.returncode == 1 and all(word in done.stderr for word in wanted) and
          len(done.stderr.splitlines()) == 1, text, done)


def end(process, text):
    claim(tell(process, "work 30") == "served 30", text)
    process.communicate("quit\n", timeout=60)


def traced(program):
    process = service(program)
    with subprocess.Popen([sys.executable, "-c", TRACER, str(process.pid)], stdout=subprocess.PIPE,
                          text=True) as tracer:
        tracer.stdout.readline()
        refused(process, "under another tracer: it is named", "traced by process %d" % tracer.pid)
        tracer.kill()
    done = run(ASSAY, "probe", "-f", "service!serve", "-d", "0.1", "-p", str(process.pid))
    claim(done.code == 0, "when that has ended the process can be probed", done)
    end(process, "and works")


def state(pid):
    with open("/proc/%d/stat" % pid, encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]


def stopped(program):
    process = service(program)
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: state(process.pid) == "T")
    refused(process, "a stopped process: it is to go on first", "stopped")
    process.send_signal(signal.SIGCONT)
    end(process, "it goes on as before")


def another_user(program):
    if os.geteuid() != 0:
        skip("a process of another user", "only root can make one")
        return
    process = service(program)
    with tempfile.TemporaryDirectory() as folder:
        assay = os.path.join(folder, "assay")
        shutil.copy(ASSAY, assay)
        os.chmod(folder, 0o755)
        os.chmod(assay, 0o755)
        refused(process, "a process of another user: CAP_SYS_PTRACE is named", "user 0",
                "CAP_SYS_PTRACE", assay=assay, user=65534, group=65534, extra_groups=[])
        end(process, "it has not noticed")
        process = service(shutil.copy(program, folder), user=65534, group=65534, extra_groups=[])
        done = run(ASSAY, "probe", "-f", "service!serve", "-d", "0.1", "-p", str(process.pid))
        claim(done.code == 0, "root may probe the processes of others", done)
        end(process, "which go on")


def no_executable_writes(program):
    """PR_SET_MDWE: nothing can be mapped writable and executable, or become executable later."""
    asked = subprocess.run([sys.executable, "-c", "import ctypes, sys\nsys.exit(ctypes.CDLL(None)"
                            ".prctl(%d, 1, 0, 0, 0) != 0)" % PR_SET_MDWE], check=False)
    if asked.returncode:
        skip("PR_SET_MDWE", "this kernel does not have it")
        return
    with subprocess.Popen([sys.executable, "-c", "import ctypes, os, sys\n"
                           "assert ctypes.CDLL(None).prctl(%d, 1, 0, 0, 0) == 0\n"
                           "os.execv(sys.argv[1], sys.argv[1:])" % PR_SET_MDWE, program],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        for mode in ("count", "time"):
            with subprocess.Popen([ASSAY, "probe", "--mode", mode, "-f", "service!serve", "-p",
                                   str(process.pid)], stdout=subprocess.PIPE, text=True) as assay:
                buffers_of(assay)
                tell(process, "work 77")
                with open("/proc/%d/maps" % process.pid, encoding="utf-8") as maps:
                    claim("rwx" not in maps.read(), "nothing is writable and executable, " + mode)
                assay.send_signal(signal.SIGINT)
                out = assay.communicate(timeout=60)[0]
            claim(assay.returncode == 0 and " 77 " in out,
                  "a process under PR_SET_MDWE is probed all the same, " + mode, out)
        end(process, "and works")


def gone(program):
    process = service(program)
    process.kill()
    process.wait()
    refused(process, "a process that has ended", str(process.pid))
    done = probe("-p", process.pid, functions=["service!serve"])
    claim(done.code == 1 and done.document is None, "leaves no document", done)


def main():
    require_engine()
    program = build("service", "-O2")
    traced(program)
    stopped(program)
    another_user(program)
    no_executable_writes(program)
    gone(program)
    finish()


if __name__ == "__main__":
    main()
