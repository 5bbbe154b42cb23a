"""Sheet: the functions, the score, the tasks, the expert, the published edition."""

import json
import os
import re
from ast import literal_eval
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from agentgym.core.call import write_call
from agentgym.core.data import DATA_VARIABLE
from agentgym.core.errors import InvalidConfig, InvalidState, MissingData
from agentgym.core.extras import installed
from agentgym.envs.sheet import env as sheet_env
from agentgym.envs.sheet.env import SheetEnv
from agentgym.envs.sheet.official import FILES, find_workbook, read_workbook
from agentgym.envs.sheet.score import matched
from agentgym.envs.sheet.steps import BY_NAME
from agentgym.envs.sheet.tasks import EVAL, RECIPES, TRAIN
from agentgym.envs.sheet.tools import SheetTools
from agentgym.envs.sheet.workbook import Workbook
from agentgym.envs.tools import ToolError
from tests.envs.everywhere import outputs_under_hash_seeds, readme_episode
from tests.envs.fuzz_tools import check_malformed

README = Path(sheet_env.__file__).parent / "README.md"
DIGEST = "30bfec9e876f2c71"

ROWS = [["Item", "Kind", "Price"], ["tea", "drink", 3.1], ["bun", "food", 1], ["jam", "food", 2.5]]


@pytest.fixture
def kit():
    spec = {
        "Shop": {"rows": ROWS, "formats": ["General", "General", "0.00"], "notes": {"A2": "old"}},
        "Old": {"rows": [["x"]]},
    }
    kit = SheetTools(Workbook.of(spec), "Shop")
    kit.call("open_sheet", {"name": "Shop"})
    return kit


@pytest.fixture(scope="module")
def env():
    return SheetEnv()


def play(env, task, moves=()):
    """Play moves, then the expert; return its calls and the last info."""
    observation, info = env.reset(options={"task_id": task.id})
    for name, arguments in moves:
        observation, _, _, _, info = env.step(write_call(name, arguments))
    expert, ended, calls = env.expert(), False, []
    while not ended:
        thought, action = expert.act(observation, info)
        assert thought
        calls.append(action)
        observation, _, terminated, truncated, info = env.step(action)
        assert info["valid"], (task.id, action, observation)
        ended = terminated or truncated
    return calls, info


# The functions.


def test_there_are_the_twenty_published_functions():
    names = (
        "open_sheet del_sheet freeze_data get_A1_annotation insert_cols insert_rows "
        "delete_batch_data update_cell update_cell_by_formula update_range sort_sheet_by_col "
        "merge_cells update_note get_all_values get_range_values get_cell_value "
        "get_value_by_formula filter_cells get_note finish"
    )
    assert " ".join(sorted(SheetTools.catalogue)) == " ".join(sorted(re.findall(r"\w+", names)))
    parameters = {
        name: set(tool.parameters.get("properties", {}))
        for name, tool in SheetTools.catalogue.items()
    }
    assert parameters["update_cell_by_formula"] == {
        "start_position",
        "end_position",
        "position_list",
        "result_position",
        "operator",
    }
    assert parameters["filter_cells"] == {"query", "in_row", "in_column"}
    assert parameters["finish"] == set()


def test_nothing_works_before_a_sheet_is_open():
    kit = SheetTools(Workbook.of({"Shop": {"rows": ROWS}}), "Shop")
    for name, tool in SheetTools.catalogue.items():
        if name not in ("open_sheet", "del_sheet", "finish"):
            drawn = {
                "position": "A1",
                "start_position": "A1",
                "end_position": "A2",
                "value": 1,
                "values_list": [["a"]],
                "dimension": "row",
                "num": 1,
                "row": 1,
                "col": 1,
                "col_idx": 1,
                "row_idx": 1,
                "index_list": [1],
                "result_position": "A1",
                "operator": "SUM",
                "col_num": 1,
                "order": "asc",
                "content": "x",
                "query": "x",
            }
            if name == "freeze_data":
                drawn["dimension"] = "rows"
            arguments = {n: drawn[n] for n in tool.parameters.get("required", ())}
            with pytest.raises(ToolError, match="Please open a sheet before operating it"):
                kit.call(name, arguments)


