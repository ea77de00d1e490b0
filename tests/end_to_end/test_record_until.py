# SPDX-License-Identifier: GPL-3.0-or-later
"""--until: a recording ends when its question is answered, says why it ended, and its report knows."""
# runner: timeout=600
import os
import signal
import subprocess

from recording import (ASSAY, claim, claim_repeated, finish, manifest, record, recording_is_on, run,
                       workload)

import json

LONG = 300  # seconds of CPU time that no recording here needs
# The kernel's part is the machine's: on a busy one up to 20 %, more than the third function has.
USER = ["-e", "cpu-clock:u"]


def report(bundle):
    return json.loads(run(ASSAY, "report", "--json", "-i", bundle).out)


def winner(weights):
    done = record("-F", "500", *USER, "--until", "top=1", "--max-time", "120", "-o", "winner", "--",
                  weights, LONG, 7, 6, 2, 1)
    told = manifest("winner")
    elapsed = (told["end"]["end_ns"] - told["start_ns"]) / 1e9
    claim(done.code == 0 and told["end"]["reason"] == "settled" and elapsed < 100,
          "a clear winner ends the recording long before --max-time", (done, told["end"], elapsed))
    claim(told["until"] == "top=1" and told["end"]["looks"] >= 1
          and told["end"]["settled"] == "alpha is first",
          "question, looks and answer stand in the manifest", (told.get("until"), told["end"]))
    claim("--until top=1: settled after" in done.err and "alpha is first" in done.err,
          "the end says why it stopped, and the answer", done)
    read = report("winner")
    claim(read["until"] == {"question": "top=1", "ended_by_data": True, "reason": "settled",
                            "text": "alpha is first", "looks": told["end"]["looks"]},
          "report --json says that the data ended it", read.get("until"))
    claim(read["functions"][0]["name"] == "alpha", "the winner is the first row")
    text = run(ASSAY, "report", "-i", "winner").out
    claim("by the data: --until top=1" in text and "intervals" in text.split("by the data")[1][:400],
          "report says that the stop was driven by the data, and what that means", text)


def order(weights):
    done = record("-F", "500", *USER, "--until", "top=3", "--max-time", "120", "-o", "order", "--",
                  weights, LONG, 7, 6, 3, 1)
    told = manifest("order")
    claim(told["end"]["reason"] == "settled"
          and told["end"]["settled"].endswith("settled: alpha, beta, gamma_ray"),
          "top=3 ends with the three in order", (done, told["end"]))
    done = record("-F", "500", *USER, "--until", "top=2:set", "--max-time", "120", "-o", "set", "--",
                  weights, LONG, 7, 4, 4, 1)
    told = manifest("set")
    claim(told["end"]["reason"] == "settled" and "not their order" in told["end"]["settled"],
          "top=2:set is settled where the two are a tie", (done, told["end"]))
    done = record("-F", "500", *USER, "--until", "share=±8%", "--max-time", "120", "-o", "share", "--",
                  weights, LONG, 7, 4, 4, 1)
    told = manifest("share")
    claim(told["end"]["reason"] == "settled" and told["until"] == "share=±8%"
          and "within 8 points" in done.err, "share=±8% ends when all shares are known", (done, told))


def tie(weights):
    done = None

    def attempt(_turn):  # a tie is settled falsely in at most 5 % of recordings
        nonlocal done
        done = record("-F", "400", "--epoch", "60", "--until", "top=1", "--max-time", "8", "-o", "tie",
                      "--", weights, LONG, 7, 1, 1)
        return manifest("tie")["end"]["reason"] == "duration", done
    if not claim_repeated("a tie runs to --max-time", attempt):
        return
    read, told = report("tie"), manifest("tie")
    claim("time is over, not settled: " in done.err and "alpha" in done.err and "beta" in done.err,
          "and says which two are open", done)
    claim("settled" not in told["end"] and told["end"]["looks"] >= 1,
          "the manifest has the looks, but no answer", told["end"])
    claim(read["until"]["ended_by_data"] is False, "the report knows that the data did not end it",
          read["until"])


def endings(weights):
    # far from the twelfth epoch, before which nobody looks
    done = record("-F", "300", "--epoch", "200", "--until", "top=1", "-o", "exit", "--", weights, "0.3", 7, 1, 1)
    claim(done.code == 7 and manifest("exit")["end"]["reason"] == "exit"
          and "the target ended, " in done.err,
          "a command that ends first keeps its exit code", done)
    target = subprocess.Popen([weights, str(LONG), "7", "6", "2", "1"], stdout=subprocess.DEVNULL)
    done = record("-F", "500", "--until", "top=1", "--max-time", "120", "-o", "attached", "-p",
                  target.pid)
    claim(done.code == 0 and manifest("attached")["end"]["reason"] == "settled"
          and target.poll() is None, "a process that was attached to goes on when it is settled",
          (done, manifest("attached")["end"]))
    target.kill()
    target.wait()
    target = subprocess.Popen([weights, str(LONG), "7", "1", "1"], stdout=subprocess.DEVNULL)
    child = subprocess.Popen([ASSAY, "record", "-F", "300", "--until", "top=1", "-o", "ctrl-c", "-p",
                              str(target.pid)], stderr=subprocess.PIPE, text=True)
    recording_is_on("ctrl-c")
    child.send_signal(signal.SIGINT)
    err = child.communicate(timeout=60)[1]
    reason = manifest("ctrl-c")["end"]["reason"]
    claim(child.returncode == 0 and (reason == "settled" or "interrupted, " in err),
          "Ctrl-C ends it in order", (child.returncode, reason, err))
    target.send_signal(signal.SIGUSR1)
    claim(target.wait(60) == 7, "and leaves the target alone", target.returncode)
    done = record("-q", "-F", "500", "--until", "top=1", "--max-time", "120", "-o", "quiet", "--",
                  weights, LONG, 7, 6, 2, 1)
    claim(done.code == 0 and done.err == "" and manifest("quiet")["end"]["reason"] == "settled",
          "-q says nothing and ends all the same", done)


def refused():
    done = record("--until", "top=0", "-o", "none", "--", "/bin/sh", "-c", "touch ran")
    claim(done.code == 2 and "top=K" in done.err and not os.path.exists("ran"),
          "a question that is none is refused before anything runs", done)
    done = record("--until", "top=1", "--schedule", "fixed", "-o", "none", "--", "/bin/sh", "-c",
                  "touch ran")
    claim(done.code == 2 and "randomised clock" in done.err and not os.path.exists("ran"),
          "--until with a fixed clock is refused: nothing can be settled", done)


def main():
    weights = workload("weights")
    winner(weights)
    order(weights)
    tie(weights)
    endings(weights)
    refused()
    finish()


main()
