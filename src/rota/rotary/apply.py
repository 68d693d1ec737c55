"""Turn pairs of features by phases: one complex product in eager mode, real arithmetic under a compiler."""

import torch
from jaxtyping import Float
from torch import Tensor

from rota.errors import InputError
from rota.rotary.batching import is_mapped
from rota.rotary.kinds import require_floats, require_tensor
from rota.rotary.layouts import require_layout
from rota.rotary.learnable import rotated, rotated_by
from rota.rotary.nested import over_values
from rota.rotary.points import count, unit_points
from rota.rotary.products import differentiable_product, product

__all__ = ["rotate", "rotate_by"]


def rotate(
    x: Float[Tensor, "*batch features"],
    turns: Float[Tensor, "*phases pairs"],
    layout: str = "interleaved",
    *,
    out: Float[Tensor, "*batch features"] | None = None,
) -> Float[Tensor, "*batch features"]:
    """Rotate feature pairs of ``x``; positive turns take ``(1, 0)`` towards ``(0, 1)``.

    Differentiable, also twice, in both; backward keeps the points of the phases, and the output if phases are
    learnt, but no activation for fixed ones. Forward-mode derivatives (``torch.func.jvp``, ``jacfwd``) are
    refused by PyTorch in eager mode. bfloat16, float16 and misaligned memory take scratch memory of some MiB,
    not of the size of ``x``.

    Args:
        x: Features, shape ``(..., features)``, any float dtype; those beyond ``2 * pairs`` stay as they are.
            For packed tokens ``(tokens, heads, features)``. May be a jagged nested tensor.
        turns: Phases in turns, shape ``(..., pairs)``, broadcastable to ``x`` without its last axis: for
            instance ``(batch, 1, length, pairs)``. For packed tokens ``turns[:, None]``, shape
            ``(tokens, 1, pairs)``: axes count from the right, so ``(tokens, pairs)`` would be one for each
            head, unnoticed where there are as many heads as tokens. For a jagged ``x`` jagged by the same
            offsets, or such as broadcasts to its packed values. Floats.
        layout: ``"interleaved"`` pairs features ``(2j, 2j + 1)``; ``"half"`` pairs ``(j, pairs + j)``.
        out: Where to write the result, of the shape and dtype of ``x``, or ``x`` itself; without gradients.
            New memory costs more than the rotation, so a loop should bring its own. Where it shares only
            part of its memory with ``x``, the result is right, but takes new memory on the way.

    Raises:
        InputError: Unknown layout, more pairs than features allow, shapes that do not match, features or
            phases that are no tensors of floats or on two devices, or ``out`` where a gradient is wanted.
    """
    if require_tensor("x", x).is_nested:
        if out is not None:
            raise InputError("out cannot be used for nested features: give their values() instead")
        return over_values(x, turns, lambda values, phases: rotate(values, phases, layout))
    require_floats("turns", turns)
    _check(x, turns, turns.shape, layout)
    if out is not None:
        _check_out(out, x, turns)
    if torch.compiler.is_compiling():
        turned = differentiable_product(x, unit_points(turns, x.dtype), layout)
        return turned if out is None else out.copy_(turned)
    if out is not None and is_mapped(x, turns, out):
        return out.copy_(rotated(x, turns, layout))
    if out is not None:
        return product(x, unit_points(turns, x.dtype), layout, out)
    return rotated(x, turns, layout)


def rotate_by(
    x: Float[Tensor, "*batch features"], points: Tensor, layout: str = "interleaved"
) -> Float[Tensor, "*batch features"]:
    """`rotate` by points of `unit_points`, for phases that several tensors share; arguments as there.

    Raises:
        InputError: As there.
    """
    require_tensor("x", x)
    if require_tensor("points", points).ndim < 2 - points.is_complex():
        raise InputError(f"points of shape {tuple(points.shape)}: expected those of unit_points")
    _check(x, points, (*points.shape[: points.ndim - (not points.is_complex()) - 1], count(points)), layout)
    if points.is_complex() and not points.requires_grad:
        return rotated_by(x, points, layout)
    return differentiable_product(x, points, layout)


def _check(x: Tensor, phases: Tensor, shape: tuple[int, ...], layout: str) -> None:
    require_layout(layout)
    require_floats("features", x)
    if x.device != phases.device:
        raise InputError(f"features on {x.device}, phases on {phases.device}: expected the same device")
    if phases.is_nested:
        raise InputError("nested phases and features that are not: expected both nested, or neither")
    *batch, pairs = shape
    if 2 * pairs > x.shape[-1]:
        raise InputError(
            f"{pairs} phases need {2 * pairs} features; x has {x.shape[-1]}: give it more, or at most "
            f"{x.shape[-1] // 2} phases"
        )
    missing = x.ndim - 1 - len(batch)
    beside = zip(batch, x.shape[max(missing, 0) :], strict=False)
    # "!=" twice: torch.compile cannot look for a symbolic size in a tuple.
    if missing < 0 or any(size != 1 and size != wanted for size, wanted in beside):
        raise InputError(
            f"phases of shape {tuple(shape)} do not broadcast to features of shape {tuple(x.shape)}: "
            "expected theirs without the last axis, with axes of 1 where phases are shared, then pairs"
        )


def _check_out(out: Tensor, x: Tensor, turns: Tensor) -> None:
    if require_tensor("out", out).device != x.device:
        raise InputError(f"out on {out.device}, features on {x.device}: expected the same device")
    if out.shape != x.shape or out.dtype != x.dtype:
        raise InputError(
            f"out is {out.dtype} of shape {tuple(out.shape)}: expected {x.dtype} of shape {tuple(x.shape)}"
        )
    if any(n > 1 and step == 0 for n, step in zip(out.shape, out.stride(), strict=True)):
        raise InputError(
            "out is expanded, so rows of it share memory: expected memory for all, as empty_like(x)"
        )
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in (x, turns, out)):
        raise InputError(
            "out cannot be used where a gradient is wanted: leave it out, or use torch.no_grad()"
        )
