"""The mini databases of BIRD: their keys, their stories, and questions with one answer each."""

from __future__ import annotations

import os
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from functools import cache

import pytest

from agentgym.envs.bird import check
from agentgym.envs.bird.check import faults
from agentgym.envs.bird.databases import NAMES
from agentgym.envs.bird.library import build, digest_rows, load_source, read_pairs

TOPICS = {
    "join", "grouping", "window", "cte", "date", "set-operation", "ratio", "null", "dirty-value",
    "unit", "abbreviation", "subquery", "case",
}  # fmt: skip

# What can never be, a query each: it would find the rows that break a database's story.
IMPOSSIBLE = {
    "school_district": {
        "more free meals than free and reduced ones, or more than pupils": "SELECT * FROM frpm "
        "WHERE free_cnt > frpm_cnt OR frpm_cnt > enrl_k12",
        "a class with more students than seats": "SELECT s.sec_id FROM sections AS s JOIN "
        "enrollments AS e USING (sec_id) GROUP BY s.sec_id HAVING COUNT(*) > s.max_seats",
        "a student in a class of another school": "SELECT * FROM enrollments JOIN students AS t "
        "USING (stu_id) JOIN sections AS s USING (sec_id) WHERE s.CDSCode <> t.CDSCode",
        "a mark that does not follow from the percentage": "SELECT * FROM enrollments WHERE mark "
        "IN ('A', 'B', 'C', 'D', 'F') AND mark <> CASE WHEN pct >= 90 THEN 'A' WHEN pct >= 80 "
        "THEN 'B' WHEN pct >= 70 THEN 'C' WHEN pct >= 60 THEN 'D' ELSE 'F' END",
        "more days absent than enrolled": "SELECT * FROM attendance WHERE days_abs > days_enrl OR "
        "days_exc > days_abs",
        "an incident after the student left": "SELECT * FROM incidents JOIN students USING "
        "(stu_id) WHERE inc_dt > exit_dt OR inc_dt < entry_dt",
    },
    "retail_bank": {
        "a balance that is not the one before it plus or minus the movement": "WITH t AS (SELECT "
        "*, LAG(bal_cents, 1, 0) OVER (PARTITION BY acct_no ORDER BY trans_id) AS before FROM "
        "trans) SELECT * FROM t WHERE bal_cents <> before + CASE type WHEN 'C' THEN amt_cents "
        "ELSE -amt_cents END",
        "a payment beyond the overdraft limit": "SELECT * FROM trans AS t JOIN accounts AS a USING "
        "(acct_no) WHERE op_cd <> 'FEE' AND type = 'D' AND bal_cents + COALESCE(od_limit_cents, 0) "
        "< 0",
        "movements out of order": "SELECT * FROM (SELECT t_date, LAG(t_date) OVER (ORDER BY "
        "trans_id) AS before FROM trans) WHERE t_date < before",
        "a movement of an account that is closed, or not yet open": "SELECT * FROM trans JOIN "
        "accounts USING (acct_no) WHERE t_date < open_dt OR t_date > close_dt",
        "an account without an owner": "SELECT acct_no FROM accounts EXCEPT SELECT acct_no FROM "
        "disp WHERE role_cd = 'O'",
        "a loan whose status is not that of its instalments": "SELECT l.loan_id FROM loans AS l "
        "JOIN loan_pmts AS p USING (loan_id) GROUP BY l.loan_id HAVING l.status <> CASE WHEN "
        "COUNT(*) = l.term_mo THEN IIF(COUNT(*) > COUNT(paid_dt), 'B', 'A') ELSE "
        "IIF(COUNT(*) > COUNT(paid_dt), 'D', 'C') END",
    },
    "hospital": {
        "a discharge before the admission": "SELECT * FROM admissions WHERE disch_ts <= adm_ts",
        "a patient in two beds at once": "SELECT * FROM admissions AS a JOIN admissions AS b ON "
        "b.pat_id = a.pat_id AND b.adm_id > a.adm_id WHERE a.disch_ts IS NULL OR b.adm_ts <= "
        "a.disch_ts",
        "an admission after death": "SELECT * FROM admissions JOIN patients USING (pat_id) WHERE "
        "DATE(adm_ts) > death_dt",
        "a death that is not on the patient's record": "SELECT * FROM admissions JOIN patients "
        "USING (pat_id) WHERE disch_disp = 'EXP' AND death_dt IS NOT DATE(disch_ts)",
        "more hours in intensive care than in the hospital": "SELECT * FROM admissions WHERE "
        "icu_hrs > (JULIANDAY(disch_ts) - JULIANDAY(adm_ts)) * 24",
        "a sample from somebody who is not there": "SELECT * FROM labs JOIN admissions USING "
        "(adm_id) WHERE coll_ts < adm_ts OR coll_ts > disch_ts",
        "an admission without a principal diagnosis": "SELECT adm_id FROM admissions EXCEPT SELECT "
        "adm_id FROM diagnoses WHERE seq_no = 1",
        "a physician of another department, or one who has left": "SELECT * FROM admissions AS a "
        "JOIN physicians AS p USING (phys_id) WHERE p.dept_cd <> a.dept_cd OR left_dt < adm_ts",
        "a delivery by somebody who is no woman": "SELECT * FROM admissions JOIN patients USING "
        "(pat_id) WHERE dept_cd = 'OBST' AND UPPER(sex) IS NOT 'F'",
        "more paid than billed": "SELECT * FROM claims WHERE paid_usd > billed_usd",
    },
    "racing_series": {
        "places that are not 1, 2, 3 and so on": "SELECT race_id FROM results GROUP BY race_id "
        "HAVING MAX(pos) <> COUNT(pos) OR COUNT(DISTINCT pos) <> COUNT(pos)",
        "a better place with fewer laps or more time": "SELECT * FROM results AS a JOIN results AS "
        "b ON b.race_id = a.race_id AND b.pos = a.pos + 1 WHERE b.laps_done > a.laps_done OR "
        "b.time_ms < a.time_ms",
        "points that do not follow from the place": "SELECT * FROM results AS x JOIN races AS r "
        "USING (race_id) JOIN seasons AS s USING (yr) WHERE x.pts * (1 + half_pts) <> COALESCE("
        "CASE pos WHEN 1 THEN 25 WHEN 2 THEN 18 WHEN 3 THEN 15 WHEN 4 THEN 12 WHEN 5 THEN 10 WHEN "
        "6 THEN 8 WHEN 7 THEN 6 WHEN 8 THEN 4 WHEN 9 THEN 2 WHEN 10 THEN 1 END, 0) + "
        "(fl_point AND fl_rank IS 1 AND pos IS NOT NULL AND pos <= 10)",
        "standings that do not add up": "SELECT s.race_id, s.driver_id FROM standings AS s JOIN "
        "races AS r USING (race_id) JOIN races AS q ON q.yr = r.yr AND q.rnd <= r.rnd JOIN results "
        "AS x ON x.race_id = q.race_id AND x.driver_id = s.driver_id GROUP BY s.race_id, "
        "s.driver_id HAVING SUM(x.pts) <> s.pts OR SUM(x.pos IS 1) <> s.wins",
        "a driver for a team without a seat in it": "SELECT * FROM results AS x JOIN races AS r "
        "USING (race_id) LEFT JOIN seats AS s ON s.yr = r.yr AND s.driver_id = x.driver_id AND "
        "s.team_id = x.team_id AND r.rnd BETWEEN s.from_rnd AND COALESCE(s.to_rnd, 99) WHERE s.yr "
        "IS NULL",
        "a pit stop after the last lap": "SELECT * FROM pit_stops AS p JOIN results AS x USING "
        "(race_id, driver_id) WHERE p.lap > x.laps_done",
        "a third part of qualifying without a second": "SELECT * FROM qualifying WHERE (q_pos <= "
        "10) <> (q3 IS NOT NULL) OR (q_pos <= 15) <> (q2 IS NOT NULL)",
    },
    "chess_club": {
        "a game against oneself": "SELECT * FROM games WHERE white_id = black_id",
        "two games of one player in a round": "SELECT tour_id, rnd, m FROM (SELECT tour_id, rnd, "
        "white_id AS m FROM games UNION ALL SELECT tour_id, rnd, black_id FROM games) WHERE "
        "tour_id IS NOT NULL AND m IS NOT NULL GROUP BY 1, 2, 3 HAVING COUNT(*) > 1",
        "a player who has not entered, or has withdrawn": "SELECT * FROM games AS g LEFT JOIN "
        "entries AS e ON e.tour_id = g.tour_id AND e.mem_id IN (g.white_id, g.black_id) WHERE "
        "g.tour_id IS NOT NULL AND (e.seed IS NULL OR e.wd_rnd <= g.rnd)",
        "a bye with an opponent, or a forfeit with moves": "SELECT * FROM games WHERE (result = "
        "'BYE') <> (black_id IS NULL) OR (result IN ('+:-', '-:+') AND plies IS NOT NULL)",
        "seeds that are not in order of rating": "SELECT * FROM entries AS a JOIN entries AS b ON "
        "b.tour_id = a.tour_id AND b.seed > a.seed WHERE b.rtg_in > COALESCE(a.rtg_in, 0)",
        "a rating at the start that is not on the list": "SELECT * FROM entries AS e JOIN "
        "tournaments AS t USING (tour_id) JOIN ratings AS r ON r.mem_id = e.mem_id AND r.list_mo = "
        "SUBSTR(t.start_dt, 1, 7) WHERE r.rtg IS NOT e.rtg_in",
        "more paid than due": "SELECT * FROM dues WHERE paid_cents > due_cents",
        "a round after the last": "SELECT * FROM games JOIN tournaments USING (tour_id) WHERE "
        "rnd > rounds OR g_date < start_dt OR g_date > end_dt",
    },
    "public_library": {
        "a copy lent twice at once": "SELECT * FROM loans AS a JOIN loans AS b ON b.barcode = "
        "a.barcode AND b.loan_id > a.loan_id WHERE b.out_dt < a.ret_dt",
        "a fine that is both paid and waived": "SELECT * FROM fines WHERE paid_dt IS NOT NULL AND "
        "waived_yn = 'Y'",
    },
    "airline_ops": {
        "an arrival before the departure": "SELECT * FROM flights WHERE act_arr <= act_dep",
        "a route to where it begins": "SELECT * FROM routes WHERE orig_iata = dest_iata",
        "more passengers than seats": "SELECT * FROM flights JOIN aircraft USING (tail_no) JOIN "
        "aircraft_types USING (type_cd) WHERE pax_y > seats_y OR pax_j > seats_j",
    },
    "solar_utility": {
        "power that is back before it went": "SELECT * FROM outages WHERE end_ts <= start_ts",
        "two bills of a site for one period": "SELECT site_id, period FROM bills GROUP BY 1, 2 "
        "HAVING COUNT(*) > 1",
    },
    "online_market": {
        "a total that does not add up": "SELECT * FROM orders WHERE total_cents <> items_cents - "
        "disc_cents + ship_cents",
        "an order whose lines do not add up": "SELECT o.order_id FROM orders AS o JOIN order_lines "
        "AS l USING (order_id) GROUP BY o.order_id HAVING SUM(l.qty * l.unit_cents) <> "
        "o.items_cents",
        "a return of more than was bought": "SELECT * FROM returns AS r JOIN order_lines AS l "
        "USING (order_id, line_no) WHERE r.qty > l.qty",
    },
    "film_festival": {
        "more tickets than seats": "SELECT s.scr_id FROM screenings AS s JOIN venues USING "
        "(venue_id) JOIN ticket_sales USING (scr_id) GROUP BY s.scr_id HAVING SUM(qty) > seats",
        "a screening outside the festival": "SELECT * FROM screenings JOIN editions USING (ed_no) "
        "WHERE DATE(starts_at) NOT BETWEEN start_dt AND DATE(end_dt, '+1 day')",
    },
}  # fmt: skip


