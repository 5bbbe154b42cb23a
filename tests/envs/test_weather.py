"""Weather: the places, the climate, the functions, the questions, the editions."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from datetime import date, timedelta
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentgym.core import Task, make
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.envs.tools import NotFound, WrongValue
from agentgym.envs.weather import drawing
from agentgym.envs.weather import env as weather_env
from agentgym.envs.weather.asking import place_of
from agentgym.envs.weather.climate import DAYS, FIRST, LAST, air_quality_index, weather_of
from agentgym.envs.weather.env import WeatherEnv
from agentgym.envs.weather.places import distance_km, find_places, load_places, place_at
from agentgym.envs.weather.source import LocalSource
from agentgym.envs.weather.tasks import mini_tasks
from agentgym.envs.weather.tools import WeatherTools
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode
from tests.envs.fuzz_tools import check_malformed

README = Path(weather_env.__file__).parent / "README.md"
MINI_DIGEST = "95c0d12998ecc55db6533a3b9b0b85457f474e7b42c53b020873b28702b8d1cb"
TODAY = date(2023, 5, 15)
OSLO = {"latitude": 59.9, "longitude": 10.8}

lands = st.sampled_from(load_places())


def kit(today: date = TODAY, location: str = "Oslo") -> WeatherTools:
    return WeatherTools(LocalSource(), today, location)


# The places.


def test_places_are_many_real_and_apart() -> None:
    places = load_places()
    assert len(places) == len({p.full_name for p in places}) == 422
    assert len({p.country for p in places}) == 166
    for place in places:
        assert -430 <= place.elevation <= 5000
        assert 0 <= place.coast_km <= 1000
        assert place_at(place.latitude, place.longitude) == place
        assert place_of(place.full_name) == place
    la_paz, berlin = find_places("La Paz")[0], find_places("berlin")[0]
    assert la_paz.elevation > 3500
    assert distance_km(berlin.latitude, berlin.longitude, 48.8566, 2.3522) == pytest.approx(
        877, abs=2
    )


def test_a_name_may_lead_to_several_places() -> None:
    assert [p.region for p in find_places("PORTLAND")] == ["Oregon", "Maine"]
    assert [p.region for p in find_places("Portland, Maine, USA")] == ["Maine"]
    assert [p.country for p in find_places("cordoba")] == ["Argentina", "Spain"]
    assert find_places("Atlantis") == ()


# The climate.


def mean_of(name: str, month: int) -> float:
    place = find_places(name)[0]
    days = [FIRST + timedelta(i) for i in range(DAYS)]
    pairs = zip(days, weather_of(place).mean, strict=True)
    return fmean(value for day, value in pairs if day.month == month)


def rain_of(name: str) -> float:
    return sum(weather_of(find_places(name)[0]).rain) / 3


@settings(max_examples=25, deadline=None)
@given(lands)
def test_every_day_is_possible(place: Any) -> None:
    weather = weather_of(place)
    assert all(len(column) == DAYS for column in weather)
    for high, low, mean in zip(weather.highest, weather.lowest, weather.mean, strict=True):
        assert low < mean < high
        assert low > -75
        assert high < 55
    assert min(weather.rain) == 0
    assert max(weather.rain) < 300
    assert min(weather.snow) >= 0
    cold = zip(weather.snow, weather.mean, strict=True)
    assert all(mean < 2 for snow, mean in cold if snow > 0)
    pairs = zip(weather.aqi, weather.pm2_5, weather.pm10, strict=True)
    assert all(aqi == air_quality_index(fine, coarse) for aqi, fine, coarse in pairs)


def test_the_climate_is_plausible() -> None:
    assert mean_of("Oslo", 1) < 0 < 12 < mean_of("Oslo", 7)
    assert mean_of("Sydney", 7) < mean_of("Sydney", 1)  # the south has its winter in July
    assert 24 < mean_of("Singapore", 1) < 29
    assert abs(mean_of("Singapore", 1) - mean_of("Singapore", 7)) < 3
    assert mean_of("Yakutsk", 7) - mean_of("Yakutsk", 1) > 45  # far inland
    assert mean_of("Edinburgh", 7) - mean_of("Edinburgh", 1) < 18  # by the sea
    assert mean_of("Leadville", 7) < mean_of("Denver", 7) - 4  # 1,450 m higher
    assert rain_of("Cairo") < 120 < 600 < rain_of("London") < rain_of("Singapore")
    assert sum(weather_of(find_places("Nairobi")[0]).snow) == 0
    assert sum(weather_of(find_places("Tromsø")[0]).snow) > 100


def test_a_day_follows_the_day_before() -> None:
    mean = weather_of(find_places("Berlin")[0]).mean
    around = [value - fmean(mean[max(0, i - 15) : i + 16]) for i, value in enumerate(mean)]
    spread = fmean(v * v for v in around)
    after = fmean(a * b for a, b in itertools.pairwise(around))
    assert 0.3 < after / spread < 0.9


def test_the_weather_is_the_same_under_any_hash_seed() -> None:
    script = (
        "from agentgym.envs.weather.climate import weather_of\n"
        "from agentgym.envs.weather.places import load_places\n"
        "import hashlib\n"
        "shown = repr([weather_of(p) for p in load_places()[::40]])\n"
        "print(hashlib.sha256(shown.encode()).hexdigest())"
    )
    first, second = outputs_under_hash_seeds(script)
    assert first == second


# The functions.


@settings(max_examples=60, deadline=None)
@given(lands, st.integers(1, 30), st.integers(0, 20))
def test_forecast_present_and_history_agree(place: Any, ahead: int, length: int) -> None:
    where = {"latitude": place.latitude, "longitude": place.longitude}
    start, end = TODAY + timedelta(ahead), TODAY + timedelta(ahead + length)
    days = {**where, "start_date": str(start), "end_date": str(end)}
    later = kit(end)
    for what in ("temp", "rain", "snow"):
        told = kit().call(f"get_{what}_forecast", days)
        assert told == later.call(f"get_historical_{what}", days)
        assert told["daily"]["time"][0] == str(start)
        assert len(told["daily"]["time"]) == length + 1
        now = kit(start).call(f"get_current_{what}", {**where, "current_date": str(start)})
        first = {name: values[:1] for name, values in told["daily"].items()}
        assert now["daily"] == first


def test_results_have_open_meteos_layout() -> None:
    assert kit().call("get_latitude_longitude", {"name": "portland, maine"}) == {
        "results": [
            {
                "name": "Portland", "latitude": 43.6574, "longitude": -70.2589,
                "region": "Maine", "country": "United States",
            }
        ]
    }  # fmt: skip
    days = {
        "latitude": 59.9,
        "longitude": 10.8,
        "start_date": "2023-05-01",
        "end_date": "2023-05-02",
    }
    told = kit().call("get_historical_temp", days)
    assert (told["latitude"], told["longitude"]) == (59.9, 10.8)
    assert told["daily_units"] == {
        "time": "iso8601", "temperature_2m_max": "°C", "temperature_2m_min": "°C",
        "temperature_2m_mean": "°C",
    }  # fmt: skip
    assert list(told["daily"]) == list(told["daily_units"])
    air = kit().call("get_historical_air_quality_index", days)
    assert list(air["daily"]) == ["time", "european_aqi", "pm2_5", "pm10"]


@pytest.mark.parametrize(
    ("name", "changed", "words"),
    [
        (
            "get_historical_rain",
            {"end_date": "2023-05-16"},
            "must be today (2023-05-15) or earlier",
        ),
        ("get_historical_rain", {"start_date": "2023-04-01"}, "within 31 days of start_date"),
        ("get_historical_rain", {"start_date": "2023-05-12"}, "must not be before start_date"),
        ("get_rain_forecast", {}, "'start_date' must be today (2023-05-15) or later"),
        (
            "get_rain_forecast",
            {"start_date": "2023-07-10", "end_date": "2023-07-20"},
            "must be 2023-07-14 or earlier, 60 days ahead",
        ),
        (
            "get_historical_temp",
            {"start_date": "2021-12-30", "end_date": "2022-01-02"},
            "there are days from 2022-01-01 to 2024-12-31",
        ),
    ],
)
def test_days_out_of_reach_are_refused(name: str, changed: Mapping[str, str], words: str) -> None:
    days = {
        "latitude": 59.9,
        "longitude": 10.8,
        "start_date": "2023-05-10",
        "end_date": "2023-05-11",
    }
    with pytest.raises(WrongValue) as raised:
        kit().call(name, {**days, **changed})
    assert words in str(raised.value)


def test_the_present_is_today_and_places_are_known() -> None:
    with pytest.raises(WrongValue, match="must be today, 2023-05-15, got 2023-05-14"):
        kit().call("get_current_temp", {**OSLO, "current_date": "2023-05-14"})
    with pytest.raises(NotFound, match=r"no station within 50 km of 0\.0, -30\.0; the nearest is"):
        kit().call("get_elevation", {"latitude": 0, "longitude": -30})
    with pytest.raises(NotFound, match="Did you mean Reykjav"):
        kit().call("get_latitude_longitude", {"name": "Reykjavic"})


def test_ten_thousand_malformed_calls_are_answered() -> None:
    env = make("weather")
    assert isinstance(env, WeatherEnv)
    check_malformed(env, 10_000)


# The questions.


def test_mini_tasks_are_frozen_and_drawn_by_the_script() -> None:
    tasks = mini_tasks()
    assert tasks.digest == MINI_DIGEST
    assert tasks.sizes == {"train": 320, "eval": 64}
    assert set(tasks.kinds) == set(drawing.QUESTIONS)
    assert set(tasks.kinds.values()) == {24}
    assert len({task.spec["goal"] for task in tasks}) == 384
    seen: set[str] = set()
    evals = [*drawing._rows("eval", drawing.EVAL, seen), *drawing._rows("train", 48, seen)]
    told = {task.spec["goal"]: [task.split, task.kind, task.spec] for task in tasks}
    for row in json.loads(json.dumps(evals)):
        assert told[row[2]["goal"]] == row


def play(env: WeatherEnv, task: Task) -> tuple[dict[str, Any], list[str]]:
    """Play a task with its expert."""
    observation, info = env.reset(seed=0, options={"task_id": task.id})
    expert, actions, ended = env.expert(), [], False
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought
        observation, _, terminated, truncated, info = env.step(action)
        assert info["valid"], observation
        actions.append(action)
        ended = terminated or truncated
    return info, actions


def test_the_expert_solves_every_mini_task_with_each_call_once() -> None:
    env = WeatherEnv()
    for task in env.tasks:
        info, actions = play(env, task)
        assert (info["success"], info["score"]) == (True, 1.0), task.id
        assert len(actions) == len(set(actions)) == len(task.spec["subgoals"]) + 1
        assert len(actions) <= 9


def moves(task: Task, spoilt: int | None = None, much: bool = False) -> tuple[list[Any], Any]:
    """Return the calls of an expert's plan and its answer, one call's result spoilt."""
    spec = task.spec
    tools = kit(date.fromisoformat(spec["today"]), spec["location"])
    plan, calls = drawing.QUESTIONS[task.kind].plan(spec["ask"]), []
    move = next(plan)
    while move.name != "finish":
        calls.append((move.name, dict(move.arguments)))
        result = tools.call(move.name, move.arguments) if _played(move, tools) else None
        if len(calls) - 1 == spoilt:
            result = spoil(move.name, result, much)
        if result is None:
            break
        try:
            move = plan.send(result)
        except (ValueError, KeyError, RuntimeError):  # nothing that fits the question is left
            return calls, "lost"
    return calls, move.arguments.get("answer")


def _played(move: Any, tools: WeatherTools) -> bool:
    try:
        tools.call(move.name, move.arguments)
    except (NotFound, WrongValue, KeyError):
        return False
    return True


def spoil(name: str, result: Any, much: bool) -> Any:
    """Return another result that the function might have returned: a larger or a smaller one."""
    if name == "get_user_current_date":
        return str(date.fromisoformat(result) + timedelta(400 if much else -400))
    if name == "get_user_current_location":
        return "Ushuaia" if result != "Ushuaia" else "Oslo"
    if name == "get_latitude_longitude":
        rows = [{**row, "latitude": 0.5 - row["latitude"]} for row in result["results"]]
        return {"results": rows}
    if name == "get_elevation":
        return {"elevation": [9000.0 if much else -400.0]}
    if name == "get_distance":
        return 20000.0 if much else 0.1
    if name == "get_air_quality_level":
        return "unheard of"
    daily = {n: v if n == "time" else spoilt_days(v, much) for n, v in result["daily"].items()}
    return {**result, "daily": daily}


def spoilt_days(values: list[float], much: bool) -> list[float]:
    """Return days that rise or fall steeply from far above or below."""
    return [200.0 + 10 * i if much else -200.0 - 10 * i for i, _ in enumerate(values)]


def test_no_call_of_the_expert_can_be_left_out() -> None:
    """Were one call's result another, a later call or the answer would be: it is needed."""
    for task in mini_tasks()[::2]:
        as_it_is = moves(task)
        for i, (name, _) in enumerate(as_it_is[0]):
            others = [moves(task, i, much) for much in (True, False)]
            assert any(other != as_it_is for other in others), (task.id, name)


