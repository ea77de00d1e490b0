# SPDX-License-Identifier: GPL-3.0-or-later
"""For each finding one recording that has it and one that comes close and has it not.

A recipe takes a healthy scene (tests/end_to_end/synthetic.py) and changes what the finding is about;
what it is measured against is written next to it. docs/findings.md names the same recordings in words.
"""

import os
import platform
import struct
import subprocess

from synthetic import (CALLCHAIN, CODE, CPU, IDENTIFIER, IP, PERIOD, PID, READ, START_NS, TID, TIME, Clock,
                       attribute, by_chance, cycle, record, trailer)

RECIPES = {}        # (code, "has" or "has not") -> function(scene, folder) -> None, a path or a scene


def recipe(code, verdict):
    def register(function):
        RECIPES[code, verdict] = function
        return function
    return register


def has(code):
    return recipe(code, "has")


def lacks(code):
    return recipe(code, "has not")


# ---- aliasing ----

def canary(scene, rate_hz=1000.0):
    scene.clocks.append(Clock(3, 1e9 / rate_hz, randomised=False, kind="fixed", redraw="none"))


@has("alias-flip")
def flip(scene, _folder):
    """The canary meets a cycle of 2 ms at the same two phases, both in functions that come second and third."""
    scene.program = cycle(2e6, 0.4, [0.4, 0.1, 0.3, 0.1, 0.1])
    canary(scene)


@lacks("alias-flip")
def locked_without_flip(scene, _folder):
    """As locked, and wrong by as much; but the function in front stays in front."""
    scene.program = cycle(2e6, 0.05, [0.8, 0.1, 0.05, 0.03, 0.02])
    canary(scene)


@has("alias-locked")
def locked(scene, folder):
    locked_without_flip(scene, folder)


@lacks("alias-locked")
def not_locked(scene, _folder):
    """A canary beside a program that has no cycle."""
    canary(scene)


def marks(scene, every_ns=2_000_000):
    """A tracepoint or uprobe of the program's own cycle, each occurrence recorded."""
    scene.attributes += [attribute(kind=2, config=77, period=1, name="sdt_assay:iteration")]
    scene.attributes[1]["ids"] = [9]
    for number in range(int(scene.seconds * 1e9 / every_ns) - 1):
        stamp = START_NS + every_ns * number + 1000
        payload = struct.pack("<QQIIQ", 9, CODE, PID, PID, stamp) + struct.pack("<IIQ", 0, 0, 1)
        payload += struct.pack("<QQQQ", number, number, number, 9)
        scene.extra.append((stamp, record(9, 2, payload)))


@has("alias-locked:marks")
def marks_in_step(scene, _folder):
    """Randomised clocks, and marks every 2 ms: conventional clocks of 1000, 500, 250 Hz are in step with them, and
    what runs depends on the phase between marks."""
    scene.program = cycle(2e6, 0.05)
    marks(scene)


@lacks("alias-locked:marks")
def marks_of_no_consequence(scene, _folder):
    """The same marks in a program in which chance decides what runs: in step, and harmless."""
    marks(scene)


@has("alias-possible")
def possible(scene, _folder):
    """A fixed clock of 1 ms alone, and marks of a cycle of 2 ms: in step, but nothing tells what it missed."""
    scene.clocks = [Clock(1, 1e6, randomised=False, kind="fixed", redraw="none")]
    scene.head.update(schedule="fixed", redraw="none")
    scene.program = cycle(2e6, 0.4, [0.4, 0.1, 0.3, 0.1, 0.1])
    marks(scene)


@lacks("alias-possible")
def impossible(scene, folder):
    """The same marks, and a clock of 1.618 ms: no multiple and no part of the cycle."""
    possible(scene, folder)
    scene.clocks = [Clock(1, 1.6180339e6, randomised=False, kind="fixed", redraw="none")]


@has("alias-unchecked")
def fixed_alone(scene, _folder):
    scene.clocks = [Clock(1, 2e6, randomised=False, kind="fixed", redraw="none")]
    scene.head.update(schedule="fixed", redraw="none")


@lacks("alias-unchecked")
def fixed_beside(scene, _folder):
    """The same fixed clock beside two randomised ones."""
    canary(scene, 500.0)


# ---- missing time and samples ----

@has("no-samples")
def no_samples(scene, _folder):
    scene.keep = lambda time_ns: time_ns < 2e7


