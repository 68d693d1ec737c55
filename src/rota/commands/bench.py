"""Time what Rota does beside its peers and beside the limits of the machine."""

import json as json_format
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from rota.commands._terminal import console, describe, say
from rota.errors import InputError
from rota.files import written_whole
from rota.recipes.rotary_bench import COPY, LENGTHS, ROTA, RotaryBench, bench_rotary
from rota.recipes.timing import Timing

__all__: list[str] = []

app = typer.Typer(rich_markup_mode="rich")


@app.command(
    help="Time what Rota does beside its peers and beside the limits of the machine.\n\n"
    "rotary: rotation of q and k by int64 times, shape (64, 4, 200, 64), float32. All contenders run in one "
    "process and take turns in both orders; 'copy' is q.clone(), k.clone(), the least that memory allows. "
    "Peers are timed where they are installed. Nothing else should run beside it.",
    epilog="Examples:\n\n"
    "  rota bench rotary\n\n"
    "  rota bench rotary --threads 1 --no-compiled\n\n"
    "  rota bench rotary --json rotary.json --out lengths.png",
)
def bench_command(
    what: Annotated[str, typer.Argument(help="What to time: rotary.")],
    rounds: Annotated[int, typer.Option(help="Measured rounds.", min=1)] = 40,
    threads: Annotated[int | None, typer.Option(help="Of PyTorch; else those it has.", min=1)] = None,
    compiled: Annotated[bool, typer.Option(help="Time torch.compile too; needs a C++ compiler.")] = True,
    longest: Annotated[int, typer.Option(help="Longest history of the timings by length.")] = LENGTHS[-1],
    json: Annotated[Path | None, typer.Option(help="File for the raw timings.", metavar="FILE")] = None,
    out: Annotated[
        Path | None, typer.Option(help="File for the picture by length: .png, .svg, .pdf.", metavar="FILE")
    ] = None,
) -> None:
    """Time a part of Rota."""
    if what != "rotary":
        raise InputError(f"bench {what!r}: expected rotary")
    with _Bars() as bars:
        found = bench_rotary(
            rounds=rounds, threads=threads, compiled=compiled, longest=longest, on_progress=bars.tell
        )
    if json is not None:
        with written_whole(json) as part:
            part.write_text(json_format.dumps(found.to_dict(), indent=1) + "\n", encoding="utf-8")
    if out is not None:
        _draw(found, out)
    _show(found)
    for path in (json, out):
        if path is not None:
            say(f"  {path}")


class _Bars:
    """A progress bar for each thing that is timed, gone when all is done."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total} rounds"),
        )
        self.progress = Progress(*columns, TimeElapsedColumn(), console=console, transient=True)
        self.tasks: dict[str, int] = {}

    def __enter__(self) -> "_Bars":
        self.progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.progress.stop()

    def tell(self, label: str, done: int, rounds: int) -> None:
        if label not in self.tasks:
            self.tasks[label] = self.progress.add_task(label, total=rounds)
        self.progress.update(self.tasks[label], completed=done)  # type: ignore[arg-type]


def _show(found: RotaryBench) -> None:
    known = found.circumstances
    facts = [("processor", str(known["processor"])), ("threads", str(known["threads"]))]
    facts.append(
        ("shape", f"q and k of {found.shape}, float32; a copy moves {found.bytes_moved / 1e6:.0f} MB")
    )
    facts += [("not installed", f"{name}: pip install 'rota[bench]'") for name in found.missing]
    describe(facts)
    console.print(_table("Forward", found.forward))
    console.print(_table("Forward and backward", found.training))
    table = Table(title="One head of one user, by events", title_justify="left")
    for name in ("events", "copy ms", "rota ms", "x copy", "ns an event"):
        table.add_column(name, justify="right")
    for length, timings in found.lengths:
        copy, rota = (timing.median for timing in timings)
        table.add_row(
            f"{length:,}",
            f"{1e3 * copy:.2f}",
            f"{1e3 * rota:.2f}",
            f"{rota / copy:.1f}",
            f"{1e9 * rota / length:.0f}",
        )
    console.print(table)


def _table(title: str, timings: Sequence[Timing]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in ("", "median ms", "10 to 90 %", "x copy"):
        table.add_column(name, justify="right" if name else "left")
    copy = next(timing.median for timing in timings if timing.name == COPY)
    for timing in sorted(timings, key=lambda timing: timing.median):
        low, high = timing.spread
        table.add_row(
            timing.name,
            f"{1e3 * timing.median:.2f}",
            f"{1e3 * low:.1f} to {1e3 * high:.1f}",
            f"{timing.median / copy:.1f}",
        )
    return table


def _draw(found: RotaryBench, out: Path) -> None:
    from rota.plots.lengths import draw_lengths  # matplotlib takes a second: only for a picture

    seconds = {
        name: [timing.median for _, timings in found.lengths for timing in timings if timing.name == name]
        for name in (COPY, ROTA)
    }
    draw_lengths([length for length, _ in found.lengths], seconds, out, title="Rotating q and k of one head")
