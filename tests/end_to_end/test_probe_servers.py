#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""--follow on programs of others that work in several processes, against what they count themselves: gcc's compiler
proper, workers of nginx, backends of postgres."""
# runner: timeout=300
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import time

from probing import claim, finish, probe, require_engine, skip
from test_probe_processes import Probing

N_FUNCTIONS = (3, 50, 200)
REQUESTS = 30


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def calls(document, name, **wanted):
    """Calls of a function by process, of the processes with these values."""
    return [sum(row["calls"] for row in process["functions"] if row["name"].startswith(name))
            for process in document["processes"]
            if all(process.get(key) == value for key, value in wanted.items())]


def gcc(mode):
    """cc1 is an exec child of the driver; it finishes each function of its source once."""
    cc1 = subprocess.run(["gcc", "-print-prog-name=cc1"], capture_output=True, text=True,
                         check=True).stdout.strip()
    names = subprocess.run(["nm", "-D", cc1], capture_output=True, text=True, check=False).stdout
    if "finish_function" not in names:
        skip("gcc", "this cc1 exports no names")
        return
    for n in N_FUNCTIONS:
        with open("source%d.c" % n, "w", encoding="utf-8") as file:
            for i in range(n):
                file.write("long function%d(long x) { return x * %d + 1; }\n" % (i, i))
    sources = ["source%d.c" % n for n in N_FUNCTIONS]
    subprocess.run(["gcc", "-O1", "-c", *sources], check=True)
    wanted = {}
    for source in sources:
        with open(source[:-1] + "o", "rb") as file:
            wanted[source] = file.read()
        os.unlink(source[:-1] + "o")
    probed = probe("--", "gcc", "-O1", "-c", *sources, mode=mode, options=("--follow",),
                   functions=("cc1!_Z15finish_function*", "libbfd*!bfd_close"))
    got = calls(probed.document, "finish_function", comm="cc1", start="exec")
    claim(probed.code == 0 and got == list(N_FUNCTIONS),
          "each cc1 finishes the functions of its source, %s" % mode, "%s\n%s" % (got, probed))
    claim(calls(probed.document, "bfd_close", comm="as") == [1, 1, 1],
          "each assembler closes one object, %s" % mode, probed)
    same = True
    for source in sources:
        with open(source[:-1] + "o", "rb") as file:
            same &= file.read() == wanted[source]
    claim(same, "the objects are the same bytes as without probes, %s" % mode)


def request(port):
    with socket.create_connection(("127.0.0.1", port), timeout=60) as one:
        one.sendall(b"GET / HTTP/1.0\r\n\r\n")
        text = b""
        while True:
            part = one.recv(4096)
            if not part:
                return text.endswith(b"ok\n")
            text += part


def reachable(port, process):
    end = time.time() + 60
    while time.time() < end and process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        except OSError:
            time.sleep(0.05)
    return False


NGINX = """daemon off;
worker_processes 2;
error_log %(here)s/error.log;
pid %(here)s/nginx.pid;
events { worker_connections 64; }
http {
	access_log %(here)s/access.log;
	server { listen 127.0.0.1:%(port)d; location / { return 200 "ok\\n"; } }
}
"""


def nginx(mode):
    """Workers are forks of the master; on a reload it makes new ones. The access log has a line per request."""
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program:
        skip("nginx", "it is not installed (nginx-core)")
        return
    here, port = os.path.abspath("nginx-%s" % mode), free_port()
    os.mkdir(here)
    with open(here + "/nginx.conf", "w", encoding="utf-8") as file:
        file.write(NGINX % {"here": here, "port": port})
    server = subprocess.Popen([program, "-p", here, "-c", here + "/nginx.conf"],
                              stderr=subprocess.DEVNULL)
    good = reachable(port, server)
    probing = Probing([server.pid], "--follow", mode=mode,
                      functions=("nginx!ngx_http_process_request", "nginx!ngx_http_log_request"))
    probing.wait_until_on([server.pid])
    server.send_signal(signal.SIGHUP)
    end, workers = time.time() + 60, set()
    while time.time() < end and len(workers) < 2:
        # the old ones, which are not followed, leave
        time.sleep(0.2)
        workers = {int(pid) for pid in subprocess.run(
            ["ps", "-o", "pid=", "--ppid", str(server.pid)], capture_output=True, text=True,
            check=False).stdout.split()} if stable(server.pid) else set()
    good &= all([request(port) for _ in range(REQUESTS)])
    server.send_signal(signal.SIGQUIT)
    server.wait(timeout=60)
    probing.end(interrupt=False)
    with open(here + "/access.log", encoding="utf-8") as file:
        logged = len(file.readlines())
    claim(good and logged == REQUESTS, "nginx serves while its workers are probed, %s" % mode, logged)
    got = calls(probing.document, "ngx_http_process_request", start="fork")
    claim(sum(got) == logged and probing.calls("ngx_http_process_request") == logged,
          "requests of all workers, exactly, %s" % mode, "%s\n%s" % (got, probing))


def stable(pid):
    """No worker of the master is about to leave."""
    out = subprocess.run(["ps", "-o", "args=", "--ppid", str(pid)], capture_output=True, text=True,
                         check=False).stdout
    return "shutting down" not in out and out.count("worker process") == 2 and \
        min_age(pid) is not None


def min_age(pid):
    out = subprocess.run(["ps", "-o", "etimes=", "--ppid", str(pid)], capture_output=True, text=True,
                         check=False).stdout.split()
    return min(map(int, out)) if out else None


def postgres(mode):
    """Each connection is a fork of the postmaster; pgbench -C makes one per transaction, and says how many."""
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/postgres"))
    try:
        user = pwd.getpwnam("postgres")
    except KeyError:
        user = None
    if not found or not user or os.getuid() != 0:
        skip("postgres", "it is not installed (postgresql), or this is not root")
        return
    folder = os.path.dirname(found[-1])
    here = os.path.abspath("postgres-%s" % mode)
    os.mkdir(here)
    os.chown(here, user.pw_uid, user.pw_gid)

    def command(*words):
        return subprocess.run(["setpriv", "--reuid", "postgres", "--regid", "postgres",
                               "--clear-groups", *words], capture_output=True, text=True, cwd="/",
                              check=False, timeout=200)

    port = str(free_port())
    done = command(folder + "/initdb", "-N", "-D", here + "/data", "-A", "trust")
    if done.returncode:
        skip("postgres", "initdb: " + done.stderr.strip()[-200:])
        return
    command(folder + "/pg_ctl", "-D", here + "/data", "-w", "-l", here + "/log", "-o",
            "-F -k /tmp -p %s -c listen_addresses=" % port, "start")
    with open("script.sql", "w", encoding="utf-8") as file:
        file.write("SELECT 1;\n")
    os.chmod(".", 0o755)
    with open(here + "/data/postmaster.pid", encoding="utf-8") as file:
        postmaster = int(file.readline())
    probing = Probing([postmaster], "--follow", mode=mode,
                      functions=("postgres!PostgresMain", "postgres!pg_parse_query"))
    probing.wait_until_on([postmaster])
    with open("script.sql", "rb") as script:
        done = subprocess.run([folder + "/pgbench", "-h", "/tmp", "-p", port, "-U", "postgres", "-n",
                               "-C", "-t", "15", "-c", "2", "-f", "-", "postgres"], stdin=script,
                              capture_output=True, text=True, timeout=200, check=False)
    said = re.search(r"actually processed: (\d+)/30", done.stdout)
    command(folder + "/pg_ctl", "-D", here + "/data", "-w", "-m", "fast", "stop")
    probing.end(interrupt=False)
    got = [parsed for parsed in calls(probing.document, "pg_parse_query", start="fork") if parsed]
    claim(said and int(said.group(1)) == 30, "postgres serves while its backends are probed, %s" %
          mode, done.stdout + done.stderr)
    claim(got.count(1) >= 30 and sum(got) == probing.calls("pg_parse_query") and
          calls(probing.document, "PostgresMain", start="fork").count(1) ==
          probing.calls("PostgresMain") >= 30,
          "a backend per transaction, with one query each, %s" % mode, "%s\n%s" % (got, probing))


def main():
    require_engine()
    for mode in ("count", "time") if os.environ.get("LONG") == "1" else ("count",):
        gcc(mode)
        nginx(mode)
        postgres(mode)
    finish()


if __name__ == "__main__":
    main()
