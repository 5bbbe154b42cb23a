"""What a model is made of: the numbers its weights, memory and arithmetic follow from.

Published models are in a small table, so that a plan can be made where they are not; a folder says
it in its `config.json`; a model from scratch is what its settings say.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentgym.agents.models import resolve
from agentgym.agents.models.cards import UnknownModel
from agentgym.baselines.config import SCRATCH, LoraConfig, ModelConfig, ScratchConfig
from agentgym.core.errors import InvalidConfig, MissingData

LINEAR = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
COUNTED = ("llama", "mistral", "qwen2", "qwen3")
"""The architectures `ModelShape` counts by itself; others are built without their memory."""


@dataclass(frozen=True, slots=True)
class ModelShape:
    """A decoder of Llama's kind: norms, rotary attention with groups of heads, gated feed-forward.

    Attributes:
        name: what it is called.
        hidden: width.
        layers: number of layers.
        heads: attention heads.
        kv_heads: heads of keys and values.
        head: width of a head.
        feed: width of the feed-forward layers.
        vocab: tokens of the vocabulary, as the embedding has them.
        context: most tokens of a conversation.
        tied: whether the embedding is also the head.
        bias: whether queries, keys and values have a bias.
        stored: bytes of a weight in its files; 2 or 4.
        exact: number of weights, where it was counted in another way.
        source: where the numbers are from.
    """

    name: str
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head: int
    feed: int
    vocab: int
    context: int
    tied: bool = False
    bias: bool = False
    stored: int = 2
    exact: int | None = None
    source: str = ""

    @property
    def sizes(self) -> dict[str, tuple[int, int]]:
        """Inputs and outputs of the linear layers of one layer, by name."""
        queries, keys = self.heads * self.head, self.kv_heads * self.head
        return {
            "q_proj": (self.hidden, queries),
            "k_proj": (self.hidden, keys),
            "v_proj": (self.hidden, keys),
            "o_proj": (queries, self.hidden),
            "gate_proj": (self.hidden, self.feed),
            "up_proj": (self.hidden, self.feed),
            "down_proj": (self.feed, self.hidden),
        }

    @property
    def layer(self) -> int:
        """Weights of one layer."""
        biases = (self.heads + 2 * self.kv_heads) * self.head if self.bias else 0
        return sum(a * b for a, b in self.sizes.values()) + biases + 2 * self.hidden

    @property
    def embedding(self) -> int:
        """Weights of the embedding."""
        return self.vocab * self.hidden

    @property
    def weights(self) -> int:
        """Weights in all."""
        if self.exact is not None:
            return self.exact
        heads = self.embedding * (1 if self.tied else 2)
        return self.layers * self.layer + heads + self.hidden

    @property
    def multiplied(self) -> int:
        """Weights a token is multiplied with: all but the embedding's rows, which are looked up."""
        return self.weights - (0 if self.tied else self.embedding)

    @property
    def cached(self) -> int:
        """Numbers kept of a token between turns: its keys and values in every layer."""
        return 2 * self.layers * self.kv_heads * self.head

    def adapter(self, lora: LoraConfig) -> int:
        """Weights of a LoRA adapter: rank x (inputs + outputs) of every layer that gets one."""
        names = _targets(lora.target)
        return self.layers * lora.r * sum(sum(self.sizes[name]) for name in names)


KNOWN: tuple[ModelShape, ...] = (
    ModelShape(
        "meta-llama/Llama-2-7b-chat-hf", 4096, 32, 32, 32, 128, 11_008, 32_000, 4096,
        source="arXiv 2307.09288; its config.json",
    ),
    ModelShape(
        "Qwen/Qwen2.5-7B-Instruct", 3584, 28, 28, 4, 128, 18_944, 152_064, 32_768, bias=True,
        source="arXiv 2412.15115, table 1; its config.json",
    ),
    ModelShape(
        "Qwen/Qwen2.5-14B-Instruct", 5120, 48, 40, 8, 128, 13_824, 152_064, 32_768, bias=True,
        source="arXiv 2412.15115, table 1; its config.json",
    ),
    ModelShape(
        "smollm2", 576, 30, 9, 3, 64, 1536, 49_152, 8192, tied=True, stored=4,
        source="arXiv 2502.02737; its config.json",
    ),
)  # fmt: skip
"""Published models, with the shapes of their configuration files."""

