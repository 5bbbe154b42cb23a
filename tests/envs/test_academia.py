"""Academia: the network, the questions over it, the functions, the expert, the published tasks."""

import json
from ast import literal_eval
from collections import Counter
from pathlib import Path

import pytest

from agentgym.core.call import write_call
from agentgym.core.errors import InvalidConfig, InvalidState, MissingData
from agentgym.envs.academia import env as academia_env
from agentgym.envs.academia.env import AcademiaEnv
from agentgym.envs.academia.network import AUTHORS, PAPERS, load_network
from agentgym.envs.academia.questions import BY_NAME, QUESTIONS
from agentgym.envs.academia.questions.base import MOST_CALLS
from agentgym.envs.tools import accepts, value_of
from agentgym.envs.tools.question import top
from tests.envs.calls import call, play
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode
from tests.envs.fuzz_tools import check_malformed

README = Path(academia_env.__file__).parent / "README.md"


@pytest.fixture(scope="module")
def network():
    return load_network()


@pytest.fixture
def env():
    env = AcademiaEnv()
    env.reset(options={"task_id": "academia_0"})
    return env


def test_the_network_has_the_size_it_claims_and_hangs_together(network):
    assert len(network.papers) == PAPERS == 2000
    assert len(network.authors) == AUTHORS == 1500
    order = {title: i for i, title in enumerate(network.papers)}
    for title, paper in network.papers.items():
        assert len(set(paper.authors)) == len(paper.authors) >= 1
        assert set(paper.authors) <= set(network.authors)
        assert len(set(paper.keywords)) == len(paper.keywords)
        assert all(order[other] < order[title] for other in paper.cites)
        inside = sum(title in network.papers[x].cites for x in network.cited[title])
        assert paper.n_citation >= inside
        assert network.cited[title]
    assert all(network.wrote.values())
    homonyms = [name for name in network.authors if "_" in name]
    assert all(name.rpartition("_")[0] in network.authors for name in homonyms)
    assert 10 < len(homonyms) < 200


def test_joint_papers_are_the_papers_both_wrote(network):
    for one, shared in list(network.together.items())[::50]:
        for other, titles in shared.items():
            assert network.together[other][one] == titles
            assert titles == [t for t in network.wrote[one] if other in network.papers[t].authors]


def test_the_world_and_the_tasks_never_change():
    script = (
        "from agentgym.envs.academia.env import AcademiaEnv\n"
        "from agentgym.envs.academia.network import load_network\n"
        "import dataclasses, hashlib, json\n"
        "papers = [dataclasses.astuple(p) for p in load_network().papers.values()]\n"
        "print(hashlib.sha256(json.dumps(papers).encode()).hexdigest()[:16])\n"
        "print(AcademiaEnv().tasks.digest[:16])\n"
    )
    first, second = outputs_under_hash_seeds(script)
    assert first == second
    assert first.split() == ["03d543de9f4b04b0", "7a2dd02654aacb35"]


def test_every_kind_of_question_has_train_and_eval_tasks():
    tasks = AcademiaEnv().tasks
    assert tasks.sizes == {"train": 20 * len(QUESTIONS), "eval": 5 * len(QUESTIONS)}
    assert tasks.sizes["train"] >= 150
    about = Counter(
        (t.spec["question"], frozenset(map(str, t.spec["args"].values()))) for t in tasks
    )
    assert max(about.values()) == 1
    assert {kind.split("/")[0] for kind in tasks.kinds} == {"simple", "moderate", "hard"}


def test_the_expert_solves_every_task_and_repeats_no_call():
    env = AcademiaEnv()
    for task in env.tasks:
        calls, success = play(env, task)
        assert success, task
        assert len(set(calls)) == len(calls) <= MOST_CALLS + 1


