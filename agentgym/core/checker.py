"""The checker: does an environment keep the contract?

`check_env("agentgym/TextCraft-v0")` plays a few short episodes and tests every promise `TextEnv`
makes, Gymnasium's own checker included (see `promises`). A report says which are kept; `agentgym
check` prints it, and the test suite runs it over every registered id.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from agentgym.core.errors import BrokenContract, InvalidConfig, told
from agentgym.core.promises import GARBAGE, PROMISES, expert_solves
from agentgym.core.registry import make

__all__ = ["GARBAGE", "Check", "check_env", "require_env"]


@dataclass(frozen=True, slots=True)
class Check:
    """The result of testing one promise."""

    name: str
    error: str = ""

    @property
    def passed(self) -> bool:
        """Whether the promise is kept."""
        return not self.error


def check_env(name: str, *, episodes: int = 3, expert: bool = True, **kwargs: Any) -> list[Check]:
    """Test every promise of the contract on one environment.

    Args:
        name: an id, a short name, or "my_package:MyEnv-v0".
        episodes: how many tasks the longer checks play.
        expert: whether the environment is expected to ship an expert that solves its tasks.
        kwargs: options to make the environment with.

    Returns:
        One `Check` a promise, in order; the ones that fail carry the reason.

    Raises:
        InvalidConfig: under `python -O`, which leaves out the assertions that test a promise.
    """
    if not __debug__:
        raise InvalidConfig("the checker needs assertions: run Python without -O")
    results = []
    promises = [p for p in PROMISES if expert or p is not expert_solves]
    for promise in promises:
        label = (promise.__doc__ or promise.__name__).split("\n")[0].rstrip(".")
        env = make(name, **kwargs)
        try:
            promise(env, episodes)
            results.append(Check(label))
        except (AssertionError, BrokenContract) as error:
            results.append(Check(label, str(error) or "assertion failed"))
        except Exception as error:
            results.append(Check(label, f"raised {told(error)}"))
        finally:
            env.close()
    return results


def require_env(name: str, **kwargs: Any) -> None:
    """Run `check_env` and raise on the promises that are broken.

    Raises:
        BrokenContract: listing every failed check.
    """
    failed = [c for c in check_env(name, **kwargs) if not c.passed]
    if failed:
        lines = "\n".join(f"- {c.name}: {c.error}" for c in failed)
        raise BrokenContract(f"{name} breaks the contract:\n{lines}")
