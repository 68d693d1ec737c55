"""Jagged nested tensors: their packed values are turned, and get their offsets back."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rota.errors import InputError

__all__: list[str] = []


def over_values(x: Any, turns: Any, rotation: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Rotate the packed values of a jagged ``x`` by turns that are jagged alike, or fit its values.

    Raises:
        InputError: Nested otherwise, or turns with other offsets.
    """
    if x.layout != torch.jagged:
        raise InputError(f"nested features of layout {x.layout}: expected torch.jagged")
    if turns.is_nested and turns.offsets() is not x.offsets():
        raise InputError("nested turns: expected the offsets of the features, the same tensor of them")
    values = rotation(x.values(), turns.values() if turns.is_nested else turns)
    ragged = next(axis for axis, size in enumerate(x.shape) if not isinstance(size, int))
    turned: Tensor = torch.nested.nested_tensor_from_jagged(values, x.offsets(), x.lengths(), ragged)
    return turned
