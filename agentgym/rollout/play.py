"""One episode: an agent meets an environment.

Two loops with one shape. `play` is for agents that map an observation to an action; it is
synchronous and runs where the environment is. `converse` is for language models; it awaits the
model, and reaches the environment through a worker. What breaks is caught where it crosses into the
loop and becomes part of the record: a broken episode is data, not a crash.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from agentgym.agents.base import Agent, ChatAgent, ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, ToolCall, Usage, require_reply, utf8
from agentgym.rollout.conversation import Conversation
from agentgym.rollout.episode import Episode, Failure, Status, Step
from agentgym.rollout.formats import ActionFormat, FormatError, find_format
from agentgym.rollout.host import Answer, EnvHost, WorkerDied, advance, begin
from agentgym.rollout.limits import Limits, RunAborted
from agentgym.rollout.plan import Job, derive_seed
from agentgym.rollout.profile import EnvProfile
from agentgym.rollout.workers import Worker

NO_ACTION = "No action was given; this round is lost."
LONGEST_PAUSE = 60.0
"""Seconds; an endpoint that asks for more is asked again after so many."""


class _Stop(Exception):
    """Leaves an episode early, with the record of why."""

    def __init__(self, status: Status, failure: Failure) -> None:
        super().__init__(failure.message)
        self.status, self.failure = status, failure


def _failure(where: Any, error: BaseException) -> Failure:
    return Failure(where=where, type=type(error).__name__, message=utf8(str(error)))


class _Log:
    """Gathers an episode's record while it is played."""

    def __init__(self, job: Job, agent: str, fmt: ActionFormat, profile: EnvProfile) -> None:
        self.job, self.agent, self.fmt, self.profile = job, agent, fmt, profile
        self.start = time.perf_counter()
        self.observation, self.goal, self.instructions = "", "", ""
        self.steps: list[Step] = []
        self.score, self.success, self.terminated, self.truncated = 0.0, False, False, False

    def opened(self, observation: str, info: dict[str, Any]) -> None:
        self.observation, self.goal = utf8(observation), utf8(info["goal"])
        if self.job.moment is not None:
            self.score, self.success = info["score"], info["success"]

    @property
    def over(self) -> bool:
        """Whether the episode has ended, or as many rounds were played as were to be."""
        most = self.job.moment.rounds if self.job.moment else None
        return self.terminated or self.truncated or (most is not None and len(self.steps) >= most)

    def add(self, step: Step, terminated: bool, truncated: bool, success: bool) -> None:
        self.steps.append(step)
        self.score, self.success = step.score, success
        self.terminated, self.truncated = terminated, truncated

    def episode(self, stop: _Stop | None) -> Episode:
        job, profile = self.job, self.profile
        return Episode(
            env_id=profile.env_id,
            edition=profile.edition,
            tasks_digest=profile.tasks_digest,
            task_id=job.task.id,
            kind=job.task.kind,
            split=job.task.split,
            attempt=job.attempt,
            seed=job.seed,
            max_rounds=profile.max_rounds,
            env_options=dict(profile.options),
            agent=self.agent,
            action_format=self.fmt.name,
            instructions=self.instructions or self.fmt.instructions(profile),
            acknowledgement=self.fmt.acknowledgement,
            goal=self.goal,
            observation=self.observation,
            steps=tuple(self.steps),
            score=self.score,
            success=self.success,
            terminated=self.terminated,
            truncated=self.truncated,
            status=stop.status if stop else "completed",
            failure=stop.failure if stop else None,
            duration=time.perf_counter() - self.start,
        )


def lost(
    job: Job, agent: str, fmt: ActionFormat, profile: EnvProfile, error: WorkerDied
) -> Episode:
    """Return the record of an episode whose environment's process died, and died again."""
    return _Log(job, agent, fmt, profile).episode(_Stop("failed", _failure("environment", error)))


def play(
    host: EnvHost, token: str, job: Job, agent: Agent, fmt: str, profile: EnvProfile
) -> Episode:
    """Play one episode with an agent that acts on observations.

    Args:
        host: where the environment is.
        token: identifies the episode in the host.
        job: what to play.
        agent: who plays; `start` gives the episode its own copy.
        fmt: name of the action format the replies are recorded in.
        profile: the environment's profile.
    """
    log = _Log(job, agent.name, find_format(fmt), profile)
    broken = False
    try:
        _play(host, token, job, agent, log)
        return log.episode(None)
    except _Stop as stop:
        broken = stop.failure.where == "environment"
        return log.episode(stop)
    finally:
        host.give_back(token, broken=broken)