def test_changes_answer_with_all_values(kit):
    assert kit.call("update_cell", {"position": "c2", "value": "4"})[1] == ["tea", "drink", "4.00"]
    assert kit.call("update_cell", {"position": "C2", "value": "=C3*2"})[1][2] == "2.00"
    told = kit.call(
        "update_range",
        {"start_position": "C3", "end_position": "C4", "values_list": "[[1.5], [2]]"},
    )
    assert [row[2] for row in told] == ["Price", "3.00", "1.50", "2.00"]
    told = kit.call("insert_rows", {"values_list": [["egg", "food", "0.4"]], "row_idx": 5})
    assert told[4] == ["egg", "food", "0.40"]
    told = kit.call("insert_cols", {"values_list": [["No", 1, 2]], "col_idx": 1})
    assert told[:3] == [
        ["No", "Item", "Kind", "Price"],
        ["1", "tea", "drink", "3.00"],
        ["2", "bun", "food", "1.50"],
    ]
    told = kit.call("delete_batch_data", {"dimension": "col", "index_list": [3, 1]})
    assert told[0] == ["Item", "Price"]
    told = kit.call("sort_sheet_by_col", {"col_num": 2, "order": "des"})
    assert [row[0] for row in told] == ["Item", "tea", "jam", "bun", "egg"]


def test_sorting_takes_the_header_along_unless_it_is_frozen(kit):
    told = kit.call("sort_sheet_by_col", {"col_num": 3, "order": "asc"})
    assert [row[0] for row in told] == ["bun", "jam", "tea", "Item"]
    kit.call("sort_sheet_by_col", {"col_num": 3, "order": "des"})
    told = kit.call("freeze_data", {"dimension": "rows", "num": 1})
    assert told == "You have successfully freeze the rows 1"
    told = kit.call("sort_sheet_by_col", {"col_num": 1, "order": "asc"})
    assert [row[0] for row in told] == ["Item", "bun", "jam", "tea"]


def test_formulas_take_a_range_or_a_list(kit):
    span = {"start_position": "C4", "end_position": "C2"}
    assert kit.call("get_value_by_formula", {**span, "operator": "SUM"}) == "6.60"
    cells = {"position_list": ["C2", "C3"]}
    assert kit.call("get_value_by_formula", {**cells, "operator": "MINUS"}) == "2.10"
    told = kit.call("update_cell_by_formula", {**cells, "operator": "MAX", "result_position": "D2"})
    assert told[1] == ["tea", "drink", "3.10", "3.10"]
    for wrong in ({"operator": "MINUS", **span}, {"operator": "MINUS", "position_list": ["C2"]}):
        with pytest.raises(ToolError, match="MINUS"):
            kit.call("get_value_by_formula", wrong)
    with pytest.raises(ToolError, match="give position_list, or both"):
        kit.call("get_value_by_formula", {"operator": "SUM", "start_position": "A1"})


def test_looking_finds_values_positions_and_notes(kit):
    assert kit.call("get_cell_value", {"position": "C3"}) == "1.00"
    assert kit.call("get_cell_value", {"position": "Z99"}) == ""
    span = {"start_position": "B2", "end_position": "C3"}
    assert kit.call("get_range_values", span) == [["drink", "3.10"], ["food", "1.00"]]
    assert kit.call("filter_cells", {"query": "food"}) == ["B3", "B4"]
    assert kit.call("filter_cells", {"query": "^1", "in_column": 3}) == ["C3"]
    assert kit.call("filter_cells", {"query": "re.compile('a')", "in_row": 2}) == ["A2"]
    assert kit.call("get_A1_annotation", {"row": 3, "col": 2}) == "B3"
    assert kit.call("get_note", {"position": "A2"}) == "old"
    told = kit.call("update_note", {"position": "A2", "content": "new"})
    assert told == "Updated! the A2's note is new"
    assert kit.call("get_note", {"position": "A2"}) == "new"
    assert kit.call("get_note", {"position": "B9"}) == ""


