"""Recommender: the best items for histories of codes, on the clock that the model was trained on."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rota.batch import Window, collate
from rota.errors import InputError
from rota.evaluation.seen import SeenItems
from rota.serving.artefact import Artefact
from rota.serving.recommendation import Basis, Recommendation, Recommendations
from rota.types import Int64Array

_REQUESTS, _SCORES = 256, 2**25  # asked at once: requests, and their scores, which take 128 MiB


class Request(NamedTuple):
    """What is asked.

    Attributes:
        items: Codes of the history, oldest first, shape ``(events,)``.
        times: Their clock in ticks, never decreasing but where a wall clock is set back, same shape; not
            looked at without a clock.
        now: Clock of the request.
    """

    items: Int64Array
    times: Int64Array
    now: int


class Recommender:
    """Answers requests with an artefact's network; a request without a history gets what is popular."""

    def __init__(self, artefact: Artefact, device: str = "cpu") -> None:
        self.artefact, self.device = artefact, device
        self.network = artefact.network.to(device).eval()
        self.popular = torch.tensor(artefact.catalogue.counts, dtype=torch.float64)

    def answer(self, requests: Sequence[Request], k: int, seen: SeenItems | str) -> list[Recommendations]:
        """The ``k`` best items of each request, fewer where there are no more.

        Args:
            requests: What is asked; each is an own row of a batch.
            k: Items wanted.
            seen: Whether items of a request's history, all of it, are candidates.

        Raises:
            InputError: ``k`` is under 1, ``seen`` is no such choice, or the model's scores are NaN.
        """
        if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
            raise InputError(f"k {k!r}: expected a whole number of items to recommend, at least 1")
        k = int(k)
        drop = SeenItems.parse(seen) == SeenItems.DROP
        read = [place for place, request in enumerate(requests) if len(request.items)]
        found = [self._best(self.popular, k, None, Basis.POPULARITY)] * len(requests)
        size = max(1, min(_REQUESTS, _SCORES // len(self.artefact.catalogue)))
        for first in range(0, len(read), size):
            places = read[first : first + size]
            scores = self._scores([requests[place] for place in places])
            for place, row in zip(places, scores, strict=True):
                known = requests[place].items if drop else None
                found[place] = self._best(row, k, known, Basis.MODEL)
        return found

    def _scores(self, requests: Sequence[Request]) -> Tensor:
        most = self.network.max_len
        windows = []
        for items, times, now in requests:
            asked = np.append(times[1:], now)  # each position asks at the time of what came after it
            kept = slice(0 if most is None else max(0, len(items) - most), None)
            windows.append(Window(items[kept], times[kept], asked[kept]))
        batch = collate(windows, self.artefact.time_access).to(self.device)
        with torch.inference_mode():
            scores = self.network.scores(batch).cpu()
        if scores.isnan().any():
            raise InputError("the model's scores are NaN: expected numbers; it has diverged, train it again")
        return scores

    def _best(self, scores: Tensor, k: int, dropped: Int64Array | None, basis: Basis) -> Recommendations:
        codes = _highest(scores, k, dropped)
        ids = self.artefact.catalogue.named(codes.numpy())
        pairs = zip(ids, scores[codes].tolist(), strict=True)
        return Recommendations(tuple(Recommendation(*pair) for pair in pairs), basis)


def _highest(scores: Tensor, k: int, dropped: Int64Array | None) -> Tensor:
    """Codes of the ``k`` highest scores, best first; equal scores by code, on any machine."""
    allowed = torch.ones(len(scores), dtype=torch.bool)
    if dropped is not None:
        allowed[torch.from_numpy(dropped)] = False
    codes = allowed.nonzero()[:, 0]
    own = scores[codes]
    if k < len(own):  # sort no more than what may be among them
        near = own >= own.topk(k).values[-1]
        codes, own = codes[near], own[near]
    return codes[own.argsort(descending=True, stable=True)[:k]]
