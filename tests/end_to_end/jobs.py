# SPDX-License-Identifier: GPL-3.0-or-later
"""What real programs are asked to do under probes: much of what they can, and the same bytes each time."""
import hashlib
import socket

SQL = """create table t(a integer primary key, b text, c real);
with recursive n(i) as (select 1 union all select i+1 from n where i<4000)
  insert into t select i, 'row '||(i*7919%10007), i*1.5 from n;
create index tb on t(b);
select count(*), sum(c), min(b), max(b) from t;
select b, count(*) from t group by b order by 2 desc, 1 limit 5;
"""

SQL_LONG = SQL + """
pragma foreign_keys = on;
create table parent(id integer primary key, name text collate nocase unique, data blob);
create table child(id integer primary key, p integer references parent(id) on delete cascade,
  v real check (v > -1e9), twice real generated always as (v * 2) stored);
create table log(n integer primary key autoincrement, what text);
create trigger gone after delete on child begin insert into log(what) values ('child '||old.id); end;
create view both as select p.name, count(c.id) as n, total(c.twice) as sum from parent p
  left join child c on c.p = p.id group by p.id;
insert into parent select a, 'name '||a, zeroblob(a % 50) from t where a <= 300;
insert into child(p, v) select a % 300 + 1, c / 7 from t;
insert into parent(id, name) values (5, 'other') on conflict(id) do update set name = excluded.name || ' five';
begin; delete from parent where id % 3 = 0; savepoint s; delete from parent; rollback to s; commit;
select count(*), max(n) from log;
select * from both order by sum desc, name limit 10;
select a, sum(c) over (order by a rows between 3 preceding and current row) as w,
  rank() over (partition by a % 7 order by c desc) as r, ntile(4) over (order by b) as q
  from t order by a limit 40;
select json_group_array(json_object('a', a, 'b', b)) from (select * from t order by a limit 30);
select json_extract('{"x":[1,{"y":2.5}]}', '$.x[1].y'), json_patch('{"a":1}', '{"b":[2]}');
create virtual table words using fts5(body);
insert into words select 'the '||b||' jumps over '||(a % 17)||' dogs' from t;
select count(*) from words where words match 'jumps AND 13';
select snippet(words, 0, '<', '>', '..', 4) from words where words match '"13 dogs"' order by rowid limit 5;
create virtual table boxes using rtree(id, x0, x1, y0, y1);
insert into boxes select a, a % 100, a % 100 + 3, a / 100, a / 100 + 2 from t;
select count(*), sum(id) from boxes where x0 <= 50 and x1 >= 20 and y1 >= 10;
with recursive fib(n, a, b) as (values (1, 0, 1) union all select n + 1, b, a + b from fib where n < 80)
  select group_concat(a, ' ') from fib;
select printf('%08.3f|%x|%q|%-6s|', 3.14159, 48879, 'it''s', 'ab'), hex(quote('x')), unicode('é'), upper('straße');
select strftime('%Y-%m-%d %H:%M:%S', 1e9, 'unixepoch', 'start of month', '+1 month', '-1 day'), julianday('2000-01-01');
select round(sin(1), 10), round(exp(2), 10), pow(2, 0.5), degrees(acos(-1));
select t1.b, t2.b from t t1 join t t2 on t2.a = t1.a + 1 and t1.b < t2.b where t1.a % 97 = 0 order by 1, 2;
select b from t where b like 'row 1%' except select b from t where b glob '*7' order by 1 limit 20;
alter table t add column d text default 'none'; update t set d = substr(b, -2) where a % 2;
select d, count(*), avg(a) from t group by d having count(*) > 5 order by 2 desc, 1 limit 10;
analyze; explain query plan select * from t where b = 'row 7';
pragma integrity_check; pragma foreign_key_check; vacuum;
.mode insert copy
select * from parent order by id limit 20;
.schema
.dump child
"""

PYTHON = """import hashlib, json, re
text = json.dumps({str(i): [i * 0.37 ** k for k in range(9)] for i in range(200)})
print(hashlib.sha256(text.encode()).hexdigest(), len(re.findall(r"[0-9]1", text)))
caught = 0
for i in range(900):
    try:
        if i % 3 == 0:
            raise KeyError(i)
    except KeyError:
        caught += 1
print(caught, sorted({len(str(i)) for i in range(2000)}))
"""

# handlers, threads, a child, and an end by a signal
PYTHON_SIGNALS = """import os, signal, sys, threading
handled = []
signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
for i in range(200):
    os.kill(os.getpid(), signal.SIGUSR1)
total = []
threads = [threading.Thread(target=lambda n=n: total.append(sum(range(n)))) for n in range(1000, 1020)]
for thread in threads: thread.start()
for thread in threads: thread.join()
pid = os.fork()
if pid == 0:
    os._exit(len(handled) % 251)
print("handled", len(handled), sum(total), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
print("to the other stream", file=sys.stderr)
sys.stdout.flush()
os.kill(os.getpid(), signal.SIGTERM)
"""

