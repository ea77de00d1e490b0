# SPDX-License-Identifier: GPL-3.0-or-later
"""Symbols from a debuginfod server: only when asked for, and only of the right build."""
# runner: no-sanitizer
import http.server
import json
import os
import re
import shutil
import subprocess
import threading

from recording import ASSAY, claim, finish, record, run

CC = os.environ.get("CC", "gcc")
PROGRAM = r"""
#include <time.h>
__attribute__((noinline)) static void server_knows(double end) {
	while ((double)clock() / CLOCKS_PER_SEC < end) for (volatile int i = 0; i < 90000; i++);
}
int main(void) { server_knows((double)clock() / CLOCKS_PER_SEC + 1); return 0; }
"""


class Server(http.server.ThreadingHTTPServer):
    """Serves `answers`, path to bytes, and remembers what was asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.answers.get(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *_):
        pass


def build():
    with open("p.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    for name, flags in (("program", []), ("stranger", ["-DX", "-O0"])):
        subprocess.run([CC, "-O1", "-g", "-Wl,--build-id=sha1", *flags, "p.c", "-o", name], check=True)
    subprocess.run(["objcopy", "--only-keep-debug", "program", "program.debug"], check=True)
    subprocess.run(["strip", "program"], check=True)
    return re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", "program").out).group(1)


def names(server, *words):
    shutil.rmtree("cache", ignore_errors=True)
    environment = dict(os.environ, DEBUGINFOD_URLS="http://127.0.0.1:%d" % server.server_port,
                       DEBUGINFOD_CACHE_PATH=os.path.abspath("cache"))
    done = run(ASSAY, "report", "--json", *words, "served", env=environment)
    return {function["name"] for function in json.loads(done.out)["functions"]} if not done.code else str(done)


def content(path):
    with open(path, "rb") as file:
        return file.read()


build_id = build()
record("-F", "499", "-e", "cpu-clock:u", "-o", "served", "--", "./program")
server = Server()
address = "/buildid/%s/debuginfo" % build_id
server.answers[address] = content("program.debug")
found = names(server)
claim("server_knows" not in found and not server.asked,
      "no server is asked without --debuginfod", "%s\n%s" % (found, server.asked))
found = names(server, "--debuginfod")
claim("server_knows" in found and address in server.asked,
      "with it, the debug file of a build-id gives names", "%s\n%s" % (found, server.asked))
server.answers[address] = content("stranger")
found = names(server, "--debuginfod")
claim("server_knows" not in found, "an answer of another build gives none", found)
server.answers[address] = b"no ELF file"
found = names(server, "--debuginfod")
claim("server_knows" not in found and any("program+0x" in name for name in found),
      "nor does an answer that is no program", found)
server.shutdown()
finish()
