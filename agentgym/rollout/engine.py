"""The engine: many episodes at once, streamed as they finish.

A fixed number of lanes take jobs from one queue. A lane plays one episode at a time, so concurrency
bounds the open environments and model calls; results are handed out as they finish and written to
the run folder first. Nothing in an episode depends on its lane or its worker: seeds follow from
names (`plan`), so the same plan gives the same records at any concurrency, on any executor, and
when an episode whose worker died is played again.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from typing import Any, TypeVar

from agentgym.agents.base import Agent, ChatAgent
from agentgym.agents.message import Usage
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import whole
from agentgym.rollout.episode import Episode
from agentgym.rollout.events import (
    CallRetried,
    EpisodeFinished,
    EpisodeStarted,
    Event,
    Listener,
    RunStarted,
    RunStopped,
    StepTaken,
)
from agentgym.rollout.fleet import Fleet, make_fleet
from agentgym.rollout.formats import find_format
from agentgym.rollout.host import Description, WorkerDied, describe, end
from agentgym.rollout.limits import BudgetExceeded, Limits, Meter, RunAborted
from agentgym.rollout.plan import Job
from agentgym.rollout.play import ModelCalls, converse, lost, play
from agentgym.rollout.profile import EnvProfile
from agentgym.rollout.store import RunFolder
from agentgym.rollout.workers import InlineWorker, Worker

T = TypeVar("T")

TRIES = 4
"""How often an episode is begun whose worker dies each time."""


def rollout(jobs: Sequence[Job], agent: Agent | ChatAgent, **options: Any) -> list[Episode]:
    """Play a plan and return its episodes in the plan's order; see `arollout` for the options.

    Raises:
        BudgetExceeded: if a limit stopped the run; what had finished is in the run folder.
    """

    async def gather() -> dict[str, Episode]:
        return {episode.key: episode async for episode in arollout(jobs, agent, **options)}

    episodes = run_sync(gather())
    return [episodes[job.key] for job in jobs]


async def arollout(
    jobs: Sequence[Job],
    agent: Agent | ChatAgent,
    *,
    action_format: str = "react",
    run: RunFolder | None = None,
    concurrency: int = 16,
    executor: str = "auto",
    limits: Limits | None = None,
    keep_tokens: bool = False,
    on_event: Listener | None = None,
) -> AsyncIterator[Episode]:
    """Play a plan, yielding episodes as they finish.

    Args:
        jobs: what to play, from `plan`.
        agent: who plays.
        action_format: "react", "function_calling" or "code_as_action".
        run: where records go; attempts it has finished are not played again but yielded first.
        concurrency: how many episodes run at a time.
        executor: "auto", "inline", "thread", "process" or "ray".
        limits: what the run may spend.
        keep_tokens: whether records keep the sampled tokens, where the agent gives them.
        on_event: called with every `Event`, in the event loop's thread.

    Raises:
        BudgetExceeded: once a limit is reached; episodes under way leave no record.
        ClusterError: if a Ray cluster cannot hold what the environments need.
        InvalidConfig: if two jobs are the same attempt, or an option is out of range.
    """
    concurrency = whole("concurrency", concurrency)
    if len({job.key for job in jobs}) < len(jobs):
        raise InvalidConfig("the plan holds the same attempt at a task twice")
    wanted = {job.key for job in jobs}
    known = {e.key: e for e in run.episodes() if e.status != "failed"} if run else {}
    done = {key: episode for key, episode in known.items() if key in wanted}
    todo = [job for job in jobs if job.key not in done]
    engine = _Engine(todo, agent, action_format, run, limits or Limits(), keep_tokens, on_event)
    engine.tell(RunStarted(Counter(job.env.env_id for job in jobs), tuple(done.values())))
    for job in jobs:
        if job.key in done:
            yield done[job.key]
    if todo:
        async with contextlib.aclosing(engine.play(concurrency, executor)) as episodes:
            async for episode in episodes:
                yield episode


class _Engine:
    """One run: its queue, its meter, its workers."""

    def __init__(
        self,
        jobs: Sequence[Job],
        agent: Agent | ChatAgent,
        action_format: str,
        run: RunFolder | None,
        limits: Limits,
        keep_tokens: bool,
        on_event: Listener | None,
    ) -> None:
        self.jobs, self.agent, self.run = deque(jobs), agent, run
        self.fmt = find_format(action_format)
        self.limits, self.meter = limits, Meter(limits)
        self.keep_tokens, self.tell = keep_tokens, on_event or _ignore
        self.profiles: dict[str, EnvProfile] = {}
        self.start = time.monotonic()
        self.crowd = 0

    async def play(self, concurrency: int, executor: str) -> AsyncGenerator[Episode, None]:
        """Run the lanes and yield what they finish."""
        # The profiles are read in this process; workers elsewhere make their own environments.
        probe = InlineWorker()
        try:
            described = await self._describe(probe)
        finally:
            probe.close()
        count = min(concurrency, len(self.jobs))
        fleet = make_fleet(
            executor, count, self.jobs, described, whole=isinstance(self.agent, Agent)
        )
        try:
            await fleet.open()
            async with contextlib.aclosing(self._run(fleet, count)) as episodes:
                async for episode in episodes:
                    yield episode
        finally:
            await fleet.close()

    async def _run(self, fleet: Fleet, count: int) -> AsyncGenerator[Episode, None]:
        """Run so many lanes and yield what they finish."""
        finished: asyncio.Queue[Episode | None] = asyncio.Queue(maxsize=4 * count)
        lanes = [asyncio.create_task(self._lane(fleet, i, finished)) for i in range(count)]
        watcher = asyncio.create_task(_close_queue(lanes, finished))
        try:
            while (episode := await self._next(finished)) is not None:
                yield episode
            await watcher
            for lane in lanes:
                if lane.done():  # where one raised, others are still under way
                    lane.result()
        finally:
            for task in (*lanes, watcher):
                task.cancel()
            await asyncio.gather(*lanes, watcher, return_exceptions=True)

    async def _next(self, finished: asyncio.Queue[Episode | None]) -> Episode | None:
        """Wait for an episode, as long as the run may last: a model may never answer."""
        seconds = self.limits.seconds
        if seconds is None:
            return await finished.get()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.start + seconds - time.monotonic()):
                return await finished.get()
        self._stop_if_spent()
        return await self._next(finished)

    async def _describe(self, worker: Worker) -> dict[str, Description]:
        """Return what is known of every environment; keep the profiles."""
        choices = {job.env.identity: job.env for job in self.jobs}
        described = {key: await worker.run(describe, choice) for key, choice in choices.items()}
        self.profiles = {key: description.profile for key, description in described.items()}
        return described

    async def _lane(self, fleet: Fleet, lane: int, finished: asyncio.Queue[Episode | None]) -> None:
        while (next_one := await self._next_job(fleet)) is not None:
            job, worker = next_one
            self.tell(EpisodeStarted(job))
            episode = await self._episode(fleet, worker, job, f"{lane}/{job.key}")
            fleet.finished(job.env)
            if self.run is not None:
                self.run.append(episode)
            failed = episode.status == "failed"
            self.meter.finished(episode.failure.message if failed and episode.failure else None)
            self.tell(EpisodeFinished(job, episode))
            await finished.put(episode)
            await asyncio.sleep(0)  # an agent that never waits must still let others in

    async def _next_job(self, fleet: Fleet) -> tuple[Job, Worker] | None:
        """Return the first job there is a place for, and the place; None when all are begun."""
        while self.jobs:
            self._stop_if_spent()
            for i, job in enumerate(self.jobs):
                worker = fleet.take(job.env)
                if worker is not None:
                    del self.jobs[i]
                    return job, worker
            await self._room(fleet)
        return None

    async def _room(self, fleet: Fleet) -> None:
        """Wait until there may be a place; the model is told of those who have none."""
        self._crowd(1)
        try:
            await fleet.room()
        finally:
            self._crowd(-1)

    def _crowd(self, lanes: int) -> None:
        self.crowd += lanes
        if isinstance(self.agent, ChatAgent):
            self.agent.crowded(self.crowd)

    async def _place(self, fleet: Fleet, job: Job) -> Worker:
        """Wait for a worker that has a place for a job."""
        while (worker := fleet.take(job.env)) is None:
            await self._room(fleet)
        return worker

    async def _episode(self, fleet: Fleet, worker: Worker, job: Job, token: str) -> Episode:
        """Play a job; one whose worker dies is played again in another, a few times."""
        died = WorkerDied("the worker died")
        for turn in range(TRIES):
            if turn:
                worker = await self._place(fleet, job)
            try:
                return await self._attempt(worker, job, token)
            except WorkerDied as error:
                died = error
            finally:
                fleet.give_back(worker)
        return lost(job, self.agent.name, self.fmt, self.profiles[job.env.identity], died)

    async def _attempt(self, worker: Worker, job: Job, token: str) -> Episode:
        profile = self.profiles[job.env.identity]
        if isinstance(self.agent, Agent):
            return await worker.run(play, token, job, self.agent, self.fmt.name, profile)
        calls = ModelCalls(
            self.agent,
            token,
            job,
            self.limits,
            self._spend,
            lambda message, delay: self.tell(CallRetried(job, message, delay)),
        )
        broken = True
        try:
            episode = await converse(
                worker,
                token,
                job,
                calls,
                self.fmt,
                profile,
                keep_tokens=self.keep_tokens,
                on_step=lambda step: self.tell(StepTaken(job, step)),
            )
            broken = episode.failure is not None and episode.failure.where == "environment"
            return episode
        except WorkerDied:
            broken = False  # it is gone, there is nothing to close
            raise
        finally:
            with contextlib.suppress(WorkerDied):
                await asyncio.shield(worker.run(end, token, broken))

    def _spend(self, usage: Usage) -> None:
        self.meter.add(usage)
        self._stop_if_spent()

    def _stop_if_spent(self) -> None:
        reason = self.meter.exceeded(time.monotonic() - self.start)
        if reason:
            self.jobs.clear()
            self.tell(RunStopped(reason))
            kept = f" What finished is in {self.run.path}." if self.run else ""
            raise BudgetExceeded(f"the run stopped: {reason}.{kept}")


async def _close_queue(
    lanes: Sequence[asyncio.Task[None]], finished: asyncio.Queue[Episode | None]
) -> None:
    """Wait for the lanes, or for the first that raises, and end the queue."""
    await asyncio.wait(lanes, return_when=asyncio.FIRST_EXCEPTION)
    await finished.put(None)


def _ignore(event: Event) -> None:
    """Hear nothing."""


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, from a script or from inside a running loop (a notebook)."""
    if not _loop_is_running():
        return asyncio.run(work)
    box: list[Callable[[], T]] = []

    def target() -> None:
        try:
            value = asyncio.run(work)
            box.append(lambda: value)
        except BaseException as error:
            box.append(lambda error=error: _raise(error))  # type: ignore[misc]

    thread = threading.Thread(target=target, name="agentgym-run")
    thread.start()
    thread.join()
    return box[0]()


def _loop_is_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _raise(error: BaseException) -> Any:
    raise error


__all__ = ["RunAborted", "arollout", "rollout", "run_sync"]
