"""Any model behind a chat-completions endpoint.

The agent is the official asynchronous client and a translation: messages out, reply in, failures
sorted into those worth another try and those that are not. The client's own retries are off,
because the rollout counts, delays and records retries; a parameter an endpoint refuses is never
dropped in silence, since a dropped temperature is another experiment. Two adjustments are made and
remembered because they change nothing: `max_tokens` becomes `max_completion_tokens` where a model
asks for it, and a seed an endpoint does not take is left out with a warning.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import urllib.parse
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from agentgym.agents.base import ChatAgent, ModelError
from agentgym.agents.message import Message, Reply, ToolCall, Usage, require_reply
from agentgym.agents.pricing import Prices, find_price
from agentgym.core import require
from agentgym.core.errors import InvalidConfig
from agentgym.core.options import amount

if TYPE_CHECKING:
    from openai import AsyncOpenAI

log = logging.getLogger(__name__)

DEFAULT_BASE_URL = "https://api.openai.com/v1"
LOCAL_HOSTS = ("localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal")
SEEDS = 2**31
"""Endpoints take seeds of 32 signed bits at least; some no more."""


class MissingKey(InvalidConfig):
    """There is no key for an endpoint that needs one."""


class OpenAIAgent(ChatAgent):
    """A model behind an endpoint that speaks the chat-completions protocol.

    Args:
        model: the endpoint's name for the model.
        base_url: the endpoint; default `$OPENAI_BASE_URL`, else OpenAI's own.
        api_key_env: the environment variable that holds the key; "" for an endpoint without keys.
            Endpoints on this machine need none.
        temperature: sampling temperature; None leaves it to the endpoint (some models refuse it).
        max_tokens: most tokens of a reply, reasoning included.
        top_p: nucleus sampling; None leaves it to the endpoint.
        stop: strings that end a reply.
        send_seed: whether to pass the rollout's seed on.
        tools: whether to offer tools; False for endpoints that refuse them.
        reasoning_effort: passed on where given.
        timeout: seconds one call may take.
        extra_body: further fields of the request.
        headers: further HTTP headers; not recorded in runs.
        prices: what tokens cost (see `agentgym.agents.pricing`); unknown by default.
        name: what to call the agent in tables; default the model.

    Raises:
        MissingExtra: if the openai package is not installed.
        InvalidConfig: if the key is missing.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key_env: str = "OPENAI_API_KEY",
        temperature: float | None = 0.0,
        max_tokens: int | None = 1024,
        top_p: float | None = None,
        stop: str | Sequence[str] = (),
        send_seed: bool = True,
        tools: bool = True,
        reasoning_effort: str | None = None,
        timeout: float = 120.0,
        extra_body: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        prices: Prices | None = None,
        name: str = "",
    ) -> None:
        require("openai", "The openai agent", "openai")
        if not model:
            raise InvalidConfig(
                "give the model's name: openai:MODEL, for example openai:gpt-4o-mini."
            )
        self.model, self.name, self.supports_tools = model, name or model, tools
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or DEFAULT_BASE_URL
        self.timeout, self.send_seed = amount("timeout", timeout), send_seed
        self.price = find_price(prices, model)
        self._key = _api_key(api_key_env, self.base_url)
        self._headers, self._extra = dict(headers or {}), dict(extra_body or {})
        stops = [stop] if isinstance(stop, str) else list(stop)
        wanted = {
            "temperature": temperature,
            "max_tokens": max_tokens,
            "top_p": top_p,
            "stop": stops or None,
            "reasoning_effort": reasoning_effort,
        }
        self.sampling = {key: value for key, value in wanted.items() if value is not None}
        self._limit_name = "max_tokens"
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, AsyncOpenAI]
        self._clients = weakref.WeakKeyDictionary()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the endpoint's reply; see `ChatAgent.complete`."""
        import openai

        from agentgym.agents.openai_errors import translate

        while True:
            request = self._request(messages, tools, seed)
            try:
                # The client's own limit is for each read: a trickle of bytes would never end.
                async with asyncio.timeout(self.timeout):
                    answer = await self._client().chat.completions.create(**request)
            except TimeoutError as error:
                raise ModelError(f"no reply within {self.timeout:g} s", retryable=True) from error
            except openai.OpenAIError as error:
                if self._adjust(error, request):
                    continue
                raise translate(error, self.timeout) from error
            except (ValueError, RecursionError) as error:  # a body that is not JSON
                raise ModelError(f"the reply is not JSON: {error}", retryable=True) from error
            return self._reply(answer)

    def _request(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], seed: int
    ) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": self.model,
            "messages": [message.to_openai() for message in messages],
            **self.sampling,
        }
        if "max_tokens" in request:
            request[self._limit_name] = request.pop("max_tokens")
        if self.send_seed:
            request["seed"] = seed % SEEDS
        if tools and self.supports_tools:
            request["tools"] = [dict(tool) for tool in tools]
        if self._extra:
            request["extra_body"] = self._extra
        return request

    def _adjust(self, error: Exception, request: Mapping[str, Any]) -> bool:
        """Change what may be changed without changing the experiment; return whether to retry."""
        from agentgym.agents.openai_errors import complaint_about

        if "max_tokens" in request and complaint_about(error, "max_tokens"):
            self._limit_name = "max_completion_tokens"
            return True
        if "seed" in request and complaint_about(error, "seed"):
            log.warning("%s takes no seed: sampled replies will differ from run to run", self.model)
            self.send_seed = False
            return True
        return False

    def _reply(self, answer: Any) -> Reply:
        """Return an answer as a reply.

        Raises:
            ModelError: if it is no chat completion; the client does not check what it is sent.
        """
        try:
            reply = self._translate(answer)
            require_reply(reply)
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelError(f"the reply is no chat completion: {error}", retryable=True) from error
        return reply

    def _translate(self, answer: Any) -> Reply:
        """Translate an answer; endpoints differ, so little is taken for granted."""
        if not getattr(answer, "choices", None):
            detail = (getattr(answer, "model_extra", None) or {}).get("error") or "no choices"
            raise ModelError(f"{self.model} returned no reply: {detail}", retryable=True)
        choice = answer.choices[0]
        message, more = choice.message, choice.message.model_extra or {}
        calls = tuple(
            ToolCall(call.function.name or "", _arguments(call.function.arguments), call.id or "")
            for call in message.tool_calls or ()
            if getattr(call, "function", None) is not None
        )
        return Reply(
            text=_text(message.content) or message.refusal or "",
            tool_calls=calls,
            reasoning=str(more.get("reasoning_content") or more.get("reasoning") or ""),
            finish_reason=choice.finish_reason or "stop",
            usage=self._usage(answer.usage),
        )

    def _usage(self, usage: Any) -> Usage:
        if usage is None:
            return Usage(calls=1)
        details = getattr(usage, "prompt_tokens_details", None)
        cached = _count(getattr(details, "cached_tokens", None))
        read, wrote = _count(usage.prompt_tokens), _count(usage.completion_tokens)
        cost = self.price.cost(read, wrote, cached) if self.price else None
        return Usage(read, wrote, cached, cost, calls=1)

    def _client(self) -> AsyncOpenAI:
        """Return the client of the running event loop; connections belong to one loop."""
        import openai

        loop = asyncio.get_running_loop()
        client = self._clients.get(loop)
        if client is None:
            client = openai.AsyncOpenAI(
                api_key=self._key,
                base_url=self.base_url,
                timeout=self.timeout,
                max_retries=0,
                default_headers=self._headers,
            )
            self._clients[loop] = client
        return client

    def describe(self) -> dict[str, Any]:
        """Return model, endpoint and sampling; neither key nor headers."""
        return {
            **super().describe(),
            "model": self.model,
            "base_url": _without_credentials(self.base_url),
            "send_seed": self.send_seed,
            "tools": self.supports_tools,
            "extra_body": self._extra,
            **self.sampling,
        }

    async def aclose(self) -> None:
        """Close the connections of the running event loop."""
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await client.close()

    def close(self) -> None:
        """Close every connection, from inside an event loop or outside."""
        clients, self._clients = dict(self._clients), weakref.WeakKeyDictionary()
        for loop, client in clients.items():
            if loop.is_closed():
                continue  # its connections went with it
            if loop.is_running():
                loop.call_soon_threadsafe(_closing, client, loop)
            else:
                loop.run_until_complete(client.close())


