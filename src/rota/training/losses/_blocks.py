"""Cross-entropy over a catalogue whose logits exist one block at a time."""

from collections.abc import Iterator

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import FunctionCtx

_ROWS = 512  # targets of a block: enough for fast products, few enough for the block to stay in the cache


def blockwise_cross_entropy(
    features: Float[Tensor, "targets embedding_dim"],
    targets: Int64[Tensor, " targets"],
    items: Float[Tensor, "items embedding_dim"],
    logits_at_once: int,
) -> Float[Tensor, " targets"]:
    """``cross_entropy(features @ items.T, targets)`` of each target, in float32 at least.

    Forward keeps a running maximum and sum for each target; backward computes the logits again, block by
    block. The matrix of all logits never exists.

    Args:
        features: Shape ``(targets, embedding_dim)``.
        targets: Right item of each, shape ``(targets,)``.
        items: Shape ``(items, embedding_dim)``.
        logits_at_once: Size of the largest block.
    """
    device = features.device.type
    wide = torch.promote_types(torch.promote_types(features.dtype, items.dtype), torch.float32)
    narrowed = torch.is_autocast_enabled(device) and wide == torch.float32  # autocast leaves float64 alone
    narrow = torch.get_autocast_dtype(device) if narrowed else wide
    with torch.autocast(device, enabled=False):
        losses: Tensor = _BlockwiseCrossEntropy.apply(  # type: ignore[no-untyped-call]
            features.to(wide), items.to(wide), targets, logits_at_once, narrow
        )
    return losses


class _BlockwiseCrossEntropy(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: FunctionCtx,
        features: Tensor,
        items: Tensor,
        targets: Tensor,
        logits_at_once: int,
        product: torch.dtype,
    ) -> Tensor:
        largest = features.new_full((len(features),), -torch.inf)
        total, own = torch.zeros_like(largest), torch.zeros_like(largest)
        for rows, columns in _blocks(len(features), len(items), logits_at_once):
            logits = _product(features[rows], items[columns].T, product)
            inside = targets[rows] - columns.start
            found = (inside >= 0) & (inside < logits.shape[1])
            picked = logits.gather(1, inside.clamp(0, logits.shape[1] - 1)[:, None])[:, 0]
            own[rows] = torch.where(found, picked, own[rows])
            higher = torch.maximum(largest[rows], logits.amax(1))
            shrunk = (largest[rows] - higher).exp_()
            total[rows] = total[rows] * shrunk + logits.sub_(higher[:, None]).exp_().sum(1)
            largest[rows] = higher
        log_sum = largest + total.log()
        ctx.save_for_backward(features, items, targets, log_sum)
        ctx.logits_at_once, ctx.product = logits_at_once, product  # type: ignore[attr-defined]
        return log_sum - own

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, ...]:
        """The logits' gradient is ``grad (softmax - one_hot(target))``; the one-hot part needs no block."""
        features, items, targets, log_sum = ctx.saved_tensors  # type: ignore[attr-defined]
        product: torch.dtype = ctx.product  # type: ignore[attr-defined]
        for_features, for_items, *_ = ctx.needs_input_grad  # type: ignore[attr-defined]
        by_features = items[targets].neg_() if for_features else None
        scaled = features * grad[:, None]
        by_items = torch.zeros_like(items).index_add_(0, targets, scaled, alpha=-1) if for_items else None
        for rows, columns in _blocks(len(features), len(items), ctx.logits_at_once):  # type: ignore[attr-defined]
            logits = _product(features[rows], items[columns].T, product)
            shares = logits.sub_(log_sum[rows, None]).exp_()
            if by_features is not None:
                _add_product(by_features[rows], shares, items[columns], product)
            if by_items is not None:
                _add_product(by_items[columns], shares.T, scaled[rows], product)
        if by_features is not None:
            by_features.mul_(grad[:, None])
        return by_features, by_items, None, None, None


def _blocks(targets: int, items: int, logits_at_once: int) -> Iterator[tuple[slice, slice]]:
    """Blocks that cover all logits; blocks of the same items follow each other."""
    height = min(max(targets, 1), _ROWS, logits_at_once)
    width = logits_at_once // height
    for column in range(0, items, width):
        for row in range(0, targets, height):
            yield slice(row, row + height), slice(column, column + width)


def _product(one: Tensor, other: Tensor, dtype: torch.dtype) -> Tensor:
    """Product in the precision that autocast asks for, returned in that of the operands."""
    return (one.to(dtype) @ other.to(dtype)).to(one.dtype)


def _add_product(out: Tensor, one: Tensor, other: Tensor, dtype: torch.dtype) -> None:
    """Add a product in place; sums of products are always kept in the precision of ``out``."""
    if dtype == out.dtype:
        out.addmm_(one, other)
    else:
        out.add_(_product(one, other, dtype))
