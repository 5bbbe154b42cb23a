"""The published data: AgentTraj-L and AgentEval, from the hub or from a folder of the same shape.

Both are read the same way: a repository's files are fetched to a folder, and a folder is read file
by file. What an item belongs to follows from its id, not from the file's name; names only narrow
down what is fetched. A revision can be pinned, and where there is no connection the error says how
to bring the data over.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agentgym.core import data_root, require
from agentgym.core.data import EVAL_IDS
from agentgym.core.errors import InvalidConfig, MissingData
from agentgym.rollout.store import write_atomic
from agentgym.trajectories import hf
from agentgym.trajectories.files import SUFFIXES
from agentgym.trajectories.items import PUBLISHED, PublishedEnv, find_published
from agentgym.trajectories.published import PublishedItem
from agentgym.trajectories.store import iter_items

AGENTTRAJ = "AgentGym/AgentTraj-L"
AGENTEVAL = "AgentGym/AgentEval"

# Files that tools put beside the data and that hold no items.
_NOT_DATA = ("dataset_info.json", "dataset_infos.json", "dataset_dict.json", "state.json")


class EvalIds(NamedTuple):
    """The evaluation split of one environment, as written to its data folder.

    Attributes:
        env: the environment.
        path: the file.
        size: number of ids in it.
    """

    env: PublishedEnv
    path: Path
    size: int

    @property
    def as_published(self) -> bool:
        """Whether there are as many as AgentEval is said to have."""
        return self.size == self.env.eval


def load_agenttraj(
    source: str | os.PathLike[str] = AGENTTRAJ,
    env: str | None = None,
    *,
    revision: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> list[PublishedItem]:
    """Return the published trajectories, of one environment or of all.

    Args:
        source: a dataset repository of the hub ("owner/name"), or a folder or file of its shape.
        env: an environment by name, published prefix or id ("maze", "lmrlgym_maze").
        revision: branch, tag or commit of the repository; name a commit to read the same data
            for ever.
        cache_dir: where the hub's files are kept; None takes the hub's own cache.

    Raises:
        UnknownEnvironment: if the published data has no such environment.
        MissingExtra: if the hub's client is needed and not installed.
        MissingData: if the repository cannot be reached, or the source holds no such items.
        InvalidTrajectories: if a file is malformed.
    """
    chosen = find_published(env) if env is not None else None
    items = [
        item
        for item in iter_published(source, chosen, revision=revision, cache_dir=cache_dir)
        if item.turns
    ]
    if not items:
        raise MissingData(_nothing(source, chosen, "trajectories", "train"))
    return items


def load_agenteval(
    source: str | os.PathLike[str] = AGENTEVAL,
    env: str | None = None,
    *,
    revision: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> list[PublishedItem]:
    """Return the items of the published evaluation, of one environment or of all.

    An item of AgentEval only names a task: its conversation is null or empty. Items that stand in
    several files are returned once.

    Args:
        source: a dataset repository of the hub, or a folder or file of its shape.
        env: an environment by name, published prefix or id.
        revision: branch, tag or commit of the repository.
        cache_dir: where the hub's files are kept.

    Raises:
        UnknownEnvironment: if the published data has no such environment.
        MissingExtra: if the hub's client is needed and not installed.
        MissingData: if the repository cannot be reached, or the source holds no such items.
        InvalidTrajectories: if a file is malformed.
    """
    chosen = find_published(env) if env is not None else None
    # A task may stand in several files of a repository; it is one item of the evaluation.
    items: dict[str, PublishedItem] = {}
    for item in iter_published(source, chosen, revision=revision, cache_dir=cache_dir):
        items.setdefault(item.item_id, item)
    if not items:
        raise MissingData(_nothing(source, chosen, "evaluation items", "eval"))
    return list(items.values())


def fetch_eval_ids(
    envs: Sequence[str] | None = None,
    *,
    source: str | os.PathLike[str] = AGENTEVAL,
    revision: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> list[EvalIds]:
    """Write the evaluation ids of environments to where their official editions look for them.

    Each environment gets `<data folder>/<name>/eval_ids.json`, a JSON list of task ids in published
    order ("maze_3"; the published text where an id has no number).

    Args:
        envs: environments by name, prefix or id; None takes all that the source has.
        source: AgentEval's repository, or a folder of its shape.
        revision: branch, tag or commit of the repository.
        data_dir: the data folder; None takes `$AGENTGYM_DATA`, else the user's cache.
        cache_dir: where the hub's files are kept.

    Raises:
        UnknownEnvironment: if the published data has no such environment.
        MissingData: if the repository cannot be reached or lacks an environment that was named.
        InvalidTrajectories: if a file is malformed.
    """
    only = [find_published(name) for name in envs] if envs is not None else None
    chosen = only[0] if only is not None and len(only) == 1 else None
    by_env: dict[str, list[str]] = {}
    for item in load_agenteval(
        source, chosen.name if chosen else None, revision=revision, cache_dir=cache_dir
    ):
        if item.id.env is not None:
            by_env.setdefault(item.id.env.name, []).append(item.id.task_id)
    wanted = only if only is not None else [e for e in PUBLISHED if e.name in by_env]
    written = []
    for env in wanted:
        if env.name not in by_env:
            raise MissingData(_nothing(source, env, "evaluation items", "eval"))
        ids = list(dict.fromkeys(by_env[env.name]))
        path = data_root(data_dir) / env.name / EVAL_IDS
        write_atomic(path, json.dumps(ids, indent=0) + "\n")
        written.append(EvalIds(env, path, len(ids)))
    return written


def iter_published(
    source: str | os.PathLike[str],
    env: PublishedEnv | None = None,
    *,
    revision: str | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
) -> Iterator[PublishedItem]:
    """Yield the items of a repository or folder, file by file in the order of their names.

    Raises:
        MissingData: if the repository cannot be reached or the source has no data files.
        InvalidTrajectories: if a file is malformed.
    """
    place = Path(source).expanduser()
    if place.exists():
        if revision is not None:
            raise InvalidConfig(
                f"a revision belongs to a repository of the hub, and {place} is on this machine"
            )
    else:
        place = _fetch(str(source), env, revision, cache_dir)
        if env is not None and not _find_data(place):
            # The files are not named after environments: the ids in them decide.
            place = _fetch(str(source), None, revision, cache_dir)
    for path in _data_files(place):
        for item in iter_items(path):
            if env is None or item.id.env is env:
                yield item


def _data_files(place: Path) -> list[Path]:
    """Return the files with items, of which there must be one."""
    files = _find_data(place)
    if not files:
        raise MissingData(
            f"{place} holds no data files ({', '.join(SUFFIXES)}); name the folder the data set "
            "was downloaded to"
        )
    return files


def _find_data(place: Path) -> list[Path]:
    """Return the files with items, in the order of their names; a saved dataset is one of them."""
    if place.is_file() or hf.is_hf_folder(place):
        return [place]
    return sorted(
        path
        for path in place.rglob("*")
        if path.is_file()
        and path.name not in _NOT_DATA
        and not path.name.endswith(".card.json")
        and not any(part.startswith(".") for part in path.relative_to(place).parts)
        and Path(path.name.removesuffix(".gz")).suffix in SUFFIXES
    )


def _fetch(
    repository: str,
    env: PublishedEnv | None,
    revision: str | None,
    cache_dir: str | os.PathLike[str] | None,
) -> Path:
    """Bring a dataset repository's files to this machine and return their folder."""
    if repository.count("/") != 1 or repository.startswith((".", "/", "~")):
        raise MissingData(
            f"there is no file or folder {repository!r}; a repository of the hub has the form "
            f"'owner/name' ({AGENTTRAJ!r})"
        )
    hub: Any = require("huggingface_hub", "Reading from the Hugging Face hub", "data")
    try:
        folder = hub.snapshot_download(
            repo_id=repository,
            repo_type="dataset",
            revision=revision,
            cache_dir=cache_dir,
            allow_patterns=_patterns(env),
        )
    except Exception as error:
        if not _is_hub_error(error):
            raise
        raise MissingData(_unreachable(repository, revision, error)) from error
    return Path(folder)


