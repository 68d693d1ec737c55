"""What kind of argument was given: refused by name, before PyTorch would fail at it."""

import torch
from torch import Tensor

from rota.errors import InputError

__all__: list[str] = []


def require_tensor(name: str, value: object) -> Tensor:
    """The value, unless it is no tensor.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, Tensor):
        raise InputError(f"{name}: expected a torch.Tensor, got {_kind(value)}; use torch.as_tensor")
    return value


def require_int64(name: str, value: object) -> Tensor:
    """The value, unless it is no int64 tensor.

    Raises:
        InputError: It is none.
    """
    if not isinstance(value, Tensor):
        raise InputError(
            f"{name}: expected a torch.int64 tensor, got {_kind(value)}; use "
            "torch.tensor(..., dtype=torch.int64)"
        )
    if value.dtype != torch.int64:
        raise InputError(
            f"{name} is {value.dtype}: expected torch.int64, whole clock ticks; in a float the clock is lost"
        )
    return value


def require_floats(name: str, value: object) -> Tensor:
    """The value, unless it is no tensor of floats with a last axis.

    Raises:
        InputError: It is none.
    """
    tensor = require_tensor(name, value)
    if not tensor.is_floating_point():
        raise InputError(f"{name} are {tensor.dtype}: expected floats, for instance torch.float32")
    if tensor.ndim == 0:
        raise InputError(
            f"{name} are a single number: expected an axis of them at least, shape (..., {name})"
        )
    return tensor


def _kind(value: object) -> str:
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
