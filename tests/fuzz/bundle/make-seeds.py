#!/usr/bin/python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes the seeds of fuzz_perfdata and fuzz_manifest: small files of every kind that the readers know.

    tests/fuzz/bundle/make-seeds.py

Writes into perfdata/ and manifest/ beside it; the same bytes every time. zstd carriers need the zstd
program. Inputs that fuzzing found have names that begin with "found-" and are not made here.
"""
import json
import os
import struct
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
BASE = 1 | 2 | 4 | 256  # IP TID TIME PERIOD


class Writer:
    def __init__(self, order):
        self.order, self.out = order, bytearray()

    def put(self, form, *values):
        self.out += struct.pack(self.order + form, *values)

    def text(self, text):
        data = text.encode() + b'\0'
        self.out += data + b'\0' * (-len(data) % 8)

    def record(self, kind, body, misc=2):
        self.put('IHH', kind, misc, 8 + len(body))
        self.out += body


def body(order, *parts):
    writer = Writer(order)
    for part in parts:
        if isinstance(part, str):
            writer.text(part)
        elif isinstance(part, bytes):
            writer.out += part
        else:
            writer.put(*part)
    return bytes(writer.out)


def attr(order, sample_type, size=128, read_format=0, regs=0, stack=0, branch=0):
    flags = 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13 | 1 << 23  # sample_id_all mmap comm task mmap2
    if order == '>':
        flags = sum(1 << (63 - bit) for bit in range(64) if flags >> bit & 1)
    data = body(order, ('IIQQQQQIIQQQQIiQIHHIIQ', 1, size, 0, 1000000, sample_type, read_format,
                        flags, 0, 0, 0, 0, branch, regs, stack, 0, 0, 0, 127, 0, 0, 0, 0))
    return (data + bytes(4096))[:size]


def trailer(order, time):
    return body(order, ('IIQ', 100, 100, time))


def side_band(order):
    writer = Writer(order)
    end = trailer(order, 5)
    writer.record(3, body(order, ('II', 100, 100), 'prog') + end, 1 << 13)
    writer.record(10, body(order, ('IIQQQIIQQII', 100, 100, 0x400000, 0x1000, 0, 8, 1, 4711, 0, 5, 2),
                           '/x/prog') + end)
    writer.record(10, body(order, ('IIQQQBBH', 100, 100, 0x500000, 0x1000, 0, 20, 0, 0), bytes(20),
                           ('II', 5, 2), '/x/lib') + end, 2 | 1 << 14)
    writer.record(1, body(order, ('IIQQQ', 0xffffffff, 0, 0xffffffff81000000, 0x7e000000, 0),
                          '[kernel.kallsyms]_text') + end, 1)
    writer.record(7, body(order, ('IIIIQ', 101, 100, 101, 100, 6)) + end, 0)
    writer.record(4, body(order, ('IIIIQ', 101, 100, 101, 100, 9)) + end, 0)
    writer.record(2, body(order, ('QQ', 7, 3)) + end, 0)
    writer.record(13, body(order, ('Q', 3)) + end, 0)
    writer.record(5, body(order, ('QQQ', 7, 7, 7)) + end, 0)
    writer.record(6, body(order, ('QQQ', 8, 7, 7)) + end, 0)
    writer.record(14, end, 1 << 13)
    writer.record(15, body(order, ('II', 1, 2)) + end, 0)
    writer.record(17, body(order, ('QIHH', 0xffffffffc0000000, 64, 1, 0), 'bpf_prog') + end, 0)
    writer.record(8, body(order, ('IIQ', 100, 100, 3)) + end, 0)
    writer.record(68, b'', 0)
    writer.record(5000, b'12345678', 0)
    return bytes(writer.out)


def plain_sample(order, n):
    return body(order, ('QIIQQ', 0x400010 + n, 100, 100, 100 + n, 1000000))


def samples(order, n=5):
    writer = Writer(order)
    for i in range(n):
        writer.record(9, plain_sample(order, i))
    return bytes(writer.out)


def strings(order, text):
    data = text.encode() + b'\0'
    data += b'\0' * (-len(data) % 64)
    return body(order, ('I', len(data)), data)


def features(order, at, attr_bytes):
    sections = {
        2: body(order, ('IHHi', 0, 2 | 1 << 15, 100, -1), bytes(range(20)), ('BBH', 20, 0, 0),
                b'/x/prog'.ljust(64, b'\0')),
        3: strings(order, 'host'), 4: strings(order, '6.1.0'), 5: strings(order, '6.1'),
        6: strings(order, 'x86_64'), 7: body(order, ('II', 2, 2)), 8: strings(order, 'CPU'),
        10: body(order, ('Q', 1000)),
        11: body(order, ('I', 2), strings(order, './prog'), strings(order, 'x')),
        12: body(order, ('II', 1, len(attr_bytes)), attr_bytes, ('I', 1), strings(order, 'my-clock'),
                 ('Q', 7)),
        21: body(order, ('QQ', 100, 104)),
        29: body(order, ('IIQQ', 1, 1, 5, 6)),
    }
    bits, table, blob = 0, b'', b''
    at += 16 * len(sections)
    for feature, data in sorted(sections.items()):
        bits |= 1 << feature
        table += struct.pack(order + 'QQ', at + len(blob), len(data))
        blob += data
    return bits, table + blob


def file_mode(order, attrs, data, with_features=True, size=None):
    """attrs: [(attribute bytes, [ids])]"""
    entry = len(attrs[0][0]) + 16
    ids = b''.join(struct.pack(order + 'Q', i) for _, own in attrs for i in own)
    attrs_at = 104 + len(ids)
    data_at = attrs_at + entry * len(attrs)
    bits, tail = features(order, data_at + len(data), attrs[0][0]) if with_features else (0, b'')
    out = Writer(order)
    out.out += b'PERFILE2' if order == '<' else b'2ELIFREP'
    out.put('QQQQQQQQ', 104, entry, attrs_at, entry * len(attrs), data_at,
            len(data) if size is None else size, 0, 0)
    out.put('QQQQ', bits, 0, 0, 0)
    out.out += ids
    at = 104
    for data_attr, own in attrs:
        out.out += data_attr
        out.put('QQ', at, 8 * len(own))
        at += 8 * len(own)
    return bytes(out.out) + data + tail


def pipe_mode(order, attrs, data):
    out = Writer(order)
    out.out += b'PERFILE2' if order == '<' else b'2ELIFREP'
    out.put('Q', 16)
    for data_attr, own in attrs:
        out.record(64, data_attr + b''.join(struct.pack(order + 'Q', i) for i in own), 0)
    out.record(80, body(order, ('Q', 3), strings(order, 'host')), 0)
    out.record(80, body(order, ('Q', 12), ('II', 1, 128), attrs[0][0], ('I', 1),
                        strings(order, 'described'), ('Q', 7)), 0)
    out.record(78, body(order, ('QQ', 2, 7), 'renamed'), 0)
    out.record(67, body(order, ('i', -1), bytes(24), '/x/prog'), 2)
    out.record(66, body(order, ('II', 16, 0)), 0)
    out.out += bytes(16)
    return bytes(out.out) + data


EVERY = (1 << 25) - 1 & ~(1 << 14)


def full_sample(order):
    parts = [('Q', 7), ('Q', 0x400010), ('II', 100, 100), ('Q', 104), ('Q', 5), ('Q', 7), ('Q', 8),
             ('II', 1, 0), ('Q', 1000000),
             ('QQQ', 2, 50, 40), ('QQQ', 1000, 7, 1), ('QQQ', 2000, 8, 0),
             ('QQQQ', 3, (1 << 64) - 512, 0x400010, 0x400100),
             ('I', 12), b'raw bytes...', ('QQ', 1, 9), ('QQQ', 1, 2, 3),
             ('QQQQ', 2, 11, 12, 13), ('Q', 16), b'0123456789abcdef', ('Q', 10),
             ('Q', 110), ('Q', 111), ('Q', 112), ('QQ', 2, 21), ('Q', 113), ('Q', 114), ('Q', 115),
             ('Q', 116), ('Q', 8), b'auxbytes']
    return body(order, *parts)


def full_attr(order):
    data = bytearray(attr(order, EVERY, read_format=31, regs=7, stack=16, branch=1 << 17))
    data[96:104] = struct.pack(order + 'Q', 1)  # sample_regs_intr
    return bytes(data)


def carriers(order, inner, kind, piece):
    packed = subprocess.run(['zstd', '-q', '-1', '-c'], input=inner, stdout=subprocess.PIPE,
                            check=True).stdout
    out = Writer(order)
    for at in range(0, len(packed), piece):
        part = packed[at:at + piece]
        if kind == 83:
            part = struct.pack(order + 'Q', len(part)) + part + b'\0' * (-len(part) % 8)
        out.record(kind, part, 0)
    return bytes(out.out)


def perfdata_seeds():
    for order, name in (('<', 'le'), ('>', 'be')):
        clock = [(attr(order, BASE), [7])]
        data = side_band(order) + samples(order)
        yield 'file-' + name, file_mode(order, clock, data)
        yield 'pipe-' + name, pipe_mode(order, clock, data)
        full = Writer(order)
        full.record(9, full_sample(order), 2 | 1 << 14)
        yield 'every-bit-' + name, file_mode(order, [(full_attr(order), [7, 8])], bytes(full.out))
        two = Writer(order)
        two.record(9, body(order, ('QQ', 7, 0x400010)))
        two.record(9, body(order, ('QQ', 0x400020, 8)))
        yield 'two-layouts-' + name, file_mode(
            order, [(attr(order, 1 << 16 | 1), [7]), (attr(order, 1 | 64), [8])], bytes(two.out))
    clock = [(attr('<', BASE), [7])]
    data = side_band('<') + samples('<')
    yield 'unfinished', file_mode('<', clock, data, size=0)
    yield 'first-format', b'PERFFILE' + file_mode('<', [(attr('<', BASE, 72), [])], data, False)[8:]
    yield 'attr-64', file_mode('<', [(attr('<', BASE, 64), [7])], data)
    yield 'attr-136', file_mode('<', [(attr('<', BASE, 136), [7])], data)
    yield 'compressed', file_mode('<', clock, carriers('<', samples('<', 60), 81, 101))
    yield 'compressed2', file_mode('<', clock, carriers('<', samples('<', 60), 83, 101))
    trace = Writer('<')
    trace.record(70, body('<', ('II', 1, 0)), 0)
    trace.record(71, body('<', ('QQQIIII', 64, 0, 0, 0, 1, 0, 0)), 0)
    trace.out += bytes(64)
    yield 'auxtrace', file_mode('<', clock, bytes(trace.out) + data)
    yield 'empty-pipe', b'PERFILE2' + struct.pack('<Q', 16)


def manifest_seeds():
    head = {'schema': 'assay.manifest/1', 'assay_version': '0.1', 'seed': '18446744073709551615',
            'schedule': 'jitter', 'redraw': 'block', 'scope': 'cgroup', 'budget': 0.01,
            'rate_hz': 'inf', 'callchains': True, 'command': ['./prog', 'na\u00efve', '\U0010f7ff'],
            'pids': [1, 2], 'machine': {'hostname': 'h', 'temperature_millidegree': -1},
            'events': [{'asked': 'cycles', 'granted': 'cpu-clock', 'why': 'no PMU', 'unit': 'ns'}],
            'clocks': [{'kind': 'jitter', 'mean_period': 1e6, 'low': 0.5, 'ids': [1, 2]},
                       {'kind': 'fixed', 'redraw': 'none', 'ids': []}],
            'incidents': [{'code': 'loss', 'amount': 3}], 'objects': [{'path': '/x/\U0010f7fe'}]}
    epoch = {'index': 1, 'seed': 5, 'start_ns': 1, 'end_ns': 2, 'data_bytes': 4096, 'budget': 0.01,
             'clocks': [{'mean_period': 1000000.5, 'samples': 7, 'realised_sd': 1e-300},
                        {'mean_period': 'nan', 'lost': 1}],
             'incidents': [{'code': 'throttle'}], 'objects': [{'path': '/y', 'inode': 3}]}
    whole = dict(head, epochs=[epoch, epoch], end={'reason': 'exit', 'exit_code': -1})
    text = json.dumps(whole, ensure_ascii=False, indent=0).encode()
    yield 'whole', text
    yield 'escaped', json.dumps(whole).encode()
    yield 'cut', text[:len(text) * 2 // 3]
    yield 'killed', json.dumps(dict(head, epochs=[epoch])).encode()
    yield 'small', b'{"schema":"assay.manifest/1","clocks":[],"epochs":[{}]}'


def main():
    for folder, seeds in (('perfdata', perfdata_seeds()), ('manifest', manifest_seeds())):
        os.makedirs(os.path.join(HERE, folder), exist_ok=True)
        for name, data in seeds:
            with open(os.path.join(HERE, folder, name + '.data'), 'wb') as out:
                out.write(data)


main()
