"""What playing costs while a policy is trained, and what of a step goes into environments.

Two measurements of `agentgym.baselines` on one machine: tokens a second of the hf engine with keys
and values kept over turns against reading each turn anew, and the parts of a GRPO step. The time in
environments is measured by itself, by playing the step's episodes again from their record.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from agentgym.baselines.chat import ChatTemplate
from agentgym.baselines.config import EnvTasks, LoraConfig, ModelConfig, OptimConfig, SamplingConfig
from agentgym.baselines.grpo import GRPOConfig, OutcomeCredit
from agentgym.baselines.model import Policy
from agentgym.baselines.progress import Journal, silent
from agentgym.baselines.sampling import Trajectory, make_groups, sample_groups
from agentgym.core import make
from benchmarks.hf_cache import tiny
from benchmarks.machine import load, write_result


def policy_of(name: str) -> Policy:
    """Return the tiny random model, or a known one with an adapter to train."""
    if name == "tiny":
        return Policy(*tiny(), "tiny")
    from agentgym.baselines.model import load_policy

    return load_policy(ModelConfig(name=name, lora=LoraConfig(r=16), device="cpu"))


def settings(args: argparse.Namespace) -> GRPOConfig:
    """Return the settings of one step over all that is played."""
    return GRPOConfig(
        tasks=(EnvTasks(env=args.env, max_rounds=args.rounds),),
        groups=args.groups,
        group_size=args.size,
        samplings=1,
        sampling=SamplingConfig(
            temperature=1.0, max_tokens=args.max_tokens, max_batch=64, concurrency=64
        ),
        optim=OptimConfig(
            lr=1e-5, batch_size=4, accumulate=args.groups * args.size // 4, warmup=0.0,
            threads=args.threads,
        ),
        model=ModelConfig(device="cpu"),
        tensorboard=False,
        log_every=1,
    )  # fmt: skip


def play_twice(policy: Policy, config: GRPOConfig) -> list[str]:
    """Return a table of playing with and without kept keys and values."""
    from agentgym.baselines.engines import HFEngine

    groups = make_groups(config.tasks, config.groups, seed=0)
    template = ChatTemplate(policy.tokenizer, policy.ends)
    lines = [
        "| | wall s | CPU s | tokens written | a second | a CPU second |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    spent: list[tuple[float, float]] = []
    written: list[list[tuple[int, ...]]] = []
    policy.model.eval()
    for title, tokens in (("read anew each turn", 0), ("kept over turns", 262_144)):
        engine = HFEngine(policy, config.sampling, template, context=2048, cache_tokens=tokens)
        wall, cpu = time.perf_counter(), time.process_time()
        samples = sample_groups(groups, config.group_size, engine, config.sampling, seed=0)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        engine._thread.shutdown()
        count = samples.written
        lines.append(
            f"| {title} | {wall:.1f} | {cpu:.1f} | {count} | {count / wall:.0f} | "
            f"{count / cpu:.0f} |"
        )
        spent.append((wall, cpu))
        written.append([t.completion_ids for t in samples.trajectories])
    by_clock, by_cpu = (a / b for a, b in zip(*spent, strict=True))
    same = sum(a == b for a, b in zip(*written, strict=True))
    lines.append(
        f"\nKept over turns: {by_cpu:.2f} times less CPU, {by_clock:.2f} times faster by the "
        f"clock; {same} of {len(written[0])} episodes are token for token the same.\n"
    )
    return lines


def one_step(policy: Policy, config: GRPOConfig) -> list[str]:
    """Return a table of the parts of a GRPO step."""
    from transformers import PrinterCallback

    from agentgym.baselines.policy_trainer import make_trainer

    with tempfile.TemporaryDirectory() as folder:
        journal = Journal(Path(folder), silent, tensorboard=False)
        trainer = make_trainer(policy, OutcomeCredit(), config, Path(folder), journal)
        trainer.remove_callback(PrinterCallback)
        cpu = time.process_time()
        trainer.train()
        cpu = time.process_time() - cpu
        step = next(p for p in trainer.state.log_history if "step_time" in p)
        trajectories = trainer.samples.trajectories
        trainer.engine.close()
    whole = step["step_time"]
    env_wall, env_cpu = again(trajectories)
    other = max(step["idle_seconds"] - env_wall, 0.0)
    rows = [
        ("the model writes", step["sampling_seconds"] - step["idle_seconds"]),
        ("conversations are written, read and tokenised", other),
        ("the environments", env_wall),
        ("credit, loss and gradient", whole - step["sampling_seconds"]),
    ]
    rounds = sum(t.episode.rounds for t in trajectories)
    return [
        "| part of a step | s | share |",
        "|---|---:|---:|",
        *(f"| {name} | {seconds:.2f} | {100 * seconds / whole:.2f}% |" for name, seconds in rows),
        f"| all | {whole:.2f} | 100% |",
        f"\n{len(trajectories)} episodes, {rounds} rounds, in environments {env_cpu:.3f} CPU "
        f"seconds of {cpu:.1f} ({100 * env_cpu / cpu:.2f}%).\n",
    ]


def again(trajectories: Sequence[Trajectory]) -> tuple[float, float]:
    """Play the episodes again and return wall and CPU seconds spent in `reset` and `step`."""
    wall = cpu = 0.0
    first = trajectories[0].episode
    env: Any = make(first.env_id, edition=first.edition, max_rounds=first.max_rounds)
    for t in trajectories:
        begin, begin_cpu = time.perf_counter(), time.process_time()
        env.reset(seed=t.episode.seed, options={"task_id": t.episode.task_id})
        for step in t.episode.steps:
            answer = env.forfeit(step.observation) if step.action is None else env.step(step.action)
            assert answer[0] == step.observation
        wall += time.perf_counter() - begin
        cpu += time.process_time() - begin_cpu
    env.close()
    return wall, cpu


def main() -> None:
    """Measure each model and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", nargs="+", default=["tiny"])
    parser.add_argument("--env", default="maze")
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--size", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--max-tokens", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="write the result file")
    args = parser.parse_args()
    config = settings(args)
    parts = []
    for name in args.model:
        import torch

        torch.set_num_threads(args.threads)
        policy = policy_of(name)
        parts.append(
            f"## {name}\n\n{args.groups} tasks of {args.env} x {args.size} episodes, {args.rounds} "
            f"rounds at most, {args.max_tokens} tokens a reply, {args.threads} thread(s), "
            f"{load()}.\n"
        )
        parts += play_twice(policy, config)
        parts += one_step(policy, config)
        print("\n".join(parts), flush=True)
    if args.write:
        command = f"python -m benchmarks.sampling --model {' '.join(args.model)} --write"
        about = (
            "Playing while a policy is trained. Where a machine does other work at the same time, "
            "CPU seconds are the figure to read.\n\n"
        )
        write_result("sampling", "Sampling for training", command, about + "\n".join(parts))


if __name__ == "__main__":
    main()