def test_no_two_calls_could_have_been_one() -> None:
    for task in mini_tasks():
        asked: dict[Any, list[tuple[date, date]]] = {}
        for name, arguments in moves(task)[0]:
            if "start_date" in arguments:
                key = (name, arguments["latitude"], arguments["longitude"])
                ends = (arguments["start_date"], arguments["end_date"])
                asked.setdefault(key, []).append(tuple(map(date.fromisoformat, ends)))
        for ranges in asked.values():
            if len(ranges) > 1:
                first, last = min(r[0] for r in ranges), max(r[1] for r in ranges)
                assert (last - first).days + 1 > LocalSource.most_days, task.id


def test_answers_stand_apart() -> None:
    env = WeatherEnv()
    for task in env.tasks:
        answer = task.spec["answer"]
        if "number" in answer:
            near, far = answer["number"] + answer.get("within", 0) * 0.9, answer["number"] + 1.2
            assert env._is_right(task, {"answer": near})
            assert not env._is_right(task, {"answer": far})
        elif "date" in answer:
            day = date.fromisoformat(answer["date"])
            assert FIRST <= day <= LAST
            assert env._is_right(task, {"answer": f"{day:%B} {day.day}, {day.year}"})
            assert not env._is_right(task, {"answer": str(day + timedelta(1))})