def _patterns(env: PublishedEnv | None) -> list[str]:
    """Return which files to fetch: those that begin with the environment's names, or all."""
    suffixes = [*SUFFIXES, ".json.gz", ".jsonl.gz"]
    stems = [f"*{name}*" for name in env.files] if env is not None else ["*"]
    return [f"{stem}{suffix}" for stem in stems for suffix in suffixes]


def _is_hub_error(error: Exception) -> bool:
    """Return whether an error is the hub's or the network's, and not a mistake in this code."""
    # Both HTTP libraries the client has used over time; neither is imported here.
    modules = ("huggingface_hub", "requests", "httpx", "httpcore", "urllib3")
    kinds = type(error).__mro__
    return isinstance(error, OSError) or any(
        kind.__module__.partition(".")[0].rstrip("0123456789") in modules for kind in kinds
    )


def _unreachable(repository: str, revision: str | None, error: Exception) -> str:
    pin = f" --revision {revision}" if revision else ""
    reason = str(error).strip().splitlines()
    offline = os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "TRUE", "YES", "ON")
    mode = " HF_HUB_OFFLINE is set, so nothing is fetched." if offline else ""
    return (
        f"the data set {repository} cannot be fetched from the Hugging Face hub "
        f"({type(error).__name__}: {reason[0] if reason else 'no reason given'}).{mode} On a "
        f"connected machine run 'hf download {repository} --repo-type dataset{pin} --local-dir "
        "DIR', copy DIR here and pass it as the source (on the command line: --source DIR)."
    )


def _nothing(
    source: str | os.PathLike[str], env: PublishedEnv | None, what: str, split: str
) -> str:
    if env is None:
        return f"{os.fspath(source)} holds no {what}"
    hint = ""
    if (env.train if split == "train" else env.eval) == 0:
        hint = f"; none are published for {env.name}"
    return f"{os.fspath(source)} holds no {what} of {env.name}{hint}"
