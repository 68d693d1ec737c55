"""Time what Rota does beside its peers and beside the limits of the machine."""

import json as json_format
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from rota.commands._bars import Bars
from rota.commands._encodings_report import show_encodings
from rota.commands._rotary_report import draw_rotary, show_rotary
from rota.commands._terminal import say
from rota.errors import InputError
from rota.files import written_whole
from rota.recipes.encoding_bench import bench_encodings, everything_counted
from rota.recipes.rotary_bench import LENGTHS, bench_rotary
from rota.tables import Recipe

__all__: list[str] = []

app = typer.Typer(
    help="Time what Rota does beside its peers and beside the limits of the machine.",
    add_completion=False,
    rich_markup_mode="rich",
)

Rounds = Annotated[int, typer.Option(help="Measured rounds.", min=1)]
Threads = Annotated[int | None, typer.Option(help="Of PyTorch; else those it has.", min=1)]
Json = Annotated[Path | None, typer.Option(help="File for the raw timings.", metavar="FILE")]


@app.command(
    "rotary",
    help="Time the rotation of q and k by int64 times, shape (64, 4, 200, 64), float32.\n\n"
    "All contenders run in one process and take turns in both orders; 'copy' is q.clone(), k.clone(), the "
    "least that memory allows. Peers are timed where they are installed. Nothing else should run beside it.",
    epilog="Examples:\n\n"
    "  rota bench rotary\n\n"
    "  rota bench rotary --threads 1 --no-compiled\n\n"
    "  rota bench rotary --json rotary.json --out lengths.png",
)
def rotary_command(
    rounds: Rounds = 40,
    threads: Threads = None,
    compiled: Annotated[bool, typer.Option(help="Time torch.compile too; needs a C++ compiler.")] = True,
    longest: Annotated[int, typer.Option(help="Longest history of the timings by length.")] = LENGTHS[-1],
    json: Json = None,
    out: Annotated[
        Path | None, typer.Option(help="File for the picture by length: .png, .svg, .pdf.", metavar="FILE")
    ] = None,
) -> None:
    """Time the rotation."""
    with Bars() as bars:
        found = bench_rotary(
            rounds=rounds, threads=threads, compiled=compiled, longest=longest, on_progress=bars.tell
        )
    _save(found.to_dict(), json)
    if out is not None:
        draw_rotary(found, out)
    show_rotary(found)
    for path in (json, out):
        if path is not None:
            say(f"  {path}")


@app.command(
    "encodings",
    help="Count what each encoding costs, and time a training step with it beside RoPE.\n\n"
    "Counted from the built modules: learned numbers, and by watching every operation the cosines and the "
    "arithmetic of a token; of biases, inputs and interval attention too. Timed, of the encodings: 2 blocks "
    "of 4 heads, d = 256, 8 rows of 200 events, forward, backward and optimiser; each takes turns with RoPE, "
    "in both orders. Nothing else should run beside it.",
    epilog="Examples:\n\n"
    "  rota bench encodings\n\n"
    "  rota bench encodings --only clockrope,time_bias --rounds 60\n\n"
    "  rota bench encodings --no-timed --json costs.json",
)
def encodings_command(
    only: Annotated[str | None, typer.Option(help="What to take: clockrope,time_bias. Else all.")] = None,
    rounds: Annotated[int, typer.Option(help="Pairs of measured rounds, one in each order.", min=2)] = 20,
    threads: Threads = None,
    timed: Annotated[bool, typer.Option(help="Time them, and not only count.")] = True,
    json: Json = None,
) -> None:
    """Count and time encodings."""
    with Bars() as bars:
        found = bench_encodings(
            encodings=_chosen(only), rounds=rounds, threads=threads, timed=timed, on_progress=bars.tell
        )
    _save(found.to_dict(), json)
    show_encodings(found)
    if json is not None:
        say(f"  {json}")


def _chosen(only: str | None) -> Mapping[str, Recipe]:
    known = everything_counted()
    if only is None:
        return known
    names = [name.strip() for name in only.split(",")]
    for name in names:
        if name not in known:
            raise InputError(f"--only {name!r}: expected some of {', '.join(known)}, separated by commas")
    return {name: known[name] for name in names}


def _save(found: dict[str, object], path: Path | None) -> None:
    if path is not None:
        with written_whole(path) as part:
            part.write_text(json_format.dumps(found, indent=1) + "\n", encoding="utf-8")