def test_sheets_are_opened_and_deleted(kit):
    assert kit.call("open_sheet", {"name": "Old"}) == "<Worksheet 'Old' id:1>"
    assert kit.call("del_sheet", {"name": "Old"}) == "You have deleted sheet Old successfully"
    with pytest.raises(ToolError, match="Please open a sheet"):
        kit.call("get_all_values", {})
    with pytest.raises(ToolError, match=r"there is no sheet 'shop'\. Did you mean Shop"):
        kit.call("open_sheet", {"name": "shop"})
    with pytest.raises(ToolError, match="only sheet"):
        kit.call("del_sheet", {"name": "Shop"})


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        (
            "update_range",
            {"start_position": "A1", "end_position": "C4", "values_list": [["x"]]},
            "Warning: You cannot update whole sheet at once",
        ),
        (
            "update_range",
            {"start_position": "A1", "end_position": "A2", "values_list": [["x", "y"]]},
            "must fit into A1:A2, 2 rows of 1 cells, got 1 rows of up to 2",
        ),
        (
            "update_range",
            {"start_position": "A1", "end_position": "A2", "values_list": ["x"]},
            "argument 'values_list' must be a list",
        ),
        (
            "delete_batch_data",
            {"dimension": "row", "index_list": [2, 3, 4]},
            "Warning: You cannot delete whole sheet at once",
        ),
        (
            "delete_batch_data",
            {"dimension": "col", "index_list": [27]},
            "cols from 1 to 26, got 27",
        ),
        ("insert_rows", {"values_list": [["x"]], "row_idx": 6}, "'row_idx' must be from 1 to 5"),
        ("insert_cols", {"values_list": [[{}]], "col_idx": 1}, "must hold text or numbers"),
        (
            "update_cell",
            {"position": "A0", "value": 1},
            "must be a cell in A1 notation such as 'B3'",
        ),
        ("update_cell", {"position": "A1", "value": "=RUN(1)"}, "there is no 'RUN'; there are SUM"),
        ("sort_sheet_by_col", {"col_num": 4, "order": "asc"}, "a column from 1 to 3, got 4"),
        ("sort_sheet_by_col", {"col_num": 1, "order": "down"}, "must be one of 'asc', 'des'"),
        ("freeze_data", {"dimension": "row", "num": 1}, "must be one of 'rows', 'columns'"),
        ("merge_cells", {"start_position": "A1", "end_position": "A1"}, "must be another cell"),
        ("filter_cells", {"query": "("}, "plain regular expression: a '(' is not closed"),
        (
            "update_cell_by_formula",
            {"result_position": "A1", "operator": "SQRT"},
            "must be one of 'SUM', 'AVERAGE'",
        ),
    ],
)
def test_what_cannot_be_done_is_explained_and_changes_nothing(kit, name, arguments, words):
    before = kit.save()
    with pytest.raises(ToolError) as raised:
        kit.call(name, arguments)
    assert words in str(raised.value)
    assert kit.save() == before


def test_ten_thousand_malformed_calls_are_answered(env):
    check_malformed(SheetEnv(), 10_000)


def test_a_thousand_sessions_see_nothing_of_each_other():
    tasks = [SheetEnv().tasks[i % 7] for i in range(1_000)]
    kits = [SheetTools(Workbook.of(t.spec["book"]), t.spec["sheet"]) for t in tasks]
    for n, (kit, task) in enumerate(zip(kits, tasks, strict=True)):
        kit.call("open_sheet", {"name": task.spec["sheet"]})
        kit.call("update_cell", {"position": "A2", "value": f"session {n}"})
    for n, (kit, task) in enumerate(zip(kits, tasks, strict=True)):
        untouched = Workbook.of(task.spec["book"]).values(task.spec["sheet"])
        shown = kit.call("get_all_values", {})
        assert shown[1][0] == f"session {n}"
        assert shown[1][1:] == untouched[1][1:]
        assert shown[2:] == untouched[2:]


