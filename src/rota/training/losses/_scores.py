"""Scores of the items that each position asks for, without a copy of their embeddings."""

import torch
from jaxtyping import Float, Int64
from torch import Tensor
from torch.autograd.function import FunctionCtx
from torch.nn.functional import embedding_bag

_AT_ONCE = 2**19  # numbers gathered at once: about what a core's cache holds
_INT32 = 2**31


def target_and_negative_scores(
    features: Float[Tensor, "targets embedding_dim"],
    items: Float[Tensor, "items embedding_dim"],
    targets: Int64[Tensor, " targets"],
    codes: Int64[Tensor, "*targets negatives"],
) -> tuple[Float[Tensor, "targets 1"], Float[Tensor, "targets negatives"]]:
    """Logits of the target and of the negatives of each position.

    Args:
        features: Of each position, shape ``(targets, embedding_dim)``.
        items: Embeddings of the catalogue, shape ``(items, embedding_dim)``.
        targets: Item that followed each, shape ``(targets,)``.
        codes: Negatives, shape ``(negatives,)`` for all or ``(targets, negatives)``.
    """
    if codes.ndim == 1:
        return (features * items[targets]).sum(-1, keepdim=True), features @ items[codes].T
    both = position_scores(features, items, torch.cat((targets[:, None], codes), -1))
    return both[:, :1], both[:, 1:]


def position_scores(
    features: Float[Tensor, "targets embedding_dim"],
    items: Float[Tensor, "items embedding_dim"],
    codes: Int64[Tensor, "targets asked"],
) -> Float[Tensor, "targets asked"]:
    """Logits of other items at each position, in float32 at least.

    The plain ``einsum("td,tkd->tk", features, items[codes])`` copies an embedding for every logit, and its
    backward pass as many gradients. Here both passes read the embeddings where they are; the memory is that
    of the logits.
    """
    wide = torch.promote_types(torch.promote_types(features.dtype, items.dtype), torch.float32)
    scores: Tensor = _PositionScores.apply(features.to(wide), items.to(wide), codes)  # type: ignore[no-untyped-call]
    return scores


class _PositionScores(torch.autograd.Function):
    """Forward gathers a cache's fill at a time; backward is two weighted sums of rows, one for each side."""

    @staticmethod
    def forward(ctx: FunctionCtx, features: Tensor, items: Tensor, codes: Tensor) -> Tensor:
        ctx.save_for_backward(features, items, codes)
        scores = features.new_empty(codes.shape)
        step = max(1, _AT_ONCE // max(1, codes.shape[1] * features.shape[1]))
        for some, asked, out in zip(features.split(step), codes.split(step), scores.split(step), strict=True):
            gathered = items.index_select(0, asked.flatten()).view(*asked.shape, items.shape[1])
            torch.bmm(
                gathered, some[:, :, None], out=out[:, :, None]
            )  # with out=, autocast does not touch it
        return scores

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: FunctionCtx, grad: Tensor) -> tuple[Tensor | None, Tensor | None, None]:
        features, items, codes = ctx.saved_tensors  # type: ignore[attr-defined]
        for_features, for_items, _ = ctx.needs_input_grad  # type: ignore[attr-defined]
        grad = grad.contiguous()
        by_features = by_items = None
        if for_features:
            by_features = embedding_bag(codes, items, mode="sum", per_sample_weights=grad)
        if for_items:
            by_items = _of_items(features, codes, grad, len(items))
        return by_features, by_items, None


def _of_items(
    features: Float[Tensor, "targets embedding_dim"],
    codes: Int64[Tensor, "targets asked"],
    grad: Float[Tensor, "targets asked"],
    items: int,
) -> Float[Tensor, "items embedding_dim"]:
    """Gradient of the embeddings: for each item the weighted sum of the features that asked for it.

    Sorted by item those are bags of rows of ``features``, a table that is small enough to stay in the cache;
    adding ``targets * asked`` rows into the embeddings one by one takes several times as long.
    """
    narrow = torch.int32 if items < _INT32 else torch.int64  # half the work of the sort
    by_item, order = codes.flatten().to(narrow).sort(stable=True)
    first = torch.searchsorted(by_item, torch.arange(items, dtype=narrow, device=codes.device))
    positions = order // codes.shape[1]
    return embedding_bag(
        positions, features, first, mode="sum", per_sample_weights=grad.flatten().index_select(0, order)
    )
