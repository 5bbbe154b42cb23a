"""`agentgym train`: the trainers, each a command with the same options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentgym.cli.console import err, out, print_json
from agentgym.cli.errors import Commands
from agentgym.cli.evaluate import command_line
from agentgym.cli.options import Json
from agentgym.core.errors import InvalidConfig

if TYPE_CHECKING:
    from agentgym.baselines.config import RunConfig

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=(
        "Train a policy, a language model that plays, on the environments.\n\n"
        "Begin with bc: the profile tiny takes minutes on a laptop, with a small model that is "
        "made on the spot. --dry-run shows every setting and what a run would cost, and does "
        "nothing.\n\n"
        "[dim]Examples:[/dim]\n\n"
        "agentgym train bc --dry-run\n\n"
        "agentgym train bc --out runs/my-bc optim.lr=0.001"
    ),
)

# The names and sentences of agentgym.baselines.catalog, which is imported when a command runs.
ABOUT = {
    "bc": "Behavioural cloning: imitate demonstrations.",
    "dpo": "DPO: prefer the attempts that solved a task over those that did not.",
    "agentevol": "AgentEvol: explore, learn from what went well, again and again.",
    "grpo": "GRPO: of several attempts at a task, learn from what went better.",
    "adca-grpo": "ADCA-GRPO: GRPO that also credits each round for what it did.",
}

TINY = "tiny"

_OWN = (
    "A policy that can play is needed to begin with: the profile tiny clones one from "
    "demonstrations, model.name=FOLDER data.expert=\\[] takes one of yours."
)
BEGINS = {
    "bc": (
        "In the profile tiny an expert gives the demonstrations; data.expert=\\[] "
        "data.files=\\[FILE] takes yours."
    ),
    "dpo": _OWN,
    "agentevol": (
        "The first round clones demonstrations; policy=FOLDER takes a policy of yours instead."
    ),
    "grpo": _OWN,
    "adca-grpo": _OWN,
}
"""What is learned from at first, and how to change that."""

Overrides = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="KEY=VALUE",
        help="Settings to change, as --dry-run names them: optim.lr=0.001, eval.envs.0.tasks=10.",
    ),
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set", metavar="KEY=VALUE", help="A setting to change, written as an option; repeatable."
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile", "-p", help="tiny (the default: minutes on a laptop) or paper (as published)."
    ),
]
Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="A YAML file of settings in place of a profile, such as an earlier run's config.yaml.",
    ),
]
Out = Annotated[
    Path | None,
    typer.Option(
        "--out", help="The run's folder; otherwise runs/TRAINER-PROFILE-N, N counting from 1."
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show all settings, what would be done and what it would cost; stop."
    ),
]


def command(name: str) -> Callable[..., None]:
    """Return the command of one trainer."""

    def train(
        overrides: Overrides = None,
        profile: Profile = None,
        config: Config = None,
        sets: Sets = None,
        to: Out = None,
        dry_run: DryRun = False,
        as_json: Json = False,
    ) -> None:
        if config is not None and profile is not None:
            raise InvalidConfig("give a file (--config) or a profile (--profile), not both")
        source = config or (TINY if profile is None else profile)
        _train(name, source, [*(overrides or ()), *(sets or ())], to, dry_run, as_json)

    train.__doc__ = (
        f"{ABOUT[name]}\n\n"
        f"{BEGINS[name]}\n\n"
        "Settings are those of a profile or a file, changed by KEY=VALUE. At the end the run says "
        "where the policy lies; the same command again goes on where it was stopped.\n\n"
        f"[dim]Example:[/dim] agentgym train {name} --profile tiny optim.lr=0.001 --dry-run"
    )
    return train


for _name in ABOUT:
    app.command(_name)(command(_name))


def _train(
    name: str, source: str | Path, overrides: list[str], to: Path | None, dry: bool, as_json: bool
) -> None:
    from agentgym.baselines.catalog import find_baseline
    from agentgym.baselines.checkpoints import is_main
    from agentgym.baselines.configfile import to_yaml
    from agentgym.baselines.freeing import set_aside

    for override in overrides:
        if "=" not in override:
            raise InvalidConfig(
                f"a setting is written KEY=VALUE (optim.lr=0.001), not {override!r}"
            )
    baseline = find_baseline(name)
    config = baseline.config(source, overrides)
    if dry:
        lacking = baseline.review(config, source, to)
        plan = [*baseline.plan(config), *lacking]
        if as_json:
            print_json({"config": config.model_dump(mode="json"), "plan": plan})
            return
        out().print(to_yaml(config), markup=False)
        out().print("\n".join(plan), markup=False)
        return
    folder = to or baseline.folder(config, source)
    screen = err()
    if is_main():
        _say(screen, f"The run lies in {folder}")
    set_aside()
    try:
        result = baseline.train(config, folder, lambda line: _say(screen, line))
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"Stopped. Go on with: {command_line()}") from stop
    if not is_main():  # one of several processes speaks
        return
    if as_json:
        print_json({"run": str(folder), **result})
        return
    _show(folder, result, config)


def _say(screen: Any, line: str) -> None:
    screen.print(line, markup=False, soft_wrap=True)


def _show(folder: Path, result: dict[str, Any], config: RunConfig) -> None:
    from agentgym.baselines.checkpoints import MODEL
    from agentgym.baselines.evaluate import describe
    from agentgym.baselines.rounds import rounds_table

    if "rounds" in result:
        out().print(rounds_table(result["rounds"]), markup=False, soft_wrap=True)
    for env, score in result.get("eval", {}).items():
        out().print(f"{env}: {describe(score)}", markup=False)
    policy = result.get("policy", folder / MODEL)
    env = config.eval.envs[0].env if config.eval.envs else "maze"
    lines = [f"The policy lies in {policy}. Next:", f"  agentgym eval hf:{policy} --env {env}"]
    if config.tensorboard:
        lines.append(f"  tensorboard --logdir {folder}")
    out().print("\n".join(lines), markup=False, soft_wrap=True)
