"""What a run requires of its settings and of this machine, looked at before anything is made.

One walk over the settings finds everything that can be known without training, playing or a
network: files, models, environments, tasks, agents, packages. A run looks first of all (`begin`)
and stops at the first fault; a plan looks at the same and says what this machine lacks, since it
may be made for another one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel

from agentgym.agents.build import build_agent, find_agent
from agentgym.agents.openai import MissingKey
from agentgym.baselines.attention import check_attention
from agentgym.baselines.bc import BCConfig, CloningConfig, require_policy
from agentgym.baselines.config import (
    SCRATCH,
    Dtype,
    EnvTasks,
    EvalConfig,
    LoraConfig,
    ModelConfig,
    RunConfig,
    SamplingConfig,
    Settings,
)
from agentgym.baselines.costs.memory import size
from agentgym.baselines.costs.shapes import KNOWN, LINEAR, scratch_shape, shape_of
from agentgym.baselines.examples import DataConfig, chat_file, chosen, demonstrations, env_choice
from agentgym.baselines.explore import POLICY, ExploreConfig, agent_options, given_template
from agentgym.core.errors import (
    AgentGymError,
    InvalidConfig,
    MissingData,
    MissingExtra,
)
from agentgym.core.extras import installed
from agentgym.rollout.fleet import EXECUTORS, UnknownExecutor
from agentgym.rollout.formats import find_format
from agentgym.rollout.plan import plan
from agentgym.trajectories.store import read, read_items

Faults = Iterator[AgentGymError]


class MissingDevice(AgentGymError):
    """This machine has not the device a run is to be on."""


LACKING = (MissingData, MissingDevice, MissingExtra, MissingKey)
"""What another machine may have."""


def check(config: Settings) -> None:
    """Require that a run of these settings can begin on this machine.

    Raises:
        InvalidConfig: if a setting cannot be used.
        UnknownName: if it names what does not exist.
        MissingData: if it names what is not on this machine.
        MissingExtra: if a package is not installed.
        MissingDevice: if there is no such device.
    """
    for fault in faults(config):
        raise fault


def review(found: Iterable[AgentGymError], expected: Iterable[AgentGymError] = ()) -> list[str]:
    """Return what this machine lacks for a run, a line each, as plans end with.

    Args:
        found: the faults of its settings.
        expected: those of the profile the settings began with: what that names is of a machine
            that has it, so it may be missing here.

    Raises:
        InvalidConfig: if a setting cannot be used anywhere.
        UnknownName: if it names what does not exist.
    """
    known = {str(fault) for fault in expected}
    lacking: dict[str, None] = {}
    for fault in found:
        if not isinstance(fault, LACKING) and str(fault) not in known:
            raise fault
        lacking[str(fault)] = None
    return [f"not here, so the run would stop: {text}" for text in lacking]


def faults(config: BaseModel) -> Faults:
    """Yield what stands in the way of a run, the whole first and then its parts."""
    seen: set[str] = set()
    for fault in chain(_of_whole(config), _walk(config)):
        if str(fault) not in seen:
            seen.add(str(fault))
            yield fault


def _walk(node: BaseModel) -> Faults:
    """Yield the faults of every part of the settings."""
    for name in type(node).model_fields:
        value = getattr(node, name)
        for part in value if isinstance(value, tuple | list) else [value]:
            if isinstance(part, BaseModel):
                yield from _of_part(part)
                yield from _walk(part)


def _of_part(part: BaseModel) -> Faults:
    if isinstance(part, ModelConfig):
        yield from _model(part)
    elif isinstance(part, DataConfig):
        yield from _data(part)
    elif isinstance(part, EnvTasks):
        yield from tasks_faults(part)
    elif isinstance(part, EvalConfig):
        yield from _evaluation(part)
    elif isinstance(part, SamplingConfig):
        yield from _sampling(part)
    elif isinstance(part, ExploreConfig):
        yield from _explorer(part)


def _of_whole(config: BaseModel) -> Faults:
    """Yield what the settings of a trainer lack together."""
    if not isinstance(config, RunConfig):
        return
    if config.tensorboard:
        yield from _needs("tensorboard", "A curve for TensorBoard", "train")
    if config.optim.trainer:
        yield from caught(lambda: _trainer_arguments(config))
    first = getattr(config, "bc", None)  # how a first round of BC is optimised
    if first is not None and first.trainer:
        yield from caught(lambda: _require_known("SFTConfig", first.trainer, "bc.trainer"))
    yield from caught(lambda: check_attention(config))
    if not isinstance(config, BCConfig):
        return
    yield from _trainer(config)


def _trainer(config: BCConfig) -> Faults:
    from agentgym.baselines import adca_grpo, grpo
    from agentgym.baselines.agentevol import AgentEvolConfig
    from agentgym.baselines.dpo import DPOConfig, look_at_template

    if isinstance(config, AgentEvolConfig):
        yield from _policy(config.policy)
        yield from _explored(config.explore)
    elif isinstance(config, DPOConfig):
        yield from caught(lambda: require_policy(config))
        if not config.runs:
            yield from _explored(config.explore)
        if not config.runs and not config.clones:  # what BC leaves has the template in its folder
            yield from caught(lambda: given_template(config.explore, config.model))
        for path in config.runs:
            yield from _file(path, "runs", read)
        if _written_here(config.model):
            yield from caught(lambda: look_at_template(config.model))
    elif isinstance(config, adca_grpo.AdcaGRPOConfig):
        yield from caught(lambda: require_policy(config))
        yield from caught(lambda: adca_grpo.check(config))
        yield from _attribution(config)
    elif isinstance(config, grpo.GRPOConfig):
        yield from caught(lambda: require_policy(config))
        yield from caught(lambda: grpo.check(config))
    kind = getattr(getattr(config, "engine", None), "kind", "hf")
    if kind != "hf":
        yield from _needs("vllm", f"The engine {kind}", "vllm")
    learns = not isinstance(config, CloningConfig)
    if isinstance(config, AgentEvolConfig):
        learns = config.demonstrated
    if learns and not config.clones:
        yield from caught(lambda: demonstrations(config.data))  # there are none, which it says


def _written_here(model: ModelConfig) -> bool:
    """Whether this machine has what says how a model's conversations are written."""
    given = model.chat_template
    if given is not None and not given.is_file():
        return False
    if model.name == SCRATCH:
        return given is not None  # its own leaves earlier turns alone
    return (Path(model.name).expanduser() / "tokenizer_config.json").is_file()


