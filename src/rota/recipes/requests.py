"""Requests: a user's raw history and the times of asking, as a recommender takes them."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from rota.batch import TimeAccess
from rota.choice import Choice
from rota.data.events import Ties
from rota.errors import InputError
from rota.recipes.trained_clock import Shown, TrainedClock
from rota.serving.artefact import Artefact
from rota.serving.recommender import Request
from rota.types import Int64Array

__all__ = ["UnknownItems"]

_NAMED = 5  # of unknown items, in a message


class UnknownItems(Choice):
    """What becomes of items of a history that the model's catalogue does not have.

    Attributes:
        SKIP: They are left out, and named in the result.
        REFUSE: They are an error that names them.
    """

    SKIP = "skip"
    REFUSE = "refuse"


class Visit(NamedTuple):
    """One user, and what he is asked for.

    Attributes:
        requests: One for each time; one where no time matters.
        unknown: Items of the history that the catalogue does not have, each once.
        untrained: Items of it that training never met, likewise.
    """

    requests: list[Request]
    unknown: tuple[Any, ...]
    untrained: tuple[Any, ...]


def visit(
    artefact: Artefact,
    clock: TrainedClock,
    ids: pa.Array,
    history: Shown | None,
    nows: Shown | None,
    unknown: UnknownItems,
) -> Visit:
    """Put a history in order and ask about it.

    Args:
        artefact: The model.
        clock: Its clock.
        ids: Items of the history, in any order.
        history: Times of these; ``None`` where none are given.
        nows: Times of the requests; ``None`` where none is given.
        unknown: What becomes of items that the catalogue does not have.

    Raises:
        InputError: An item is unknown and that is refused, a time is missing that the model needs, or a
            request is before the history's end.
    """
    _require_times(artefact, len(ids), history, nows)
    codes = artefact.catalogue.codes(ids)
    order = _order(artefact, codes, history)
    ids, codes = ids.take(pa.array(order)), codes[order]
    strange = _distinct(ids.filter(pa.array(codes < 0)))
    if strange and unknown == UnknownItems.REFUSE:
        some = "1 item of the history is" if len(strange) == 1 else f"{len(strange)} items of the history are"
        raise InputError(
            f"{some} not in the model's catalogue of {len(artefact.catalogue):,}: {_listed(strange)}: leave "
            "them out, or skip them (unknown=, --unknown skip)"
        )
    if history is not None:
        history = Shown(history.clock[order], None if history.instants is None else history.instants[order])
        _require_later(clock, history, nows)
    known = np.flatnonzero(codes >= 0)
    codes = codes[known]
    times = np.zeros_like(codes) if history is None else history.clock[known]
    asked = [0] if nows is None else nows.clock.tolist()
    untrained = _distinct(ids.take(pa.array(known)).filter(pa.array(artefact.catalogue.counts[codes] == 0)))
    return Visit([Request(codes, times, now) for now in asked], strange, untrained)


def _require_times(artefact: Artefact, events: int, history: Shown | None, nows: Shown | None) -> None:
    if history is not None and len(history.clock) != events:
        raise InputError(f"{events} items and {len(history.clock)} times: expected a time for each item")
    access = artefact.time_access
    if events and history is None and access != TimeAccess.NONE:
        raise InputError(f"no times: the model has time access {access}: give the time of each item (times=)")
    if events and nows is None and access == TimeAccess.REQUEST:
        raise InputError("no time of the request, which the model was trained to know: give it (now=, --at)")


def _order(artefact: Artefact, codes: Int64Array, history: Shown | None) -> Int64Array:
    """As `read_log` orders a user's events: by time, then as the rule of ties of the model's log says."""
    if history is None:
        return np.arange(len(codes))
    if artefact.provenance.ties == Ties.UNORDERED:
        return np.lexsort((codes, history.order)).astype(np.int64)
    return np.argsort(history.order, kind="stable").astype(np.int64)


def _require_later(clock: TrainedClock, history: Shown, nows: Shown | None) -> None:
    """Compare instants where both sides have them, and else what the clock shows."""
    if nows is None or not len(history.clock):
        return
    if history.instants is not None and nows.instants is not None:
        asked, ended = nows.instants, history.instants
    else:
        asked, ended = nows.clock, history.clock
    early, last = np.flatnonzero(asked < ended.max()), int(ended.argmax())
    if len(early):
        raise InputError(
            f"now {clock.text(int(nows.clock[early[0]]))} is before the history's end "
            f"{clock.text(int(history.clock[last]))} (both on the model's clock): expected a time at or "
            "after it; leave later events out"
        )


def _distinct(ids: pa.Array) -> tuple[Any, ...]:
    return tuple(ids.unique().to_pylist())


def _listed(names: tuple[Any, ...]) -> str:
    more = len(names) - _NAMED
    return ", ".join(map(repr, names[:_NAMED])) + (f" and {more} more" if more > 0 else "")
