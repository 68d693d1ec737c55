"""Count the arithmetic that code does, by watching every operation that PyTorch runs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

__all__ = ["Arithmetic", "count_arithmetic"]

# What moves, casts, makes or looks up numbers, or changes their sign.
_FREE = frozenset((
    "_conj", "_neg_view", "_reshape_alias", "_to_copy", "_unsafe_view", "alias", "arange", "as_strided",
    "cat", "clone", "complex", "conj_physical", "constant_pad_nd", "copy", "copy_", "detach", "detach_",
    "embedding", "empty", "empty_like", "empty_strided", "expand", "fill_", "flip", "full", "full_like",
    "gather", "imag", "index", "index_select", "lift_fresh", "neg", "new_empty", "new_empty_strided",
    "new_zeros", "ones", "ones_like", "permute", "real", "repeat", "repeat_interleave", "resolve_conj",
    "resolve_neg", "scalar_tensor", "select", "select_backward", "set_", "slice", "slice_backward",
    "split", "split_with_sizes", "squeeze", "stack", "t", "transpose", "unbind", "unflatten",
    "unsafe_split", "unsqueeze", "view", "view_as_complex", "view_as_real", "zero_", "zeros",
    "zeros_like",
))  # fmt: skip
_PRODUCTS = {"mm": 0, "bmm": 0, "addmm": 1, "baddbmm": 1}  # matrix product, and where its left factor is
_SUMS = frozenset(("sum", "mean", "amax", "amin", "any", "all"))
# What adds up numbers by an index, and which of its tensors they are.
_GATHERED_SUMS = {"index_add": -1, "scatter_add": -1, "embedding_dense_backward": 0}
_TWO = frozenset(("addcmul", "addcmul_", "lerp", "addcdiv", "addcdiv_"))


@dataclass(frozen=True)
class Arithmetic:
    """Operations of a piece of code.

    Attributes:
        operations: Additions, products, comparisons, roundings and functions of real numbers and integers,
            one each: a complex product counts 6, a complex sum 2, a matrix product 2 for each term. What
            moves, casts, looks up or changes signs counts nothing; a search among n sorted numbers counts
            the comparisons of halving them.
        cosines: Cosines among them, each of a phase of its own.
    """

    operations: int
    cosines: int


def count_arithmetic(work: Callable[[], object]) -> Arithmetic:
    """Run code, backward passes on the processor included, and count what it does."""
    with _Counter() as counter:
        work()
    return Arithmetic(counter.operations, counter.cosines)


class _Counter(TorchDispatchMode):
    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.operations = self.cosines = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run the operation, and add what it costs."""
        out = func(*args, **(kwargs or {}))
        name = func.overloadpacket.__name__
        made = _tensors(out)
        if made and name not in _FREE:
            self.operations += _cost(name, _tensors(args), made[0])
            self.cosines += made[0].numel() if name.rstrip("_") == "cos" else 0
        return out


def _tensors(of: object) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(of) if isinstance(leaf, Tensor)]


def _cost(name: str, factors: list[Tensor], result: Tensor) -> int:
    size = result.numel()
    if name in _PRODUCTS:
        at = _PRODUCTS[name]
        return int(2 * factors[at].shape[-1] + at) * size
    if name in _GATHERED_SUMS:
        return factors[_GATHERED_SUMS[name]].numel()
    if name == "bucketize":
        return size * factors[1].numel().bit_length()
    if name in _SUMS:
        return int(factors[0].numel() - size) * _parts(result)
    if name.rstrip("_") == "mul" and sum(factor.is_complex() for factor in factors) == 2:
        return 6 * size
    return size * _parts(result) * (2 if name in _TWO else 1)


def _parts(of: Tensor) -> int:
    return 2 if of.is_complex() else 1
