#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""assay probe --mode trace: a record of each entry and exit, and from the records alone totals, edges and the call tree."""
# runner: timeout=300
import struct

from probing import build, claim, finish, number, probe, require_engine

RECORD = struct.Struct("<QQIIII")
MAGIC = 0x3143525459415353


def close(a, b):
    return abs(a - b) <= 1e-6 * max(abs(a), abs(b), 1)


def edges_and_tree():
    done = probe("--", build("away", "-O2"), 20, 1, functions=["away!outer", "away!sleeper", "away!spin"],
                 mode="trace", options=["--audit", "--records", "records"])
    rounds, document = number(done.out, "rounds"), done.document
    claim(done.code == 0 and document["trace"]["agrees"] and document["trace"]["calls_dropped"] == 0,
          "the records alone give the sums of the agent", document and document["trace"])
    edges = {(edge["caller"], edge["callee"]): edge for edge in document["edges"]}
    claim(edges[None, "outer"]["calls"] == edges["outer", "sleeper"]["calls"] == rounds and
          edges["outer", "spin"]["calls"] == 2 * rounds and edges["sleeper", "spin"]["calls"] == rounds,
          "callers are told apart", document["edges"])
    for name, row in done.rows.items():
        calls = sum(edge["calls"] for edge in document["edges"] if edge["callee"] == name)
        total = sum(edge["inclusive"] for edge in document["edges"] if edge["callee"] == name)
        own = sum(node["self"] for node in document["tree"] if node["name"] == name)
        claim(calls == row["calls"] and close(total, row["inclusive"]) and close(own, row["self"]),
              "%s: edges and tree add up to its row" % name, done)
    tree = document["tree"]
    claim(all(node["parent"] is None or node["parent"] < i for i, node in enumerate(tree)) and
          {(tree[node["parent"]]["name"] if node["parent"] is not None else None, node["name"])
           for node in tree} == set(edges), "the tree has the same callers", tree)
    stored(document, rounds)


def stored(document, rounds):
    with open("records", "rb") as file:
        data = file.read()
    head = RECORD.unpack_from(data)
    records = [RECORD.unpack_from(data, at) for at in range(RECORD.size, len(data), RECORD.size)]
    claim(head[0] == MAGIC and head[1] == 1 | RECORD.size << 32 and len(data) % RECORD.size == 0 and
          len(records) == document["trace"]["records"], "--records keeps each record", (head, len(records)))
    points = [record[2] for record in records if record[2] < 0xfffffffe]
    entries = sum(point >> 20 == 0 for point in points)
    claim(entries == len(points) - entries == 5 * rounds, "as many exits as entries",
          (entries, len(points)))


def programs():
    for name, flags in (("throw", ("-O1",)), ("coro", ("-O1",)), ("regs", ("-O2", "-z", "execstack"))):
        done = probe("--", build(name, *flags, **({"compiler": "gcc"} if name == "regs" else {})), "0.3",
                     functions=[name + "!*"], mode="trace", options=["--audit"])
        trace = done.document["trace"]
        claim("OK" in done.out and (done.code == 0) == trace["agrees"] and
              trace["agrees"] == (trace["calls_dropped"] == 0),
              "%s: it goes on as before, and records agree unless some were dropped" % name, done)
    done = probe("--", build("stress", "-O2", "-pthread"), "0.3", "2", functions=["stress!*"], mode="trace",
                 options=["--buffer", "1M"])
    claim("OK" in done.out and done.code == 0 and done.calls("hot") == number(done.out, "hot"),
          "calls are counted exactly where records are dropped", done)


def usage():
    program = build("away", "-O2")
    for mode, words in (("trace", ["--cap", "5"]), ("trace", ["--every", "2"]), ("time", ["--audit"]),
                        ("count", ["--records", "x"])):
        done = probe("--", program, 1, 1, functions=["away!outer"], mode=mode, options=words)
        claim(done.code == 2, "mode %s has no use for %s" % (mode, " ".join(words)), done)


def main():
    require_engine()
    edges_and_tree()
    programs()
    usage()
    finish()


if __name__ == "__main__":
    main()