@cache
def database(name: str) -> sqlite3.Connection:
    return build(name)


def columns(connection: sqlite3.Connection) -> dict[str, list[tuple]]:
    """{table: rows of PRAGMA table_info: (number, column, type, not null, default, key)}."""
    tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    return {t: connection.execute(f"PRAGMA table_info({t})").fetchall() for (t,) in tables}


_TOKEN = re.compile(r"'[^']*'|\(|\)|\bORDER\s+BY\b|\bLIMIT\b|\bOVER\b", re.IGNORECASE)


def decided(sql: str, width: int) -> list[str]:
    """The query with its ties broken, one way and the other, wherever a tie could show.

    That is after each ORDER BY that a LIMIT follows, and after the last one. The breaker is the
    columns returned, so that only what an answer shows can make a difference; in a subquery it is
    the first of them.
    """
    depth, windows, orders, cuts, before = 0, set(), set(), [], ""
    for token in _TOKEN.finditer(sql):
        word = re.sub(r"\s+", " ", token[0].upper())
        if word == "(":
            depth += 1
            windows -= {depth}
            windows |= {depth} if before == "OVER" else set()
            orders -= {depth}
        elif word == ")":
            orders -= {depth}
            depth -= 1
        elif word == "ORDER BY" and depth not in windows:
            orders.add(depth)
        elif word == "LIMIT" and depth in orders:
            cuts.append((token.start(), width if depth == 0 else 1))
            orders.discard(depth)
        before = word
    if 0 in orders:
        cuts.append((len(sql), width))
    return [
        f"{sql[:at]}{''.join(f', {i} {way}' for i in range(1, n + 1))} {sql[at:]}"
        for at, n in cuts
        for way in ("ASC", "DESC")
    ]


