"""What is trained on is what was sampled: token by token, with its probability."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from typing import Any

import pytest
import torch

from agentgym.agents.base import ChatAgent, ModelError
from agentgym.agents.hf import HFAgent
from agentgym.agents.hf_template import CannotGrow
from agentgym.agents.message import Message, Reply, Sampled, Usage
from agentgym.baselines.chat import ChatTemplate
from agentgym.baselines.config import EnvTasks, SamplingConfig
from agentgym.baselines.continuation import Continuations
from agentgym.baselines.engines import BusyClock, HFEngine, VLLMColocateEngine, VLLMServerEngine
from agentgym.baselines.model import Policy
from agentgym.baselines.sampling import (
    Samples,
    TokensDrifted,
    make_groups,
    sample_groups,
    trajectory_of,
)
from agentgym.core.errors import InvalidConfig
from tests.baselines.bandit import talker
from tests.baselines.templates import FAMILIES, tokenizer_of

GUESS = EnvTasks(env="tests.toy:tests/Guess-v0", max_rounds=4)


def engine_of(policy: Policy, temperature: float = 1.0, **options: Any) -> HFEngine:
    sampling = SamplingConfig(temperature=temperature, max_tokens=10, max_batch=4)
    options = {"context": 2048, **options}
    return HFEngine(policy, sampling, ChatTemplate(policy.tokenizer, policy.ends), **options)


def play(policy: Policy, *, groups: int = 2, size: int = 3, **options: Any) -> Samples:
    engine = engine_of(policy, **options)
    sampling = SamplingConfig(temperature=1.0, concurrency=4)
    try:
        return sample_groups(make_groups([GUESS], groups, seed=1), size, engine, sampling, seed=5)
    finally:
        engine.close()


def forced(policy: Policy, tokens: list[int], temperature: float) -> torch.Tensor:
    """Return the log-probability of each token after those before it, read in one go."""
    ids = torch.tensor([tokens])
    with torch.no_grad():
        logits = policy.model(ids).logits[0, :-1] / temperature
    chosen = torch.log_softmax(logits.double(), -1).gather(1, ids[0, 1:, None])[:, 0]
    return torch.cat([torch.zeros(1, dtype=torch.double), chosen])


@pytest.fixture(autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.mark.parametrize("cache_tokens", [65_536, 0])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_recorded_log_probabilities_are_those_of_the_policy(
    temperature: float, cache_tokens: int
) -> None:
    policy = talker()
    samples = play(policy, temperature=temperature, cache_tokens=cache_tokens)
    assert len(samples.trajectories) == 6
    stops = Counter[bool]()
    for t in samples.trajectories:
        tokens = [*t.prompt_ids, *t.completion_ids]
        expected = forced(policy, tokens, temperature)[len(t.prompt_ids) :]
        own = torch.tensor(t.mask)
        recorded = torch.tensor(t.logprobs, dtype=torch.double)
        assert torch.allclose(recorded[own], expected[own], atol=1e-4)
        assert (recorded[~own] == 0).all()
        for step in t.episode.steps:
            assert step.sampled is not None
            stops[step.sampled.token_ids[-1] in policy.ends] += 1
    assert stops[True] > 2, "replies that end by themselves are part of the test"
    assert stops[False] > 2, "and so are replies that are cut off"


def test_kept_keys_and_values_change_no_token() -> None:
    policy = talker()
    kept, anew = play(policy), play(policy, cache_tokens=0)
    assert [t.completion_ids for t in kept.trajectories] == [
        t.completion_ids for t in anew.trajectories
    ]
    reused = [step.usage.cached_tokens for t in kept.trajectories for step in t.episode.steps[1:]]
    whole = [
        len(s.sampled.prompt_ids) - 1 if s.sampled else 0
        for t in kept.trajectories
        for s in t.episode.steps[:-1]
    ]
    assert all(r >= w for r, w in zip(reused, whole, strict=True)), "each turn reads only the new"


def test_masks_and_rounds_lie_on_the_sampled_tokens() -> None:
    policy = talker()
    for t in play(policy).trajectories:
        assert len(t.completion_ids) == len(t.mask) == len(t.logprobs) == len(t.step_ids)
        for number, step in enumerate(t.episode.steps):
            assert step.sampled is not None
            places = [i for i, s in enumerate(t.step_ids) if s == number]
            assert tuple(t.completion_ids[i] for i in places) == step.sampled.token_ids
            assert all(t.mask[i] for i in places)
            said = policy.tokenizer.decode(step.sampled.token_ids, skip_special_tokens=True)
            assert said == step.reply
        given = [i for i, s in enumerate(t.step_ids) if s == -1]
        text = policy.tokenizer.decode([t.completion_ids[i] for i in given])
        assert not any(t.mask[i] for i in given)
        assert all(step.observation in text for step in t.episode.steps[:-1])
        assert t.own == sum(len(s.sampled.token_ids) for s in t.episode.steps if s.sampled)


def test_no_reply_is_tokenised_again() -> None:
    """Random tokens are hardly ever what the tokenizer would make of their text."""
    policy = talker()
    engine = engine_of(policy)
    groups = make_groups([GUESS], 2, seed=1)
    samples = sample_groups(groups, 3, engine, SamplingConfig(concurrency=4), seed=5)
    engine.close()
    assert engine.continuations.turns == sum(t.episode.rounds - 1 for t in samples.trajectories)
    assert engine.continuations.rewritten > 0
    for t in samples.trajectories:
        before: tuple[int, ...] = ()
        for step in t.episode.steps:
            assert step.sampled is not None
            assert step.sampled.prompt_ids[: len(before)] == before
            before = step.sampled.prompt_ids + step.sampled.token_ids
        assert before == t.prompt_ids + t.completion_ids


def test_an_agent_that_tokenises_again_is_refused() -> None:
    policy = talker()
    agent = HFAgent(policy.model, tokenizer=policy.tokenizer, temperature=1.0, max_tokens=10)
    with pytest.raises(TokensDrifted, match="was not continued"):
        sample_groups(make_groups([GUESS], 2, seed=1), 3, agent, SamplingConfig(), seed=5)
    agent.close()


def test_the_episodes_of_a_group_have_one_task_one_seed_and_different_luck() -> None:
    samples = play(talker(), groups=3, size=3)
    groups: dict[str, list[Any]] = {}
    for t in samples.trajectories:
        groups.setdefault(t.group, []).append(t)
    assert len(groups) == 3
    for name, members in groups.items():
        assert len(members) == 3
        assert {t.episode.task_id for t in members} == {name.partition(":")[2]}
        assert len({t.episode.seed for t in members}) == 1
        assert len({t.prompt_ids for t in members}) == 1
        assert len({t.completion_ids for t in members}) == 3


def test_the_same_run_samples_the_same_tokens_bit_for_bit() -> None:
    """Whatever executor was quick or slow."""
    policy = talker()
    runs = []
    for executor in ("inline", "thread"):
        engine = engine_of(policy)
        sampling = SamplingConfig(concurrency=5, executor=executor)
        groups = make_groups([GUESS], 3, seed=1)
        samples = sample_groups(groups, 3, engine, sampling, seed=5)
        engine.close()
        runs.append([(t.completion_ids, t.logprobs) for t in samples.trajectories])
    assert runs[0] == runs[1]


def test_groups_go_over_all_tasks_and_then_again_from_other_seeds() -> None:
    groups = make_groups([GUESS], 45, seed=3)
    first, again = groups[:20], groups[20:40]
    assert len({g.task.id for g in first}) == len({g.task.id for g in again}) == 20
    assert [g.task.id for g in first] != [g.task.id for g in again]
    assert len({g.id for g in groups}) == len({g.seed for g in groups}) == 45
    assert groups[:30] == make_groups([GUESS], 30, seed=3), "a longer run begins alike"
    assert groups != make_groups([GUESS], 45, seed=4)


class Breaks(ChatAgent):
    """An agent that cannot answer now and then, by the episode's seed."""

    def __init__(self, inner: HFEngine, breaks: int) -> None:
        self.inner, self.breaks, self.name = inner, breaks, "breaks"
        self.known: dict[str, int] = {}

    async def complete(self, messages: Any, *, tools: Any = (), episode: str = "", seed: int = 0):  # type: ignore[no-untyped-def]
        number = self.known.setdefault(episode, len(self.known))
        if number < self.breaks and len(messages) > 4:
            raise ModelError("no answer")
        return await self.inner.complete(messages, tools=tools, episode=episode, seed=seed)


