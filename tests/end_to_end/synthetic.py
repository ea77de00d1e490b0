# SPDX-License-Identifier: GPL-3.0-or-later
"""Recordings made by hand: a bundle whose every number is chosen, written as the format's documents say and
not by assay's own writer. tests/data/findings/ describes those that the findings are tested with.

    scene = Scene()                     two jittered clocks, 20 epochs of 200 ms, five functions by chance
    scene.program = cycle(1e6)          another program
    scene.epochs[3]["late_ns"] = 9e7    whatever else is to be different
    scene.write("x.assay")
"""

import json
import os
import random
import struct

PID = 4242
CODE = 0x7f0000000000           # anonymous executable memory, named by maps/perf-4242.map
FUNCTIONS = ["red", "green", "blue", "grey", "black"]
SHARES = [0.42, 0.28, 0.17, 0.09, 0.04]
START_NS = 1_000_000_000_000

IDENTIFIER, IP, TID, TIME, READ, CALLCHAIN = 1 << 16, 1, 2, 4, 1 << 4, 1 << 5
CPU, PERIOD, RAW = 1 << 7, 1 << 8, 1 << 10
SAMPLE, MMAP2, COMM, LOST, THROTTLE, UNTHROTTLE, SWITCH = 9, 10, 3, 2, 5, 6, 14


def by_chance(shares=None):
    shares = shares or SHARES

    def program(_time_ns, draw):
        at = draw.random()
        for function, share in enumerate(shares):
            if at < share:
                return function
            at -= share
        return len(shares) - 1
    return program


def cycle(length_ns, turned=0.0, shares=None):
    shares = shares or SHARES

    def program(time_ns, _draw):
        at = (time_ns / length_ns + turned) % 1
        for function, share in enumerate(shares):
            if at < share:
                return function
            at -= share
        return len(shares) - 1
    return program


