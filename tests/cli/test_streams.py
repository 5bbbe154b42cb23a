"""Commands in a real process, whose streams and folder are not what one would wish."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
AGENTGYM = (sys.executable, "-c", "from agentgym.cli import main; main()")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="speaks to a POSIX shell")


def shell(line: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[bytes]:
    """Run a line in which "$@" is agentgym."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **variables}
    return subprocess.run(
        ["sh", "-c", line, "sh", *AGENTGYM],
        cwd=folder,
        env=environment,
        capture_output=True,
        timeout=120,
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8", "cp1252"])
def test_any_encoding_will_do(encoding, tmp_path):
    done = shell('"$@" check Maze', tmp_path, PYTHONIOENCODING=encoding)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    mark = "✓" if encoding == "utf-8" else "+"
    assert done.stdout.decode(encoding).lstrip().startswith(mark)


@pytest.mark.parametrize(
    "line",
    [
        '"$@" info Maze >/dev/full',
        '"$@" info Maze >&-',
        '"$@" info Maze 2>&-',
        '"$@" info nope 2>&-',
        '"$@" info Maze | head -n 1',
        '"$@" eval expert --env Maze --tasks 1 --out run >/dev/full',
        '"$@" info "$(printf "\\377")"',
        'printf "\\377\\n" | "$@" play Maze',
        'mkdir gone && cd gone && rmdir ../gone && "$@" info Maze',
    ],
)
def test_no_stream_or_folder_leads_to_a_traceback(line, tmp_path):
    done = shell(line, tmp_path)
    assert b"Traceback" not in done.stderr + done.stdout, done.stderr.decode(errors="replace")


def test_a_full_disk_is_said_in_one_line(tmp_path):
    done = shell('"$@" info Maze >/dev/full', tmp_path)
    assert done.returncode != 0
    assert b"No space left on device" in done.stderr
