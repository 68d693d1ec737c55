"""The one question that every model is asked: rank the whole catalogue for what each user does next."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

from rota.batch import TimeAccess, request_batch
from rota.errors import InputError
from rota.evaluation.answering import Whole
from rota.evaluation.positives import Positives
from rota.evaluation.seen import SeenItems, SeenPairs
from rota.evaluation.sweeping import Product
from rota.histories import Histories, Spans, flat_rows
from rota.models.base import Network, Scorer
from rota.types import Int64Array

# Of one batch, so that neither a few very long histories nor a very large catalogue fill the memory: events,
# padding included, and scores, which take 256 MiB in float64 (up to three times that while they are ranked).
_EVENTS, _SCORES = 2**19, 2**25


def ask(
    scorer: Scorer,
    histories: Histories,
    spans: Spans,
    *,
    access: TimeAccess | str,
    seen: SeenItems | str,
    device: torch.device | str = "cpu",
    batch_size: int = 256,
    advance: Callable[[int], None] | None = None,
) -> Int64Array:
    """Rank the events after each span among the whole catalogue.

    A span is one question, at the time of the first event after it; each of its positives is ranked among all
    items, the other positives included. Items that training never met stay candidates, as targets too. A
    model that is an ``nn.Module`` answers in eval mode and is given back in the mode it came in.

    Args:
        scorer: The model, already on ``device``.
        histories: All events.
        spans: A stage of a split; the events to be predicted are rows ``stop`` up to ``end``.
        access: What the model may know of the clock.
        seen: Whether items of the visible history (all of it, not only the model's window) are candidates.
        device: Where the model lives.
        batch_size: Questions asked at once; fewer where their histories are very long. A baseline, or a
            network with a repeat head, gives the scores of all items at once: fewer also where these would
            pass 256 MiB in float64 (33 at a million items; one, at the least). Those of any other network
            are never held all at once.
        advance: Called with the number of spans answered, after each batch.

    Returns:
        Ranks of all positives in the order of `Positives`, shape ``(positives,)``: span after span, and in a
        span its rows, an item that is there twice only once. 0 where a target was not a candidate.

    Raises:
        InputError: ``access`` or ``seen`` is no such choice, the model needs a clock that ``access`` denies,
            its scores are NaN or do not cover the catalogue, or a span has no history or no next event.
    """
    access, seen = TimeAccess.parse(access), SeenItems.parse(seen)
    _refuse(scorer, histories, spans, access)
    positives = Positives.of(histories, spans)
    ranks = np.zeros(len(positives.rows), dtype=np.int64)
    with torch.inference_mode(), _answering(scorer):
        answering = Product.of(scorer, histories.num_items) or Whole(scorer, histories.num_items)
        most = batch_size
        if isinstance(answering, Whole):
            most = min(most, max(1, _SCORES // max(1, histories.num_items)))
        for rows in _batches(_window_lengths(spans, scorer.max_len), most):
            batch = request_batch(histories, spans, rows, scorer.max_len, access).to(device)
            answers = answering.answers(batch)
            firsts, lasts = positives.offsets[rows], positives.offsets[rows + 1]
            own, places = np.repeat(np.arange(len(rows)), lasts - firsts), flat_rows(firsts, lasts)
            for first in range(0, len(own), len(rows)):  # no more at once than there are questions
                part = slice(first, first + len(rows))
                asked, targets = rows[own[part]], histories.items[positives.rows[places[part]]]
                shut = None if seen == SeenItems.KEEP else SeenPairs.of(histories, spans, asked)
                ranks[places[part]] = answering.ranks(_taken(answers, own[part]), targets, shut).cpu().numpy()
            if advance is not None:
                advance(len(rows))
    return ranks


def _taken(answers: Tensor, rows: Int64Array) -> Tensor:
    """Some rows of the answers; they themselves where that is each once, as with one target a question."""
    if np.array_equal(rows, np.arange(len(answers))):
        return answers
    return answers[torch.from_numpy(rows).to(answers.device)]


def _refuse(scorer: Scorer, histories: Histories, spans: Spans, access: TimeAccess) -> None:
    if scorer.needs_clock and access == TimeAccess.NONE:
        raise InputError(
            f"{type(scorer).__name__} needs a clock and time access is none: "
            "leave it out, or choose time access history or request"
        )
    if isinstance(scorer, Network) and scorer.time_access != access:
        raise InputError(
            f"{type(scorer).__name__} was built for time access {scorer.time_access} and is asked at "
            f"{access}: ask it as it was trained, or train it for that access"
        )
    wrong = (spans.starts < histories.offsets[spans.users]) | (spans.starts >= spans.stops)
    wrong |= (spans.stops >= spans.ends) | (spans.ends > histories.offsets[spans.users + 1])
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"span {row} (user {spans.users[row]}, rows {spans.starts[row]} to {spans.stops[row]}, then "
            f"to {spans.ends[row]}): expected at least one event and one more to predict; ask about a "
            "validation or test stage"
        )


@contextmanager
def _answering(scorer: Scorer) -> Iterator[None]:
    if not isinstance(scorer, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in scorer.modules()]  # parts may be frozen in eval mode
    scorer.eval()
    try:
        yield
    finally:
        for module, training in modes:
            module.training = training


def _window_lengths(spans: Spans, max_len: int | None) -> Int64Array:
    lengths = spans.stops - spans.starts
    return lengths if max_len is None else np.minimum(lengths, max_len)


def _batches(lengths: Int64Array, batch_size: int) -> Iterator[Int64Array]:
    """Rows of similar length together; the longest first, so that what does not fit fails at once."""
    order = np.argsort(-lengths, kind="stable")
    first = 0
    while first < len(order):
        size = min(batch_size, max(1, _EVENTS // int(lengths[order[first]])))
        yield order[first : first + size]
        first += size
