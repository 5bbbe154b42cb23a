"""BIRD: the rules of one round and of several, what is shown and scored, what is kept secret."""

import json
import threading
from pathlib import Path

import pytest

import agentgym
from agentgym.core import cards
from agentgym.core.errors import InvalidConfig
from agentgym.envs.bird.databases import NAMES
from agentgym.envs.bird.env import BirdEnv
from agentgym.envs.bird.expert import CarefulExpert
from agentgym.envs.bird.interactive import BirdInteractiveEnv
from agentgym.envs.bird.library import load_source, read_pairs
from agentgym.envs.bird.query import Answer
from agentgym.envs.bird.reasons import coded_column, explain, tables_of
from agentgym.envs.bird.reply import find_sql
from agentgym.envs.bird.schema import published_sentences
from agentgym.envs.bird.table import draw_table
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode

TASK = "bird_0"


@pytest.fixture(scope="module")
def tasks():
    return BirdEnv().tasks


def play(env, action, task_id=TASK):
    env.reset(options={"task_id": task_id})
    return env.step(action)


def gold_of(task_id, tasks):
    return tasks.get(task_id).spec["sql"]


def test_mini_has_the_questions_it_claims(tasks):
    assert tasks.sizes["train"] >= 320
    assert tasks.sizes["eval"] >= 80
    assert list(dict.fromkeys(task.spec["db"] for task in tasks)) == list(NAMES)
    assert set(tasks.kinds) == {"simple", "moderate", "challenging"}


def test_the_first_observation_is_schema_question_and_evidence(tasks):
    env = BirdEnv()
    observation, info = env.reset(options={"task_id": TASK})
    text, question, evidence = observation.split("\n\n")
    spec = tasks.get(TASK).spec
    assert text.startswith(f"{spec['db']} contains tables such as ")
    assert "is the primary key." in text
    assert "is the foreign key of" in text
    assert question == spec["question"] == info["goal"]
    assert evidence == f"Evidence: {spec['evidence']}"
    assert "Evidence" not in BirdEnv(evidence=False).reset(options={"task_id": TASK})[0]


def test_the_sql_form_shows_create_table_meanings_and_three_rows():
    observation, _ = BirdEnv(schema="sql").reset(options={"task_id": TASK})
    assert observation.count("CREATE TABLE") >= 5
    name = NAMES[0]
    table, columns = next(iter(load_source(name).columns.items()))
    column, about = next(iter(columns.items()))
    assert f"-- {column}: {about['description']}" in observation
    assert f"-- 3 rows of {table}:" in observation


def test_the_gold_query_scores_one_and_ends(tasks):
    env = BirdEnv()
    observation, reward, terminated, truncated, info = play(env, gold_of(TASK, tasks))
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["success"]
    assert observation.startswith("[(")
    assert observation.endswith("...")


def test_another_answer_scores_nothing_and_ends_too():
    _, reward, terminated, _, info = play(BirdEnv(), "SELECT 'something else'")
    assert (reward, terminated, info["success"], info["valid"]) == (0.0, True, False, True)


def test_a_query_in_a_fence_after_some_prose_counts(tasks):
    action = f"The tables say it.\n```sql\n{gold_of(TASK, tasks)};\n```\nThat is all."
    assert play(BirdEnv(), action)[4]["success"]


@pytest.mark.parametrize(
    ("action", "said"),
    [
        ("DELETE FROM schools", "only reading is allowed"),
        ("SELECT * FROM nowhere", "no such table: nowhere"),
        ("SELECT 1; SELECT 2", "one statement at a time"),
        ("", "there is no query"),
        ("SELECT random()", "the function random is not allowed"),
    ],
)
def test_what_cannot_be_run_is_answered_with_what_to_change(action, said):
    observation, reward, terminated, _, info = play(BirdEnv(), action)
    assert said in observation
    assert (reward, terminated, info["valid"]) == (0.0, True, False)


def test_the_long_result_is_cut_at_a_hundred_characters():
    observation, *_ = play(BirdEnv(), "SELECT printf('%.200c', 'x')")
    assert len(observation) == 103