# The score.


def test_the_score_is_the_best_share_of_matching_cells_since_the_sheet_was_opened(env):
    task = next(t for t in env.tasks if t.kind == "easy/set")
    _, info = env.reset(options={"task_id": task.id})
    assert info["score"] == 0
    *_, info = env.step(write_call("open_sheet", {"name": task.spec["sheet"]}))
    cells = len(task.spec["answer"]) * len(task.spec["answer"][0])
    assert info["score"] == pytest.approx((cells - 1) / cells)
    _, reward, _, _, info = env.step(write_call("update_cell", {"position": "B2", "value": "?"}))
    assert (reward, info["score"]) == (0, pytest.approx((cells - 1) / cells))
    *_, terminated, _, info = env.step(write_call("finish", {}))
    assert (terminated, info["success"]) == (True, False)


def test_the_overlap_alone_counts_for_the_score_but_success_wants_all():
    goal = [["a", "b"], ["1", "2"], ["3", "4"]]
    assert matched([["a", "b"]], goal) == 1
    assert matched([["a", "b", "c"], ["1", "x", "y"]], goal) == 0.75
    assert matched([], goal) == matched([[]], goal) == 0
    env = SheetEnv()
    task = next(t for t in env.tasks if t.kind == "easy/sort-up")
    env.reset(options={"task_id": task.id})
    env.step(write_call("open_sheet", {"name": task.spec["sheet"]}))
    rows = list(range(2, len(task.spec["answer"])))
    env.step(write_call("delete_batch_data", {"dimension": "row", "index_list": rows[:-1]}))
    *_, info = env.step(write_call("finish", {}))
    assert not info["success"]


@pytest.mark.parametrize(
    ("key", "undo"),
    [
        ("notes", ("update_note", {"position": "A2", "content": "something else"})),
        ("frozen", ("freeze_data", {"dimension": "rows", "num": 0})),
        ("sheets", None),
        ("merges", None),
    ],
)
def test_success_asks_for_notes_frozen_rows_merges_and_sheets_where_the_goal_does(env, key, undo):
    task = next(t for t in env.tasks if key in t.spec)
    calls, info = play(env, task)
    assert info["success"]
    env.reset(options={"task_id": task.id})
    for call in calls[:-1]:
        skipped = {"sheets": "del_sheet", "merges": "merge_cells"}.get(key)
        if skipped is None or not call.startswith(skipped):
            env.step(call)
    if key == "merges":
        name = task.spec["sheet"]
        for r, row in enumerate(task.spec["answer"]):
            for c, text in enumerate(row[:2]):
                if env.kit.book.values(name)[r][c] != text:
                    at = env.kit.call("get_A1_annotation", {"row": r + 1, "col": c + 1})
                    env.kit.call("update_cell", {"position": at, "value": text})
        assert env.kit.book.values(name) == task.spec["answer"]
    if undo:
        env.step(write_call(*undo))
    *_, info = env.step(write_call("finish", {}))
    assert not info["success"]


# The tasks.


def test_the_tasks_never_change():
    script = "from agentgym.envs.sheet.env import SheetEnv\nprint(SheetEnv().tasks.digest[:16])"
    assert outputs_under_hash_seeds(script) == [f"{DIGEST}\n"] * 2


def test_every_recipe_has_train_and_eval_tasks_and_no_goal_occurs_twice(env):
    assert env.tasks.sizes == {"train": TRAIN * len(RECIPES), "eval": EVAL * len(RECIPES)}
    assert env.tasks.sizes["train"] >= 300
    assert env.tasks.sizes["eval"] >= 75
    assert len({task.spec["goal"] for task in env.tasks}) == len(env.tasks)
    assert {kind.split("/")[0] for kind in env.tasks.kinds} == {"easy", "moderate", "hard"}
    used = {step["name"] for task in env.tasks for step in task.spec["steps"]}
    assert used == set(BY_NAME)