# the standard library's own examples, each compared with what its documentation says
PYTHON_DOCTESTS = """import doctest, importlib
for name in ("ast bisect collections copy datetime difflib fractions functools heapq http.cookies ipaddress json "
             "json.encoder _pydecimal pickletools random re shlex statistics string textwrap threading types "
             "typing unittest.mock zipfile cmd calendar configparser contextlib enum base64 _pyio").split():
    print(name, doctest.testmod(importlib.import_module(name)))
"""

CC1_SOURCE = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" + "".join("""
struct s%(n)d { int a, b[%(n)d + 1]; double c; };
static int cmp%(n)d(const void *x, const void *y) { return *(const int *)x - *(const int *)y + %(n)d %% 2; }
int f%(n)d(struct s%(n)d *s, const char *text)
{
	int sum = 0;
	for (int i = 0; i <= %(n)d; i++) {
		s->b[i] = (int)strlen(text) * i %% (%(n)d + 3);
		switch (s->b[i] %% 9) {
		case 0: sum += s->a; break;
		case 3: sum ^= i << 3; break;
		case 5: s->c += sum / (i + 1.5); break;
		case 7: sum -= (int)s->c; break;
		default: sum += s->b[i] * %(n)d; break;
		}
	}
	qsort(s->b, %(n)d + 1, sizeof(int), cmp%(n)d);
	return sum + printf("%%d %%s\\n", s->b[0], text);
}
""" % {"n": n} for n in range(12))


def redis_commands():
    for i in range(400):
        yield "SET", "s:%d" % i, "value %d" % (i * i)
        yield "APPEND", "s:%d" % (i % 50), "+%d" % i
        yield "INCRBY", "n:%d" % (i % 7), i
        yield "RPUSH", "l:%d" % (i % 5), i, "x" * (i % 90)
        yield "HSET", "h:%d" % (i % 5), "f%d" % i, i * 3
        yield "SADD", "set:%d" % (i % 5), i, i * 7 % 101
        yield "ZADD", "z:%d" % (i % 5), i * 13 % 97, "m%d" % i
        yield "PFADD", "pf", i % 211
        yield "SETBIT", "bits", i * 31 % 4096, 1
        yield "XADD", "stream", "%d-1" % (i + 1), "f", i
        yield "GEOADD", "geo", i % 180, i % 80, "p%d" % i
    for i in range(5):
        yield "LRANGE", "l:%d" % i, 0, -1
        yield "ZRANGEBYSCORE", "z:%d" % i, 10, 50, "WITHSCORES"
        yield "SORT", "set:%d" % i, "LIMIT", 0, 50
        yield "HGET", "h:%d" % i, "f%d" % (i + 20)
        yield "HLEN", "h:%d" % i
        yield "ZUNIONSTORE", "zu", 2, "z:%d" % i, "z:0", "WEIGHTS", 2, 3
        yield "DUMP", "s:%d" % i
        yield "SINTERSTORE", "si", "set:%d" % i, "set:0"
    yield "PFCOUNT", "pf"
    yield "BITCOUNT", "bits"
    yield "BITOP", "XOR", "bits2", "bits", "s:1"
    yield "XRANGE", "stream", "10-1", "40-1"
    yield "GEODIST", "geo", "p3", "p77", "km"
    yield "GEOSEARCH", "geo", "FROMMEMBER", "p40", "BYRADIUS", 900, "km", "ASC"
    yield "EVAL", "local t = 0 for i = 1, 2000 do t = t + redis.call('INCR', KEYS[1]) end return {t, ARGV[1]}", 1, \
        "lua", "a"
    yield "MULTI",
    for i in range(20):
        yield "RENAME", "s:%d" % (i + 100), "r:%d" % i
    yield "EXEC",
    yield "EXPIRE", "r:1", 100000
    yield "OBJECT", "ENCODING", "z:1"
    yield "GET", "no such key"
    yield "INCR", "s:200"
    yield "DBSIZE",
    yield "DEBUG", "DIGEST"


def redis_job(path):
    """Commands of many kinds in pipelines; a digest of all replies, the last of which is the dataset's own."""
    hashed, last = hashlib.sha256(), b""
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        server.settimeout(600)
        stream = server.makefile("rb")
        batch = []
        for command in redis_commands():
            words = [str(word).encode() for word in command]
            batch.append(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(w), w) for w in words))
            if len(batch) == 64 or command == ("DEBUG", "DIGEST"):
                server.sendall(b"".join(batch))
                for _ in batch:
                    last = redis_reply(stream)
                    hashed.update(last)
                batch = []
    return hashed.hexdigest(), last


def redis_reply(stream):
    """One reply, as it came."""
    line = stream.readline()
    if line[:1] == b"$" and int(line[1:]) >= 0:
        return line + stream.read(int(line[1:]) + 2)
    if line[:1] == b"*":
        return line + b"".join(redis_reply(stream) for _ in range(max(int(line[1:]), 0)))
    return line
