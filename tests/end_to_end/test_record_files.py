# SPDX-License-Identifier: GPL-3.0-or-later
"""The files behind the samples: the one that is really mapped, kept when its path will not lead to it;
odd paths; symbol files of programs that generate code."""
# runner: timeout=600
import hashlib
import os
import shutil
import subprocess
import sys
import time

from recording import (ASSAY, ROOT, claim, finish, manifest, path_of, record, run, skip, wait_for,
                       workload)


def objects(bundle):
    """The last entry for each path: a copy made at the end supersedes."""
    found = {}
    for epoch in manifest_objects(bundle):
        found[path_of(epoch["path"])] = epoch
    return found


def manifest_objects(bundle):
    told = manifest(bundle)
    return list(told.get("objects", [])) + [entry for epoch in told["epochs"]
                                            for entry in epoch.get("objects", [])]


def objects_so_far(bundle):
    """Of a bundle that is being written."""
    try:
        return objects(bundle)
    except (OSError, ValueError):
        return {}


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def build_id(path):
    out = run("readelf", "-n", path).out
    return out.split("Build ID:")[1].split()[0] if "Build ID:" in out else None


def identity(half):
    record("-q", "-o", "plain", "--", half, "0.3")
    entry = objects("plain").get(half, {})
    stat = os.stat(half)
    claim(entry.get("inode") == stat.st_ino and entry.get("size") == stat.st_size and
          entry.get("build_id") == build_id(half) and not entry.get("copy"),
          "a mapped file's identity is noted, and it is not copied while its path leads to it", entry)
    libc = [path for path in objects("plain") if "libc" in path]
    claim(libc and objects("plain")[libc[0]].get("build_id"), "libraries too", objects("plain"))


def changed(half, how):
    """Attach to a program whose file was deleted or replaced after it started."""
    app, name = os.path.abspath("app." + how), "out." + how
    shutil.copy(half, app)
    before = digest(app)
    target = subprocess.Popen([app, "3"], stdout=subprocess.DEVNULL)  # returns when it runs
    if how == "replaced":
        shutil.copy("/bin/true", app + ".new")
        os.rename(app + ".new", app)
    else:
        os.unlink(app)
    record("-q", "-o", name, "-d", "0.7", "-p", str(target.pid))
    target.wait()
    entry = [e for path, e in objects(name).items() if path.startswith(app)]
    copy = entry[0].get("copy") if entry else None
    claim(copy and digest(os.path.join(name, "objects", copy)) == before,
          "a %s program is copied into the bundle" % how, objects(name))
    claim(entry and entry[0].get("build_id") == build_id(half),
          "with the build-id of what was mapped (%s)" % how, entry)


def lost_meanwhile(half):
    """Deleted while it is recorded: copied at the end from the descriptor that was kept."""
    app = os.path.abspath("app.meanwhile")
    shutil.copy(half, app)
    before = digest(app)
    child = subprocess.Popen([ASSAY, "record", "-q", "-o", "meanwhile", "--", app, "2.5"],
                             stdout=subprocess.DEVNULL)
    wait_for(lambda: app in objects_so_far("meanwhile"))
    os.unlink(app)
    child.wait()
    copy = objects("meanwhile").get(app, {}).get("copy")
    claim(copy and digest(os.path.join("meanwhile", "objects", copy)) == before,
          "a program deleted while it ran is copied at the end", objects("meanwhile").get(app))


def odd_paths(half):
    places = ["with space", "new\nline", "tab\there", "ünïcode", b"latin1\xe9".decode(
        "utf-8", "surrogateescape"), "real name (deleted)", "[heap]", "-e", "semi;colon",
              "d" * 200 + "/" + "d" * 200]
    script = []
    for place in places:
        os.makedirs(os.path.join("odd", place), exist_ok=True)
        path = os.path.abspath(os.path.join("odd", place, "app"))
        shutil.copy(half, path)
        script.append(path)
    with open("run.sh", "wb") as file:
        for path in script:
            file.write(b"'" + os.fsencode(path) + b"' 0.1\n")
    done = record("-q", "-o", "oddly", "--", "/bin/sh", "run.sh")
    seen = objects("oddly")
    missing = [path for path in script if path not in seen]
    claim(done.code == 0 and missing == [], "paths with any byte in them stay what they are",
          (done, missing, [path for path in seen if "odd" in path]))


MAPPER = r"""
import mmap, os, sys, time
memory = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
with open("/tmp/perf-%d.map" % os.getpid(), "w") as file:
    file.write("1000 20 generated_name\n")
print(os.getpid(), flush=True)
end = time.process_time() + float(sys.argv[1])
while time.process_time() < end:
    pass
if len(sys.argv) > 2:
    os.unlink("/tmp/perf-%d.map" % os.getpid())
"""


def generated_code():
    done = record("-q", "-o", "jit", "--", "/usr/bin/python3", "-c", MAPPER, "0.5")
    pid = done.out.strip()
    kept = os.path.join("jit", "maps", "perf-%s.map" % pid)
    claim(os.path.exists(kept) and "generated_name" in open(kept, encoding="ascii").read(),
          "the symbol file of a program that generates code is kept", done)
    os.unlink("/tmp/perf-%s.map" % pid)
    done = record("-q", "-o", "no-jit", "--", "/bin/true")
    claim(not os.path.exists("no-jit/maps"), "nothing is kept of one that does not")


def namespace(half):
    """A program that only exists in its own mount namespace."""
    if not ROOT or not shutil.which("unshare"):
        skip("a file of another mount namespace is copied", "needs root and unshare")
        return
    os.makedirs("hidden", exist_ok=True)
    inner = ("mount -t tmpfs none hidden && cp %s hidden/app && exec %s/hidden/app 1"
             % (half, os.getcwd()))
    done = record("-q", "-o", "inner", "--", "unshare", "-m", "/bin/sh", "-c", inner)
    if "left" not in done.out:
        skip("a file of another mount namespace is copied", "unshare failed: " + done.err.strip())
        return
    entry = objects("inner").get(os.path.abspath("hidden/app"), {})
    copy = entry.get("copy")
    claim(copy and digest(os.path.join("inner", "objects", copy)) == digest(half),
          "a file of another mount namespace is copied", objects("inner"))


def main():
    half = workload("half")
    identity(half)
    if ROOT:
        changed(half, "deleted")
        changed(half, "replaced")
    lost_meanwhile(half)
    odd_paths(half)
    generated_code()
    namespace(half)
    finish()


main()