def _play(host: EnvHost, token: str, job: Job, agent: Agent, log: _Log) -> None:
    try:
        observation, info = begin(host, token, *job.beginning)
        log.opened(observation, info)
    except Exception as error:
        raise _Stop("failed", _failure("environment", error)) from error
    try:
        player = agent.start(host.env(token), job.agent_seed)
    except RunAborted:
        raise
    except Exception as error:
        raise _Stop("failed", _failure("agent", error)) from error
    while not log.over:
        try:
            thought, action = _split(player.act(observation, info))
            reply = _write(log, thought, action)
        except RunAborted:
            raise
        except Exception as error:
            raise _Stop("failed", _failure("agent", error)) from error
        try:
            answer = advance(host, token, action, NO_ACTION)
            observation, _, terminated, truncated, info = answer
            step = _step(answer, reply=reply, thought=thought, action=action)
        except Exception as error:
            raise _Stop("failed", _failure("environment", error)) from error
        log.add(step, terminated, truncated, info["success"])


def _step(answer: Answer, **said: Any) -> Step:
    """Return the record of a round, from the environment's answer and what the agent said."""
    observation, reward, _, _, info = answer
    return Step(
        observation=utf8(observation),
        reward=reward,
        score=info["score"],
        valid=info["valid"],
        **said,
    )


def _split(decision: object) -> tuple[str, str | None]:
    """Read what `Agent.act` returned: an action, (thought, action), or None."""
    if decision is None or isinstance(decision, str):
        return "", decision if decision is None else utf8(decision)
    if isinstance(decision, tuple) and len(decision) == 2 and isinstance(decision[0], str):
        thought, action = decision
        if action is None or isinstance(action, str):
            return utf8(thought), action if action is None else utf8(action)
    raise TypeError(f"act() must return an action or (thought, action), got {decision!r:.200}")


def _write(log: _Log, thought: str, action: str | None) -> str:
    """Write a reply in the run's format; an action outside the grammar is written as react."""
    if action is None:
        return thought
    try:
        return log.fmt.write(thought, action, log.profile).text
    except FormatError:
        return find_format("react").write(thought, action, log.profile).text


class ModelCalls:
    """Makes an episode's model calls: with seeds, retries and the count of what they cost.

    Args:
        agent: the model.
        token: identifies the episode to the agent.
        job: the episode's job.
        limits: the run's limits.
        spend: called with the usage of each call; raises `RunAborted` to stop the run.
        retried: called with (message, delay) before each pause.
    """

    def __init__(
        self,
        agent: ChatAgent,
        token: str,
        job: Job,
        limits: Limits,
        spend: Callable[[Usage], None],
        retried: Callable[[str, float], None],
    ) -> None:
        self.agent, self.token, self.job, self.limits = agent, token, job, limits
        self.spend, self.retried = spend, retried
        self.turn, self.total = 0, Usage()

    async def complete(self, messages: list[Message], tools: list[dict[str, Any]]) -> Reply:
        """Return the model's reply, trying again where that may help.

        Raises:
            _Stop: if the conversation is too long, or the retries are spent.
        """
        # A Weyl sequence: different for every turn, and cheap.
        seed = (self.job.agent_seed + 0x9E3779B1 * self.turn) & 0x7FFFFFFF
        self.turn += 1
        for attempt in range(self.limits.retries + 1):
            try:
                reply = await self.agent.complete(
                    messages, tools=tools, episode=self.token, seed=seed
                )
                reply = _writable(reply)
                break
            except ContextOverflow as error:
                raise _Stop("limit", _failure("limit", error)) from error
            except ModelError as error:
                if not error.retryable or attempt == self.limits.retries:
                    raise _Stop("failed", _failure("model", error)) from error
                jitter = derive_seed(seed, attempt) / 2**32
                delay = min(error.retry_after or 2.0**attempt * (0.75 + jitter), LONGEST_PAUSE)
                self.retried(str(error), delay)
                await asyncio.sleep(delay)
            except (RunAborted, asyncio.CancelledError):
                raise
            except Exception as error:
                raise _Stop("failed", _failure("model", error)) from error
        self.total.add(reply.usage)
        self.spend(reply.usage)
        return reply

    def check(self) -> None:
        """Raise `_Stop` if the episode has used its tokens."""
        used, limit = self.total.tokens, self.limits.episode_tokens
        if limit is not None and used >= limit:
            message = f"the episode's budget of {limit} tokens is spent ({used} used)"
            raise _Stop("limit", Failure(where="limit", type="EpisodeTokens", message=message))