def test_no_task_is_done_before_it_is_begun_and_none_is_large(env):
    for task in env.tasks:
        begin = Workbook.of(task.spec["book"]).values(task.spec["sheet"])
        assert matched(begin, task.spec["answer"]) < 1
        assert len({len(row) for row in task.spec["answer"]}) == 1
        assert len(task.spec["answer"]) <= 18
        assert len(task.spec["goal"]) < 600


def test_goals_read_as_sentences(env):
    for task in env.tasks:
        goal = task.spec["goal"]
        assert f'"{task.spec["sheet"]}"' in goal
        assert goal.endswith(".")
        assert not re.search(r"[{}]|  |\.\.|None", goal)


def test_the_expert_solves_every_task_within_the_fewest_calls(env):
    """Open, look, finish; and a call a step, or what a step cannot do without."""
    for task in env.tasks:
        calls, info = play(env, task)
        assert info["success"], task
        assert info["score"] == 1
        assert len(calls) == fewest(task), (task, calls)


def fewest(task):
    """Return the fewest calls, counted from the kinds of steps and the sheet alone.

    One call changes any block of cells, deletes or inserts any lines of one kind, sorts once, and
    puts one note, one merge or one sheet away. A note has to be read one by one, another sheet has
    to be opened and looked at, and a header is frozen where it would be sorted with the rest.
    """
    count, frozen = 3, False
    for step in task.spec["steps"]:
        name, args = step["name"], step["args"]
        if name == "from-notes":
            count += len(args["keys"])
        if name == "from-sheet":
            count += 2
        if name == "merge-groups":
            count += len(task.spec["merges"]) - 1
        column = task.spec["answer"][0].index(args["column"]) if name.startswith("sort") else 0
        if name == "sort-up" or (name == "freeze" and not frozen):
            count += name == "sort-up" and not frozen
            frozen = True
        elif name == "sort-down":
            Decimal(task.spec["answer"][1][column])  # numbers only: the header stays on top
        count += 1
    return count


def test_the_expert_repairs_what_somebody_else_has_done(env):
    tasks = {t.kind: t for t in env.tasks if "merges" not in t.spec}
    wide = SheetEnv(max_rounds=40)
    moves = [
        ("update_cell", {"position": "B3", "value": "spoilt"}),
        ("insert_rows", {"values_list": [["x", "y"]], "row_idx": 1}),
        ("insert_cols", {"values_list": [["z"]], "col_idx": 1}),
        ("get_all_values", {}),
    ]
    for kind in ("easy/set", "moderate/set+note", "moderate/drop-columns+freeze", "easy/add-rows"):
        task = tasks[kind]
        opened = ("open_sheet", {"name": task.spec["sheet"]})
        _, info = play(wide, task, [opened, *moves])
        shown = wide.kit.book.values(task.spec["sheet"])
        assert len(shown) == len(task.spec["answer"])
        assert info["score"] > 0.5
        texts = [[t.rstrip("0").rstrip(".") for t in row] for row in shown]
        assert texts == [[t.rstrip("0").rstrip(".") for t in row] for row in task.spec["answer"]]


def test_a_snapshot_holds_the_workbook(env):
    task = env.tasks[0]
    env.reset(options={"task_id": task.id})
    env.step(write_call("open_sheet", {"name": task.spec["sheet"]}))
    env.step(write_call("update_cell", {"position": "A2", "value": "here"}))
    twin = env.fork()
    assert twin.kit.save() == env.kit.save()
    twin.step(write_call("update_cell", {"position": "A2", "value": "there"}))
    assert env.kit.book.values(task.spec["sheet"])[1][0] == "here"
    for damage in (None, {}, {"book": {}, "open": None, "seen": True}):
        with pytest.raises(InvalidState):
            env.kit.load(damage)
    with pytest.raises(InvalidState, match="which there is not"):
        env.kit.load({**env.kit.save(), "open": "nowhere"})


