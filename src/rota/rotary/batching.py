"""Where `torch.vmap` puts its axis: in front, over arguments that broadcast from the right."""

from typing import TypeVar

from torch import Tensor

__all__: list[str] = []

Maybe = TypeVar("Maybe", Tensor, Tensor | None)


def leading(tensor: Maybe, dim: int | None, rank: int) -> Maybe:
    """Move a mapped axis to the front, and let the rest broadcast to ``rank`` axes behind it."""
    if tensor is None or dim is None:  # it broadcasts as it is
        return tensor
    front = tensor.movedim(dim, 0)
    return front.reshape(front.shape[0], *(1,) * (rank + 1 - front.ndim), *front.shape[1:])
