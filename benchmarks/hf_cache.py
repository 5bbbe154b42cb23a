"""What keeping keys and values across turns saves the hf agent.

The same conversations are played twice in one run, with kept keys and values and reading each
conversation from its start at every turn; the replies must be the same tokens. CPU seconds are
given beside wall seconds because they do not depend on what else the machine is doing.

    python -m benchmarks.hf_cache                          # a tiny model with random weights
    python -m benchmarks.hf_cache --model tiny smollm2     # agentgym models fetch smollm2, first
"""

from __future__ import annotations

import argparse
import asyncio
import time
from typing import Any

from agentgym.agents.hf import HFAgent
from agentgym.agents.message import Message, Reply
from benchmarks.machine import write_result

RULES = (
    "You are in a house with many rooms and must bring a named thing to a named place. In each "
    "round say what you think and then one action. Actions: go to [place], open [thing], take "
    "[thing] from [place], put [thing] in [place], look. A closed thing must be opened first. "
)
NEWS = "You go there. On the table you see a lamp, two books, a key and a bowl. Door {} is open. "


def tiny() -> tuple[Any, Any]:
    """Return a model of 0.9M parameters with random weights, and its tokenizer."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    raw = Tokenizer(models.BPE())
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    special = ["<|pad|>", "<|im_start|>", "<|im_end|>"]
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=512, special_tokens=special, initial_alphabet=alphabet, show_progress=False
    )
    raw.train_from_iterator([RULES, NEWS], trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<|pad|>", eos_token="<|im_end|>"
    )
    tokenizer.chat_template = (
        "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=128, intermediate_size=384, num_hidden_layers=4,
        num_attention_heads=4, max_position_embeddings=4096, eos_token_id=2, pad_token_id=0,
        bos_token_id=None, initializer_range=0.1,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return LlamaForCausalLM(config).eval(), tokenizer


async def play(agent: HFAgent, episodes: int, turns: int) -> list[Reply]:
    """Play all episodes at once and return every reply, in order."""

    async def episode(i: int) -> list[Reply]:
        messages = [Message("user", RULES), Message("assistant", "OK.")]
        messages.append(Message("user", f"Bring the key to room {i}. " + NEWS.format(i)))
        replies = []
        for turn in range(turns):
            reply = await agent.complete(messages, episode=str(i), seed=turn)
            replies.append(reply)
            messages += [Message("assistant", reply.text), Message("user", NEWS.format(turn))]
        agent.release(str(i))
        return replies

    played = await asyncio.gather(*(episode(i) for i in range(episodes)))
    return [reply for replies in played for reply in replies]


def measure(name: str, args: argparse.Namespace) -> str:
    """Return a table for one model: "tiny", a known name, a folder or a hub id."""
    model, loaded = (name, {}) if name != "tiny" else (tiny()[0], {"tokenizer": tiny()[1]})
    agent = HFAgent(
        model,
        max_tokens=args.max_tokens,
        max_batch=args.episodes,
        max_wait=0.05,
        threads=args.threads,
        **loaded,
    )
    asyncio.run(play(agent, 2, 1))  # warm up
    lines = [
        f"{name}: {args.episodes} episodes, {args.turns} turns, {args.threads} thread(s)\n",
        "| | wall s | CPU s | tokens written | a CPU second | prompt tokens computed |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    seconds, written = [], []
    limit = agent._store.limit
    for title, tokens in (("read from the start each turn", 0), ("kept", limit)):
        agent.forget()
        agent._store.limit = tokens
        wall, cpu = time.perf_counter(), time.process_time()
        replies = asyncio.run(play(agent, args.episodes, args.turns))
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        count = sum(r.usage.output_tokens for r in replies)
        read = sum(r.usage.input_tokens - r.usage.cached_tokens for r in replies)
        lines.append(f"| {title} | {wall:.1f} | {cpu:.1f} | {count} | {count / cpu:.0f} | {read} |")
        seconds.append((wall, cpu))
        written.append([r.sampled.token_ids for r in replies if r.sampled])
    agent.close()
    same = sum(a == b for a, b in zip(*written, strict=True))
    by_clock, by_cpu = (a / b for a, b in zip(*seconds, strict=True))
    lines.append(
        f"\n{by_cpu:.2f} times less CPU, {by_clock:.2f} times faster by the clock; {same} of "
        f"{len(written[0])} replies are token for token the same.\n"
    )
    return "\n".join(lines)


def main() -> None:
    """Measure and print a table for each model."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["tiny"])
    parser.add_argument("--episodes", type=int, default=16)
    parser.add_argument("--turns", type=int, default=4)
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the result file")
    args = parser.parse_args()
    body = "\n".join(measure(name, args) for name in args.model)
    print(body)
    if args.write:
        command = f"python -m benchmarks.hf_cache --model {' '.join(args.model)} --write"
        about = (
            "What the hf agent saves by keeping keys and values across turns. In both rows what "
            "the prompts of one batch have in common is read once. Where a machine does other "
            "work at the same time, CPU seconds are the figure to read.\n\n"
        )
        write_result("hf_cache", "Kept keys and values", command, about + body)


if __name__ == "__main__":
    main()