def fewest(network, spec):
    """Return the fewest calls that can settle a question, counted from what each can tell.

    A fact of a paper or an author needs its own look-up, an author's joint papers need the
    neighbours and every edge, since any edge may hold a paper that no other does.
    """
    args, name = spec["args"], spec["question"]
    papers, people = network.papers, network.together
    if name in ("authors", "venue", "citations", "direction"):
        return 1 + 1
    if name == "overlap":
        return 1 + 2
    if name in ("organisations", "authors-at"):
        return 2 + 1 + len(papers[args["paper"]].authors)
    if name in ("mutual-collaborators", "go-between", "linked-to-both"):
        return 1 + 2
    if name in ("joint-citations", "first-together"):
        return 2 + 1 + len(people[args["author"]][args["other"]])
    if name == "closest-collaborator":
        return 1 + 1 + len(people[args["author"]])
    if name in ("most-cited-neighbour", "neighbours-at-venue"):
        return 1 + 1 + len(network.cited[args["paper"]])
    return 2 + 1 + len(people[args["author"]]) + len(network.wrote[args["author"]])


def test_the_expert_makes_no_call_that_could_be_spared(network):
    env = AcademiaEnv()
    for task in env.tasks:
        calls, _ = play(env, task)
        needed = fewest(network, task.spec) + 1
        if task.spec["question"].startswith("favourite"):
            assert len(calls) <= needed  # stops as soon as nothing can catch up
        else:
            assert len(calls) == needed, task


def test_favourites_stop_when_nothing_can_catch_up():
    question = BY_NAME["favourite-venue"]
    seen = {"a": {"venue": "X"}, "b": {"venue": "X"}, "c": {"venue": "Y"}}
    assert not question._settled(seen, 1)
    assert question._settled({"a": {"venue": "X"}, "b": {"venue": "X"}}, 1)
    assert not question._settled({}, 3)


def test_the_expert_goes_on_from_where_somebody_else_left_off():
    env = AcademiaEnv()
    task = next(t for t in env.tasks if t.spec["question"] == "most-cited-paper")
    observation, info = env.reset(options={"task_id": task.id})
    env.step("loadPaperNet with Action Input: {}")
    observation, _, _, _, info = env.step("loadAuthorNet with Action Input: {}")
    expert, ended = env.expert(), False
    while not ended:
        _, action = expert.act(observation, info)
        assert not action.startswith("load")
        observation, _, ended, _, info = env.step(action)
    assert info["success"]


def test_a_network_answers_only_once_it_is_loaded(env, network):
    title, name = next(iter(network.papers)), next(iter(network.authors))
    said, valid = call(env, "paperNodeCheck", node=title)
    assert "Please load the PaperNet first." in said
    assert not valid
    assert call(env, "loadPaperNet") == ("PaperNet is loaded.", True)
    said, valid = call(env, "paperNodeCheck", node=title)
    assert valid
    assert set(literal_eval(said)) == {
        "authors", "year", "venue", "n_citation", "keywords", "doc_type"
    }  # fmt: skip
    assert "Please load the AuthorNet first." in call(env, "authorNodeCheck", node=name)[0]
    call(env, "loadAuthorNet")
    assert call(env, "authorNodeCheck", node=name)[0] == str(
        {"name": name, "org": network.authors[name].org}
    )


def test_a_name_that_is_spelled_otherwise_is_offered(env):
    call(env, "loadAuthorNet")
    name = next(iter(load_network().authors))
    said, valid = call(env, "authorNodeCheck", node=name.upper())
    assert f"Did you mean {name}" in said
    assert not valid
    assert (
        "There is no node named Nobody in the AuthorNet."
        in call(env, "authorNodeCheck", node="Nobody")[0]
    )
    one, other = (
        name,
        next(
            n
            for n in load_network().authors
            if n not in load_network().together[name] and n != name
        ),
    )
    assert "no edge between" in call(env, "authorEdgeCheck", node1=one, node2=other)[0]


def test_an_edge_between_papers_says_which_one_cites(env, network):
    call(env, "loadPaperNet")
    citing = next(p for p in network.papers.values() if p.cites)
    told = str({"citing": citing.title, "cited": citing.cites[0]})
    for pair in ((citing.title, citing.cites[0]), (citing.cites[0], citing.title)):
        assert call(env, "paperEdgeCheck", node1=pair[0], node2=pair[1]) == (told, True)


