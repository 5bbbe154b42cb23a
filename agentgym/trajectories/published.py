"""The published layout of trajectories, both ways.

AgentTraj is a JSON list of {"item_id", "conversations": [{"from", "loss", "value"}, …]}; AgentEval
is the same with conversations null or []; the published evaluation script adds reward and success.
An item is kept as it was read, unknown keys included, and becomes an `Episode` only when asked to:
what a conversation does not say (score, task set, rounds allowed) stays empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, ValidationError

from agentgym.agents.message import Reply
from agentgym.rollout.conversation import published
from agentgym.rollout.episode import Episode, Step
from agentgym.rollout.formats import FormatError, find_format
from agentgym.rollout.profile import EnvProfile
from agentgym.trajectories.items import ItemId, parse_item_id, published_id
from agentgym.trajectories.schema import InvalidTrajectories

OPENING = ("human", "gpt", "human")
"""Instructions, scripted acknowledgement, first observation."""


class Turn(BaseModel):
    """One message of a published conversation.

    Attributes:
        sender: "human" (instructions and environment) or "gpt" (agent); "from" in the file.
        loss: whether a learner should imitate the message; None on human messages.
        value: the text.
    """

    model_config = ConfigDict(frozen=True, extra="allow", populate_by_name=True)

    sender: Literal["human", "gpt"] = Field(alias="from")
    loss: StrictBool | None = None
    value: StrictStr

    @property
    def trained(self) -> bool:
        """Whether a learner should imitate the message: what an agent said, unless flagged off."""
        return self.sender == "gpt" and self.loss is not False


class PublishedItem(BaseModel):
    """One item of a published file.

    Attributes:
        item_id: "<prefix>_<number>" ("webshop_6"), or another id where the data has no number.
        conversations: the turns; None or empty where the item only names a task.
        reward: what the published evaluation script added, else None.
        success: what the published evaluation script added, else None.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    item_id: StrictStr
    conversations: tuple[Turn, ...] | None = None
    reward: float | None = None
    success: int | None = Field(None, ge=0, le=1)

    @property
    def id(self) -> ItemId:
        """The item id, taken apart: environment and number."""
        return parse_item_id(self.item_id)

    @property
    def score(self) -> float | None:
        """The reward as a score in [0, 1]; None where the item has no reward.

        Published SciWorld rewards count to 100; what lies outside the range is cut off.
        """
        if self.reward is None:
            return None
        env = self.id.env
        scaled = self.reward / 100 if env is not None and env.name == "sciworld" else self.reward
        return min(1.0, max(0.0, scaled))

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The turns; empty where the item only names a task."""
        return self.conversations or ()

    def to_json(self) -> dict[str, Any]:
        """Return the item as it stands in a file: the keys it was made with, as published."""
        data = self.model_dump(mode="json", by_alias=True, exclude_unset=True)
        if "reward" in data and "conversations" in data:  # the evaluation script's order
            data = {"conversations": data.pop("conversations"), **data}
        return data

    def messages(self) -> list[dict[str, str]]:
        """Return the conversation as chat messages of roles "user" and "assistant"."""
        roles = {"human": "user", "gpt": "assistant"}
        return [{"role": roles[turn.sender], "content": turn.value} for turn in self.turns]

    def weights(self) -> list[float]:
        """Return the loss weight of each message: 1.0 where it should be imitated, else 0.0."""
        return [float(turn.trained) for turn in self.turns]


def parse_item(data: Any, where: str = "item") -> PublishedItem:
    """Return a published item that was read from JSON.

    Args:
        data: the decoded JSON.
        where: what the error calls it ("alfworld_train.json, item 3").

    Raises:
        InvalidTrajectories: naming the item and each field that is wrong.
    """
    try:
        return PublishedItem.model_validate(data)
    except ValidationError as error:
        name = data.get("item_id") if isinstance(data, Mapping) else None
        label = f"{where} ({name})" if isinstance(name, str) else where
        raise InvalidTrajectories(f"{label}: {describe_errors(error)}") from error


def describe_errors(error: ValidationError, limit: int = 3) -> str:
    """Return what pydantic found, one clause a field: "conversations.2.value: Field required"."""
    found = error.errors(include_url=False, include_input=False, include_context=False)
    clauses = [
        f"{'.'.join(str(part) for part in e['loc']) or 'the record'}: {e['msg']}"
        for e in found[:limit]
    ]
    more = f" (and {len(found) - limit} more)" if len(found) > limit else ""
    return "; ".join(clauses) + more


def to_item(episode: Episode, *, official_ids: bool = False) -> PublishedItem:
    """Return an episode in the layout of AgentTraj.

    Args:
        episode: the trajectory.
        official_ids: whether to write the published prefixes ("lmrlgym_maze_3", "sqlgym_12")
            instead of the task ids here ("maze_3", "bird_12").
    """
    item_id = published_id(episode.env_id, episode.task_id) if official_ids else episode.task_id
    return PublishedItem.model_validate({"item_id": item_id, "conversations": published(episode)})


def to_evaluation(episode: Episode, *, official_ids: bool = False) -> PublishedItem:
    """Return an episode as the published evaluation script writes its results.

    The keys are conversations, item_id, reward and success, in that order; success is 0 or 1.
    """
    item_id = published_id(episode.env_id, episode.task_id) if official_ids else episode.task_id
    return PublishedItem.model_validate(
        {
            "conversations": published(episode),
            "item_id": item_id,
            "reward": episode.score,
            "success": int(episode.success),
        }
    )


def to_episode(
    item: PublishedItem,
    *,
    action_format: str = "react",
    profile: EnvProfile | None = None,
    agent: str = "AgentTraj",
    env_id: str | None = None,
    edition: str = "official",
    split: str = "",
) -> Episode:
    """Return a published item as an episode, with what its conversation says and nothing more.

    Actions are read from the replies; a reply that cannot be read has action None and is marked
    invalid. The item's reward, where there is one, becomes the score. Rewards by step, seeds,
    rounds allowed and the task set are not in the published data and stay at their defaults.

    Args:
        item: the item.
        action_format: how the replies are to be read.
        profile: the environment, for formats that need its commands.
        agent: name to record as the agent.
        env_id: Gymnasium id, where the item id does not tell it.
        edition: edition the item belongs to.
        split: split the item belongs to.

    Raises:
        InvalidTrajectories: if the turns do not open with human, gpt, human and then alternate,
            or no environment can be told.
    """
    known = item.id.env
    env_id = env_id or (profile.env_id if profile else "") or (known.env_id if known else "")
    if not env_id:
        raise InvalidTrajectories(
            f"item {item.item_id!r} names no known environment: pass env_id, or one of "
            "agentgym.trajectories.items.PUBLISHED as the prefix of its id"
        )
    turns = item.turns
    _require_alternation(item)
    if profile is None:
        multiline = bool(known and known.multiline)
        profile = EnvProfile(env_id, edition, "", "", (), 0, multiline=multiline)
    score = item.score or 0.0
    success = bool(item.success) if item.success is not None else score == 1.0
    return Episode(
        env_id=env_id,
        edition=edition,
        tasks_digest=profile.tasks_digest,
        task_id=item.id.task_id,
        split=split,
        agent=agent,
        action_format=action_format,
        instructions=turns[0].value,
        acknowledgement=turns[1].value,
        observation=turns[2].value,
        steps=_steps(turns, action_format, profile, score),
        score=score,
        success=success,
    )


def _require_alternation(item: PublishedItem) -> None:
    senders = [turn.sender for turn in item.turns]
    for i, sender in enumerate(senders):
        expected = OPENING[i % 2]
        if sender != expected:
            raise InvalidTrajectories(
                f"item {item.item_id!r}, conversations.{i}: expected a message from {expected!r}, "
                f"found one from {sender!r}; a conversation alternates, beginning with 'human'"
            )
    if len(senders) < len(OPENING):
        raise InvalidTrajectories(
            f"item {item.item_id!r} has {len(senders)} messages; a trajectory opens with "
            "instructions, acknowledgement and first observation"
        )


def _steps(
    turns: tuple[Turn, ...], action_format: str, profile: EnvProfile, score: float
) -> tuple[Step, ...]:
    reader = find_format(action_format)
    body = turns[len(OPENING) :]
    steps = []
    for i in range(0, len(body), 2):
        reply, last = body[i], i + 2 >= len(body)
        try:
            reading = reader.read(Reply(reply.value), profile)
            thought, action = reading.thought, reading.action
        except FormatError:
            thought, action = "", None
        steps.append(
            Step(
                reply=reply.value,
                thought=thought,
                action=action,
                # The published files end with a reply where its answer was not recorded.
                observation=body[i + 1].value if i + 1 < len(body) else "",
                reward=score if last else 0.0,
                score=score if last else 0.0,
                valid=action is not None,
                loss=reply.trained,
            )
        )
    return tuple(steps)
