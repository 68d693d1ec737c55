"""Turn a wanted attention profile into frequencies, and say how well they realise it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from rota.analysis.designs import Design
from rota.analysis.truncation import shortest_cycle
from rota.commands._terminal import console, describe, say
from rota.errors import InputError
from rota.files import written_whole
from rota.kernels.base import Kernel
from rota.kernels.expression import parse_kernel
from rota.kernels.function import from_function
from rota.plots.design_text import design_facts, law_table
from rota.plots.text_profile import profile_lines
from rota.recipes.designing import design, save_design

__all__: list[str] = []

app = typer.Typer(add_completion=False, rich_markup_mode="rich")
_DRAW, _OWN = "The draw", "A function of your own"


@app.command(
    help="Turn a wanted attention profile into frequencies, and say how well they realise it.\n\n"
    "Prints whether the profile is admissible (positive definite), which pairs never rotate, what truncation "
    "and folding do, the error of this draw beside that of other seeds, and how many pairs a wanted error "
    "needs. A profile that is not admissible is no mistake: the reason is told, and the nearest admissible "
    "one is drawn.\n\n"
    "A profile is a kernel with its periods and widths, such as wrapped_gaussian(24h, 2h) or gaussian(14d); "
    "profiles are added with weights, multiplied, and bracketed.",
    epilog="Examples:\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h)'\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h) * 0.7 + wrapped_gaussian(7d, 14h) * 0.3' --out prior.png\n\n"
    "  rota prior 'wrapped_gaussian(24h, 2h) * laplace(14d)' --pairs 16 --method iid\n\n"
    "  rota prior --function mymodule:profile --period 24h --json prior.json",
)
def prior_command(
    expression: Annotated[
        str | None, typer.Argument(help="Wanted profile f(lag), for instance 'wrapped_gaussian(24h, 2h)'.")
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
    with ExitStack() as held:
        if function is not None:
            held.enter_context(_current_folder())
        into = held.enter_context(_files(json, out))  # refused, if at all, before anything is computed
        with Console(stderr=True).status("computing the law and draws of many seeds"):
            found = design(
                _wanted(expression, function, period),
                pairs=pairs,
                heads=heads,
                seed=seed,
                method=method,
                fold=fold,
                truncation=_truncation(truncate),
                error=error,
                confidence=confidence,
            )
            into(found)
        _show(found)
    for path in (json, out):
        if path is not None:
            say(f"  {path}")


@contextmanager
def _files(json: Path | None, out: Path | None) -> Iterator[Callable[[Design], None]]:
    """Hold places for both files, and give what writes them; both appear when all went well, else neither.

    Raises:
        InputError: One of them cannot be written, or both are one file.
    """
    if json is not None and out is not None and json.resolve() == out.resolve():
        raise InputError(f"{json} for both --json and --out: expected two files")
    with ExitStack() as held:
        into_json = None if json is None else held.enter_context(_place(json))
        into_out = None if out is None else held.enter_context(_place(out))
        if out is not None:
            from rota.plots.style import picture_format  # matplotlib takes a second: only for a picture

            picture_format(out)
        yield partial(_write, into_json, into_out)


@contextmanager
def _place(path: Path) -> Iterator[Path]:
    """A file beside a path, with its suffix, that takes its place when the block ends well, and else goes."""
    with written_whole(path) as part:
        part.touch()  # a folder that may not be written in says so now
        named = part.with_name(f"{part.name}.new{path.suffix}")
        try:
            yield named
            named.replace(part)
        finally:
            named.unlink(missing_ok=True)


def _write(json: Path | None, out: Path | None, found: Design) -> None:
    if json is not None:
        save_design(found, json)
    if out is not None:
        from rota.plots.design_sheet import draw_design

        draw_design(found, out)


@contextmanager
def _current_folder() -> Iterator[None]:
    """Let functions be imported from the current folder."""
    folder = os.getcwd()
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)


def _wanted(expression: str | None, function: str | None, period: str | None) -> Kernel:
    if (expression is None) == (function is None):
        given = "neither" if expression is None else "both"
        raise InputError(
            f'{given} of expression and --function given: expected one, such as "wrapped_gaussian(24h, 2h)"'
        )
    if expression is not None:
        if period is not None:
            raise InputError(f"--period {period} beside an expression: it belongs to --function")
        return parse_kernel(expression)
    return from_function(str(function), period)


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
