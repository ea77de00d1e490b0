# SPDX-License-Identifier: GPL-3.0-or-later
"""report --top K on real recordings: is the set settled, is its order, what would settle it, and do clocks of
other kinds agree?"""
# runner: timeout=300
import json

from recording import ASSAY, claim, claim_repeated, finish, record, run, workload


# The kernel's part is the machine's: on a busy one up to 20 %, as much as the third function has.
USER = ["-e", "cpu-clock:u"]


def report(bundle, *words):
    return json.loads(run(ASSAY, "report", "--json", "-i", bundle, *words).out)


def tie(weights, first):
    def attempt(turn):  # an order is asserted wrongly in at most 5 % of recordings
        told = first
        if turn:
            record("-q", "-F", "800", *USER, "-o", "tie%d" % turn, "--", weights, "4", 0, 7, 2, 2)
            told = report("tie%d" % turn, "--top", 2)
        verdict, settle = told["verdict"], told["settle"]
        pair = settle["comparison"] or {}
        return ((verdict["order_settled"] is False or verdict["state"] == "biased")
                and (settle["seconds"] is None or settle["seconds"] > 0
                     and {pair.get("a"), pair.get("b")} == {"beta", "gamma_ray"}), (verdict, settle))
    claim_repeated("the order of a tie is open, and settle names the two and the time they would take", attempt)


def known(weights):
    record("-q", "-F", "800", *USER, "--schedule", "mixed", "-o", "mixed", "--", weights, "4", 0, 7, 2, 2)
    top = {k: report("mixed", "--top", k) for k in (1, 2, 3)}
    for k in top:
        claim(top[k]["verdict"]["top"] == k and top[k]["stability"]["k"] == k,
              "--top %d is what verdict and stability are about" % k, top[k]["verdict"])
    claim(top[1]["verdict"]["set_settled"] and top[1]["functions"][0]["name"] == "alpha",
          "a clear first is settled", top[1]["verdict"])
    claim(top[3]["verdict"]["set_settled"], "three of three are a settled set", top[3]["verdict"])
    tie(weights, top[2])
    kinds = {s["kind"]: s for s in top[1]["stability"]["by_schedule"]}
    claim(set(kinds) == {"jitter", "exp", "fixed and prime"} and kinds["fixed and prime"]["canary"]
          and all(s["set"] == 1 for s in kinds.values()),
          "every kind of clock agrees with a clear first", kinds)
    record("-q", "-F", "800", "--canary", "-o", "canary", "--", weights, "3", 0, 7, 2, 2)
    kinds = [(s["kind"], s["canary"]) for s in report("canary")["stability"]["by_schedule"]]
    claim(kinds == [("jitter", False), ("fixed", True)], "a canary is a schedule of its own", kinds)
    record("-q", "-F", "800", "-o", "plain", "--", weights, "2", 0, 7, 2, 2)
    claim(report("plain")["stability"]["by_schedule"] == [],
          "clocks of one kind have nobody to be compared with")


def main():
    known(workload("weights"))
    finish()


main()
