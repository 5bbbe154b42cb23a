"""What is learned from: demonstrations, as examples of tokens and weights.

Everything a trainer of likelihoods reads becomes an `Example` (messages with a loss weight each)
and then a `Row` (tokens with a loss weight each). What does not fit, or holds nothing to learn, is
counted in an `ExampleReport`, which every run prints and keeps: nothing is cut or dropped in
silence.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, NamedTuple

from pydantic import Field

from agentgym.baselines.chat import ChatTemplate, Encoded
from agentgym.baselines.checkpoints import is_main
from agentgym.baselines.config import EnvTasks, LengthConfig, Settings
from agentgym.baselines.progress import EpisodeLines, Say, silent, to_stderr
from agentgym.baselines.sources import SourceReport
from agentgym.core import make, portable_id, short_name
from agentgym.core.errors import InvalidConfig
from agentgym.rollout.episode import Episode
from agentgym.rollout.formats import find_format
from agentgym.rollout.plan import EnvChoice
from agentgym.rollout.profile import EnvProfile
from agentgym.trajectories.chat import chat_example
from agentgym.trajectories.collect import describe_left_out, gather
from agentgym.trajectories.dataset import TrajectoryDataset
from agentgym.trajectories.published import PublishedItem
from agentgym.trajectories.store import read, read_items


class NothingToLearn(InvalidConfig):
    """What was played holds nothing to learn from; the message says what would give some."""


class DataConfig(Settings):
    """Which demonstrations are learned from.

    Attributes:
        files: trajectories: files, run folders or Hugging Face datasets on disk.
        layout: "episodes", or "published" for files in AgentTraj's own layout.
        expert: environments whose expert plays the demonstrations now; they are the same every
            time, so they need no file.
        min_score: leave out trajectories with a lower score.
        best: keep the best trajectory of each task alone.
        per_turn: make an example of every turn, with the prompt of that turn, for chat templates
            that write earlier turns differently later on.
        chat: files of general conversations to learn beside, one {"messages": [...]} a line; every
            assistant message in them is learned.
    """

    files: tuple[Path, ...] = ()
    layout: Literal["episodes", "published"] = "episodes"
    expert: tuple[EnvTasks, ...] = ()
    min_score: float | None = Field(None, ge=0, le=1)
    best: bool = False
    per_turn: bool = False
    chat: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Example:
    """One conversation to learn from.

    Attributes:
        messages: chat messages.
        weights: a loss weight a message.
        source: what it is from, for reports ("maze_3").
        tools: the tool schemas that were offered.
    """

    messages: Sequence[dict[str, Any]]
    weights: Sequence[float]
    source: str
    tools: tuple[dict[str, Any], ...] = ()

    def weighted(self, weight: float) -> Example:
        """Return the example with every loss weight multiplied."""
        return replace(self, weights=[w * weight for w in self.weights])


class Row(NamedTuple):
    """One sequence for a trainer.

    Attributes:
        input_ids: its tokens.
        labels: the tokens where they are learned, else -100.
        weights: a loss weight a token, 0 where the label is -100.
    """

    input_ids: list[int]
    labels: list[int]
    weights: list[float]


@dataclass
class ExampleReport:
    """What became of the examples.

    Attributes:
        examples: how many there were.
        rows: sequences made of them.
        tokens: tokens of all sequences.
        learned: tokens that are learned.
        longest: tokens of the longest example, before anything was cut.
        dropped: examples left out because they are too long.
        truncated: examples cut after a turn.
        turns_lost: learned turns that were cut off, those of dropped examples included.
        empty: examples that hold nothing to learn.
        demonstrations: what the examples were chosen from, where that is known.
        max_tokens: the limit that applied.
        names: some of the examples dropped or cut.
    """

    examples: int = 0
    rows: int = 0
    tokens: int = 0
    learned: int = 0
    longest: int = 0
    dropped: int = 0
    truncated: int = 0
    turns_lost: int = 0
    empty: int = 0
    max_tokens: int = 0
    names: tuple[str, ...] = ()
    demonstrations: SourceReport | None = None

    def __str__(self) -> str:
        parts = [
            f"{self.rows} sequences of {self.examples} examples, {self.tokens} tokens, "
            f"{self.learned} learned; longest {self.longest}"
        ]
        if self.dropped or self.truncated:
            parts.append(
                f"over the limit of {self.max_tokens} tokens: {self.dropped} dropped, "
                f"{self.truncated} cut after a turn, {self.turns_lost} turns lost "
                f"({', '.join(self.names)})"
            )
        if self.empty:
            parts.append(f"{self.empty} hold nothing to learn")
        return "; ".join(parts)


def demonstrations(
    config: DataConfig,
    *,
    seed: int = 0,
    say: Say = to_stderr,
    report: SourceReport | None = None,
) -> list[Episode | PublishedItem]:
    """Return the trajectories a configuration names, in order.

    Args:
        config: which these are.
        seed: decides what experts play.
        say: takes lines of progress while experts play, and one on what was left out.
        report: counts what was found and left out.

    Raises:
        InvalidTrajectories: if a file cannot be read.
        InvalidConfig: if no trajectory is left.
    """
    report = SourceReport() if report is None else report
    say = say if is_main() else silent
    found: list[Episode | PublishedItem] = []
    for path in config.files:
        found += read_items(path) if config.layout == "published" else read(path)
    report.read = len(found)
    for tasks in config.expert:
        found += expert_episodes(tasks, seed=seed, say=say, report=report)
    kept = chosen(found, config, report)
    if report.left_out:
        say(str(report))
    return kept


def chosen(
    found: list[Episode | PublishedItem], config: DataConfig, report: SourceReport | None = None
) -> list[Episode | PublishedItem]:
    """Return which of some trajectories are learned, in order.

    Args:
        found: the trajectories.
        config: which of them.
        report: counts what was left out; None where all were read from files.

    Raises:
        InvalidConfig: if none is left.
    """
    report = SourceReport(read=len(found)) if report is None else report
    if config.min_score is not None:
        scored = [d for d in found if d.score is not None]
        report.unscored += len(found) - len(scored)
        found = [d for d in scored if d.score is not None and d.score >= config.min_score]
        report.low += len(scored) - len(found)
    if config.best:
        episodes = [e for e in found if isinstance(e, Episode)]
        if len(episodes) < len(found):
            raise InvalidConfig(
                "data.best chooses among episodes by their scores, which items of the published "
                "layout seldom have: set data.best=false"
            )
        found = list(TrajectoryDataset(episodes).dedupe())
        report.worse += len(episodes) - len(found)
    report.kept = len(found)
    if not found and not config.chat:
        if report.left_out:
            raise InvalidConfig(f"no demonstrations are left: {report}. To have some, "
                                f"{report.advice}")  # fmt: skip
        raise InvalidConfig(
            "there are no demonstrations: name files (data.files) or environments whose expert "
            "plays them (data.expert)"
        )
    return found


def expert_episodes(
    tasks: EnvTasks, *, seed: int = 0, say: Say = to_stderr, report: SourceReport | None = None
) -> list[Episode]:
    """Return the expert's trajectories of some tasks; its failures are left out, and told.

    Args:
        tasks: the tasks.
        seed: decides the episodes.
        say: takes lines of progress, and one on the failures.
        report: counts what was played and what failed.
    """
    name = short_name(portable_id(tasks.env))
    kept, failed = gather(
        tasks.env,
        split=tasks.split,
        edition=tasks.edition,
        tasks=tasks.tasks,
        max_rounds=tasks.max_rounds,
        options=dict(tasks.options),
        kinds=tasks.kinds,
        seed=seed,
        on_event=EpisodeLines(say, f"the expert plays {name}"),
    )
    if report is not None:
        report.played += len(kept) + len(failed)
        report.failed += len(failed)
    if failed:
        total, advice = len(kept) + len(failed), "More rounds (max_rounds) may let it finish."
        say(f"the expert fails in {name}: {describe_left_out(failed, total, advice=advice)}")
    return list(kept)


def env_choice(tasks: EnvTasks) -> EnvChoice:
    """Return the environment and split as a rollout takes them."""
    return EnvChoice(
        env_id=portable_id(tasks.env),
        edition=tasks.edition,
        split=tasks.split,
        max_rounds=tasks.max_rounds,
        options=tasks.options,
        kinds=tasks.kinds,
    )


def example_of(source: Episode | PublishedItem, weight: float = 1.0) -> Example:
    """Return a trajectory as an example; the data's own flags say which turns are learned."""
    chat = chat_example(source)
    tools = _tools(source) if isinstance(source, Episode) else ()
    return Example(chat["messages"], chat["weights"], chat["task_id"], tools).weighted(weight)


