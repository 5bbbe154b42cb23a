"""Keys and values a model has computed, kept so that a conversation is read only once.

Each episode's are kept by themselves, without padding, and put together into a batch when the
batch is formed: what an episode sees never depends on who else was in the batch. A kept prefix is
used as far as its tokens equal the new prompt's, so a chat template that rewrites earlier turns
costs time and never correctness.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from transformers.cache_utils import DynamicCache, DynamicLayer


@dataclass(frozen=True, slots=True)
class Kept:
    """The keys and values of a token sequence.

    Attributes:
        tokens: the tokens, shape (n,).
        layers: keys and values of each layer, each of shape (heads, n, head size).
    """

    tokens: np.ndarray[Any, np.dtype[np.int64]]
    layers: list[tuple[torch.Tensor, torch.Tensor]]

    def __len__(self) -> int:
        return len(self.tokens)

    def first(self, n: int) -> Kept:
        """Return the part that belongs to the first n tokens."""
        return Kept(self.tokens[:n], [(k[:, :n], v[:, :n]) for k, v in self.layers])


def common_prefix(left: Sequence[int] | Any, right: Sequence[int] | Any) -> int:
    """Return how many tokens two sequences share at their start.

    >>> common_prefix([1, 2, 3], [1, 2, 4, 5])
    2
    """
    n = min(len(left), len(right))
    differ = np.nonzero(np.asarray(left[:n]) != np.asarray(right[:n]))[0]
    return int(differ[0]) if len(differ) else n


class Store:
    """What is kept of each episode; the least recently used goes first.

    Args:
        limit: most tokens kept, over all episodes; 0 keeps nothing.
        shortest: a prefix of another episode is not worth copying below this length.
    """

    def __init__(self, limit: int, shortest: int = 16) -> None:
        self.limit, self._shortest = limit, shortest
        self._entries: OrderedDict[str, Kept] = OrderedDict()
        self.tokens = 0
        """Tokens kept at present."""

    def __contains__(self, episode: str) -> bool:
        return episode in self._entries

    def find(self, episode: str, prompt: Sequence[int]) -> Kept | None:
        """Return the longest kept prefix of a prompt, of this episode or else of any other.

        At least the prompt's last token is left to compute, since its output is what is wanted.
        """
        ids = np.asarray(prompt, dtype=np.int64)
        own = self._entries.get(episode)
        if own is not None:
            self._entries.move_to_end(episode)
        entries = [own] if own is not None else list(self._entries.values())
        best, longest = None, 0
        for entry in entries:
            shared = min(common_prefix(entry.tokens, ids), len(ids) - 1)
            if shared > longest:
                best, longest = entry, shared
        if best is None or (own is None and longest < self._shortest):
            return None
        return best.first(longest)

    def put(self, episode: str, kept: Kept) -> None:
        """Keep an episode's, in place of what was kept of it, within the limit."""
        self.drop(episode)
        if len(kept) > self.limit:
            return
        self._entries[episode] = kept
        self.tokens += len(kept)
        while self.tokens > self.limit:
            _, oldest = self._entries.popitem(last=False)
            self.tokens -= len(oldest)

    def drop(self, episode: str) -> None:
        """Forget an episode."""
        entry = self._entries.pop(episode, None)
        self.tokens -= len(entry) if entry is not None else 0

    def clear(self) -> None:
        """Forget everything, as one must when the weights change."""
        self._entries.clear()
        self.tokens = 0