def ambiguity(connection: sqlite3.Connection, sql: str, ordered: bool) -> str:
    """What makes the answer depend on more than the question, or ''."""
    rows = connection.execute(sql).fetchall()

    def differs(other: list[tuple]) -> bool:
        return other != rows if ordered else set(other) != set(rows)

    connection.execute("PRAGMA reverse_unordered_selects = ON")
    backwards = connection.execute(sql).fetchall()
    connection.execute("PRAGMA reverse_unordered_selects = OFF")
    if differs(backwards):
        return "depends on the order in which tables are read"
    for query in decided(sql, len(rows[0]) if rows else 1):
        if differs(connection.execute(query).fetchall()):
            return f"has a tie: {query}"
    return ""


@pytest.mark.parametrize("name", NAMES)
def test_tables_have_keys_that_hold_and_columns_that_are_explained(name):
    connection = database(name)
    tables = columns(connection)
    assert 5 <= len(tables) <= 13
    assert all(any(column[5] for column in table) for table in tables.values())
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    assert any(connection.execute(f"PRAGMA foreign_key_list({t})").fetchall() for t in tables)
    described = load_source(name).columns
    assert {t: [c[1] for c in cs] for t, cs in tables.items()} == {
        t: list(described[t]) for t in tables
    }
    assert all(entry["description"] for table in described.values() for entry in table.values())


