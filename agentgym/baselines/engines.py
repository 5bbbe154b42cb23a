"""Where a policy samples from while it is trained: in this process, or in vLLM.

All engines are agents that continue a conversation as tokens (`continuation`) and say how long they
have been writing, so that the rest of a rollout's time is known to be the environments'. vLLM's
server and its colocated engine are TRL's (`trl.generation`): TRL starts the weight-transfer group,
sends the weights, and these agents ask for replies. They need vLLM and a GPU.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import torch

from agentgym.agents.base import ChatAgent, ContextOverflow, ModelError
from agentgym.agents.batching import Batcher
from agentgym.agents.hf import Ask, HFAgent
from agentgym.agents.message import Message, Reply, Sampled, Usage
from agentgym.baselines.chat import ChatTemplate
from agentgym.baselines.config import SamplingConfig
from agentgym.baselines.continuation import Continuations
from agentgym.baselines.model import Policy
from agentgym.core.errors import InvalidConfig

Answer = tuple[list[int], list[float]]
"""The tokens of a reply and their log-probabilities."""


class BusyClock:
    """Counts the seconds in which at least one of several things is under way."""

    def __init__(self) -> None:
        self.seconds, self._active, self._since = 0.0, 0, 0.0

    def __enter__(self) -> None:
        if not self._active:
            self._since = time.perf_counter()
        self._active += 1

    def __exit__(self, *_: object) -> None:
        self._active -= 1
        if not self._active:
            self.seconds += time.perf_counter() - self._since


class TokenAgent(ChatAgent):
    """An agent whose conversations only grow, token by token.

    Attributes:
        continuations: the conversations under way.
        context: most tokens of a conversation.
    """

    continuations: Continuations
    context: int
    clock: BusyClock

    @property
    def seconds(self) -> float:
        """Seconds in which the model was at work."""
        return self.clock.seconds

    def begin(self, template: ChatTemplate) -> None:
        """Prepare for conversations written by a template."""
        self.continuations, self.clock = Continuations(template), BusyClock()

    async def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        episode: str = "",
        seed: int = 0,
    ) -> Reply:
        """Return the model's reply; see `ChatAgent.complete`."""
        prompt = self.continuations.prompt(episode, messages, tools)
        if len(prompt) >= self.context:
            raise ContextOverflow(
                f"the conversation has {len(prompt)} tokens, {self.name} takes {self.context}"
            )
        reply = await self.answer(prompt, episode=episode, seed=seed)
        if reply.sampled is not None:
            self.continuations.add(episode, len(messages), prompt, reply.sampled.token_ids)
        return reply

    async def answer(self, prompt: Sequence[int], *, episode: str = "", seed: int = 0) -> Reply:
        """Return the reply to a conversation of tokens, with its tokens and log-probabilities."""
        raise NotImplementedError

    def release(self, episode: str) -> None:
        """Forget a conversation that has ended."""
        self.continuations.release(episode)


