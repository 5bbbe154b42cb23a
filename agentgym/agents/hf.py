"""A transformers model in this process, batched, with each conversation read only once.

Episodes ask one at a time; a batcher gathers what is waiting and the model answers together.
Keys and values are kept per episode, so that a turn costs what was added to the conversation and
not the conversation. Every reply comes with the tokens that were read and written and their
log-probabilities, which is what a trainer needs.
"""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentgym.agents.base import ChatAgent, ContextOverflow, ModelError
from agentgym.agents.batching import Batcher
from agentgym.agents.hf_shown import as_shown
from agentgym.agents.message import Message, Reply, Sampled, ToolCall, Usage
from agentgym.core import require
from agentgym.core.errors import InvalidConfig

TOOL_CALL = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Ask:
    """A conversation of tokens to be continued.

    Attributes:
        prompt: the tokens.
        episode: identifies the episode, so that keys and values can be kept.
        seed: for sampling.
    """

    prompt: list[int]
    episode: str
    seed: int


class HFAgent(ChatAgent):
    """A causal language model of transformers.

    Args:
        model: a known model's name ("smollm2"), a folder, a hub id, or a model already loaded (a
            trainer's own; call `forget` when its weights have changed).
        tokenizer: the tokenizer of a model already loaded.
        temperature: 0 is greedy.
        top_p: nucleus sampling.
        top_k: draw among so many tokens only; 0 for all.
        max_tokens: most tokens of a reply.
        stop: strings that end a reply; they are not part of it.
        context: most tokens of a conversation; default the model's own limit.
        max_batch: most conversations answered together.
        max_wait: seconds to wait for a batch to fill.
        device: "cpu", "cuda", "cuda:1", ... or "auto".
        dtype: "float32", "bfloat16", "float16", or "auto": float32 on a CPU, else the model's own.
        threads: threads for torch on a CPU; default as torch is set.
        adapter: folder or hub id of a LoRA adapter (needs peft), merged when loaded.
        cache_tokens: most tokens whose keys and values are kept over all episodes; 0 keeps none.
        chat_template: a chat template in place of the tokenizer's.
        template_options: further variables for the chat template.
        name: what to call the agent in tables.

    Attributes:
        written: tokens written so far, those of replies that are not done yet among them.

    Raises:
        MissingExtra: if torch or transformers is not installed.
        InvalidConfig: if the model has no chat template.
    """

    def __init__(
        self,
        model: Any,
        *,
        tokenizer: Any = None,
        temperature: float = 0.0,
        top_p: float = 1.0,
        top_k: int = 0,
        max_tokens: int = 256,
        stop: str | Sequence[str] = (),
        context: int | None = None,
        max_batch: int = 16,
        max_wait: float = 0.02,
        device: str = "auto",
        dtype: str = "auto",
        threads: int | None = None,
        adapter: str | None = None,
        cache_tokens: int = 32_768,
        chat_template: str | None = None,
        template_options: Mapping[str, Any] | None = None,
        name: str = "",
    ) -> None:
        for module in ("torch", "transformers"):
            require(module, "The hf agent", "hf")
        if max_tokens < 1 or max_batch < 1:
            raise InvalidConfig("max_tokens and max_batch must be at least 1.")
        import torch

        from agentgym.agents.hf_cache import Store
        from agentgym.agents.hf_generate import Sampling
        from agentgym.agents.hf_load import context_limit, end_tokens, keeps_all, load
        from agentgym.agents.hf_prompt import Prompts

        if threads:
            torch.set_num_threads(threads)
        self.model_id = _id_of(model)
        if isinstance(model, str):
            model, tokenizer = load(model, device=device, dtype=dtype, adapter=adapter)
        self._template = _template_of(tokenizer, chat_template, self.model_id)
        self.model, self.tokenizer = model, tokenizer
        self.name = name or self.model_id.rstrip("/").rpartition("/")[2]
        self.adapter = adapter
        self.sampling = Sampling(float(temperature), float(top_p), int(top_k))
        self.max_tokens = max_tokens
        self.stop = (stop,) if isinstance(stop, str) else tuple(stop)
        self.context = context or context_limit(model)
        self.supports_tools = "tools" in self._template and "<tool_call>" in self._template
        self._options = dict(template_options or {})
        self._prompts = Prompts(
            tokenizer, self._template, self._options, plain=_for_template, render=self._render
        )
        self._ends = end_tokens(model, tokenizer)
        self._plain = not keeps_all(model)
        self._store = Store(0 if self._plain else cache_tokens)
        self.written = 0
        self._lock = threading.Lock()
        self._released: set[str] = set()
        self._batcher: Batcher[Ask, Reply] = Batcher(
            self.answer_batch, max_batch=max_batch, max_wait=max_wait, name="agentgym-hf"
        )

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the model's reply; see `ChatAgent.complete`."""
        with self._refusals():
            prompt = self._prompts.of(episode, messages, self._offered(tools))
        return await self.answer(prompt, episode=episode, seed=seed)

    async def answer(self, prompt: Sequence[int], *, episode: str = "", seed: int = 0) -> Reply:
        """Return the model's reply to a conversation that is tokens already.

        Raises:
            ModelError: if the model failed.
            ContextOverflow: if the prompt is too long for the model.
        """
        if len(prompt) >= self.context:
            raise ContextOverflow(
                f"the conversation has {len(prompt)} tokens, {self.name} takes {self.context}"
            )
        return await self._batcher.submit(Ask(list(prompt), episode, seed))

    def encode(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> list[int]:
        """Return the token ids of a conversation, up to where the model's reply begins.

        Raises:
            ModelError: if the chat template refuses the conversation.
        """
        with self._refusals():
            return self._prompts.of("", messages, self._offered(tools))

    def _offered(self, tools: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        return [dict(tool) for tool in tools] if self.supports_tools else []

    def _render(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> str:
        return str(
            self.tokenizer.apply_chat_template(
                [_for_template(message) for message in messages],
                tools=[dict(tool) for tool in tools] or None,
                chat_template=self._template,
                add_generation_prompt=True,
                tokenize=False,
                **self._options,
            )
        )

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        from jinja2.exceptions import TemplateError

        try:
            yield
        except TemplateError as error:
            raise ModelError(
                f"the chat template of {self.name} refuses the conversation: {error}"
            ) from error

    def answer_batch(self, asks: Sequence[Ask]) -> list[Reply | Exception]:
        """Answer conversations together, in the calling thread; one thread at a time.

        Raises:
            ModelError: if the model failed.
        """
        import torch

        from agentgym.agents.hf_generate import Request, generate

        with self._lock:
            kept = [self._store.find(ask.episode, ask.prompt) for ask in asks]
        requests = [
            Request(
                prompt=ask.prompt,
                limit=min(self.max_tokens, self.context - len(ask.prompt)),
                seed=ask.seed,
                kept=prefix,
                ends=self._ends,
                stopped=self._stopped if self.stop else None,
            )
            for ask, prefix in zip(asks, kept, strict=True)
        ]
        keep = self._store.limit > 0
        try:
            written = generate(
                self.model,
                requests,
                self.sampling,
                keep=keep,
                plain=self._plain,
                on_tokens=self._wrote,
            )
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self.name} ran out of memory on {len(asks)} conversations: lower max_batch, "
                f"cache_tokens or context. {error}"
            ) from error
        except RuntimeError as error:
            raise ModelError(f"{self.name} failed: {error}") from error
        with self._lock:
            for ask, one in zip(asks, written, strict=True):
                if one.kept is not None and ask.episode and ask.episode not in self._released:
                    self._store.put(ask.episode, one.kept)
            self._released.clear()
        return [self._reply(ask, one) for ask, one in zip(asks, written, strict=True)]

    def _wrote(self, tokens: int) -> None:
        self.written += tokens  # batches are written one at a time

    def _stopped(self, tokens: Sequence[int]) -> bool:
        text = self.tokenizer.decode(list(tokens), skip_special_tokens=True)
        return any(stop in text for stop in self.stop)

    def _reply(self, ask: Ask, written: Any) -> Reply:
        tokens = [t for t in written.tokens[-1:] if t not in self._ends]
        text = self.tokenizer.decode([*written.tokens[:-1], *tokens], skip_special_tokens=True)
        for stop in self.stop:
            text = text.split(stop, 1)[0]
        text, calls = parse_tool_calls(text) if self.supports_tools else (text, ())
        return Reply(
            text=text,
            tool_calls=calls,
            finish_reason="tool_calls" if calls else written.finish,
            usage=Usage(len(ask.prompt), len(written.tokens), written.reused, calls=1),
            sampled=Sampled(tuple(ask.prompt), tuple(written.tokens), tuple(written.logprobs)),
        )

    def release(self, episode: str) -> None:
        """Forget the keys and values of an episode that has ended."""
        self._prompts.release(episode)
        with self._lock:
            self._released.add(episode)
            self._store.drop(episode)

    def forget(self) -> None:
        """Forget the keys and values of every episode; needed after the weights have changed."""
        with self._lock:
            self._store.clear()

    def describe(self) -> dict[str, Any]:
        """Return the model and how it samples."""
        return {
            **super().describe(),
            "model": self.model_id,
            "adapter": self.adapter,
            "temperature": self.sampling.temperature,
            "top_p": self.sampling.top_p,
            "top_k": self.sampling.top_k,
            "max_tokens": self.max_tokens,
            "stop": list(self.stop),
            "context": self.context,
            "device": self.model.device.type,
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "template_options": self._options,
        }

    def close(self) -> None:
        """End the worker and let go of the model."""
        self._batcher.close()
        self.forget()
        self.model = None


def _id_of(model: Any) -> str:
    """Return what a model is called: the name it is loaded by, or what a loaded one says."""
    if isinstance(model, str):
        return model
    return str(getattr(model, "name_or_path", "") or type(model).__name__)


def _template_of(tokenizer: Any, given: str | None, model_id: str) -> str:
    """Return the chat template that is given, or the tokenizer's own.

    Raises:
        InvalidConfig: if there is no tokenizer, or no template.
    """
    if tokenizer is None:
        raise InvalidConfig(
            "a model already loaded needs its tokenizer: HFAgent(model, tokenizer=tokenizer)."
        )
    template = given or tokenizer.chat_template
    if not isinstance(template, str):
        raise InvalidConfig(
            f"{model_id} has no chat template, so it is not a chat model. Give one with "
            "chat_template=, or choose an instruction-tuned model."
        )
    return template


def _for_template(message: Message) -> dict[str, Any]:
    return as_shown(message.to_openai())


def parse_tool_calls(text: str) -> tuple[str, tuple[ToolCall, ...]]:
    """Split a reply into text and the calls in it, written as Hermes and Qwen models do.

    >>> parse_tool_calls('Go. <tool_call>{"name": "go", "arguments": {"to": "n"}}</tool_call>')
    ('Go.', (ToolCall(name='go', arguments='{"to": "n"}', id='call_0'),))

    What does not parse stays in the text.
    """
    calls: list[ToolCall] = []

    def take(match: re.Match[str]) -> str:
        try:
            data = json.loads(match[1])
            name, arguments = str(data["name"]), data.get("arguments", {})
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        except (ValueError, KeyError, TypeError, RecursionError):
            return match[0]
        calls.append(ToolCall(name, written, f"call_{len(calls)}"))
        return ""

    rest = TOOL_CALL.sub(take, text)
    return (rest.strip() if calls else text), tuple(calls)
