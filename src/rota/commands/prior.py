"""Turn a wanted attention profile into frequencies, and say how well they realise it."""

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from rota.analysis.designs import Design
from rota.analysis.truncation import shortest_cycle
from rota.commands import _reading as options
from rota.commands._outputs import outputs, say_outputs
from rota.commands._stages import Stages
from rota.commands._terminal import console, describe, say
from rota.errors import InputError
from rota.kernels.base import Kernel
from rota.kernels.function import from_function
from rota.plots.design_text import design_facts, law_table
from rota.plots.text_profile import profile_lines
from rota.recipes.designing import design, save_design
from rota.recipes.profile_text import read_profile

if TYPE_CHECKING:  # a log needs torch and pyarrow: not for a profile that is written down
    from rota.recipes.log_prior import LogPrior

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_DRAW, _OWN, _LOG = "The draw", "A function of your own", "Measured on a log"


@app.command(
    help="Turn a wanted attention profile into frequencies, and say how well they realise it.\n\n"
    "Prints whether the profile is admissible (positive definite), which pairs never rotate, what truncation "
    "and folding do, the error of this draw beside that of other seeds, and how many pairs a wanted error "
    "needs. A profile that is not admissible is no mistake: the reason is told, and the nearest admissible "
    "one is drawn.\n\n"
    "A profile is a kernel with its periods and widths, such as wrapped_gaussian(24h, 2h) or gaussian(14d); "
    "profiles are added with weights, multiplied, and bracketed. With --log it is measured: how much more "
    "often than by chance the same item comes back after a lag, and the nearest profile that can be had, "
    "with the periods and decays that users held out of the fit agree on.",
    epilog="Examples:\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h)'\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3' --out prior.png\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h) * laplace(14d)' --pairs 16 --method iid\n\n"
    "  rota prior --function mymodule:profile --period 24h --json prior.json\n\n"
    "  rota prior --log flights --out flights.png --save flights.toml\n\n"
    "  rota prior --log checkins.parquet --user u --item venue --time t --zone Europe/Paris --out law.png",
)
def prior_command(
    expression: Annotated[
        str | None,
        typer.Argument(
            help="Wanted profile f(lag), for instance 'wrapped_gaussian(24h, 2h)', or a .toml file of one."
        ),
    ] = None,
    function: Annotated[
        str | None,
        typer.Option(
            help="Instead of an expression: module:name of a function of the lag in seconds; the current "
            "folder is searched too.",
            rich_help_panel=_OWN,
        ),
    ] = None,
    period: Annotated[
        str | None, typer.Option(help="Its period, where it has one: 24h.", rich_help_panel=_OWN)
    ] = None,
    pairs: Annotated[
        int, typer.Option(help="Pairs of a head: half of its features.", min=1, rich_help_panel=_DRAW)
    ] = 32,
    heads: Annotated[int, typer.Option(help="Heads of a layer.", min=1, rich_help_panel=_DRAW)] = 8,
    seed: Annotated[int, typer.Option(help="Of the draw.", rich_help_panel=_DRAW)] = 0,
    method: Annotated[
        str,
        typer.Option(
            help="nested_lattice, systematic, stratified, sobol, or iid as in the papers.",
            rich_help_panel=_DRAW,
        ),
    ] = "nested_lattice",
    fold: Annotated[
        bool, typer.Option(help="Draw absolute frequencies: all pairs turn one way.", rich_help_panel=_DRAW)
    ] = True,
    truncate: Annotated[
        str | None,
        typer.Option(
            help="Largest harmonic of each period (6), or the shortest cycle kept (2h); else as ClockRoPE.",
            rich_help_panel=_DRAW,
        ),
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(
            help="Instead of an expression: prepared dataset, files, a table by URL, or a source known by "
            "name, whose routines are measured.",
            rich_help_panel=_LOG,
        ),
    ] = None,
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
    sample_users: Annotated[
        int | None, typer.Option(help="Measure a random sample of so many users.", rich_help_panel=_LOG)
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(
            help="File for the law that was measured, as TOML.", metavar="FILE", rich_help_panel=_LOG
        ),
    ] = None,
    error: Annotated[float, typer.Option(help="Error at a lag for which pairs are counted.")] = 0.1,
    confidence: Annotated[float, typer.Option(help="With which they keep it.")] = 0.95,
    json: Annotated[
        Path | None, typer.Option(help="File for all figures and the frequencies.", metavar="FILE")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File for a picture: .png, .svg or .pdf.", metavar="FILE"),
    ] = None,
) -> None:
    """Design a prior."""
    drawing = {
        "pairs": pairs, "heads": heads, "seed": seed, "method": method, "fold": fold, "error": error,
        "confidence": confidence, "truncation": _truncation(truncate),
    }  # fmt: skip
    reading = {
        "user": user, "item": item, "time": time, "unit": unit, "zone": zone, "zone_column": zone_column,
        "offset_column": offset_column, "epoch": epoch, "ties": ties, "order": order, "on_error": on_error,
    }  # fmt: skip
    _check_source(expression, function, log, period)
    if log is None:
        _check_no_log({**reading, "sample_users": sample_users, "save": save})
    named = {"--json": json, "--out": out, "--save": save}
    with ExitStack() as held:
        if function is not None:
            held.enter_context(_current_folder())
        places = held.enter_context(outputs(named, log))  # refused, if at all, before anything is computed
        if log is not None:
            measured = _measure(log, reading, sample_users, drawing)
            _write_measured(measured, places)
            describe(measured.describe())
            _show(measured.design)
        else:
            with Console(stderr=True).status("computing the law and draws of many seeds"):
                found = design(_wanted(expression, function, period), **drawing)  # type: ignore[arg-type]
                _write(found, places)
            _show(found)
    say_outputs(named)


