"""What all trainers are configured by: one tree of pydantic models.

An unknown key is an error that offers the nearest, so nothing is ever configured in vain. How a
tree is read, changed and kept is in `configfile.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from agentgym.baselines.overrides import laid_over
from agentgym.rollout.plan import MOST_ATTEMPTS

SCRATCH = "scratch"
"""The name of a model that is made and not loaded."""


MOST, MANY = 2**16, 2**24
"""Nobody means more: of rows, layers, what is done at a time; of tokens, steps, weights a row. What
is larger is a slip of the finger, which would end a run only once memory has."""
DEVICE = r"^(auto|cpu|mps|(cuda|xpu|npu|hpu)(:\d+)?)$"
Dtype = Literal["auto", "float32", "bfloat16", "float16"]
Attention = Literal["sdpa", "eager", "flash_attention_2", "flash_attention_3"]
Beta = Annotated[float, Field(ge=0, lt=1)]


class Settings(BaseModel):
    """A part of a configuration: frozen, and without keys that nobody reads.

    A section given in part leaves the rest of it as the trainer has it, and not as the section
    alone would: DPO with `optim: {batch_size: 4}` keeps DPO's learning rate.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", protected_namespaces=(), allow_inf_nan=False
    )

    @model_validator(mode="before")
    @classmethod
    def _keep_the_rest(cls, data: Any) -> Any:
        """Lay sections that are plain data over what this class sets in them."""
        if not isinstance(data, Mapping):
            return data
        whole = dict(data)
        for name, value in data.items():
            field = cls.model_fields.get(name)
            default = field.get_default(call_default_factory=True) if field else None
            if isinstance(default, Settings) and isinstance(value, Mapping):
                whole[name] = laid_over(default.model_dump(exclude_unset=True), value)
        return whole


class LoraConfig(Settings):
    """A low-rank adapter, trained in place of the weights.

    Attributes:
        r: rank.
        alpha: scale; the update is multiplied by alpha / r.
        dropout: dropout on the adapter's input.
        target: names of the layers that get one, or "all-linear".
    """

    r: int = Field(16, ge=1, le=MOST)
    alpha: float = Field(32.0, gt=0)
    dropout: float = Field(0.0, ge=0, lt=1)
    target: str | list[str] = "all-linear"


class ScratchConfig(Settings):
    """A Llama with random weights and a tokenizer made from the demonstrations' own texts.

    Attributes:
        vocab: most tokens of the tokenizer.
        hidden: width.
        layers: number of layers.
        heads: attention heads.
        feed: width of the feed-forward layers; 0 for three times the width.
        context: most tokens of a conversation.
        dropout: dropout of the attention.
        init: standard deviation of the weights at first; a narrow model learns sooner from wider
            ones, about one over the root of its width.
    """

    vocab: int = Field(768, ge=300, le=MANY)
    hidden: int = Field(128, ge=8, le=MOST)
    layers: int = Field(3, ge=1, le=MOST)
    heads: int = Field(4, ge=1, le=MOST)
    feed: int = Field(0, ge=0, le=MANY)
    context: int = Field(4096, ge=64, le=MANY)
    dropout: float = Field(0.0, ge=0, lt=1)
    init: float = Field(0.02, gt=0)

    @model_validator(mode="after")
    def _check(self) -> ScratchConfig:
        if self.hidden % (2 * self.heads):
            raise ValueError(
                f"hidden must be a multiple of twice the heads ({2 * self.heads}), not "
                f"{self.hidden}"
            )
        return self


class ModelConfig(Settings):
    """The model a trainer begins with.

    Attributes:
        name: a known model ("smollm2"), a folder, a hub id; "scratch" makes one as `scratch` says.
        scratch: the shape of a model from scratch.
        lora: train an adapter; None trains every weight.
        dtype: "auto", "float32", "bfloat16" or "float16" of the weights in memory. "auto" is
            float32 where every weight is trained: most steps are too small for what 16 bits can
            tell apart. Under an adapter, which is float32, it is what the files have on a GPU.
        device: "auto", "cpu", "cuda", ...
        attention: "sdpa", "eager", "flash_attention_2" or "flash_attention_3"; None takes what
            transformers chooses. Flash needs a GPU, its package and passes in bfloat16, and is for
            learning alone: what plays in this process plays with "sdpa".
        chat_template: a file that holds a chat template to use in place of the model's own.
        template_options: further variables for the chat template.
    """

    name: str = "smollm2"
    scratch: ScratchConfig = ScratchConfig()
    lora: LoraConfig | None = None
    dtype: Dtype = "auto"
    device: str = Field("auto", pattern=DEVICE)
    attention: Attention | None = None
    chat_template: Path | None = None
    template_options: dict[str, Any] = Field(default_factory=dict)

    @property
    def held(self) -> str:
        """The dtype of the weights while they are trained; "auto" for that of the files."""
        return "float32" if self.dtype == "auto" and self.lora is None else self.dtype

    @model_validator(mode="after")
    def _not_half(self) -> ModelConfig:
        if self.dtype == "float16" and self.lora is None:
            raise ValueError(
                "float16 weights do not survive AdamW, whose eps is 0 in them: leave model.dtype "
                "at auto (float32; optim.precision says what passes compute in), or train an "
                "adapter (model.lora)"
            )
        return self


class LengthConfig(Settings):
    """How long an example may be, and what is done with a longer one.

    Attributes:
        max_tokens: most tokens of an example; None takes what the model's positions reach.
        too_long: "drop" leaves the example out, "error" stops, "truncate-turns" cuts after the last
            whole turn that fits. None of them is silent: all are counted and reported.
    """

    max_tokens: int | None = Field(None, ge=8, le=MANY)
    too_long: Literal["drop", "error", "truncate-turns"] = "drop"


