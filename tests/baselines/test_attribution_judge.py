"""Attribution by a real language model behind a real server: SmolLM2, served by llama.cpp.

So small a model rarely keeps to a form by itself; a grammar, which llama.cpp takes with a request,
makes it. Skipped where the model has not been fetched.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agentgym.agents import models

pytest.importorskip("openai")
pytest.importorskip("xllamacpp")
if not models.present("smollm2"):
    pytest.skip("needs: agentgym models fetch smollm2", allow_module_level=True)

from agentgym.baselines.attribution import AttributionConfig, assign_credit, build_attributor
from tests.baselines.episodes import spoken

GRAMMAR = 'root ::= "Step 0 Judgment: " ("GOOD" | "BAD")'


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = models.resolve("smollm2", "gguf")
    params.n_ctx, params.n_parallel = 1024, 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.warmup, params.fit_params, params.verbosity = False, False, -1
    server = xllamacpp.Server(params)
    hello = {"messages": [{"role": "user", "content": "."}], "max_tokens": 1}
    server.handle_chat_completions(hello)  # an engine that never ran cannot be dropped
    yield f"{server.listening_address}/v1"
    del server  # it answers for as long as it is held


def config(base_url: str, **more: Any) -> AttributionConfig:
    body = {"grammar": more.pop("grammar")} if "grammar" in more else {}
    options = {"base_url": base_url, "max_tokens": 12, "timeout": 600.0, "extra_body": body}
    common: dict[str, Any] = {"method": "llm", "model": "openai:smollm2", "limits": {"pause": 0.0}}
    return AttributionConfig(**{**common, "model_options": options, **more})


def test_what_it_judges_is_read_and_repeated_without_it(base_url: str, tmp_path: Path) -> None:
    cache = str(tmp_path / "record.jsonl")
    episodes = [spoken(1, attempt=0), spoken(2, attempt=1)]
    common: dict[str, Any] = {"grammar": GRAMMAR, "cache": cache}
    asking = build_attributor(config(base_url, **common))
    done = assign_credit(episodes, ["g"] * 2, asking)
    asking.close()
    assert done.credits[0] in ((1.0,), (-1.0,))
    assert done.credits[1] is None  # its grammar lets it judge one step
    assert done.report.failures == {"unreadable": 1}
    assert (done.report.spent.calls, done.report.spent.retries) == (3, 1)
    assert done.report.spent.input_tokens > 3 * 500
    assert 0 < done.report.spent.output_tokens <= 3 * 12
    replay = build_attributor(config(base_url, **common, method="replay"))
    again = assign_credit(episodes, ["g"] * 2, replay)
    assert again.credits == done.credits
    assert again.report.spent.calls == 0


def test_what_it_says_without_a_grammar_is_counted_as_it_is(base_url: str) -> None:
    asking = build_attributor(config(base_url, limits={"retries": 0}))
    done = assign_credit([spoken(3)], ["g"], asking)
    asking.close()
    (answer,) = done.attributions
    assert answer.failure == "unreadable"
    assert "cut off after 12 tokens" in answer.message
    assert answer.spent.output_tokens == 12
    assert len(answer.evidence["replies"]) == 1


def test_a_question_that_is_too_long_says_by_how_much(base_url: str) -> None:
    asking = build_attributor(config(base_url))
    done = assign_credit([spoken(2, what="go on " * 400)], ["g"], asking)
    asking.close()
    assert done.report.failures == {"too_long": 1}
    assert "1024 tokens" in done.report.messages["too_long"]
    assert done.report.spent.calls == 0
