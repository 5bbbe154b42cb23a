"""The shapes of our protocol, for its OpenAPI page and for whoever writes a client.

Requests are read by `fields` and answers are made by the workers; these models say what both look
like, and the tests hold real requests and answers against them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

_Seq = Annotated[
    int | None,
    Field(
        ge=1,
        description=(
            "The number of this call among those that act (reset, step, forfeit, restore): one "
            "more than the header `agentgym-seq` of the last answer. The same number again gets "
            "the same answer again, so that a call can be repeated without acting twice."
        ),
    ),
]
_Options = Annotated[
    dict[str, Any] | None,
    Field(
        description="What the environment is made with: edition, split, max_rounds, …",
        examples=[{"edition": "mini"}],
    ),
]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ResetChoice(_Request):
    """Which episode to begin."""

    seed: int | None = Field(None, ge=0, description="Seeds what picks the task, and the episode.")
    task_id: str | None = Field(None, description="The task to play.", examples=["textcraft_12"])
    split: Literal["train", "eval"] | None = Field(None, description="The split to pick from.")


class ResetRequest(ResetChoice):
    """Begin an episode."""

    seq: _Seq = None


class CreateRequest(_Request):
    """Open a session."""

    environment: str = Field(description="Id or short name.", examples=["textcraft"])
    options: _Options = None
    key: str | None = Field(
        None,
        max_length=512,
        description="A name for this request: the same key again gets the same session.",
    )
    reset: ResetChoice | None = Field(None, description="Begin an episode at once.")


class StepRequest(_Request):
    """Play an action."""

    action: str = Field(description="A bare action, no model's reply.", examples=["inventory"])
    seq: _Seq = None


class BatchStep(StepRequest):
    """One step of a batch."""

    session: str


class ForfeitRequest(_Request):
    """Spend a round without acting, as when a model's reply holds no action."""

    message: str = Field(description="What the agent is told; it becomes the observation.")
    seq: _Seq = None


class RestoreRequest(_Request):
    """Return to a snapshot."""

    state: dict[str, Any] = Field(description="What `state` answered, of any session.")
    seq: _Seq = None


class ExpertRequest(_Request):
    """Ask the expert for a move."""

    fresh: bool = Field(False, description="Whether it should think anew from here.")


class SampleRequest(_Request):
    """Draw a random action."""

    seed: int = Field(0, ge=0, description="The same seed draws the same action.")
    rng: dict[str, Any] | None = Field(
        None, description="Instead of a seed, the state of a NumPy generator (PCG64) to go on from."
    )


class AboutRequest(_Request):
    """Describe an environment made with some options."""

    options: _Options = None


class Info(BaseModel):
    """What is known of an episode; an environment may add more."""

    model_config = ConfigDict(extra="allow")

    task_id: str
    goal: str
    score: float = Field(ge=0, le=1)
    success: bool
    valid: bool = Field(description="Whether the last action was one.")
    actions: list[str] | None = Field(description="What can be done now; null where that is open.")
    rounds: int


class Turn(BaseModel):
    """What an environment answers to an action, or to the beginning of an episode."""

    observation: str
    reward: float = Field(description="The change of the score.")
    terminated: bool = Field(description="The task has ended.")
    truncated: bool = Field(description="The rounds are spent.")
    info: Info


class SessionAbout(BaseModel):
    """An environment as a session has it."""

    model_config = ConfigDict(extra="allow")

    environment: str
    name: str = Field(description="The prefix of the task ids.")
    edition: str
    split: str
    max_rounds: int
    render_mode: str | None
    max_action_length: int
    multiline_actions: bool
    blocking: bool
    tasks_version: str
    tasks_digest: str


class Session(BaseModel):
    """A session."""

    session: str = Field(
        description="Its id, which is not to be guessed: who has it has the session."
    )
    environment: str = Field(examples=["agentgym/TextCraft-v0"])
    options: dict[str, Any]
    about: SessionAbout


class OpenedSession(Session):
    """A session that has just been opened."""

    turn: Turn | None = Field(description="The first observation, where an episode was begun.")


class BatchAnswer(BaseModel):
    """The answer to one step of a batch: `answer` or `error`."""

    session: str
    status: int = Field(description="The HTTP status this step would have had alone.")
    seq: int | None
    answer: Turn | None = None
    error: ErrorBody | None = None


class State(BaseModel):
    """A snapshot."""

    state: dict[str, Any]


class Picture(BaseModel):
    """A picture."""

    shape: list[int] = Field(description="Height, width and 3.")
    pixels: str = Field(description="Red, green and blue of each pixel, row by row, in base64.")


class Rendered(BaseModel):
    """The present state to look at."""

    render: str | Picture = Field(description="Text, or a picture in the mode `rgb_array`.")


class Advice(BaseModel):
    """A move of the expert."""

    thought: str
    action: str


class Drawn(BaseModel):
    """A random action."""

    action: str
    rng: dict[str, Any] | None = Field(
        None, description="The state after the draw, where one was given."
    )


class EnvironmentCard(BaseModel):
    """An environment in the list."""

    id: str
    name: str
    summary: str


class Environments(BaseModel):
    """What is served."""

    environments: list[EnvironmentCard]


class EnvironmentAbout(BaseModel):
    """All there is to know of an environment before it is played."""

    model_config = ConfigDict(extra="allow")

    environment: str
    name: str
    title: str
    edition: str
    editions: dict[str, dict[str, Any]]
    instructions: str = Field(description="What a model must be told before the first observation.")
    commands: list[dict[str, Any]] = Field(description="The grammar of the actions.")
    max_rounds: int
    multiline_actions: bool
    render_modes: list[str]
    tasks: dict[str, int] = Field(description="The number of tasks by split.")
    tasks_version: str
    tasks_digest: str


class TaskCard(BaseModel):
    """A task, without what is in it."""

    id: str
    index: int
    split: str
    kind: str


class Tasks(BaseModel):
    """A page of tasks."""

    version: str
    digest: str
    note: str = Field(description="Where the tasks or their split come from.")
    total: int = Field(description="Tasks in all, of the split where one was asked for.")
    offset: int
    tasks: list[TaskCard]


class Health(BaseModel):
    """Whether the server takes requests."""

    status: Literal["ok", "stopping"]


class ErrorBody(BaseModel):
    """What was wrong."""

    type: str = Field(examples=["UnknownTask"])
    types: list[str] = Field(
        description="The names of the error's classes, the nearest first.",
        examples=[["UnknownTask", "UnknownName", "AgentGymError"]],
    )
    message: str = Field(description="What was wrong and what to do.")


class Error(BaseModel):
    """Every failure has this shape."""

    error: ErrorBody


BatchAnswer.model_rebuild()