async def converse(
    worker: Worker,
    token: str,
    job: Job,
    calls: ModelCalls,
    fmt: ActionFormat,
    profile: EnvProfile,
    *,
    keep_tokens: bool = False,
    on_step: Callable[[Step], None] | None = None,
) -> Episode:
    """Play one episode with a language model.

    Args:
        worker: where the environment is.
        token: identifies the episode in the worker and to the agent.
        job: what to play.
        calls: the model's calls.
        fmt: how replies are read.
        profile: the environment's profile.
        keep_tokens: whether the record keeps the sampled tokens.
        on_step: called after every round.

    Raises:
        RunAborted: if the run's budget is spent; the episode leaves no record.
        WorkerDied: if the environment's process died; the episode may be played again.
    """
    log = _Log(job, calls.agent.name, fmt, profile)
    tools = fmt.tools(profile) if calls.agent.supports_tools else []
    log.instructions = fmt.instructions(profile, tools=bool(tools))
    try:
        observation, info = await _reach(worker.run(begin, token, *job.beginning))
        log.opened(observation, info)
        talk = _talk(job, log)
        while not log.over:
            calls.check()
            reply = await calls.complete(talk.messages, tools)
            step, ended, success = await _round(worker, token, reply, fmt, profile, keep_tokens)
            log.add(step, *ended, success)
            talk.add(Message("assistant", reply.text, reply.tool_calls), step.observation)
            if on_step is not None:
                on_step(step)
        return log.episode(None)
    except _Stop as stop:
        return log.episode(stop)
    finally:
        calls.agent.release(token)


def _talk(job: Job, log: _Log) -> Conversation:
    """Return the conversation a model is shown first."""
    # What an environment says at a snapshot is its answer to the last step before it.
    first = job.moment.opening if job.moment else log.observation
    talk = Conversation(log.instructions, log.fmt.acknowledgement, first)
    for step in job.moment.steps if job.moment else ():
        talk.add(Message("assistant", step.reply, step.tool_calls), step.observation)
    return talk


async def _reach(answer: Any) -> Any:
    """Await an environment; what it raises ends the episode as failed."""
    try:
        return await answer
    except (WorkerDied, asyncio.CancelledError):
        raise
    except Exception as error:
        raise _Stop("failed", _failure("environment", error)) from error


async def _round(
    worker: Worker,
    token: str,
    reply: Reply,
    fmt: ActionFormat,
    profile: EnvProfile,
    keep_tokens: bool,
) -> tuple[Step, tuple[bool, bool], bool]:
    """Read a reply and play what it says."""
    thought, action, message = "", None, ""
    try:
        reading = fmt.read(reply, profile)
        # JSON and Python text can spell a lone surrogate by an escape, which no record can hold.
        thought, action = utf8(reading.thought), utf8(reading.action)
    except FormatError as error:
        message = utf8(str(error))
    answer = await _reach(worker.run(advance, token, action, message))
    try:
        step = _step(
            answer,
            reply=_reply_text(reply),
            thought=thought,
            action=action,
            tool_calls=reply.tool_calls,
            reasoning=reply.reasoning,
            usage=reply.usage,
            sampled=reply.sampled if keep_tokens else None,
        )
    except Exception as error:
        # The reply was checked when it came, but for the sampled tokens; the rest is the answer's.
        fields = [e["loc"][0] for e in error.errors()] if isinstance(error, ValidationError) else []
        where = "model" if "sampled" in fields else "environment"
        raise _Stop("failed", _failure(where, error)) from error
    return step, (answer[2], answer[3]), answer[4]["success"]


def _writable(reply: Reply) -> Reply:
    """Return a reply whose texts can be recorded as UTF-8.

    Raises:
        TypeError: if what the agent returned is no reply, or a part of it is of the wrong kind.
        ValueError: if it counts tokens, calls or dollars that cannot be.
    """
    require_reply(reply)
    if reply.text.isascii() and not (reply.reasoning or reply.tool_calls):
        return reply
    calls = tuple(ToolCall(utf8(c.name), utf8(c.arguments), c.id) for c in reply.tool_calls)
    return replace(reply, text=utf8(reply.text), reasoning=utf8(reply.reasoning), tool_calls=calls)


def _reply_text(reply: Reply) -> str:
    """Return a reply as text; tool calls are written as the JSON that would read the same."""
    if not reply.tool_calls:
        return reply.text
    return utf8("\n".join(_call_text(reply.text, call) for call in reply.tool_calls))


def _call_text(thought: str, call: ToolCall) -> str:
    data = {"thought": thought, "function_name": call.name}
    try:
        arguments = json.loads(call.arguments or "{}")
        return json.dumps({**data, "arguments": arguments}, ensure_ascii=False)
    except (ValueError, RecursionError):  # no JSON, or nested without end: as it was written
        return json.dumps({**data, "arguments": call.arguments}, ensure_ascii=False)
