"""What an encoding makes of a logit by the lag: measured on the module, whatever its formula."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from rota.choice import Choice
from rota.encodings.base import Encoding, Rotation
from rota.errors import InputError
from rota.types import Float64Array, Int64Array

__all__ = ["Along", "Modulation", "modulation"]

_NOW, _LATER = (
    1_700_000_000,
    1_700_000_000 + 100 * 86_400 + 5 * 3600,
)  # a Tuesday evening; 100 days and 5 h on
_PLACE, _FURTHER = 1000, 1777


class Along(Choice):
    """What the lag is of: the time between two events, or the events between them."""

    TIME = "time"
    POSITION = "position"


@dataclass(frozen=True)
class Modulation:
    """Logit of an aligned pair of a query and an event, by the lag between them.

    Attributes:
        lags: Seconds, or events; shape ``(lags,)``.
        along: Which of the two; the other lag is 0.
        heads: Of each head; shape ``(heads, lags)``.
        elsewhere: Mean of the heads where the query stands at another time, or position: the same where only
            lags matter; shape ``(lags,)``.
    """

    lags: Int64Array
    along: Along
    heads: Float64Array
    elsewhere: Float64Array

    @property
    def mean(self) -> Float64Array:
        """Mean of the heads, shape ``(lags,)``."""
        average: Float64Array = self.heads.mean(axis=0)
        return average


def modulation(
    encoding: Encoding,
    lags: Int64Array,
    along: Along | str = Along.TIME,
    *,
    head_dim: int = 64,
    num_heads: int = 8,
    seed: int = 0,
) -> Modulation:
    """Mean over pairs of ``q.k`` for ``q = k = (1, 0, 1, 0, ...)`` before the rotation, by the lag.

    For a rotation at frequencies ``xi`` it is the mean of ``cos(2 pi xi lag)``: one at lag 0.

    Args:
        encoding: Recipe; what it learns is as at the start of training.
        lags: Seconds or events before the query, int64, not negative.
        along: ``"time"`` or ``"position"``.
        head_dim: Features of a head.
        num_heads: Query and key heads.
        seed: Of the draw, in layer 0.

    Raises:
        InputError: There are no lags, or a negative one, or the encoding does not fit the sizes.
    """
    if lags.ndim != 1 or not lags.size or lags.min() < 0:
        raise InputError(f"lags of shape {lags.shape}: expected at least one, none negative")
    along = Along.parse(along)
    module = encoding.build(head_dim=head_dim, num_heads=num_heads, seed=seed)
    ago = torch.from_numpy(lags)
    here, there = (_NOW, _LATER) if along == Along.TIME else (_PLACE, _FURTHER)
    with torch.no_grad():
        heads, elsewhere = (
            _logits(module, ago, along, start, head_dim, num_heads) for start in (here, there)
        )
    return Modulation(lags, along, heads, elsewhere.mean(axis=0))


def _logits(
    module: Rotation, ago: Tensor, along: Along, start: int, head_dim: int, num_heads: int
) -> Float64Array:
    aligned = torch.tensor((1.0, 0.0), dtype=torch.float64).repeat(head_dim // 2)
    q, k = (aligned.expand(1, num_heads, length, head_dim) for length in (1, len(ago)))
    still = torch.zeros_like(ago)
    by_time, by_place = (ago, still) if along == Along.TIME else (still, ago)
    now, place = (start, _PLACE) if along == Along.TIME else (_NOW, start)
    turned_q, turned_k = module(
        q,
        k,
        query_time=torch.tensor([[now]]),
        key_time=(now - by_time)[None],
        query_position=torch.tensor([place]),
        key_position=place - by_place,
    )
    logits: Float64Array = np.asarray((turned_q * turned_k).sum(-1)[0] / (head_dim // 2), np.float64)
    return logits
