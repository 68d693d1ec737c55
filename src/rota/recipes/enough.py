"""Enough: what a log must have for its routines to be told, by report, prior and arm alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from rota.analysis.lift import Lift
from rota.analysis.resolution import midnight_share, time_resolution
from rota.analysis.scanning import DAY
from rota.errors import InputError
from rota.types import Int64Array
from rota.units import duration_text

__all__: list[str] = []

LEAST_USERS = 20
_HOUR = 3600.0  # s: a coarser clock shows so few times of day that midnight may well be half of them
_MIXED = 0.1  # of the events are dates: they, not the true times, say what returns after whole days


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Say of which log an error is.

    Raises:
        InputError: As within, with the name before it.
    """
    try:
        yield
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def require_users(offsets: Int64Array) -> None:
    """Refuse a log of few users before its pairs are counted.

    Args:
        offsets: User ``u`` owns rows ``offsets[u]`` up to ``offsets[u + 1]``; shape ``(users + 1,)``.

    Raises:
        InputError: There are under 20 users with two events.
    """
    users, several = len(offsets) - 1, int((np.diff(offsets) > 1).sum())
    if several >= LEAST_USERS:
        return
    if not several:
        found = f"{users:,} user{'' if users == 1 else 's'}, none with two events or more"
    else:
        found = f"{several} user{'' if several == 1 else 's'} with two events or more"
    raise InputError(
        f"{found}: expected at least {LEAST_USERS}, since routine is told from chance by how users differ"
    )


def require_return(lift: Lift, by: str, remedy: str) -> None:
    """Refuse a lift in which nothing can return, or that too few users are left in.

    Args:
        lift: Of all users, or of a sample.
        by: What had to be the same.
        remedy: What to do where nobody has any of it twice.

    Raises:
        InputError: Nobody has anything twice, or under 20 users were counted.
    """
    if lift.num_users < LEAST_USERS:
        raise InputError(
            f"{lift.num_users} users have few enough pairs to be counted: expected at least {LEAST_USERS}, "
            "since routine is told from chance by how users differ; allow more pairs"
        )
    if not lift.expected.sum() > 0:
        within = duration_text(lift.width / 2)
        raise InputError(
            f"no user has the same {by} twice, {within} or more apart, so nothing can return: {remedy}"
        )


@dataclass(frozen=True)
class Grid:
    """What a log's times can tell.

    Attributes:
        seconds: Step of them: no lag below it can be seen.
        at_midnight: Share of the events at midnight sharp, which seem to be dates among true times; 0 where
            they are no more than others, or where all times are coarse.
    """

    seconds: float
    at_midnight: float = 0.0


def grid_of(times: Int64Array, clock: Int64Array, unit: str, *, dated: bool = True) -> Grid:
    """Grid of a log's times: that of the instants or of the wall clock, whichever is coarser.

    Dates that were written as instants are a grid of a day, though on a wall clock with summer time they lie
    at two hours of it. Where a tenth of the events are dates among true times the grid is a day as well. Two
    dates are whole days apart, and if they are of other items than the rest, whole days have a lift that is
    nobody's routine. Their pairs are a hundredth of all then, as many as fall by chance into a quarter of an
    hour; below a tenth true pairs outnumber them, and midnight may be when something is really done.

    Args:
        times: Instants in ticks of ``unit``, shape ``(events,)``.
        clock: The same events on the users' clock.
        unit: s, ms, us or ns.
        dated: Whether it is known what the times count from; otherwise none of them is a midnight.
    """
    clocks = [times] if clock is times else [times, clock]
    step = max(time_resolution(each, unit) for each in clocks)
    if step > _HOUR or not dated:
        return Grid(step)
    at_midnight = max(midnight_share(each, unit) for each in clocks)
    return Grid(DAY if at_midnight >= _MIXED else step, at_midnight)
