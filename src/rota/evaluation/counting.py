"""How many scores reach a bar: the one count that every rank is made of."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from rota.errors import NotFiniteError

__all__: list[str] = []

_CACHED = 2**19  # numbers that stay in a processor's cache from one pass over them to the next
_ALL = 2**25  # elsewhere, where each pass is a kernel to be launched


def at_least(scores: Tensor, bar: Tensor) -> Int64[Tensor, "*rows"]:
    """Count the scores of each row that are at least its bar.

    Floats are compared into floats, ones and zeros: PyTorch makes booleans one at a time, and takes longer
    still to add them up.

    Args:
        scores: Shape ``(..., items)``; none is NaN.
        bar: Of their dtype, shape ``(..., 1)``.
    """
    scores, bar = scores.detach(), bar.detach()
    counts = torch.zeros(scores.shape[:-1], dtype=torch.int64, device=scores.device)
    for part in scores.split(block_width(counts.numel(), scores.shape[-1], scores.device), dim=-1):
        if part.is_floating_point():
            counts += ones_of(torch.ge(part, bar, out=torch.empty_like(part))).long()
        else:
            counts += (part >= bar).sum(-1)
    return counts


def ones_of(ones: Tensor) -> Float[Tensor, "*rows"]:
    """Number of ones in each row of ones and zeros, at most 2^24 of them, as a float that is exact.

    Args:
        ones: Floats, shape ``(..., items)``.
    """
    return ones.sum(-1, dtype=torch.promote_types(ones.dtype, torch.float32))


def block_width(rows: int, items: int, device: torch.device) -> int:
    """Columns of scores to be looked at together, at least one and no more than there are.

    Args:
        rows: Rows of each.
        items: Columns that there are.
        device: Where they are.
    """
    numbers = _CACHED if device.type == "cpu" else _ALL
    return max(1, min(items, max(64, min(numbers // max(1, rows), 2**24))))


def refuse_nan(scores: Tensor, first: int = 0) -> None:
    """Refuse scores of which one is NaN.

    Args:
        scores: Shape ``(..., items)``.
        first: Item of the first column.

    Raises:
        NotFiniteError: It is; the message has its place.
    """
    if not scores.is_floating_point() or scores.sum().isfinite():  # one pass where all is well
        return
    nan = scores.isnan()
    if nan.any():
        *rows, column = nan.nonzero()[0].tolist()
        raise NotFiniteError(
            f"scores{[*rows, first + column]} is NaN ({int(nan.sum())} of {nan.numel()} are): expected "
            "numbers; the model has diverged, lower its learning rate"
        )
