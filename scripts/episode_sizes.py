"""Measures how long the experts' episodes are, for `agentgym.baselines.costs.episodes`.

python scripts/episode_sizes.py            # twelve episodes of every environment
python scripts/episode_sizes.py maze       # of one
python scripts/episode_sizes.py maze-small # of mazes of 5 x 5
"""

from __future__ import annotations

import sys
from statistics import mean

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.costs.episodes import PLAYS
from agentgym.baselines.examples import expert_episodes

EPISODES = 12


def main(names: list[str]) -> None:
    """Print a row of the table for each environment."""
    for name in names or [*PLAYS]:
        env, _, small = name.partition("-")
        options = {"size": [5, 5]} if small else {}
        episodes = expert_episodes(EnvTasks(env=env, tasks=EPISODES, options=options))
        steps = [step for episode in episodes for step in episode.steps]
        prompt = mean(
            len(e.instructions) + len(e.acknowledgement) + len(e.observation) for e in episodes
        )
        observation = mean(len(step.observation) for step in steps)
        reply, rounds = mean(len(step.reply) for step in steps), mean(e.rounds for e in episodes)
        print(
            f"{name}: prompt {prompt:.0f}, observation {observation:.0f}, reply {reply:.0f}, "
            f"rounds {rounds:.1f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
