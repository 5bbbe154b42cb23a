"""Movie: the industry, the questions, the functions, the expert, the live service, the tasks."""

import json
import threading
from ast import literal_eval
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from agentgym.core.call import write_call
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.envs.movie import env as movie_env
from agentgym.envs.movie.env import MovieEnv
from agentgym.envs.movie.industry import FILMS, MOST_CREDITS, PEOPLE
from agentgym.envs.movie.making import load_industry
from agentgym.envs.movie.questions import BY_NAME, QUESTIONS
from agentgym.envs.movie.questions.base import MOST_CALLS
from agentgym.envs.movie.tmdb import MovieDatabase
from agentgym.envs.movie.tools import MovieTools
from agentgym.envs.tools import Cassette, CassetteMiss, MissingKey, NotFound, accepts, value_of
from tests.envs.calls import call, play
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode
from tests.envs.fuzz_tools import check_malformed

README = Path(movie_env.__file__).parent / "README.md"


@pytest.fixture(scope="module")
def world():
    return load_industry()


@pytest.fixture
def env():
    env = MovieEnv()
    env.reset(options={"task_id": "movie_0"})
    return env


def test_the_industry_has_the_size_it_claims(world):
    assert len(world.films) == FILMS == 500
    assert len(world.people) == PEOPLE == 1500
    assert len({f.title for f in world.films.values()}) == FILMS
    assert len({p.name for p in world.people.values()}) == PEOPLE


def test_careers_are_consistent(world):
    for person in world.people.values():
        assert person.cast or person.crew
        assert max(len(person.cast), len(person.crew)) <= MOST_CREDITS + 1
        for number, part in person.cast:
            film = world.films[number]
            assert (person.id, part) in film.cast
            assert 16 <= film.released.year - person.born.year <= 79
        for number, job in person.crew:
            assert (person.id, job) in world.films[number].crew
        for year, category, number in person.prizes:
            film = world.films[number]
            assert film.released.year == year - 1
            made = film.having("Director") if category == "Best Director" else dict(film.cast)
            assert person.id in made
            assert f"In {year}, " in person.biography
            assert film.title in person.biography
    winners = Counter((y, c) for p in world.people.values() for y, c, _ in p.prizes)
    assert max(winners.values()) == 1
    assert len(winners) > 120


def test_films_are_whole(world):
    for film in world.films.values():
        assert film.crew[0][1] == "Director"
        assert 5 <= len(film.cast) <= 10
        assert len({person for person, _ in film.cast}) == len(film.cast)
        assert len({part for _, part in film.cast}) == len(film.cast)
        assert len(film.crew) <= 10
        assert [world.company_country[c] for c in film.companies] == film.countries
        assert film.country not in [iso for iso, _ in film.titles]
        assert len(set(film.keywords)) == len(film.keywords) >= 2


def test_numbers_do_not_tell_the_order_of_release(world):
    days = [film.released for film in sorted(world.films.values(), key=lambda f: int(f.id))]
    later = sum(one < two for one, two in pairwise(days))
    assert 0.4 < later / len(days) < 0.6


def test_the_world_and_the_tasks_never_change():
    script = (
        "from agentgym.envs.movie.env import MovieEnv\n"
        "from agentgym.envs.movie.making import load_industry\n"
        "import hashlib\n"
        "world = load_industry()\n"
        "text = repr(list(world.films.values())) + repr(list(world.people.values()))\n"
        "print(hashlib.sha256(text.encode()).hexdigest()[:16])\n"
        "print(MovieEnv().tasks.digest[:16])\n"
    )
    first, second = outputs_under_hash_seeds(script)
    assert first == second
    assert first.split() == ["b2f57162a90fd629", "17ef7eeaaf6181c3"]


def test_every_kind_of_question_has_train_and_eval_tasks():
    tasks = MovieEnv().tasks
    assert tasks.sizes == {"train": 14 * len(QUESTIONS), "eval": 4 * len(QUESTIONS)}
    assert {kind.split("/")[0] for kind in tasks.kinds} == {"simple", "moderate", "hard"}
    about = Counter((t.spec["question"], frozenset(t.spec["args"].values())) for t in tasks)
    assert max(about.values()) == 1


def test_yes_and_no_are_both_common():
    answers = Counter(t.spec["answer"].get("text") for t in MovieEnv().tasks)
    assert min(answers["Yes"], answers["No"]) >= 10


def fewest(world, spec):
    """Return the fewest calls that can settle a question: a search for each name that is given,
    and one look-up for each film or person whose facts are asked about."""
    args, name = spec["args"], spec["question"]
    if name in ("directors-birthplace",):
        return 1 + 1 + 1  # search, crew, the director
    if name == "prize-film-director":
        return 2 + 2  # person and biography, film and crew
    if name in ("in-both", "better-rated", "earned-more", "earlier"):
        return 2 * 2
    if name in ("first-film", "genre-count"):
        return 1 + 1 + len(world.find_person(args["person"]).cast)
    if name == "biggest-film":
        return 1 + 1 + sum(j == "Director" for _, j in world.find_person(args["person"]).crew)
    if name in ("cast-born-in", "oldest-of-cast"):
        return 1 + 1 + len(world.find_film(args["film"]).cast)
    return 1 + 1