def chat_file(path: Path) -> Iterator[Example]:
    """Yield the conversations of a JSONL file of {"messages": [...]}, all replies learned.

    Raises:
        InvalidConfig: naming the line that is no such conversation.
    """
    with path.open(encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            try:
                messages = json.loads(line)["messages"]
                weights = [float(message["role"] == "assistant") for message in messages]
            except (ValueError, KeyError, TypeError) as error:
                raise InvalidConfig(
                    f'{path}, line {number} is no {{"messages": [...]}}: {error!r}'
                ) from error
            yield Example(messages, weights, f"{path.name}:{number}")


def make_rows(
    examples: Iterable[Example],
    template: ChatTemplate,
    length: LengthConfig,
    *,
    context: int,
    per_turn: bool = False,
) -> tuple[list[Row], ExampleReport]:
    """Return the sequences of some examples, and what became of them.

    Args:
        examples: what to learn from.
        template: how conversations are written.
        length: how long a sequence may be, and what is done with a longer one.
        context: most tokens the model takes.
        per_turn: whether to make a sequence of every turn.

    Raises:
        InvalidConfig: if an example is too long and `length` says that is an error, or nothing
            is left to learn.
    """
    report = ExampleReport(max_tokens=min(length.max_tokens or context, context))
    rows: list[Row] = []
    for example in examples:
        report.examples += 1
        writer = replace(template, tools=example.tools) if example.tools else template
        if not any(example.weights):
            report.empty += 1
            continue
        if per_turn:
            encoded = list(writer.encode_turns(example.messages, example.weights))
        else:
            encoded = [writer.encode(example.messages, example.weights)]
        for one in encoded:
            fitted = fit(one, length, report, example.source)
            if fitted is not None:
                rows.append(Row(list(fitted.input_ids), fitted.labels, fitted.weights))
                report.tokens += len(fitted.input_ids)
                report.learned += fitted.learned
    report.rows = len(rows)
    if not rows:
        raise InvalidConfig(f"nothing is left to learn from: {report}")
    return rows, report


def fit(
    encoded: Encoded, length: LengthConfig, report: ExampleReport, source: str
) -> Encoded | None:
    """Return a sequence within the limit, or None; the report counts what happened.

    Raises:
        InvalidConfig: if it is too long and `length` says that is an error.
    """
    size, limit = len(encoded.input_ids), report.max_tokens
    report.longest = max(report.longest, size)
    if size <= limit:
        return encoded
    whole = [span for span in encoded.spans if span.end <= limit]
    if length.too_long == "error":
        raise InvalidConfig(
            f"{source} has {size} tokens, the limit is {limit}. Raise length.max_tokens, or choose "
            "length.too_long=drop or truncate-turns."
        )
    if len(report.names) < 5:
        report.names = (*report.names, source)
    if length.too_long == "truncate-turns" and whole:
        report.truncated += 1
        report.turns_lost += len(encoded.spans) - len(whole)
        return encoded.until(whole[-1])
    report.dropped += 1
    report.turns_lost += len(encoded.spans)
    return None


def _tools(episode: Episode) -> tuple[dict[str, Any], ...]:
    """Return the tool schemas an episode's model was offered, which its prompts hold."""
    if not any(step.tool_calls for step in episode.steps):
        return ()
    options = json.dumps(episode.env_options, sort_keys=True)
    schemas = _schemas(episode.env_id, episode.edition, options, episode.action_format)
    return tuple(json.loads(schemas))


@lru_cache(maxsize=64)
def _schemas(env_id: str, edition: str, options: str, action_format: str) -> str:
    env = make(env_id, edition=edition, **json.loads(options))
    try:
        profile = EnvProfile.of(env_id, env, json.loads(options))
        return json.dumps(find_format(action_format).tools(profile))
    finally:
        env.close()
