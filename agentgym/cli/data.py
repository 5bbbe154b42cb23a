"""`agentgym data`: the published data, AgentTraj-mini, and files of trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from agentgym.cli.console import err, out, print_json, table
from agentgym.cli.errors import Commands, fail
from agentgym.cli.options import Json

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    help="Data sets: what is here, and how the rest is brought or built.",
)
Envs = Annotated[
    list[str] | None, typer.Option("--env", help="Only this environment; may be repeated.")
]
Source = Annotated[
    str | None, typer.Option(help="A repository of the hub, or a folder or file of its shape.")
]


@app.command("list")
def list_data(as_json: Json = False) -> None:
    """List what each environment's editions need, and the data sets.

    [dim]Example:[/dim] agentgym data list
    """
    from agentgym.cli.envs import describe_card
    from agentgym.core import cards, data_root

    rows = [
        {"name": card["name"], "edition": name, **edition}
        for card in map(describe_card, cards())
        for name, edition in card["editions"].items()
    ]
    datasets = _datasets()
    if as_json:
        print_json({"data_folder": str(data_root()), "editions": rows, "datasets": datasets})
        return
    grid = table("Environment", "Edition", "Tasks", "State", "About", right=("Tasks",))
    for row in rows:
        count = str(row["train"] + row["eval"]) if row["available"] else "?"
        grid.add_row(row["name"], row["edition"], count, _state(row), row["about"])
    out().print(grid)
    out().print()
    grid = table("Data set", "What", "How")
    for entry in datasets:
        grid.add_row(entry["name"], entry["about"], entry["command"])
    out().print(grid)
    out().print(f"\nData folder: {data_root()} (set AGENTGYM_DATA to change it)", markup=False)


def _state(row: dict[str, Any]) -> Text:
    if not row["available"]:
        return Text("missing", style="red")
    return Text("here" if not row["offline"] else "built in", style="green")


def _datasets() -> list[dict[str, str]]:
    return [
        {
            "name": "AgentTraj-mini",
            "about": "The expert's trajectory of every mini train task.",
            "command": "agentgym data build-mini OUT",
        },
        {
            "name": "AgentTraj-L",
            "about": "The published trajectories (Hugging Face, AgentGym/AgentTraj-L).",
            "command": "agentgym data fetch agenttraj-l --out FILE",
        },
        {
            "name": "AgentEval",
            "about": "The published evaluation ids (Hugging Face, AgentGym/AgentEval).",
            "command": "agentgym data fetch agenteval",
        },
    ]


@app.command()
def fetch(
    name: Annotated[
        str, typer.Argument(help="agenteval, agenttraj-l, or an environment for its ids alone.")
    ],
    env: Envs = None,
    source: Source = None,
    revision: Annotated[
        str | None, typer.Option(help="Branch, tag or commit; a commit stays the same.")
    ] = None,
    to: Annotated[
        Path | None, typer.Option("--out", help="The file for agenttraj-l (.json, .jsonl, …).")
    ] = None,
) -> None:
    """Bring published data onto this machine.

    [dim]Examples:[/dim]

      agentgym data fetch agenteval

      agentgym data fetch agenttraj-l --env babyai --out babyai.json
    """
    if name.lower() in ("agenttraj-l", "agenttraj"):
        _fetch_trajectories(env, source, revision, to)
        return
    from agentgym.trajectories.hub import AGENTEVAL, fetch_eval_ids

    wanted = env if name.lower() == "agenteval" else [name]
    for ids in fetch_eval_ids(wanted, source=source or AGENTEVAL, revision=revision):
        note = "" if ids.as_published else f" (AgentEval is said to have {ids.env.eval})"
        out().print(f"{ids.env.name}: {ids.size} ids in {ids.path}{note}", markup=False,
                    soft_wrap=True)  # fmt: skip


def _fetch_trajectories(
    envs: list[str] | None, source: str | None, revision: str | None, to: Path | None
) -> None:
    from agentgym.core.errors import InvalidConfig
    from agentgym.trajectories import write_items
    from agentgym.trajectories.hub import AGENTTRAJ, load_agenttraj

    if to is None:
        raise InvalidConfig("name the file to write the trajectories to: --out agenttraj-l.json")
    wanted: list[str | None] = [*envs] if envs else [None]
    items = [
        item
        for env in wanted
        for item in load_agenttraj(source or AGENTTRAJ, env, revision=revision)
    ]
    count = write_items(items, to)
    out().print(f"{count} trajectories in {to}", markup=False)


@app.command("build-mini")
def build_mini(
    to: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write to.")],
    env: Envs = None,
    processes: Annotated[int, typer.Option("-j", min=1, help="Environments at a time.")] = 1,
    suffix: Annotated[str, typer.Option(help="Format: .jsonl.gz, .jsonl, .json, .parquet.")] = (
        ".jsonl.gz"
    ),
) -> None:
    """Build AgentTraj-mini and compare it with the recorded digests.

    [dim]Example:[/dim] agentgym data build-mini agenttraj-mini
    """
    from agentgym.trajectories import mini

    def report(built: mini.MiniBuilt) -> None:
        entry = built.entry
        out().print(f"{built.env_id}: {entry.episodes} of {entry.train} train tasks, "
                    f"{entry.rounds} rounds, {built.path}",
                    markup=False, soft_wrap=True)  # fmt: skip
        if built.shortfall:
            err().print(built.shortfall, style="yellow", markup=False, soft_wrap=True)

    with err().status("Building AgentTraj-mini …"):
        built = mini.build_mini(to, env, report, suffix=suffix, processes=processes)
    _verdict(mini.compare(mini.digests_of(built), mini.expected_digests()))


@app.command("verify-mini")
def verify_mini(
    folder: Annotated[Path, typer.Argument(help="What build-mini wrote.")],
) -> None:
    """Compare a built AgentTraj-mini with the recorded digests.

    Ends with exit code 1 if it differs.
    """
    from agentgym.trajectories.mini import verify_mini as verify

    _verdict(verify(folder))


def _verdict(problems: list[str]) -> None:
    for problem in problems:
        out().print(Text(f"✗ {problem}", style="red"))
    if problems:
        fail("AgentTraj-mini is not as recorded")
    out().print("[green]✓ Every digest is as recorded.[/green]")


@app.command()
def show(
    file: Annotated[Path, typer.Argument(help="A file of trajectories or a run folder.")],
    as_json: Json = False,
) -> None:
    """Show what a file of trajectories holds.

    [dim]Example:[/dim] agentgym data show textcraft.jsonl
    """
    from agentgym.trajectories import read

    dataset = read(file)
    stats = dataset.stats()
    if as_json:
        rows = [row.model_dump(mode="json") for row in stats]
        print_json({"card": dataset.card.model_dump(mode="json"), "stats": rows})
        return
    grid = table("Environment", "Edition", "Episodes", "Tasks", "Success", "Score", "Rounds",
                 right=("Episodes", "Tasks", "Success", "Score", "Rounds"))  # fmt: skip
    for row in stats:
        grid.add_row(row.env_id, row.edition, str(row.episodes), str(row.tasks),
                     f"{100 * row.success:.1f}%", f"{row.score:.3f}",
                     f"{row.rounds:.1f}")  # fmt: skip
    out().print(grid)
    out().print(f"\nDigest: {dataset.digest}")


@app.command()
def convert(
    source: Annotated[Path, typer.Argument(help="A file of trajectories or a run folder.")],
    to: Annotated[Path, typer.Argument(metavar="TO", help="The file to write.")],
    layout: Annotated[
        str, typer.Option(help="episodes, published, evaluation or messages.")
    ] = "episodes",
) -> None:
    """Write trajectories in another format or layout.

    [dim]Example:[/dim] agentgym data convert runs/expert-quick-1 sft.json --layout published
    """
    from agentgym.trajectories import read, write

    card = write(read(source), to, layout=layout)
    out().print(f"{card.episodes} trajectories in {to}", markup=False)
