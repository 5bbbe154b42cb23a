"""A tiny Llama with random weights and a tiny tokenizer, for tests: no download, milliseconds."""

from __future__ import annotations

from typing import Any

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def tiny_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=300,
        special_tokens=["<|pad|>", "<|im_start|>", "<|im_end|>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    raw.train_from_iterator(["you are at the door, go north or south, user assistant"], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|pad|>", eos_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_model(tokenizer: Any, *, eos_bias: float = 2.5, **config: Any) -> Any:
    """Return a model whose replies depend on everything before, and that ends them now and then."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    with torch.random.fork_rng():
        torch.manual_seed(0)
        options: dict[str, Any] = {
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 2048,
            "initializer_range": 0.25,
            "tie_word_embeddings": False,
            "eos_token_id": tokenizer.eos_token_id,
            "bos_token_id": None,
            "pad_token_id": tokenizer.pad_token_id,
        }
        model = LlamaForCausalLM(LlamaConfig(**{**options, **config})).eval()
        head = torch.nn.Linear(64, len(tokenizer), bias=True)
        head.weight.data.copy_(model.lm_head.weight.data)
        head.bias.data.zero_()
        head.bias.data[tokenizer.eos_token_id] = eos_bias
        model.lm_head = head
    return model
