"""Settings that would be set in vain: those nobody reads while others are as they are.

A profile may hold both sides of a choice, so only what is set on top of it is looked at: what a
user sets by hand and no one would read is refused, with what would make it count. What a trainer
never reads is no side of a choice: a file may not hold it either, unless as it is by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym.baselines.adca_options import AdcaOptions
from agentgym.baselines.config import SCRATCH, OptimConfig, Settings
from agentgym.baselines.overrides import parse_override
from agentgym.core.errors import InvalidConfig


@dataclass(frozen=True, slots=True)
class Idle:
    """When some settings are not read.

    Attributes:
        keys: dotted keys; what lies below one is meant too.
        when: whether a configuration leaves them unread.
        why: what decides instead, and what to do; "{...}" are keys of the configuration.
        never: whether no other setting would make them count.
    """

    keys: tuple[str, ...]
    when: Callable[[Settings], bool]
    why: str
    never: bool = False


def at(config: Any, key: str) -> Any:
    """Return the value of a dotted key, or None where there is none."""
    for part in key.split("."):
        config = getattr(config, part, None)
    return config


def _is(key: str) -> Callable[[Settings], bool]:
    return lambda config: bool(at(config, key))


def _other(key: str, *values: str) -> Callable[[Settings], bool]:
    """Return whether a key has another value than these; one that does not exist has none."""
    return lambda config: at(config, key) not in (None, *values)


def _judges(config: Settings) -> str:
    """Return who hands out credits, in a replay who did; "" where nobody does."""
    method = str(at(config, "attribution.method") or "")
    return str(at(config, "attribution.recorded")) if method == "replay" else method


def _clones_not(config: Settings) -> bool:
    if hasattr(config, "policy"):
        return config.policy is not None
    return hasattr(config, "bc") and not at(config, "clones")


def _compares(config: Settings) -> bool:
    """Return whether a trainer compares log-probabilities, and so leaves nothing out at random."""
    return bool(at(config, "pairs") or at(config, "groups"))


def _attributes_not(config: Settings) -> bool:
    """Return whether no step has any use for a credit."""
    adca = at(config, "adca")
    if adca is None:
        return False
    weightless = adca.outcome != "only_prm" and not adca.alpha and adca.alpha_schedule == "constant"
    return weightless or _plain_grpo(config)


def _plain_grpo(config: Settings) -> bool:
    """Return whether the advantage is GRPO's from the first step on, which is step 1."""
    steps = at(config, "adca.prm_steps")
    return steps is not None and steps <= 1


def _explorer(config: Settings) -> str:
    return str(at(config, "explore.agent") or "").partition(":")[0]


def _constant(section: str) -> Callable[[Settings], bool]:
    """Return whether a warm-up is asked of a schedule that has none."""
    return lambda config: (
        at(config, f"{section}.schedule") == "constant" and bool(at(config, f"{section}.warmup"))
    )


WEIGHING = ("alpha", "alpha_schedule", "alpha_min", "alpha_progress", "total_steps")
"""Options of ADCA that say what credits weigh beside the outcome."""
REWARDING = (
    "scheme",
    "norm",
    "fix_base",
    "consistent",
    "bad_in_success",
    "good_in_failure",
    "skip",
)
"""Options of ADCA that say how credits become step rewards."""
MODELS = ("hf", "vllm", "llamacpp", "openai")
"""Who explores by sampling."""


def _adca(names: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"adca.{name}" for name in names)


def _only_pads(config: Settings) -> bool:
    """Return whether a trainer whose passes are always padded is told to fill them otherwise."""
    return _compares(config) and at(config, "optim.batching") != OptimConfig().batching


