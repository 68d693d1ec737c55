"""Where the target stands among all items, ties counted against it."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Bool, Int64
from numpy.typing import NDArray
from torch import Tensor

from rota.errors import InputError
from rota.evaluation.counting import at_least, refuse_nan

__all__ = ["rank"]

Numbers: TypeAlias = Tensor | NDArray[Any] | Sequence[Any] | np.number[Any] | float | int


def rank(
    scores: Numbers,
    target: Numbers,
    *,
    candidates: Bool[Tensor, "*rows items"] | None = None,
) -> Int64[Tensor, "*rows"]:
    """Rank the target among all items: 1 is best.

    The rank is the number of candidates that score at least as much as the target, itself included: a
    model that gives every item one score has learnt nothing, and gets the last rank.

    Args:
        scores: Larger is better, shape ``(..., items)``.
        target: Codes of the items that did come, integers of shape ``(...)``.
        candidates: Items that take part, shape ``(..., items)``; all of them where it is not given.

    Returns:
        1-based ranks, int64 of shape ``(...)``; 0 where the target is not a candidate.

    Raises:
        InputError: A score is NaN, a target is outside the catalogue, or the shapes do not fit.
    """
    scores, target = _tensor(scores), _tensor(target)
    target = _codes(target, scores).to(scores.device)[..., None]
    refuse_nan(scores)
    own = scores.gather(-1, target)
    if candidates is None:
        return at_least(scores, own)
    ranks = ((scores >= own) & candidates).sum(-1)
    return torch.where(candidates.gather(-1, target)[..., 0], ranks, torch.zeros_like(ranks))


def _tensor(values: Numbers) -> Tensor:
    # By way of numpy: torch reads Python floats as float32, where unequal scores may tie.
    return values if isinstance(values, Tensor) else torch.tensor(np.asarray(values))


def _codes(target: Tensor, scores: Tensor) -> Int64[Tensor, "..."]:
    if target.is_floating_point() or target.dtype == torch.bool:
        raise InputError(f"target of dtype {target.dtype}: expected integer item codes")
    if scores.ndim == 0 or target.shape != scores.shape[:-1]:
        raise InputError(
            f"target of shape {tuple(target.shape)} for scores of shape {tuple(scores.shape)}: "
            "expected one target for each row of scores"
        )
    require_codes(target, scores.shape[-1])
    return target.long()


def require_codes(target: Tensor, items: int) -> None:
    """Refuse targets outside the catalogue.

    Args:
        target: Item codes, integers of any shape.
        items: Size of the catalogue.

    Raises:
        InputError: One is.
    """
    outside = (target < 0) | (target >= items)
    if outside.any():
        raise InputError(
            f"target {int(target[outside][0])}: expected an item code from 0 to {items - 1}; "
            "encode the items with the catalogue that the scores were made for"
        )
