"""recommend: what a trained model says to a user's history, on raw ids and times."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any, TypeAlias, overload

import numpy as np
import pyarrow as pa

from rota.data.log import Log
from rota.errors import InputError
from rota.evaluation.seen import SeenItems
from rota.recipes.finding import open_model
from rota.recipes.raw_times import given_times, is_single
from rota.recipes.raw_values import arrow
from rota.recipes.requests import UnknownItems, Visit, visit
from rota.recipes.trained_clock import Shown, TrainedClock, joined
from rota.serving.artefact import Artefact
from rota.serving.recommendation import Recommendations
from rota.serving.recommender import Recommender
from rota.training.hardware import check_hardware

__all__ = ["recommend", "recommend_to_users"]

Moment: TypeAlias = date | str | int | np.generic | pa.Scalar
"""One time: a datetime, a date, ISO 8601 text, ticks, or one of these as numpy or Arrow has it."""


@overload
def recommend(
    model: Artefact | str | Path,
    *,
    items: object,
    times: object = ...,
    now: Moment | None = ...,
    k: int = ...,
    seen: SeenItems | str = ...,
    unknown: UnknownItems | str = ...,
    zone: str | None = ...,
    device: str = ...,
) -> Recommendations: ...
@overload
def recommend(
    model: Artefact | str | Path,
    *,
    items: object,
    times: object = ...,
    now: object,
    k: int = ...,
    seen: SeenItems | str = ...,
    unknown: UnknownItems | str = ...,
    zone: str | None = ...,
    device: str = ...,
) -> Recommendations | list[Recommendations]: ...
def recommend(
    model: Artefact | str | Path,
    *,
    items: object,
    times: object = None,
    now: object = None,
    k: int = 10,
    seen: SeenItems | str = SeenItems.KEEP,
    unknown: UnknownItems | str = UnknownItems.SKIP,
    zone: str | None = None,
    device: str = "cpu",
) -> Recommendations | list[Recommendations]:
    """The best items for one user, at one time or at several.

    Times are brought to the clock that the model was trained on. Whole numbers are ticks of its unit and mean
    what they meant in its log; datetimes with an offset are instants, which the clock of the model's zone
    shows (UTC where it has none); datetimes without one, dates, and ISO 8601 text without an offset are what
    that clock shows. What is finer than its unit is rounded down.

    The history is put in order by time; events of one time stay in the order given, or, where events of one
    instant have no order in the model's log, are in that of their ids. A model of time access none needs no
    times and is not shown them: given, they put the history in order. One of time access history is not shown
    ``now``.

    Args:
        model: The model, or its folder, or that of a run with one model.
        items: Ids of the user's history, as the log has them: a list, or an array or column of numpy, Arrow,
            pandas or polars. Empty for a new user, who gets what is popular.
        times: Time of each, likewise.
        now: Time of the request, or several. Only a model of time access request cannot do without.
        k: Items wanted; fewer come where the catalogue has no more.
        seen: Whether items of the history may be recommended: keep or drop.
        unknown: What becomes of items that the catalogue does not have: skip or refuse.
        zone: The user's time zone, for a model whose log has one for each row, or shows wall clocks.
        device: ``"cpu"`` or ``"cuda"``.

    Returns:
        `Recommendations`, best first; where ``now`` is a list or an array, a list of them, one for each.

    Raises:
        InputError: There is no such model, times are missing or cannot be read, items and times do not match,
            now is before the history's end, an item is unknown and that is refused, or ``k`` is under 1.
    """
    artefact, how = open_model(model), UnknownItems.parse(unknown)
    recommender, clock = _recommender(artefact, device), TrainedClock(artefact, zone)
    history = None if times is None else clock.shown(given_times(times, artefact.unit, "times"), "times")
    asked = visit(artefact, clock, arrow(items, "items"), history, _nows(now, clock), how)
    found = _answers(recommender, [asked], k, seen)[0]
    return found[0] if now is None or is_single(now) else found


def recommend_to_users(
    model: Artefact | str | Path,
    log: Log,
    *,
    now: object = None,
    k: int = 10,
    seen: SeenItems | str = SeenItems.KEEP,
    unknown: UnknownItems | str = UnknownItems.SKIP,
    zone: str | None = None,
    device: str = "cpu",
) -> dict[Any, list[Recommendations]]:
    """The best items for every user of a log, at one time or at several.

    Args:
        model: As for `recommend`.
        log: Histories; see `read_log`. It may be in another unit than the model's.
        now: Time of the request, or several, the same for every user; ``None`` as for `recommend`.
        k: Items wanted.
        seen: As for `recommend`.
        unknown: As for `recommend`.
        zone: The users' time zone, likewise.
        device: ``"cpu"`` or ``"cuda"``.

    Returns:
        By user, one answer for each time; a single one where ``now`` is ``None``.

    Raises:
        InputError: As `recommend`; the message names the user.
    """
    artefact, how = open_model(model), UnknownItems.parse(unknown)
    recommender, clock = _recommender(artefact, device), TrainedClock(artefact, zone)
    shown, nows = clock.of_log(log), _nows(now, clock)
    users, visits = log.user_ids.to_pylist(), []
    for user, first, last in zip(users, log.offsets[:-1], log.offsets[1:], strict=True):
        own = slice(int(first), int(last))
        history = Shown(shown.clock[own], None if shown.instants is None else shown.instants[own])
        ids = log.item_ids.take(pa.array(log.items[own]))
        try:
            visits.append(visit(artefact, clock, ids, history, nows, how))
        except InputError as error:
            raise InputError(f"user {user!r}: {error}") from error
    return dict(zip(users, _answers(recommender, visits, k, seen), strict=True))


def _recommender(artefact: Artefact, device: str) -> Recommender:
    check_hardware(device, "32-true")
    return Recommender(artefact, device)


def _nows(now: object, clock: TrainedClock) -> Shown | None:
    if now is None:
        return None
    if isinstance(now, np.ndarray) and now.ndim == 0:
        now = now[()]
    if isinstance(now, list | tuple):  # each as it is: one may have an offset, and another none
        each = [clock.shown(given_times([one], clock.unit, "now"), "now") for one in now]
        return joined(each)
    return clock.shown(given_times([now] if is_single(now) else now, clock.unit, "now"), "now")


def _answers(
    recommender: Recommender, visits: Sequence[Visit], k: int, seen: SeenItems | str
) -> list[list[Recommendations]]:
    """Answers of each visit; the requests of all are asked together."""
    found = iter(recommender.answer([request for one in visits for request in one.requests], k, seen))
    return [[next(found).naming(one.unknown, one.untrained) for _ in one.requests] for one in visits]
