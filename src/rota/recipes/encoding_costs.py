"""What each encoding costs by count: parameters, cosines and arithmetic of a token."""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from rota.encodings.base import Encoding, Rotation
from rota.encodings.clockrope import ClockRoPE
from rota.encodings.head_split import HeadSplit
from rota.encodings.rfr import RFR
from rota.encodings.rope import RoPE
from rota.encodings.split import Split
from rota.encodings.trope_cost import TRoPECost
from rota.kernels.laplace import Laplace
from rota.recipes.arithmetic import Arithmetic, count_arithmetic
from rota.rooms import find, offers

__all__ = ["EncodingCost", "count_encoding", "every_encoding", "published_trope_flops"]

LENGTH = 200
# Those that need more than their name.
_GIVEN: Mapping[str, Encoding] = {
    "rfr": RFR(Laplace("7d")),
    "split": Split([RoPE(), ClockRoPE()]),
    "head_split": HeadSplit([RoPE(), ClockRoPE()]),
}


@dataclass(frozen=True)
class EncodingCost:
    """Costs of one layer, per token, queries and keys together.

    Attributes:
        parameters: Learned numbers.
        forward: Of both rotations, phases from int64 times included.
        features: Of the backward pass to queries and keys, with nothing learned.
        learned: What learned phases add to it.
    """

    parameters: int
    forward: Arithmetic
    features: Arithmetic
    learned: int

    @property
    def backward(self) -> int:
        """Operations of the backward pass."""
        return self.features.operations + self.learned


def every_encoding() -> dict[str, Encoding]:
    """Each encoding of the room with its defaults, by the name of its file; RoPE comes first."""
    names = ("rope", *(name for name in offers("encodings", Encoding) if name != "rope"))
    return {name: _GIVEN[name] if name in _GIVEN else _default(name) for name in names}


def _default(name: str) -> Encoding:
    made = find("encodings", name, Encoding)  # type: ignore[type-abstract]
    return made()


def count_encoding(encoding: Encoding, *, head_dim: int = 64, num_heads: int = 4) -> EncodingCost:
    """Count what one row of 200 events costs, and divide by its tokens.

    Alone in its batch: phases of positions are the same for all rows, so that with more rows they cost next
    to nothing; phases of times are each row's own.

    Args:
        encoding: Recipe.
        head_dim: Features of a head.
        num_heads: Query and key heads.

    Raises:
        InputError: The encoding does not fit the sizes.
    """
    module = encoding.build(head_dim=head_dim, num_heads=num_heads)
    parameters = sum(value.numel() for value in module.parameters() if value.requires_grad)
    forward, both = _count(module, head_dim, num_heads)
    fixed = module.requires_grad_(False)
    _, features = _count(fixed, head_dim, num_heads)
    return EncodingCost(
        parameters, _each(forward), _each(features), round((both.operations - features.operations) / LENGTH)
    )


def _count(module: Rotation, head_dim: int, num_heads: int) -> tuple[Arithmetic, Arithmetic]:
    generator = torch.Generator().manual_seed(0)
    shape = (1, num_heads, LENGTH, head_dim)
    q, k, by_q, by_k = torch.randn(4, *shape, generator=generator).unbind()
    time = 1_700_000_000 + torch.randint(0, 10**7, (1, LENGTH), generator=generator).sort().values
    q.requires_grad_(), k.requires_grad_()
    turned: list[Tensor] = []
    forward = count_arithmetic(lambda: turned.extend(module(q, k, time, time)))
    backward = count_arithmetic(lambda: torch.autograd.backward(turned, (by_q, by_k)))
    return forward, backward


def _each(total: Arithmetic) -> Arithmetic:
    return Arithmetic(round(total.operations / LENGTH), round(total.cosines / LENGTH))


def published_trope_flops(head_dim: int = 64, num_heads: int = 4) -> dict[str, tuple[str, int]]:
    """T-RoPE's own count (App. B.2) for a token: what is counted, its formula, and its value.

    ``P`` is the pairs of a head and ``H`` the heads. A cosine counts nothing there, and neither do the
    reductions that keep a phase exact.

    Raises:
        InputError: There is no pair, or no head.
    """
    cost = TRoPECost(tokens=1, heads=num_heads, pairs=head_dim // 2)
    learned = cost.phase_gradient + cost.coefficient_gradients
    return {
        "forward": ("4P + 12HP", cost.build_phases + cost.rotate),
        "backward, q and k": ("12HP", cost.fixed_backward),
        "backward, coefficients": ("18HP + 2P(H-1) + 4P", learned),
    }
