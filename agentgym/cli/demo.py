"""`agentgym demo`: three agents, every installed environment, one table, in minutes.

The agents are the upper line (the expert), the lower line (random actions) and a real language
model small enough for two cores. Each is an ordinary evaluation of the quick suite with its own run
folder, made by the same functions as `agentgym eval`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentgym.cli.console import err, out
from agentgym.cli.models import bring

if TYPE_CHECKING:
    from agentgym.agenteval import Evaluation

MODEL = "smollm2"


def demo(
    tasks: Annotated[
        int | None, typer.Option("--tasks", "-n", min=1, help="Tasks of each environment.")
    ] = None,
    model: Annotated[
        bool, typer.Option(help="Also evaluate the small language model (93 MB).")
    ] = True,
) -> None:
    """Evaluate an expert, a random agent and a small language model, and print the table.

    Under ten minutes on two cores; needs the extras envs and llamacpp.
    """
    from agentgym.agenteval import runs_table

    agents = ["expert", "random", *([f"llamacpp:{MODEL}"] if model else [])]
    if model:
        bring(MODEL)
    results = [_evaluate(agent, tasks, i, len(agents)) for i, agent in enumerate(agents, 1)]
    screen = out()
    screen.print()
    screen.print(runs_table([r.report for r in results]))
    screen.print("\nThe runs, each with its report and every episode:")
    for result in results:
        screen.print(f"  {result.path}", markup=False)
    last, first = results[-1].path, results[0].path
    screen.print("\nWhat to type next (after: source .venv/bin/activate):")
    for line in (
        "agentgym play textcraft              play it yourself; :hint asks the expert",
        f"agentgym replay {last} --show    what the model said, step by step",
        f"agentgym compare {first} {last}",
        "agentgym eval openai:MODEL -o base_url=URL --suite quick    your own model",
    ):
        screen.print(f"  {line}", markup=False)


def _evaluate(agent: str, tasks: int | None, number: int, of: int) -> Evaluation:
    from agentgym.agenteval import evaluate
    from agentgym.cli.progress import RunDisplay

    screen = err()
    screen.print(f"[bold]{number}/{of}[/bold] {agent} on the quick suite …")
    display = RunDisplay(screen)
    with display:
        result = evaluate(agent, "quick", tasks=tasks, on_event=display)
    seconds = sum(e.duration for e in result.episodes)
    screen.print(
        f"    {len(result.episodes)} episodes, {sum(e.rounds for e in result.episodes)} rounds, "
        f"{seconds:.0f} s of play"
    )
    return result
