"""Metrics by slice: where is an arm better, and on how many questions is that said?"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rota.errors import InputError
from rota.evaluation.averaging import by_user, mean_known, numbered
from rota.evaluation.metrics.parsing import metric
from rota.evaluation.positives import Positives
from rota.evaluation.significance import PairedDifference, paired_differences
from rota.evaluation.sliced_figures import Sliced, SlicedRow
from rota.evaluation.slices.base import Slice
from rota.histories import Histories, Spans
from rota.types import BoolArray, Float64Array, Int64Array

__all__ = ["sliced"]


class _Part(NamedTuple):
    """Some of the positives, and what is asked about them: no question without one of them."""

    kept: BoolArray
    offsets: Int64Array
    users: Int64Array

    @classmethod
    def of(cls, kept: BoolArray, positives: Positives, spans: Spans) -> "_Part":
        offsets = np.concatenate([[0], np.cumsum(kept)])[positives.offsets]
        asked = np.diff(offsets) > 0
        return cls(kept, np.append(0, offsets[1:][asked]).astype(np.int64), numbered(spans.users[asked]))

    def values(self, names: Sequence[str], ranks: Int64Array) -> Float64Array:
        """Each metric of each user, the mean over seeds; shape ``(metrics, users)``."""
        seeds = [
            [by_user(metric(name)(run[self.kept], self.offsets), self.users) for name in names]
            for run in ranks
        ]
        return np.asarray(np.mean(seeds, axis=0))


def sliced(
    metric_names: Sequence[str],
    ranks: Int64Array,
    histories: Histories,
    spans: Spans,
    by: Slice,
    *,
    control: Int64Array | None = None,
) -> Sliced:
    """Metrics of a run in each bin of a slice, averaged within a user first.

    A question counts in a bin by those of its positives that are there; what ranks above them counts against
    them, the question's other positives too. Nothing is said of a bin that has no positive: NaN.

    Args:
        metric_names: As `metric` reads them.
        ranks: As `ask` gave them, shape ``(positives,)``; or of several seeds, ``(seeds, positives)``, whose
            values are averaged.
        histories: What was asked about.
        spans: Stage that was asked.
        by: Bins.
        control: Ranks of another run of the same questions, likewise: each bin then has the paired difference
            from it, where it has two users or more.

    Raises:
        InputError: There is no such metric, or ranks are not those of the stage.
    """
    positives = Positives.of(histories, spans)
    names = tuple(metric(name).name for name in metric_names)
    runs = [_runs(one, positives) for one in (ranks, control) if one is not None]
    bins = by.bins(histories, spans, positives)
    parts = [(label, bins == place) for place, label in enumerate(by.labels)]
    rows = [
        _row(label, names, _Part.of(kept, positives, spans), runs)
        for label, kept in [*parts, ("all", np.ones(len(bins), np.bool_))]
    ]
    return Sliced(by.name, names, tuple(rows[:-1]), rows[-1])


def _row(label: str, names: tuple[str, ...], part: _Part, runs: Sequence[Int64Array]) -> SlicedRow:
    values = [part.values(names, ranks) for ranks in runs]
    paired: dict[str, PairedDifference] | None = None
    if len(values) == 2 and values[0].shape[1] > 1:
        paired = dict(zip(names, paired_differences(values[0] - values[1]), strict=True))
    return SlicedRow(
        label,
        users=values[0].shape[1],
        questions=len(part.users),
        positives=int(part.offsets[-1]),
        means={name: mean_known(own) for name, own in zip(names, values[0], strict=True)},
        paired=paired,
    )


def _runs(ranks: Int64Array, positives: Positives) -> Int64Array:
    """Ranks as ``(seeds, positives)``."""
    if ranks.ndim not in (1, 2) or ranks.shape[-1] != len(positives.rows) or not len(np.atleast_2d(ranks)):
        raise InputError(
            f"ranks of shape {ranks.shape}: expected ({len(positives.rows)},), one for each positive of the "
            "stage, or one such row for each seed; slice the stage that was asked"
        )
    return np.atleast_2d(ranks)
