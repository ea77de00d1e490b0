# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one test program in an empty directory, with a limit of time.

The program leads a process group of its own, which is killed when time runs out and also when the
program ended and left children behind, so that no test disturbs the next.
"""

import os
import signal
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass

import tap

OUTPUT_MAX_BYTES = 4 << 20


@dataclass
class Run:
    program: object
    results: list
    seconds: float
    errors: str  # standard error


def _read(file):
    file.seek(0)
    return file.read(OUTPUT_MAX_BYTES).decode("utf-8", "replace")


def _end_group(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass


def _run_in(program, environment, directory):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        timed_out, status = False, 127
        try:
            process = subprocess.Popen(program.command, stdin=subprocess.DEVNULL, stdout=out,
                                       stderr=err, cwd=directory, env=environment,
                                       start_new_session=True)
        except OSError as error:
            missing = tap.Result("the program can be started", tap.FAILED, f"not built? {error}")
            return [missing], ""
        try:
            status = process.wait(program.timeout)
        except subprocess.TimeoutExpired:
            timed_out = True
        _end_group(process)
        process.wait()
        lines = _read(out).splitlines()
        return tap.judge(lines, status, timed_out, program.plan_required), _read(err)


def execute(program, environment):
    directory = tempfile.mkdtemp(prefix="assay-test-")
    os.chmod(directory, 0o755)  # tests that drop privileges must get in
    start = time.monotonic()
    try:
        results, errors = _run_in(program, dict(environment, TMPDIR=directory), directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return Run(program, results, time.monotonic() - start, errors)
