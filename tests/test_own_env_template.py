"""The template of docs/own-environment.md, used as a reader would use it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
TEMPLATE = ROOT / "examples" / "own_env"


def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    paths = os.pathsep.join([str(TEMPLATE), str(ROOT)])
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=TEMPLATE,
        env={**os.environ, "PYTHONPATH": paths, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_the_check_passes() -> None:
    done = run("-m", "agentgym", "check", "my_package:MyEnv-v0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "✗" not in done.stdout
    assert "keeps all" in done.stdout


def test_its_own_tests_pass() -> None:
    done = run("-m", "pytest", "-p", "no:cacheprovider", "tests")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "2 passed" in done.stdout


def test_a_broken_promise_is_named(tmp_path: Path) -> None:
    package = tmp_path / "broken_package"
    package.mkdir()
    source = (TEMPLATE / "my_package" / "env.py").read_text(encoding="utf-8")
    broken = source.replace("dict.fromkeys(self.dials, 0)", "dict.fromkeys(self.dials, 21)")
    broken = broken.replace("score=1.0", "score=0.5")
    assert broken != source
    (package / "env.py").write_text(broken, encoding="utf-8")
    registration = (TEMPLATE / "my_package" / "__init__.py").read_text(encoding="utf-8")
    registration = registration.replace("my_package", "broken_package").replace("MyEnv-", "Broken-")
    (package / "__init__.py").write_text(registration, encoding="utf-8")
    paths = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = run("-m", "agentgym", "check", "broken_package:Broken-v0", PYTHONPATH=paths)
    assert done.returncode == 1
    assert "✗ The expert solves tasks" in done.stdout


def test_the_page_shows_the_template() -> None:
    """Code on the page is the template's code, so that neither outgrows the other."""
    page = (ROOT / "docs" / "own-environment.md").read_text(encoding="utf-8")
    source = (TEMPLATE / "my_package" / "env.py").read_text(encoding="utf-8")
    source += (TEMPLATE / "my_package" / "__init__.py").read_text(encoding="utf-8")
    blocks = [b.split("```")[0] for b in page.split("```python\n")[1:]]
    assert blocks
    for block in blocks:
        assert block.strip() in source, block
