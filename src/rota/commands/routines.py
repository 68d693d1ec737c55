"""Find the routines of a log: what returns, after how long, how surely, and what to make of it."""

from pathlib import Path
from typing import Annotated

import typer

from rota.commands import _reading as options
from rota.commands._outputs import outputs, say_outputs
from rota.commands._stages import Stages
from rota.commands._terminal import console
from rota.plots.routines_text import routines_report
from rota.recipes.fetching import fetch_known
from rota.recipes.opening import stated
from rota.recipes.routines import find_routines, save_bins, save_routines

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_LOOK = "What is looked for"


@app.command(
    help="Find the routines of a log: what returns, after how long, how surely, and what to make of it.\n\n"
    "Counts all pairs of one user's events by the time between them, and how many more of them are of one "
    "item than if his items were dealt to his times at random: the lift. Busy hours of all cancel. Periods "
    "are found in it without being told, and tested against how users differ, so that what is reported is "
    "chance in one log of a hundred.\n\n"
    "The verdict is routine (it returns with a period), recency (the sooner, the likelier; no period), "
    "nothing, or unknown where the log cannot tell. Users' wall clocks are used where their zone is known.",
    epilog="Examples:\n\n"
    "  rota routines checkins.parquet --user user_id --item venue --time at --zone America/New_York\n\n"
    "  rota routines baskets.csv --user u --item product --time t --by category --out routines.png\n\n"
    "  rota routines flights --json routines.json --bins lift.csv\n\n"
    "  rota routines mails.parquet --user sender --item recipient --time t --unit s --epoch unknown",
)
def routines_command(
    log: Annotated[
        str,
        typer.Argument(
            help="Prepared dataset, files, a table of a database by URL, or a source known by name."
        ),
    ],
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
    by: Annotated[
        str | None,
        typer.Option(
            help="Column of a category that returns, instead of the item.",
            metavar="COLUMN",
            rich_help_panel=_LOOK,
        ),
    ] = None,
    utc: Annotated[
        bool, typer.Option("--utc", help="Time that passed, not the users' clocks.", rich_help_panel=_LOOK)
    ] = False,
    shortest: Annotated[str, typer.Option(help="Shortest period looked for.", rich_help_panel=_LOOK)] = "2h",
    longest: Annotated[
        str | None,
        typer.Option(help="Longest; else 90d, or what the log has 2.5 cycles of.", rich_help_panel=_LOOK),
    ] = None,
    most_pairs: Annotated[
        int,
        typer.Option(
            help="Of more pairs, those of a sample of users are counted.", min=1, rich_help_panel=_LOOK
        ),
    ] = 2_000_000_000,
    seed: Annotated[int, typer.Option(help="Of sample and bootstrap.", min=0, rich_help_panel=_LOOK)] = 0,
    json: Annotated[
        Path | None, typer.Option(help="File for all figures but the bins'.", metavar="FILE")
    ] = None,
    bins: Annotated[
        Path | None, typer.Option(help="CSV file for the lift at each lag, with its band.", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for a picture: .png, .svg or .pdf.", metavar="FILE")
    ] = None,
) -> None:
    """Find routines."""
    named = {"--json": json, "--bins": bins, "--out": out}
    reading = stated(
        user=user, item=item, time=time, unit=unit, zone=zone, zone_column=zone_column,
        offset_column=offset_column, epoch=epoch, ties=ties, order=order, on_error=on_error,
    )  # fmt: skip
    with outputs(named, log) as places:
        with Stages() as stages:
            fetch_known(log, stages.tell)
            found = find_routines(
                log, reading, by=by, utc=utc, shortest=shortest, longest=longest, most_pairs=most_pairs,
                seed=seed, tell=stages.tell,
            )  # fmt: skip
        if json is not None:
            save_routines(found, places["--json"])
        if bins is not None:
            save_bins(found.lift, places["--bins"])
        if out is not None:
            from rota.plots.routines import draw_routines

            draw_routines(found, places["--out"])
    console.print(routines_report(found), highlight=False)
    say_outputs(named)
