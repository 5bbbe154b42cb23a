"""No dropout where log-probabilities of the same tokens are compared.

GRPO's ratio, k3 and DPO's margins set a policy beside itself and beside its reference: what is
left out at random would stand between them as though something had been learned. TRL's
`disable_dropout` reaches layers of dropout alone; Llama and its like hold the probability of their
attention's as a number, which their passes read from the layer or from the configuration.
"""

from __future__ import annotations

from typing import Any

from torch import nn
from torch.nn.modules.dropout import _DropoutNd


def without_dropout(model: nn.Module) -> None:
    """Take all dropout out of a model, for good: the policy it is saved as has none either."""
    for module in model.modules():
        if isinstance(module, _DropoutNd):
            module.p = 0.0
        _zero(module)
        _zero(getattr(module, "config", None))


def _zero(holder: Any) -> None:
    """Set every probability of dropout that something holds as a number to 0."""
    for name, value in list(getattr(holder, "__dict__", {}).items()):
        if "drop" in name.lower() and isinstance(value, float):
            setattr(holder, name, 0.0)