def test_the_expert_solves_every_task_with_the_fewest_calls(world):
    env = MovieEnv()
    for task in env.tasks:
        calls, success = play(env, task)
        assert success, task
        assert len(set(calls)) == len(calls) == fewest(world, task.spec) + 1, task
        assert len(calls) <= MOST_CALLS + 1


def test_answers_are_computed_from_the_world_alone(world):
    for task in MovieEnv().tasks:
        answer = BY_NAME[task.spec["question"]].answer(world, task.spec["args"])
        assert answer == task.spec["answer"]
        assert accepts(answer, value_of(answer))


def test_a_film_is_found_by_its_title_however_it_is_written(env, world):
    film = next(f for f in world.films.values() if f.titles)
    for title in (film.title, film.title.upper(), f" {film.title}! ", film.titles[0][1]):
        said, valid = call(env, "get_search_movie", movie_name=title)
        assert valid
        assert literal_eval(said)[0]["id"] in (film.id, *_of_title(world, title))
    part = film.title.removeprefix("The ")
    assert call(env, "get_search_movie", movie_name=part)[1]


def _of_title(world, title):
    return [f.id for f in world.films.values() if title in [t for _, t in f.titles]]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("get_search_movie", {"movie_name": "Casablanca"}, "no movie is called Casablanca"),
        ("get_search_person", {"person_name": "Ingrid Bergman"}, "nobody is called"),
        ("get_movie_cast", {"movie_id": "1"}, "no movie with the id 1; search for it first"),
        ("get_person_details", {"person_id": "zero"}, "nobody has the id zero"),
        ("get_movie_cast", {"movie_name": "x"}, "movie_id"),
        ("get_movie_crw", {"movie_id": "1"}, "get_movie_crew"),
    ],
)
def test_what_is_wrong_is_answered_with_what_to_change(env, name, arguments, said):
    answer, valid = call(env, name, **arguments)
    assert said in answer
    assert not valid


def test_functions_return_the_published_fields(env, world):
    film, person = next(iter(world.films.values())), next(iter(world.people.values()))
    expected = {
        "get_movie_details": {
            "title", "budget", "genres", "revenue", "vote_average", "release_date"
        },
        "get_movie_production_companies": {"production_companies"},
        "get_movie_production_countries": {"production_countries"},
        "get_movie_cast": {"cast"},
        "get_movie_crew": {"crew"},
        "get_movie_keywords": {"keywords"},
        "get_movie_alternative_titles": {"id", "titles"},
        "get_movie_translation": {"id", "translations"},
        "get_person_details": {"name", "biography", "birthday", "place_of_birth"},
        "get_person_cast": {"cast"},
        "get_person_crew": {"crew"},
        "get_person_external_ids": {"imdb_id", "facebook_id", "instagram_id", "twitter_id"},
    }  # fmt: skip
    for name, fields in expected.items():
        key, number = ("person_id", person.id) if "person" in name else ("movie_id", film.id)
        env.reset(options={"task_id": "movie_0"})
        said, valid = call(env, name, **{key: number})
        assert valid
        assert set(literal_eval(said)) == fields


