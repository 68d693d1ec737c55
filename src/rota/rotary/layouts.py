"""Which features make a pair, and how to carry projection weights from one answer to the other."""

from collections.abc import Sequence

import torch
from torch import Tensor

from rota.errors import InputError
from rota.rotary.kinds import require_tensor

__all__ = ["convert_projection"]

LAYOUTS = ("interleaved", "half")


def require_layout(layout: str) -> None:
    """Refuse what is not a layout.

    Raises:
        InputError: It is none.
    """
    if layout not in LAYOUTS:
        raise InputError(f'layout {layout!r}: expected "interleaved" or "half"')


def paired(x: Tensor) -> Tensor:
    """Interleaved pairs on an axis of their own, a view of shape ``(..., pairs, 2)``."""
    # view and reshape, as unflatten and flatten are unknown to the older vmap, of torch.autograd.
    return x.view(*x.shape[:-1], x.shape[-1] // 2, 2)


def unpaired(pairs: Tensor) -> Tensor:
    """What `paired` was given: the last two axes as one."""
    return pairs.reshape(*pairs.shape[:-2], 2 * pairs.shape[-2])


def beginning(x: Tensor, features: int) -> Tensor:
    """The first features, a view; ``x`` itself if it has no more."""
    return x if features == x.shape[-1] else x[..., :features]


def pair_views(x: Tensor, layout: str) -> tuple[Tensor, Tensor]:
    """First and second features of all pairs, views of shape ``(..., pairs)``; ``x`` has only pairs."""
    if layout == "half":
        first, second = x.chunk(2, -1)
        return first, second
    pairs = paired(x)
    return pairs[..., 0], pairs[..., 1]


def convert_projection(
    weight: Tensor, *, head_dim: int, source: str, target: str, pairs: int | None = None
) -> Tensor:
    """Reorder the projection of queries or keys so that it fits the other layout; exact, a permutation.

    Rotated by the new layout, the projected features are those of the old, in the new order, so logits are
    the same. Convert the projections of queries and keys alike; values are not rotated.

    Args:
        weight: Weight ``(heads * head_dim, ...)`` as of ``nn.Linear``, or its bias ``(heads * head_dim,)``.
        head_dim: Features of a head.
        source: Layout for which the projection was trained: ``"interleaved"`` or ``"half"``.
        target: Layout for which it is wanted.
        pairs: Rotated pairs of a head; all of them by default. Features beyond stay where they are.

    Raises:
        InputError: No tensor, unknown layout, a head without features, rows that are not whole heads, or more
            pairs than features.
    """
    require_tensor("weight", weight)
    require_layout(source)
    require_layout(target)
    if head_dim < 1:
        raise InputError(f"head_dim {head_dim}: expected the features of a head, at least 1")
    pairs = head_dim // 2 if pairs is None else pairs
    if not 0 <= 2 * pairs <= head_dim:
        raise InputError(
            f"{pairs} pairs need {2 * pairs} features; head_dim is {head_dim}: expected 0 to {head_dim // 2} "
            "pairs, those that are rotated"
        )
    if weight.ndim == 0 or weight.shape[0] % head_dim:
        raise InputError(
            f"projection of shape {tuple(weight.shape)}: expected heads * head_dim rows, head_dim {head_dim}"
        )
    if source == target:
        return weight.clone()
    order = torch.tensor(_order(head_dim, pairs, target), device=weight.device)
    heads = weight.unflatten(0, (weight.shape[0] // head_dim, head_dim))
    moved: Tensor = heads.index_select(1, order).flatten(0, 1)
    return moved


def _order(head_dim: int, pairs: int, target: str) -> Sequence[int]:
    """Where each feature of the target lay in the other layout."""
    rotated = range(2 * pairs)
    if target == "half":
        moved = [*rotated[::2], *rotated[1::2]]
    else:
        moved = [feature for j in range(pairs) for feature in (j, pairs + j)]
    return [*moved, *range(2 * pairs, head_dim)]
