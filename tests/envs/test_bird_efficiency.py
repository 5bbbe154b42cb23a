"""R-VES: what a query costs next to the gold query."""

import sqlite3

import pytest

from agentgym.envs.bird import efficiency
from agentgym.envs.bird.place import Place
from agentgym.envs.bird.query import QueryError
from agentgym.envs.bird.scoring import r_ves

QUICK = "SELECT COUNT(*) FROM numbers WHERE n = 5"
SLOW = "SELECT COUNT(*) FROM numbers WHERE n + 0 = 5"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("bird") / "numbers.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE numbers (n INTEGER PRIMARY KEY)")
    connection.executemany("INSERT INTO numbers VALUES (?)", [(i,) for i in range(5000)])
    connection.commit()
    connection.close()
    return Place.file(path)


def test_steps_give_the_same_ratio_every_time(place):
    ratio = efficiency.step_ratio(place, QUICK, SLOW)
    assert ratio > 50
    assert ratio == efficiency.step_ratio(place, QUICK, SLOW)
    assert efficiency.step_ratio(place, SLOW, QUICK) == pytest.approx(1 / ratio)
    assert efficiency.step_ratio(place, QUICK, QUICK) == 1.0


@pytest.mark.parametrize("repeats", [0, 5])
def test_rewards_follow_cost_and_correctness(place, repeats, monkeypatch):
    cost = {QUICK: 1.0, SLOW: 40.0}  # seconds, told instead of taken: the machine may be busy
    monkeypatch.setattr(efficiency, "_seconds", lambda _, sql, __: cost[sql])
    assert efficiency.efficiency(place, QUICK, SLOW, repeats) == 1.25
    assert efficiency.efficiency(place, SLOW, QUICK, repeats) == 0.25
    assert efficiency.efficiency(place, "SELECT 2", QUICK, repeats) == 0.0
    assert efficiency.efficiency(place, "SELECT nothing", QUICK, repeats) == 0.0


def test_outliers_are_left_out(place, monkeypatch):
    times = iter([1.0, 2.0] * 30 + [1.0, 500.0])  # query, gold, in turn
    monkeypatch.setattr(efficiency, "_seconds", lambda *_: next(times))
    assert efficiency.time_ratio(place, QUICK, SLOW, 31) == 2.0


def test_equal_times_have_no_outliers(place, monkeypatch):
    monkeypatch.setattr(efficiency, "_seconds", lambda *_: 1.0)
    assert efficiency.time_ratio(place, QUICK, SLOW, 4) == 1.0


def test_a_query_that_fails_is_named_by_the_ratio(place):
    with pytest.raises(QueryError):
        efficiency.time_ratio(place, "SELECT nothing", QUICK, 1)


def test_the_score_of_a_set_is_the_mean_of_the_roots():
    assert r_ves([1.25, 0.25, 0.0, 1.0]) == pytest.approx(100 * (1.25**0.5 + 0.5 + 1) / 4)


def test_times_are_taken(place):
    assert efficiency.time_ratio(place, QUICK, SLOW, 3) > 0
