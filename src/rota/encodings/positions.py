"""Positions: what is asked of them before they become phases, and what stands for them."""

import torch
from torch import Tensor

from rota.errors import InputError
from rota.rotary.kinds import require_tensor

__all__: list[str] = []


def positions_of(x: Tensor, position: Tensor | None) -> Tensor:
    """Positions of the tokens of ``x``, shape ``(batch, heads, length, head_dim)``; by default 0, 1, ..."""
    return torch.arange(x.shape[2], device=x.device) if position is None else position


def require_positions(x: Tensor, position: object, name: str) -> None:
    """Refuse positions that are not those of the tokens.

    Args:
        x: Queries or keys, shape ``(batch, heads, length, head_dim)``.
        position: int64, shape ``(length,)`` or ``(batch, length)``.
        name: Of the encoding, for errors.

    Raises:
        InputError: They are not int64, or not one for each token.
    """
    places = require_tensor("positions", position)
    if places.dtype != torch.int64:
        raise InputError(f"positions are {places.dtype}: {name} expects torch.int64, for instance 0, 1, ...")
    if places.shape != (x.shape[2],) and places.shape != (x.shape[0], x.shape[2]):
        raise InputError(
            f"positions of shape {tuple(places.shape)} and features of shape {tuple(x.shape)}: {name} "
            "expects (length,) or (batch, length)"
        )
