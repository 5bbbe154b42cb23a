"""Sheet at Google: against a small stand-in for Sheets and Drive, served here."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

pytest.importorskip("httpx", reason="pip install 'agentgym[live]'")

from agentgym.core.call import write_call
from agentgym.core.errors import InvalidConfig
from agentgym.envs.sheet import google
from agentgym.envs.sheet.cells import Cell, cell, read_entered
from agentgym.envs.sheet.env import SheetEnv
from agentgym.envs.sheet.sheet import Area, Sheet
from agentgym.envs.sheet.workbook import Workbook
from agentgym.envs.tools import CassetteMiss, LiveError, MissingKey

KEY = "very-secret-token"
KINDS = (
    "easy/set",
    "easy/total",
    "moderate/rank",
    "moderate/from-notes",
    "moderate/set+note",
    "moderate/merge-groups",
    "moderate/drop-empty+merge-title",
    "moderate/drop-columns+freeze",
    "hard/clean-words+drop-group+delete-sheet+sort-down",
    "moderate/add-rows+sort-up",
)


class Google:
    """What is in the account, and what it was asked."""

    def __init__(self) -> None:
        self.files: dict[str, dict[str, Any]] = {"own": {"title": "The user's own", "sheets": {}}}
        self.asked: list[tuple[str, str]] = []
        self.failing = False

    def answer(self, method: str, target: str, headers: Any, body: bytes) -> tuple[int, Any]:
        """Return status and JSON."""
        parts = urlsplit(target)
        path, params = unquote(parts.path), dict(parse_qsl(parts.query))
        self.asked.append((method, path))
        if headers.get("Authorization") != f"Bearer {KEY}":
            return 401, {"error": "who are you"}
        if self.failing:
            return 403, {"error": f"{KEY} may not"}
        kind, _, rest = path.strip("/").partition("/")
        if kind == "files":
            assert method == "DELETE"
            del self.files[rest]
            return 204, None
        if not rest:
            return 200, self._create(json.loads(body))
        name, _, verb = rest.partition(":")
        held = self.files[name]
        if verb == "batchUpdate":
            for request in json.loads(body)["requests"]:
                ((what, about),) = request.items()
                getattr(self, what)(held["sheets"], about)
            return 200, {}
        return 200, {"sheets": [self._shown(held["sheets"], params["ranges"].strip("'"))]}

    def _create(self, body: Any) -> Any:
        name = f"made-{len(self.asked)}"
        sheets = {}
        for about in body["sheets"]:
            properties = about["properties"]
            rows = [
                [self._read(value) for value in row["values"]]
                for row in about["data"][0]["rowData"]
            ]
            merges = [self._area(m) for m in about["merges"]]
            sheets[properties["sheetId"]] = Sheet(properties["title"], rows, merges)
        self.files[name] = {"title": body["properties"]["title"], "sheets": sheets}
        return {"spreadsheetId": name}

    @staticmethod
    def _read(held: Any) -> Cell:
        ((kind, value),) = (held.get("userEnteredValue") or {"numberValue": None}).items()
        form = held.get("userEnteredFormat", {}).get("numberFormat", {}).get("pattern", "General")
        entered = read_entered(value, "x")[0] if kind == "formulaValue" else value
        return cell(entered, form, held.get("note", ""))

    @staticmethod
    def _area(m: Any) -> Area:
        return Area(
            m["startRowIndex"], m["startColumnIndex"], m["endRowIndex"] - 1, m["endColumnIndex"] - 1
        )

    @staticmethod
    def _shown(sheets: Any, title: str) -> Any:
        number, sheet = next((n, s) for n, s in sheets.items() if s.name == title)
        texts = sheet.copy().plain
        rows = [
            {
                "values": [
                    {
                        **({"note": held.note} if held.note else {}),
                        "userEnteredFormat": {"numberFormat": {"pattern": held.format}},
                        **({"formattedValue": t} if (t := _at(texts, r, c)) else {}),
                    }
                    for c, held in enumerate(row)
                ]
            }
            for r, row in enumerate(sheet.rows)
        ]
        frozen = {"frozenRowCount": sheet.frozen[0], "frozenColumnCount": sheet.frozen[1]}
        return {
            "properties": {"title": title, "gridProperties": frozen},
            "merges": [google._range(number, area) for area in sheet.merges],
            "data": [{"rowData": rows}],
        }

    def updateCells(self, sheets: Any, about: Any) -> None:
        sheet, start = sheets[about["start"]["sheetId"]], about["start"]
        for r, row in enumerate(about["rows"], start["rowIndex"]):
            for c, held in enumerate(row["values"], start["columnIndex"]):
                sheet._reach(r + 1, c + 1)
                new, old = self._read(held), sheet.rows[r][c]
                sheet.rows[r][c] = {
                    "userEnteredValue": cell(new.value, old.format, old.note),
                    "userEnteredFormat": cell(old.value, new.format, old.note),
                    "note": cell(old.value, old.format, new.note),
                }[about["fields"]]

    def insertDimension(self, sheets: Any, about: Any) -> None:
        where = about["range"]
        sheet = sheets[where["sheetId"]]
        empty = [[None]] * (where["endIndex"] - where["startIndex"])
        insert = sheet.insert_rows if where["dimension"] == "ROWS" else sheet.insert_columns
        insert(where["startIndex"], empty, about["inheritFromBefore"])

    def appendDimension(self, sheets: Any, about: Any) -> None:
        assert about["length"] > 0

    def deleteDimension(self, sheets: Any, about: Any) -> None:
        where = about["range"]
        sheet = sheets[where["sheetId"]]
        delete = sheet.delete_rows if where["dimension"] == "ROWS" else sheet.delete_columns
        delete(range(where["startIndex"], where["endIndex"]))

    def sortRange(self, sheets: Any, about: Any) -> None:
        where, (order,) = about["range"], about["sortSpecs"]
        sheet = sheets[where["sheetId"]]
        assert where["startRowIndex"] == sheet.frozen[0]
        sheet.sort(
            order["dimensionIndex"], order["sortOrder"] == "DESCENDING", where["endRowIndex"]
        )

    def mergeCells(self, sheets: Any, about: Any) -> None:
        assert about["mergeType"] == "MERGE_ALL"
        sheets[about["range"]["sheetId"]].merge(self._area(about["range"]))

    def unmergeCells(self, sheets: Any, about: Any) -> None:
        sheet, area = sheets[about["range"]["sheetId"]], self._area(about["range"])
        sheet.merges = [other for other in sheet.merges if not area.meets(other)]

    def updateSheetProperties(self, sheets: Any, about: Any) -> None:
        sheet = sheets[about["properties"]["sheetId"]]
        grid = about["properties"]["gridProperties"]
        sheet.frozen = (
            grid.get("frozenRowCount", sheet.frozen[0]),
            grid.get("frozenColumnCount", sheet.frozen[1]),
        )

    def deleteSheet(self, sheets: Any, about: Any) -> None:
        del sheets[about["sheetId"]]


def _at(grid: list[list[str]], row: int, column: int) -> str:
    return grid[row][column] if row < len(grid) and column < len(grid[row]) else ""


@pytest.fixture
def account(monkeypatch: pytest.MonkeyPatch) -> Iterator[Google]:
    state = Google()

    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            status, value = state.answer(self.command, self.path, self.headers, body)
            sent = b"" if value is None else json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = do_DELETE = _serve

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(google, "SHEETS", f"{url}/spreadsheets")
    monkeypatch.setattr(google, "DRIVE", f"{url}/files")
    monkeypatch.setenv(google.TOKEN, KEY)
    yield state
    server.shutdown()
    server.server_close()


def play(env: SheetEnv, task_id: str) -> tuple[list[str], dict[str, Any]]:
    """Play a task by the expert; return the observations and the last info."""
    observation, info = env.reset(seed=0, options={"task_id": task_id})
    expert, ended, seen = env.expert(), False, [observation]
    while not ended:
        observation, _, terminated, truncated, info = env.step(expert.act(observation, info)[1])
        seen.append(observation)
        ended = terminated or truncated
    return seen, info


@pytest.mark.parametrize("kind", KINDS)
def test_google_answers_as_the_local_workbook_does(account: Google, kind: str) -> None:
    live, local = SheetEnv(backend="live"), SheetEnv()
    task = next(t for t in local.tasks if t.kind == kind)
    seen, info = play(live, task.id)
    assert (seen, info["score"], info["success"]) == (play(local, task.id)[0], 1, True)
    live.close()
    live.close()
    assert list(account.files) == ["own"]  # its own spreadsheet is gone, nothing else was touched
    assert not [path for _, path in account.asked if "own" in path]


def test_every_episode_has_a_spreadsheet_of_its_own_with_the_tasks_name(account: Google) -> None:
    env = SheetEnv(backend="live")
    for task in env.tasks[:2]:
        env.reset(options={"task_id": task.id})
        assert [f["title"] for f in account.files.values()][1:] == [f"agentgym {task.id}"]
    env.close()


def test_an_episode_is_recorded_and_played_again_without_google(
    account: Google, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = str(tmp_path / "sheet.jsonl")
    env = SheetEnv(backend="live", cassette=tape, cassette_mode="record")
    ids = [next(t.id for t in env.tasks if t.kind == kind) for kind in KINDS[:3]]
    told = [play(env, task_id) for task_id in ids]
    env.close()
    assert KEY not in (tmp_path / "sheet.jsonl").read_text()
    monkeypatch.delenv(google.TOKEN)
    account.asked.clear()
    again = SheetEnv(backend="live", cassette=tape, cassette_mode="replay")
    assert [play(again, task_id) for task_id in reversed(ids)] == told[::-1]
    with pytest.raises(CassetteMiss):
        again.reset(options={"task_id": again.tasks[-1].id})
    again.close()
    assert account.asked == []


def test_what_google_would_refuse_is_refused_beforehand(account: Google) -> None:
    book = Workbook.of(
        {"S": {"rows": [["a", 1], [None, 2], ["b", 3]], "formats": ["General", "0.0"]}}
    )
    kit = google.GoogleBook(book, "test")
    kit.merge("S", Area(0, 0, 1, 0))
    asked = len(account.asked)
    with pytest.raises(Exception, match="stand among the rows to sort"):
        kit.sort("S", 1, True)
    with pytest.raises(Exception, match="only sheet"):
        kit.delete("S")
    with pytest.raises(Exception, match="at most 16000"):
        kit.write("S", 999, 25, [[("x", "")]])
    assert [method for method, _ in account.asked[asked:]] in ([], ["GET"])
    assert kit.compute("S", "=SUM(B2:B3)") == "5.0"
    assert kit.values("S") == [["a", "1"], ["a", "2.0"], ["b", "3.0"]]
    kit.write("S", 2, 1, [[(0.5, "0%"), (0.5, "0%")]])
    assert kit.values("S")[2] == ["b", "0.5", "50%"]
    kit.close()


def test_a_snapshot_is_restored_by_playing_again(account: Google) -> None:
    env = SheetEnv(backend="live")
    task = env.tasks[0]
    env.reset(options={"task_id": task.id})
    env.step(write_call("open_sheet", {"name": task.spec["sheet"]}))
    env.step(write_call("update_cell", {"position": "A2", "value": "here"}))
    twin = env.fork()
    assert twin.kit.book.values(task.spec["sheet"])[1][0] == "here"
    assert len(account.files) == 3
    for each in (env, twin):
        each.close()


def test_without_a_key_or_an_answer_it_says_so(
    account: Google, monkeypatch: pytest.MonkeyPatch
) -> None:
    env = SheetEnv(backend="live")
    account.failing = True
    with pytest.raises(LiveError, match="refused with status 403") as raised:
        env.reset(seed=0)
    assert KEY not in str(raised.value)
    monkeypatch.delenv(google.TOKEN)
    monkeypatch.delenv(google.ACCOUNT, raising=False)
    with pytest.raises(MissingKey, match=google.TOKEN):
        env.reset(seed=0)
    with pytest.raises(InvalidConfig, match='give backend="live" as well'):
        SheetEnv(cassette="tape.jsonl")
