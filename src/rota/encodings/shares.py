"""Shares of a layer: who gets how many pairs of features, or how many heads."""

import math
import numbers
from collections.abc import Iterable, Sequence

from rota.encodings.numerals import shown
from rota.errors import InputError

__all__ = ["share_heads", "share_pairs"]


def share_pairs(pairs: int, parts: int, shares: Sequence[float] | None = None) -> list[int]:
    """Deal pairs of features to parts by the largest remainder, ties to the earlier part.

    Args:
        pairs: Pairs to deal.
        parts: Number of parts.
        shares: Of each part, positive, summing to one; equal by default.

    Raises:
        InputError: Shares do not fit the parts or do not sum to one, or a part is left without a pair.
    """
    wanted = _shares(parts, shares)
    exact = [share * pairs for share in wanted]
    counts = [math.floor(value + 1e-9) for value in exact]
    by_remainder = sorted(range(parts), key=lambda part: (counts[part] - exact[part], part))
    for part in by_remainder[: pairs - sum(counts)]:
        counts[part] += 1
    if min(counts) < 1:
        raise InputError(
            f"{pairs} pairs of features among shares {wanted}: one part gets none; use a larger head_dim"
        )
    return counts


def share_heads(heads: int, parts: int, shares: Sequence[float] | None = None) -> list[int]:
    """Deal heads to parts. Heads are few, so nothing is rounded: what does not divide is refused.

    Args:
        heads: Heads to deal.
        parts: Number of parts.
        shares: Of each part, positive, summing to one; equal by default.

    Raises:
        InputError: Shares do not fit the parts or do not sum to one, or one is not a whole number of heads.
    """
    exact = [share * heads for share in _shares(parts, shares)]
    counts = [round(value) for value in exact]
    if min(counts) < 1 or any(abs(value - count) > 1e-6 for value, count in zip(exact, counts, strict=True)):
        raise InputError(
            f"{heads} key heads among {parts} parts give {', '.join(f'{value:.4g}' for value in exact)}: "
            f"expected whole heads; use shares that are multiples of 1/{heads}"
        )
    return counts


def read_shares(shares: object, of: str) -> tuple[float, ...] | None:
    """Shares as a tuple, or none where they are equal; whether they fit, `share_pairs` and `share_heads` say.

    Args:
        shares: What was given.
        of: Whose they are, for errors.

    Raises:
        InputError: They are no list of numbers.
    """
    if shares is None:
        return None
    read = tuple(shares) if isinstance(shares, Iterable) and not isinstance(shares, str) else (None,)
    if not all(isinstance(share, numbers.Real) for share in read):
        raise InputError(
            f"shares {shown(shares)} of {of}: expected a list of one positive number each, summing to 1, "
            "such as [0.5, 0.5]; leave them out for equal ones"
        )
    return read


def _shares(parts: int, shares: Sequence[float] | None) -> list[float]:
    read = read_shares(shares, f"{parts} parts")
    wanted = [1 / parts] * parts if read is None else list(read)
    fit = len(wanted) == parts and all(share > 0 for share in wanted) and abs(math.fsum(wanted) - 1) <= 1e-9
    if not fit:
        raise InputError(
            f"shares {wanted} for {parts} parts: expected one positive number each, summing to 1"
        )
    return wanted
