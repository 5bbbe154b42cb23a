"""A GGUF model in this process, by llama.cpp.

llama.cpp's own server engine is used without its HTTP: it batches the conversations that are under
way and keeps what each slot has read. An episode keeps its slot until it ends (see `slots`), so a
turn costs what was added. Calls wait in threads, one a slot; the event loop is never blocked.

What can be promised about repetition: one conversation at a time with the same settings gives the
same reply to the same conversation and seed. With several at once, and with a prompt read partly
from a slot, sums are rounded in another order, which can turn a reply where two tokens are almost
equally likely. `exact=True` gives that speed up for repetition: one slot, nothing reused.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentgym.agents.base import ChatAgent, ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, ToolCall, Usage
from agentgym.agents.models import requantize, resolve
from agentgym.agents.slots import Slots
from agentgym.core import require
from agentgym.core.errors import InvalidConfig

SEEDS = 2**32 - 1
"""Seeds are 32 bits; the last one means "draw one" to llama.cpp."""
MOST_THREADS = 8
ALL_LAYERS = 999


class LlamaCppAgent(ChatAgent):
    """A model in a GGUF file.

    Args:
        model: a known model's name ("smollm2"), a .gguf file, or a file of a hub
            (owner/name/file.gguf).
        temperature: 0 is greedy.
        top_p: nucleus sampling.
        top_k: draw among so many tokens only; 0 for all.
        max_tokens: most tokens of a reply.
        stop: strings that end a reply.
        context: most tokens of one conversation.
        parallel: episodes answered at once; further ones wait for one to end.
        threads: threads; default the cores there are, at most 8.
        gpu_layers: layers to put on a GPU, where the wheel was built for one; -1 for all.
        exact: answer one at a time and reuse nothing, so that replies repeat exactly.
        tools: whether to offer tools; llama.cpp reads calls by the model's chat template.
        quick: use the 8-bit form of a known model whose format is slow (see
            `agentgym.agents.models.requantize`); needs the gguf package, as the extra brings it.
        name: what to call the agent in tables.

    Raises:
        MissingExtra: if xllamacpp is not installed.
        MissingData: if the model is not on this machine.
        InvalidConfig: if the file cannot be loaded.
    """

    def __init__(
        self,
        model: str,
        *,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_tokens: int = 256,
        stop: str | Sequence[str] = (),
        context: int = 4096,
        parallel: int = 4,
        threads: int | None = None,
        gpu_layers: int = 0,
        exact: bool = False,
        tools: bool = False,
        quick: bool = True,
        name: str = "",
    ) -> None:
        _import_engine()
        if min(parallel, context, max_tokens) < 1:
            raise InvalidConfig("parallel, context and max_tokens must be at least 1.")
        self.path = Path(resolve(model, "gguf"))
        if quick and not model.endswith(".gguf"):
            self.path = requantize.quick(self.path)
        self.name = name or (self.path.stem if model.endswith(".gguf") else model)
        self.context, self.parallel = context, 1 if exact else parallel
        self.threads = threads or min(MOST_THREADS, _cores())
        self.exact, self.supports_tools = exact, tools
        self.sampling = {
            "temperature": float(temperature),
            "top_p": float(top_p),
            "top_k": int(top_k),
            "max_tokens": int(max_tokens),
            "stop": [stop] if isinstance(stop, str) else list(stop),
        }
        self._server: Any = self._load(gpu_layers)
        self._slots = Slots(self.parallel)
        self._pool = ThreadPoolExecutor(self.parallel, "agentgym-llamacpp")

    def _load(self, gpu_layers: int) -> Any:
        xllamacpp = _import_engine()
        params = xllamacpp.CommonParams()
        params.model.path = str(self.path)
        params.n_parallel = self.parallel
        params.n_ctx = self.context * self.parallel
        params.kv_unified = False
        params.n_gpu_layers = ALL_LAYERS if gpu_layers < 0 else gpu_layers
        params.fit_params = False  # the context asked for, not the one a guess about memory allows
        params.cache_prompt = not self.exact
        params.cache_ram_mib = 0  # slots keep their prompts; no second store beside them
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self.threads
        params.verbosity = -1
        params.warmup = False
        params.endpoint_slots = False
        try:
            server = xllamacpp.Server(params)
        except RuntimeError as error:
            raise InvalidConfig(
                f"llama.cpp cannot load {self.path}: {error} Check that it is a whole GGUF file, "
                f"and that {self.parallel} conversations of {self.context} tokens fit in memory."
            ) from error
        # The engine's loop starts in a thread of its own, and an engine that is dropped before its
        # loop runs waits for it forever; one token makes sure that it runs.
        hello = {"messages": [{"role": "user", "content": "."}], "max_tokens": 1}
        server.handle_chat_completions({**hello, "cache_prompt": False})
        return server

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the model's reply; see `ChatAgent.complete`."""
        request = {
            **self.sampling,
            "messages": [message.to_openai() for message in messages],
            "seed": seed % SEEDS,
            "min_p": 0.0,
            "cache_prompt": not self.exact,
        }
        if tools and self.supports_tools:
            request["tools"] = [dict(tool) for tool in tools]
        if self._server is None:
            raise ModelError("the agent is closed.")
        loop = asyncio.get_running_loop()
        async with self._slots.use(episode) as slot:
            request["id_slot"] = slot
            return await loop.run_in_executor(self._pool, self._call, request)

    def _call(self, request: dict[str, Any]) -> Reply:
        """Answer one request; waits in a thread of its own, without Python's lock."""
        try:
            answer = self._server.handle_chat_completions(request)
        except ValueError as error:
            raise ModelError(f"{self.name} refuses the conversation: {error}") from error
        except RuntimeError as error:
            raise ModelError(f"{self.name} failed: {error}") from error
        if "error" in answer:
            raise _failure(self.name, answer["error"])
        choice, usage = answer["choices"][0], answer["usage"]
        message, timings = choice["message"], answer.get("timings", {})
        calls = tuple(
            ToolCall(c["function"]["name"], c["function"]["arguments"], c.get("id", ""))
            for c in message.get("tool_calls") or ()
        )
        return Reply(
            text=message.get("content") or "",
            tool_calls=calls,
            reasoning=message.get("reasoning_content") or "",
            finish_reason=choice["finish_reason"],
            usage=Usage(
                usage["prompt_tokens"],
                usage["completion_tokens"],
                int(timings.get("cache_n", 0)),
                calls=1,
            ),
        )

    def release(self, episode: str) -> None:
        """Let another episode have the slot of one that has ended."""
        self._slots.release(episode)

    def describe(self) -> dict[str, Any]:
        """Return the file and how it samples."""
        return {
            **super().describe(),
            "model": self.path.name,
            "bytes": self.path.stat().st_size if self.path.exists() else None,
            "context": self.context,
            "parallel": self.parallel,
            "exact": self.exact,
            "tools": self.supports_tools,
            **self.sampling,
        }

    def close(self) -> None:
        """Wait for calls under way and release the model."""
        self._pool.shutdown(wait=True, cancel_futures=True)
        self._server = None


def _failure(name: str, error: Mapping[str, Any]) -> ModelError:
    said = f"{name}: {error.get('message', error)}"
    if error.get("type") == "exceed_context_size_error":
        return ContextOverflow(f"{said}. Give a larger context=.")
    return ModelError(said, retryable=error.get("code") in (429, 503))


def _import_engine() -> Any:
    """Import xllamacpp, with threads that sleep while they wait for one another.

    By default they spin, and on a machine that does anything else at the same time most of the
    processor then goes into waiting: several times slower with a load of two a core. OpenMP reads
    this once, when it is loaded; a policy the user has set stands.
    """
    policy = "OMP_WAIT_POLICY"
    chosen = os.environ.get(policy)
    os.environ.setdefault(policy, "PASSIVE")
    try:
        return require("xllamacpp", "The llamacpp agent", "llamacpp")
    finally:
        if chosen is None:
            del os.environ[policy]


def _cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
