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
# One conversation at a time: the next episode of an environment then finds its instructions read,
# which on two cores is worth more than batching. Short replies and a bound on each episode's tokens
# keep the whole within minutes; episodes that meet the bound keep the score they have.
MODEL_OPTIONS = {"parallel": 1, "context": 4096, "max_tokens": 48, "stop": ["\nObservation"]}
MODEL_EPISODE_TOKENS = 8_000


def demo(
    tasks: Annotated[
        int, typer.Option("--tasks", "-n", min=1, help="Tasks of each environment.")
    ] = 3,
    model: Annotated[
        bool, typer.Option(help="Also evaluate the small language model (93 MB).")
    ] = True,
) -> None:
    """Evaluate an expert, a random agent and a small language model, and print the table.

    Under ten minutes on two cores; needs the extras envs and llamacpp.
    """
    from agentgym.agenteval import runs_table

    names = ["expert", "random", *([f"llamacpp:{MODEL}"] if model else [])]
    if model:
        bring(MODEL)
    results = [_evaluate(name, tasks, f"{i}/{len(names)}") for i, name in enumerate(names, 1)]
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


def _evaluate(name: str, tasks: int, step: str) -> Evaluation:
    from agentgym.agenteval import evaluate
    from agentgym.agents import ChatAgent
    from agentgym.agents.build import build_agent
    from agentgym.cli.progress import RunDisplay
    from agentgym.rollout import Limits

    screen = err()
    screen.print(f"[bold]{step}[/bold] {name} on the quick suite …")
    agent = build_agent(name, **(MODEL_OPTIONS if name.startswith("llamacpp") else {}))
    bound = MODEL_EPISODE_TOKENS if isinstance(agent, ChatAgent) else None
    if bound:
        screen.print(
            f"    the slow one: it reads and writes up to {bound // 1000}k tokens an episode"
        )
    try:
        with RunDisplay(screen) as display:
            result = evaluate(
                agent,
                "quick",
                tasks=tasks,
                concurrency=1 if isinstance(agent, ChatAgent) else 16,
                limits=Limits(episode_tokens=bound),
                on_event=display,
            )
    finally:
        agent.close()
    seconds = sum(e.duration for e in result.episodes)
    screen.print(
        f"    {len(result.episodes)} episodes, {sum(e.rounds for e in result.episodes)} rounds, "
        f"{seconds:.0f} s of play"
    )
    return result
