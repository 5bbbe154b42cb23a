"""Pictures on the wire: their shape, and their bytes in base64.

As lists of numbers a picture is four times as long and takes a hundred times as long to write.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agentgym.core.errors import AgentGymError


def write_picture(picture: NDArray[np.uint8]) -> dict[str, Any]:
    """Return a picture of shape (height, width, 3) as JSON values."""
    pixels = np.ascontiguousarray(picture, dtype=np.uint8)
    return {"shape": list(pixels.shape), "pixels": base64.b64encode(pixels.tobytes()).decode()}


def read_picture(told: Any) -> NDArray[np.uint8]:
    """Return the picture `write_picture` was given.

    Raises:
        AgentGymError: if it is none.

    >>> read_picture(write_picture(np.full((1, 2, 3), 7))).tolist()
    [[[7, 7, 7], [7, 7, 7]]]
    """
    try:
        height, width, depth = told["shape"]
        content = base64.b64decode(told["pixels"], validate=True)
        return np.frombuffer(content, dtype=np.uint8).reshape(height, width, depth).copy()
    except (TypeError, KeyError, ValueError) as error:
        raise AgentGymError(f"the server sent no picture: {error}") from error
