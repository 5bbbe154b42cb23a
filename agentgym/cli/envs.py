"""`agentgym list`, `info` and `check`: what environments there are and whether one is sound."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.panel import Panel
from rich.text import Text

from agentgym.cli.console import err, out, print_json, table
from agentgym.cli.options import Edition, Json, Options, key_values
from agentgym.core.errors import AgentGymError

Name = Annotated[
    str, typer.Argument(help="An id or a short name (textcraft), or my_package:MyEnv-v0.")
]


def list_environments(as_json: Json = False) -> None:
    """List the environments, their editions and sizes.

    [dim]Example:[/dim] agentgym list --json
    """
    from agentgym.core import cards

    rows = [describe_card(card) for card in cards()]
    if as_json:
        print_json(rows)
        return
    grid = table("Environment", "Mini", "Official", "Published", "What the agent does",
                 right=("Mini",))  # fmt: skip
    for row in rows:
        name = Text(row["name"], style="bold" if row["installed"] else "dim")
        if row["installed"]:
            sizes = [_size_text(row["editions"].get(e)) for e in ("mini", "official")]
        elif "broken" in row:
            sizes = [Text("broken", style="red"), Text(row["broken"])]
        else:
            sizes = [Text("not installed", style="yellow"), Text(f"pip install '{row['install']}'")]
        grid.add_row(name, *sizes, _published_text(row["published"]), row["summary"])
    out().print(grid)
    missing = any(not e["available"] for row in rows for e in row["editions"].values())
    data = " [yellow]data[/yellow]: needs published files, see 'agentgym data list'." * missing
    out().print("\nSizes are train + eval tasks; published: trajectories in AgentTraj-L + tasks in "
                f"AgentEval.{data}")  # fmt: skip
    out().print("Next: agentgym info NAME, agentgym play NAME")


def describe_card(card: Any) -> dict[str, Any]:
    """Return what is known of an environment and its editions, JSON values only."""
    row: dict[str, Any] = {
        "name": card.short_name,
        "id": card.id,
        "summary": card.summary,
        "installed": card.installed,
        "install": f"agentgym[{card.extra}]" if card.extra else "agentgym",
        "published": describe_published(card.short_name),
        "editions": {},
    }
    if card.installed:
        try:
            env_class = card.load()
        except ImportError as error:  # a dependency is there but does not work: say so, go on
            return {**row, "installed": False, "broken": str(error)}
        row["editions"] = {name: _describe_edition(env_class, name) for name in env_class.editions}
    return row


def describe_published(name: str) -> dict[str, int | None] | None:
    """Return the published sizes of an environment, or None where it is in neither paper."""
    from agentgym.agenteval import published_sizes

    size = published_sizes().get(name)
    if size is None:
        return None
    return {"train": size.agenttraj_l, "eval": size.agenteval}


def _published_text(sizes: dict[str, int | None] | None) -> Text:
    if sizes is None:
        return Text("-", style="dim")
    train, held_out = ("?" if n is None else str(n) for n in sizes.values())
    return Text(f"{train} + {held_out}", style="dim")


def _describe_edition(env_class: Any, name: str, data_dir: str | None = None) -> dict[str, Any]:
    from agentgym.core.loading import load_tasks

    edition = env_class.editions[name]
    row: dict[str, Any] = {
        "about": edition.about,
        "max_rounds": edition.max_rounds,
        "offline": edition.offline,
        "available": True,
        "train": None,
        "eval": None,
    }
    try:
        tasks = load_tasks(env_class, name, data_dir)
    except AgentGymError as error:
        return {**row, "available": False, "missing": str(error)}
    return {**row, **tasks.sizes, "version": tasks.version, "note": tasks.note}


def _size_text(edition: dict[str, Any] | None) -> Text:
    if edition is None:
        return Text("-", style="dim")
    if not edition["available"]:
        return Text("data", style="yellow")
    return Text(f"{edition['train']} + {edition['eval']}")


def info(
    name: Name, edition: Edition = "mini", options: Options = None, as_json: Json = False
) -> None:
    """Show one environment: its rules, commands, editions, tasks and a first observation.

    [dim]Example:[/dim] agentgym info textcraft --edition official
    """
    from agentgym.core import make, resolve_id
    from agentgym.core.registry import cards

    env_id = resolve_id(name)
    card = next((c for c in cards() if c.id == env_id), None)
    env = make(name, edition=edition, **key_values(options))
    try:
        observation, first = env.reset(seed=0)
        data = {
            "id": env_id,
            "title": env.title,
            "summary": card.summary if card else "",
            "extra": card.extra if card else "",
            "editions": {e: _describe_edition(type(env), e) for e in env.editions},
            "published": describe_published(card.short_name) if card else None,
            "edition": edition,
            "digest": env.tasks.digest,
            "max_rounds": env.max_rounds,
            "kinds": env.tasks.kinds,
            "instructions": env.instructions,
            "commands": [c.schema()["function"] | {"usage": c.usage} for c in env.commands],
            "example": {"task_id": first["task_id"], "goal": first["goal"],
                        "observation": observation, "actions": first["actions"]},
        }  # fmt: skip
    finally:
        env.close()
    if as_json:
        print_json(data)
    else:
        _print_info(data)


def _print_info(data: dict[str, Any]) -> None:
    from agentgym.agents.screen import printable

    screen = out()
    extra = f" [dim](extra: {data['extra']})[/dim]" if data["extra"] else ""
    screen.print(f"[bold]{escape(data['title'])}[/bold]  {escape(data['id'])}{extra}")
    if data["summary"]:
        screen.print(data["summary"], markup=False)
    screen.print()
    grid = table("Edition", "Train", "Eval", "Rounds", "What", right=("Train", "Eval", "Rounds"))
    for name, row in data["editions"].items():
        sizes = [str(row[s]) if row["available"] else "data" for s in ("train", "eval")]
        offline = "" if row["offline"] else " (needs published files)"
        grid.add_row(name, *sizes, str(row["max_rounds"]), escape(row["about"] + offline))
    if data["published"]:
        sizes = ["?" if n is None else str(n) for n in data["published"].values()]
        grid.add_row("published", *sizes, "", "Trajectories in AgentTraj-L, tasks in AgentEval "
                     "(arXiv 2406.04151).", style="dim")  # fmt: skip
    screen.print(grid)
    note = data["editions"][data["edition"]].get("note")
    kinds = ", ".join(f"{kind} ({count})" for kind, count in list(data["kinds"].items())[:40])
    screen.print(f"\n[bold]Tasks of the {escape(data['edition'])} edition[/bold]")
    screen.print(Text(f"{note}\n" if note else "", end=""), Text(f"Kinds: {kinds}"), sep="")
    screen.print(f"Digest: {data['digest']}")
    width = min(100, screen.width)
    screen.print(Panel(Text(printable(data["instructions"])), title="Instructions", width=width))
    if data["commands"]:
        grid = table("Command", "What it does")
        for command in data["commands"]:
            grid.add_row(escape(command["usage"]), escape(command["description"]))
        screen.print(grid)
    example = data["example"]
    text = f"Goal: {example['goal']}\n\n{example['observation']}"
    heading = f"First observation of {example['task_id']}"
    screen.print(Panel(Text(printable(text)), title=heading, width=width))
    actions = example["actions"]
    if actions:
        more = f", … ({len(actions)} in all)" if len(actions) > 12 else ""
        screen.print(Text(f"Actions now: {', '.join(actions[:12])}{more}"))
    screen.print(f"\nNext: agentgym play {data['id']}", markup=False)


def check(
    name: Name,
    episodes: Annotated[int, typer.Option(min=1, help="Tasks the longer checks play.")] = 3,
    expert: Annotated[
        bool, typer.Option(help="Whether the environment ships an expert that solves its tasks.")
    ] = True,
    edition: Edition = "mini",
    options: Options = None,
    as_json: Json = False,
) -> None:
    """Check that an environment keeps every promise of the contract.

    Ends with exit code 1 if one is broken. [dim]Examples:[/dim]

      agentgym check textcraft

      agentgym check my_package:MyEnv-v0 --no-expert
    """
    from agentgym.core import make
    from agentgym.core.checker import check_env

    arguments = {"edition": edition, **key_values(options)}
    make(name, **arguments).close()  # a wrong name ends here, not as twenty failed checks
    with err().status(f"Checking {name} …"):
        checks = check_env(name, episodes=episodes, expert=expert, **arguments)
    failed = [c for c in checks if not c.passed]
    if as_json:
        rows = [{"name": c.name, "passed": c.passed, "error": c.error} for c in checks]
        print_json({"environment": name, "passed": not failed, "checks": rows})
    else:
        _print_checks(name, checks)
    if failed:
        raise typer.Exit(1)


def _print_checks(name: str, checks: list[Any]) -> None:
    screen = out()
    for one in checks:
        mark = "[green]✓[/green]" if one.passed else "[red]✗[/red]"
        screen.print(f"{mark} {escape(one.name)}")
        if one.error:
            screen.print(Text(f"    {one.error}", style="red"))
    failed = sum(not c.passed for c in checks)
    if failed:
        screen.print(f"\n[red]{failed} of {len(checks)} promises are broken.[/red] "
                     "The contract: docs/own-environment.md")  # fmt: skip
    else:
        screen.print(f"\n[green]{escape(name)} keeps all {len(checks)} promises.[/green]")
