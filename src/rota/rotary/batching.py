"""Tensors under `torch.vmap`: its axis is put in front, over arguments that broadcast from the right."""

from typing import TypeVar

import torch
from torch import Tensor

__all__: list[str] = []

Maybe = TypeVar("Maybe", Tensor, Tensor | None)


def leading(tensor: Maybe, dim: int | None, rank: int) -> Maybe:
    """Move a mapped axis to the front, and let the rest broadcast to ``rank`` axes behind it."""
    if tensor is None or dim is None:  # it broadcasts as it is
        return tensor
    front = tensor.movedim(dim, 0)
    return front.reshape(front.shape[0], *(1,) * (rank + 1 - front.ndim), *front.shape[1:])


def is_mapped(*tensors: Tensor) -> bool:
    """Whether one is wrapped by torch.func, or by the older vmap of batched gradients of torch.autograd."""
    functorch = torch._C._functorch
    return not torch.compiler.is_compiling() and any(
        functorch.is_functorch_wrapped_tensor(tensor) or functorch.is_legacy_batchedtensor(tensor)
        for tensor in tensors
    )


def is_mapped_by_autograd(tensor: Tensor) -> bool:
    """Whether it stands for many gradients (``is_grads_batched``), by a vmap that knows no rules of ours."""
    return not torch.compiler.is_compiling() and torch._C._functorch.is_legacy_batchedtensor(tensor)
