"""Counts of weights and bytes, held against models and steps that are real."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("trl")

import torch
from transformers import TrainerCallback
from trl.trainer.utils import add_fused_lm_head

from agentgym.agents.models.cards import UnknownModel
from agentgym.baselines.config import EnvTasks, LoraConfig, ModelConfig
from agentgym.baselines.costs.episodes import PLAYS, length_of, rounds_of
from agentgym.baselines.costs.machines import A100, CORE
from agentgym.baselines.costs.memory import Memory, Spread, memory_of, size
from agentgym.baselines.costs.shapes import KNOWN, STAND_IN, ModelShape, folder_shape, shape_of
from agentgym.baselines.model import add_adapter, calm
from agentgym.baselines.sft import make_trainer
from tests.baselines import tiny

LENGTH = 256


def built(shape: ModelShape, kind: str) -> Any:
    """Return a model of transformers of this shape, without memory."""
    import transformers

    config = getattr(transformers, f"{kind}Config")(
        vocab_size=shape.vocab,
        hidden_size=shape.hidden,
        intermediate_size=shape.feed,
        num_hidden_layers=shape.layers,
        num_attention_heads=shape.heads,
        num_key_value_heads=shape.kv_heads,
        tie_word_embeddings=shape.tied,
    )
    with torch.device("meta"):
        return getattr(transformers, f"{kind}ForCausalLM")(config)


def count(model: Any, *, trained: bool = False) -> int:
    return sum(p.numel() for p in model.parameters() if p.requires_grad or not trained)


@pytest.mark.parametrize("shape", KNOWN, ids=lambda s: s.name)
def test_the_table_counts_the_weights_transformers_makes(shape: ModelShape) -> None:
    assert shape.weights == count(built(shape, "Qwen2" if shape.bias else "Llama"))


def test_the_published_sizes_are_met() -> None:
    billions = [round(shape.weights / 1e9, 2) for shape in KNOWN]
    assert billions == [6.74, 7.62, 14.77, 0.13]  # "7B", "7.61B", "14.7B", "135M" on their cards


@pytest.mark.parametrize("lora", [None, LoraConfig(r=4), LoraConfig(r=8, target=["q_proj"])])
def test_an_adapter_is_counted_as_peft_makes_it(lora: LoraConfig | None) -> None:
    pytest.importorskip("peft")
    policy = tiny.policy(lora=lora)
    shape = shape_of_policy(policy)
    trained, every = policy.parameters
    assert trained == (shape.adapter(lora) if lora else shape.weights)
    assert every == shape.weights + (trained if lora else 0)


def shape_of_policy(policy: Any) -> ModelShape:
    """Return the shape of a tiny policy, with the tokens its tokenizer really has."""
    of = tiny.SHAPE.model_copy(update={"vocab": len(policy.tokenizer)})
    return shape_of(ModelConfig(name="scratch", scratch=of))[0]


def test_a_folder_says_what_it_holds(tmp_path: Path) -> None:
    policy = tiny.policy()
    shape = folder_shape(Path(tiny.save(policy, tmp_path / "model")))
    assert shape.weights == count(policy.model)
    assert (shape.hidden, shape.layers, shape.context, shape.stored) == (32, 2, 2048, 4)
    found, said = shape_of(ModelConfig(name=str(tmp_path / "model")))
    assert (found.weights, said) == (shape.weights, "")


def test_an_architecture_that_is_not_counted_is_built(tmp_path: Path) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    config = GPT2Config(vocab_size=300, n_embd=32, n_layer=2, n_head=2)
    config.save_pretrained(tmp_path)
    with torch.device("meta"):
        model = GPT2LMHeadModel(config)
    assert folder_shape(tmp_path).weights == count(model)


def test_a_model_that_is_not_here_is_counted_as_another_and_said(tmp_path: Path) -> None:
    shape, said = shape_of(ModelConfig(name=str(tmp_path / "run" / "model")))
    assert shape.weights == STAND_IN.weights
    assert "not here" in said
    with pytest.raises(UnknownModel, match="smollm2"):
        shape_of(ModelConfig(name="smolm2"))


@pytest.mark.parametrize("lora", [None, LoraConfig(r=4)])
def test_weights_gradients_and_moments_are_the_bytes_of_a_real_step(
    tmp_path: Path, lora: LoraConfig | None
) -> None:
    policy = tiny.policy(lora=lora)
    trainer = make_trainer(policy, tiny.rows(policy), tiny.settings(max_steps=1), tmp_path)
    parameters = list(policy.model.parameters())
    seen: dict[str, int] = {}

    class Look(TrainerCallback):  # type: ignore[misc]
        def on_pre_optimizer_step(self, *_: Any, **__: Any) -> None:
            seen["gradients"] = sum(p.grad.nbytes for p in parameters if p.grad is not None)

        def on_step_end(self, *_: Any, optimizer: Any, **__: Any) -> None:
            states = optimizer.state.values()
            seen["moments"] = sum(s[n].nbytes for s in states for n in ("exp_avg", "exp_avg_sq"))

    trainer.add_callback(Look())
    trainer.train()
    memory = memory_of(shape_of_policy(policy), Spread(), batch=2, length=100, lora=lora)
    assert memory.weights == sum(p.nbytes for p in parameters)
    assert memory.gradients == seen["gradients"]
    assert memory.optimiser == seen["moments"]


SHAPES = [
    ModelShape("even", 64, 3, 4, 4, 16, 192, 400, 1024),
    ModelShape("grouped", 128, 3, 4, 2, 32, 400, 400, 1024),
]


def kept(model: Any, ids: Any, mask: Any, *, mixed: bool) -> int:
    """Return the bytes a forward pass keeps for the way back, the weights left out."""
    weights = {p.untyped_storage().data_ptr() for p in model.parameters()}
    held: dict[int, Any] = {}

    def pack(tensor: Any) -> Any:
        if tensor.untyped_storage().data_ptr() not in weights:
            held[tensor.untyped_storage().data_ptr()] = tensor.untyped_storage()
        return tensor

    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.autocast("cpu", dtype=torch.bfloat16, enabled=mixed),
    ):
        model(input_ids=ids, attention_mask=mask, labels=ids, use_cache=False, fused_lm_head=True)
    return sum(storage.nbytes() for storage in held.values())


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize(
    ("weight", "mixed", "lora"),
    [(4, False, False), (4, True, False), (2, False, False), (4, False, True), (2, False, True)],
)
def test_activations_are_met_within_a_factor_of_two(
    shape: ModelShape, padded: bool, weight: int, mixed: bool, lora: bool
) -> None:
    model = built(shape, "Llama").to_empty(device="cpu")
    model = model.to(torch.bfloat16 if weight == 2 else torch.float32)
    add_fused_lm_head(model)
    adapter = LoraConfig(r=8) if lora else None
    if adapter:
        model = add_adapter(model, adapter, seed=0)
    ids = torch.ones((4, LENGTH), dtype=torch.long)
    mask = torch.ones_like(ids)
    if padded:
        mask[0, 200:] = 0
    real = kept(model.train(), ids, mask, mixed=mixed)
    spread = Spread(weight=weight, mixed=mixed)
    memory = memory_of(shape, spread, batch=4, length=LENGTH, lora=adapter)
    assert real / 2 < memory.activations < 2 * real


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.name)
def test_with_checkpointing_a_layer_keeps_its_input_and_one_has_the_rest(shape: ModelShape) -> None:
    model = built(shape, "Llama").to_empty(device="cpu").train()
    add_fused_lm_head(model)
    ids = torch.ones((4, LENGTH), dtype=torch.long)
    whole = kept(model, ids, torch.ones_like(ids), mixed=False)
    with calm():
        model.gradient_checkpointing_enable({"use_reentrant": False})
    inputs = kept(model, ids, torch.ones_like(ids), mixed=False)
    most = inputs + whole / shape.layers
    memory = memory_of(shape, Spread(), batch=4, length=LENGTH, checkpointing=True)
    assert most / 2 < memory.activations < 2 * most


numbers = st.integers(1, 6)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.sampled_from([*KNOWN, *SHAPES]),
    batch=numbers,
    length=st.integers(16, 4096),
    rank=st.none() | st.integers(1, 64),
    weight=st.sampled_from([2, 4]),
    mixed=st.booleans(),
    checkpointing=st.booleans(),
    reference=st.booleans(),
)
def test_more_never_needs_less(
    shape: ModelShape, batch: int, length: int, rank: int | None, weight: int, mixed: bool,
    checkpointing: bool, reference: bool,
) -> None:  # fmt: skip
    def of(**changes: Any) -> Memory:
        values: dict[str, Any] = {
            "batch": batch, "length": length, "lora": LoraConfig(r=rank) if rank else None,
            "checkpointing": checkpointing, "reference": reference,
        }  # fmt: skip
        spread = changes.pop("spread", Spread(weight=weight, mixed=mixed))
        return memory_of(shape, spread, **{**values, **changes})

    plain = of()
    assert of(batch=batch + 1).training > plain.training
    assert of(length=length + 16).training > plain.training
    if rank:
        assert of(lora=LoraConfig(r=rank + 1)).training > plain.training
    assert of(checkpointing=True).training <= of(checkpointing=False).training
    assert of(reference=True).training >= of(reference=False).training
    assert of(sampled=10).sampling > of(sampled=0).sampling
    for wrap in ("whole", "layer"):
        shared = Spread(processes=8, sharded=True, wrap=wrap, weight=weight, mixed=mixed)  # type: ignore[arg-type]
        assert of(spread=shared).weights == plain.weights / 8
        assert of(spread=shared).gradients == plain.gradients / 8
    whole = Spread(8, sharded=True, wrap="whole", weight=weight, mixed=mixed)
    layer = Spread(8, sharded=True, wrap="layer", weight=weight, mixed=mixed)
    if shape.layers > 2:
        assert of(spread=layer).training < of(spread=whole).training


def test_the_peak_is_of_training_or_of_sampling() -> None:
    memory = Memory(weights=10.0, optimiser=20.0, gradients=10.0, activations=5.0, cache=3.0)
    assert (memory.training, memory.sampling, memory.peak) == (45.0, 33.0, 45.0)
    assert "cache" not in memory.text(sampling=False)
    assert "cache 0.0 MB" in memory.text(sampling=True)
    assert (size(999e9), size(12.4e12)) == ("999.0 GB", "12,400 GB")


@settings(max_examples=60, deadline=None)
@given(
    env=st.sampled_from([*PLAYS, "tests.toy:tests/Guess-v0"]),
    rounds=st.integers(1, 40),
    limit=st.integers(64, 8192),
)
def test_longer_episodes_have_more_tokens_up_to_the_limit(
    env: str, rounds: int, limit: int
) -> None:
    short = length_of(EnvTasks(env=env, max_rounds=rounds), limit)
    long = length_of(EnvTasks(env=env, max_rounds=rounds + 1), limit)
    wide = length_of(EnvTasks(env=env, max_rounds=rounds), limit + 64)
    assert short.total - 1e-6 <= long.total <= limit + 1e-6
    assert short.total - 1e-6 <= wide.total
    assert short.longest <= long.longest <= limit
    assert 0 < short.own < short.total
    assert rounds_of(EnvTasks(env=env, max_rounds=rounds)) <= rounds


def test_the_published_sizes_of_the_sets_add_up() -> None:
    # AgentGym's README: AgentTraj-L 14,485; arXiv 2406.04151, table 2: AgentTraj 6,130.
    assert sum(play.large for play in PLAYS.values()) == 14_485
    assert sum(play.small for play in PLAYS.values()) == 6_130
    assert sum(play.eval for play in PLAYS.values()) == 1_160 - 20  # without WebArena


def test_a_mini_episode_is_as_long_as_it_is_taken_to_be() -> None:
    from agentgym.baselines.examples import expert_episodes

    for env in ("maze", "wordle", "textcraft"):
        episodes = expert_episodes(EnvTasks(env=env, tasks=6))
        texts = [
            [e.instructions, e.acknowledgement, e.observation, *(s.reply + s.observation
             for s in e.steps)] for e in episodes
        ]  # fmt: skip
        real = sum(len(text) for episode in texts for text in episode) / len(texts)
        taken = length_of(EnvTasks(env=env), 100_000, characters=1.0)
        assert real / 1.6 < taken.total < 1.6 * real


def test_sampling_is_as_fast_as_it_was_measured() -> None:
    # SmolLM2 in float32 on two cores, prompts of 128 tokens: 15, 62 and 121 tokens a second.
    smol = KNOWN[3]
    for batch, measured in ((1, 15), (8, 62), (32, 121)):
        seconds = CORE.sampling_seconds(smol, batch, 160, 4, python=True)
        assert measured / 2.5 < batch / seconds < 2.5 * measured
    llama = KNOWN[0]
    alone = A100.sampling_seconds(llama, 1, 500, 2, python=False)
    together = A100.sampling_seconds(llama, 32, 500, 2, python=False)
    assert alone < together < 32 * alone


def test_configuration_files_are_read_as_they_are_written(tmp_path: Path) -> None:
    data = {
        "model_type": "qwen2", "hidden_size": 3584, "num_hidden_layers": 28,
        "num_attention_heads": 28, "num_key_value_heads": 4, "intermediate_size": 18944,
        "vocab_size": 152064, "max_position_embeddings": 32768, "tie_word_embeddings": False,
        "torch_dtype": "bfloat16",
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(data))
    shape = folder_shape(tmp_path)
    assert shape.weights == KNOWN[1].weights
    assert (shape.head, shape.stored) == (128, 2)
