"""`prepare`: a log of any size, filtered and put in order, to a folder that loads at once."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from errno import EDQUOT, EFBIG, ENOSPC
from os import PathLike
from pathlib import Path

from filelock import FileLock, Timeout

from rota.data.about import Step
from rota.data.arranging import Arranged, arrange
from rota.data.database import database
from rota.data.dataset import load_dataset, write_about, write_arrays
from rota.data.doctor.examining import require_sound
from rota.data.events import Events
from rota.data.filters.base import Filter
from rota.data.filters.time_range import TimeRange
from rota.data.frames import ArrowStream
from rota.data.log import Log
from rota.data.opening import open_events
from rota.data.options import Reading
from rota.data.paths import brief
from rota.data.reading import about
from rota.errors import InputError
from rota.tables import to_table

__all__ = ["prepare"]

Report = Callable[[str, int, int], None]
"""Told of progress: what is being done, rows done, and rows in all (0 where that is not known)."""


def prepare(
    source: str | PathLike[str] | ArrowStream,
    out: str | Path,
    reading: Reading | None = None,
    *,
    filters: Sequence[Filter] = (),
    report: Report | None = None,
) -> Log:
    """Prepare a dataset. Memory stays bounded whatever the size: the rest goes by way of the disk.

    Args:
        source: What `read_log` takes.
        out: Folder to make; it appears only when it is complete. What a killed run left is cleared away.
        reading: How to understand the source.
        filters: Applied in this order.
        report: Told of progress.

    Returns:
        The dataset, mapped into memory.

    Raises:
        InputError: The source cannot be used, its clock makes no sense, nothing is left, the folder exists or
            is being made by another process, or the disk is full.
    """
    out, reading, report = Path(out), reading or Reading(), report or _silent
    with _making(out) as folder, database(folder) as connection:
        report("reading", 0, 0)
        events = open_events(connection, source, reading)
        kept, steps = _filtered(events, filters, report)
        arranged = arrange(kept)
        steps.append(_last_step(filters, arranged))
        _require_some(events.where, steps)
        counter = _Counter(report, steps[-1].events)
        written = write_arrays(arranged, folder, events.unit, counter.advance)
        choices = {"reading": to_table(reading), "filters": [to_table(one) for one in filters]}
        write_about(folder, about(events, tuple(steps)), written, choices)
    return load_dataset(out)


def _filtered(events: Events, filters: Sequence[Filter], report: Report) -> tuple[Events, list[Step]]:
    """What all filters keep, and what was there before each of them.

    The doctor is asked once the first limits of time hold: they are what mends placeholders and the future.
    """
    steps: list[Step] = []
    examined, label = False, "read"
    for one in filters:
        steps.append(_step(label, events))
        _require_some(events.where, steps)
        if not examined and not isinstance(one, TimeRange):
            require_sound(events, datetime.now(UTC).date())
            examined = True
        label = str(one)
        report(label, 0, 0)
        kept = one.apply(events)
        if kept.table is not events.table:  # laid down once: several passes over it follow
            events = kept.having(kept.table.cache())
    if not examined:
        if filters:
            _require_some(events.where, [*steps, _step(label, events)])
        require_sound(events, datetime.now(UTC).date())
    report("sorting", 0, 0)
    return events, steps


def _step(label: str, events: Events) -> Step:
    table = events.table
    counts = table.aggregate(events=table.count(), users=table.user.nunique(), items=table.item.nunique())
    (found,) = counts.to_pyarrow().to_pylist()
    return Step(label, found["events"], found["users"], found["items"])


def _last_step(filters: Sequence[Filter], arranged: Arranged) -> Step:
    label = str(filters[-1]) if filters else "read"
    return Step(label, int(arranged.offsets[-1]), len(arranged.user_ids), len(arranged.item_ids))


def _require_some(where: str, steps: Sequence[Step]) -> None:
    if steps[-1].events:
        return
    before = steps[-2]
    raise InputError(
        f"{where}: {steps[-1].label} leaves nothing of {before.events:,} events, {before.users:,} users and "
        f"{before.items:,} items: ask for less"
    )


class _Counter:
    """Rows written, for whoever watches."""

    def __init__(self, report: Report, total: int) -> None:
        self.report, self.total, self.done = report, total, 0

    def advance(self, rows: int) -> None:
        self.done += rows
        self.report("sorting", self.done, self.total)


def _silent(label: str, done: int, total: int) -> None:
    """Nobody watches."""


@contextmanager
def _making(out: Path) -> Iterator[Path]:
    """A hidden folder beside, which takes the name when the block ends well, and else goes.

    Raises:
        InputError: The folder exists, is being made by another process, or cannot be written.
    """
    _require_free(out)
    partial, lock = out.with_name(f".{out.name}.part"), FileLock(out.with_name(f".{out.name}.lock"))
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with lock.acquire(timeout=0):
            _require_free(out)  # another process may have made it just now
            shutil.rmtree(partial, ignore_errors=True)  # of a run that was killed
            partial.mkdir()
            try:
                yield partial
                partial.rename(out)
            finally:
                shutil.rmtree(partial, ignore_errors=True)
                Path(lock.lock_file).unlink(missing_ok=True)
    except Timeout as error:
        raise InputError(
            f"{out} is being made by another process: wait for it, or choose another folder"
        ) from error
    except OSError as error:
        full = error.errno in (ENOSPC, EDQUOT, EFBIG)
        remedy = "free some space, or choose another disk" if full else "check the path and its permissions"
        raise InputError(f"{out}: cannot be written: {error.strerror or brief(error)}: {remedy}") from error


def _require_free(out: Path) -> None:
    if os.path.lexists(out):
        raise InputError(f"{out} exists: a dataset is never overwritten; choose another folder or remove it")