def test_score_counts_the_calls_a_question_rests_on() -> None:
    env = WeatherEnv()
    task = next(t for t in env.tasks if t.kind == "elevation" and len(t.spec["subgoals"]) == 4)
    env.reset(seed=0, options={"task_id": task.id})
    place = place_of(task.spec["ask"]["places"][0])
    env.step(f'get_latitude_longitude with Action Input: {{"name": "{place.full_name}"}}')
    assert env._score == pytest.approx(1 / 5)
    near = {"latitude": place.latitude + 0.2, "longitude": place.longitude}
    env.step(f"get_elevation with Action Input: {near}")
    assert env._score == pytest.approx(2 / 5)
    info = env.step('finish with Action Input: {"answer": "Nowhere"}')[4]
    assert (info["score"], info["success"]) == (pytest.approx(2 / 5), False)


# The official edition.


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = [
        ("How warm was it?", 18.5, [18.5]),
        ("Is it?", "No", ["No"]),
        ("Which day?", "2023-05-30", ["2023-05-30"]),
        ("The range?", [4.9, 7.9], [[4.9, 7.9]]),
        ("Where is it?", {"latitude": 40.4, "longitude": -80.0}, []),
    ]
    lines = [
        json.dumps(
            {
                "id": i,
                "goal": goal,
                "subgoals": subgoals,
                "additional_info": {
                    "answer": answer,
                    "init_config": {
                        "current_date": "2023-06-15",
                        "current_location": "New York",
                    },
                },
            }
        )
        for i, (goal, answer, subgoals) in enumerate(rows)
    ]
    (tmp_path / "weather").mkdir()
    (tmp_path / "weather" / "weather.jsonl").write_text("\n".join(lines))
    return tmp_path