@pytest.mark.parametrize("name", NAMES)
def test_rows_are_thousands_and_some_are_missing_values(name):
    connection = database(name)
    tables = columns(connection)
    counts = {t: connection.execute(f"SELECT COUNT(*) FROM {t}").fetchone()[0] for t in tables}
    assert min(counts.values()) > 0
    assert 2000 <= sum(counts.values()) <= 12_000
    holes = [
        (table, column[1])
        for table in tables
        for column in tables[table]
        if connection.execute(f"SELECT 1 FROM {table} WHERE {column[1]} IS NULL").fetchone()
    ]
    assert len(holes) >= 5


def test_all_databases_together_hold_tens_of_thousands_of_rows():
    total = sum(
        database(name).execute(f"SELECT COUNT(*) FROM {table}").fetchone()[0]
        for name in NAMES
        for table in columns(database(name))
    )
    assert total >= 40_000


def test_rows_are_the_same_in_another_process_with_another_hash_seed():
    code = (
        "from agentgym.envs.bird.databases import NAMES\n"
        "from agentgym.envs.bird.library import build, digest_rows\n"
        "print(*[digest_rows(build(name)) for name in NAMES])"
    )
    there = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": "77"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert there.stdout.split() == [digest_rows(database(name)) for name in NAMES]


@pytest.mark.parametrize(
    ("name", "story"), [(name, story) for name in NAMES for story in IMPOSSIBLE[name]]
)
def test_what_can_never_be_is_in_no_database(name, story):
    assert database(name).execute(IMPOSSIBLE[name][story]).fetchmany(3) == []


@pytest.mark.parametrize("name", NAMES)
def test_questions_are_of_all_kinds(name):
    questions = load_source(name).questions
    count = len(questions)
    shares = {
        level: sum(q["difficulty"] == level for q in questions) / count
        for level in ("simple", "moderate", "challenging")
    }
    assert count >= 40
    assert sum(shares.values()) == pytest.approx(1)
    assert 0.35 <= shares["simple"] <= 0.55
    assert shares["challenging"] >= 0.15
    assert 0.15 <= sum(q["split"] == "eval" for q in questions) / count <= 0.25
    assert {q["split"] for q in questions} == {"train", "eval"}
    assert len({q["question"] for q in questions}) == count
    assert len({q["sql"] for q in questions}) == count
    topics = {topic for q in questions for topic in q["topics"]}
    assert len(TOPICS - topics) <= 1
    evals = {topic for q in questions if q["split"] == "eval" for topic in q["topics"]}
    assert len(evals & TOPICS) >= 8