def test_nothing_a_model_can_see_holds_the_gold_query(tasks):
    for env_class in (BirdEnv, BirdInteractiveEnv):
        for task in tasks.split("eval")[::7]:
            env = env_class()
            observation, info = env.reset(options={"task_id": task.id})
            seen = [observation, repr(info), env.instructions, repr(env.get_state())]
            observation, *_, info = env.step("answer SELECT 1")
            seen += [observation, repr(info), env.render(), repr(env.get_state())]
            assert not any(task.spec["sql"] in text for text in seen)


@pytest.mark.parametrize("name", NAMES)
def test_paraphrases_score_one_and_near_misses_nothing(name, tasks):
    env = BirdEnv()
    first = next(task.index for task in tasks if task.spec["db"] == name)
    pairs = read_pairs(name)
    assert len(pairs) >= 20
    assert {pair["score"] for pair in pairs} == {0, 1}
    for pair in pairs:
        _, reward, *_, info = play(env, pair["sql"], f"bird_{first + pair['question']}")
        assert info["valid"], pair
        assert reward == pair["score"], pair


@pytest.mark.parametrize("env_class", [BirdEnv, BirdInteractiveEnv])
def test_the_expert_solves_every_mini_task(env_class):
    env = env_class()
    for task in env.tasks:
        observation, info = env.reset(options={"task_id": task.id})
        expert, ended = env.expert(), False
        while not ended:
            thought, action = expert.act(observation, info)
            assert thought.strip()
            observation, _, terminated, truncated, info = env.step(action)
            assert info["valid"], (task.id, action, observation)
            ended = terminated or truncated
        assert info["success"], task.id


def test_interactive_shows_rows_and_scores_only_what_is_handed_in(tasks):
    env = BirdInteractiveEnv()
    observation, reward, terminated, _, info = play(env, f"run {gold_of(TASK, tasks)}")
    assert observation.endswith(("row)", "rows)"))
    assert (reward, terminated, info["success"]) == (0.0, False, False)
    *_, info = env.step(f"answer\n```sql\n{gold_of(TASK, tasks)}\n```")
    assert info["success"]


def test_interactive_costs_a_round_for_what_it_cannot_run_and_goes_on(tasks):
    env = BirdInteractiveEnv(max_rounds=5)
    observation, _, terminated, _, info = play(env, "SELECT 1")
    assert "'run' or 'answer'" in observation
    assert (terminated, info["valid"], info["rounds"]) == (False, False, 1)
    observation, _, terminated, _, info = env.step("answer SELECT a FROM nowhere")
    assert "no such table" in observation
    assert not terminated
    *_, info = env.step(f"answer {gold_of(TASK, tasks)}")
    assert info["success"]


def test_the_careful_expert_hands_in_before_time_is_up(tasks):
    expert = CarefulExpert(tasks.get(TASK).spec, rounds=1)
    assert expert.act("", {"rounds": 0})[1].startswith("answer ")


def test_the_stricter_rules_count_repetition_and_order(tasks):
    ordered = next(t for t in tasks if t.spec["ordered"] and " DESC" in t.spec["sql"])
    sql = ordered.spec["sql"]
    turned = f"SELECT * FROM ({sql}) ORDER BY 1 DESC"
    twice = f"SELECT * FROM ({sql}) UNION ALL SELECT * FROM ({sql})"
    for comparison, expected in (("set", 1), ("multiset", 0), ("ordered", 0)):
        assert play(BirdEnv(comparison=comparison), twice, ordered.id)[1] == expected
    assert play(BirdEnv(comparison="ordered"), sql, ordered.id)[1] == 1
    assert play(BirdEnv(comparison="multiset"), turned, ordered.id)[1] == 1


@pytest.mark.parametrize(
    "options", [{"schema": "xml"}, {"comparison": "exact"}, {"evidence": "yes"}]
)
def test_options_that_cannot_be_used_are_refused(options):
    with pytest.raises(InvalidConfig, match=next(iter(options))):
        BirdEnv(**options)


