"""The model a trainer changes: loaded or made from scratch, whole or with an adapter.

Whatever it was, it is saved as a plain folder transformers loads (`save`), so that a policy that
was trained here, a model of a hub and a model made from scratch are the same to everything that
comes after: the next round, `agentgym eval hf:FOLDER`, somebody else's program.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from agentgym.agents.hf_load import context_limit, end_tokens, load
from agentgym.agents.models.convert import no_progress_bars
from agentgym.baselines.config import SCRATCH, LoraConfig, ModelConfig, ScratchConfig
from agentgym.core.errors import InvalidConfig
from agentgym.core.extras import require

TEMPLATE = (
    "{% for m in messages %}"
    "{% if m['role'] == 'assistant' %}"
    "<|im_start|>assistant\n{% generation %}{{ m['content'] }}<|im_end|>{% endgeneration %}"
    "{{ '\\n' }}{% else %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
"""The chat template of a model from scratch: ChatML, with generation tags."""

SPECIAL = ("<|pad|>", "<|im_start|>", "<|im_end|>")


@dataclass(frozen=True)
class Policy:
    """A model and its tokenizer.

    Attributes:
        model: a causal language model of transformers, or of peft.
        tokenizer: its tokenizer, with a chat template and a padding token.
        name: what it was loaded from.
        options: further variables for its chat template.
    """

    model: Any
    tokenizer: Any
    name: str
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def ends(self) -> frozenset[int]:
        """The tokens that end a reply."""
        return end_tokens(self.model, self.tokenizer)

    @property
    def context(self) -> int:
        """The most tokens the model's positions reach."""
        return context_limit(self.model)

    @property
    def parameters(self) -> tuple[int, int]:
        """Number of weights: those that are trained, and all."""
        weights = list(self.model.parameters())
        return sum(w.numel() for w in weights if w.requires_grad), sum(w.numel() for w in weights)


def load_policy(config: ModelConfig, texts: Iterable[str] = (), *, seed: int = 0) -> Policy:
    """Return the model a configuration names, ready to be trained.

    Args:
        config: which model, and how it is trained.
        texts: what a tokenizer from scratch is made from.
        seed: decides the random weights of a model from scratch and of an adapter.

    Raises:
        UnknownModel: if the name is no model.
        MissingData: if it is not on this machine and cannot be brought.
        MissingExtra: if a package it needs is not installed.
        InvalidConfig: if it has no chat template, or a setting cannot be used.
    """
    if config.name == SCRATCH:
        tokenizer = make_tokenizer(texts, config.scratch.vocab)
        model = make_model(config.scratch, tokenizer, seed=seed, attention=config.attention)
        model = model.to("cuda" if config.device == "auto" and torch.cuda.is_available() else "cpu")
    else:
        # Training moves the model to its own device; loading must not fill the first GPU.
        device = "cpu" if config.device == "auto" and _ranks() > 1 else config.device
        model, tokenizer = load(
            config.name, device=device, dtype=config.held, adapter=None, attention=config.attention
        )
    if config.chat_template is not None:
        if not config.chat_template.is_file():
            raise InvalidConfig(f"there is no chat template {config.chat_template}")
        tokenizer.chat_template = config.chat_template.read_text(encoding="utf-8")
    if not isinstance(tokenizer.chat_template, str):
        raise InvalidConfig(
            f"{config.name} has no chat template: it does not say how a conversation is written. "
            "Give one with model.chat_template=FILE, or choose an instruction-tuned model."
        )
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    if config.lora is not None:
        model = add_adapter(model, config.lora, seed=seed)
    return Policy(model, tokenizer, config.name, config.template_options)


def _ranks() -> int:
    return int(os.environ.get("WORLD_SIZE", "1"))


