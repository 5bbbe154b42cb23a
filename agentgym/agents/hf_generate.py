"""Writing replies for a batch of prompts, with kept keys and values.

Three steps: what several new prompts have in common is read once; the rest of each prompt is read
in groups of similar length, so that a first turn does not make every other row wait; then all rows
write together, and rows that are done leave the batch. Each row draws from its own generator, by
inverting the cumulative distribution at one uniform number a token, so a reply follows from prompt
and seed, whoever else is in the batch (up to the rounding of batched arithmetic).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from agentgym.agents.hf_cache import Batch, Kept, common_prefix

CHUNK = 512
"""Columns read at once; bounds the memory of a long prompt."""
SHARED = 32
"""Prompts that share fewer tokens than this are not read together."""
LEAVE = 0.75
"""Rows that are done leave when no more than this part of the batch is still writing."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How tokens are drawn. Temperature 0 is greedy; top_k 0 and top_p 1 cut nothing."""

    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """A prompt to continue.

    Attributes:
        prompt: its tokens.
        limit: most tokens to write, at least 1.
        seed: for drawing.
        kept: keys and values of a proper prefix of the prompt, or None.
        ends: tokens that end a reply.
        stopped: called with the tokens so far; whether the reply ends here.
    """

    prompt: Sequence[int]
    limit: int
    seed: int = 0
    kept: Kept | None = None
    ends: frozenset[int] = frozenset()
    stopped: Callable[[Sequence[int]], bool] | None = None


@dataclass(slots=True)
class Written:
    """What was written.

    Attributes:
        tokens: the tokens, the end token included.
        logprobs: natural log-probability of each under the policy it was drawn from; for greedy
            decoding, under the model at temperature 1.
        finish: "stop" or "length".
        kept: keys and values of everything that was fed, where asked for.
        reused: prompt tokens that were not computed for this request.
    """

    tokens: list[int] = field(default_factory=list)
    logprobs: list[float] = field(default_factory=list)
    finish: str = ""
    kept: Kept | None = None
    reused: int = 0


def generate(
    model: Any,
    requests: Sequence[Request],
    sampling: Sampling,
    *,
    keep: bool,
    plain: bool = False,
    on_tokens: Callable[[int], None] | None = None,
) -> list[Written]:
    """Continue each prompt.

    Args:
        model: a causal language model of transformers, in evaluation mode.
        requests: the prompts.
        sampling: how to draw.
        keep: whether to return keys and values.
        plain: for models whose cache is not one key and value a token; see `Batch`.
        on_tokens: called with how many tokens have just been written, once for each of a reply.
    """
    with torch.inference_mode():
        return _generate(model, requests, sampling, keep, plain, on_tokens)


def _generate(
    model: Any,
    requests: Sequence[Request],
    sampling: Sampling,
    keep: bool,
    plain: bool,
    on_tokens: Callable[[int], None] | None,
) -> list[Written]:
    written = [Written(reused=len(r.kept) if r.kept is not None else 0) for r in requests]
    generators = [torch.Generator().manual_seed(r.seed % 2**63) for r in requests]
    batch, logits = _read(model, requests, written, plain)
    rows = list(range(len(requests)))  # the batch's row i writes requests[rows[i]]
    writing = rows
    while True:
        tokens, logprobs = draw(logits, sampling, [generators[r] for r in rows])
        for row, token, logprob in zip(rows, tokens, logprobs, strict=True):
            if not written[row].finish:
                _append(written[row], requests[row], token, logprob)
        if on_tokens is not None:
            on_tokens(len(writing))
        writing = [i for i, row in enumerate(rows) if not written[row].finish]
        if len(writing) <= LEAVE * len(rows):
            if keep:
                _take_out(batch, rows, set(range(len(rows))) - set(writing), requests, written)
            if not writing:
                return written
            batch.select(writing)
            rows, tokens = [rows[i] for i in writing], [tokens[i] for i in writing]
        live = torch.tensor([[int(not written[row].finish)] for row in rows])
        logits = batch.forward(torch.tensor(tokens)[:, None], live)


def _append(written: Written, request: Request, token: int, logprob: float) -> None:
    written.tokens.append(token)
    written.logprobs.append(logprob)
    if token in request.ends or (request.stopped and request.stopped(written.tokens)):
        written.finish = "stop"
    elif len(written.tokens) >= request.limit:
        written.finish = "length"


def _take_out(
    batch: Batch,
    rows: Sequence[int],
    done: set[int],
    requests: Sequence[Request],
    written: Sequence[Written],
) -> None:
    for i in sorted(done):
        fed = [*requests[rows[i]].prompt, *written[rows[i]].tokens]
        written[rows[i]].kept = batch.row(i, fed)


