"""One game at the terminal: the loop behind `agentgym play`.

It keeps a snapshot before every move, so that a person can take moves back, and the record of the
game, so that it can be saved and verified like any other episode.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentgym.agents.base import Agent
from agentgym.agents.human import HumanAgent, Left, ReadLine, Retake
from agentgym.agents.screen import Screen
from agentgym.core import AgentGymError, TextEnv
from agentgym.rollout.episode import Episode, Failure, Step
from agentgym.rollout.formats import find_format
from agentgym.rollout.plan import EnvChoice
from agentgym.rollout.profile import EnvProfile


class Game:
    """One task, played by a person or by an agent that is watched.

    Args:
        env: the environment.
        choice: what it was made from, for the record.
        task_id: the task.
        seed: the episode's seed.
        screen: where it is shown.
    """

    def __init__(
        self, env: TextEnv, choice: EnvChoice, task_id: str, seed: int, screen: Screen
    ) -> None:
        self.env, self.choice, self.task_id, self.seed = env, choice, task_id, seed
        self.screen = screen
        self.interrupted = False
        self._name = ""
        self._before: list[tuple[dict[str, Any], tuple[str, dict[str, Any]]]] = []
        self._steps: list[Step] = []
        self._ended = (False, False)
        self._now = env.reset(seed=seed, options={"task_id": task_id})
        self._first = self._now[0]

    def play(self, read: ReadLine | None = None) -> None:
        """Let a person play, to the end or until they leave; after Ctrl-C, `interrupted` is True.

        Args:
            read: how a line is read; None is the terminal.
        """
        agent = HumanAgent(self.screen, read, {":undo": self._undo, ":save": self._save})
        self._name = agent.name
        player = agent.start(self.env, self.seed)
        try:
            while not any(self._ended):
                try:
                    self._advance("", player.act(*self._now))
                    if any(self._ended):
                        self._show_end()
                        self._afterwards(agent)
                except Retake:
                    continue
        except KeyboardInterrupt as stop:
            self.interrupted = not isinstance(stop, Left)
            rounds = self.env.rounds
            self.screen.note(
                f"\nYou left {self.task_id} after {rounds} {'round' if rounds == 1 else 'rounds'}, "
                f"score {self._now[1]['score']:.2f}."
            )

    def watch(self, agent: Agent, wait: Callable[[], None]) -> None:
        """Show an agent playing to the end.

        Args:
            agent: who plays.
            wait: called after every move but the last.
        """
        self._name = agent.name
        self.screen.situation(*self._now, self.env.max_rounds)
        player = agent.start(self.env, self.seed)
        while not any(self._ended):
            decision: Any = player.act(*self._now)
            thought, action = decision if isinstance(decision, tuple) else ("", decision)
            self.screen.move(thought, action, "The agent gave none.")
            self._advance(thought, action)
            if not any(self._ended):
                self.screen.situation(*self._now, self.env.max_rounds)
                wait()
        self._show_end()

    def record(self) -> Episode:
        """Return the record of the game so far."""
        task, info = self.env.task, self._now[1]
        assert task is not None
        profile = self._profile()
        layout = find_format("react")
        left = Failure(where="agent", type="Left", message="the player stopped here")
        return Episode(
            env_id=profile.env_id,
            edition=profile.edition,
            tasks_digest=profile.tasks_digest,
            task_id=task.id,
            kind=task.kind,
            split=task.split,
            seed=self.seed,
            max_rounds=profile.max_rounds,
            env_options=dict(profile.options),
            agent=self._name,
            instructions=layout.instructions(profile),
            acknowledgement=layout.acknowledgement,
            goal=info["goal"],
            observation=self._first,
            steps=tuple(self._steps),
            score=info["score"],
            success=info["success"],
            terminated=self._ended[0],
            truncated=self._ended[1],
            status="completed" if any(self._ended) else "limit",
            failure=None if any(self._ended) else left,
        )

    def _advance(self, thought: str, action: str | None) -> None:
        self._before.append((self.env.get_state(), self._now))
        answer = self.env.step(action) if action is not None else self.env.forfeit("No action.")
        observation, reward, terminated, truncated, info = answer
        self._now, self._ended = (observation, info), (terminated, truncated)
        said = find_format("react").write(thought, action or "", self._profile()).text
        step = Step(
            reply=said if action is not None else thought,
            thought=thought,
            action=action,
            observation=observation,
            reward=reward,
            score=info["score"],
            valid=info["valid"],
        )
        self._steps.append(step)

    def _profile(self) -> EnvProfile:
        return EnvProfile.of(self.choice.env_id, self.env, self.choice.options)

    def _show_end(self) -> None:
        info = self._now[1]
        self.screen.situation(*self._now, self.env.max_rounds)
        self.screen.ending(
            success=info["success"],
            score=info["score"],
            rounds=info["rounds"],
            ended=self._ended[0],
        )

    def _afterwards(self, agent: HumanAgent) -> None:
        """Let a person at a terminal take the last move back, or save the game."""
        while sys.stdin.isatty():
            self.screen.note("Enter to leave, or :undo, :save FILE")
            try:
                name, _, argument = agent.ask().partition(" ")
            except Left:
                return
            if name == ":undo":
                self._undo(argument)
            elif name == ":save":
                self._save(argument.strip())
            else:
                return

    def _undo(self, argument: str) -> None:
        """take the last move back"""
        if not self._before:
            self.screen.problem("There is no move to take back.")
            return
        state, self._now = self._before.pop()
        self.env.set_state(state)
        self._ended = (False, False)
        self._steps.pop()
        raise Retake

    def _save(self, argument: str) -> None:
        """:save FILE writes the game as JSON, to be read by 'agentgym replay'"""
        if not argument:
            self.screen.problem("Name a file: :save game.json")
            return
        path = Path(argument).expanduser()
        try:
            self.save(path)
        except OSError as error:
            self.screen.problem(f"{path} cannot be written: {error.strerror}")
        except (AgentGymError, ValueError) as error:  # ValueError: no path at all
            self.screen.problem(str(error))
        else:
            self.screen.note(f"Saved to {path}. To check it: agentgym replay {path}")

    def save(self, path: Path) -> None:
        """Write the record, in the format the suffix names."""
        from agentgym.trajectories import write

        write([self.record()], path)