def test_the_readme_plays_as_it_says():
    printed, said = readme_episode(README)
    assert printed == said


# The published edition.

GOAL = 'In "Sheet3", set the price of tea to 4 and sort by price in descending order.'
PUBLISHED = {
    "goal": GOAL,
    "subgoals": "Reference Action Path:",
    "additional_info": {
        "answer": json.dumps([["Item", "Price"], ["tea", "4.00"], ["bun", "1.00"]]),
        "init_config": None,
        "goal_type": 1,
        "tool": "sheet",
    },
    "difficulty": "easy",
}
needs_openpyxl = pytest.mark.skipif(
    not installed("openpyxl"), reason="pip install 'agentgym[sheet]'"
)


@pytest.fixture
def folder(tmp_path):
    """A data folder with one task and a workbook in the published layout."""
    place = tmp_path / "sheet"
    place.mkdir()
    (place / "sheet.jsonl").write_text(json.dumps(PUBLISHED) + "\n")
    return place


def write_workbook(place, name=FILES[0]):
    import openpyxl
    from openpyxl.comments import Comment

    book = openpyxl.Workbook()
    book.active.title = "Sheet3"
    for row in (["Item", "Price", None], ["bun", 1, None], ["tea", 3.1, "=B3*2"]):
        book.active.append(row)
    for cell in ("B2", "B3"):
        book.active[cell].number_format = "0.00"
    book.active["A2"].comment = Comment("fresh", "us")
    book.active["A5"] = "end"
    book.active.merge_cells("A5:B5")
    book.create_sheet("Answer3").append(["Item"])
    book.save(place / name)


@needs_openpyxl
@pytest.mark.parametrize("name", FILES)
def test_published_tasks_are_played_on_the_workbook_that_is_brought(folder, name):
    env = SheetEnv(edition="official", data_dir=str(folder.parent))
    assert [(t.split, t.kind, t.spec["sheet"]) for t in env.tasks] == [("eval", "easy", "Sheet3")]
    with pytest.raises(MissingData, match=re.escape(FILES[0])):
        env.reset(options={"task_id": "sheet_0"})
    write_workbook(folder, name)
    env.reset(options={"task_id": "sheet_0"})
    assert env.kit.book.names == ["Sheet3"]  # the answers are not to be looked at
    env.step(write_call("open_sheet", {"name": "Sheet3"}))
    shown = env.kit.call("get_all_values", {})
    assert shown[:3] == [["Item", "Price", ""], ["bun", "1.00", ""], ["tea", "3.10", "6.20"]]
    assert shown[4][:2] == ["end", "end"]
    assert env.kit.call("get_note", {"position": "A2"}) == "fresh"
    env.step(write_call("update_cell", {"position": "B3", "value": 4}))
    env.step(write_call("delete_batch_data", {"dimension": "row", "index_list": [4, 5]}))
    env.step(write_call("delete_batch_data", {"dimension": "col", "index_list": [3]}))
    env.step(write_call("sort_sheet_by_col", {"col_num": 2, "order": "des"}))
    *_, info = env.step(write_call("finish", {}))
    assert info["success"]
    with pytest.raises(NotImplementedError, match="mini"):
        env.expert()


@needs_openpyxl
def test_a_workbook_that_is_none_or_lacks_the_sheet_is_refused(folder):
    env = SheetEnv(edition="official", data_dir=str(folder.parent))
    (folder / FILES[0]).write_bytes(b"no workbook")
    with pytest.raises(InvalidConfig, match="is no Excel workbook"):
        env.reset(options={"task_id": "sheet_0"})
    write_workbook(folder)
    moved = {**PUBLISHED, "goal": GOAL.replace("Sheet3", "Sheet4")}
    (folder / "sheet.jsonl").write_text(json.dumps(moved) + "\n")
    env = SheetEnv(edition="official", data_dir=f"{folder.parent}/")
    fresh = type(env).load_tasks("official", str(folder.parent))
    with pytest.raises(InvalidConfig, match="has no sheet 'Sheet4'"):
        env._open(fresh[0])