IDLE: tuple[Idle, ...] = (
    Idle(
        ("model.scratch",),
        _other("model.name", SCRATCH),
        "it is the shape of a model from scratch, and the model is {model.name}; set "
        "model.name=scratch",
    ),
    Idle(
        ("optim.epochs",),
        _is("optim.max_steps"),
        "optim.max_steps={optim.max_steps} says how long; set optim.max_steps=null",
    ),
    Idle(
        ("optim.epochs",),
        _is("samplings"),
        "samplings={samplings} says how long; set samplings=null",
    ),
    Idle(
        ("optim.warmup",),
        _constant("optim"),
        "the schedule constant has none; set optim.schedule=constant_with_warmup",
    ),
    Idle(
        ("bc.warmup",),
        _constant("bc"),
        "the schedule constant has none; set bc.schedule=constant_with_warmup",
    ),
    Idle(
        ("model.lora.dropout",),
        lambda config: _compares(config) and not at(config, "clones"),
        "log-probabilities are compared without dropout; it is read where BC comes first "
        "(data.expert, data.files)",
    ),
    Idle(
        ("data.layout",),
        lambda config: at(config, "data.files") == (),
        "there are no files; name them in data.files",
    ),
    Idle(
        ("data.min_score", "data.best"),
        lambda config: at(config, "data.files") == () and at(config, "data.expert") == (),
        "there are no trajectories to choose from; name some in data.files or data.expert",
    ),
    Idle(
        ("data.per_turn",),
        lambda config: at(config, "data") is not None and not at(config, "clones"),
        "nothing is cloned; name what is to be in data.files, data.expert or data.chat",
    ),
    Idle(
        ("optim.batching",),
        _only_pads,
        "pairs and episodes are padded; how what is cloned first fills its passes is bc.batching",
        never=True,
    ),
    Idle(
        ("bc.epochs",),
        _is("bc.max_steps"),
        "bc.max_steps={bc.max_steps} says how long; set bc.max_steps=null",
    ),
    Idle(
        ("bc",),
        _clones_not,
        "nothing is cloned first; name what is to be in data.expert or data.files, and no policy",
    ),
    Idle(("explore",), _is("runs"), "what is in runs is paired and nothing explored; set runs=[]"),
    Idle(
        ("eval.every", "eval.at_start", "eval.attempts", "eval.sampling", "eval.seed"),
        lambda config: at(config, "eval.envs") == (),
        "nothing is evaluated; name environments in eval.envs",
    ),
    Idle(
        ("keep_checkpoints",),
        lambda config: at(config, "save_every") is None,
        "no checkpoints are saved; set save_every",
    ),
    Idle(
        ("width",),
        _other("aggregation", "seq-mean-token-sum-norm"),
        "aggregation is {aggregation}; set aggregation=seq-mean-token-sum-norm",
    ),
    Idle(
        ("engine.cache_tokens",),
        _other("engine.kind", "hf"),
        "{engine.kind} keeps its own; set engine.kind=hf",
    ),
    Idle(
        ("engine.url", "engine.group_port", "engine.timeout"),
        _other("engine.kind", "vllm-server"),
        "there is no server to reach; set engine.kind=vllm-server",
    ),
    Idle(
        ("engine.gpu_memory",),
        _other("engine.kind", "vllm-colocate"),
        "no engine shares the GPU; set engine.kind=vllm-colocate",
    ),
    Idle(
        ("explore.gpu_memory",),
        lambda config: not str(at(config, "explore.agent")).startswith("vllm:"),
        "explore.agent is {explore.agent}, which starts no vLLM; let vllm:FOLDER play",
    ),
    Idle(
        ("explore.sampling.temperature", "explore.sampling.top_p", "explore.sampling.max_tokens"),
        lambda config: _explorer(config) not in ("", *MODELS),
        "explore.agent is {explore.agent}, which samples nothing; let a model play",
    ),
    Idle(
        ("explore.sampling.max_batch",),
        lambda config: _explorer(config) not in ("", "hf"),
        "explore.agent is {explore.agent}, of which no batch is asked for; let hf:FOLDER play",
    ),
    Idle(
        ("sampling.max_batch",),
        lambda config: at(config, "engine.kind") == "vllm-server",
        "the server makes its own batches; set engine.kind=hf or vllm-colocate",
    ),
    Idle(
        _adca([name for name in AdcaOptions.model_fields if name != "prm_steps"]),
        _plain_grpo,
        "the advantage is plain GRPO from step 1 on; set adca.prm_steps above 1",
    ),
    Idle(
        ("attribution", *_adca(REWARDING)),
        _attributes_not,
        "nothing is attributed, since credits weigh nothing; set adca.alpha above 0, and "
        "adca.prm_steps above 1",
    ),
    Idle(
        _adca(WEIGHING),
        lambda config: at(config, "adca.outcome") == "only_prm",
        "alpha weighs credits beside an outcome; set adca.outcome=last_step or all_steps",
    ),
    Idle(
        _adca(("consistent", "bad_in_success", "good_in_failure")),
        _other("adca.scheme", "allocation"),
        "adca.scheme is {adca.scheme}; set adca.scheme=allocation",
    ),
    Idle(
        ("adca.fix_base",),
        _other("adca.scheme", "decouple"),
        "adca.scheme is {adca.scheme}; set adca.scheme=decouple",
    ),
    Idle(
        ("adca.total_steps",),
        lambda config: at(config, "adca.alpha_progress") is not None,
        "adca.alpha_progress={adca.alpha_progress} says how far the cosine is; set it to null",
    ),
    Idle(
        ("adca.alpha_min", "adca.alpha_progress", "adca.total_steps"),
        _other("adca.alpha_schedule", "cosine"),
        "alpha is constant; set adca.alpha_schedule=cosine",
    ),
    Idle(
        ("attribution.recorded",),
        _other("attribution.method", "replay"),
        "nothing is replayed; set attribution.method=replay",
    ),
    Idle(
        ("attribution.model", "attribution.model_options", "attribution.limits"),
        lambda config: _judges(config) not in ("", "llm"),
        "no model is asked; set attribution.method=llm",
    ),
    Idle(
        ("attribution.replace", "attribution.alternatives"),
        lambda config: _judges(config) not in ("", "counterfactual"),
        "no step is replaced; set attribution.method=counterfactual",
    ),
    Idle(
        ("attribution.alternatives", "attribution.seed"),
        lambda config: (
            _judges(config) == "counterfactual" and at(config, "attribution.replace") == "nothing"
        ),
        "a step is replaced by nothing, which takes no luck; set attribution.replace=sampled",
    ),
    Idle(
        ("attribution.seed",),
        lambda config: _judges(config) == "llm",
        "a judge is asked, and nobody plays; set attribution.method to counterfactual or "
        "monte_carlo",
    ),
    Idle(
        ("attribution.policy", "attribution.rollouts", "attribution.horizon"),
        lambda config: _judges(config) not in ("", "monte_carlo"),
        "nobody plays on; set attribution.method=monte_carlo",
    ),
)


