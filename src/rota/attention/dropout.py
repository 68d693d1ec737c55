"""Dropout whose masks are cheap on a CPU, where drawing them takes longer than all that they fall on.

PyTorch draws a number of the Mersenne twister for each feature. Here each takes 16 bits of numpy's SFC64,
which is seeded from PyTorch's own generator: `torch.manual_seed` decides every mask, the same on any CPU.
"""

import math
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout as drawn_by_torch

from rota.errors import InputError

__all__: list[str] = []

_LEVELS = 2**16


class Dropout(nn.Module):
    """Features that are dropped while it trains; see `dropout`.

    Attributes:
        p: Share of the features.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        _require_share(p)
        self.p = p

    def forward(self, x: Tensor) -> Tensor:
        """Drop features of ``x``, any shape."""
        return dropout(x, self.p, training=self.training)

    def extra_repr(self) -> str:
        """Shown between its brackets."""
        return f"p={self.p:g}"


def dropout(x: Tensor, p: float, *, training: bool) -> Tensor:
    """Drop each feature by itself, and make the others larger, so that means stay (Srivastava et al. 2014).

    On a CPU the share is rounded to a 65,536th, and what is left is divided by what is then kept, exactly.

    Args:
        x: Features, any shape.
        p: Probability of each to be dropped, from 0 up to 1.
        training: Else nothing is dropped.

    Raises:
        InputError: The probability is none of these.
    """
    _require_share(p)
    if not training or p == 0:
        return x
    if x.device.type != "cpu":
        return drawn_by_torch(x, p, training=True)
    seed = torch.randint(torch.iinfo(torch.int64).max, (), device="cpu")
    noise: Tensor = _noise(seed, x.shape, x.dtype, min(round(p * _LEVELS), _LEVELS - 1))
    return x * noise


def _require_share(p: float) -> None:
    if not 0 <= p < 1:
        raise InputError(f"dropout {p}: expected a number from 0 up to 1")


@torch.library.custom_op("rota::dropout_noise", mutates_args=())
def _noise(seed: Tensor, shape: Sequence[int], dtype: torch.dtype, dropped: int) -> Tensor:
    """What features are multiplied with: 0, or what makes up for the others.

    An operator of its own, so that `torch.compile` takes it as it is.

    Args:
        seed: A scalar of int64, not negative.
        shape: Of the features.
        dtype: Of the features.
        dropped: Of 65,536 features, on average.
    """
    size = math.prod(shape)
    words = np.random.SFC64(int(seed)).random_raw(-(-size // 4))
    bits = torch.from_numpy(words.view(np.int16))[:size].view(list(shape))
    kept = bits.ge_(dropped - _LEVELS // 2)  # in place, 0 or 1: booleans are slow
    return kept.to(dtype).mul_(_LEVELS / (_LEVELS - dropped))


@_noise.register_fake
def _shaped(seed: Tensor, shape: Sequence[int], dtype: torch.dtype, dropped: int) -> Tensor:
    return torch.empty(shape, dtype=dtype, device="cpu")
