"""Prepare a log of any size once: filtered, in order, in a folder that loads at once."""

from pathlib import Path
from typing import Annotated

import typer

from rota.commands import _reading as options
from rota.commands._stages import Stages
from rota.commands._terminal import console, describe, say
from rota.recipes.fetching import fetch_known
from rota.recipes.opening import stated
from rota.recipes.preparing import chosen_filters, prepare_with, step_table

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_FILTERS = "Filters, applied in this order"


@app.command(
    help="Prepare a log of any size once: filtered, in order, in a folder that loads at once.\n\n"
    "LOG is a Parquet, CSV, TSV (also .gz) or RecBole .inter file, a folder or pattern of such files in "
    "quotes, a table of a database by URL, or a source known by name. The folder gets flat arrays of items, "
    "times and offsets, the vocabularies, and dataset.toml with every choice. Memory stays bounded.",
    epilog="Examples:\n\n"
    "  rota prepare ratings.csv --user userId --item movieId --time timestamp --k-core 5 --out ml-20m\n\n"
    "  rota prepare 'logs/2024-*.parquet' --user u --item i --time t --zone-column tz --out town\n\n"
    "  rota prepare 'duckdb://shop.duckdb#orders' --user who --item sku --time t --ties unordered --out shop",
)
def prepare_command(
    log: Annotated[
        str, typer.Argument(help="Files, a folder, a table of a database by URL, or a source known by name.")
    ],
    out: Annotated[Path, typer.Option(help="Folder to make; it must not exist.", metavar="DIR")],
    user: options.User = None,
    item: options.Item = None,
    time: options.Time = None,
    unit: options.Unit = None,
    zone: options.Zone = None,
    zone_column: options.ZoneColumn = None,
    offset_column: options.OffsetColumn = None,
    epoch: options.Epoch = None,
    ties: options.Ties = None,
    order: options.Order = None,
    on_error: options.OnError = None,
    since: Annotated[
        str | None,
        typer.Option(help="First time that is kept: 2012-04-01, or a number.", rich_help_panel=_FILTERS),
    ] = None,
    until: Annotated[
        str | None, typer.Option(help="First time that is not.", rich_help_panel=_FILTERS)
    ] = None,
    collapse_duplicates: Annotated[
        bool,
        typer.Option(
            "--collapse-duplicates",
            help="One event for equal user, item and time.",
            rich_help_panel=_FILTERS,
        ),
    ] = False,
    first_interaction: Annotated[
        bool,
        typer.Option(
            "--first-interaction", help="Each user's first event with an item.", rich_help_panel=_FILTERS
        ),
    ] = False,
    min_item_events: Annotated[
        int | None, typer.Option(help="Events that an item must have.", rich_help_panel=_FILTERS)
    ] = None,
    min_events: Annotated[
        int | None, typer.Option(help="Events that a user must have.", rich_help_panel=_FILTERS)
    ] = None,
    k_core: Annotated[
        int | None,
        typer.Option(help="Both at once, repeated until they hold.", rich_help_panel=_FILTERS),
    ] = None,
    user_cap: Annotated[
        int | None, typer.Option(help="Latest events of a user that are kept.", rich_help_panel=_FILTERS)
    ] = None,
) -> None:
    """Prepare a log."""
    reading = stated(
        user=user, item=item, time=time, unit=unit, zone=zone, zone_column=zone_column,
        offset_column=offset_column, epoch=epoch, ties=ties, order=order, on_error=on_error,
    )  # fmt: skip
    filters = chosen_filters(
        since=since, until=until, collapse_duplicates=collapse_duplicates,
        first_interaction=first_interaction, min_item_events=min_item_events, min_events=min_events,
        k_core=k_core, user_cap=user_cap,
    )  # fmt: skip
    with Stages() as stages:
        fetch_known(log, stages.tell)
        made = prepare_with(log, out, reading, filters, stages.tell)
    describe(made.describe())
    console.print(step_table(made))
    say(f"  {out}/")
