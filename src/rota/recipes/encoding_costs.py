"""What each encoding costs by count: parameters, cosines and arithmetic of a token."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from rota.encodings.base import Encoding
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

Work = Callable[..., Sequence[Tensor]]

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
        learned: What learned phases, or other learned numbers, add to it.
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
    generator = torch.Generator().manual_seed(0)
    features = torch.randn(2, 1, num_heads, LENGTH, head_dim, generator=generator).unbind()
    time, asked_at = row_of_times(), row_of_times()  # two tensors: where queries ask later they share nothing
    return cost_of(module, features, lambda q, k: module(q, k, asked_at, time))


def row_of_times() -> Tensor:
    """Times of a row of 200 events, in seconds, shape ``(1, 200)``."""
    generator = torch.Generator().manual_seed(0)
    return 1_700_000_000 + torch.randint(0, 10**7, (1, LENGTH), generator=generator).sort().values


def cost_of(module: nn.Module, given: Sequence[Tensor], work: Work) -> EncodingCost:
    """Count what a module costs for a token of a row, once as it is and once with nothing learned.

    Args:
        module: What is learned in it; frozen afterwards.
        given: Features, which a gradient comes back to.
        work: Does with them what is counted, and returns what gradients come from.
    """
    parameters = sum(value.numel() for value in module.parameters() if value.requires_grad)
    forward, both = _count(given, work)
    module.requires_grad_(False)
    _, features = _count(given, work)
    return EncodingCost(
        parameters, _each(forward), _each(features), round((both.operations - features.operations) / LENGTH)
    )


def _count(given: Sequence[Tensor], work: Work) -> tuple[Arithmetic, Arithmetic]:
    leaves = [each.detach().requires_grad_() for each in given]  # new ones have no gradient yet
    made: list[Tensor] = []
    forward = count_arithmetic(lambda: made.extend(work(*leaves)))
    gradients = [torch.ones_like(each) for each in made]
    return forward, count_arithmetic(lambda: torch.autograd.backward(made, gradients))


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
