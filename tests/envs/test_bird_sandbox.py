"""What a query may not do: write, run on, take all memory, look at the clock, leave anything."""

import hashlib
import os
import random
import resource
import sqlite3
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentgym.envs.bird import library
from agentgym.envs.bird.env import BirdEnv
from agentgym.envs.bird.functions import NOW
from agentgym.envs.bird.interactive import BirdInteractiveEnv
from agentgym.envs.bird.library import build, digest_rows, find_database, load_source
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.pool import Pool
from agentgym.envs.bird.query import QueryError, run
from agentgym.envs.bird.sandbox import STEPS

NAME = "school_district"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bird")
    path = folder / "shelf.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, price REAL);"
        "CREATE TABLE sales (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items, day TEXT);"
    )
    rows = [(i, f"item {i}", i / 4) for i in range(300)]
    connection.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
    sales = [(i, i % 300, f"2024-01-{i % 28 + 1:02}") for i in range(3000)]
    connection.executemany("INSERT INTO sales VALUES (?, ?, ?)", sales)
    connection.commit()
    connection.close()
    return Place.file(path)


def state_of(place):
    folder = place.path.parent
    return {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(folder.iterdir())}


ATTACKS = [
    ("DROP TABLE items", "only reading"),
    ("INSERT INTO items VALUES (1, 'x', 1)", "only reading"),
    ("WITH x AS (SELECT 1) DELETE FROM items", "DELETE"),
    ("WITH x AS (SELECT 1) UPDATE items SET price = 0", "UPDATE"),
    ("WITH x AS (SELECT 1) INSERT INTO items SELECT 9999, 'x', 1", "INSERT"),
    ("ATTACH DATABASE 'other.sqlite' AS other", "only reading"),
    ("PRAGMA writable_schema = ON", "only reading"),
    ("SELECT * FROM pragma_table_info('items')", "not allowed"),
    ("VACUUM INTO 'copy.sqlite'", "only reading"),
    ("CREATE TEMP TABLE t (x)", "only reading"),
    ("BEGIN", "only reading"),
    ("EXPLAIN SELECT 1", "only reading"),
    ("SELECT load_extension('evil')", "load_extension is not allowed"),
    ("SELECT readfile('/etc/passwd')", "readfile"),
    ("SELECT writefile('x', 'y')", "writefile"),
    ("SELECT edit('x')", "edit"),
    ("SELECT sqlite_version()", "sqlite_version is not allowed"),
    ("SELECT randomblob(8)", "randomblob is not allowed"),
    ("SELECT zeroblob(2000000000)", "zeroblob is not allowed"),
    ("SELECT 1; DROP TABLE items", "one statement"),
    ("SELECT 1; --\nDROP TABLE items", "one statement"),
    ("SELECT replace(printf('%.900c', 'a'), 'a', printf('%.990c', 'b')) || "
     "replace(printf('%.900c', 'a'), 'a', printf('%.990c', 'b'))", "too big"),
    ("SELECT printf('%.*c', 2000000000, 'x')", "three digits"),
    ("SELECT printf('%2000000000d', 1)", "three digits"),
    ("SELECT group_concat(a.day || b.day) FROM sales a, sales b", "too big|stopped"),
    ("WITH RECURSIVE t(x) AS (SELECT 'ab' UNION ALL SELECT x || x FROM t) SELECT * FROM t",
     "too big"),
    ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "overflow"),
    ("SELECT " + "+".join("1" * 3000), "depth"),
    (" UNION ALL ".join(["SELECT 1"] * 200), "terms"),
    ("SELECT '\ud800'", "surrogates"),
    ("SELECT 'a\0b'", "null character"),
    ("SELECT CAST(x'ff' AS TEXT)", "UTF-8"),
    ("SELECT abs(-9223372036854775808)", "overflow"),
    ("SELECT name FROM items WHERE name LIKE '" + "%a" * 400 + "'", "pattern too complex"),
    ("-- nothing", "there is no query"),
    ("/* open", "there is no query"),
    ("SELEC 1", "only reading"),
    ("SELECT FROM WHERE", "syntax error"),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "said"), ATTACKS)
def test_an_attack_is_answered_and_changes_nothing(place, sql, said):
    before = state_of(place)
    with pytest.raises(QueryError, match=said):
        run(place, sql, Pool())
    assert state_of(place) == before


@pytest.mark.parametrize(
    "sql",
    [
        "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT COUNT(*) FROM t",
        "SELECT COUNT(*) FROM sales a, sales b, sales c, sales d",
        "SELECT COUNT(*) FROM sales a, sales b, items c WHERE a.day LIKE '%' || b.day || c.name",
    ],
)
def test_a_query_that_runs_on_is_stopped_by_its_steps(place, sql):
    pool = Pool()
    with pytest.raises(QueryError, match="it was stopped after"):
        run(place, sql, pool)
    with pool.lend(place) as (_, guard):
        assert guard.steps == STEPS  # steps, not seconds, stopped it
    assert run(place, "SELECT COUNT(*) FROM items", pool).rows == [(300,)]


def test_endless_rows_and_endless_bytes_are_cut_off(place):
    endless = "WITH RECURSIVE t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t) SELECT "
    with pytest.raises(QueryError, match="rows"):
        run(place, f"{endless} x FROM t")
    with pytest.raises(QueryError, match="MB"):
        run(place, f"{endless} replace(printf('%.900c', 'a'), 'a', printf('%.900c', x)) FROM t")


