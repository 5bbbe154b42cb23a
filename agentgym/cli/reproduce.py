"""`agentgym reproduce`: experiments that were published, or that this package stands by, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentgym.cli.console import err, out, print_json
from agentgym.cli.errors import Commands
from agentgym.cli.evaluate import command_line
from agentgym.cli.options import Json

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=(
        "Run an experiment again, from nothing to its table and plot.\n\n"
        "[dim]Example:[/dim] agentgym reproduce demonstration --profile small"
    ),
)


@app.callback()
def _group() -> None:
    """Keep the experiments commands of their own, however many there are."""


@app.command("demonstration")
def demonstration(
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="A profile, or a YAML file of your own.")
    ] = "small",
    to: Annotated[
        Path | None, typer.Option("--out", help="The folder; else runs/demonstration-PROFILE.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the settings and what would be done, and stop.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Train every baseline from the same start on a tiny model, and compare them.

    The same command again goes on where it was stopped.

    [dim]Example:[/dim] agentgym reproduce demonstration --profile small --dry-run
    """
    from agentgym.baselines.config import to_yaml
    from agentgym.baselines.demonstration.experiment import load_experiment
    from agentgym.baselines.demonstration.plan import plan

    experiment = load_experiment(profile)
    if dry_run:
        lines = plan(experiment)
        if as_json:
            print_json({"config": experiment.model_dump(mode="json"), "plan": lines})
            return
        out().print(to_yaml(experiment), markup=False)
        out().print("\n".join(lines), markup=False, soft_wrap=True)
        return
    from agentgym.baselines.demonstration.run import run
    from agentgym.baselines.demonstration.show import RESULTS, show

    folder = to or Path("runs") / f"demonstration-{Path(profile).stem}"
    screen = err()
    screen.print(f"The demonstration lies in {folder}", markup=False, soft_wrap=True)
    try:
        run(experiment, folder, lambda line: screen.print(line, markup=False, soft_wrap=True))
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"Stopped. Go on with: {command_line()}") from stop
    text = show(experiment, folder)
    if as_json:
        import json

        print_json({"run": str(folder), **json.loads((folder / RESULTS).read_text("utf-8"))})
        return
    out().print(text, markup=False, soft_wrap=True)
