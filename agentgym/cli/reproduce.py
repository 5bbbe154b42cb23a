"""`agentgym reproduce`: experiments that were published, or that this package stands by, again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from agentgym.baselines.studies.catalog import STUDIES
from agentgym.cli.console import err, out, print_json
from agentgym.cli.errors import Commands
from agentgym.cli.evaluate import command_line
from agentgym.cli.options import Json

if TYPE_CHECKING:
    from agentgym.baselines.studies.settings import StudySettings
    from agentgym.baselines.studies.study import Study

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help=(
        "Run an experiment again, from nothing to its table.\n\n"
        "[dim]Examples:[/dim]\n\n"
        "  agentgym reproduce agentgym-table3 --profile cpu\n\n"
        "  agentgym reproduce demonstration --profile small"
    ),
)

Profile = Annotated[
    str, typer.Option("--profile", "-p", help="cpu, paper (as published), or a YAML file.")
]
Sets = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting to change, by its dotted key in what --dry-run prints; may be repeated.",
    ),
]
Arms = Annotated[list[str] | None, typer.Option("--arm", help="Only this arm, and those it needs.")]
Reuse = Annotated[
    list[Path] | None,
    typer.Option("--reuse", help="The folder of another experiment, whose runs are taken over "
                 "where they would come out the same."),
]  # fmt: skip
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Show the settings and what would be done, and stop.")
]


@app.command("demonstration")
def demonstration(
    profile: Annotated[
        str, typer.Option("--profile", "-p", help="small, full, or a YAML file of your own.")
    ] = "small",
    sets: Sets = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="The folder; else runs/demonstration-PROFILE.")
    ] = None,
    dry_run: DryRun = False,
    as_json: Json = False,
) -> None:
    """Train every baseline from the same start on a tiny model, and compare them.

    The same command again goes on where it was stopped.

    [dim]Example:[/dim] agentgym reproduce demonstration --profile small --dry-run
    """
    from agentgym.baselines.configfile import to_yaml
    from agentgym.baselines.demonstration.check import review
    from agentgym.baselines.demonstration.experiment import load_experiment
    from agentgym.baselines.demonstration.plan import plan

    experiment = load_experiment(profile, sets or [])
    folder = to or Path("runs") / f"demonstration-{Path(profile).stem}"
    if dry_run:
        lacking = review(experiment, folder)
        lines = [*plan(experiment), *lacking]
        if as_json:
            print_json({"config": experiment.model_dump(mode="json"), "plan": lines})
            return
        out().print(to_yaml(experiment), markup=False)
        out().print("\n".join(lines), markup=False, soft_wrap=True)
        return
    from agentgym.baselines.demonstration.run import run
    from agentgym.baselines.demonstration.show import RESULTS, show

    screen = err()
    screen.print(f"The demonstration lies in {folder}", markup=False, soft_wrap=True)
    try:
        run(experiment, folder, _sayer(screen))
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"Stopped. Go on with: {command_line()}") from stop
    text = show(experiment, folder)
    if as_json:
        import json

        print_json({"run": str(folder), **json.loads((folder / RESULTS).read_text("utf-8"))})
        return
    out().print(text, markup=False, soft_wrap=True)


def command(study: Study) -> Callable[..., None]:
    """Return the command of one study."""

    def reproduce(
        profile: Profile = "cpu",
        sets: Sets = None,
        arms: Arms = None,
        to: Annotated[
            Path | None, typer.Option("--out", help="The folder; else runs/EXPERIMENT-PROFILE.")
        ] = None,
        reuse: Reuse = None,
        dry_run: DryRun = False,
        as_json: Json = False,
    ) -> None:
        folder = to or Path("runs") / f"{study.name}-{Path(profile).stem}"
        _reproduce(
            study, profile, sets or [], tuple(arms or ()), folder, reuse or [], dry_run, as_json
        )

    reproduce.__doc__ = (
        f"{study.title}.\n\n"
        f"Arms: {', '.join(arm.name for arm in study.arms)}. The table stands beside the published "
        "one, never in it. The same command again goes on where it was stopped.\n\n"
        f"[dim]Example:[/dim] agentgym reproduce {study.name} --profile cpu --dry-run"
    )
    return reproduce


for _study in STUDIES:
    app.command(_study.name)(command(_study))


def _reproduce(
    study: Study,
    profile: str,
    sets: list[str],
    arms: tuple[str, ...],
    folder: Path,
    reuse: list[Path],
    dry: bool,
    as_json: bool,
) -> None:
    from agentgym.baselines.studies.reuse import require_studies
    from agentgym.baselines.studies.settings import load_settings

    settings = load_settings(study, profile, sets)
    if dry:
        require_studies(reuse)
        _dry_run(study, settings, folder, arms, profile, as_json)
        return
    from agentgym.baselines.checkpoints import is_main
    from agentgym.baselines.freeing import set_aside
    from agentgym.baselines.studies.run import run

    screen = err()
    if is_main():
        screen.print(f"The runs lie in {folder}", markup=False, soft_wrap=True)
    set_aside()
    try:
        run(study, settings, folder, _sayer(screen), arms=arms, reuse=reuse)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"Stopped. Go on with: {command_line()}") from stop
    if not is_main():  # one of several processes speaks
        return
    from agentgym.cli.studies import show

    data, text = show(study, settings, folder)
    if as_json:
        print_json({"run": str(folder), **data})
        return
    out().print(text.removesuffix("\n"), markup=False, soft_wrap=True)


def _dry_run(
    study: Study,
    settings: StudySettings,
    folder: Path,
    arms: tuple[str, ...],
    profile: str,
    as_json: bool,
) -> None:
    from agentgym.baselines.configfile import to_yaml
    from agentgym.baselines.studies.check import review
    from agentgym.baselines.studies.plan import plan, planned_stages

    lacking = review(study, settings, folder, arms, profile)
    lines = [*plan(study, settings, folder, arms), *lacking]
    if as_json:
        configs = {
            str(stage.folder): stage.config.model_dump(mode="json")
            for model in settings.models
            for stage in planned_stages(study, settings, model, folder, arms)
        }
        print_json({"config": settings.model_dump(mode="json"), "arms": configs, "plan": lines})
        return
    out().print(to_yaml(settings), markup=False)
    out().print("\n".join(lines), markup=False, soft_wrap=True)


def _sayer(screen: Any) -> Callable[[str], None]:
    """Return what takes lines of progress and shows them."""
    return lambda line: screen.print(line, markup=False, soft_wrap=True)
