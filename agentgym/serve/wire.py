"""What the front and a worker say to each other: frames of pickled tuples on a socket pair.

Both ends are this program, in two processes of one user, and a pickle keeps any string, also one
no UTF-8 can hold. What comes from outside is JSON and reaches a pickle only as plain values. An
answer's body is JSON made by the worker, which the front passes on without reading it.
"""

from __future__ import annotations

import json
import pickle
import struct
from typing import Any, NamedTuple

import msgspec
import numpy as np

from agentgym.core.text import parse_json

HEAD = struct.Struct("!I")


class Call(NamedTuple):
    """What the front asks of a worker.

    Attributes:
        number: told again in the answer.
        verb: what to do ("step").
        session: with which session; "" for the worker itself.
        args: plain values, by name.
    """

    number: int
    verb: str
    session: str
    args: dict[str, Any]


class Answer(NamedTuple):
    """What a worker answers.

    Attributes:
        number: of the call.
        status: 200, or the HTTP status of a problem.
        body: JSON; of a batched step a list of (status, body, seq).
        point: where the front keeps a journal and the call acted: its number, a snapshot to play
            on from if it began an episode, and whether there is an episode.
        seq: the number of the session's last call that acted; None where no session answered.
    """

    number: int
    status: int
    body: Any
    point: Any = None
    seq: int | None = None


def pack(message: tuple[Any, ...]) -> bytes:
    """Return a message as a frame."""
    body = pickle.dumps(tuple(message), protocol=5)
    return HEAD.pack(len(body)) + body


def unpack(body: bytes | memoryview) -> tuple[Any, ...]:
    """Return the message of a frame without its head."""
    message: tuple[Any, ...] = pickle.loads(body)
    return message


def encode(value: Any) -> bytes:
    """Return a value as JSON.

    Strings that are no Unicode (lone surrogates, which an environment may echo) come through as
    escapes; numpy's scalars are numbers.
    """
    try:
        return _fast(value)
    except (UnicodeEncodeError, TypeError, ValueError):
        return json.dumps(value, default=_plain).encode()


def decode(body: bytes) -> Any:
    """Return the value of JSON; escapes that are no Unicode are kept.

    Raises:
        ValueError: if it is none.
    """
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return parse_json(body)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | set | frozenset):
        return sorted(value) if not isinstance(value, tuple) else list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


_fast = msgspec.json.Encoder(enc_hook=_plain).encode

__all__ = ["HEAD", "Answer", "Call", "decode", "encode", "pack", "unpack"]
