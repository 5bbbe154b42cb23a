"""`agentgym demo`: three agents, every installed environment, one table, in minutes.

The agents are the upper line (the expert), the lower line (random actions) and a real language
model small enough for two cores. Each is an ordinary evaluation of the quick suite with its own run
folder, made by the same functions as `agentgym eval`.

All three play the same tasks. The model is the slow one, so it has a bound of its own: so many
tokens in all, shared out evenly. What an environment gets therefore shrinks as more of them are
installed, and the time does not grow. An episode that meets its bound keeps the score it has and is
counted below the table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from agentgym.cli.console import err, out
from agentgym.cli.models import bring

if TYPE_CHECKING:
    from agentgym.agenteval import Evaluation, Selection

MODEL = "smollm2"
TASKS = 2
MODEL_TOKENS = 120_000
"""What the model may read and write for `TASKS` tasks of every environment, together."""

# One conversation at a time: the next episode of an environment then finds its instructions read,
# which on two cores is worth more than batching. A thought and an action fit in a short reply.
MODEL_OPTIONS = {"parallel": 1, "context": 4096, "max_tokens": 40, "stop": ["\nObservation"]}


def demo(
    tasks: Annotated[
        int, typer.Option("--tasks", "-n", min=1, help="Tasks of each environment.")
    ] = TASKS,
    model: Annotated[
        bool, typer.Option(help="Also evaluate the small language model (93 MB).")
    ] = True,
) -> None:
    """Evaluate an expert, a random agent and a small language model, and print the table.

    Under ten minutes on two cores; more tasks take longer. Needs the extras envs and llamacpp.
    """
    from agentgym.agenteval import runs_table, select

    names = ["expert", "random", *([f"llamacpp:{MODEL}"] if model else [])]
    if model:
        bring(MODEL)
    suite = select("quick")
    results = [
        _evaluate(name, suite, tasks, f"{i}/{len(names)}") for i, name in enumerate(names, 1)
    ]
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


def episode_tokens(environments: int) -> int:
    """Return how many tokens the model may read and write in an episode.

    >>> episode_tokens(5), episode_tokens(10)
    (12000, 6000)
    """
    return MODEL_TOKENS // (TASKS * max(1, environments))


def _evaluate(name: str, suite: Selection, tasks: int, step: str) -> Evaluation:
    from agentgym.agenteval import evaluate
    from agentgym.agents import ChatAgent
    from agentgym.agents.build import build_agent
    from agentgym.cli.progress import RunDisplay
    from agentgym.rollout import Limits

    screen = err()
    screen.print(f"[bold]{step}[/bold] {name} on the quick suite …")
    agent = build_agent(name, **(MODEL_OPTIONS if name.startswith("llamacpp") else {}))
    bound = episode_tokens(len(suite.choices)) if isinstance(agent, ChatAgent) else None
    if bound:
        screen.print(
            f"    the slow one: an episode ends when {bound:,} tokens are read and written"
        )
    try:
        with RunDisplay(screen) as display:
            result = evaluate(
                agent,
                suite,
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
