"""`agentgym compare`, `leaderboard` and `replay`: what to do with runs once they are there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from agentgym.cli.console import err, out, print_json
from agentgym.cli.errors import Commands
from agentgym.cli.options import Json

if TYPE_CHECKING:
    from agentgym.agenteval.render import Metric
    from agentgym.rollout.episode import Episode

leaderboard = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=(
        "Published tables, with your runs beside them.\n\n"
        "[dim]Example:[/dim] agentgym leaderboard paper"
    ),
)


def compare(
    runs: Annotated[list[Path], typer.Argument(help="Run folders; the first is compared with.")],
    score: Annotated[bool, typer.Option("--score", help="The score instead of success.")] = False,
    as_json: Json = False,
) -> None:
    """Show runs side by side, and the difference of each to the first, paired by task.

    [dim]Example:[/dim] agentgym compare runs/random-quick-1 runs/expert-quick-1
    """
    from agentgym.agenteval import compare as compare_runs
    from agentgym.agenteval import comparison_table, load_run, runs_table

    loaded = [load_run(path) for path in runs]
    comparison = compare_runs(loaded)
    if as_json:
        print_json(comparison.model_dump(mode="json"))
        return
    metric: Metric = "score" if score else "success"
    out().print(runs_table([run.report for run in loaded], metric=metric))
    out().print(comparison_table(comparison, metric=metric))


def replay(
    source: Annotated[Path, typer.Argument(help="A run folder or a file of episodes.")],
    task: Annotated[
        list[str] | None, typer.Option("--task", "-t", help="Just this task; may be repeated.")
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="Also print each episode, round by round.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Play every recorded action again and check that all comes out as recorded.

    Ends with exit code 1 if a record is not true. No model is called.

    [dim]Examples:[/dim]

      agentgym replay runs/expert-quick-1

      agentgym replay runs/random-quick-1 --task maze_12 --show

      agentgym replay game.json
    """
    from rich.progress import track

    from agentgym.core.errors import InvalidConfig
    from agentgym.rollout.verify import Verifier
    from agentgym.trajectories import iter_episodes

    episodes = [e for e in iter_episodes(source) if not task or e.task_id in task]
    if not episodes:
        raise InvalidConfig(f"{source} holds no episodes" + (" of these tasks" if task else ""))
    if show and not as_json:
        for episode in episodes:
            _print_episode(episode)
    with Verifier() as verifier:
        screen = err()
        todo = track(episodes, "Replaying", console=screen, transient=True,
                     disable=not screen.is_terminal)  # fmt: skip
        found = [(episode, verifier.verify(episode)) for episode in todo]
    wrong = [(episode, differences) for episode, differences in found if differences]
    if as_json:
        rows = [{"key": e.key, "differences": [str(d) for d in ds]} for e, ds in wrong]
        print_json({"episodes": len(episodes), "true": len(episodes) - len(wrong), "wrong": rows})
    else:
        for episode, differences in wrong[:20]:
            out().print(Text(f"✗ {episode.key}: {differences[0]}", style="red"))
        rounds = sum(episode.rounds for episode in episodes)
        style = "red" if wrong else "green"
        verdict = f"{len(episodes) - len(wrong)} of {len(episodes)} episodes"
        out().print(Text(f"{verdict} came out as recorded ({rounds} rounds).", style=style))
    if wrong:
        raise typer.Exit(1)


def _print_episode(episode: Episode) -> None:
    from agentgym.agents.screen import Screen
    from agentgym.core import short_name

    screen = Screen(out())
    about = f"{episode.agent}, attempt {episode.attempt + 1}"
    screen.opening(short_name(episode.env_id), episode.task_id, episode.goal, about)
    screen.situation(
        episode.observation, {"rounds": 0, "score": 0.0, "valid": True}, episode.max_rounds
    )
    for number, step in enumerate(episode.steps, 1):
        screen.move(step.thought, step.action, step.reply)
        info = {"rounds": number, "score": step.score, "valid": step.valid}
        screen.situation(step.observation, info, episode.max_rounds)
    if episode.failure is not None:
        screen.problem(f"{episode.failure.where}: {episode.failure.message}")
    screen.ending(
        success=episode.success,
        score=episode.score,
        rounds=episode.rounds,
        ended=not episode.truncated,
    )


@leaderboard.command()
def paper(
    name: Annotated[
        str | None, typer.Argument(metavar="[TABLE]", help="A table's name or id; else the list.")
    ] = None,
    run: Annotated[
        list[Path] | None, typer.Option("--run", help="A run to put beside it; may be repeated.")
    ] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print Markdown.")] = False,
    as_json: Json = False,
) -> None:
    """Show the published tables, or one of them with your runs beside it.

    Runs of another edition than the published one stand in a block of their own.
    [dim]Examples:[/dim]

      agentgym leaderboard paper

      agentgym leaderboard paper agentgym-table3 --run runs/expert-agenteval-1
    """
    from agentgym.agenteval import load_run
    from agentgym.leaderboard import CATALOG, beside, catalog_table, paper_table, paper_view
    from agentgym.leaderboard.view import paper_markdown

    if name is None and not run:
        if as_json:
            print_json([{"name": e.alias, "id": e.id, "title": e.title, "paper": e.paper}
                        for e in CATALOG])  # fmt: skip
            return
        out().print(catalog_table())
        out().print("Next: agentgym leaderboard paper agentgym-table3", style="dim")
        return
    reports = [load_run(path).report for path in run or ()]
    view = beside(paper_table(name or "agentgym-table3"), reports)
    if as_json:
        print_json(view.model_dump(mode="json"))
    elif markdown:
        typer.echo(paper_markdown(view), nl=False)
    else:
        out().print(paper_view(view))


@leaderboard.callback()
def _group() -> None:
    """Keep `paper` a command of its own, however many there are."""