@pytest.mark.parametrize(
    "changed",
    [
        {"goal": "Sort it."},
        {"additional_info": {"answer": "no grid"}},
        {"additional_info": {"answer": "[]"}},
        {"additional_info": {"answer": '[["a"], ["b", "c"]]'}},
        {"additional_info": {"answer": 7}},
    ],
)
def test_a_published_row_that_is_no_task_is_named(folder, changed):
    (folder / "sheet.jsonl").write_text(json.dumps({**PUBLISHED, **changed}) + "\n")
    with pytest.raises(InvalidConfig, match="task 0 names no sheet or has no values"):
        SheetEnv.load_tasks("official", str(folder.parent))


def published_folder():
    """Return the data folder with the published files, or skip."""
    place = Path(os.environ.get(DATA_VARIABLE, "")) / "sheet"
    if not os.environ.get(DATA_VARIABLE) or not (place / "sheet.jsonl").is_file():
        pytest.skip(f"set {DATA_VARIABLE} to a folder with sheet/sheet.jsonl and its workbook")
    return place.parent


REPAIRED = {
    # The published path writes ranks into a bare column; its goal has a title and a format, which
    # come with an inserted column.
    'In "Sheet7", rank sheet by Biology score': [
        ("sort_sheet_by_col", {"col_num": "7", "order": "des"}),
        ("insert_cols", {"values_list": [["Biology_Rank", *range(1, 26)]], "col_idx": 8}),
    ]
}
"""By the beginning of a goal, what leads to it where the published reference path does not."""


@needs_openpyxl
def test_published_tasks_are_solved_by_their_published_paths(record_property):
    root = published_folder()
    env = SheetEnv(edition="official", data_dir=str(root), max_rounds=60)
    lines = (root / "sheet" / "sheet.jsonl").read_text("utf-8").splitlines()
    by_path, by_us = Counter(), Counter()
    for task, line in zip(env.tasks, lines, strict=True):
        path = re.findall(r"Action \d+: (.+)", json.loads(line)["subgoals"])
        by_path[solves(env, task, path)] += 1
        repaired = [r for start, r in REPAIRED.items() if task.spec["goal"].startswith(start)]
        moves = [write_call(*move) for move in repaired[0]] if repaired else path
        by_us[solves(env, task, moves)] += 1
    record_property("published rows", len(lines))
    record_property("solved by the published path", by_path[True])
    record_property("solved", by_us[True])
    assert by_us == {True: len(lines)}
    assert by_path[True] == len(lines) - len(REPAIRED)


def solves(env, task, actions):
    """Return whether actions lead to success, from a score below 1."""
    env.reset(options={"task_id": task.id})
    *_, info = env.step(write_call("open_sheet", {"name": task.spec["sheet"]}))
    assert info["score"] < 1
    for action in actions:
        observation, _, _, _, info = env.step(action)
        assert info["valid"], (action, observation)
        assert isinstance(literal_eval(told(observation)), list | str) or observation
    return env.step(write_call("finish", {}))[-1]["success"]


def told(observation):
    said = observation.removeprefix("Observation: ").removesuffix("\nGive me one action.")
    return said if said.startswith("[") else repr(said)


@needs_openpyxl
def test_published_goals_are_the_workbooks_answers():
    root = published_folder()
    answers = {s.name: s.values for s in read_workbook(find_workbook(str(root)), answers=True)}
    for task in SheetEnv(edition="official", data_dir=str(root)).tasks:
        number = task.spec["sheet"].removeprefix("Sheet")
        assert answers[f"Answer{number}"] == task.spec["answer"]
        assert matched(task.spec["answer"], task.spec["answer"]) == 1
