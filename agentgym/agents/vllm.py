"""A model in vLLM's engine, in this process.

Thin on purpose: vLLM batches, caches prefixes and samples by itself, so this agent renders the
conversation, hands over tokens and a seed, and reads tokens back. vLLM pins its own torch and wants
an environment of its own; most will run it as a server and use the `openai` agent (docs/models.md).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from agentgym.agents.base import ChatAgent, ContextOverflow, ModelError
from agentgym.agents.message import Message, Reply, Sampled, Usage
from agentgym.agents.models import resolve
from agentgym.core.errors import InvalidConfig, MissingExtra
from agentgym.core.extras import require

SEEDS = 2**63


class VLLMAgent(ChatAgent):
    """A model served by vLLM's asynchronous engine inside this process.

    The engine starts at the first call, inside the event loop that makes it, and belongs to it.

    Args:
        model: a known model's name, a folder or a hub id.
        temperature: 0 is greedy.
        top_p: nucleus sampling.
        top_k: draw among so many tokens only; 0 for all.
        max_tokens: most tokens of a reply.
        stop: strings that end a reply.
        context: most tokens of a conversation; default the model's own limit.
        engine: further arguments of vLLM's `AsyncEngineArgs` (tensor_parallel_size, dtype,
            gpu_memory_utilization, ...).
        template_options: further variables for the chat template.
        name: what to call the agent in tables.

    Raises:
        MissingExtra: if vllm is not installed.
    """

    def __init__(
        self,
        model: str,
        *,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_tokens: int = 512,
        stop: str | Sequence[str] = (),
        context: int | None = None,
        engine: Mapping[str, Any] | None = None,
        template_options: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> None:
        try:
            require("vllm", "The vllm agent", "vllm")
        except MissingExtra as error:
            raise MissingExtra(
                "The vllm agent (which is best run as a server of its own and reached with "
                "openai:MODEL, see docs/models.md)",
                "vllm",
                "vllm",
            ) from error
        self.model = model
        self.name = name or model.rstrip("/").rpartition("/")[2]
        self.context, self.engine_options = context, dict(engine or {})
        stops = [stop] if isinstance(stop, str) else list(stop)
        self.sampling = {
            "temperature": float(temperature),
            "top_p": float(top_p),
            "top_k": int(top_k),
            "max_tokens": int(max_tokens),
            "stop": stops,
        }
        self._options = dict(template_options or {})
        self._engine: Any = None
        self._tokenizer: Any = None
        self._calls = itertools.count()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the model's reply; see `ChatAgent.complete`."""
        import vllm

        engine = self._started()
        prompt = self._encode(messages)
        if self.context is not None and len(prompt) >= self.context:
            raise ContextOverflow(
                f"the conversation has {len(prompt)} tokens, {self.name} takes {self.context}"
            )
        params = vllm.SamplingParams(**self.sampling, seed=seed % SEEDS, logprobs=0)
        final = None
        try:
            async for output in engine.generate(
                {"prompt_token_ids": prompt}, params, f"{episode}#{next(self._calls)}"
            ):
                final = output
        except ValueError as error:
            if "model length" in str(error) or "too long" in str(error):
                raise ContextOverflow(str(error)) from error
            raise ModelError(f"{self.name} refuses the request: {error}") from error
        except RuntimeError as error:
            raise ModelError(f"the engine of {self.name} failed: {error}") from error
        if final is None or not final.outputs:
            raise ModelError(f"{self.name} returned nothing", retryable=True)
        return self._reply(prompt, final)

    def _started(self) -> Any:
        """Return the engine, started if it is not yet."""
        if self._engine is None:
            import vllm
            from transformers import AutoTokenizer

            where = resolve(self.model, "hf")
            self._tokenizer = AutoTokenizer.from_pretrained(where)
            if not self._tokenizer.chat_template:
                raise InvalidConfig(f"{self.model} has no chat template, so it is no chat model.")
            options = dict(self.engine_options)
            if self.context is not None:
                options["max_model_len"] = self.context
            args = vllm.AsyncEngineArgs(model=where, enable_prefix_caching=True, **options)
            self._engine = vllm.AsyncLLMEngine.from_engine_args(args)
        return self._engine

    def _encode(self, messages: Sequence[Message]) -> list[int]:
        ids = self._tokenizer.apply_chat_template(
            [message.to_openai() for message in messages],
            add_generation_prompt=True,
            tokenize=True,
            return_dict=False,
            **self._options,
        )
        return [int(i) for i in ids]

    def _reply(self, prompt: Sequence[int], final: Any) -> Reply:
        best = final.outputs[0]
        tokens = tuple(int(t) for t in best.token_ids)
        logprobs = tuple(
            float(step[token].logprob)
            for step, token in zip(best.logprobs or (), tokens, strict=False)
        )
        return Reply(
            text=best.text,
            finish_reason=best.finish_reason or "stop",
            usage=Usage(
                len(prompt), len(tokens), int(getattr(final, "num_cached_tokens", 0) or 0), calls=1
            ),
            sampled=Sampled(tuple(prompt), tokens, logprobs),
        )

    def describe(self) -> dict[str, Any]:
        """Return the model, the engine's arguments and how it samples."""
        return {
            **super().describe(),
            "model": self.model,
            "context": self.context,
            "engine": {key: str(value) for key, value in sorted(self.engine_options.items())},
            "template_options": self._options,
            **self.sampling,
        }

    def close(self) -> None:
        """Stop the engine."""
        engine, self._engine = self._engine, None
        if engine is not None and hasattr(engine, "shutdown"):
            engine.shutdown()
