"""BIRD's published archives: how they may lie, what they give, what is said of wrong ones."""

import json
import sqlite3

import pytest

from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.envs.bird.env import BirdEnv
from agentgym.envs.bird.interactive import BirdInteractiveEnv

TABLES = {
    "db_id": "zoo",
    "table_names": ["Animals"],
    "table_names_original": ["animals"],
    "column_names": [[-1, "*"], [0, "Animal ID"], [0, "Kind of animal"]],
    "column_names_original": [[-1, "*"], [0, "id"], [0, "kind"]],
    "column_types": ["text", "integer", "text"],
    "primary_keys": [1],
    "foreign_keys": [],
}


def question(number, **extra):
    return {
        "db_id": "zoo",
        "question": f"Which kind has animal {number}?",
        "evidence": "kind is in kind",
        "SQL": f"SELECT kind FROM animals WHERE id = {number}",
        **extra,
    }


def unpack(folder, name, databases, questions, tables="tables"):
    folder.mkdir(parents=True)
    (folder / f"{name}.json").write_text(json.dumps(questions))
    (folder / f"{tables}.json").write_text(json.dumps([TABLES]))
    home = folder / databases / "zoo"
    home.mkdir(parents=True)
    connection = sqlite3.connect(home / "zoo.sqlite")
    connection.execute("CREATE TABLE animals (id INTEGER PRIMARY KEY, kind TEXT)")
    rows = [(i, kind) for i, kind in enumerate(["lynx", "otter", "ibis", "newt"])]
    connection.executemany("INSERT INTO animals VALUES (?, ?)", rows)
    connection.commit()
    connection.close()


@pytest.fixture
def archives(tmp_path):
    root = tmp_path / "bird"
    unpack(root / "train", "train", "train_databases", [question(0), question(1)], "train_tables")
    dev = [question(2, difficulty="simple"), question(3, difficulty="challenging")]
    unpack(root / "dev_20240627", "dev", "dev_databases", dev, "dev_tables")
    small = [question(1, difficulty="moderate")]
    unpack(root / "minidev" / "MINIDEV", "mini_dev_sqlite", "dev_databases", small, "dev_tables")
    return tmp_path


@pytest.mark.parametrize("env_class", [BirdEnv, BirdInteractiveEnv])
def test_train_is_numbered_first_and_dev_behind_it(archives, env_class):
    env = env_class(edition="official", data_dir=str(archives))
    assert [(t.id, t.split, t.kind) for t in env.tasks] == [
        ("bird_0", "train", "unrated"),
        ("bird_1", "train", "unrated"),
        ("bird_2", "eval", "simple"),
        ("bird_3", "eval", "challenging"),
    ]
    for task in env.tasks:
        observation, info = env.reset(options={"task_id": task.id})
        expert, ended = env.expert(), False
        while not ended:
            _, action = expert.act(observation, info)
            observation, _, ended, _, info = env.step(action)
        assert info["success"]


def test_the_observation_is_the_published_one(archives):
    env = BirdEnv(edition="official", data_dir=str(archives))
    observation, _ = env.reset(options={"task_id": "bird_2"})
    assert observation == (
        "zoo contains tables such as animals. Table animals has columns such as animal id, kind of "
        "animal. animal id is the primary key.\n\nWhich kind has animal 2?"
    )
    assert env.step("SELECT 'ibis'")[0] == "[('ibis',)]..."
    hinted = BirdEnv(edition="official", data_dir=str(archives), evidence=True, schema="sql")
    observation, _ = hinted.reset(options={"task_id": "bird_2"})
    assert "CREATE TABLE animals (id INTEGER PRIMARY KEY, kind TEXT);" in observation
    assert observation.endswith("Evidence: kind is in kind")


def test_mini_dev_is_an_edition_of_its_own(archives):
    env = BirdEnv(edition="mini-dev", data_dir=str(archives))
    assert env.tasks.sizes == {"train": 0, "eval": 1}
    env.reset(options={"task_id": "bird_0"})
    assert env.step("SELECT 'otter'")[4]["success"]


def test_a_list_of_eval_ids_makes_the_split(archives):
    (archives / "bird" / "eval_ids.json").write_text('["bird_1", "bird_3"]')
    env = BirdEnv(edition="official", data_dir=str(archives))
    assert [t.id for t in env.tasks.split("eval")] == ["bird_1", "bird_3"]


def test_a_gold_query_that_fails_can_be_met_by_nobody(archives):
    path = archives / "bird" / "train" / "train.json"
    path.write_text(json.dumps([question(0) | {"SQL": "SELECT nothing"}]))
    env = BirdEnv(edition="official", data_dir=str(archives))
    env.reset(options={"task_id": "bird_0"})
    assert env.step("SELECT 1")[1] == 0.0


def test_what_is_missing_is_named(archives, tmp_path_factory):
    with pytest.raises(MissingData, match=r"train\.json.*bird-bench"):
        BirdEnv(edition="official", data_dir=str(tmp_path_factory.mktemp("none")))
    (archives / "bird/dev_20240627/dev_databases/zoo/zoo.sqlite").unlink()
    env = BirdEnv(edition="official", data_dir=str(archives))
    with pytest.raises(MissingData, match=r"dev_databases\.zip"):
        env.reset(options={"task_id": "bird_2"})
    (archives / "bird/train/train_tables.json").unlink()
    with pytest.raises(MissingData, match=r"train_tables\.json"):
        env.reset(options={"task_id": "bird_0"})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "JSON"),
        ("{}", "JSON list"),
        ('[{"db_id": "zoo"}]', "question 0"),
        ("[1]", "question 0"),
    ],
)
def test_a_damaged_file_is_named(archives, content, said):
    (archives / "bird" / "train" / "train.json").write_text(content)
    with pytest.raises(InvalidConfig, match=said):
        BirdEnv(edition="official", data_dir=str(archives))