@lacks("no-samples")
def few_samples(scene, _folder):
    """Few, but no longer too few for any test."""
    scene.keep = lambda time_ns: time_ns < 1e8


@has("loss")
def loss(scene, _folder):
    """5 % of the samples, all of them from 1.0 to 1.6 s."""
    for epoch in (5, 6, 7):
        for clock in (0, 1):
            scene.cells[epoch, clock] = {"lost": 33}
    scene.end["lost"] = 198


@lacks("loss")
def no_loss(scene, _folder):
    """Samples are fewer, none is lost."""
    scene.keep = lambda time_ns: not 1e9 < time_ns < 1.6e9 or time_ns % 3e6 < 1.5e6


@has("throttle")
def throttle(scene, _folder):
    for epoch in (5, 6):
        scene.cells[epoch, 0] = {"throttled": 20, "throttled_ns": 100_000_000}


@lacks("throttle")
def not_throttle(scene, _folder):
    scene.cells[5, 0] = {"throttled": 0, "throttled_ns": 0}


@has("starved")
def starved(scene, _folder):
    scene.epochs[3]["late_ns"] = 60_000_000


@lacks("starved")
def hardly_late(scene, _folder):
    """A tenth of an epoch."""
    scene.epochs[3]["late_ns"] = 20_000_000


@has("uncovered")
def uncovered(scene, _folder):
    """A tenth of an epoch between one and the next, everywhere."""
    for epoch in scene.epochs:
        epoch["end_ns"] -= 20_000_000


@lacks("uncovered")
def hardly_uncovered(scene, _folder):
    """10 us between epochs."""
    for epoch in scene.epochs:
        epoch["end_ns"] -= 10_000


