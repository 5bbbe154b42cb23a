"""`agentgym collect`: play tasks and keep the trajectories to learn from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from agentgym.cli.console import err, out, print_json
from agentgym.cli.evaluate import command_line
from agentgym.cli.options import (
    AgentOptions,
    Concurrency,
    Edition,
    Executor,
    Format,
    Json,
    MaxCost,
    MaxFailures,
    MaxRounds,
    MaxSeconds,
    MaxTotalTokens,
    Options,
    Split,
    key_values,
    limits_of,
)


def collect(
    env: Annotated[list[str], typer.Argument(help="One or more environments.")],
    to: Annotated[
        Path,
        typer.Option("--out", help="The file: .jsonl, .json (also .gz), .parquet, or a folder."),
    ],
    agent: Annotated[str, typer.Option("--agent", "-a", help="Who plays.")] = "expert",
    layout: Annotated[
        str, typer.Option(help="episodes (everything), published, evaluation or messages.")
    ] = "episodes",
    edition: Edition = "mini",
    split: Split = "train",
    tasks: Annotated[
        int | None, typer.Option("--tasks", "-n", min=1, help="Tasks of each; else all.")
    ] = None,
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="Just this task; may be repeated.")
    ] = None,
    attempts: Annotated[int, typer.Option("--attempts", "-k", min=1, help="Times a task.")] = 1,
    seed: Annotated[int, typer.Option(min=0, help="Everything random follows from it.")] = 0,
    keep: Annotated[
        str | None, typer.Option(help="success, completed or all; else as fits the agent.")
    ] = None,
    action_format: Format = "react",
    run: Annotated[
        Path | None, typer.Option("--run", help="A run folder, to go on in after an interruption.")
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
    as_json: Json = False,
) -> None:
    """Collect trajectories: by default the expert's, with its reasons, of every train task.

    [dim]Examples:[/dim]

      agentgym collect textcraft --out textcraft.jsonl

      agentgym collect maze wordle --tasks 100 --out sft.json --layout published

      agentgym collect maze --agent openai:MODEL --keep success --run runs/maze --out maze.parquet
    """
    from agentgym.agents.build import build_agent
    from agentgym.cli.interrupts import Interrupts
    from agentgym.cli.progress import RunDisplay
    from agentgym.trajectories.collect import describe_left_out, gather
    from agentgym.trajectories.store import write

    _check_target(to, layout)
    player = build_agent(agent, **key_values(option))
    try:
        screen = err()
        with RunDisplay(screen) as display, Interrupts(display, screen) as interrupts:
            kept, left_out = gather(
                env,
                player,
                split=split,
                edition=edition,
                tasks=tasks,
                task_ids=task,
                attempts=attempts,
                seed=seed,
                action_format=action_format,
                max_rounds=max_rounds,
                options=key_values(env_option),
                keep=keep,
                run=run,
                concurrency=concurrency,
                executor=executor,
                limits=limits_of(max_total_tokens, max_cost, max_seconds, max_failures, None, 4),
                on_event=interrupts,
            )
    except KeyboardInterrupt as stop:
        hint = f"Go on with: {command_line()}" if run else "With --run FOLDER it could be resumed."
        raise KeyboardInterrupt(f"Stopped. {hint}") from stop
    finally:
        player.close()
    card = write(kept, to, layout=layout)
    if left_out:
        err().print(describe_left_out(left_out, len(kept) + len(left_out)), style="yellow",
                    markup=False, soft_wrap=True)  # fmt: skip
    if as_json:
        print_json({"path": str(to), "left_out": len(left_out), **card.model_dump(mode="json")})
        return
    rounds = sum(episode.rounds for episode in kept)
    out().print(
        f"{len(kept)} trajectories with {rounds} rounds in {to} (digest {kept.digest[:12]})",
        markup=False,
    )


def _check_target(path: Path, layout: str) -> None:
    """Find out before anything is played whether the result could be written."""
    from agentgym.trajectories.files import find_format_of
    from agentgym.trajectories.store import LAYOUTS, UnknownLayout

    if layout not in LAYOUTS:
        raise UnknownLayout("layout", layout, LAYOUTS)
    if path.suffix:
        find_format_of(path)
