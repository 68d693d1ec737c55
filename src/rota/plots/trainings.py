"""Trainings of a comparison as a table for the terminal: what waits, what runs, what came of the rest."""

from collections.abc import Sequence
from dataclasses import dataclass

from rich import box
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

_BAR = 14
_SHOWN = 4  # rows that are always shown: the best that a very low terminal can do


@dataclass(frozen=True)
class TrainingRow:
    """Where a training is.

    Attributes:
        arm: Its arm.
        seed: Its seed.
        done: Epochs done, with the share that is done of the current one; ``None`` while it waits.
        validation: Score after each epoch.
        best: Its best epoch, from 0, once it is done.
        test: Score of the test, once it is done.
        before: It was done before, and was not done again.
        failed: It has failed, and no more comes of it.
    """

    arm: str
    seed: int
    done: float | None = None
    validation: tuple[float, ...] = ()
    best: int | None = None
    test: float | None = None
    before: bool = False
    failed: bool = False


def trainings_table(
    rows: Sequence[TrainingRow], *, epochs: int, caption: str, most: int | None = None
) -> Table:
    """Table of trainings, legible at 80 columns.

    Args:
        rows: In the order to show.
        epochs: That each has at most.
        caption: Below the table: how long is left.
        most: Rows that there is room for: those that run are shown first, then what is done last, then what
            comes next; how many are left out is said. ``None``: all.
    """
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True, caption=caption,
                  caption_style="dim", caption_justify="left")  # fmt: skip
    table.add_column("training", overflow="fold")  # a long name gives way, numbers do not
    table.add_column("seed", justify="right", no_wrap=True)
    table.add_column("", width=_BAR, no_wrap=True)
    table.add_column("epoch", width=len(f"best {epochs} of {epochs}"), no_wrap=True)
    table.add_column("valid. MRR", justify="right", no_wrap=True)
    table.add_column("test MRR", justify="right", no_wrap=True)
    shown = _shown(rows, most)
    for row in shown:
        table.add_row(escape(row.arm), str(row.seed), *_cells(row, epochs))
    if len(shown) < len(rows):
        table.add_row(f"[dim]and {len(rows) - len(shown)} more[/]")
    return table


def _cells(row: TrainingRow, epochs: int) -> tuple[ProgressBar | str, str, str, str]:
    latest = f"{row.validation[-1]:.3f}" if row.validation else ""
    if row.best is not None:
        note = "[green]✓[/] done before" if row.before else "[green]✓[/] done"
        best = f"best {row.best + 1} of {len(row.validation)}"
        return note, best, f"{row.validation[row.best]:.3f}", "" if row.test is None else f"{row.test:.3f}"
    if row.failed:
        return "[red]✗[/] failed", f"in {len(row.validation) + 1} of {epochs}", latest, ""
    if row.done is None:
        return "[dim]waiting[/]", "", "", ""
    bar = ProgressBar(total=epochs, completed=row.done, width=_BAR)
    return bar, f"{min(int(row.done) + 1, epochs)} of {epochs}", latest, ""


def _shown(rows: Sequence[TrainingRow], most: int | None) -> list[TrainingRow]:
    """As many rows as there is room for, in their order."""
    if most is None or len(rows) <= most:
        return list(rows)
    places = range(len(rows))
    done = [at for at in places if rows[at].best is not None or rows[at].failed]
    running = [at for at in places if at not in done and rows[at].done is not None]
    waiting = [at for at in places if at not in done and rows[at].done is None]
    room = max(most, _SHOWN) - 1  # one line says how many are left out
    ahead = waiting[: max(room // 4, room - len(running) - len(done))]
    past = done[max(0, len(done) - max(0, room - len(running) - len(ahead))) :]
    return [rows[at] for at in sorted([*running, *past, *ahead][:room])]
