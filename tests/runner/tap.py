# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges one test program by its TAP output and the way it ended.

Takes the lines of standard output, the exit status and whether time ran out; gives a list of results.
A program is believed only as far as its output is whole: what died, hung, broke its plan, skipped
without a reason, or ended with an error that no test explains, is a failure of its own. TAP is the
one of testanything.org version 12/13 as far as cmocka 1.1 and our Python tests print it; cmocka
prints a skip as `not ok N # SKIP name`, and the reason in a comment `# SKIP reason` before it.
"""

import re
import signal
from dataclasses import dataclass, field

PASSED, FAILED, SKIPPED = "passed", "failed", "skipped"
EVIDENCE_CHARACTERS = 300

_RESULT = re.compile(r"^(not ok|ok)\b\s*(\d+)?\s*(?:-\s*)?(.*)$")
_PLAN = re.compile(r"^1\.\.(\d+)\s*(?:#.*)?$")
_SKIP = re.compile(r"(?:^|\s)#\s*SKIP\b\S*\s*(.*)$", re.IGNORECASE)


@dataclass
class Result:
    claim: str
    outcome: str
    reason: str = ""  # of a skip or a failure
    details: list = field(default_factory=list)  # what the program printed about it


def _parse(lines):
    """The results in order, the sum of the plans (None without one), and complaints."""
    results, complaints, comments = [], [], []
    planned, numbers = None, 0
    for line in lines:
        plan = _PLAN.match(line)
        result = _RESULT.match(line)
        if plan:
            if planned is not None:
                numbers = 0  # a second group of cmocka tests counts from 1 again
            planned = (planned or 0) + int(plan.group(1))
            continue
        if not result:
            skip = _SKIP.match(line)
            comments.append(line)
            if results and not skip:
                results[-1].details.append(line)
            continue
        numbers += 1
        if result.group(2) and int(result.group(2)) != numbers:
            complaints.append(f"test number {result.group(2)} where {numbers} was due")
            numbers = int(result.group(2))
        results.append(_one(result, comments))
        comments = []
    return results, planned, complaints


def _one(match, comments):
    """One result line. `comments` are the lines since the result before."""
    text = match.group(3).strip()
    skip = _SKIP.search(text)
    if not skip:
        outcome = PASSED if match.group(1) == "ok" else FAILED
        return Result(text or "(no name)", outcome, details=list(comments))
    claim, reason = text[: skip.start()].strip(), skip.group(1).strip()
    if match.group(1) == "not ok":  # cmocka: the name stands where the reason should
        claim, reason = reason, ""
    for comment in comments:
        earlier = _SKIP.match(comment)
        if earlier and not reason:
            reason = earlier.group(1).strip()
    if not reason:
        return Result(claim, FAILED, "skipped without a reason", list(comments))
    return Result(claim, SKIPPED, reason)


def judge(lines, status, timed_out, plan_required):
    """All results of a program; `status` as of subprocess (negative: the signal that ended it)."""
    results, planned, complaints = _parse(lines)
    if timed_out:
        complaints.append("ran out of time")
    elif status < 0:
        complaints.append(f"died by {_signal_name(-status)}")
    elif status > 0 and all(result.outcome != FAILED for result in results):
        complaints.append(f"ended with {status} although no test failed")
    elif status == 0 and any(result.outcome == FAILED and not result.reason for result in results):
        complaints.append("ended with 0 although a test failed")
    if planned is not None and planned != len(results):
        complaints.append(f"planned {planned} tests, gave {len(results)}")
    if planned is None and plan_required and not timed_out and status >= 0:
        complaints.append("printed no plan")
    if not results and not complaints:
        complaints.append("holds no test")
    if complaints:
        results.append(Result("the program runs to its end", FAILED, "; ".join(complaints)))
    return results


def evidence(result, errors=""):
    """One line on why a test failed: what it printed about itself, else how standard error ends."""
    lines = [result.reason] + [line.lstrip("# ") for line in result.details]
    if not result.details:
        lines += errors.splitlines()[-2:]
    return " ".join(" ".join(lines).split())[:EVIDENCE_CHARACTERS]


def _signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
