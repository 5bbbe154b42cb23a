"""The pages for people: the protocol as one HTML page, made from the OpenAPI document.

The page is whole as it comes: no script, no font, nothing from elsewhere, so that it is the same on
a machine without a network, and under a policy that allows nothing but its own style.
"""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path
from typing import Any

_STYLE = (Path(__file__).parent / "pages.css").read_text(encoding="utf-8")
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
"""The content security policy the page is served under."""


def page(document: dict[str, Any], base: str) -> str:
    """Return the page of a document.

    Args:
        document: the OpenAPI document.
        base: where the server is, for the examples ("http://127.0.0.1:8765").
    """
    info = document["info"]
    schemas = document["components"]["schemas"]
    groups = _grouped(document)
    models = "".join(_model(name, schemas[name]) for name in sorted(schemas))
    return (
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>"
        f"<title>agentgym: the protocol</title><style>{_STYLE}</style></head><body>"
        f"<nav><strong>agentgym</strong>{_contents(groups)}</nav><main>"
        f"<h1>agentgym <small>{escape(info['version'])}</small></h1>"
        f"{_prose(info['description'])}"
        "<p>The same as data: <a href='openapi.json'><code>openapi.json</code></a>.</p>"
        + "".join(_group(document, name, found, base) for name, found in groups.items())
        + f"<h2 id='shapes'>Shapes</h2>{models}</main></body></html>"
    )


def _grouped(document: dict[str, Any]) -> dict[str, list[tuple[str, str, dict[str, Any]]]]:
    """Return (method, path, operation) of every operation, by the heading it stands under."""
    groups: dict[str, list[tuple[str, str, dict[str, Any]]]] = {
        tag["name"]: [] for tag in document.get("tags", ())
    }
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            tag = (operation.get("tags") or [path.split("/")[1]])[0]
            groups.setdefault(tag, []).append((method, path, operation))
    return groups


def _contents(groups: dict[str, list[tuple[str, str, dict[str, Any]]]]) -> str:
    lines = []
    for name, found in groups.items():
        lines.append(f"<h2>{escape(name)}</h2>")
        lines += [
            f"<a href='#{_anchor(method, path)}' title='{escape(path)}'>{_badge(method)}"
            f"{escape(_short(path))}</a>"
            for method, path, _ in found
        ]
    return "".join(lines) + "<h2>Shapes</h2><a href='#shapes'>all of them</a>"


def _group(
    document: dict[str, Any],
    name: str,
    found: list[tuple[str, str, dict[str, Any]]],
    base: str,
) -> str:
    about = next((t["description"] for t in document.get("tags", ()) if t["name"] == name), "")
    schemas = document["components"]["schemas"]
    operations = "".join(_operation(*one, base, schemas) for one in found)
    return f"<h2>{escape(name)}</h2><p>{escape(about)}</p>{operations}"


def _operation(
    method: str, path: str, operation: dict[str, Any], base: str, schemas: dict[str, Any]
) -> str:
    summary = operation.get("summary", "")
    about = operation.get("description", "")
    return (
        f"<section id='{_anchor(method, path)}'>"
        f"<h3>{_badge(method)} <code>{escape(path)}</code></h3><p>{escape(summary)}.</p>"
        + (_prose(about) if about and about.rstrip(".") != summary else "")
        + _parameters(operation.get("parameters", []))
        + _asked(operation, schemas)
        + f"<pre><code>{escape(_curl(method, path, operation, base))}</code></pre>"
        + _answers(operation["responses"])
        + "</section>"
    )


def _parameters(parameters: list[dict[str, Any]]) -> str:
    rows = [
        f"<tr><td><code>{escape(p['name'])}</code></td><td>{escape(p['in'])}</td>"
        f"<td>{escape(p.get('description', ''))}</td></tr>"
        for p in parameters
    ]
    return f"<table>{''.join(rows)}</table>" if rows else ""


def _asked(operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    shape = content.get("application/json", {}).get("schema")
    if not shape:
        return ""
    name = (shape.get("items") or shape).get("$ref", "").rpartition("/")[2]
    many = "" if "items" not in shape else f"<p>A {_kind(shape)}:</p>"
    rows = _fields(schemas[name]) if name in schemas else _kind(shape)
    return f"<p class='label'>Body</p>{many}{rows}"


def _curl(method: str, path: str, operation: dict[str, Any], base: str) -> str:
    shown = re.sub(r"{(\w+)}", lambda m: {"name": "textcraft"}.get(m[1], m[1].upper()), path)
    content = operation.get("requestBody", {}).get("content", {})
    example = content.get("application/json", {}).get("example")
    if example is not None:
        return f"curl {base}{shown} -d '{json.dumps(example)}'"
    flag = {"get": "", "post": "-X POST "}.get(method, f"-X {method.upper()} ")
    return f"curl {flag}{base}{shown}"


def _answers(responses: dict[str, Any]) -> str:
    good: list[str] = []
    bad: list[str] = []
    for status, response in responses.items():
        content = response.get("content", {}).get("application/json", {}).get("schema")
        row = f"<tr><td>{escape(status)}</td><td>{_kind(content) if content else ''}</td>"
        row += f"<td>{_inline(response['description'])}</td></tr>"
        (good if status < "400" else bad).append(row)
    failures = f"<details><summary>Failures</summary><table>{''.join(bad)}</table></details>"
    return f"<p class='label'>Answer</p><table>{''.join(good)}</table>{failures if bad else ''}"


def _model(name: str, model: dict[str, Any]) -> str:
    about = _prose(model.get("description", ""))
    return (
        f"<section id='shape-{escape(name)}'><h3>{escape(name)}</h3>{about}"
        f"{_fields(model)}</section>"
    )


def _fields(model: dict[str, Any]) -> str:
    required = model.get("required", ())
    rows = []
    for field, shape in model.get("properties", {}).items():
        needed = " <em>required</em>" if field in required else ""
        rows.append(
            f"<tr><td><code>{escape(field)}</code></td><td>{_kind(shape)}{needed}</td>"
            f"<td>{_inline(shape.get('description', ''))}</td></tr>"
        )
    return f"<table>{''.join(rows)}</table>"


def _kind(shape: dict[str, Any] | None) -> str:
    """Return what a schema allows, in a word or two."""
    if not shape:
        return "anything"
    if "$ref" in shape:
        name = escape(shape["$ref"].rpartition("/")[2])
        return f"<a href='#shape-{name}'>{name}</a>"
    for some in ("anyOf", "oneOf", "allOf"):
        if some in shape:
            return " or ".join(_kind(one) for one in shape[some])
    if "enum" in shape:
        return " or ".join(escape(json.dumps(value)) for value in shape["enum"])
    if "const" in shape:
        return escape(json.dumps(shape["const"]))
    if shape.get("type") == "array":
        return f"list of {_kind(shape.get('items'))}"
    return escape(str(shape.get("type", "anything")))


def _prose(text: str) -> str:
    return "".join(f"<p>{_inline(part)}</p>" for part in text.strip().split("\n\n") if part)


def _inline(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text, quote=False))


def _badge(method: str) -> str:
    return f"<span class='method {escape(method)}'>{escape(method.upper())}</span>"


def _anchor(method: str, path: str) -> str:
    return escape(f"{method}-" + re.sub(r"\W+", "-", path).strip("-"))


def _short(path: str) -> str:
    return path.replace("/v1/sessions/{session}", "/sessions/…").replace("/v1/", "/")