class Service(BaseHTTPRequestHandler):
    """The Movie Database as far as the tests need it, with answers made by hand."""

    seen: list[tuple[str, str]] = []  # noqa: RUF012
    answers = {  # noqa: RUF012
        "/search/movie": {"results": [{"id": 603, "title": "Hand Made", "overview": "A test."}]},
        "/search/person": {"results": []},
        "/movie/603": {
            "title": "Hand Made", "budget": 5, "genres": [], "revenue": 9, "vote_average": 7.5,
            "release_date": "1999-03-30", "production_companies": [{"name": "Us"}],
            "production_countries": [{"iso_3166_1": "NL", "name": "Netherlands"}],
        },
        "/movie/603/credits": {
            "cast": [{"id": i, "name": f"N{i}", "character": "C", "x": 1} for i in range(12)],
            "crew": [
                {"id": 50 + i, "name": f"M{i}", "job": "Gaffer", "x": 1} for i in range(12)
            ] + [{"id": 99, "name": "Dee", "job": "Director"}],
        },
        "/movie/603/keywords": {"keywords": [{"id": 1, "name": "test"}]},
        "/movie/603/alternative_titles": {"id": 603, "titles": []},
        "/movie/603/translations": {
            "id": 603,
            "translations": [
                {"iso_3166_1": "NL", "english_name": "Dutch", "data": {"title": "x", "a": ""}},
                {"iso_3166_1": "FR", "english_name": "French", "data": {"title": "y"}},
            ],
        },
        "/person/7": {"name": "Dee", "biography": "b", "birthday": "1970-01-01",
                      "place_of_birth": "Delft", "gender": 1},
        "/person/7/movie_credits": {"cast": [], "crew": [{"id": 603, "title": "T", "job": "J"}]},
        "/person/7/external_ids": {"imdb_id": "nm1", "facebook_id": None, "instagram_id": None,
                                   "twitter_id": None, "tiktok_id": "no"},
    }  # fmt: skip

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        self.seen.append((parts.path, self.headers.get("Authorization", "")))
        found = self.answers.get(parts.path)
        if parts.path.startswith("/search"):
            assert parse_qs(parts.query)["query"]
        body = json.dumps(found or {"status_message": "not found"}).encode()
        self.send_response(200 if found is not None else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def host(monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("MOVIE_KEY", "secret-token")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Service)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def every_call(kit):
    """Call every function once and return what they answer."""
    film, person = {"movie_id": "603"}, {"person_id": "7"}
    found = {"get_search_movie": kit.call("get_search_movie", {"movie_name": "Hand Made"})}
    for name in kit.catalogue:
        if name.startswith("get_movie"):
            found[name] = kit.call(name, film)
        elif name.startswith("get_person"):
            found[name] = kit.call(name, person)
    return found


def test_the_live_service_is_asked_and_a_tape_answers_without_it(host, tmp_path, monkeypatch):
    tape = tmp_path / "tape.jsonl"
    kit = MovieTools(MovieDatabase(Cassette(str(tape), "record"), host=host))
    found = every_call(kit)
    kit.source.close()
    assert len(found["get_movie_cast"]["cast"]) == 10
    crew = found["get_movie_crew"]["crew"]
    assert (crew[0], len(crew)) == ({"id": 99, "name": "Dee", "job": "Director"}, 10)
    assert found["get_movie_translation"]["translations"] == [
        {"iso_3166_1": "NL", "english_name": "Dutch", "data": {"a": ""}}
    ]
    assert set(found["get_person_external_ids"]) == {
        "imdb_id", "facebook_id", "instagram_id", "twitter_id"
    }  # fmt: skip
    assert all(key == "Bearer secret-token" for _, key in Service.seen)
    assert "secret-token" not in tape.read_text()
    monkeypatch.delenv("MOVIE_KEY")
    offline = MovieTools(MovieDatabase(Cassette(str(tape), "replay"), host=host))
    assert every_call(offline) == found
    with pytest.raises(CassetteMiss):
        offline.call("get_movie_cast", {"movie_id": "604"})


def test_what_the_live_service_does_not_have_is_the_agents_mistake(host):
    kit = MovieTools(MovieDatabase(host=host))
    for name, arguments in (
        ("get_movie_cast", {"movie_id": "999"}),
        ("get_movie_cast", {"movie_id": "603/../../account"}),
        ("get_person_details", {"person_id": "8"}),
        ("get_search_person", {"person_name": "Nobody"}),
    ):
        with pytest.raises(NotFound):
            kit.call(name, arguments)
    assert all("account" not in path for path, _ in Service.seen)
    kit.source.close()


def test_without_a_key_the_message_names_it(monkeypatch):
    monkeypatch.delenv("MOVIE_KEY", raising=False)
    with pytest.raises(MissingKey, match="MOVIE_KEY"):
        MovieTools(MovieDatabase()).call("get_movie_cast", {"movie_id": "603"})


PUBLISHED = {
    "goal": "What is the budget?",
    "subgoals": [5],
    "additional_info": {"answer": 5, "init_config": None, "goal_type": 0, "tool": "movie"},
    "difficulty": "hard",
}


def test_published_tasks_are_read_in_their_order(tmp_path):
    folder = tmp_path / "movie"
    folder.mkdir()
    (folder / "movie.jsonl").write_text((json.dumps(PUBLISHED) + "\n") * 25)
    env = MovieEnv(edition="official", data_dir=str(tmp_path))
    assert env.tasks.sizes == {"train": 5, "eval": 20}
    listed = tmp_path / "listed" / "movie"
    listed.mkdir(parents=True)
    (listed / "movie.jsonl").write_text((folder / "movie.jsonl").read_text())
    (listed / "eval_ids.json").write_text('["movie_0", "movie_3"]')
    env = MovieEnv(edition="official", data_dir=str(listed.parent))
    assert [t.id for t in env.tasks.split("eval")] == ["movie_0", "movie_3"]
    env.reset(options={"task_id": "movie_0"})
    assert env.step(write_call("finish", {"answer": 5}))[4]["success"]


def test_what_is_missing_or_wrong_is_said(tmp_path):
    with pytest.raises(MissingData, match=r"movie\.jsonl"):
        MovieEnv(edition="official", data_dir=str(tmp_path))
    with pytest.raises(InvalidConfig, match="live"):
        MovieEnv(backend="live")


def test_ten_thousand_malformed_calls_are_answered_and_change_nothing():
    check_malformed(MovieEnv(), 10_000)


def test_the_readme_plays_as_it_says():
    printed, said = readme_episode(README)
    assert printed == said