def keys_of(overrides: Sequence[str]) -> list[str]:
    """Return the dotted keys that overrides set, those within a mapping one by one.

    >>> keys_of(["seed=1", "optim={lr: 0.1, epochs: 2}"])
    ['seed', 'optim.lr', 'optim.epochs']
    """
    return [key for text in overrides for key in _leaves(*parse_override(text))]


def require_read(config: Settings, overrides: Sequence[str]) -> None:
    """Require that somebody reads everything that was set on top of a profile.

    Args:
        config: the settings, with what was set.
        overrides: what was set; of the rest only what its trainer never reads is looked at.

    Raises:
        InvalidConfig: naming what nobody would read, and what would make it count.
    """
    never = [key for idle in IDLE if idle.never for key in idle.keys]
    for key in [*keys_of(overrides), *never]:
        why = unread(config, key)
        if why:
            raise InvalidConfig(f"{key} would be set in vain: {why}")


def unread(config: Settings, key: str) -> str:
    """Return why nobody reads a key, and what to do; "" where somebody does."""
    for idle in IDLE:
        named = any(key == k or key.startswith(f"{k}.") for k in idle.keys)
        if named and idle.when(config):
            return _filled(idle.why, config)
    return ""


def _filled(text: str, config: Settings) -> str:
    parts = text.replace("}", "{").split("{")
    return "".join(str(at(config, part)) if n % 2 else part for n, part in enumerate(parts))


def _leaves(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, inner in value.items():
            yield from _leaves(f"{key}.{name}", inner)
    else:
        yield key
