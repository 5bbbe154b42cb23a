"""Google Sheets behind the same functions.

Every episode makes a spreadsheet of its own, works on that one alone, and deletes it; nothing else
in the account is read or touched. It goes through Google's REST interface and the tool layer's
client, so that an episode can be recorded and played again without Google. What Google would refuse
is refused beforehand, by the rules of the local sheet, so that it stays the agent's mistake.

The key is an access token in `GOOGLE_SHEETS_TOKEN`, or a service account's file named by
`GOOGLE_APPLICATION_CREDENTIALS`, as the published environment used.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from agentgym.core.extras import require
from agentgym.envs.sheet.cells import GENERAL, Cell, Value, cell
from agentgym.envs.sheet.formula import Formula
from agentgym.envs.sheet.positions import COLUMNS, ROWS
from agentgym.envs.sheet.sheet import Area, Entry, Grid, Sheet
from agentgym.envs.sheet.workbook import MOST_SHOWN, Workbook
from agentgym.envs.tools import Cassette, LiveClient, LiveError, ToolError, WrongValue, key_from

SHEETS = "https://sheets.googleapis.com/v4/spreadsheets"
DRIVE = "https://www.googleapis.com/drive/v3/files"
SCOPES = (
    "https://www.googleapis.com/auth/spreadsheets",
    "https://www.googleapis.com/auth/drive.file",
)
TOKEN, ACCOUNT = "GOOGLE_SHEETS_TOKEN", "GOOGLE_APPLICATION_CREDENTIALS"
_FIELDS = (
    "sheets(properties(title,gridProperties),merges,data(rowData(values("
    "formattedValue,note,userEnteredFormat(numberFormat)))))"
)
_DIMENSIONS = ("ROWS", "COLUMNS")


class GoogleBook:
    """A spreadsheet made for one episode.

    Args:
        book: what it begins with.
        title: its title in the account.
        cassette: a tape, or None.

    Raises:
        LiveError: if Google does not answer, or refuses.
        MissingKey: if neither variable is set.
    """

    def __init__(self, book: Workbook, title: str, cassette: Cassette | None = None) -> None:
        self._made = False
        self._client = LiveClient(SHEETS, cassette=cassette, secret_headers=self._who)
        self._numbers = {name: i for i, name in enumerate(book.names)}
        self.names = list(book.names)
        self._seen: dict[str, Sheet] = {}
        sheets = [_made(book.sheets[name], number) for name, number in self._numbers.items()]
        body = {"properties": {"title": title}, "sheets": sheets}
        made = self._client.request("POST", "", params={"fields": "spreadsheetId"}, body=body)
        self.id = str(_get(made, "spreadsheetId"))

    def number(self, name: str) -> int:
        """Return the id of a sheet."""
        return self._numbers[name]

    def values(self, name: str) -> Grid:
        """Return what is shown in the used area."""
        return self._sheet(name).values

    def plain(self, name: str) -> Grid:
        """Return what is shown in the used area, merged cells empty but for the first."""
        return self._sheet(name).plain

    def notes(self, name: str) -> dict[tuple[int, int], str]:
        """Return the notes by place."""
        return Workbook([self._sheet(name)]).notes(name)

    def merges(self, name: str) -> list[Area]:
        """Return the merged areas."""
        return list(self._sheet(name).merges)

    def frozen(self, name: str) -> tuple[int, int]:
        """Return how many rows and columns are frozen."""
        return self._sheet(name).frozen

    def delete(self, name: str) -> None:
        """Delete a sheet."""
        if len(self.names) == 1:
            raise ToolError(f"{name} is the only sheet, and a workbook keeps one at least")
        self._update({"deleteSheet": {"sheetId": self._numbers[name]}})
        self.names.remove(name)
        self._seen.pop(name, None)

    def freeze(self, name: str, axis: int, count: int) -> None:
        """Freeze the first rows (axis 0) or columns (axis 1)."""
        key = ("frozenRowCount", "frozenColumnCount")[axis]
        properties = {"sheetId": self._numbers[name], "gridProperties": {key: count}}
        request = {"properties": properties, "fields": f"gridProperties.{key}"}
        self._change(name, {"updateSheetProperties": request})

    def insert(
        self, name: str, axis: int, at: int, lines: Sequence[Sequence[Value]], like_before: bool
    ) -> None:
        """Insert rows or columns."""
        insert = Sheet.insert_columns if axis else Sheet.insert_rows
        self._rehearse(name, lambda sheet: insert(sheet, at, lines, like_before))
        where = self._dimension(name, axis, at, at + len(lines))
        grown = {
            "sheetId": self._numbers[name],
            "dimension": _DIMENSIONS[axis],
            "length": len(lines),
        }
        longest = max(map(len, lines), default=0)
        if axis:
            rows = [[line[r] if r < len(line) else None for line in lines] for r in range(longest)]
        else:
            rows = [[*line, *[None] * (longest - len(line))] for line in lines]
        start = (0, at) if axis else (at, 0)
        self._change(
            name,
            {"appendDimension": grown},  # so that the end of the grid is never in the way
            {"insertDimension": {"range": where, "inheritFromBefore": like_before and at > 0}},
            self._cells(name, *start, [[Cell(value) for value in row] for row in rows], "Value"),
        )

    def remove(self, name: str, axis: int, lines: Sequence[int]) -> None:
        """Delete rows or columns."""
        self._change(
            name,
            *(
                {"deleteDimension": {"range": self._dimension(name, axis, at, at + 1)}}
                for at in sorted(lines, reverse=True)
            ),
        )

    def write(self, name: str, row: int, column: int, lines: Sequence[Sequence[Entry]]) -> None:
        """Put values into cells."""
        self._rehearse(name, lambda sheet: sheet.write(row, column, lines))
        before = self._sheet(name)
        requests = []
        for r, line in enumerate(lines, row):
            cells = [[Cell(value) for value, _ in line]]
            requests.append(self._cells(name, r, column, cells, "Value"))
            requests += [
                self._cells(name, r, c, [[Cell(None, form)]], "Format")
                for c, (_, form) in enumerate(line, column)
                if form and before.cell(r, c).format == GENERAL
            ]
        self._change(name, *requests)

    def compute(self, name: str, formula: str) -> str:
        """Return what a formula would show: it is written beside the data, read and taken away."""
        grid = self.plain(name)
        row, column = 0, len(grid[0]) if grid else 0
        grown = {"sheetId": self._numbers[name], "dimension": "COLUMNS", "length": 1}
        written = {"formulaValue": formula}
        place = {"sheetId": self._numbers[name], "rowIndex": row, "columnIndex": column}
        held = {"rows": [{"values": [{"userEnteredValue": written}]}], "fields": "userEnteredValue"}
        self._change(name, {"appendDimension": grown}, {"updateCells": {**held, "start": place}})
        try:
            return self._sheet(name).plain[row][column]
        except IndexError:
            return ""
        finally:
            self._change(name, self._cells(name, row, column, [[Cell()]], "Value"))

    def sort(self, name: str, column: int, descending: bool) -> None:
        """Sort the rows below the frozen ones."""
        sheet = self._sheet(name)
        self._rehearse(name, lambda copy: copy.sort(column, descending, len(sheet.plain)))
        area = {
            "sheetId": self._numbers[name],
            "startRowIndex": sheet.frozen[0],
            "endRowIndex": len(sheet.plain),
        }
        order = {"dimensionIndex": column, "sortOrder": "DESCENDING" if descending else "ASCENDING"}
        self._change(name, {"sortRange": {"range": area, "sortSpecs": [order]}})

    def merge(self, name: str, area: Area) -> None:
        """Merge cells."""
        self._rehearse(name, lambda sheet: sheet.merge(area))
        where = _range(self._numbers[name], area)
        self._change(
            name,
            {"unmergeCells": {"range": where}},
            {"mergeCells": {"range": where, "mergeType": "MERGE_ALL"}},
        )

    def set_note(self, name: str, row: int, column: int, note: str) -> None:
        """Put a note on a cell."""
        place = {"sheetId": self._numbers[name], "rowIndex": row, "columnIndex": column}
        held = {"rows": [{"values": [{"note": note}]}], "fields": "note", "start": place}
        self._change(name, {"updateCells": held})

    def save(self) -> Any:
        """Return None: a snapshot is restored by playing the calls again."""
        return

    def load(self, saved: Any) -> None:
        """Never called, as there is nothing saved."""
        raise NotImplementedError

    def close(self) -> None:
        """Delete the spreadsheet, if Google really made one; twice without harm."""
        if self._made:
            self._made = False
            bin_ = LiveClient(DRIVE, secret_headers=_headers)
            try:
                bin_.request("DELETE", self.id)
            finally:
                bin_.close()
        self._client.close()

    def _who(self) -> dict[str, str]:
        """Return the key; it is only asked for when a call is really made."""
        found = _headers()
        self._made = True
        return found

    def _sheet(self, name: str) -> Sheet:
        if name not in self._seen:
            params = {"ranges": f"'{name}'", "fields": _FIELDS}
            held = self._client.get(self.id, params)
            self._seen[name] = _seen(name, _get(held, "sheets")[0])
        return self._seen[name]

    def _rehearse(self, name: str, change: Callable[[Sheet], object]) -> None:
        """Do it to a copy first: what cannot be done raises here."""
        copy = self._sheet(name).copy()
        change(copy)
        size = sum(sum(map(len, row)) + 4 * len(row) for row in copy.values)
        if size > MOST_SHOWN:
            raise WrongValue(
                f"the sheet would take {size} characters to show, at most {MOST_SHOWN}"
            )

    def _change(self, name: str, *requests: dict[str, Any]) -> None:
        self._seen.pop(name, None)
        self._update(*requests)

    def _update(self, *requests: dict[str, Any]) -> None:
        body = {"requests": list(requests)}
        self._client.request("POST", f"{self.id}:batchUpdate", params={"fields": ""}, body=body)

    def _dimension(self, name: str, axis: int, start: int, end: int) -> dict[str, Any]:
        return {
            "sheetId": self._numbers[name],
            "dimension": _DIMENSIONS[axis],
            "startIndex": start,
            "endIndex": end,
        }

    def _cells(
        self, name: str, row: int, column: int, rows: Sequence[Sequence[Cell]], what: str
    ) -> dict[str, Any]:
        key = f"userEntered{what}"
        place = {"sheetId": self._numbers[name], "rowIndex": row, "columnIndex": column}
        data = [{"values": [{key: _cell(held).get(key)} for held in line]} for line in rows]
        return {"updateCells": {"rows": data, "fields": key, "start": place}}


def _headers() -> dict[str, str]:
    if os.environ.get(TOKEN) or not os.environ.get(ACCOUNT):
        return {"Authorization": f"Bearer {key_from(TOKEN, 'Google Sheets')}"}
    account = require("google.oauth2.service_account", "Google Sheets", "sheets-live")
    transport = require("google.auth.transport.requests", "Google Sheets", "sheets-live")
    found = account.Credentials.from_service_account_file(os.environ[ACCOUNT], scopes=list(SCOPES))
    found.refresh(transport.Request())
    return {"Authorization": f"Bearer {found.token}"}


def _get(held: Any, key: str) -> Any:
    if not isinstance(held, dict) or not held.get(key):
        raise LiveError(f"Google Sheets answered without {key}")
    return held[key]


def _cell(held: Cell) -> dict[str, Any]:
    """Return a cell as Google takes it."""
    made: dict[str, Any] = {}
    value = held.value
    if isinstance(value, Formula):
        made["userEnteredValue"] = {"formulaValue": str(value)}
    elif value is not None:
        kind = {bool: "boolValue", str: "stringValue"}.get(type(value), "numberValue")
        made["userEnteredValue"] = {kind: value}
    if held.format != GENERAL:
        kind = "TEXT" if held.format == "@" else "PERCENT" if held.format[-1] == "%" else "NUMBER"
        pattern = {"type": kind, "pattern": held.format}
        made["userEnteredFormat"] = {"numberFormat": pattern}
    if held.note:
        made["note"] = held.note
    return made


def _made(sheet: Sheet, number: int) -> dict[str, Any]:
    """Return a sheet as Google takes it."""
    rows, columns = sheet.frozen
    grid = {
        "rowCount": ROWS,
        "columnCount": COLUMNS,
        "frozenRowCount": rows,
        "frozenColumnCount": columns,
    }
    data = [{"values": [_cell(held) for held in line]} for line in sheet.rows]
    return {
        "properties": {"sheetId": number, "title": sheet.name, "gridProperties": grid},
        "data": [{"startRow": 0, "startColumn": 0, "rowData": data}],
        "merges": [_range(number, area) for area in sheet.merges],
    }


def _range(number: int, area: Area) -> dict[str, int]:
    return {
        "sheetId": number,
        "startRowIndex": area.top,
        "endRowIndex": area.bottom + 1,
        "startColumnIndex": area.left,
        "endColumnIndex": area.right + 1,
    }


def _read(held: dict[str, Any]) -> Cell:
    form = held.get("userEnteredFormat", {}).get("numberFormat", {}).get("pattern") or GENERAL
    return cell(held.get("formattedValue") or None, form, held.get("note", ""))


def _seen(name: str, held: dict[str, Any]) -> Sheet:
    """Return what Google shows of a sheet; its cells hold what is shown, as text."""
    lines = (held.get("data") or [{}])[0].get("rowData", [])
    shown = [line.get("values", [])[:COLUMNS] for line in lines[:ROWS]]
    width = max(map(len, shown), default=0)
    rows = [[_read(held) for held in line] + [Cell()] * (width - len(line)) for line in shown]
    grid = held.get("properties", {}).get("gridProperties", {})
    merges = [
        Area(
            m["startRowIndex"], m["startColumnIndex"], m["endRowIndex"] - 1, m["endColumnIndex"] - 1
        )
        for m in held.get("merges", [])
    ]
    frozen = (grid.get("frozenRowCount", 0), grid.get("frozenColumnCount", 0))
    return Sheet(name, rows, merges, frozen)
