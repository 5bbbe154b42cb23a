"""What the page about the server tells a reader to type works, and its tables are true."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from agentgym.serve.api import Api
from agentgym.serve.config import ServerConfig
from agentgym.serve.limits import is_loopback
from agentgym.serve.operations import operations
from agentgym.serve.problem import _STATUS
from agentgym.serve.store import SessionStore
from tests.serve.server import serving

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "serve.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


@pytest.mark.skipif(shutil.which("curl") is None, reason="apt-get install curl")
def test_the_lines_for_curl_work(tmp_path: Path) -> None:
    lines = "\n".join(block for block in blocks("bash") if "curl" in block)
    assert lines.count("curl") >= 10
    # Every line must succeed, and what curl writes is told apart.
    told = "curl -sS -w '%{stderr}\\n%{http_code}\\n'"
    script = "set -eu -o pipefail\n" + lines.replace("curl -s", told)
    with serving() as url:
        done = subprocess.run(
            ["bash", "-c", script.replace("http://127.0.0.1:8765", url)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    statuses = re.findall(r"^(\d{3})$", done.stderr, re.MULTILINE)
    assert set(statuses) <= {"200", "201", "204"}, done.stdout
    assert len(statuses) >= 8
    assert "Inventory" in done.stdout
    first, second = re.findall(r'\{"observation":.*?"rounds":\d+\}\}', done.stdout)[-2:]
    assert first == second  # asked twice, acted once


def test_the_configuration_on_the_page_is_one(tmp_path: Path) -> None:
    (text,) = blocks("yaml")
    values = yaml.safe_load(text)
    token = tmp_path / "token"
    token.write_text("a-token-of-the-tests")
    config = ServerConfig.of({**values, "token_file": str(token)})
    assert not is_loopback(config.host)
    assert config.settings.max_memory == 16 * 10**9
    assert config.settings.defaults["agentgym/WebShop-v0"]["edition"] == "official"


def test_every_operation_is_on_the_page() -> None:
    for operation in operations(Api(SessionStore())):
        path = re.sub(r"{session}", "ID", re.sub(r"{name:path}", "NAME", operation.path))
        last = path.rpartition("/")[2]
        assert path in PAGE or f"`/{last}`" in PAGE, path


def test_the_errors_on_the_page_have_their_status() -> None:
    known = {kind.__name__: status for kind, status in _STATUS.items()}
    rows = re.findall(r"^\| (\d{3}) \| (.*?) \|", PAGE, re.MULTILINE)
    assert len(rows) == 14
    for status, types in rows:
        for name in re.findall(r"`(\w+)`", types):
            assert str(known.get(name, status)) == status or (name, status) == (
                "NoSuchRoute",
                "405",
            )
    told = {status for status, _ in rows}
    assert {str(status) for status in _STATUS.values()} <= told