class GrowingLayer(DynamicLayer):  # type: ignore[misc]
    """A cache layer over a buffer with room, so that a token does not copy all before it."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self._capacity, self._used = capacity, 0
        self._buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def load(self, rows: list[tuple[torch.Tensor, torch.Tensor] | None], width: int) -> None:
        """Start with kept keys and values, each row's at the right end of `width` columns."""
        some = next(row for row in rows if row is not None)
        for index, example in enumerate(some):
            heads, _, size = example.shape
            buffer = example.new_zeros(len(rows), heads, self._capacity, size)
            for i, row in enumerate(rows):
                if row is not None:
                    buffer[i, :, width - row[index].shape[1] : width] = row[index]
            self._set(index, buffer)
        self.lazy_initialization(some[0], some[1])
        self._show(width)

    def _set(self, index: int, buffer: torch.Tensor) -> None:
        old = self._buffers or (buffer, buffer)
        self._buffers = (buffer, old[1]) if index == 0 else (old[0], buffer)

    def _show(self, used: int) -> None:
        assert self._buffers is not None
        self._used = used
        self.keys, self.values = (buffer[:, :, :used] for buffer in self._buffers)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Append the keys and values of new tokens and return all."""
        start, end = self._used, self._used + key_states.shape[-2]
        if self._buffers is None:
            self.lazy_initialization(key_states, value_states)
        if self._buffers is None or end > self._capacity:
            self._capacity = max(self._capacity, end)
            self._buffers = (self._grown(key_states, 0), self._grown(value_states, 1))
        self._buffers[0][:, :, start:end] = key_states
        self._buffers[1][:, :, start:end] = value_states
        self._show(end)
        return self.keys, self.values

    def _grown(self, states: torch.Tensor, index: int) -> torch.Tensor:
        rows, heads, _, size = states.shape
        buffer = states.new_zeros(rows, heads, self._capacity, size)
        if self._buffers is not None:
            buffer[:, :, : self._used] = self._buffers[index][:, :, : self._used]
        return buffer

    def get_seq_length(self) -> int:
        """Return how many columns are filled."""
        return self._used

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows only."""
        if self._buffers is not None:
            self._buffers = (self._buffers[0][indices], self._buffers[1][indices])
            self._show(self._used)


class Batch:
    """Rows of different lengths in one cache: columns that are not a row's own are masked.

    Args:
        model: the model.
        kept: what each row starts with, or None.
        room: columns that will be added.
        plain: use the model's own kind of cache, for models whose layers keep more or less than
            all keys and values; nothing can then be kept or taken out.
    """

    def __init__(self, model: Any, kept: Sequence[Kept | None], room: int, plain: bool) -> None:
        self._model, self._plain = model, plain
        lengths = [len(k) if k is not None else 0 for k in kept]
        width, device = max(lengths), model.device
        self.mask = torch.zeros(len(kept), width, dtype=torch.long)
        for i, length in enumerate(lengths):
            self.mask[i, width - length :] = 1
        self.cache = DynamicCache(config=model.config)
        self._device = device
        accepted = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in accepted else "past_key_values"
        if not plain:
            count = model.config.get_text_config().num_hidden_layers
            self.cache.layers = [GrowingLayer(width + room) for _ in range(count)]
            if width:
                for n, layer in enumerate(self.cache.layers):
                    layer.load([k.layers[n] if k is not None else None for k in kept], width)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Feed columns and return the last one's logits.

        Args:
            ids: tokens, shape (rows, columns).
            mask: 1 where the token is a row's own, same shape.

        Returns:
            Logits in float32, shape (rows, vocabulary).
        """
        self.mask = torch.cat([self.mask, mask], dim=1)
        positions = (self.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        output = self._model(
            input_ids=ids.to(self._device),
            attention_mask=self.mask.to(self._device),
            position_ids=positions.to(self._device),
            use_cache=True,
            logits_to_keep=1,
            **{self._cache_name: self.cache},
        )
        return output.logits[:, -1].float()

    def row(self, index: int, tokens: Sequence[int]) -> Kept:
        """Take a row out, without its holes; `tokens` are the ones fed to it, in order."""
        columns = self.mask[index].nonzero()[:, 0].to(self._device)
        layers = [
            (
                layer.keys[index].index_select(1, columns),
                layer.values[index].index_select(1, columns),
            )
            for layer in self.cache.layers
        ]
        return Kept(np.asarray(tokens[: len(columns)], dtype=np.int64), layers)

    def select(self, rows: Sequence[int]) -> None:
        """Keep these rows only."""
        indices = torch.tensor(list(rows))
        self.mask = self.mask[indices]
        self.cache.batch_select_indices(indices.to(self._device))
