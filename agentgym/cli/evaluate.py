"""`agentgym eval`: measure an agent, watch it go, and say where the run lies."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentgym.cli.console import err, out, print_json
from agentgym.cli.errors import fail
from agentgym.cli.options import (
    AgentOptions,
    Concurrency,
    Edition,
    Executor,
    Format,
    Json,
    MaxCost,
    MaxEpisodeTokens,
    MaxFailures,
    MaxRounds,
    MaxSeconds,
    MaxTotalTokens,
    Options,
    Retries,
    Split,
    key_values,
    limits_of,
)
from agentgym.core.errors import InvalidConfig

if TYPE_CHECKING:
    from agentgym.agenteval import Evaluation, Selection


TABLE_WIDTH = 98
"""Columns the table of a run takes."""


def evaluate(
    agent: Annotated[
        str,
        typer.Argument(
            help="expert, random, human, openai:MODEL, hf:…, llamacpp:…, pkg.mod:Class."
        ),
    ],
    env: Annotated[
        list[str] | None, typer.Option("--env", help="An environment; may be repeated.")
    ] = None,
    suite: Annotated[
        str | None, typer.Option(help="quick (a first look, the default), agenteval or all.")
    ] = None,
    edition: Edition = "mini",
    split: Split = "eval",
    tasks: Annotated[
        int | None,
        typer.Option("--tasks", "-n", min=1, help="Tasks of each environment; else all."),
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="Just this task; may be repeated.")
    ] = None,
    attempts: Annotated[int, typer.Option("--attempts", "-k", min=1, help="Times a task.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Everything random follows from it.")] = 0,
    action_format: Format = "react",
    run: Annotated[
        Path | None, typer.Option("--out", help="The run folder; else runs/AGENT-WHAT-N.")
    ] = None,
    option: AgentOptions = None,
    env_option: Options = None,
    max_rounds: MaxRounds = None,
    concurrency: Concurrency = 16,
    executor: Executor = "auto",
    max_total_tokens: MaxTotalTokens = None,
    max_cost: MaxCost = None,
    max_seconds: MaxSeconds = None,
    max_failures: MaxFailures = 10,
    max_episode_tokens: MaxEpisodeTokens = None,
    retries: Retries = 4,
    record: Annotated[
        bool, typer.Option("--record", help="Keep every model call in the run folder.")
    ] = False,
    replay: Annotated[
        Path | None, typer.Option(help="Answer model calls from this recorded run alone.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(help="Answer model calls from this file, and add new ones.")
    ] = None,
    kinds: Annotated[bool, typer.Option("--kinds", help="Break the table down by kind.")] = False,
    as_json: Json = False,
) -> None:
    """Evaluate an agent on environments or a suite.

    What finishes is kept at once: the same command again goes on where it was stopped.
    [dim]Examples:[/dim]

      agentgym eval expert --suite quick

      agentgym eval openai:gpt-4o-mini --env textcraft --env wordle --tasks 20 -o temperature=0

      agentgym eval openai:MODEL -o base_url=http://localhost:8000/v1 --format function_calling

      agentgym eval my_package.agents:MyAgent --env maze --attempts 4
    """
    from agentgym.agenteval import evaluate as run_evaluation
    from agentgym.agents.build import build_agent
    from agentgym.cli.interrupts import Interrupts
    from agentgym.cli.progress import RunDisplay

    envs = _environments(env, suite, edition, split, max_rounds, key_values(env_option))
    player = build_agent(agent, **key_values(option))
    if agent == "human":  # one game at a time, in this thread, with the screen to itself
        concurrency, executor = 1, "inline"
    began = time.time()
    screen = err()  # one console, or a message would be painted over by the live display
    display = RunDisplay(screen, quiet=agent == "human")
    interrupts = Interrupts(
        display,
        screen,
        at_once=agent == "human",
        parting=lambda: _stopped_text(run, began),
    )
    try:
        with display, interrupts:
            result = run_evaluation(
                player,
                envs,
                edition=edition,
                split=split,
                tasks=tasks,
                task_ids=task,
                attempts=attempts,
                seed=seed,
                action_format=action_format,
                run=run,
                concurrency=concurrency,
                executor=executor,
                limits=limits_of(max_total_tokens, max_cost, max_seconds, max_failures,
                                 max_episode_tokens, retries),
                record=record,
                replay=replay,
                cache=cache,
                on_event=interrupts,
            )  # fmt: skip
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(_stopped_text(run, began)) from stop
    finally:
        player.close()
    if as_json:
        print_json({"run": str(result.path), **result.report.model_dump(mode="json")})
    else:
        _show(result, kinds)
    if not result.complete or result.report.stopped:
        fail(f"the run is not complete. Go on with: {command_line()}")
    if result.episodes and all(episode.status == "failed" for episode in result.episodes):
        fail("every episode failed; the note under the table says why")


def _environments(
    names: Sequence[str] | None,
    suite: str | None,
    edition: str,
    split: str,
    max_rounds: int | None,
    options: dict[str, Any],
) -> Selection:
    """Return the environments to play, with the options given for all of them."""
    if names and suite:
        raise InvalidConfig("--env and --suite exclude each other; choose one")
    from agentgym.agenteval import select
    from agentgym.rollout import EnvChoice

    chosen = select(list(names) if names else suite or "quick", edition=edition, split=split)
    update = {"max_rounds": max_rounds, "options": options}
    # Made anew and not copied, which would let through an option that may not be one.
    choices = tuple(EnvChoice(**{**dict(choice), **update}) for choice in chosen.choices)
    return dataclasses.replace(chosen, choices=choices)


def _show(result: Evaluation, kinds: bool) -> None:
    from agentgym.agenteval import report_table, runs_table

    screen = out()
    if screen.width >= TABLE_WIDTH or kinds:
        screen.print(report_table(result.report, kinds=kinds))
    else:  # two narrow tables instead of one whose numbers are cut off
        screen.print(runs_table([result.report], metric="success"))
        screen.print(runs_table([result.report], metric="score"))
    screen.print(f"\nThe run lies in {result.path} (report.md, episodes.jsonl)", markup=False)
    path = shlex.quote(str(result.path))
    screen.print(
        "Next:\n"
        f"  agentgym compare {path} OTHER_RUN\n"
        f"  agentgym leaderboard paper --run {path}\n"
        f"  agentgym replay {path} --show",
        markup=False,
        style="dim",
    )


def _stopped_text(run: Path | None, began: float) -> str:
    folder = run or _newest_run(began)
    where = f" What had finished is in {folder}." if folder else ""
    return f"Stopped.{where} Go on with: {command_line()}"


def _newest_run(began: float) -> Path | None:
    """Return the folder under runs/ whose configuration was written since this command began."""
    from agentgym.agenteval.folder import RUNS
    from agentgym.rollout.store import CONFIG

    times = {p.parent: p.stat().st_mtime for p in Path(RUNS).glob(f"*/{CONFIG}")}
    recent = [folder for folder, when in times.items() if when >= began]
    return max(recent, key=lambda folder: times[folder], default=None)


def command_line() -> str:
    """Return the command as it was typed."""
    return shlex.join(["agentgym", *sys.argv[1:]])
