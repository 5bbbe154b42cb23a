"""A small Todoist on a local port: projects and tasks as its API shows them, page by page."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

KEY = "very-secret-key"
PAGE = 3
"""Rows a page, however many are asked for."""

Answer = tuple[int, Any]


class Todoist:
    """What the service holds, and what it was asked.

    It begins with projects of the user's own, which nobody may touch.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[tuple[str, str]] = []
        self.count = 0
        self.fail_after: int | None = None
        self.projects: dict[str, dict[str, Any]] = {}
        self.tasks: dict[str, dict[str, Any]] = {}
        for name in ("Inbox", "My own things", "Tax", "Garden", "Zoo"):
            key = self._project({"name": name})["id"]
            self._task({"project_id": key, "content": f"Do {name}", "due_date": "2020-01-01"})
        self.own = json.dumps([self.projects, self.tasks])

    def answer(self, method: str, target: str, key: str | None, body: Any) -> Answer:
        """Return a status and JSON."""
        parts = urlsplit(target)
        params = dict(parse_qsl(parts.query))
        self.asked.append((method, parts.path))
        if key != f"Bearer {KEY}":
            return 401, {"error": "Unauthorized"}
        if self.fail_after is not None and method == "POST":
            self.fail_after -= 1
            if self.fail_after < 0:
                return 403, {"error": "too many projects"}
        match = re.fullmatch(r"/(projects|tasks)(?:/(\w+))?(/close)?", parts.path)
        if match is None:
            return 404, {"error": "Not Found"}
        store = self.projects if match[1] == "projects" else self.tasks
        if match[2] is None:
            return self._list(store, params) if method == "GET" else self._make(match[1], body)
        if match[2] not in store:
            return 404, {"error": "Not Found"}
        return self._one(store, match[2], method, bool(match[3]), body)

    def _one(self, store: Any, key: str, method: str, close: bool, body: Any) -> Answer:
        if method == "DELETE":
            for child in [k for k, p in self.projects.items() if p["parent_id"] == key]:
                self._one(self.projects, child, "DELETE", False, None)
            self.tasks = {k: t for k, t in self.tasks.items() if t["project_id"] != key}
            (self.projects if store is self.projects else self.tasks).pop(key, None)
            return 204, None
        row = store[key]
        if close:
            row["checked"] = True
            return 204, None
        if method == "POST":
            if "due_date" in body:
                row["due"] = {"date": body["due_date"], "is_recurring": False}
            if "is_favorite" in body:
                row["is_favorite"] = body["is_favorite"]
        return 200, row

    def _list(self, store: dict[str, Any], params: dict[str, str]) -> Answer:
        rows = [
            row
            for row in store.values()
            if params.get("project_id") in (None, row.get("project_id")) and not row.get("checked")
        ]
        start = int(params.get("cursor", "0"))
        more = str(start + PAGE) if start + PAGE < len(rows) else None
        return 200, {"results": rows[start : start + PAGE], "next_cursor": more}

    def _make(self, kind: str, body: dict[str, Any]) -> Answer:
        return 200, self._project(body) if kind == "projects" else self._task(body)

    def _project(self, body: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        row = {
            "id": f"6Jf{self.count}",
            "name": body["name"],
            "parent_id": body.get("parent_id"),
            "color": body.get("color", "charcoal"),
            "is_favorite": body.get("is_favorite", False),
            "child_order": self.count,
            "view_style": "list",
        }
        self.projects[row["id"]] = row
        return row

    def _task(self, body: dict[str, Any]) -> dict[str, Any]:
        self.count += 1
        amount = body.get("duration")
        row = {
            "id": f"7Kx{self.count}",
            "project_id": body["project_id"],
            "content": body["content"],
            "description": body.get("description", ""),
            "priority": body.get("priority", 1),
            "checked": False,
            "labels": [],
            "due": {"date": body["due_date"], "is_recurring": False, "lang": "en"},
            "duration": amount and {"amount": amount, "unit": body["duration_unit"]},
            "child_order": self.count,
        }
        self.tasks[row["id"]] = row
        return row


@contextmanager
def todoist() -> Iterator[Todoist]:
    """Serve an account on a local port."""
    service = Todoist()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 1 << 16  # or each answer is sent in two packets, the second one late

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            key = self.headers.get("Authorization")
            status, found = service.answer(self.command, self.path, key, body)
            text = b"" if found is None else json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if status != 204:
                self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_DELETE = _answer

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    service.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield service
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