def test_there_are_four_hundred_questions_and_every_topic_is_common():
    questions = [entry for name in NAMES for entry in load_source(name).questions]
    assert len(questions) >= 400
    assert all(sum(topic in q["topics"] for q in questions) >= 10 for topic in TOPICS)


@pytest.mark.parametrize("name", NAMES)
def test_a_question_says_what_it_asks_for(name):
    for entry in load_source(name).questions:
        text = entry["question"]
        assert text[0].isupper(), text
        assert text.endswith((".", "?")), text
        assert "  " not in text + entry["evidence"], text
        assert entry["sql"].startswith(("SELECT", "WITH")), text
        if entry["ordered"]:
            assert "ORDER BY" in entry["sql"], text
        # A percentage is only one answer where the question says of what.
        if "100.0 /" in entry["sql"]:
            assert "= " in entry["evidence"] or "=" in entry["question"], text


@pytest.mark.parametrize("name", NAMES)
def test_every_question_has_one_answer_and_no_tie_at_the_cut(name):
    found = [
        (entry["question"], fault)
        for entry in load_source(name).questions
        if (fault := ambiguity(database(name), entry["sql"], entry["ordered"]))
    ]
    assert found == []


@pytest.mark.parametrize("name", NAMES)
def test_answers_are_there_short_and_quick_and_the_pairs_are_judged_right(name):
    assert list(faults(name)) == []


@pytest.mark.parametrize("name", NAMES)
def test_pairs_cover_many_questions_and_say_why(name):
    pairs = read_pairs(name)
    questions = load_source(name).questions
    assert sum(pair["score"] == 1 for pair in pairs) >= 6
    assert sum(pair["score"] == 0 for pair in pairs) >= 12
    assert len({pair["question"] for pair in pairs}) >= 20
    assert all(pair["why"] for pair in pairs)
    for pair in pairs:
        assert pair["sql"] != questions[pair["question"]]["sql"]


@pytest.mark.parametrize("name", NAMES)
def test_units_may_be_converted_before_or_after_the_sum(name):
    """Cents added as hundredths differ in the last bits, which the question must round away."""
    for entry in load_source(name).questions:
        inside = re.sub(
            r"SUM\(((?:[^()]|\([^()]*\))*)\) / (100+\.0|60\.0)", r"SUM((\1) / \2)", entry["sql"]
        )
        if inside != entry["sql"]:
            rows = set(database(name).execute(inside).fetchall())
            assert rows == set(database(name).execute(entry["sql"]).fetchall()), entry["question"]


def test_a_tie_is_found_where_there_is_one():
    connection = sqlite3.connect(":memory:")
    connection.executescript(
        "CREATE TABLE t (a INTEGER PRIMARY KEY, b, c);"
        "INSERT INTO t VALUES (1, 'x', 5), (2, 'y', 5), (3, 'y', 4), (4, 'z', 1);"
    )

    def fault(sql: str, ordered: bool = False) -> str:
        return ambiguity(connection, sql, ordered)

    assert "tie" in fault("SELECT b, COUNT(*) FROM t WHERE a > 2 GROUP BY b ORDER BY 2 LIMIT 1")
    assert fault("SELECT a FROM t ORDER BY c DESC LIMIT 1")
    assert fault("SELECT MAX(b) FROM (SELECT b, a FROM t ORDER BY c DESC LIMIT 1)")
    assert fault("SELECT a FROM t ORDER BY c", ordered=True)
    assert fault("SELECT a FROM t LIMIT 2")
    assert not fault("SELECT a FROM t ORDER BY c")
    assert not fault("SELECT a FROM t ORDER BY c DESC LIMIT 2")
    assert not fault("SELECT b FROM t WHERE a IN (2, 3) ORDER BY b LIMIT 1")
    assert not fault("SELECT SUM(c) OVER (ORDER BY a) FROM t ORDER BY a DESC LIMIT 2")


def test_a_number_that_is_rounded_by_chance_is_found(monkeypatch):
    source = load_source("airline_ops")
    sql = "SELECT ROUND((julianday('2024-01-05 01:21') - julianday('2024-01-01')) * 24, 1)"
    entries = [{**source.questions[0], "sql": text} for text in (sql, sql.replace("1)", "2)"))]
    monkeypatch.setattr(check, "load_source", lambda name: replace(source, questions=entries))
    monkeypatch.setattr(check, "read_pairs", lambda name: [])
    (found,) = check.faults("airline_ops")
    assert found.startswith("question 0: 97.349999")
