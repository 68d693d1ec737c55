"""What is asked of positions before they become phases."""

import torch
from torch import Tensor

from rota.errors import InputError

__all__: list[str] = []


def positions_of(x: Tensor, position: object, name: str) -> Tensor:
    """Positions of the tokens of ``x``, shape ``(batch, heads, length, head_dim)``; by default 0, 1, ...

    Args:
        x: Queries or keys.
        position: int64, shape ``(length,)`` or ``(batch, length)``.
        name: Of the recipe, for errors.

    Raises:
        InputError: They are not int64, or not one for each token.
    """
    if position is None:
        return torch.arange(x.shape[2], device=x.device)
    if not isinstance(position, Tensor):
        raise InputError(
            f"positions are a {type(position).__name__}: {name} expects torch.int64 in a tensor, for "
            "instance 0, 1, ..."
        )
    if position.dtype != torch.int64:
        raise InputError(
            f"positions are {position.dtype}: {name} expects torch.int64, for instance 0, 1, ..."
        )
    if position.shape != (x.shape[2],) and position.shape != (x.shape[0], x.shape[2]):
        raise InputError(
            f"positions of shape {tuple(position.shape)} and features of shape {tuple(x.shape)}: {name} "
            "expects (length,) or (batch, length)"
        )
    return position
