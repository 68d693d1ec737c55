"""What `rota bench rotary` prints and draws."""

from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from rota.commands._terminal import console, describe
from rota.recipes.rotary_bench import COPY, ROTA, RotaryBench
from rota.recipes.timing import Timing


def show_rotary(found: RotaryBench) -> None:
    """Print three tables."""
    known = found.circumstances
    facts = [("processor", str(known["processor"])), ("threads", str(known["threads"]))]
    facts.append(
        ("shape", f"q and k of {found.shape}, float32; a copy moves {found.bytes_moved / 1e6:.0f} MB")
    )
    facts.append(
        ("numba", "turns the pairs of rota" if found.native else "not used: pip install 'rota[fast]'")
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


def draw_rotary(found: RotaryBench, out: Path) -> None:
    """Write the picture by length."""
    from rota.plots.lengths import draw_lengths  # matplotlib takes a second: only for a picture

    seconds = {
        name: [timing.median for _, timings in found.lengths for timing in timings if timing.name == name]
        for name in (COPY, ROTA)
    }
    draw_lengths([length for length, _ in found.lengths], seconds, out, title="Rotating q and k of one head")