def test_broken_episodes_are_left_out_and_counted() -> None:
    engine = engine_of(talker())
    groups = make_groups([GUESS], 2, seed=1)
    samples = sample_groups(groups, 3, Breaks(engine, 1), SamplingConfig(concurrency=2), seed=5)
    engine.close()
    assert samples.left_out == Counter({"failed (model: ModelError)": 1})
    assert len(samples.trajectories) == 5
    assert samples.metrics()["left_out"] == 1
    assert "1 left out" in str(samples)


def test_the_last_of_a_group_is_left_out_too() -> None:
    engine = engine_of(talker())
    samples = sample_groups(
        make_groups([GUESS], 2, seed=1),
        2,
        Breaks(engine, 1),
        SamplingConfig(concurrency=1),
        seed=5,
    )
    engine.close()
    assert samples.left_out["alone in its group"] == 1
    assert len(samples.trajectories) == 2


def test_too_long_episodes_are_kept_dropped_or_stop_the_run() -> None:
    policy = talker()
    longest = play(policy, groups=1).trajectories[0]
    context = len(longest.prompt_ids) + 12
    cut = play(policy, groups=1, context=context).trajectories
    assert cut
    assert all(t.episode.status == "limit" for t in cut)
    assert all(len(t.prompt_ids) + len(t.completion_ids) <= context for t in cut)
    groups, sampling = make_groups([GUESS], 1, seed=1), SamplingConfig(concurrency=4)
    for too_long in ("drop", "error"):
        engine = engine_of(policy, context=context)
        try:
            if too_long == "error":
                with pytest.raises(InvalidConfig, match="too long"):
                    sample_groups(groups, 2, engine, sampling, seed=5, too_long=too_long)
            else:
                samples = sample_groups(groups, 2, engine, sampling, seed=5, too_long=too_long)
                assert samples.left_out == {"too long": 2}
        finally:
            engine.close()