def test_memory_is_bounded(place):
    """Rows of a megabyte that are sorted are all held; SQLite's heap has an end."""
    sql = (
        "WITH RECURSIVE t(n, x) AS (SELECT 1, replace(printf('%.900c', 'a'), 'a', "
        "printf('%.990c', 'b')) UNION ALL SELECT n + 1, x || '' FROM t) "
        "SELECT * FROM t ORDER BY 2, 1"
    )
    with pytest.raises(QueryError, match="too much memory"):
        run(place, sql, Pool())
    unit = 1 if sys.platform == "darwin" else 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit < 2.5 * 2**30


def test_now_never_moves(place):
    asked = (
        "SELECT date('now'), datetime(), CURRENT_TIMESTAMP, strftime('%Y', 'n' || 'ow'), "
        "date('now', '-1 day'), julianday('now') - julianday(CURRENT_DATE)"
    )
    day = NOW[:10]
    assert run(place, asked).rows == [(day, NOW, NOW, "2024", "2024-06-29", 0.5)]


@pytest.mark.parametrize(
    "expression",
    [
        "date('2024-01-31', '+1 month')",
        "strftime('%Y-%m', day)",
        "julianday(day) - julianday('2023-12-25')",
        "datetime(2460000.5)",
        "time('12:00', '+90 minutes')",
        "date(NULL)",
        "date('nonsense')",
        "printf('%05.2f|%s|%,d', price, name, items.id)",
        "strftime('%j', 2460000)",
    ],
)
def test_the_functions_stood_in_for_return_what_sqlite_returns(place, expression):
    sql = f"SELECT {expression} FROM items JOIN sales ON sales.item = items.id LIMIT 50"
    plain = sqlite3.connect(place.path)
    assert run(place, sql).rows == plain.execute(sql).fetchall()
    plain.close()


@given(st.text(max_size=200))
def test_no_text_raises_or_changes_anything(text):
    env = BirdInteractiveEnv()
    env.reset(options={"task_id": "bird_0"})
    observation, reward, *_ = env.step(text)
    assert isinstance(observation, str)
    assert reward == 0.0


WORDS = """
SELECT FROM WHERE GROUP BY ORDER LIMIT JOIN ON AS AND OR NOT IN ( ) , * = < > 'x' 1 2.5 NULL
schools students CDSCode COUNT( MAX( CASE WHEN THEN ELSE END UNION EXCEPT WITH RECURSIVE t ; --
/* */ ' " ` [ ] || LIKE '%' CAST( INTEGER EXISTS OVER PARTITION PRAGMA ATTACH zeroblob( DELETE
INSERT now date( 1e999 x'ff' -9223372036854775808
"""


def test_thousands_of_malformed_queries_leave_everything_as_it_was():
    draw, words = random.Random(7), WORDS.split()
    home = find_database(NAME)
    before = state_of(home)
    env = BirdEnv()
    for _ in range(3000):
        sql = " ".join(draw.choice(words) for _ in range(draw.randint(1, 14)))
        env.reset(options={"task_id": "bird_0"})
        observation, *_ = env.step(f"SELECT {sql}" if draw.random() < 0.7 else sql)
        assert observation
    assert state_of(home) == before


def test_the_pool_keeps_few_and_leaks_none(place):
    pool = Pool(kept=3)
    for _ in range(50):
        run(place, "SELECT 1", pool)
    assert (pool.opened, pool.idle) == (1, 1)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: run(place, "SELECT COUNT(*) FROM sales", pool), range(200)))
    assert pool.idle <= 3
    assert pool.opened - pool.closed == pool.idle
    pool.clear()
    assert pool.opened == pool.closed


def test_a_broken_query_gives_its_connection_back(place):
    pool = Pool()
    for sql in ("SELECT nothing", "DROP TABLE items", "SELECT 1; SELECT 2"):
        with pytest.raises(QueryError):
            run(place, sql, pool)
    assert pool.idle <= 1
    assert run(place, "SELECT 1", pool).rows == [(1,)]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_opens_its_own(place):
    pool = Pool()
    run(place, "SELECT 1", pool)
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        found = run(place, "SELECT COUNT(*) FROM items", pool).rows[0][0]
        os.write(writer, f"{found} {pool.idle}".encode())
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reader, 100) == b"300 1"
    assert pool.idle == 1


@pytest.fixture
def fresh_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path))
    find_database.cache_clear()
    yield tmp_path
    find_database.cache_clear()


def test_a_database_is_built_once_and_a_damaged_one_anew(fresh_cache):
    path = find_database(NAME).path
    stamp = path.stat().st_mtime_ns
    find_database.cache_clear()
    assert find_database(NAME).path.stat().st_mtime_ns == stamp
    path.write_bytes(path.read_bytes()[:5000])
    find_database.cache_clear()
    assert run(find_database(NAME), "SELECT COUNT(*) FROM schools").rows[0][0] > 5
    assert {p.suffix for p in path.parent.iterdir()} == {".sqlite", ".sha256"}


def test_where_nothing_can_be_written_a_database_is_built_in_memory(fresh_cache, monkeypatch):
    def refuse(name, path):
        raise OSError("read-only file system")

    monkeypatch.setattr(library, "_write", refuse)
    place = find_database(NAME)
    assert place.path is None
    assert run(place, "SELECT COUNT(*) FROM schools", Pool()).rows[0][0] > 5
    with pytest.raises(QueryError):
        run(place, "DELETE FROM schools", Pool())


def test_the_rows_follow_from_the_sources():
    one, two = build(NAME), build(NAME)
    assert digest_rows(one) == digest_rows(two)
    assert load_source(NAME).digest in str(find_database(NAME).path)
    one.close()
    two.close()