class OptimConfig(Settings):
    """How weights are changed.

    Attributes:
        lr: peak learning rate of AdamW.
        epochs: passes over the data.
        max_steps: optimiser steps in all; None follows from `epochs`.
        batch_size: examples a device and forward pass.
        accumulate: forward passes an optimiser step.
        schedule: "linear", "cosine", "constant" or "constant_with_warmup".
        warmup: part of the steps (below 1), or the number of steps, in which `lr` is reached; not
            with the schedule "constant".
        weight_decay: of AdamW.
        betas: of AdamW.
        eps: of AdamW.
        max_grad_norm: gradients are scaled down to this norm.
        batching: "padded" batches fill up with padding; "grouped" batches hold examples of like
            length; "packed" batches are one row without padding. The loss of a batch is the same.
            Where examples are imitated; DPO, GRPO and ADCA-GRPO always pad.
        precision: "float32", or "bfloat16" for mixed precision; "auto" takes bfloat16 on a GPU that
            has it.
        gradient_checkpointing: compute activations twice instead of keeping them.
        threads: torch's threads on a CPU; None leaves them as they are.
        trainer: further arguments of TRL's configuration, as they are ("fsdp", ...), of those that
            do here what TRL says of them.
    """

    lr: float = Field(1e-5, gt=0)
    epochs: float = Field(1.0, gt=0, le=MANY)
    max_steps: int | None = Field(None, ge=1, le=MANY)
    batch_size: int = Field(2, ge=1, le=MOST)
    accumulate: int = Field(1, ge=1, le=MOST)
    schedule: Literal["linear", "cosine", "constant", "constant_with_warmup"] = "linear"
    warmup: float = Field(0.1, ge=0, le=MANY)
    weight_decay: float = Field(0.0, ge=0)
    betas: tuple[Beta, Beta] = (0.9, 0.999)
    eps: float = Field(1e-8, gt=0)
    max_grad_norm: float = Field(1.0, gt=0)
    batching: Literal["padded", "grouped", "packed"] = "padded"
    precision: Literal["auto", "float32", "bfloat16"] = "auto"
    gradient_checkpointing: bool = False
    threads: int | None = Field(None, ge=1, le=1024)
    trainer: dict[str, Any] = Field(default_factory=dict)


class EnvTasks(Settings):
    """Some tasks of one environment.

    Attributes:
        env: short name, id, or "module:id" of an environment of one's own.
        edition: edition of the tasks.
        split: split of the tasks.
        tasks: how many, spread evenly over the split; None for all. All, where there are fewer.
        max_rounds: rounds before truncation; None takes the edition's default.
        options: other keyword arguments of the environment.
        kinds: only tasks of these kinds ("GoTo*" for all that begin so); empty for all.
        threshold: an episode whose score is above this counts as solved; None takes the
            environment's own success.
    """

    env: str
    edition: str = "mini"
    split: str = "train"
    tasks: int | None = Field(None, ge=1, le=10**9)
    max_rounds: int | None = Field(None, ge=1, le=MANY)
    options: dict[str, Any] = Field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    threshold: float | None = Field(None, ge=0, lt=1)


class SamplingConfig(Settings):
    """How a policy plays.

    Attributes:
        temperature: 0 is greedy.
        top_p: nucleus sampling.
        max_tokens: most tokens of a reply.
        max_batch: most conversations answered together.
        concurrency: episodes at a time.
        executor: where environments run: "auto", "inline", "thread", "process" or "ray".
        action_format: "react", "function_calling" or "code_as_action".
    """

    temperature: float = Field(0.0, ge=0)
    top_p: float = Field(1.0, gt=0, le=1)
    max_tokens: int = Field(256, ge=1, le=MANY)
    max_batch: int = Field(32, ge=1, le=MOST)
    concurrency: int = Field(32, ge=1, le=MOST)
    executor: str = "auto"
    action_format: str = "react"


class EvalConfig(Settings):
    """AgentEval during and after training.

    Attributes:
        envs: what is played; nothing is evaluated where this is empty.
        every: optimiser steps between evaluations; None evaluates only at the end.
        at_start: whether to evaluate before the first step too.
        attempts: how often each task is played.
        sampling: how the policy plays.
        seed: the evaluation's seed.
    """

    envs: tuple[EnvTasks, ...] = ()
    every: int | None = Field(None, ge=1)
    at_start: bool = False
    attempts: int = Field(1, ge=1, le=MOST_ATTEMPTS)
    sampling: SamplingConfig = SamplingConfig()
    seed: int = Field(0, ge=0, lt=2**32)


class RunConfig(Settings):
    """What every trainer's configuration has.

    Attributes:
        seed: everything random in training follows from it.
        model: the model training begins with.
        length: how long examples may be.
        optim: how weights are changed.
        eval: evaluation during and after training.
        log_every: optimiser steps between lines of the curve.
        save_every: optimiser steps between checkpoints; None saves none but the result.
        keep_checkpoints: how many checkpoints are kept.
        tensorboard: whether curves are written for TensorBoard too.
    """

    seed: int = Field(0, ge=0, lt=2**32)
    model: ModelConfig = ModelConfig()
    length: LengthConfig = LengthConfig()
    optim: OptimConfig = OptimConfig()
    eval: EvalConfig = EvalConfig()
    log_every: int = Field(10, ge=1)
    save_every: int | None = Field(None, ge=1)
    keep_checkpoints: int = Field(2, ge=1)
    tensorboard: bool = True