def test_threads_share_the_databases(tasks):
    right, wanted = [], tasks.split("eval")[:24]

    def work(some):
        env = BirdEnv()
        right.extend(play(env, t.spec["sql"], t.id)[4]["success"] for t in some)

    threads = [threading.Thread(target=work, args=(wanted[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * len(wanted)


def test_the_same_under_any_hash_seed():
    script = (
        "import agentgym, hashlib\n"
        "env = agentgym.make('bird-interactive')\n"
        "text = env.tasks.digest\n"
        "for i in range(0, len(env.tasks), 60):\n"
        "    text += env.reset(options={'task_id': f'bird_{i}'})[0]\n"
        "    text += env.step('run ' + env.task.spec['sql'])[0]\n"
        "print(hashlib.sha256(text.encode()).hexdigest())\n"
    )
    first, second = outputs_under_hash_seeds(script)
    assert first == second


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("SELECT 1", "SELECT 1"),
        ("```sql\nSELECT 1\n```", "SELECT 1"),
        ("```SELECT 1```", "SELECT 1"),
        ("```sql\nSELECT 1\n```\nor\n```sql\nSELECT 2;\n```", "SELECT 2"),
        ("```sql\nSELECT 1", "SELECT 1"),
        ("```sqlite\nSELECT 1 ;; \n```", "SELECT 1"),
        ("", ""),
    ],
)
def test_the_query_is_found_in_a_reply(text, sql):
    assert find_sql(text) == sql


def test_reasons_follow_the_query():
    sql = (
        "SELECT t.a FROM one AS t JOIN two AS u ON t.i = u.i WHERE u.kind = 'X' "
        "GROUP BY t.a HAVING COUNT(*) > 2 ORDER BY COUNT(*) DESC LIMIT 1"
    )
    assert tables_of(sql) == ["one", "two"]
    assert coded_column(sql) == ("two", "kind")
    told = explain(sql, "X means extra")
    for part in ("one and two", "u.kind = 'X'", "group by t.a", "COUNT(*) > 2", "first row"):
        assert part in told
    assert told.endswith("The evidence says: X means extra.")


def test_a_table_shows_twenty_rows_and_says_how_many_there_are():
    shown = draw_table(Answer(("n",), [(i,) for i in range(30)], 0))
    assert shown.splitlines()[-1] == "(30 rows, the first 20 shown)"
    assert len(shown.splitlines()) == 23
    assert "3 bytes" in draw_table(Answer(("b",), [(b"abc",)], 0))


def test_published_sentences_are_those_of_the_published_code():
    table = {
        "db_id": "zoo",
        "table_names": ["Animals", "Keepers"],
        "column_names": [[-1, "*"], [0, "Animal ID"], [0, "Keeper"], [1, "ID"], [1, "Name"]],
        "primary_keys": [1, 3],
        "foreign_keys": [[2, 3]],
    }
    assert published_sentences(table) == (
        "zoo contains tables such as animals, keepers. Table animals has columns such as animal "
        "id, keeper. animal id is the primary key. Table keepers has columns such as id, name. id "
        "is the primary key. The id of animals is the foreign key of name of keepers."
    )


def test_bird_is_listed_with_both_variants():
    assert {"agentgym/BIRD-v0", "agentgym/BIRD-Interactive-v0"} <= {card.id for card in cards()}


def test_the_columns_described_are_the_columns_there_are():
    for name in NAMES:
        source = load_source(name)
        folder = Path(agentgym.__file__).parent / "envs" / "bird" / "databases" / name
        assert json.loads((folder / "columns.json").read_text("utf-8")) == source.columns
        for entry in source.questions:
            assert entry["difficulty"] in ("simple", "moderate", "challenging")


def test_the_readme_plays_as_it_says():
    printed, said = readme_episode(Path(agentgym.__file__).parent / "envs" / "bird" / "README.md")
    assert printed == said


def test_the_mini_tasks_never_change(tasks):
    """A deliberate change of questions or rows needs a new version of the task set."""
    assert tasks.digest == "6b6f33ac74bdba21d3ba4da9b3bb8bdd5914c1abe37d2fcce64c709e1244e012"
