"""AgentEvol: explore a wider set of instructions, learn from what went well, again and again.

    exploration    D_m = K trajectories of the policy pi_m for every instruction explored
    learning       J(theta) = E over trajectories in D_m and D_s  [ R(t) log pi_theta(t) ]
                   pi_(m+1) = argmax J, beginning with the model BC began with

(AgentGym, arXiv 2406.04151: D_s are the initial demonstrations, merged in every iteration; R is
binary; M = 4, K = 1.) Read on: `weigh` is R, `best` the choice among K samples, `merge` what D_m is
merged with, `train` the loop. Each of the paper's ablations is a setting: `iterations`,
`explore.samples`, `merge`, `scope`. As shipped, the original kept the first sample of a task,
ignored K, and lost the demonstrations in one of its scripts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, model_validator

from agentgym.baselines.bc import CloningConfig, at_folder, base_model, learn
from agentgym.baselines.checkpoints import (
    MODEL,
    begin,
    conclude,
    done_before,
    is_main,
)
from agentgym.baselines.config import MANY, SCRATCH, ModelConfig, OptimConfig
from agentgym.baselines.examples import (
    Example,
    NothingToLearn,
    chat_file,
    demonstrations,
    example_of,
)
from agentgym.baselines.explore import ExploreConfig, describe_agent, explore
from agentgym.baselines.plan import plan_data, plan_exploration, plan_learning
from agentgym.baselines.progress import Say, to_stderr
from agentgym.baselines.rounds import rounds_table
from agentgym.baselines.scope import Part, limited, thresholds
from agentgym.baselines.sources import SourceReport
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import derive_seed
from agentgym.rollout.store import write_atomic
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.store import write

KEPT, EXPLORED = "kept.jsonl", "explore"
UNREAD = "no demonstrations are read: a policy is given, and the rounds are merged with none"


class AgentEvolConfig(CloningConfig):
    """Settings of AgentEvol.

    Attributes:
        data: the initial demonstrations D_s.
        bc: how the first round, BC, is optimised; None takes `optim`.
        explore: the wider set of instructions, who plays them, and K.
        iterations: rounds of exploration and learning (the paper's M).
        reward: R of a trajectory: "binary" is 1 where it is solved and leaves it out where not;
            "graded" is its score; "none" is 1 always, which filters nothing (a control).
        keep: of the K samples of a task "best" keeps one, "all" keeps every one.
        merge: what D_m is merged with: the "initial" demonstrations, what the "previous" round kept
            (the demonstrations in the first), or "none".
        start: where learning begins each time: at the "base" model BC began with, at the policy
            "bc" gave, or "continue" from the previous round's.
        scope: "broad" explores everything in `explore.envs`; "limited" of each entry the tasks that
            are demonstrated, all of them whatever its `tasks`.
        policy: a policy BC gave before (a model folder), in place of a first round of BC.
    """

    explore: ExploreConfig = Field(default_factory=ExploreConfig)
    iterations: int = Field(4, ge=1, le=MANY)
    reward: Literal["binary", "graded", "none"] = "binary"
    keep: Literal["best", "all"] = "best"
    merge: Literal["initial", "previous", "none"] = "initial"
    start: Literal["base", "bc", "continue"] = "base"
    scope: Literal["broad", "limited"] = "broad"
    policy: Path | None = None

    @property
    def cloning(self) -> OptimConfig:
        """How the first round is optimised: like the others, which clone too."""
        return self.bc or self.optim

    @property
    def demonstrated(self) -> bool:
        """Whether demonstrations are read: by BC, in a merge, for the scope or for a tokenizer."""
        made = self.start == "base" and self.model.name == SCRATCH
        return self.policy is None or self.merge != "none" or self.scope == "limited" or made

    @model_validator(mode="after")
    def _unfiltered(self) -> AgentEvolConfig:
        """Refuse a control that would filter all the same."""
        if self.reward == "none" and self.keep == "best" and self.explore.samples > 1:
            raise ValueError(
                "reward none filters nothing, but keep best keeps the best of a task's "
                f"{self.explore.samples} samples; set keep to all"
            )
        return self


@dataclass(frozen=True, slots=True)
class Weighted:
    """A trajectory and how much of it is learned.

    Attributes:
        episode: the trajectory.
        weight: R, above 0.
    """

    episode: Episode
    weight: float


def train(config: AgentEvolConfig, folder: Path, say: Say = to_stderr) -> dict[str, Any]:
    """Evolve a policy; the same call again goes on where it was cut short.

    Args:
        config: the settings.
        folder: the run's folder: `round-0` is BC, `round-M` the rounds; each holds `explore`, the
            `kept.jsonl` it learned from, and `train/model`, its policy.
        say: takes lines of progress.

    Returns:
        One row a round: what was explored, solved, kept and learned, and the evaluation.

    Raises:
        InvalidConfig: if a setting cannot be used, or the folder holds another run.
        NothingToLearn: if a round solved nothing and has nothing else to learn from.
    """
    begin(config, folder)
    done = done_before(folder, say)
    if done is not None:
        return done
    found, initial = SourceReport(), []
    if config.demonstrated:
        initial = demonstrations(config.data, seed=config.seed, say=say, report=found)
    else:
        say(UNREAD)
    chat = [example for path in config.data.chat for example in chat_file(path)]
    first = [example_of(source) for source in initial]
    begins = config.policy is None or config.start == "base"
    base = base_model(config, [*first, *chat], folder) if begins else config.model

    parts = limited(config.explore, initial) if config.scope == "limited" else []
    if parts:
        say(f"of {len(initial)} demonstrations {sum(p.count for p in parts)} tasks are explored")

    cloned, rows = _clone(config, base, [*first, *chat], found, folder / "round-0", say)
    policy, previous = cloned, first
    for m in range(1, config.iterations + 1):
        place = folder / f"round-{m}"
        say(f"round {m}: {describe_agent(config.explore)} explores")
        episodes = _explore(
            config, parts, policy, place, say, derive_seed(config.seed, "explore", m)
        )
        kept = weigh(episodes, config)
        explored = [example_of(k.episode, k.weight) for k in kept]
        data = merge(explored, first, previous, config.merge)
        if not data:
            raise NothingToLearn(
                f"round {m} solved none of {len(episodes)} episodes, and merge={config.merge!r} "
                "leaves nothing to learn from. Begin with a better policy, or merge=initial."
            )
        if is_main():
            write(TrajectoryDataset([k.episode for k in kept]), place / KEPT)
        say(f"round {m}: {len(kept)} of {len(episodes)} episodes are kept")

        start = {"base": base, "bc": at_folder(base, cloned), "continue": at_folder(base, policy)}
        stage = config.model_copy(
            update={"model": start[config.start], "seed": derive_seed(config.seed, "learn", m)}
        )
        result = learn([*data, *chat], stage, place / "train", say, per_turn=config.data.per_turn)
        rows.append(_row(m, episodes, kept, result, threshold_of(config)))
        if is_main():
            write_atomic(folder / "rounds.md", rounds_table(rows))
        policy, previous = place / "train" / MODEL, explored

    return conclude(folder, {"rounds": rows, "policy": str(policy)})


def weigh(episodes: Sequence[Episode], config: AgentEvolConfig) -> list[Weighted]:
    """Return the trajectories that are learned from, with their weights; the paper's R.

    Broken episodes (a call failed) are never learned from, whatever the reward.
    """
    threshold = threshold_of(config)
    sound = [episode for episode in episodes if episode.status != "failed"]
    weighted = [Weighted(e, reward(e, config.reward, threshold(e))) for e in sound]
    weighted = [w for w in weighted if w.weight > 0]
    return best(weighted) if config.keep == "best" else weighted


def threshold_of(config: AgentEvolConfig) -> Callable[[Episode], float | None]:
    """Return what finds the threshold of an episode."""
    return thresholds(config.explore.envs, every=config.scope == "limited")


def reward(episode: Episode, kind: str, threshold: float | None = None) -> float:
    """Return R of a trajectory, in [0, 1].

    Args:
        episode: the trajectory.
        kind: "binary", "graded" or "none".
        threshold: the score above which it counts as solved; None takes the environment's own
            success. A graded reward at or below a threshold is 0.
    """
    if kind == "none":
        return 1.0
    if kind == "graded":
        return episode.score if threshold is None or episode.score > threshold else 0.0
    solved = episode.success if threshold is None else episode.score > threshold
    return float(solved)


def best(weighted: Sequence[Weighted]) -> list[Weighted]:
    """Return the best trajectory of each task, in order of the tasks' first appearance.

    Best is the highest score; of equals the one of the fewest rounds, then of the first attempt.
    """
    found: dict[tuple[str, ...], Weighted] = {}
    for item in weighted:
        e = item.episode
        key = (e.env_id, e.edition, e.tasks_digest, e.task_id)
        if key not in found or _rank(e) < _rank(found[key].episode):
            found[key] = item
    return list(found.values())


def merge(
    explored: Sequence[Example],
    initial: Sequence[Example],
    previous: Sequence[Example],
    how: str,
) -> list[Example]:
    """Return what a round learns from: what it explored, and what it is merged with."""
    others = {"initial": initial, "previous": previous, "none": ()}[how]
    return [*explored, *others]


def plan(config: AgentEvolConfig) -> list[str]:
    """Return what `train` would do, a line each; nothing is played or loaded."""
    if config.policy is None:
        first = config.model_copy(update={"optim": config.cloning})
        lines = [
            "round 0, behavioural cloning:",
            *_in(plan_data(config.data) + plan_learning(first)),
        ]
    else:
        chat = [f"learn from general conversations in {path}" for path in config.data.chat]
        data = plan_data(config.data) if config.demonstrated else [UNREAD, *chat]
        lines = [f"begin with the policy {config.policy}", *_in(data)]
    scope = ["  of these, the tasks of the demonstrations alone"] * (config.scope == "limited")
    rounds = [
        *plan_exploration(config.explore),
        *scope,
        f"reward {config.reward}; keep {config.keep}; merge with {config.merge}; "
        f"start from {config.start}",
        *plan_learning(config),
    ]
    return [*lines, f"rounds 1 to {config.iterations}, each:", *_in(rounds)]


def _rank(episode: Episode) -> tuple[float, int, int]:
    return -episode.score, episode.rounds, episode.attempt


def _clone(
    config: AgentEvolConfig,
    base: ModelConfig,
    examples: Sequence[Example],
    found: SourceReport,
    place: Path,
    say: Say,
) -> tuple[Path, list[dict[str, Any]]]:
    """Return the policy the rounds begin with, given or of round 0, and the row of that round."""
    if config.policy is not None:
        return config.policy, []
    say("round 0: behavioural cloning")
    bc = config.model_copy(update={"model": base, "optim": config.cloning})
    per_turn = config.data.per_turn
    result = learn(examples, bc, place / "train", say, per_turn=per_turn, found=found)
    return place / "train" / MODEL, [_row(0, [], [], result)]


def _explore(
    config: AgentEvolConfig,
    parts: Sequence[Part],
    policy: Path | str,
    place: Path,
    say: Say,
    seed: int,
) -> list[Episode]:
    """Explore everything, or a limited scope: mostly one part, else `explore-2` is beside it."""
    model = at_folder(config.model, Path(policy))
    if not parts:
        return explore(config.explore, policy, place / EXPLORED, say, seed=seed, model=model)
    episodes: list[Episode] = []
    for number, part in enumerate(parts, 1):
        folder = place / (EXPLORED if number == 1 else f"{EXPLORED}-{number}")
        episodes += explore(
            part.config, policy, folder, say, seed=seed, model=model, only=part.only
        )
    return episodes


def _row(
    m: int,
    episodes: Sequence[Episode],
    kept: Sequence[Weighted],
    result: dict[str, Any],
    threshold: Callable[[Episode], float | None] = lambda _: None,
) -> dict[str, Any]:
    """Return one row of the table of rounds; solved is what the binary reward calls so."""
    count = len(episodes)
    return {
        "round": m,
        "explored": count,
        "failed": sum(e.status == "failed" for e in episodes),
        "solved": sum(reward(e, "binary", threshold(e)) > 0 for e in episodes),
        "score": sum(e.score for e in episodes) / count if count else None,
        "kept": len(kept),
        "weight": sum(k.weight for k in kept) / len(kept) if kept else None,
        "examples": result["examples"]["rows"],
        "steps": result["steps"],
        "loss": result["loss"],
        "eval": result.get("eval", {}),
    }


def _in(lines: Sequence[str]) -> list[str]:
    return [f"  {line}" for line in lines]