def test_official_tasks_are_read_and_judged(folder: Path) -> None:
    env = WeatherEnv(edition="official", data_dir=str(folder))
    assert (env.backend, env.max_rounds, len(env.tasks)) == ("live", 10, 5)
    right = ["18.5 °C", "no", "30 May 2023", "[7.9, 4.9]", "[40.44, -79.99]"]
    wrong = [18.7, "yes", "2023-05-31", [4.9], [42.0, -80.0]]
    for task, good, bad in zip(env.tasks, right, wrong, strict=True):
        for answer, success in ((good, True), (bad, False)):
            env.reset(seed=0, options={"task_id": task.id})
            action = f"finish with Action Input: {json.dumps({'answer': answer})}"
            assert env.step(action)[4]["success"] is success


def test_official_needs_its_file_and_the_live_backend(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(MissingData, match=r"weather\.jsonl"):
        WeatherEnv(edition="official", data_dir=str(tmp_path / "none"))
    with pytest.raises(InvalidConfig, match="official edition of Weather is answered by live"):
        WeatherEnv(edition="official", data_dir=str(folder), backend="local")
    with pytest.raises(InvalidConfig, match="mini edition of Weather is answered by local"):
        WeatherEnv(backend="live")
    (folder / "weather" / "weather.jsonl").write_text('{"goal": 1}\n')
    with pytest.raises(InvalidConfig, match="line 1 is no Weather task"):
        WeatherEnv.load_tasks("official", str(folder))


def test_readme_episode_is_what_happens() -> None:
    printed, said = readme_episode(README)
    assert printed == said
