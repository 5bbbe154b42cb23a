"""What every arm of a seed begins with: the demonstrations, and a model without training.

The prompt is compact so that half a million weights have a chance: an environment's template
(`templates/`) writes an observation as a few words, and a reply is the bare action, as the react
format allows. The environment stays as it is registered, and all arms read the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import resources
from pathlib import Path
from typing import Any

from agentgym.baselines.config import EnvTasks
from agentgym.baselines.demonstration.experiment import PACKAGE, EnvSettings
from agentgym.baselines.examples import env_choice, example_of, expert_episodes
from agentgym.core import make
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from agentgym.rollout.plan import plan
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.store import write

DEMOS = "demonstrations.jsonl"
BASE = "base"


def prepare(setting: EnvSettings, folder: Path, *, seed: int) -> tuple[Path, Path]:
    """Make the demonstrations and the untrained model of a seed, unless they are there.

    Args:
        setting: the environment.
        folder: where they go.
        seed: decides the model's weights.

    Returns:
        The file of demonstrations and the model's folder.

    Raises:
        InvalidConfig: if there is no template for the environment.
    """
    from agentgym.baselines.demonstration.words import PHRASES, word_tokenizer
    from agentgym.baselines.model import Policy, make_model, save_policy

    demos, base = folder / DEMOS, folder / BASE
    if not demos.exists():
        episodes = expert_episodes(setting.tasks("train", setting.demos))
        demos.parent.mkdir(parents=True, exist_ok=True)
        write(TrajectoryDataset([bare(episode) for episode in episodes]), demos)
    if not base.exists():
        template = template_of(setting.env)
        phrases = PHRASES.get(setting.env, "")
        tokenizer = word_tokenizer(_texts(setting, template), template, phrases)
        model = make_model(setting.model, tokenizer, seed=seed)
        save_policy(Policy(model, tokenizer, BASE), base)
    return demos, base


def bare(episode: Episode) -> Episode:
    """Return an episode whose replies are actions without thoughts.

    The expert's reasons draw on what an agent cannot see; a small model would learn to invent them.
    How long it took goes too: without it the same demonstrations are the same file.
    """
    steps = [s.model_copy(update={"reply": s.action or "", "thought": ""}) for s in episode.steps]
    return episode.model_copy(update={"steps": tuple(steps), "duration": 0.0})


def template_of(env: str) -> str:
    """Return the compact chat template of an environment.

    Raises:
        InvalidConfig: if there is none.
    """
    folder = resources.files(PACKAGE) / "templates"
    known = sorted(f.name.removesuffix(".jinja") for f in folder.iterdir())
    if env not in known:
        raise InvalidConfig(
            f"there is no compact prompt for {env!r}; there are those of {', '.join(known)}"
        )
    return (folder / f"{env}.jinja").read_text(encoding="utf-8")


def _texts(setting: EnvSettings, template: str) -> list[str]:
    """Return what a model reads in training: demonstrations, and how train tasks begin."""
    episodes = [bare(e) for e in expert_episodes(setting.tasks("train", setting.demos))]
    talks: list[Any] = [list(example_of(episode).messages) for episode in episodes]
    talks += [_begun(text) for text in _openings(setting.tasks("train", setting.wide))]
    actions = [step.action or "" for episode in episodes for step in episode.steps]
    return [*_render(talks, template), *actions]


def _render(talks: list[Any], template: str) -> list[str]:
    from transformers.utils.chat_template_utils import render_jinja_template

    rendered, _ = render_jinja_template(conversations=talks, chat_template=template)
    return [str(text) for text in rendered]


def _begun(observation: str) -> list[dict[str, str]]:
    return [
        {"role": "user", "content": ""},
        {"role": "assistant", "content": ""},
        {"role": "user", "content": observation},
    ]


def _openings(tasks: EnvTasks) -> Iterator[str]:
    choice = env_choice(tasks)
    env = make(choice.env_id, **choice.make_arguments())
    try:
        for job in plan([choice], tasks=tasks.tasks):
            yield env.reset(seed=job.seed, options={"task_id": job.task.id})[0]
    finally:
        env.close()
