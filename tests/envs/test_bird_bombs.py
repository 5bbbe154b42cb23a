"""Queries whose cost hides in the compiler, in a single step, or in the machine they run on."""

import os
import sqlite3
import threading
import time
import tracemalloc

import pytest

from agentgym.core.errors import InvalidState
from agentgym.envs.bird import query
from agentgym.envs.bird.databases import NAMES
from agentgym.envs.bird.env import BirdEnv
from agentgym.envs.bird.expansion import COPIES, copies
from agentgym.envs.bird.gold import GoldRows
from agentgym.envs.bird.interactive import BirdInteractiveEnv
from agentgym.envs.bird.library import find_database, load_source, read_pairs
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.pool import POOL, Pool
from agentgym.envs.bird.query import QueryError, run
from agentgym.envs.bird.reply import find_sql
from agentgym.envs.bird.scoring import COMPARISONS, same_rows

BIG = (
    "big(b) AS (SELECT b FROM (WITH RECURSIVE r(b, n) AS (SELECT 'a', 1 UNION ALL "
    "SELECT b || b, n + 1 FROM r WHERE n < 20) SELECT b, n FROM r) ORDER BY n DESC LIMIT 1)"
)
"""A text of half a megabyte."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("bird") / "numbers.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    connection.executemany("INSERT INTO numbers VALUES (?)", [(i,) for i in range(2000)])
    connection.commit()
    connection.close()
    return Place.file(path)


def chain(levels, link):
    """Return a query of WITH clauses each of which names the one before as `link` does."""
    clauses = [f"a{i} AS ({link.format(f'a{i - 1}')})" for i in range(1, levels)]
    return f"WITH a0 AS (SELECT 1 AS x), {', '.join(clauses)} SELECT * FROM a{levels - 1}"


LINKS = [
    "SELECT u.x FROM {0} u, {0} v",
    "SELECT x FROM {0} UNION ALL SELECT x FROM {0}",
    "SELECT x FROM {0} WHERE x IN {0}",
    'SELECT x FROM "{0}" JOIN [{0}] USING (x)',
    "SELECT x FROM `{0}` JOIN '{0}' USING (x)",
    "SELECT x FROM {0} WHERE x = (SELECT MAX(x) FROM /* again */ {0})",
]


@pytest.mark.parametrize("link", LINKS)
def test_clauses_that_multiply_are_refused_before_they_are_compiled(place, link):
    assert run(place, chain(5, link)).rows
    with pytest.raises(QueryError, match="WITH clauses"):
        run(place, chain(40, link))


def test_copies_are_counted_along_the_way():
    assert copies("SELECT 1") == 0
    assert copies("WITH a AS (SELECT 1 AS x) SELECT a.x, a.x + a.x FROM a") == 1
    assert copies("WITH RECURSIVE a(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM a) TABLE a") < 5
    assert copies("WITH a AS NOT MATERIALIZED (SELECT 1) SELECT * FROM a JOIN a b") == 2
    assert copies("WITH b AS (SELECT * FROM a, a), a AS (SELECT 1) SELECT * FROM b, b") == 6
    assert copies("WITH a AS (SELECT 'FROM a, a, a') SELECT * FROM a -- FROM a, a") == 1
    assert copies(chain(10, LINKS[0])) == COPIES + 1


def test_no_text_makes_counting_slow():
    texts = ["(", "a AS (", "a AS (SELECT ", "a (a", "'", "[ WITH", "/* WITH", "a AS (SELECT 1), "]
    begin = time.process_time()
    for text in texts:
        copies("WITH " + text * (20_000 // len(text)))
    assert time.process_time() - begin < 5


def test_no_query_of_the_mini_edition_is_near_the_bound():
    for name in NAMES:
        for entry in (*load_source(name).questions, *read_pairs(name)):
            assert copies(entry["sql"]) < COPIES / 10


@pytest.mark.parametrize(
    "search",
    [
        "instr(b, substr(b, 1, 200000) || n)",
        "replace(b, substr(b, 1, 200000) || n, '')",
        "trim(b, substr(b, 1, 200000))",
    ],
)
def test_a_long_search_in_a_long_text_is_refused(place, search):
    begin = time.process_time()
    with pytest.raises(QueryError, match="too long"):
        run(place, f"WITH {BIG} SELECT COUNT({search}) FROM numbers, big")
    assert time.process_time() - begin < 5


def test_a_value_too_long_is_never_made(place):
    """Half a million times half a million characters: no step may try."""
    begin = time.process_time()
    with pytest.raises(QueryError, match="too big: no value may be longer than 1,000,000 bytes"):
        run(place, f"WITH {BIG} SELECT replace(b, 'a', b) FROM big")
    wide = "printf(replace(substr(b, 1, 100000), 'a', '%999d'), 1)"
    made = run(place, f"WITH {BIG} SELECT {wide} FROM big")
    assert made.rows == [(None,)]  # as SQLite's own at its limit
    assert time.process_time() - begin < 2


def test_values_are_bounded_where_rows_and_bytes_are_not(place, monkeypatch):
    monkeypatch.setattr(query, "CELLS", 50_000)
    columns = ", ".join(["u.n"] * 100)
    with pytest.raises(QueryError, match="more than 50,000 values"):
        run(place, f"SELECT {columns} FROM numbers u, numbers v")


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_rows_that_share_one_hash_are_judged_at_once(comparison):
    """Powers of 2 ** 61 are one to the hash of a number, so a set of such rows takes hours."""
    alike = [2.0 ** (61 * k) for k in range(-16, 17)]
    rows = [(a, b, c, d) for a in alike for b in alike for c in alike for d in alike[:2]]
    begin = time.process_time()
    assert not same_rows(rows, [(1,)], comparison)
    assert time.process_time() - begin < 2


def test_arguments_that_share_one_hash_are_remembered_as_fast_as_others(place):
    values = ", ".join(f"({2.0 ** (61 * k)!r})" for k in range(-16, 17))
    sql = (
        f"WITH p(v) AS (VALUES {values}) SELECT COUNT(printf('%g%g%g', a.v, b.v, c.v)) "
        "FROM p a, p b, p c WHERE a.v > b.v"
    )
    begin = time.process_time()
    assert run(place, sql, Pool()).rows == [(33 * 32 // 2 * 33,)]
    assert time.process_time() - begin < 5


@pytest.mark.parametrize("reply", ["```" + " " * 19_000, "```sql\n" + "\t" * 19_000, "` `" * 6_000])
def test_a_reply_is_read_at_once(reply):
    begin = time.process_time()
    find_sql(reply)
    assert time.process_time() - begin < 2


def test_searches_return_what_sqlite_returns(place):
    sql = (
        "SELECT instr(n, 7), instr('n', NULL), replace(n, 1, 'x'), replace('aaa', '', 'x'), "
        "trim(n, 1), ltrim(' a '), rtrim('xxay', 'yx'), trim(n), instr(x'0102', x'02'), "
        "replace(n * 1.5, '.', ','), instr('äöü', 'ü'), trim(NULL, 'x') FROM numbers"
    )
    plain = sqlite3.connect(place.path)
    assert run(place, sql).rows == plain.execute(sql).fetchall()
    plain.close()


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="needs a time zone that can be set")
def test_the_time_zone_of_the_machine_does_not_matter(place, monkeypatch):
    sql = "SELECT datetime('2024-07-01 12:00:00', 'localtime'), strftime('%H', 0, 'UTC')"
    seen = []
    for zone in ("America/New_York", "Asia/Tokyo"):
        monkeypatch.setenv("TZ", zone)
        time.tzset()
        seen.append(run(place, sql, Pool()).rows)
    monkeypatch.undo()
    time.tzset()
    assert seen[0] == seen[1] == [("2024-07-01 12:00:00", "12")]


@pytest.mark.parametrize(
    "table",
    ["sqlite_stmt", "pragma_function_list", "pragma_database_list", "dbstat", "json_each(1)"],
)
def test_a_gold_query_cannot_be_read_from_its_connection(table):
    env = BirdEnv()
    env.reset(options={"task_id": "bird_0"})
    env.step("SELECT 1")  # the gold query has run now, on this connection
    with pytest.raises(QueryError, match=r"not allowed|no such table"):
        run(find_database(NAMES[0]), f"SELECT * FROM {table}")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_while_another_thread_borrows_does_not_hang(place):
    held, done = threading.Event(), threading.Event()

    def hold():
        with POOL._lock:
            held.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    child = os.fork()
    if child == 0:
        found = run(place, "SELECT COUNT(*) FROM numbers").rows
        os._exit(0 if found == [(2000,)] else 1)
    try:
        deadline = time.monotonic() + 20
        pid = 0
        while not pid and time.monotonic() < deadline:
            pid, status = os.waitpid(child, os.WNOHANG)
            time.sleep(0.02)
        if not pid:
            os.kill(child, 9)
            os.waitpid(child, 0)
        assert pid, "the child waits for a lock nobody holds"
        assert os.waitstatus_to_exitcode(status) == 0
    finally:
        done.set()
        thread.join()


def test_gold_rows_are_kept_within_bounds(place):
    kept = GoldRows(cells=1000)
    sql = "SELECT n, n FROM numbers LIMIT {}"
    for size in (100, 200, 150, 1500):
        assert len(kept.find(place, sql.format(size), 10**6)) == size
        assert kept.cells <= 1000
    assert kept.find(place, sql.format(150), 10**6) is kept.find(place, sql.format(150), 10**6)
    large = sql.format(1500)
    assert kept.find(place, large, 10**6) is not kept.find(place, large, 10**6)
    with pytest.raises(QueryError):
        kept.find(place, "SELECT COUNT(*) FROM numbers a, numbers b", 10**6)


def test_a_snapshot_belongs_to_its_variant():
    one, many = BirdEnv(), BirdInteractiveEnv()
    one.reset(options={"task_id": "bird_3"})
    many.reset(options={"task_id": "bird_3"})
    assert BirdInteractiveEnv().set_state(many.get_state())[1]["task_id"] == "bird_3"
    with pytest.raises(InvalidState, match="BIRD-Interactive"):
        many.set_state(one.get_state())


@pytest.mark.parametrize("call", ["printf('%s%d', b, n)", "date(b || n)"])
def test_long_arguments_are_not_remembered(place, call):
    pool = Pool()
    tracemalloc.start()
    sql = f"WITH {BIG} SELECT COUNT({call}) FROM numbers, big WHERE n < 60"
    assert len(run(place, sql, pool).rows) == 1
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 10 * 2**20  # sixty texts of half a megabyte would be three times that


def test_no_answer_is_long():
    env = BirdInteractiveEnv(max_rounds=100)
    env.reset(options={"task_id": "bird_0"})
    wide = ", ".join(f"printf('%.900c', 'x') AS c{i}" for i in range(300))
    many = "WITH RECURSIVE t(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM t LIMIT 90)"
    observation = env.step(f"run {many} SELECT {wide} FROM t")[0]
    assert "90 rows, the first 20 shown; 300 columns, the first 36 shown" in observation
    assert len(observation) < 20_000
    twelve = ", ".join(f"printf('%.900c', 'x') AS c{i}" for i in range(12))
    assert len(env.step(f"run {many} SELECT {twelve} FROM t")[0]) < 20_000
    observation = env.step(f"run SELECT {'x' * 15_000}")[0]
    assert "no such column" in observation
    assert len(observation) < 500
