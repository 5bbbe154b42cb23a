"""Options several commands share, and how their text is read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentgym.core.errors import InvalidConfig

if TYPE_CHECKING:
    from agentgym.rollout.limits import Limits

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
Edition = Annotated[
    str, typer.Option("--edition", "-e", help="mini (ours, offline) or official (published).")
]
Split = Annotated[str, typer.Option("--split", "-s", help="train or eval.")]
Options = Annotated[
    list[str] | None,
    typer.Option("--env-option", metavar="KEY=VALUE", help="An option of the environment."),
]
AgentOptions = Annotated[
    list[str] | None,
    typer.Option("--option", "-o", metavar="KEY=VALUE", help="An option of the agent."),
]
Format = Annotated[
    str, typer.Option("--format", "-f", help="react, function_calling or code_as_action.")
]
MaxRounds = Annotated[int | None, typer.Option(min=1, help="Rounds an episode may take.")]
Concurrency = Annotated[int, typer.Option("--concurrency", "-c", min=1, help="Episodes at a time.")]
Executor = Annotated[
    str, typer.Option(help="Where environments run: auto, inline, thread, process or ray.")
]

_LIMITS = "Limits"
MaxTotalTokens = Annotated[
    int | None,
    typer.Option(min=1, help="Stop after so many tokens in all.", rich_help_panel=_LIMITS),
]
MaxCost = Annotated[
    float | None,
    typer.Option(min=0, help="Stop after so many US dollars.", rich_help_panel=_LIMITS),
]
MaxSeconds = Annotated[
    float | None, typer.Option(min=0, help="Stop after so many seconds.", rich_help_panel=_LIMITS)
]
MaxFailures = Annotated[
    int,
    typer.Option(min=1, help="Stop after so many failures in a row.", rich_help_panel=_LIMITS),
]
MaxEpisodeTokens = Annotated[
    int | None,
    typer.Option(min=1, help="End an episode after so many tokens.", rich_help_panel=_LIMITS),
]
Retries = Annotated[
    int, typer.Option(min=0, help="Times a failed model call is retried.", rich_help_panel=_LIMITS)
]


def key_values(pairs: Sequence[str] | None) -> dict[str, Any]:
    """Read KEY=VALUE pairs; values are JSON where they read as JSON, else text.

    Raises:
        InvalidConfig: if a pair has no "=".

    >>> key_values(["temperature=0.5", "api_base=http://localhost:8000/v1", "greedy=true"])
    {'temperature': 0.5, 'api_base': 'http://localhost:8000/v1', 'greedy': True}
    """
    from agentgym.agents.build import parse_value

    found: dict[str, Any] = {}
    for pair in pairs or ():
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise InvalidConfig(f"an option is written KEY=VALUE, not {pair!r}")
        found[key.strip().replace("-", "_")] = parse_value(value)
    return found


def limits_of(
    tokens: int | None,
    cost: float | None,
    seconds: float | None,
    failures: int | None,
    episode_tokens: int | None,
    retries: int,
) -> Limits:
    """Return the limits these options set.

    Raises:
        InvalidConfig: if one of them is out of range.
    """
    from pydantic import ValidationError

    from agentgym.rollout.limits import Limits

    try:
        return Limits(
            tokens=tokens,
            cost=cost,
            seconds=seconds,
            failures=failures,
            episode_tokens=episode_tokens,
            retries=retries,
        )
    except ValidationError as error:
        first = error.errors()[0]
        raise InvalidConfig(f"the limit {first['loc'][0]} is wrong: {first['msg']}") from error