def _policy(place: Path | None) -> Faults:
    if place is not None:
        yield from _model(ModelConfig(name=str(place)))


def _explored(config: ExploreConfig) -> Faults:
    if not config.envs:
        yield InvalidConfig("there is nothing to explore: name environments in explore.envs")


def _attribution(config: Any) -> Faults:
    from agentgym.baselines.attribution import build_attributor

    cache = config.attribution.cache
    if cache is not None and Path(cache).is_dir():
        yield InvalidConfig(f"attribution.cache={cache} is a folder; name a file")
        return
    yield from caught(lambda: build_attributor(config.attribution).close())


def _trainer_arguments(config: RunConfig) -> None:
    """Require that TRL knows what is passed on to it."""
    from agentgym.baselines.dpo import DPOConfig
    from agentgym.baselines.grpo import GRPOConfig

    kind = "SFTConfig"
    if isinstance(config, GRPOConfig):
        kind = "GRPOConfig"
    elif isinstance(config, DPOConfig):
        kind = "DPOConfig"
    _require_known(kind, config.optim.trainer, "optim.trainer")


def _require_known(kind: str, arguments: dict[str, Any], setting: str) -> None:
    import trl

    from agentgym.baselines.trl_arguments import require_known

    require_known(getattr(trl, kind), arguments, setting)


def _model(config: ModelConfig) -> Faults:
    yield from _device(config.device)
    if config.chat_template is not None and not config.chat_template.is_file():
        yield InvalidConfig(
            f"there is no chat template {config.chat_template}; model.chat_template is a file"
        )
    if config.lora is not None:
        yield from _needs("peft", "A LoRA adapter", "train")
        yield from _adapted(config.lora, config.name)
    if config.name != SCRATCH:
        yield from model_faults(config)
        return
    needed, there = 4 * scratch_shape(config.scratch).weights, _memory()
    if needed > there:
        yield InvalidConfig(
            f"the weights of model.scratch take {size(needed)}, this machine has {size(there)} of "
            "memory: lower its hidden, layers, feed or vocab"
        )


def _adapted(lora: LoraConfig, name: str) -> Faults:
    """Yield why there would be no adapter, of models whose layers are known by name."""
    known = (*LINEAR, "lm_head", "embed_tokens")
    if name != SCRATCH and name not in [shape.name for shape in KNOWN]:
        return
    if isinstance(lora.target, list) and not {n.rpartition(".")[2] for n in lora.target} & {*known}:
        yield InvalidConfig(
            f"model.lora.target={lora.target} names no layers of this model: all-linear, or some "
            f"of {', '.join(known)}"
        )