@has("multiplex")
def multiplex(scene, _folder):
    scene.attributes = [attribute(kind=0)]
    scene.enabled_running = lambda ns: (ns, ns // 2)


@lacks("multiplex")
def not_multiplex(scene, _folder):
    """A software event of one thread and one CPU, while the thread is on another."""
    scene.enabled_running = lambda ns: (ns, ns // 2)


# ---- schedules ----

@has("retune")
def retune(scene, _folder):
    """The kernel changes the period in every fifth sample, and doubles it on the way."""
    for epoch in range(20):
        for clock in (0, 1):
            scene.cells[epoch, clock] = {"retuned": 20, "realised_mean": 2e6 * (1 + epoch / 20),
                                         "intended_mean": 2e6 * (1 + epoch / 20)}


@lacks("retune")
def not_retune(scene, _folder):
    """As many changes of the period, all of them drawn."""


@has("fidelity-interval")
def unfaithful(scene, _folder):
    """5 % longer than drawn, throughout."""
    for epoch in range(20):
        scene.cells[epoch, 0] = {"realised_mean": 2.1e6, "intended_mean": 2e6}


@lacks("fidelity-interval")
def faithful(scene, _folder):
    """1 % longer."""
    for epoch in range(20):
        scene.cells[epoch, 0] = {"realised_mean": 2.02e6, "intended_mean": 2e6}


@has("fidelity-drift")
def drift(scene, _folder):
    """As drawn at first, 10 % longer at last."""
    for epoch in range(20):
        scene.cells[epoch, 0] = {"realised_mean": 2e6 * (1 + 0.005 * epoch + 0.001 * (epoch % 2)),
                                 "intended_mean": 2e6}


@lacks("fidelity-drift")
def no_drift(scene, _folder):
    """Longer by up to 3 %, here and there, without a direction."""
    for epoch in range(20):
        scene.cells[epoch, 0] = {"realised_mean": 2e6 * (1 + 0.03 * (epoch * 7 % 20) / 20), "intended_mean": 2e6}


@has("fidelity-redraw")
def not_redrawn(scene, _folder):
    """Half of the epochs keep one period."""
    for epoch in range(0, 20, 2):
        for clock in (0, 1):
            scene.cells[epoch, clock] = {"redraws": 1}


@lacks("fidelity-redraw")
def hardly_not_redrawn(scene, _folder):
    """One epoch of 20."""
    scene.cells[3, 0] = {"redraws": 1}


# ---- the contract ----

@has("substitution")
def substitution(scene, _folder):
    scene.events[0].update(asked="cycles", why="this machine has no hardware counters")


@lacks("substitution")
def no_substitution(scene, _folder):
    """Another name for what was asked for."""
    scene.events[0].update(asked="cpu-clock:u")


@has("substitution-scope")
def weaker_scope(scene, _folder):
    scene.head.update(scope="inherit", scope_why="clocks per CPU need CAP_PERFMON")


@lacks("substitution-scope")
def chosen_scope(scene, _folder):
    """The same scope, but nobody wanted another."""
    scene.head.update(scope="inherit")


@has("budget")
def budget(scene, _folder):
    scene.end["achieved"] = 0.02


@lacks("budget")
def hardly_budget(scene, _folder):
    """A tenth above the budget of 1 %: no better is the estimate of the cost."""
    scene.end["achieved"] = 0.011


@has("short-tasks")
def short_tasks(scene, _folder):
    scene.head.update(scope="inherit")
    scene.end.update(tasks_seen=500, tasks_unsampled=450, unsampled_cpu_ns=800_000_000)


@lacks("short-tasks")
def short_tasks_per_cpu(scene, _folder):
    """As many, which used next to no time, under clocks per CPU."""
    scene.end.update(tasks_seen=500, tasks_unsampled=450, unsampled_cpu_ns=1_000_000)


def short_lives(scene, folder, bits):
    """A perf.data of a fixed clock of 2 ms beside 1000 tasks that lived for 3 ms each."""
    scene.attributes = [attribute(bits=bits)]
    scene.clocks = [Clock(1, 2e6, randomised=False, kind="fixed", redraw="none")]
    for number in range(1000):
        tid, born = 50_000 + number, START_NS + number * 3_900_000
        for kind, stamp in ((7, born), (4, born + 3_000_000)):    # PERF_RECORD_FORK, _EXIT
            scene.extra.append((stamp, record(kind, 0, struct.pack("<IIIIQ", PID, PID, tid, PID, stamp) +
                                              trailer(stamp, 1))))
    return scene.write_plain(os.path.join(folder, "perf.data"))


@has("short-tasks:file")
def short_tasks_of_a_file(scene, folder):
    """Events of a command that its tasks inherit (inherit, enable_on_exec)."""
    return short_lives(scene, folder, 1 << 1 | 1 << 12)


@lacks("short-tasks:file")
def short_tasks_of_a_machine(scene, folder):
    """The same of all CPUs."""
    return short_lives(scene, folder, 1 << 1)


@has("unfinished")
def unfinished(scene, _folder):
    scene.complete = False


@lacks("unfinished")
def detached(scene, _folder):
    """Closed before the program ended."""
    scene.end.update(reason="interrupt", target_exited=False)


# ---- coverage ----

@has("coverage")
def coverage(scene, _folder):
    """Half of the time in 5000 functions of equal weight."""
    scene.program = by_chance([0.3, 0.2])
    scene.address_of = lambda function, _time, draw: CODE + 0x1000 * function if function < 2 else \
        CODE + 0x10000 + 0x10 * draw.randrange(5000)
    scene.map_lines = [f"{CODE + 0x10000 + 0x10 * n:x} 10 small{n}" for n in range(5000)]
    scene.program = lambda _time, draw: 0 if draw.random() < 0.5 else 2


@lacks("coverage")
def covered(scene, _folder):
    """The five functions, all of them seen hundreds of times."""


# ---- where in a function samples are ----

ASSEMBLY = {
    "x86_64": """
    .globl caller, callee, slow, leaf
    .type caller, @function
    .type callee, @function
    .type slow, @function
    .type leaf, @function
    caller:  push %rbx
             mov $9, %ebx
    1:       imul $3, %eax, %eax
             add $7, %eax
             xor %ebx, %eax
             call callee
             .set at_after_call, . - caller
             add $1, %eax
             xor $5, %eax
             rol $3, %eax
             dec %ebx
             jnz 1b
             pop %rbx
             ret
             .size caller, . - caller
    callee:  mov $99, %ecx
             .set at_loop, . - callee
    2:       add %ecx, %eax
             rol $1, %eax
             xor $3, %eax
             add $9, %eax
             rol $2, %eax
             xor $77, %eax
             add $11, %eax
             rol $3, %eax
             dec %ecx
             jnz 2b
             ret
             .size callee, . - callee
    slow:    mov $99, %ecx
    3:       xor %edx, %edx
             mov $7, %ebx
             or $1, %eax
             div %ebx
             .set at_after_div, . - slow
             add $1, %eax
             add $5, %eax
             dec %ecx
             jnz 3b
             ret
             .size slow, . - slow
    leaf:    mov %edi, %eax
             .set at_leaf, . - leaf
             imul $3, %eax, %eax
             ret
             .size leaf, . - leaf
    """,
    "aarch64": """
    .globl caller, callee, slow, leaf
    .type caller, %function
    .type callee, %function
    .type slow, %function
    .type leaf, %function
    caller:  stp x29, x30, [sp, #-16]!
             mov w19, #9
    1:       add w0, w0, #7
             eor w0, w0, w19
             add w0, w0, #3
             bl callee
             .set at_after_call, . - caller
             add w0, w0, #1
             eor w0, w0, #4
             ror w0, w0, #3
             subs w19, w19, #1
             b.ne 1b
             ldp x29, x30, [sp], #16
             ret
             .size caller, . - caller
    callee:  mov w1, #99
             .set at_loop, . - callee
    2:       add w0, w0, w1
             ror w0, w0, #1
             eor w0, w0, #4
             add w0, w0, #9
             ror w0, w0, #2
             eor w0, w0, #8
             add w0, w0, #11
             ror w0, w0, #3
             subs w1, w1, #1
             b.ne 2b
             ret
             .size callee, . - callee
    slow:    mov w1, #99
    3:       mov w2, #7
             orr w0, w0, #1
             udiv w0, w0, w2
             .set at_after_div, . - slow
             add w0, w0, #1
             add w0, w0, #5
             subs w1, w1, #1
             b.ne 3b
             ret
             .size slow, . - slow
    leaf:    add w0, w0, #1
             .set at_leaf, . - leaf
             add w0, w0, w0, lsl #1
             ret
             .size leaf, . - leaf
    """,
}


def code_run(scene, folder, chooser):
    """Maps a small library; `chooser`(draw) gives the symbol or the marked place that a sample is at."""
    library = os.path.join(folder, "libplaces.so")
    if not os.path.exists(library):
        source = os.path.join(folder, "places.s")
        with open(source, "w", encoding="utf-8") as file:
            file.write("    .text\n" + ASSEMBLY[platform.machine()] + '    .section .note.GNU-stack,"",%progbits\n')
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-nostdlib", "-o", library, source], check=True)
    symbols = {}
    for line in subprocess.run(["nm", library], capture_output=True, text=True, check=True).stdout.splitlines():
        value, _kind, name = line.rsplit(None, 2)
        symbols[name] = int(value, 16)
    base = 0x7e0000000000
    scene.machine["hostname"] = platform.node()     # files here are those that ran
    scene.mappings = [(base, (os.path.getsize(library) + 4095) // 4096 * 4096, 0, library)]

    def address(_function, _time_ns, draw):
        name, place = chooser(draw)
        return base + symbols[name] + (symbols[place] if place else 0)
    scene.address_of = address


def spread(draw, parts):
    """One of (weight, name, place) by weight."""
    at = draw.random() * sum(part[0] for part in parts)
    for weight, name, place in parts:
        if at < weight:
            return name, place
        at -= weight
    return parts[-1][1:]


def anywhere(parts):
    return lambda draw: spread(draw, parts)


@has("skid-entry")
def skid_entry(scene, folder):
    """A third of the samples of a function of 12 instructions are at its first, which runs once per call."""
    code_run(scene, folder, anywhere([(0.2, "callee", None), (0.4, "callee", "at_loop"),
                                      (0.4, "slow", None)]))


@lacks("skid-entry")
def no_skid_entry(scene, folder):
    """The samples are in its loop."""
    code_run(scene, folder, anywhere([(1, "callee", "at_loop")]))


@has("skid-call")
def skid_call(scene, folder):
    code_run(scene, folder, anywhere([(0.3, "caller", "at_after_call"), (0.1, "caller", None),
                                      (0.6, "callee", "at_loop")]))


@lacks("skid-call")
def no_skid_call(scene, folder):
    code_run(scene, folder, anywhere([(0.4, "caller", None), (0.6, "callee", "at_loop")]))


@has("skid-shadow")
def skid_shadow(scene, folder):
    """Half of the samples right after a division."""
    code_run(scene, folder, anywhere([(0.5, "slow", "at_after_div"), (0.5, "callee", "at_loop")]))


@lacks("skid-shadow")
def no_skid_shadow(scene, folder):
    code_run(scene, folder, anywhere([(0.5, "slow", None), (0.5, "callee", "at_loop")]))


@has("short")
def short(scene, folder):
    """A fifth of the samples in a function of three instructions."""
    code_run(scene, folder, anywhere([(0.2, "leaf", "at_leaf"), (0.8, "callee", "at_loop")]))


@lacks("short")
def not_short(scene, folder):
    """Hardly any: 0.2 %."""
    code_run(scene, folder, anywhere([(0.002, "leaf", "at_leaf"), (0.998, "callee", "at_loop")]))


@has("skid-precision")
def imprecise(scene, _folder):
    scene.events[0].update(asked="cycles:pp", why="no precise level is granted here")


@lacks("skid-precision")
def precision_unknown(scene, _folder):
    """A tracepoint has no address of an instruction that took time."""
    scene.attributes = [attribute(kind=2, config=314, period=1, name="sched:sched_switch")]
    scene.events[0].update(asked="sched:sched_switch", granted="sched:sched_switch", unit="count")


# ---- instability ----

@has("regime")
def regime(scene, _folder):
    """Another mixture from 2.4 s on."""
    first, second = by_chance([0.42, 0.28, 0.17, 0.09, 0.04]), by_chance([0.22, 0.28, 0.37, 0.09, 0.04])
    scene.program = lambda ns, draw: (first if ns < 2.4e9 else second)(ns, draw)


@lacks("regime")
def no_regime(scene, _folder):
    """Mixtures that alternate within each epoch, and are the same in all of them."""
    first, second = by_chance([0.42, 0.28, 0.17, 0.09, 0.04]), by_chance([0.22, 0.28, 0.37, 0.09, 0.04])
    scene.program = lambda ns, draw: (first if ns % 1e8 < 5e7 else second)(ns, draw)


@has("regime-measurement")
def regime_measurement(scene, _folder):
    """Where most samples are lost, those that are left look different."""
    regime(scene, _folder)
    for epoch in range(12, 20):
        for clock in (0, 1):
            scene.cells[epoch, clock] = {"lost": 60}


@lacks("regime-measurement")
def regime_workload(scene, folder):
    """The same change with nothing lost: it is the workload's."""
    regime(scene, folder)


@has("migration")
def migration(scene, _folder):
    scene.cpu_of = lambda ns: int(ns / 2e7) % 2


@lacks("migration")
def one_migration(scene, _folder):
    scene.cpu_of = lambda ns: int(ns > 2e9)


@has("frequency")
def frequency(scene, _folder):
    for number, epoch in enumerate(scene.epochs):
        epoch["frequency_khz"] = 3_600_000 if number < 10 else 2_400_000


@lacks("frequency")
def steady(scene, _folder):
    """Within 1 %."""
    for number, epoch in enumerate(scene.epochs):
        epoch["frequency_khz"] = 3_600_000 - 1000 * number


@has("load")
def load(scene, _folder):
    """The other CPU is busy with something else."""
    for epoch in scene.epochs:
        epoch["busy_ns"] += 150_000_000


@lacks("load")
def no_load(scene, _folder):
    """2 % of the machine."""
    for epoch in scene.epochs:
        epoch["busy_ns"] += 8_000_000


@has("steal")
def steal(scene, _folder):
    for epoch in scene.epochs:
        epoch["steal_ns"] = 20_000_000


@lacks("steal")
def hardly_steal(scene, _folder):
    """One tick in 4 s."""
    scene.epochs[7]["steal_ns"] = 10_000_000


# ---- the file ----

@has("file-damaged")
def damaged(scene, folder):
    """A length in the middle that no record has."""
    path = os.path.join(folder, "damaged.data")
    scene.write_plain(path)
    with open(path, "r+b") as file:
        whole = file.read()
        file.seek(whole.index(struct.pack("<II", PID, PID), len(whole) // 2) - 24)
        file.write(b"\xff" * 8)
    return path


@lacks("file-damaged")
def undamaged(scene, folder):
    return scene.write_plain(os.path.join(folder, "whole.data"))


@has("file-foreign")
def foreign(scene, _folder):
    scene.machine["hostname"] = "another-machine"


@lacks("file-foreign")
def own(scene, _folder):
    scene.machine["hostname"] = platform.node()


# ---- names ----

@has("symbols-missing")
def file_gone(scene, folder):
    """A tenth of the samples in a file that is no longer there."""
    base = 0x7d0000000000
    scene.mappings = [(base, 0x1000, 0, os.path.join(folder, "gone.so"))]
    scene.address_of = lambda function, _time, draw: \
        base + 0x10 * draw.randrange(16) if draw.random() < 0.1 else CODE + 0x1000 * function


@lacks("symbols-missing")
def all_named(scene, _folder):
    """Everything is named by the perf map."""


@has("symbols-unverified")
def nothing_to_verify(scene, folder):
    """Neither build-id nor inode of the mapped file was recorded."""
    code_run(scene, folder, anywhere([(1, "callee", "at_loop")]))


@lacks("symbols-unverified")
def same_inode(scene, folder):
    nothing_to_verify(scene, folder)
    status = os.stat(scene.mappings[0][3])
    scene.mappings = [(*scene.mappings[0], os.major(status.st_dev), os.minor(status.st_dev), status.st_ino)]


def stacks(scene, depth):
    """Call chains of so many frames in user space."""
    scene.attributes = [attribute(sample_type=IDENTIFIER | IP | TID | TIME | READ | CPU | PERIOD | CALLCHAIN)]
    scene.head.update(callchains=True)
    scene.chain = lambda address, _draw: [2**64 - 512, address] + \
        [CODE + 0x1000 * (n % 3) + 0x40 for n in range(depth - 1)]


@has("symbols-stacks")
def deep_stacks(scene, _folder):
    """As deep as the kernel's limit of 127."""
    stacks(scene, 127)


@lacks("symbols-stacks")
def shallow_stacks(scene, _folder):
    stacks(scene, 20)


# ---- perf.data without a manifest: the same codes from records alone ----

@has("loss:perf.data")
def loss_of_records(scene, folder):
    """PERF_RECORD_LOST: 300 of 4300."""
    stamp = START_NS + 2_000_000_000
    scene.extra = [(stamp, record(2, 0, struct.pack("<QQ", 1, 300) + trailer(stamp, 1)))]
    return scene.write_plain(os.path.join(folder, "lost.data"))


@lacks("loss:perf.data")
def no_loss_of_records(scene, folder):
    return scene.write_plain(os.path.join(folder, "not-lost.data"))


@has("throttle:perf.data")
def throttle_of_records(scene, folder):
    for number in range(20):
        for kind, late in ((5, 0), (6, 40_000_000)):
            stamp = START_NS + 100_000_000 * (number + 1) + late
            scene.extra.append((stamp, record(kind, 0, struct.pack("<QQQ", stamp, 1, 1) + trailer(stamp, 1))))
    return scene.write_plain(os.path.join(folder, "throttled.data"))


@lacks("throttle:perf.data")
def no_throttle_of_records(scene, folder):
    return scene.write_plain(os.path.join(folder, "not-throttled.data"))


@has("alias-unchecked:perf.data")
def perf_is_fixed(scene, folder):
    scene.clocks = [Clock(1, 2e6, randomised=False, kind="fixed", redraw="none")]
    return scene.write_plain(os.path.join(folder, "fixed.data"))


@lacks("alias-unchecked:perf.data")
def perf_counts_all(scene, folder):
    """Every occurrence of a tracepoint is a sample: nothing was sampled by a clock."""
    scene.attributes = [attribute(kind=2, config=314, period=1, name="sched:sched_switch")]
    scene.clocks = [Clock(1, 2e6, randomised=False, kind="fixed", redraw="none")]
    return scene.write_plain(os.path.join(folder, "all.data"))


@has("alias-possible:perf.data")
def perf_is_locked(scene, folder):
    """perf's own fixed clock in step with marks of the program; what other phases would show is not known."""
    scene.clocks = [Clock(1, 1e6, randomised=False, kind="fixed", redraw="none")]
    scene.attributes = [attribute(period=1_000_000)]
    scene.program = cycle(2e6, 0.4, [0.4, 0.1, 0.3, 0.1, 0.1])
    marks(scene)
    return scene.write_plain(os.path.join(folder, "locked.data"))


@lacks("alias-possible:perf.data")
def perf_is_not_locked(scene, folder):
    """The same marks and a period of 1.618 ms."""
    perf_is_locked(scene, folder)
    scene.clocks = [Clock(1, 1_618_034, randomised=False, kind="fixed", redraw="none")]
    scene.attributes[0] = attribute(period=1_618_034)
    return scene.write_plain(os.path.join(folder, "not-locked.data"))
