"""`agentgym serve`: the environments over HTTP and WebSocket."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from agentgym.cli.options import key_values

_ROOM = "Room and time"
_ACCESS = "Access"
_LOGS = "Logs"
_MODULES = ("fastapi", "uvicorn", "msgspec", "psutil", "prometheus_client")


def serve(
    host: Annotated[
        str | None, typer.Option(help="The address to listen on (127.0.0.1).", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option("--port", "-p", min=0, max=65535, help="8765; 0 takes a free one."),
    ] = None,
    env: Annotated[
        list[str] | None, typer.Option("--env", help="Serve only this one; may be repeated.")
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--option", "-o", metavar="ENV.KEY=VALUE", help="An option that holds by default."
        ),
    ] = None,
    preload: Annotated[
        list[str] | None, typer.Option(help="Start this environment's worker at once.")
    ] = None,
    config: Annotated[
        Path | None, typer.Option(help="A YAML file with these options by name.", dir_okay=False)
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="AGENTGYM_TOKEN",
            show_envvar=True,
            help="What clients must show.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="A file with the token.", rich_help_panel=_ACCESS)
    ] = None,
    make_token: Annotated[
        bool, typer.Option("--make-token", help="Print a new token.", rich_help_panel=_ACCESS)
    ] = False,
    allow_option: Annotated[
        list[str] | None,
        typer.Option(help="A further option clients may set.", rich_help_panel=_ACCESS),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(help="A name it goes by, behind a proxy.", rich_help_panel=_ACCESS),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(help="An origin whose pages may use it.", rich_help_panel=_ACCESS),
    ] = None,
    experts: Annotated[
        bool | None,
        typer.Option(
            "--experts/--no-experts",
            help="Whether clients may ask the expert.",
            rich_help_panel=_ACCESS,
        ),
    ] = None,
    max_sessions: Annotated[
        int | None,
        typer.Option(min=1, help="Sessions open at a time (4096).", rich_help_panel=_ROOM),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE",
            help="No new sessions while the workers have so much (no limit).",
            rich_help_panel=_ROOM,
        ),
    ] = None,
    session_ttl: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Close a session idle for so long (1h).", rich_help_panel=_ROOM
        ),
    ] = None,
    max_workers: Annotated[
        int | None,
        typer.Option(min=1, help="Worker processes of an environment.", rich_help_panel=_ROOM),
    ] = None,
    sessions_per_worker: Annotated[
        int | None,
        typer.Option(
            min=1, help="Sessions before another worker is started (256).", rich_help_panel=_ROOM
        ),
    ] = None,
    worker_ttl: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="End a worker without sessions after (5m).", rich_help_panel=_ROOM
        ),
    ] = None,
    call_timeout: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="A step may take (2m).", rich_help_panel=_ROOM),
    ] = None,
    create_timeout: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Making an environment may take (5m).", rich_help_panel=_ROOM
        ),
    ] = None,
    max_body: Annotated[
        str | None,
        typer.Option(metavar="SIZE", help="A request may have (4MiB).", rich_help_panel=_ROOM),
    ] = None,
    max_batch: Annotated[
        int | None,
        typer.Option(min=1, help="Steps in a batch (1024).", rich_help_panel=_ROOM),
    ] = None,
    resurrect: Annotated[
        bool | None,
        typer.Option(
            "--resurrect/--no-resurrect",
            help="Play the sessions of a worker that died again in another.",
            rich_help_panel=_ROOM,
        ),
    ] = None,
    grace: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Calls under way have so long when it stops (30s).",
            rich_help_panel=_ROOM,
        ),
    ] = None,
    log_format: Annotated[
        str | None, typer.Option(help="text or json.", rich_help_panel=_LOGS)
    ] = None,
    log_level: Annotated[
        str | None, typer.Option(help="debug, info, warning or error.", rich_help_panel=_LOGS)
    ] = None,
) -> None:
    """Serve the environments over HTTP and WebSocket.

    [dim]Examples:[/dim]

      agentgym serve

      agentgym serve --env webshop --env textcraft --port 8000 --max-memory 4GB

      export AGENTGYM_TOKEN=$(agentgym serve --make-token)

      agentgym serve --host 0.0.0.0
    """
    if make_token:
        import secrets

        typer.echo(secrets.token_urlsafe(32))
        return

    from agentgym.core.extras import require

    for module in _MODULES:
        require(module, "The server", "serve")

    from agentgym.serve import logs
    from agentgym.serve.config import ServerConfig, read_config
    from agentgym.serve.server import serve as run

    said = {
        "host": host, "port": port, "environments": env, "preload": preload, "token": token,
        "token_file": token_file, "options": allow_option, "hosts": allow_host,
        "origins": allow_origin, "experts": experts, "max_sessions": max_sessions,
        "max_memory": max_memory, "session_ttl": session_ttl, "max_workers": max_workers,
        "sessions_per_worker": sessions_per_worker, "worker_ttl": worker_ttl,
        "call_timeout": call_timeout, "create_timeout": create_timeout, "max_body": max_body,
        "max_batch": max_batch, "resurrect": resurrect, "grace": grace,
        "log_format": log_format, "log_level": log_level,
    }  # fmt: skip
    values = read_config(config) if config else {}
    values |= {name: value for name, value in said.items() if value is not None}
    if option:
        values["defaults"] = _merged(values.get("defaults") or {}, option)
    server = ServerConfig.of(values)
    logs.configure(server.log_format, server.log_level)
    run(server, lambda at, store: _greet(server, at, [c.short_name for c in store.cards()]))


def _merged(defaults: dict[str, Any], pairs: list[str]) -> dict[str, Any]:
    """Return options by environment with those of ENV.KEY=VALUE pairs put in."""
    from agentgym.core.errors import InvalidConfig
    from agentgym.core.registry import resolve_id

    found = {resolve_id(name): dict(options) for name, options in defaults.items()}
    for pair in pairs:
        name, dot, rest = pair.partition("=")[0].rpartition(".")
        if not dot or not name or not rest:
            raise InvalidConfig(f"--option is written ENV.KEY=VALUE, not {pair!r}")
        found.setdefault(resolve_id(name), {}).update(key_values([pair[len(name) + 1 :]]))
    return found


def _greet(server: Any, port: int, names: list[str]) -> None:
    """Say where the server is, and a line that shows that it works."""
    from agentgym.cli.console import err, out

    anywhere = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}  # an address to listen on, none to ask
    name = anywhere.get(server.host, f"[{server.host}]" if ":" in server.host else server.host)
    url = f"http://{name}:{port}"
    token = ' -H "Authorization: Bearer $AGENTGYM_TOKEN"' if server.settings.token else ""
    shown = "TextCraft" if "TextCraft" in names else names[0]
    body = f'{{"environment": "{shown.lower()}", "reset": {{"seed": 1}}}}'
    served = f"{len(names)} environment{'s' if len(names) != 1 else ''}"
    out().print(f"Serving {served} at {url}", soft_wrap=True, markup=False)
    err().print(
        f"  pages  {url}/docs\n  try    curl -s{token} {url}/v1/sessions -d '{body}'\n"
        "Ctrl-C stops it.",
        soft_wrap=True,
        markup=False,
    )