def _write(found: Design, places: dict[str, Path]) -> None:
    if "--json" in places:
        save_design(found, places["--json"])
    if "--out" in places:
        from rota.plots.design_sheet import draw_design

        draw_design(found, places["--out"])


def _measure(
    log: str, reading: dict[str, str | None], sample_users: int | None, drawing: dict[str, object]
) -> "LogPrior":
    """Read a log, measure its law and draw from it."""
    from rota.recipes.fetching import fetch_known
    from rota.recipes.log_prior import prior_of_log
    from rota.recipes.opening import open_log, stated

    with Stages() as stages:
        fetch_known(log, stages.tell)
        stages.tell("reading", 0, 0)
        opened = open_log(log, stated(**reading), sample_users=sample_users)

        def counted(done: int, total: int) -> None:
            stages.tell("counting pairs" if done < total else "fitting the law", done, total)

        return prior_of_log(opened.log, **drawing, report=counted)  # type: ignore[arg-type]


def _write_measured(found: "LogPrior", places: dict[str, Path]) -> None:
    if "--json" in places:
        found.save(places["--json"])
    if "--save" in places:
        found.save_law(places["--save"])
    if "--out" in places:
        from rota.plots.measured_sheet import draw_measured

        draw_measured(found.law, found.design, found.name, places["--out"])


@contextmanager
def _current_folder() -> Iterator[None]:
    """Let functions be imported from the current folder."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _check_source(expression: str | None, function: str | None, log: str | None, period: str | None) -> None:
    """Refuse more than one place where the profile comes from, or none."""
    if log is not None and (expression is not None or function is not None):
        other = "an expression" if expression is not None else "--function"
        raise InputError(f"--log {log} beside {other}: a profile is written down or measured, not both")
    if log is None and (expression is None) == (function is None):
        given = "neither" if expression is None else "both"
        raise InputError(
            f'{given} of expression and --function given: expected one, such as "wrapped_gaussian(24h, 2h)", '
            "or --log"
        )
    if function is None and period is not None:
        where = "an expression" if log is None else "--log, which is searched for periods"
        raise InputError(f"--period {period} beside {where}: it belongs to --function")


def _check_no_log(given: Mapping[str, object]) -> None:
    for name, value in given.items():
        if value is not None:
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} {value} without --log: it says how a log is read; name the log")


def _wanted(expression: str | None, function: str | None, period: str | None) -> Kernel:
    return from_function(str(function), period) if expression is None else read_profile(expression)


def _truncation(written: str | None) -> int | str | None:
    if written is None:
        return None
    if written.strip().isdecimal():
        return int(written)
    shortest_cycle(written)  # refused, if at all, before anything is computed
    return written


def _show(found: Design) -> None:
    describe(design_facts(found))
    console.print()
    plot = profile_lines(found.lags, found.profile, found.realised)
    say("\n".join(plot))
    say("       profile by lag: blocks are drawn for, ░ spans the heads of this draw")
    console.print()
    console.print(law_table(found))