class HFEngine(TokenAgent, HFAgent):
    """The model in memory, as `agentgym.agents.hf` runs it: batched, with kept keys and values.

    What is in a batch decides how sums are rounded, so a batch must not depend on who was quick: it
    is made when every episode under way waits for a reply, in an order that follows from the
    episodes' names. The same run therefore samples the same tokens, bit for bit. (On a Ray cluster
    with fewer places than `concurrency`, how many are under way follows from the places there are.)

    Args:
        policy: the model and its tokenizer.
        sampling: how it samples.
        template: how conversations are written.
        context: most tokens of a conversation.
        cache_tokens: most tokens whose keys and values are kept; 0 reads each turn anew.
    """

    def __init__(
        self,
        policy: Policy,
        sampling: SamplingConfig,
        template: ChatTemplate,
        *,
        context: int,
        cache_tokens: int = 65_536,
    ) -> None:
        HFAgent.__init__(
            self,
            policy.model,
            tokenizer=policy.tokenizer,
            temperature=sampling.temperature,
            top_p=sampling.top_p,
            max_tokens=sampling.max_tokens,
            max_batch=sampling.max_batch,
            context=context,
            cache_tokens=cache_tokens,
            name="policy",
        )
        self.begin(template)
        self._size = sampling.max_batch
        self._thread = ThreadPoolExecutor(1, "agentgym-policy")
        self._waiting: dict[str, tuple[Ask, asyncio.Future[Reply]]] = {}
        self._episodes, self._lanes, self._crowd = 0, 0, 0
        self._over: set[str] = set()
        self._work: set[asyncio.Task[None]] = set()

    def expect(self, episodes: int, lanes: int) -> None:
        """Say how many episodes are to be played, and how many at a time."""
        self._episodes, self._lanes, self._crowd = episodes, lanes, 0
        self._over.clear()

    def crowded(self, lanes: int) -> None:
        """Do not wait for those who have no place; see `ChatAgent.crowded`."""
        self._crowd = lanes
        self._start()

    async def answer(self, prompt: Sequence[int], *, episode: str = "", seed: int = 0) -> Reply:
        """Return the model's reply to a conversation of tokens."""
        future: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._over.discard(episode)
        name = episode or f"\x00{len(self._waiting)}"
        self._waiting[name] = Ask(list(prompt), episode, seed), future
        self._start()
        return await future

    def release(self, episode: str) -> None:
        """Forget the tokens, keys and values of an episode that has ended."""
        self.continuations.release(episode)
        HFAgent.release(self, episode)
        self._over.add(episode)
        self._start()

    def close(self) -> None:
        """End the worker and let go of the model."""
        self._thread.shutdown(wait=True, cancel_futures=True)
        HFAgent.close(self)

    def _start(self) -> None:
        """Answer everybody, if everybody waits."""
        under_way = min(self._lanes - self._crowd, self._episodes - len(self._over))
        if not self._waiting or len(self._waiting) < under_way:
            return
        # The lane an episode is played in is the first part of its name, and a matter of luck.
        order = sorted(self._waiting, key=lambda name: name.partition("/")[2] or name)
        waiting = [self._waiting[name] for name in order]
        self._waiting.clear()
        task = asyncio.get_running_loop().create_task(self._answer_all(waiting))
        self._work.add(task)
        task.add_done_callback(self._work.discard)

    async def _answer_all(self, waiting: list[tuple[Ask, asyncio.Future[Reply]]]) -> None:
        loop = asyncio.get_running_loop()
        for begin in range(0, len(waiting), self._size):
            asks, futures = zip(*waiting[begin : begin + self._size], strict=True)
            answers: Sequence[Reply | Exception]
            try:
                with self.clock:
                    answers = await loop.run_in_executor(self._thread, self.answer_batch, asks)
            except Exception as error:
                answers = [error] * len(asks)
            for future, answer in zip(futures, answers, strict=True):
                if future.done():  # nobody waits any more
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)


class VLLMEngine(TokenAgent):
    """What the two ways to vLLM share: a reply from tokens. Tools are offered as text alone.

    Args:
        tokenizer: the policy's.
        sampling: how it samples.
        template: how conversations are written.
        context: most tokens of a conversation.
    """

    def __init__(
        self, tokenizer: Any, sampling: SamplingConfig, template: ChatTemplate, *, context: int
    ) -> None:
        self.tokenizer, self.sampling, self.context = tokenizer, sampling, context
        self.name = "policy"
        self.begin(template)

    async def answer(self, prompt: Sequence[int], *, episode: str = "", seed: int = 0) -> Reply:
        """Return vLLM's reply to a conversation of tokens."""
        limit = min(self.sampling.max_tokens, self.context - len(prompt))
        tokens, logprobs = await self.generate(list(prompt), limit, seed)
        ends = self.continuations.template.ends
        stopped = bool(tokens) and tokens[-1] in ends
        text = self.tokenizer.decode(tokens[:-1] if stopped else tokens, skip_special_tokens=True)
        return Reply(
            text=text,
            finish_reason="stop" if stopped else "length",
            usage=Usage(len(prompt), len(tokens), calls=1),
            sampled=Sampled(tuple(prompt), tuple(tokens), tuple(logprobs)),
        )

    async def generate(self, prompt: list[int], limit: int, seed: int) -> Answer:
        """Return the tokens that follow a prompt, at most so many, and their log-probabilities."""
        raise NotImplementedError


