"""The command `agentgym`: it parses, calls the library and prints.

Each group of commands is a file here, and a command imports what it needs when it runs, so that
`agentgym --help` answers at once. What a program may read is printed as JSON with `--json`; then
standard output holds nothing else, and progress and errors go to standard error.
"""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Annotated

import typer

from agentgym.cli import (
    collect,
    data,
    demo,
    envs,
    evaluate,
    models,
    play,
    reproduce,
    results,
    serve,
    shop,
    train,
)
from agentgym.cli.errors import Commands, show_tracebacks
from agentgym.cli.streams import prepare

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    help=(
        "Play, measure and train language-model agents on text environments.\n\n"
        "[bold]First steps[/bold]\n\n"
        "  agentgym demo                                 three agents measured, in minutes\n\n"
        "  agentgym list                                 what there is\n\n"
        "  agentgym play textcraft                       play it yourself\n\n"
        "  agentgym eval expert --env textcraft          measure an agent\n\n"
        "  agentgym eval openai:MODEL --suite quick      measure a model"
    ),
)

app.command("list")(envs.list_environments)
app.command("info")(envs.info)
app.command("play")(play.play)
app.command("shop")(shop.shop)
app.command("serve")(serve.serve)
app.command("eval")(evaluate.evaluate)
app.command("demo")(demo.demo)
app.command("collect")(collect.collect)
app.command("compare")(results.compare)
app.add_typer(results.leaderboard, name="leaderboard")
app.command("replay")(results.replay)
app.add_typer(data.app, name="data")
app.add_typer(models.app, name="models")
app.add_typer(train.app, name="train")
app.add_typer(reproduce.app, name="reproduce")
app.command("check")(envs.check)


def _version(value: bool) -> None:
    if value:
        from agentgym import __version__

        typer.echo(f"agentgym {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", envvar="AGENTGYM_DEBUG", help="Show tracebacks of errors."),
    ] = False,
) -> None:
    show_tracebacks(debug)
    # An installed script does not see the working directory, where "my_package:MyEnv-v0" lies.
    # It goes last, so that no file there hides an installed module.
    with contextlib.suppress(FileNotFoundError):  # it may have been removed
        if os.getcwd() not in sys.path:
            sys.path.append(os.getcwd())


def main() -> None:
    """Run the command line."""
    prepare()
    app(prog_name="agentgym")


__all__ = ["app", "main"]