def _read(
    model: Any, requests: Sequence[Request], written: Sequence[Written], plain: bool
) -> tuple[Batch, torch.Tensor]:
    """Feed every prompt; return the batch of all rows, in order, and the logits after each."""
    kept = [r.kept for r in requests]
    if not plain:
        _read_shared(model, requests, kept, written)
    rest = [r.prompt[len(k) if k is not None else 0 :] for r, k in zip(requests, kept, strict=True)]
    room = max(r.limit for r in requests)
    groups = [list(range(len(requests)))] if plain else _similar([len(r) for r in rest])
    if len(groups) == 1:
        return _feed(model, kept, rest, room, plain)
    whole: list[Kept | None] = [None] * len(requests)
    ends: list[torch.Tensor | None] = [None] * len(requests)
    for group in groups:
        batch, logits = _feed(model, [kept[i] for i in group], [rest[i] for i in group], 0, False)
        for n, i in enumerate(group):
            whole[i], ends[i] = batch.row(n, requests[i].prompt), logits[n]
    return Batch(model, whole, room, plain=False), torch.stack([e for e in ends if e is not None])


def _read_shared(
    model: Any,
    requests: Sequence[Request],
    kept: list[Kept | None],
    written: Sequence[Written],
) -> None:
    """Read once what new prompts have in common, and fill it into `kept`."""
    alike: dict[tuple[int, ...], list[int]] = {}
    for i, request in enumerate(requests):
        if kept[i] is None and len(request.prompt) > SHARED:
            alike.setdefault(tuple(request.prompt[:SHARED]), []).append(i)
    for members in alike.values():
        if len(members) < 2:
            continue
        first = requests[members[0]].prompt
        shared = min(
            min(common_prefix(first, requests[i].prompt), len(requests[i].prompt) - 1)
            for i in members
        )
        batch, _ = _feed(model, [None], [first[:shared]], 0, False)
        prefix = batch.row(0, first)
        for i in members:
            kept[i] = prefix
        for i in members[1:]:
            written[i].reused = shared


def _similar(lengths: Sequence[int]) -> list[list[int]]:
    """Return groups of indices whose lengths differ by little, so that little is padding.

    >>> _similar([10, 900, 30, 1000])
    [[0, 2], [1, 3]]
    """
    groups: list[list[int]] = []
    shortest = 0
    for i in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        if groups and lengths[i] <= 2 * shortest + SHARED:
            groups[-1].append(i)
        else:
            groups.append([i])
            shortest = lengths[i]
    return groups


def _feed(
    model: Any, kept: Sequence[Kept | None], rest: Sequence[Sequence[int]], room: int, plain: bool
) -> tuple[Batch, torch.Tensor]:
    """Feed the rest of each prompt, padded on the left to one width."""
    width = max(len(r) for r in rest)
    ids = torch.zeros(len(rest), width, dtype=torch.long)
    mask = torch.zeros_like(ids)
    for i, tokens in enumerate(rest):
        ids[i, width - len(tokens) :] = torch.tensor(tokens)
        mask[i, width - len(tokens) :] = 1
    batch = Batch(model, kept, width + room, plain)
    logits = torch.empty(0)
    for start in range(0, width, CHUNK):
        part = slice(start, start + CHUNK)
        logits = batch.forward(ids[:, part], mask[:, part])
    return batch, logits


def draw(
    logits: torch.Tensor, sampling: Sampling, generators: Sequence[torch.Generator]
) -> tuple[list[int], list[float]]:
    """Draw a token for each row.

    Args:
        logits: shape (rows, vocabulary).
        sampling: how.
        generators: one a row; each gives one number, and none where decoding is greedy.

    Returns:
        The tokens, and their log-probabilities under the policy they were drawn from.
    """
    if sampling.temperature <= 0:
        logprobs = torch.log_softmax(logits, -1)
        tokens = logits.argmax(-1)
    else:
        logprobs = torch.log_softmax(_cut(logits / sampling.temperature, sampling), -1)
        numbers = [torch.rand((), generator=g, dtype=torch.float64) for g in generators]
        heights = logprobs.double().exp().cumsum(-1)
        wanted = torch.stack(numbers).to(logits.device)[:, None] * heights[:, -1:]
        tokens = torch.searchsorted(heights, wanted, right=True)[:, 0]
        tokens = tokens.clamp(max=logits.shape[-1] - 1)
    chosen = logprobs.gather(1, tokens[:, None])[:, 0]
    return tokens.tolist(), chosen.tolist()


def _cut(logits: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Put what top_k and top_p leave out at minus infinity; the likeliest token always stays."""
    if 0 < sampling.top_k < logits.shape[-1]:
        least = logits.topk(sampling.top_k, -1).values[:, -1:]
        logits = logits.masked_fill(logits < least, float("-inf"))
    if sampling.top_p < 1:
        ordered, order = logits.sort(-1, descending=True)
        probabilities = ordered.softmax(-1)
        before = probabilities.cumsum(-1) - probabilities
        out = (before >= sampling.top_p).scatter(-1, order, before >= sampling.top_p)
        out.scatter_(-1, order[:, :1], False)
        logits = logits.masked_fill(out, float("-inf"))
    return logits
