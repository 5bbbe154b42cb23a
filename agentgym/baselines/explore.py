"""Exploration: a policy, or any agent, plays tasks to learn from.

It is an ordinary rollout into an ordinary run folder, so it can be taken up again after a crash,
looked at, and used by another trainer. Who plays is text, as everywhere: "hf:{policy}" is the
policy of the moment in this process, "vllm:{policy}" the same on a GPU through vLLM, and
"openai:MODEL" a frozen model behind an endpoint.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, model_validator

from agentgym.agents.build import build_agent
from agentgym.baselines.checkpoints import is_main, wait_for
from agentgym.baselines.config import EnvTasks, ModelConfig, SamplingConfig, Settings
from agentgym.baselines.examples import env_choice
from agentgym.baselines.freeing import frees
from agentgym.baselines.progress import EpisodeLines, Say
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.engine import rollout
from agentgym.rollout.episode import Episode
from agentgym.rollout.limits import Limits
from agentgym.rollout.plan import MOST_ATTEMPTS, Job, plan
from agentgym.rollout.store import RunFolder

POLICY = "{policy}"
WHOLE = "whole"

_OPTIONS = {
    "hf": ("temperature", "top_p", "max_tokens", "max_batch"),
    "vllm": ("temperature", "top_p", "max_tokens"),
    "llamacpp": ("temperature", "top_p", "max_tokens"),
    "openai": ("temperature", "top_p", "max_tokens"),
}
"""What of `SamplingConfig` each kind of agent takes."""


class ExploreConfig(Settings):
    """What is played, by whom and how often.

    Attributes:
        agent: who plays; "{policy}" stands for the folder of the policy of the moment.
        options: further options of the agent.
        envs: the tasks.
        samples: how often each task is played (the paper's K).
        sampling: how a model plays.
        gpu_memory: "vllm:" part of the GPU's memory that is vLLM's; None leaves it to vLLM (0.9).
        failures: failed episodes in a row after which the run stops, since something is broken.
    """

    agent: str = "hf:{policy}"
    options: dict[str, Any] = Field(default_factory=dict)
    envs: tuple[EnvTasks, ...] = ()
    samples: int = Field(1, ge=1, le=MOST_ATTEMPTS)
    sampling: SamplingConfig = SamplingConfig(temperature=1.0)
    gpu_memory: float | None = Field(None, gt=0, lt=1)
    failures: int | None = Field(10, ge=1)

    @model_validator(mode="after")
    def _check(self) -> ExploreConfig:
        """Refuse to draw the same episode several times."""
        kind = self.agent.partition(":")[0]
        if self.samples > 1 and kind == "expert":
            raise ValueError(
                f"an expert plays a task the same way each time, so {self.samples} samples are one "
                f"sample {self.samples} times: set explore.samples to 1, or let a policy explore "
                "(explore.agent)"
            )
        if self.samples > 1 and kind in _OPTIONS and self.sampling.temperature == 0:
            raise ValueError(
                f"{self.samples} samples at temperature 0 are one sample {self.samples} times: "
                "raise sampling.temperature or set samples to 1"
            )
        return self


def explore(
    config: ExploreConfig,
    policy: Path | str,
    folder: Path,
    say: Say,
    *,
    seed: int = 0,
    model: ModelConfig | None = None,
    only: Mapping[str, Sequence[str]] | None = None,
) -> list[Episode]:
    """Play the tasks and return the record of every attempt, in the plan's order.

    Args:
        config: what is played, by whom and how often.
        policy: folder of the policy of the moment.
        folder: the run folder; the same call again goes on in it.
        say: takes lines of progress.
        seed: decides the episodes and what is sampled.
        model: how the policy is loaded, and what its chat template needs.
        only: play just these task ids, by environment id.

    Raises:
        InvalidConfig: if nothing is to be played, or the folder holds another run.
        BudgetExceeded: if too many episodes failed in a row.
    """
    jobs = plan_jobs(config, seed=seed, only=only)
    if is_main() and not (folder / WHOLE).exists():
        _play(config, jobs, policy, folder, say, seed=seed, model=model or ModelConfig())
        (folder / WHOLE).touch()
    wait_for(folder / WHOLE)
    records = {episode.key: episode for episode in RunFolder.open(folder).episodes()}
    return [records[job.key] for job in jobs]


def plan_jobs(
    config: ExploreConfig, *, seed: int = 0, only: Mapping[str, Sequence[str]] | None = None
) -> list[Job]:
    """Return the episodes that are to be played.

    Raises:
        InvalidConfig: if there are none, or an environment is named twice.
    """
    jobs: list[Job] = []
    for tasks in config.envs:
        choice = env_choice(tasks)
        ids = None if only is None else only.get(choice.env_id, ())
        if ids is not None and not ids:
            continue
        count = None if ids is not None else tasks.tasks
        jobs += plan([choice], tasks=count, task_ids=ids, attempts=config.samples, seed=seed)
    if not jobs:
        raise InvalidConfig("there is nothing to explore: name environments in explore.envs")
    twice = [key for key, count in Counter(job.key for job in jobs).items() if count > 1]
    if twice:
        name = twice[0].partition("|")[0]
        raise InvalidConfig(f"explore.envs names tasks of {name} twice; name each one once")
    return jobs


def describe_agent(config: ExploreConfig) -> str:
    """Return who explores as text."""
    return config.agent.replace(POLICY, "the policy")


@frees
def _play(
    config: ExploreConfig,
    jobs: Sequence[Job],
    policy: Path | str,
    folder: Path,
    say: Say,
    *,
    seed: int,
    model: ModelConfig,
) -> None:
    sampling = config.sampling
    with RunFolder.create(folder, _record(config, seed)) as run:
        agent = build_agent(
            config.agent.replace(POLICY, str(policy)), **agent_options(config, model)
        )
        try:
            rollout(
                jobs,
                agent,
                action_format=sampling.action_format,
                run=run,
                concurrency=sampling.concurrency,
                executor=sampling.executor,
                limits=Limits(failures=config.failures),
                on_event=EpisodeLines(say, "exploring", agent),
            )
        finally:
            agent.close()


def agent_options(config: ExploreConfig, model: ModelConfig | None = None) -> dict[str, Any]:
    """Return the options of who explores.

    Args:
        config: the exploration.
        model: how the policy is loaded; None for as its files are.

    Raises:
        InvalidConfig: if who explores cannot be given the policy's chat template.
    """
    model = model or ModelConfig()
    kind = config.agent.partition(":")[0]
    options = {name: getattr(config.sampling, name) for name in _OPTIONS.get(kind, ())}
    if kind == "hf":
        options |= {"device": model.device, "dtype": model.dtype}
    if kind in ("hf", "vllm") and model.template_options:
        options["template_options"] = model.template_options
    template = given_template(config, model)
    if template is not None:
        options["chat_template"] = template.read_text(encoding="utf-8")
    if kind == "vllm" and config.gpu_memory is not None:
        given = config.options.get("engine", {})
        engine = {"gpu_memory_utilization": config.gpu_memory, **given}
        return {**options, **config.options, "engine": engine}
    return {**options, **config.options}


def given_template(config: ExploreConfig, model: ModelConfig) -> Path | None:
    """Return the file of the chat template the policy of the moment plays with, if not its own.

    Raises:
        InvalidConfig: if who explores cannot be given one.
    """
    kind = config.agent.partition(":")[0]
    if model.chat_template is None or POLICY not in config.agent:
        return None
    if kind != "hf":
        raise InvalidConfig(
            f"explore.agent={config.agent} would play with the model's own chat template and not "
            f"with model.chat_template={model.chat_template}: explore with hf:{POLICY}, or save "
            "the model with that template"
        )
    return model.chat_template


def _record(config: ExploreConfig, seed: int) -> dict[str, Any]:
    """Return the run folder's configuration: what decides an episode, and how it was played."""
    settings = config.model_dump(mode="json")
    sampling = settings.pop("sampling")
    execution = {k: sampling.pop(k) for k in ("max_batch", "concurrency", "executor")}
    gpu_memory = settings.pop("gpu_memory")
    execution |= {} if gpu_memory is None else {"gpu_memory": gpu_memory}
    return {
        "name": "exploration",
        "agent": {"name": describe_agent(config)},
        **{k: v for k, v in settings.items() if k not in ("agent", "failures")},
        "spec": config.agent,
        "sampling": sampling,
        "seed": seed,
        "execution": {**execution, "failures": config.failures},
    }