class VLLMServerEngine(VLLMEngine):
    """A vLLM server (`vllm serve`) whose weights TRL updates.

    Every reply is a request of its own with a seed of its own; the server batches what is under
    way, so no turn waits for another.

    Args:
        client: TRL's `VLLMClient`, or what has its `generate`.
        tokenizer: the policy's.
        sampling: how it samples.
        template: how conversations are written.
        context: most tokens of a conversation.
    """

    def __init__(
        self,
        client: Any,
        tokenizer: Any,
        sampling: SamplingConfig,
        template: ChatTemplate,
        *,
        context: int,
    ) -> None:
        super().__init__(tokenizer, sampling, template, context=context)
        self.client = client
        self._pool = ThreadPoolExecutor(sampling.concurrency, "agentgym-vllm")

    async def generate(self, prompt: list[int], limit: int, seed: int) -> Answer:
        """Ask the server; see `VLLMEngine.generate`."""
        ask = partial(
            self.client.generate,
            [prompt],
            n=1,
            temperature=self.sampling.temperature,
            top_p=self.sampling.top_p,
            max_tokens=limit,
            logprobs=0,
            generation_kwargs={"seed": seed},
        )
        try:
            with self.clock:
                output = await asyncio.get_running_loop().run_in_executor(self._pool, ask)
        except OSError as error:  # what requests raises, too
            raise ModelError(f"the vLLM server does not answer: {error}", retryable=True) from error
        except Exception as error:  # TRL's client raises a bare Exception for what is no 200
            raise ModelError(f"the vLLM server refuses: {error}") from error
        if list(output["prompt_ids"][0]) != prompt:
            raise ModelError("the vLLM server changed the tokens of the prompt")
        return _answer(output["completion_ids"][0], output["logprobs"][0])

    def close(self) -> None:
        """End the threads that wait for the server."""
        self._pool.shutdown(wait=False, cancel_futures=True)


class VLLMColocateEngine(VLLMEngine):
    """vLLM's engine in this process, on the training's own GPU.

    It takes a batch at a time, so a turn waits for the longest reply of its batch; the server does
    not have this, and is the better choice where there is a GPU to spare.

    Args:
        llm: vLLM's `LLM`, as TRL's colocate mode makes it.
        params: makes vLLM's sampling parameters (`vllm.SamplingParams`).
        tokenizer: the policy's.
        sampling: how it samples.
        template: how conversations are written.
        context: most tokens of a conversation.
        device: where this process trains, and the engine is.
    """

    def __init__(
        self,
        llm: Any,
        params: Any,
        tokenizer: Any,
        sampling: SamplingConfig,
        template: ChatTemplate,
        *,
        context: int,
        device: torch.device,
    ) -> None:
        super().__init__(tokenizer, sampling, template, context=context)
        self.llm, self.params, self.device = llm, params, device
        self._batcher: Batcher[tuple[list[int], int, int], Answer] = Batcher(
            self._batch, max_batch=sampling.max_batch, max_wait=0.02, name="agentgym-vllm"
        )

    async def generate(self, prompt: list[int], limit: int, seed: int) -> Answer:
        """Wait for a batch; see `VLLMEngine.generate`."""
        return await self._batcher.submit((prompt, limit, seed))

    def _batch(self, asks: Sequence[tuple[list[int], int, int]]) -> Sequence[Answer | Exception]:
        prompts = [{"prompt_token_ids": prompt} for prompt, _, _ in asks]
        params = [
            self.params(
                temperature=self.sampling.temperature,
                top_p=self.sampling.top_p,
                max_tokens=limit,
                logprobs=0,
                seed=seed,
            )
            for _, limit, seed in asks
        ]
        # Which GPU is current is each thread's own affair: the first, where it says nothing.
        if self.device.type == "cuda" and self.device.index is not None:
            torch.cuda.set_device(self.device)
        with self.clock:
            outputs = self.llm.generate(prompts, sampling_params=params, use_tqdm=False)
        answers: list[Answer | Exception] = []
        for output in outputs:
            best = output.outputs[0]
            chosen = [at[t].logprob for at, t in zip(best.logprobs, best.token_ids, strict=True)]
            answers.append(_answer(best.token_ids, [[value] for value in chosen]))
        return answers

    def close(self) -> None:
        """Let the running batch finish."""
        self._batcher.close()


def _answer(tokens: Sequence[int], logprobs: Sequence[Sequence[float | None]]) -> Answer:
    """Return what vLLM wrote; a token it could not score (NaN) cannot be trained on."""
    chosen = [values[0] for values in logprobs]
    if len(chosen) != len(tokens) or any(value is None for value in chosen):
        raise ModelError("vLLM gave no log-probability for a token it sampled")
    return [int(t) for t in tokens], [float(value) for value in chosen if value is not None]


def check_server(info: Mapping[str, Any]) -> None:
    """Require that a vLLM server tells the log-probabilities of what it really samples from.

    Raises:
        InvalidConfig: naming the option to start it with.
    """
    mode = info["model_config"]["logprobs_mode"]
    if mode != "processed_logprobs":
        raise InvalidConfig(
            f"the vLLM server tells {mode}, not the log-probabilities of the tempered policy that "
            "samples: start it with --logprobs-mode processed_logprobs (docs/vllm.md)"
        )
