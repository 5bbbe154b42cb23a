"""`agentgym play`: play a task yourself, or watch an agent play it."""

from __future__ import annotations

import itertools
import secrets
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentgym.cli.options import AgentOptions, Edition, Options, Split, key_values

if TYPE_CHECKING:
    from agentgym.agents.base import ChatAgent
    from agentgym.agents.screen import Screen
    from agentgym.core import TextEnv
    from agentgym.rollout.episode import Episode
    from agentgym.rollout.events import Listener
    from agentgym.rollout.plan import EnvChoice


def play(
    name: Annotated[str, typer.Argument(metavar="ENV", help="The environment (textcraft).")],
    task: Annotated[
        str | None, typer.Option("--task", "-t", help="The task (textcraft_12); else any.")
    ] = None,
    edition: Edition = "mini",
    split: Split = "eval",
    seed: Annotated[
        int | None, typer.Option(min=0, help="Picks the task and what is random in it.")
    ] = None,
    agent: Annotated[
        str, typer.Option("--agent", "-a", help="human, or who to watch: expert, openai:MODEL, …")
    ] = "human",
    step: Annotated[bool, typer.Option("--step", help="Wait for Enter after every move.")] = False,
    max_rounds: Annotated[int | None, typer.Option(min=1, help="Rounds allowed.")] = None,
    action_format: Annotated[
        str, typer.Option("--format", help="react, function_calling or code_as_action.")
    ] = "react",
    save: Annotated[Path | None, typer.Option(help="Write the game to this JSON file.")] = None,
    option: AgentOptions = None,
    env_option: Options = None,
) -> None:
    """Play a task in the terminal, or watch an agent play it.

    [dim]Examples:[/dim]

      agentgym play textcraft

      agentgym play babyai --task babyai_12 --agent expert --step

      agentgym play wordle --agent openai:gpt-4o-mini
    """
    from agentgym.agents.screen import Screen
    from agentgym.cli.console import out
    from agentgym.core import make, portable_id
    from agentgym.rollout.plan import EnvChoice

    env_id = portable_id(name)
    choice = EnvChoice(
        env_id=env_id, edition=edition, split=split, max_rounds=max_rounds,
        options=key_values(env_option),
    )  # fmt: skip
    env = make(env_id, **choice.make_arguments())
    screen = Screen(out())
    seed = secrets.randbelow(2**31) if seed is None else seed
    try:
        # Without a task the seed picks one, so that the same seed is the same game.
        _, info = env.reset(seed=seed, options={"task_id": task} if task else None)
        table = _Table(env, choice, info["task_id"], seed, screen, step and sys.stdin.isatty())
        if agent == "human":
            record, left = table.yourself()
        else:
            record, left = table.watch(agent, key_values(option), action_format), False
    finally:
        env.close()
    if save is not None:
        from agentgym.trajectories import write

        write([record], save)
        screen.note(f"Saved to {save}. To check it: agentgym replay {save}")
    again = f"agentgym play {name} --task {record.task_id} --seed {seed}"
    screen.note(f"This game again: {again}" + f" --edition {edition}" * (edition != "mini"))
    if left:
        raise typer.Exit(130)


@dataclass
class _Table:
    """Where a task is laid out to be played."""

    env: TextEnv
    choice: EnvChoice
    task_id: str
    seed: int
    screen: Screen
    wait: bool

    def yourself(self) -> tuple[Episode, bool]:
        """Let the person at the terminal play; return the record and whether Ctrl-C ended it."""
        from agentgym.cli.game import Game

        game = Game(self.env, self.choice, self.task_id, self.seed, self.screen)
        game.play()
        return game.record(), game.interrupted

    def watch(self, name: str, options: dict[str, Any], action_format: str) -> Episode:
        """Show an agent playing and return the record."""
        from agentgym.agents.base import Agent
        from agentgym.agents.build import build_agent
        from agentgym.cli.game import Game

        agent = build_agent(name, **options)
        try:
            _, info = self.env.reset(seed=self.seed, options={"task_id": self.task_id})
            assert self.env.task is not None
            self.screen.rules(self.env.instructions)
            self.screen.opening(self.env.title, self.task_id, info["goal"], self.env.task.kind)
            if not isinstance(agent, Agent):
                return self._watch_model(agent, action_format)
            game = Game(self.env, self.choice, self.task_id, self.seed, self.screen)
            game.watch(agent, self.pause)
            return game.record()
        finally:
            agent.close()

    def pause(self) -> None:
        """Wait for Enter, if that was asked for."""
        if self.wait:
            try:
                input("Enter for the next move ")
            except EOFError:
                raise KeyboardInterrupt("You stopped watching.") from None

    def _watch_model(self, agent: ChatAgent, action_format: str) -> Episode:
        from agentgym.cli.interrupts import Interrupts
        from agentgym.rollout.engine import rollout
        from agentgym.rollout.plan import Job

        assert self.env.task is not None
        observation, info = self.env.reset(seed=self.seed, options={"task_id": self.task_id})
        self.screen.situation(observation, info, self.env.max_rounds)
        job = Job(self.choice, self.env.task, 0, self.seed, self.seed)
        with Interrupts(self._show(), self.screen.console, at_once=True) as interrupts:
            (episode,) = rollout(
                [job], agent, action_format=action_format, concurrency=1, on_event=interrupts
            )
        if episode.failure is not None:
            self.screen.problem(f"{episode.failure.where}: {episode.failure.message}")
        self.screen.ending(
            success=episode.success,
            score=episode.score,
            rounds=episode.rounds,
            ended=not episode.truncated,
        )
        return episode

    def _show(self) -> Listener:
        from agentgym.rollout.events import CallRetried, Event, StepTaken

        rounds = itertools.count(1)

        def show(event: Event) -> None:
            if isinstance(event, CallRetried):
                self.screen.problem(f"{event.message}; again in {event.delay:.0f} s")
            elif isinstance(event, StepTaken):
                step = event.step
                self.screen.move(step.thought, step.action, step.reply)
                info = {"rounds": next(rounds), "score": step.score, "valid": step.valid}
                self.screen.situation(step.observation, info, self.env.max_rounds)
                self.pause()

        return show