@pytest.mark.parametrize("name", FAMILIES)
def test_a_reply_as_the_template_writes_it_goes_on_as_the_template_would(name: str) -> None:
    family = FAMILIES[name]
    tokenizer = tokenizer_of(family.template, family.eos)
    ends = frozenset(tokenizer.convert_tokens_to_ids(list(family.ends or (family.eos,))))
    template = ChatTemplate(tokenizer, ends)
    talk = [Message("user", "You are at the door."), Message("assistant", "OK.")]
    talk.append(Message("user", "Go on."))
    talks = Continuations(template)
    prompt = talks.prompt("e", talk)
    assert prompt == template.prompt_ids([m.to_openai() for m in talk])
    reply = "Thought: I go north.\nAction: move north"
    learned = tokenizer(family.learned(reply), add_special_tokens=False)["input_ids"]
    talks.add("e", len(talk), prompt, learned)
    talk += [Message("assistant", reply), Message("user", "You are at 5, 3.")]
    after = talks.prompt("e", talk)
    assert after[: len(prompt) + len(learned)] == [*prompt, *learned]
    assert tokenizer.decode(after) == tokenizer.decode(
        template.prompt_ids([m.to_openai() for m in talk])
    )
    cut = talks.prompt("cut", talk[:3])
    talks.add("cut", 3, cut, learned[:3])
    closed = talks.prompt("cut", talk)
    assert closed[len(cut) + 3] in ends | {tokenizer.eos_token_id}, "what was cut off is closed"
    assert closed[len(cut) + 4 :] == after[len(prompt) + len(learned) :]


LOOKS_BACK = (
    "{% for m in messages %}<|im_start|>{{ loop.previtem.content if loop.previtem else '' }}:"
    "{{ m['content'] }}<|im_end|>{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>{% endif %}"
)


