# SPDX-License-Identifier: GPL-3.0-or-later
"""Work for the demo: an afternoon's data clean-up in miniature, all of it Python's standard library.

Makes up access logs, parses them with a regular expression, sorts and groups the requests, writes
JSON, reads it back and compresses it, until the seconds given are over. Prints what it did, so that
one can see that it was real work.
"""

import json
import random
import re
import sys
import time
import zlib

LINE = re.compile(r'(\S+) - (\S+) \[([^\]]+)\] "(GET|POST|PUT) ([^"]*)" (\d{3}) (\d+)')
PATHS = ["/", "/index.html", "/api/v1/items", "/api/v1/orders?id=%d", "/static/app.js", "/search?q=%d"]


def make_log(chance, lines):
    for _ in range(lines):
        path = chance.choice(PATHS).replace("%d", str(chance.randrange(10000)))
        yield (f'10.0.{chance.randrange(256)}.{chance.randrange(256)} - user{chance.randrange(500)} '
               f'[10/Oct/2023:13:{chance.randrange(60):02}:{chance.randrange(60):02}] '
               f'"{chance.choice(("GET", "GET", "POST", "PUT"))} {path}" '
               f'{chance.choice((200, 200, 200, 304, 404, 500))} {chance.randrange(100000)}')


def parse(log):
    for line in log:
        host, user, when, verb, path, status, size = LINE.match(line).groups()
        yield {"host": host, "user": user, "time": when, "verb": verb, "path": path,
               "status": int(status), "bytes": int(size)}


def group(requests):
    users = {}
    for request in sorted(requests, key=lambda request: (request["user"], request["time"])):
        users.setdefault(request["user"], []).append(request)
    return users


def main(seconds):
    chance, rounds, lines, packed = random.Random(1), 0, 0, 0
    log = list(make_log(chance, 20000))
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        chance.shuffle(log)
        users = group(parse(log))
        text = json.dumps(users, indent=1)
        assert json.loads(text) == users
        packed += len(zlib.compress(text.encode(), 6))
        rounds, lines = rounds + 1, lines + len(log)
    print(f"python: {lines} log lines parsed, sorted, written as JSON and packed, in {rounds} rounds")


if __name__ == "__main__":
    main(float(sys.argv[1]))