def attribute(kind=1, config=0, period=2_000_000, freq=False, sample_type=None, precise=0, name=None,
              bits=0):
    sample_type = sample_type or IDENTIFIER | IP | TID | TIME | READ | CPU | PERIOD
    # disabled, ..., freq is bit 10, sample_id_all bit 18, comm 9 (ABI of struct perf_event_attr)
    bits |= (1 << 10 if freq else 0) | precise << 15 | 1 << 18
    body = struct.pack("<IIQQQQQIIQQQQQIiQ", kind, 128, config, period, sample_type, 4 | 1 | 2 if
                       sample_type & READ else 0, bits, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    return {"bytes": body + bytes(128 - len(body)), "sample_type": sample_type, "ids": [], "name": name,
            "config": config}


def record(kind, misc, payload):
    payload += bytes(-len(payload) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(payload)) + payload


def trailer(stamp, identity, cpu=0):
    """What follows each record that is no sample (sample_id_all)."""
    return struct.pack("<IIQIIQ", PID, PID, stamp, cpu, 0, identity)


class Clock:
    def __init__(self, identity, mean_ns=2e6, randomised=True, event=0, kind="jitter", redraw="block", block=5):
        self.id, self.mean_ns, self.randomised, self.event = identity, mean_ns, randomised, event
        self.kind, self.redraw, self.block = kind, redraw, block


class Scene:
    def __init__(self, seed=1, seconds=4.0, n_epochs=20):
        self.draw = random.Random(seed)
        self.seconds = seconds
        self.program = by_chance()
        self.clocks = [Clock(1), Clock(2)]
        self.attributes = [attribute()]
        self.cpu_of = lambda time_ns: 0
        self.realised = lambda intended, time_ns: intended   # what the kernel makes of a drawn interval
        self.keep = lambda time_ns: True                     # whether a sample reaches the file
        self.address_of = None                               # function -> address, instead of the perf map
        self.enabled_running = (lambda t: (t, t))
        self.extra = []                                      # (time_ns, bytes) of further records
        self.mappings = []                                   # (address, length, offset, path[, major, minor, inode])
        self.chain = None                                    # (address, draw) -> call chain; needs CALLCHAIN in the attribute
        self.map_lines = []                                  # further lines of the perf map
        self.cut = None                                      # bytes to leave of perf.data
        self.complete = True                                 # the manifest's end is there
        length = seconds * 1e9 / n_epochs
        self.epochs = [{"index": e, "seed": str(1000 + e), "start_ns": int(START_NS + e * length),
                        "end_ns": int(START_NS + (e + 1) * length), "data_bytes": 0, "target_cpu_ns": int(length),
                        "collector_cpu_ns": 1_000_000, "budget": 0.01, "achieved": 0.008,
                        "busy_ns": int(length) + 2_000_000} for e in range(n_epochs)]
        self.cells = {}                                      # (epoch, clock) -> further fields
        self.incidents = []
        self.machine = {"hostname": "example", "kernel": "6.1.0", "arch": os.uname().machine, "cpus_online": 2,
                        "cpus_configured": 2, "page_size": 4096, "memory_kib": 1 << 20, "perf_event_paranoid": 2,
                        "max_sample_rate": 100000, "cpu_time_max_percent": 25, "mlock_kb": 516, "max_stack": 127,
                        "temperature_millidegree": -(1 << 63)}
        self.head = {"schedule": "jitter", "redraw": "block", "scope": "cgroup", "budget": 0.01}
        self.events = [{"asked": "cpu-clock", "granted": "cpu-clock", "unit": "ns", "precise_ip": 0}]
        self.end = {"reason": "exit", "target_exited": True, "exit_code": 0, "signal": 0,
                    "target_cpu_ns": int(seconds * 1e9), "collector_cpu_ns": 20_000_000, "lost": 0,
                    "achieved": 0.008, "tasks_seen": 1, "tasks_unsampled": 0, "unsampled_cpu_ns": 0,
                    "period_weights": 0}

    def stretch(self, factor):
        """Longer by as much, with as many epochs."""
        length = self.seconds * 1e9 * factor / len(self.epochs)
        self.seconds *= factor
        for e, epoch in enumerate(self.epochs):
            epoch.update(start_ns=int(START_NS + e * length), end_ns=int(START_NS + (e + 1) * length),
                         target_cpu_ns=int(length), busy_ns=int(length) + 2_000_000)
        self.end["target_cpu_ns"] = int(self.seconds * 1e9)

    # ---- samples ----

    def sample(self, clock, time_ns, period, reading):
        function = self.program(time_ns, self.draw)
        address = self.address_of(function, time_ns, self.draw) if self.address_of else \
            CODE + 0x1000 * function + 0x10 * self.draw.randrange(16)
        stamp = START_NS + int(time_ns)
        enabled, running = self.enabled_running(int(time_ns))
        payload = struct.pack("<QQIIQ", clock.id, address, PID, PID, stamp)
        payload += struct.pack("<II", self.cpu_of(time_ns), 0) + struct.pack("<Q", int(period))
        payload += struct.pack("<QQQQ", int(reading), enabled, running, clock.id)
        if self.chain:
            chain = self.chain(address, self.draw)
            payload += struct.pack(f"<Q{len(chain)}Q", len(chain), *chain)
        return stamp, record(SAMPLE, 2, payload)

    def ticks(self, clock):
        """Samples of one clock, and per epoch: samples, redraws, intervals."""
        fixed = clock.kind in ("fixed", "prime", "freq")
        length, time_ns, reading, left, period = self.seconds * 1e9, 0.0, 0.0, 0, clock.mean_ns
        time_ns = 1e5 if fixed else clock.mean_ns * self.draw.random()
        per_epoch = [dict(samples=0, redraws=0, intervals=[]) for _ in self.epochs]
        out = []
        while time_ns < length:
            epoch = min(len(self.epochs) - 1, int(time_ns / length * len(self.epochs)))
            reading += period if fixed or left else 0.6 * period
            if self.keep(time_ns):
                out.append(self.sample(clock, time_ns, period, time_ns + 1e9))
                per_epoch[epoch]["samples"] += 1
            if not fixed:
                left -= 1
                if left <= 0:
                    left = self.draw.randrange(clock.block // 2 + 1, 2 * clock.block)
                    period = clock.mean_ns * (0.5 + self.draw.random())
                    per_epoch[epoch]["redraws"] += 1
                else:
                    per_epoch[epoch]["intervals"].append(period)
            else:
                per_epoch[epoch]["intervals"].append(period)
            time_ns += self.realised(period, time_ns)
        return out, per_epoch

    # ---- files ----

    def side_records(self):
        stamp = START_NS - 1000
        end = trailer(stamp, self.clocks[0].id)
        yield stamp, record(COMM, 1 << 13, struct.pack("<II", PID, PID) + b"prog\0\0\0\0" + end)
        for address, length, offset, path, *inode in [(CODE, 0x100000, 0, "//anon")] + self.mappings:
            name = path.encode() + b"\0"
            name += bytes(-len(name) % 8)
            major, minor, number = inode or (0, 0, 0)
            body = struct.pack("<IIQQQIIQQII", PID, PID, address, length, offset, major, minor, number, 0, 5, 2) + name
            yield stamp, record(MMAP2, 2, body + end)

    def data(self):
        records, cells = list(self.side_records()) + list(self.extra), []
        for clock in self.clocks:
            samples, per_epoch = self.ticks(clock)
            records += samples
            cells.append(per_epoch)
        records.sort(key=lambda item: item[0])
        return b"".join(item[1] for item in records), cells

    def perf_data(self, data):
        for number, event in enumerate(self.attributes):
            event["ids"] = event["ids"] or [c.id for c in self.clocks if c.event == number]
        ids = b"".join(struct.pack("<Q", i) for event in self.attributes for i in event["ids"])
        at, entries = 104, b""
        for event in self.attributes:
            entries += event["bytes"] + struct.pack("<QQ", at, 8 * len(event["ids"]))
            at += 8 * len(event["ids"])
        attrs_at = 104 + len(ids)
        data_at = attrs_at + len(entries)
        # feature EVENT_DESC (bit 12): names
        desc = struct.pack("<II", len(self.attributes), 128)
        for number, event in enumerate(self.attributes):
            name = (event["name"] or "cpu-clock").encode() + b"\0"
            name += bytes(-len(name) % 64)
            desc += event["bytes"] + struct.pack("<II", len(event["ids"]), len(name)) + name
            desc += b"".join(struct.pack("<Q", i) for i in event["ids"])
        head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, attrs_at, len(entries), data_at, len(data), 0, 0)
        head += struct.pack("<QQQQ", 1 << 12, 0, 0, 0)
        table = struct.pack("<QQ", data_at + len(data) + 16, len(desc))
        whole = head + ids + entries + data + table + desc
        return whole if self.cut is None else whole[:data_at + int(self.cut * len(data))]

    def manifest(self, cells, size):
        clocks = [{"kind": c.kind, "redraw": c.redraw, "block": c.block, "randomised": c.randomised,
                   "event": c.event, "mean_period": c.mean_ns, "low": 1.0 if not c.randomised else 0.5,
                   "high": 1.0 if not c.randomised else 1.5, "target_hz": 1e9 / c.mean_ns, "ids": [c.id]}
                  for c in self.clocks]
        epochs = []
        for e, epoch in enumerate(self.epochs):
            own = []
            for k, clock in enumerate(self.clocks):
                cell = cells[k][e]
                intervals = cell["intervals"]
                mean = sum(intervals) / len(intervals) if intervals else 0.0
                own.append({"mean_period": clock.mean_ns, "samples": cell["samples"], "lost": 0,
                            "redraws": cell["redraws"], "intervals": len(intervals), "realised_mean": mean,
                            "intended_mean": mean, **self.cells.get((e, k), {})})
            epochs.append({**epoch, "data_bytes": size, "clocks": own})
        total = sum(cell["samples"] for clock in cells for cell in clock)
        whole = {"schema": "assay.manifest/1", "assay_version": "0", "start_ns": START_NS,
                 "start_realtime_ns": START_NS, "seed": 7, "sample_cost_ns": 20000.0, "redraw_cost_ns": 20000.0,
                 "min_period_ns": 200000, "rate_hz": 1000.0, "callchains": False, "kernel": False,
                 "epoch_nominal_ns": 200000000, **self.head, "command": ["./prog"], "machine": self.machine,
                 "events": self.events, "clocks": clocks, "epochs": epochs}
        if self.incidents:
            epochs[-1]["incidents"] = self.incidents
        if self.complete:
            whole["end"] = {"end_ns": epochs[-1]["end_ns"], "samples": total, **self.end}
        return whole

    def write(self, path):
        """A bundle."""
        data, cells = self.data()
        os.makedirs(os.path.join(path, "maps"))
        with open(os.path.join(path, "perf.data"), "wb") as file:
            file.write(self.perf_data(data))
        with open(os.path.join(path, "manifest.json"), "w", encoding="utf-8") as file:
            text = json.dumps(self.manifest(cells, len(data)))
            # as a recorder that was killed leaves it: the document is whole, its end is not there
            file.write(text + "\n")
        with open(os.path.join(path, "maps", f"perf-{PID}.map"), "w", encoding="utf-8") as file:
            for number, name in enumerate(FUNCTIONS):
                file.write(f"{CODE + 0x1000 * number:x} 1000 {name}\n")
            for line in self.map_lines:
                file.write(line + "\n")
        return path

    def write_plain(self, path):
        """The perf.data alone."""
        with open(path, "wb") as file:
            file.write(self.perf_data(self.data()[0]))
        return path
