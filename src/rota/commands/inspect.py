"""Examine a log before anything is trained on it: its clock, its ties, its gaps, and what mends them."""

from pathlib import Path
from typing import Annotated

import typer

from rota.commands import _reading as options
from rota.commands._outputs import outputs, say_outputs
from rota.commands._stages import Stages
from rota.commands._terminal import console
from rota.plots.inspection_text import inspection_report
from rota.recipes.fetching import fetch_known
from rota.recipes.inspecting import inspect_log, save_diagnosis, save_diagnosis_page

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")


@app.command(
    help="Examine a log before anything is trained on it: its clock, its ties, its gaps, and what mends "
    "them.\n\n"
    "Prints what the log is understood to be, the hours and weekdays of its events, and what was found: "
    "errors, which stop prepare; warnings, which mislead; notes. Each says what it breaks and which option "
    "of prepare mends it.\n\n"
    "The exit code is 0, also with warnings; 1 where an error was found; 2 where the log cannot be read.",
    epilog="Examples:\n\n"
    "  rota inspect checkins.parquet --user user_id --item venue --time timestamp --zone America/New_York\n\n"
    "  rota inspect log.csv --user u --item i --time t --unit ms --html report.html --json report.json\n\n"
    "  rota inspect mails.parquet --user sender --item recipient --time t --epoch unknown",
)
def inspect_command(
    log: Annotated[
        str, typer.Argument(help="Files, a folder, a table of a database by URL, or a source known by name.")
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
    json: Annotated[Path | None, typer.Option(help="File for all figures.", metavar="FILE")] = None,
    html: Annotated[Path | None, typer.Option(help="File for a page to show.", metavar="FILE")] = None,
) -> None:
    """Examine a log."""
    named = {"--json": json, "--html": html}
    with outputs(named, log) as places:
        with Stages() as stages:
            fetch_known(log, stages.tell)
            stages.tell("examining", 0, 0)
            found = inspect_log(
                log,
                user=user,
                item=item,
                time=time,
                unit=unit,
                zone=zone,
                zone_column=zone_column,
                offset_column=offset_column,
                epoch=epoch,
                ties=ties,
                order=order,
                on_error=on_error,
            )
        if json is not None:
            save_diagnosis(found, places["--json"])
        if html is not None:
            save_diagnosis_page(found, places["--html"])
    console.print(inspection_report(found), highlight=False)
    say_outputs(named)
    if found.stops:
        raise typer.Exit(1)