STAND_IN = KNOWN[0]


def shape_of(config: ModelConfig) -> tuple[ModelShape, str]:
    """Return a model's shape, and what had to be assumed of it ("" for nothing).

    A model that is neither in the table nor on this machine is counted as Llama-2-7B, which is
    said.

    Raises:
        UnknownModel: if there is no such model and the name is no path.
    """
    if config.name == SCRATCH:
        return scratch_shape(config.scratch), ""
    for shape in KNOWN:
        if shape.name.lower() == config.name.lower():
            return shape, ""
    place = _folder(config.name)
    if place is not None:
        return folder_shape(place, config.name), ""
    said = f"{config.name} is not here and is counted as {STAND_IN.name}"
    return replace(STAND_IN, name=config.name), said


def scratch_shape(config: ScratchConfig) -> ModelShape:
    """Return the shape of a model from scratch; its tokenizer may turn out smaller than `vocab`."""
    return ModelShape(
        name=SCRATCH,
        hidden=config.hidden,
        layers=config.layers,
        heads=config.heads,
        kv_heads=config.heads,
        head=config.hidden // config.heads,
        feed=config.feed or 3 * config.hidden,
        vocab=config.vocab,
        context=config.context,
        tied=True,
        stored=4,
    )


def folder_shape(place: Path, name: str = "") -> ModelShape:
    """Return the shape of the model in a folder, from its `config.json`."""
    data: dict[str, Any] = json.loads((place / "config.json").read_text(encoding="utf-8"))
    exact = None
    if data.get("model_type") not in COUNTED or data.get("mlp_bias"):
        exact, data = _built(place)
    shape = _read(data, name or str(place))
    return replace(shape, exact=exact)


def _read(data: Mapping[str, Any], name: str) -> ModelShape:
    heads, hidden = int(data["num_attention_heads"]), int(data["hidden_size"])
    dtype = data.get("dtype") or data.get("torch_dtype") or "float32"
    qwen = data.get("model_type") == "qwen2"
    return ModelShape(
        name=name,
        hidden=hidden,
        layers=int(data["num_hidden_layers"]),
        heads=heads,
        kv_heads=int(data.get("num_key_value_heads") or heads),
        head=int(data.get("head_dim") or hidden // heads),
        feed=int(data.get("intermediate_size") or 4 * hidden),
        vocab=int(data["vocab_size"]),
        context=int(data.get("max_position_embeddings") or 4096),
        tied=bool(data.get("tie_word_embeddings", False)),
        bias=qwen or bool(data.get("attention_bias")),
        stored=4 if str(dtype).endswith("float32") else 2,
    )


_READ = (
    "model_type", "num_attention_heads", "num_key_value_heads", "hidden_size", "head_dim",
    "num_hidden_layers", "intermediate_size", "vocab_size", "max_position_embeddings",
    "tie_word_embeddings", "attention_bias", "dtype",
)  # fmt: skip


def _built(place: Path) -> tuple[int, dict[str, Any]]:
    """Return the weights and settings of a model that is built without its memory."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(place)
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    text = config.get_text_config()  # some call things otherwise, and answer to these names too
    return sum(p.numel() for p in model.parameters()), {n: getattr(text, n, None) for n in _READ}


def _folder(name: str) -> Path | None:
    """Return the folder a model lies in, or None where it is not on this machine."""
    place = Path(name).expanduser()
    if (place / "config.json").is_file():
        return place
    try:
        place = Path(resolve(name, "hf"))
    except (MissingData, InvalidConfig):
        return None
    except UnknownModel:
        if "/" not in name:
            raise
        return None  # the model of a run that is still to be made
    if (place / "config.json").is_file():
        return place
    from huggingface_hub import try_to_load_from_cache

    found = try_to_load_from_cache(name, "config.json")
    return Path(found).parent if isinstance(found, str) else None


def _targets(target: str | Sequence[str]) -> tuple[str, ...]:
    if target == "all-linear":
        return LINEAR
    names = [target] if isinstance(target, str) else list(target)
    return tuple(name for name in LINEAR if name in [n.rpartition(".")[2] for n in names])