def test_a_wrong_answer_ends_with_nothing(env):
    _, reward, terminated, _, info = env.step(write_call("finish", {"answer": "perhaps"}))
    assert (reward, terminated, info["success"]) == (0.0, True, False)


def test_a_snapshot_remembers_what_is_loaded(env):
    call(env, "loadAuthorNet")
    twin = env.fork()
    assert twin.kit.loaded == ["AuthorNet"]
    with pytest.raises(InvalidState, match="networks"):
        env.kit.load(["Everything"])


def test_answers_are_computed_from_the_network_alone(network):
    for task in AcademiaEnv().tasks:
        answer = BY_NAME[task.spec["question"]].answer(network, task.spec["args"])
        assert answer == task.spec["answer"]
        assert accepts(answer, value_of(answer))


def test_the_highest_is_only_named_where_there_is_one():
    assert top({"a": 2, "b": 1}) == "a"
    assert top({"a": 2, "b": 2}) is None
    assert top({}) is None


PUBLISHED = {
    "goal": "How many citations does 'On Shelves' have?",
    "subgoals": [7],
    "additional_info": {"answer": 7, "init_config": None, "goal_type": 0, "tool": "academia"},
    "difficulty": "easy",
}
EXPORTED = {
    "papers": [
        {
            "title": "On Shelves",
            "authors": ["Lena Hart", "Omar Diaz"],
            "year": 2001,
            "venue": "Shelf Conference",
            "n_citation": 7,
            "keywords": ["shelves"],
            "doc_type": "Conference",
            "cites": ["Not In Here"],
        }
    ],
    "authors": [{"name": "Lena Hart", "org": "Hart & Sons"}],
}


def test_published_tasks_are_played_on_the_network_that_is_brought(tmp_path):
    folder = tmp_path / "academia"
    folder.mkdir()
    (folder / "academia.jsonl").write_text(json.dumps(PUBLISHED) + "\n")
    env = AcademiaEnv(edition="official", data_dir=str(tmp_path))
    assert [(t.split, t.kind) for t in env.tasks] == [("eval", "easy")]
    with pytest.raises(MissingData, match=r"network\.json"):
        env.reset(options={"task_id": "academia_0"})
    (folder / "network.json").write_text(json.dumps(EXPORTED))
    env.reset(options={"task_id": "academia_0"})
    call(env, "loadPaperNet")
    assert "'n_citation': 7" in call(env, "paperNodeCheck", node="On Shelves")[0]
    *_, info = env.step(write_call("finish", {"answer": 7}))
    assert info["success"]


@pytest.mark.parametrize("content", ["{", "[]", '{"papers": [{}], "authors": []}'])
def test_a_network_that_is_none_is_refused(tmp_path, content):
    folder = tmp_path / "academia"
    folder.mkdir()
    (folder / "academia.jsonl").write_text(json.dumps(PUBLISHED) + "\n")
    (folder / "network.json").write_text(content)
    env = AcademiaEnv(edition="official", data_dir=str(tmp_path))
    with pytest.raises(InvalidConfig, match="is no network"):
        env.reset(options={"task_id": "academia_0"})


def test_a_published_file_with_a_damaged_line_is_named(tmp_path):
    folder = tmp_path / "academia"
    folder.mkdir()
    (folder / "academia.jsonl").write_text(json.dumps(PUBLISHED) + '\n{"goal": 1}\n')
    with pytest.raises(InvalidConfig, match="line 2"):
        AcademiaEnv(edition="official", data_dir=str(tmp_path))


def test_ten_thousand_malformed_calls_are_answered_and_change_nothing():
    check_malformed(AcademiaEnv(), 10_000)


def test_the_readme_plays_as_it_says():
    printed, said = readme_episode(README)
    assert printed == said
