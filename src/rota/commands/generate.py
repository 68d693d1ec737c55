"""Make up a log whose routines are known, with the truth about every event."""

from pathlib import Path
from typing import Annotated

import typer
from rich import box
from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rota.commands._terminal import console, describe, say
from rota.errors import InputError
from rota.recipes.generating import changed_world, generate, period_text, world_facts

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_WORLD, _PEOPLE = "The world", "Its people"


@app.command(
    help="Make up a log whose routines are known, with the truth about every event.\n\n"
    "Kinds of people: daily and weekly (hours on the local wall clock), shifts (a period that is not a day), "
    "day_before (what came next yesterday is done today), repeating (recency and no clock), aimless (no "
    "routine at all); town is a mix of all in three time zones, with drift and novelty.\n\n"
    "OUT gets user, item, time (Unix seconds) and zone; beside it NAME.truth.parquet says of each row which "
    "habit it comes from and when that was due, and NAME.truth.toml holds the recipe. The same options make "
    "the same rows.",
    epilog="Examples:\n\n"
    "  rota generate town.parquet\n\n"
    "  rota generate shifts.parquet --kind shifts --period 30h --users 2000 --events 500000 --seed 7\n\n"
    "  rota generate nothing.csv.gz --kind aimless --hours office --zone Europe/Paris --order time\n\n"
    "  rota generate again.parquet --world town.truth.toml --seed 1",
)
def generate_command(
    out: Annotated[Path, typer.Argument(help="File of the log: .parquet, .csv or .csv.gz.")],
    kind: Annotated[
        str | None,
        typer.Option(help="daily, weekly, shifts, day_before, repeating, aimless, or town, which is usual."),
    ] = None,
    world: Annotated[
        Path | None, typer.Option(help="Instead of a kind: a NAME.truth.toml to start from.", metavar="FILE")
    ] = None,
    users: Annotated[int | None, typer.Option(help="People; usually 1,000.", rich_help_panel=_WORLD)] = None,
    events: Annotated[
        int | None, typer.Option(help="Rows, exactly; usually 100,000.", rich_help_panel=_WORLD)
    ] = None,
    items: Annotated[int | None, typer.Option(help="Usually 1,000.", rich_help_panel=_WORLD)] = None,
    seed: Annotated[int | None, typer.Option(help="Usually 0.", rich_help_panel=_WORLD)] = None,
    start: Annotated[
        str | None, typer.Option(help="First day; usually 2024-01-01.", rich_help_panel=_WORLD)
    ] = None,
    span: Annotated[
        str | None, typer.Option(help="Length in days; usually 180d.", rich_help_panel=_WORLD)
    ] = None,
    zone: Annotated[
        list[str] | None,
        typer.Option(
            help="Time zone, repeated for several: Europe/Paris; usually UTC.", rich_help_panel=_WORLD
        ),
    ] = None,
    hours: Annotated[
        str | None,
        typer.Option(help="When people are awake: flat, evening (usual) or office.", rich_help_panel=_WORLD),
    ] = None,
    drift: Annotated[
        str | None,
        typer.Option(help="Mean life of a habit: 60d; usually for ever.", rich_help_panel=_WORLD),
    ] = None,
    novelty: Annotated[
        float | None,
        typer.Option(help="Share of items that appear later; usually none.", rich_help_panel=_WORLD),
    ] = None,
    popularity: Annotated[
        float | None, typer.Option(help="Exponent of Zipf's law; usually 1.", rich_help_panel=_WORLD)
    ] = None,
    spread: Annotated[
        float | None,
        typer.Option(help="Of the logarithm of events per person; usually 0.7.", rich_help_panel=_WORLD),
    ] = None,
    resolution: Annotated[
        str | None,
        typer.Option(help="To which times are rounded down: 1min; usually 1s.", rich_help_panel=_WORLD),
    ] = None,
    strength: Annotated[
        float | None, typer.Option(help="Share of routine or repetition.", rich_help_panel=_PEOPLE)
    ] = None,
    slots: Annotated[int | None, typer.Option(help="Habits of a person.", rich_help_panel=_PEOPLE)] = None,
    jitter: Annotated[
        str | None,
        typer.Option(help="Standard deviation from a habit's hour: 30min.", rich_help_panel=_PEOPLE),
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="Of shifts; usually 36h.", rich_help_panel=_PEOPLE)
    ] = None,
    order: Annotated[str, typer.Option(help="Of the rows: user (as made) or time (sorted).")] = "user",
) -> None:
    """Make up a log."""
    if kind is not None and world is not None:
        raise InputError(f"--kind {kind} beside --world {world}: expected one of them")
    made = changed_world(
        world if world is not None else kind or "town",
        {
            "users": users,
            "events": events,
            "items": items,
            "seed": seed,
            "start": start,
            "span": span,
            "zones": tuple(zone) if zone else None,
            "hours": hours,
            "drift": drift,
            "novelty": novelty,
            "popularity": popularity,
            "spread": spread,
            "resolution": resolution,
        },
        {"strength": strength, "slots": slots, "jitter": jitter, "period": period},
    )
    columns = (TextColumn("rows"), BarColumn(), TextColumn("{task.completed:,.0f}/{task.total:,.0f}"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        task = progress.add_task("rows", total=made.events)
        written = generate(
            made, out, order=order, on_progress=lambda done: progress.update(task, completed=done)
        )
    describe(world_facts(made))
    table = Table(title="Made", title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    for name in ("", "people", "events", "routine", "repeated", "period"):
        table.add_column(name, justify="right" if name else "left")
    for row in written.kinds:
        parts = (f"{part / max(row.events, 1):.1%}" for part in (row.routine, row.repeated))
        table.add_row(escape(row.kind), f"{row.people:,}", f"{row.events:,}", *parts, period_text(row.period))
    console.print(table)
    for path in (written.log, written.truth, written.about):
        say(f"  {path}")