def _text(content: Any) -> Any:
    """Return a message's text; some endpoints send it in parts."""
    if isinstance(content, list):
        return "".join(part.get("text") or "" for part in content)
    return content


def _arguments(written: Any) -> Any:
    """Return a call's arguments as JSON text; some endpoints send the object itself."""
    return json.dumps(written) if isinstance(written, dict) else written or ""


def _count(tokens: Any) -> int:
    """Return a number of tokens, 0 where the endpoint gives none that can be."""
    return max(0, tokens) if isinstance(tokens, int) else 0


_closings: set[asyncio.Task[None]] = set()
"""Tasks that close clients; the event loop itself keeps only weak references to them."""


def _closing(client: AsyncOpenAI, loop: asyncio.AbstractEventLoop) -> None:
    task = loop.create_task(client.close())
    _closings.add(task)
    task.add_done_callback(_closings.discard)


def _api_key(variable: str, base_url: str) -> str:
    """Return the key, or a stand-in where none is needed; the client insists on one."""
    key = os.environ.get(variable, "") if variable else ""
    if key or not variable:
        return key or "none"
    if (urllib.parse.urlsplit(base_url).hostname or "") in LOCAL_HOSTS:
        return "none"
    raise MissingKey(
        f"the environment variable {variable} holds no key for {_without_credentials(base_url)}. "
        "Set it, name another with api_key_env=NAME, or say api_key_env='' if the endpoint needs "
        "no key."
    )


def _without_credentials(url: str) -> str:
    parts = urllib.parse.urlsplit(url)
    return urllib.parse.urlunsplit(
        (parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", "")
    )