def add_adapter(model: Any, config: LoraConfig, *, seed: int) -> Any:
    """Return the model with a fresh adapter, which alone is trained.

    Raises:
        MissingExtra: if peft is not installed.
        InvalidConfig: if the model has no layers of the names given.
    """
    peft = require("peft", "A LoRA adapter", "train")
    settings = peft.LoraConfig(
        r=config.r,
        lora_alpha=config.alpha,
        lora_dropout=config.dropout,
        target_modules=config.target,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        try:
            with calm():
                return peft.get_peft_model(model, settings)
        except ValueError as error:
            raise InvalidConfig(f"model.lora.target={config.target!r}: {error}") from error


def make_tokenizer(texts: Iterable[str], vocab: int) -> Any:
    """Return a byte-level BPE tokenizer learned from texts, with the template of this module.

    The same texts in the same order give the same tokenizer; every text can be written, since all
    bytes are in the vocabulary.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab,
        special_tokens=list(SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    raw.train_from_iterator(["user assistant", *texts], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token=SPECIAL[0], eos_token=SPECIAL[2]
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def make_model(
    config: ScratchConfig, tokenizer: Any, *, seed: int, attention: str | None = None
) -> Any:
    """Return a Llama of this shape with random weights, which follow from the seed.

    Raises:
        InvalidConfig: if the width is no multiple of the number of heads.
    """
    from transformers import LlamaConfig, LlamaForCausalLM

    if config.hidden % (2 * config.heads):
        raise InvalidConfig(
            f"model.scratch.hidden={config.hidden} must be a multiple of twice the heads "
            f"({config.heads}), or positions cannot be turned into rotations"
        )
    shape = LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=config.hidden,
        intermediate_size=config.feed or 3 * config.hidden,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        num_key_value_heads=config.heads,
        max_position_embeddings=config.context,
        attention_dropout=config.dropout,
        tie_word_embeddings=True,
        initializer_range=config.init,
        pad_token_id=tokenizer.pad_token_id,
        eos_token_id=tokenizer.eos_token_id,
        bos_token_id=None,
        attn_implementation=attention,
    )
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(shape)


def save_policy(policy: Policy, folder: Path) -> Path:
    """Save a policy as a plain model folder, whole or not at all; an adapter is merged.

    The adapter itself is kept in `adapter/` within the folder. Merging changes the model in
    memory: nothing should be trained on after it.
    """
    model = policy.model
    with _made(folder) as scratch, calm():
        if hasattr(model, "merge_and_unload"):
            model.save_pretrained(scratch / "adapter")
            model = model.merge_and_unload()
        model.save_pretrained(scratch)
        policy.tokenizer.save_pretrained(scratch)
    return folder


def gather(parts: Path, start: ModelConfig) -> Policy:
    """Return the policy several processes saved together, and remove what they saved.

    Args:
        parts: the folder they saved into: a model, or an adapter of the model they began with.
        start: the model they began with.
    """
    plain = start.model_copy(update={"lora": None, "attention": None})  # it only plays now
    if start.lora is None:
        policy = load_policy(plain.model_copy(update={"name": str(parts), "chat_template": None}))
    else:
        peft = require("peft", "A LoRA adapter", "train")
        whole = load_policy(plain)
        policy = replace(whole, model=peft.PeftModel.from_pretrained(whole.model, str(parts)))
    shutil.rmtree(parts)
    return policy


@contextlib.contextmanager
def calm() -> Iterator[None]:
    """Keep transformers and TRL from talking about each other; errors are still said.

    TRL also tells its makers of every trainer that is made; a run tells nobody anything.
    """
    from huggingface_hub import constants
    from transformers.utils import logging

    before, told = logging.get_verbosity(), constants.HF_HUB_DISABLE_TELEMETRY
    logging.set_verbosity_error()
    constants.HF_HUB_DISABLE_TELEMETRY = True
    try:
        with warnings.catch_warnings(), no_progress_bars():
            warnings.simplefilter("ignore", FutureWarning)
            yield
    finally:
        logging.set_verbosity(before)
        constants.HF_HUB_DISABLE_TELEMETRY = told


@contextlib.contextmanager
def _made(folder: Path) -> Iterator[Path]:
    """Give a folder beside this one, which takes its place when the block ends without error."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield scratch
        scratch.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        os.rename(scratch, folder)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
