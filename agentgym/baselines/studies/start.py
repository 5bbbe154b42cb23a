"""What the arms of a model begin with: its weights, and the demonstrations as it would say them.

A model from scratch is too small for prose: it reads every environment of the profile through the
compact prompt, a word a token, and replies with bare actions; its demonstrations are the experts'
without their thoughts. It is made once and kept, so that all arms begin with the same weights. A
pretrained model is taken as it is, and so are its demonstrations.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentgym.baselines.bc import at_folder
from agentgym.baselines.checkpoints import is_main, wait_for
from agentgym.baselines.config import SCRATCH, EnvTasks, ModelConfig
from agentgym.baselines.demonstration.start import bare
from agentgym.baselines.examples import DataConfig, env_choice, example_of, expert_episodes
from agentgym.baselines.studies.prompt import compact_prompt
from agentgym.baselines.studies.settings import StudySettings
from agentgym.core import make
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.plan import plan
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.store import read, write

BASE = "untrained"
"""The folder of a model from scratch."""


@dataclass(frozen=True, slots=True)
class Start:
    """What the arms of one model begin with.

    Attributes:
        model: the model.
        base: the initial demonstrations.
        large: demonstrations of all that is explored.
        named: what the profile calls the model.
    """

    model: ModelConfig
    base: DataConfig
    large: DataConfig
    named: str


def planned(settings: StudySettings, model: ModelConfig) -> Start:
    """Return what arms begin with before anything is made, for a plan."""
    return Start(model, settings.base, settings.large, model.name)


def prepare(settings: StudySettings, model: ModelConfig, folder: Path) -> Start:
    """Make what is not there yet and return it.

    Args:
        settings: the profile.
        model: one of its models.
        folder: where the model's arms lie.

    Raises:
        InvalidConfig: if an environment has no compact prompt and the model needs one.
    """
    if model.name != SCRATCH:
        return planned(settings, model)
    base, large = folder / "base.jsonl", folder / "large.jsonl"
    place = folder / BASE
    if is_main():
        _demonstrate(settings.base, base, settings.seed)
        _demonstrate(settings.large, large, settings.seed)
        if not place.exists():
            _make(settings, model, large if large.exists() else base, place)
    wait_for(place)
    return Start(
        at_folder(model, place),
        _from(settings.base, base),
        _from(settings.large, large) if settings.large.expert else settings.large,
        model.name,
    )


def _demonstrate(data: DataConfig, file: Path, seed: int) -> None:
    """Have the experts play, without thoughts."""
    if not data.expert or file.exists():
        return
    played = [bare(e) for tasks in data.expert for e in expert_episodes(tasks, seed=seed)]
    file.parent.mkdir(parents=True, exist_ok=True)
    write(TrajectoryDataset(played), file)


def _from(data: DataConfig, file: Path) -> DataConfig:
    """Return demonstrations as they are on file."""
    return data.model_copy(update={"files": (*data.files, file), "expert": ()})


def _make(settings: StudySettings, model: ModelConfig, demos: Path, place: Path) -> None:
    """Make the model: words of everything it reads in training, weights of the seed."""
    from agentgym.baselines.demonstration.words import PHRASES, word_tokenizer
    from agentgym.baselines.model import Policy, make_model, save_policy

    tasks = (*settings.base.expert, *settings.large.expert)
    if not settings.base.expert:
        raise InvalidConfig(
            "a model from scratch is made for environments whose expert demonstrates: name them in "
            "base.expert, or name a pretrained model (models.0.name)"
        )
    envs = {one.env: one for one in tasks}
    template = compact_prompt(list(envs.values()))
    phrases = "|".join(PHRASES[env] for env in envs if env in PHRASES)
    episodes = read(demos)
    talks: list[Any] = [list(example_of(episode).messages) for episode in episodes]
    talks += [talk for one in tasks for talk in _openings(one)]
    actions = [step.action or "" for episode in episodes for step in episode.steps]
    tokenizer = word_tokenizer([*_render(talks, template), *actions], template, phrases)
    made = make_model(model.scratch, tokenizer, seed=settings.seed)
    save_policy(Policy(made, tokenizer, BASE), place)


def _render(talks: Sequence[Any], template: str) -> list[str]:
    from transformers.utils.chat_template_utils import render_jinja_template

    rendered, _ = render_jinja_template(conversations=list(talks), chat_template=template)
    return [str(text) for text in rendered]


def _openings(tasks: EnvTasks) -> Iterator[list[dict[str, str]]]:
    """Yield how conversations about some tasks begin."""
    choice = env_choice(tasks)
    env = make(choice.env_id, **choice.make_arguments())
    try:
        for job in plan([choice], tasks=tasks.tasks):
            observation, _ = env.reset(seed=job.seed, options={"task_id": job.task.id})
            yield [
                {"role": "user", "content": str(env.get_wrapper_attr("instructions"))},
                {"role": "assistant", "content": ""},
                {"role": "user", "content": observation},
            ]
    finally:
        env.close()