@pytest.mark.parametrize("name", [*sorted(FAMILIES), "looks back"])
def test_what_is_put_between_replies_is_the_same_when_only_new_messages_are_written(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    template, eos = LOOKS_BACK, "<|im_end|>"
    if name in FAMILIES:
        template, eos = FAMILIES[name].template, FAMILIES[name].eos
    tokenizer = tokenizer_of(template, eos)
    written: list[int] = []
    plain = ChatTemplate._render

    def render(self: ChatTemplate, messages: Any, add_generation_prompt: bool = False) -> str:
        written.append(len(messages))
        return plain(self, messages, add_generation_prompt)

    monkeypatch.setattr(ChatTemplate, "_render", render)

    def prompts() -> list[list[int]]:
        written.clear()
        talks = Continuations(ChatTemplate(tokenizer))
        talk, given = [Message("user", "Go."), Message("assistant", "OK"), Message("user", "")], []
        for reply in ("north", " \n", "reply-stands-here", "a<|im_end|>b", "south", "on", "off"):
            given.append(talks.prompt("e", talk))
            sampled = tokenizer(reply, add_special_tokens=False)["input_ids"]
            talks.add("e", len(talk), given[-1], [*sampled, tokenizer.eos_token_id])
            talk += [Message("assistant", reply), Message("user", f"After {reply!r}.")]
        return given

    def refuse(*_: Any, **__: Any) -> Any:
        raise CannotGrow("it is not asked to")

    growing = prompts()
    of_growing = sum(written)
    with monkeypatch.context() as patch:
        patch.setattr("agentgym.baselines.continuation.Growing", refuse)
        patch.setattr("agentgym.agents.hf_prompt.Growing", refuse)
        assert prompts() == growing
    assert of_growing < sum(written)


def test_a_reply_that_writes_an_end_as_text_does_not_end_the_turn_early() -> None:
    policy = talker()
    template = ChatTemplate(policy.tokenizer, policy.ends)
    talks = Continuations(template)
    talk = [Message("user", "Go.")]
    prompt = talks.prompt("e", talk)
    letters = [policy.tokenizer.encode(c, add_special_tokens=False)[0] for c in "a<|im_end|>b"]
    end = policy.tokenizer.eos_token_id
    talks.add("e", 1, prompt, [*letters, end])
    talk += [Message("assistant", "a<|im_end|>b"), Message("user", "Well.")]
    rest = talks.prompt("e", talk)[len(prompt) :]
    assert rest[: len(letters) + 1] == [*letters, end]
    assert rest.count(end) == 2, "the reply's and the next message's, and none from its text"
    talks.release("e")
    assert talks.prompt("e", talk) == template.prompt_ids([m.to_openai() for m in talk])


def test_tokens_without_log_probabilities_cannot_be_trained_on() -> None:
    samples = play(talker(), groups=1)
    episode = samples.trajectories[0].episode
    bare = episode.steps[0].model_copy(update={"sampled": Sampled((1,), (2,))})
    with pytest.raises(InvalidConfig, match="log-probabilities"):
        trajectory_of(
            episode.model_copy(update={"steps": (bare,)}), make_groups([GUESS], 1, seed=1)[0]
        )


def test_the_clock_counts_each_moment_once() -> None:
    clock = BusyClock()
    with clock, clock:
        inner = clock.seconds
    assert inner == 0.0
    once = clock.seconds
    with clock:
        pass
    assert once > 0
    assert clock.seconds > once


class Client:
    """Stands for TRL's VLLMClient: answers with the model in memory, in vLLM's shape."""

    def __init__(self, policy: Policy) -> None:
        self.agent = HFAgent(
            policy.model, tokenizer=policy.tokenizer, temperature=0.8, max_tokens=10
        )
        self.asked: list[dict[str, Any]] = []

    def generate(self, prompts: list[list[int]], **options: Any) -> dict[str, Any]:
        self.asked.append(options)
        seed = options["generation_kwargs"]["seed"]
        reply = asyncio.run(self.agent.answer(prompts[0], seed=seed))
        assert reply.sampled is not None
        return {
            "prompt_ids": prompts,
            "completion_ids": [list(reply.sampled.token_ids)],
            "logprobs": [[[value] for value in reply.sampled.logprobs]],
        }


def test_a_vllm_server_is_asked_for_tokens_and_gives_exact_trajectories() -> None:
    policy = talker()
    client = Client(policy)
    sampling = SamplingConfig(temperature=0.8, max_tokens=10, concurrency=3)
    template = ChatTemplate(policy.tokenizer, policy.ends)
    engine = VLLMServerEngine(client, policy.tokenizer, sampling, template, context=2048)
    samples = sample_groups(make_groups([GUESS], 2, seed=1), 2, engine, sampling, seed=5)
    engine.close()
    client.agent.close()
    assert len(samples.trajectories) == 4
    for t in samples.trajectories:
        expected = forced(policy, [*t.prompt_ids, *t.completion_ids], 0.8)[len(t.prompt_ids) :]
        own = torch.tensor(t.mask)
        assert torch.allclose(torch.tensor(t.logprobs).double()[own], expected[own], atol=1e-4)
    assert len({asked["generation_kwargs"]["seed"] for asked in client.asked}) == len(client.asked)
    assert all(asked["temperature"] == 0.8 and asked["n"] == 1 for asked in client.asked)
    assert samples.seconds >= samples.waited >= 0


class Fails:
    def __init__(self, error: Exception | None = None, **changes: Any) -> None:
        self.error, self.changes = error, changes

    def generate(self, prompts: list[list[int]], **_: Any) -> dict[str, Any]:
        if self.error is not None:
            raise self.error
        good = {"prompt_ids": prompts, "completion_ids": [[5]], "logprobs": [[[-1.0]]]}
        return {**good, **self.changes}


@pytest.mark.parametrize(
    ("client", "retryable"),
    [
        (Fails(ConnectionError("down")), True),
        (Fails(Exception("Request failed: 400")), False),
        (Fails(logprobs=[[[None]]]), False),
        (Fails(prompt_ids=[[9, 9]]), False),
    ],
)
def test_what_a_vllm_server_gets_wrong_is_a_failed_call(client: Fails, retryable: bool) -> None:
    policy = talker()
    template = ChatTemplate(policy.tokenizer, policy.ends)
    engine = VLLMServerEngine(client, policy.tokenizer, SamplingConfig(), template, context=99)
    with pytest.raises(ModelError) as caught:
        asyncio.run(engine.answer([1, 2, 3]))
    engine.close()
    assert caught.value.retryable == retryable


@pytest.mark.parametrize("device", ["cpu", "cuda", "cuda:1"])
def test_colocated_vllm_is_asked_in_batches_on_this_process_device(
    monkeypatch: pytest.MonkeyPatch, device: str
) -> None:
    policy = talker()
    sizes: list[int] = []
    current = threading.local()  # as CUDA keeps it, which begins with the first in every thread
    monkeypatch.setattr(torch.cuda, "set_device", lambda d: setattr(current, "device", str(d)))

    class Shape:
        def __init__(self, **values: Any) -> None:
            self.__dict__.update(values)

    class LLM:
        def generate(self, prompts: Any, sampling_params: Any, use_tqdm: bool) -> list[Any]:
            sizes.append(len(prompts))
            assert getattr(current, "device", "cuda:0") == (
                device if device == "cuda:1" else "cuda:0"
            )
            assert [p.seed for p in sampling_params] == [prompts_["prompt_token_ids"][0] for
                                                         prompts_ in prompts]  # fmt: skip
            token = policy.tokenizer.eos_token_id
            best = Shape(token_ids=[7, token], logprobs=[{7: Shape(logprob=-1.5)},
                                                         {token: Shape(logprob=-0.5)}])  # fmt: skip
            return [Shape(outputs=[best]) for _ in prompts]

    template = ChatTemplate(policy.tokenizer, policy.ends)
    engine = VLLMColocateEngine(
        LLM(), Shape, policy.tokenizer, SamplingConfig(max_batch=3), template, context=99,
        device=torch.device(device),
    )  # fmt: skip

    async def ask() -> list[Reply]:
        return await asyncio.gather(*(engine.answer([n, 2], seed=n) for n in range(3, 9)))

    replies = asyncio.run(ask())
    engine.close()
    assert sum(sizes) == 6
    assert max(sizes) <= 3
    assert all(r.sampled and r.sampled.logprobs == (-1.5, -0.5) for r in replies)
    assert all(r.finish_reason == "stop" and r.usage == Usage(2, 2, calls=1) for r in replies)
