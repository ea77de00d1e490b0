#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the seeds of fuzz_recording from the recordings that raise findings, cut to a few hundred samples.

    tests/fuzz/report/make-seeds.py

Writes into recording/ beside it. Inputs that fuzzing found have names that begin with "found-" and are not
made here.
"""
import os
import struct
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.join(HERE, "..", "..")
sys.path[:0] = [os.path.join(TESTS, "end_to_end"), os.path.join(TESTS, "data", "findings")]

import recipes  # noqa: E402
from synthetic import Scene  # noqa: E402

CHOSEN = ["alias-flip", "loss", "throttle", "multiplex", "retune", "regime", "migration", "unfinished"]
PLAIN = ["alias-flip", "loss", "multiplex"]      # also without their manifest
SECONDS, EPOCHS = 0.15, 10


def read(path):
    with open(path, "rb") as file:
        return file.read()


def main():
    os.makedirs(os.path.join(HERE, "recording"), exist_ok=True)
    for code in CHOSEN:
        with tempfile.TemporaryDirectory() as folder:
            scene = Scene(seed=len(code), seconds=SECONDS, n_epochs=EPOCHS)
            path = recipes.RECIPES[code, "has"](scene, folder) or scene.write(os.path.join(folder, "s.assay"))
            data, manifest = read(os.path.join(path, "perf.data")), read(os.path.join(path, "manifest.json"))
        for name, head in [(code, manifest)] + [(code + "-plain", b"")] * (code in PLAIN):
            with open(os.path.join(HERE, "recording", name), "wb") as file:
                file.write(struct.pack("<I", len(head)) + head + data)


main()