def model_faults(config: ModelConfig) -> Faults:
    """Yield what is wrong with a model that is loaded by its name; a hub's is not looked for."""
    from agentgym.agents.models import resolve

    found = list(caught(lambda: resolve(config.name, "hf")))
    yield from found
    place = Path(config.name).expanduser()
    if found or not (place / "config.json").is_file():
        return
    yield from caught(lambda: _read_shape(config, place))
    if not any(any(place.glob(kind)) for kind in ("*.safetensors", "*.bin")):
        yield InvalidConfig(f"{place} is no whole model folder: there are no weights in it")


def _read_shape(config: ModelConfig, place: Path) -> None:
    try:
        shape_of(config)
    except (KeyError, TypeError, ValueError, OSError) as error:
        raise InvalidConfig(
            f"{place / 'config.json'} describes no language model that can be loaded: "
            f"{type(error).__name__}: {error}"
        ) from error


def _explorer(config: ExploreConfig) -> Faults:
    """Yield why nobody can explore as these settings say."""
    kind, _, what = config.agent.replace(POLICY, ".").partition("?")[0].partition(":")
    if kind in ("openai", "replay"):  # made in no time
        yield from caught(lambda: build_agent(config.agent, **agent_options(config, None)).close())
        return
    yield from caught(lambda: find_agent(config.agent, **agent_options(config, None)))
    if kind == "vllm":
        yield from _needs("vllm", "The vllm agent", "vllm")
    if kind == "hf":
        dtype = str(config.options.get("dtype", "auto"))
        if dtype not in get_args(Dtype):
            yield InvalidConfig(
                f"explore.options.dtype={dtype!r} is none of {', '.join(get_args(Dtype))}"
            )
        if what != ".":
            yield from model_faults(ModelConfig(name=what))


def _needs(module: str, what: str, extra: str) -> Faults:
    if not installed(module):
        yield MissingExtra(what, extra, module)


def _device(name: str) -> Faults:
    if not name.startswith("cuda"):
        return
    import torch

    if not torch.cuda.is_available():
        yield MissingDevice(f"model.device={name}: torch sees no GPU on this machine")


def caught(required: Callable[[], object]) -> Faults:
    """Yield the error that something raises which has to work."""
    try:
        required()
    except AgentGymError as error:
        yield error


def _memory() -> float:
    """Return the bytes of memory this machine has; where it does not say, no end of them."""
    try:
        return float(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def _data(config: DataConfig) -> Faults:
    """Yield why there is nothing to learn; files are read once, and not kept for the training.

    What experts will play is not known here: with them, nothing is asked of what is left.
    """
    found: list[Any] = []
    whole = True
    for path in config.files:
        held = yield from _file(
            path, "data.files", read_items if config.layout == "published" else read
        )
        whole = whole and held is not None
        found += held or ()
    for path in config.chat:
        yield from _file(path, "data.chat", lambda place: list(chat_file(place)))
    if config.files and whole and not config.expert:
        yield from caught(lambda: chosen(found, config))


def _file(path: Path, key: str, reader: Any) -> Generator[AgentGymError, None, Any]:
    """Yield why a file cannot be learned from, and return what is in it, or None."""
    if not path.exists():
        yield InvalidConfig(f"there is no {path}; {key} names files or folders that are there")
        return None
    try:
        return reader(path)
    except AgentGymError as error:
        yield error
    except (OSError, UnicodeDecodeError) as error:
        yield InvalidConfig(f"{path} cannot be read: {error}; {key} names trajectories")
    return None


def tasks_faults(tasks: EnvTasks) -> Faults:
    """Yield why some tasks cannot be played."""
    yield from caught(lambda: plan([env_choice(tasks)], tasks=tasks.tasks))


def _evaluation(config: EvalConfig) -> Faults:
    """Yield why an evaluation would play the same twice."""
    played: list[Any] = []
    for tasks in config.envs:
        try:
            choice = env_choice(tasks)
        except AgentGymError:
            continue  # which the entry itself says
        if (choice, tasks.tasks) in played:
            yield InvalidConfig(
                f"eval.envs holds the same tasks of {tasks.env} twice: leave one out, or tell them "
                "apart (kinds, edition, split, options, max_rounds); to play tasks more often, set "
                "eval.attempts"
            )
        played.append((choice, tasks.tasks))


def _sampling(config: SamplingConfig) -> Faults:
    yield from caught(lambda: find_format(config.action_format))
    if config.executor not in EXECUTORS:
        yield UnknownExecutor("executor", config.executor, EXECUTORS)
    if config.executor == "ray":
        yield from _needs("ray", "The executor ray", "ray")
